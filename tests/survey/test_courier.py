"""Requests over real sockets: certificates, proxies, and servers that never finish."""

from __future__ import annotations

import datetime
import gzip
import socket
import ssl
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from shuffledp.errors import InvalidInput
from shuffledp.survey import Client, Collection
from shuffledp.survey.analyst import Analyst, Unanswered
from shuffledp.survey.courier import Courier, Unsent
from tests.survey.pretended import Pretended
from tests.survey.studies import study

Tamper = Callable[[BaseHTTPRequestHandler, httpx.Response], bool]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Courier, "pause", lambda *_: None)
    for name in ("NO_PROXY", "no_proxy"):  # which would excuse this machine from what a test sets
        monkeypatch.delenv(name, raising=False)


@contextmanager
def listening(tamper: Tamper | None = None, certificate: Path | None = None) -> Iterator[Pretended]:
    """A shuffler on a free port; ``tamper`` may answer in its place."""
    shuffler: list[Pretended] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            url = shuffler[0].collection.shuffler + self.path
            answer = shuffler[0].answer(httpx.Request(self.command, url, headers=dict(self.headers), content=body))
            if tamper is not None and tamper(self, answer):
                return
            self.send_response(answer.status_code)
            for name in ("content-type", "content-length"):
                self.send_header(name, answer.headers[name])
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
            server.handle_error = lambda *_: None  # type: ignore[method-assign]
        scheme = "http" if certificate is None else "https"
        address = f"{scheme}://127.0.0.1:{server.server_port}"
        shuffler.append(Pretended(replace(study(), shuffler=address)))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield shuffler[0]
        finally:
            server.shutdown()
            thread.join()


def send(collection: Collection, folder: Path, ca: Path | None = None) -> int:
    return Client(collection, outbox=folder / "box", ca=ca).send("yes").acknowledged


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    with listening() as shuffler:
        assert send(shuffler.collection, tmp_path) == 1
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{shuffler.collection.shuffler}/collection.json")  # the control


def test_a_proxy_that_cannot_be_used_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "gopher://nowhere")
    with pytest.raises(InvalidInput, match="HTTPS_PROXY"):
        send(replace(study(), shuffler="https://shuffle.example.org"), tmp_path)


def test_a_certificate_must_be_trusted(tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a shuffler")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(
            name, name, key.public_key(), 1, now - datetime.timedelta(1), now + datetime.timedelta(1)
        )
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    ca, pair = tmp_path / "ca.pem", tmp_path / "pair.pem"
    ca.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    pair.write_bytes(ca.read_bytes() + secret)
    with listening(certificate=pair) as shuffler:
        with pytest.raises(InvalidInput, match='ca="FILE"'):
            send(shuffler.collection, tmp_path)
        with pytest.raises(InvalidInput, match=r"^ca must name a file"):
            send(shuffler.collection, tmp_path, tmp_path / "nowhere.pem")
        assert shuffler.requests == []
        assert send(shuffler.collection, tmp_path, ca) == 1


def test_an_answer_that_breaks_off_counts_for_nothing_and_the_same_bytes_go_again(tmp_path: Path) -> None:
    broken: list[str] = []

    def tamper(handler: BaseHTTPRequestHandler, answer: httpx.Response) -> bool:
        if handler.command == "GET" or broken:
            return False
        broken.append(handler.path)
        handler.send_response(answer.status_code)
        handler.send_header("content-length", "1000")
        handler.end_headers()
        handler.wfile.write(answer.content)
        return True

    with listening(tamper) as shuffler:
        assert send(shuffler.collection, tmp_path) == 1
    assert (len(shuffler.seen), shuffler.posted) == (1, 2)


def test_an_answer_that_drips_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.survey.courier.PATIENCE", 0.02)
    monkeypatch.setattr("shuffledp.survey.courier.TRIES", 2)

    def tamper(handler: BaseHTTPRequestHandler, answer: httpx.Response) -> bool:
        handler.send_response(answer.status_code)
        handler.send_header("content-length", "1000")
        handler.end_headers()
        try:
            for _ in range(100):
                handler.wfile.write(b" ")
                time.sleep(0.01)
        except OSError:
            pass  # nobody listens any more
        return True

    with listening(tamper) as shuffler, pytest.raises(Unsent, match="takes too long"):
        send(shuffler.collection, tmp_path)


def test_where_nobody_listens_the_report_is_stored(tmp_path: Path) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # so that nobody else gets the port
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        with pytest.raises(Unsent, match="could not be reached"):
            send(replace(study(), shuffler=address), tmp_path)
    assert list((tmp_path / "box").glob("*.outbox"))


def twice_compressed() -> bytes:
    """A few hundred bytes that are 64 megabytes."""
    return gzip.compress(gzip.compress(bytes(1 << 26), 1), 9)


def test_a_compressed_answer_is_not_unpacked(tmp_path: Path) -> None:
    bomb = twice_compressed()
    assert len(bomb) < 10_000

    def tamper(handler: BaseHTTPRequestHandler, _: httpx.Response) -> bool:
        handler.send_response(200)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-encoding", "gzip, gzip")
        handler.send_header("content-length", str(len(bomb)))
        handler.end_headers()
        handler.wfile.write(bomb)
        return True

    with listening(tamper) as shuffler:
        url = f"{shuffler.collection.shuffler}/collection.json"
        assert len(httpx.get(url, trust_env=False).content) == 1 << 26  # the control: whoever unpacks has it
        tracemalloc.start()
        with pytest.raises(Unsent, match="is no shuffler of this collection"):
            send(shuffler.collection, tmp_path)
        with pytest.raises(Unanswered, match="a compressed answer"):
            Analyst(shuffler.collection.shuffler).status()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 1 << 24
    assert list((tmp_path / "box").glob("*.outbox"))


def test_an_upload_may_take_longer_than_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.survey.courier.PATIENCE", 2.0)

    def tamper(handler: BaseHTTPRequestHandler, _: httpx.Response) -> bool:
        time.sleep(2.1 * (handler.command == "POST"))
        return False

    with listening(tamper) as shuffler:
        assert send(shuffler.collection, tmp_path) == 1
    assert shuffler.posted == 1
