"""Who may ask the planner, and how: every refusal beside a request that is answered."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from shuffledp.errors import CertificateError
from shuffledp.studio import server as loopback
from shuffledp.studio.server import HEADERS, MOST_BYTES, Studio

POLL: dict[str, Any] = {"task": "histogram", "n": 2000, "size": 4, "epsilon": 1, "delta": 1e-6}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    with Studio() as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        serving.start()
        yield server
        server.shutdown()
        serving.join()


def told(
    studio: Studio,
    path: str = "",
    *,
    body: object = None,
    headers: dict[str, str] | None = None,
    method: str | None = None,
    token: str | None = None,
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", studio.server_port, timeout=60)
    try:
        sent = json.dumps(body) if isinstance(body, (dict, list)) else body
        own = (JSON if body is not None else {}) | (headers or {})
        place = f"/{studio.token if token is None else token}/{path}"
        connection.request(method or ("GET" if body is None else "POST"), place, sent, own)  # type: ignore[arg-type]
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def refused(studio: Studio, status: int, **request: Any) -> str:
    """The sentence of a refusal, which is JSON whatever went wrong."""
    got, headers, body = told(studio, **request)
    assert (got, headers["content-type"]) == (status, "application/json")
    sentence = json.loads(body)["error"]
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return str(sentence)


def test_it_listens_on_this_machine_alone(studio: Studio) -> None:
    assert studio.server_address[0] == "127.0.0.1"
    assert studio.address.startswith(f"http://127.0.0.1:{studio.server_port}/")


def test_the_page_is_served_with_its_script_and_style(studio: Studio) -> None:
    for path, kind in (("", "text/html"), ("studio.js", "text/javascript"), ("studio.css", "text/css")):
        status, headers, body = told(studio, path)
        assert (status, headers["content-type"]) == (200, f"{kind}; charset=utf-8")
        assert body
        assert {name.lower(): value for name, value in HEADERS.items()}.items() <= headers.items()
        assert not {"set-cookie", "access-control-allow-origin"} & set(headers)


def test_the_policy_lets_nothing_in_from_elsewhere() -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert not {"http:", "https:", "*", "'unsafe-inline'", "'unsafe-eval'"} & set(policy.replace(";", "").split())


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_it_answers_to_its_own_name(studio: Studio, host: str) -> None:
    """The control of the test below."""
    assert told(studio, headers={"Host": f"{host}:{studio.server_port}"})[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", ""])
def test_a_name_that_was_made_to_point_here_is_refused(studio: Studio, host: str) -> None:
    named = {"Host": host.format(port=studio.server_port)}
    for path, body in (("", None), ("answer", POLL)):
        assert "the address that it printed" in refused(studio, 403, path=path, body=body, headers=named)


@pytest.mark.parametrize("token", ["", "guess", "{token}x", "..", "%C3%A4"])
def test_without_the_token_nothing_is_served(studio: Studio, token: str) -> None:
    guess = token.format(token=studio.token)
    for path, body in (("", None), ("studio.js", None), ("answer", POLL), ("design", POLL)):
        assert "token" in refused(studio, 403, path=path, body=body, token=guess)


def test_every_start_draws_another_token(studio: Studio) -> None:
    with Studio() as other:
        assert other.token != studio.token
        assert len(other.token) >= 32


def test_what_a_browser_is_started_with_leads_to_the_page_once(studio: Studio) -> None:
    """Others can read it in the list of processes; the address itself is only printed."""
    ticket = studio.ticket
    assert studio.invitation == f"http://{studio.hosts[0]}/{ticket}/"
    assert told(studio, "answer", body=POLL, token=ticket)[0] == 403
    status, headers, _ = told(studio, token=ticket)
    assert (status, headers["location"]) == (303, f"/{studio.token}/")
    refused(studio, 403, token=ticket)
    assert studio.ticket not in (ticket, studio.token)


def test_connections_beyond_the_seats_get_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "SEATS", 1)
    with Studio() as small:
        serving = threading.Thread(target=small.serve_forever, kwargs={"poll_interval": 0.02})
        serving.start()
        with socket.create_connection(("127.0.0.1", small.server_port), timeout=30) as seated:
            with socket.create_connection(("127.0.0.1", small.server_port), timeout=30) as late:
                assert late.recv(1) == b"", "closed at once"
            seated.sendall(f"GET /{small.token}/ HTTP/1.1\r\nHost: {small.hosts[0]}\r\n\r\n".encode())
            assert seated.recv(15) == b"HTTP/1.1 200 OK", "the control"
        assert small.seats.acquire(timeout=30), "the seat is free again"
        small.shutdown()
        serving.join()


def test_another_site_may_not_ask(studio: Studio) -> None:
    own = {"Origin": f"http://127.0.0.1:{studio.server_port}"}
    assert told(studio, "answer", body=POLL, headers=own)[0] == 200, "the control"
    for origin in ("https://evil.example", "null", f"https://127.0.0.1:{studio.server_port}"):
        assert "own page" in refused(studio, 403, path="answer", body=POLL, headers={"Origin": origin})


@pytest.mark.parametrize(
    "status, request_",
    [
        (400, {"path": "answer", "body": "{"}),
        (400, {"path": "answer", "body": b"\xff\xfe"}),
        (400, {"path": "answer", "body": '{"n": NaN}'}),
        (400, {"path": "answer", "body": '{"n": 1, "n": 2}'}),
        (400, {"path": "answer", "body": "[" * 60_000}),
        (400, {"path": "answer", "body": [POLL]}),
        (400, {"path": "answer", "body": POLL | {"n": -1}}),
        (400, {"path": "answer", "body": POLL | {"part": "magic"}}),
        (400, {"path": "answer", "body": POLL | {"part": ["numbers"]}}),
        (400, {"path": "design", "body": POLL | {"given": "epsilon0"}}),
        (404, {"path": "nothing"}),
        (404, {"path": "../server.py"}),
        (404, {"path": "%2e%2e/answer.py"}),
        (404, {"path": "nothing", "body": POLL}),
        (405, {"path": "answer"}),
        (405, {"path": "studio.js", "body": POLL}),
        (411, {"path": "answer", "method": "POST", "headers": JSON | {"Content-Length": "-5"}}),
        (411, {"path": "answer", "body": POLL, "headers": JSON | {"Transfer-Encoding": "chunked"}}),
        (413, {"path": "answer", "method": "POST", "headers": JSON | {"Content-Length": str(MOST_BYTES + 1)}}),
        (413, {"path": "answer", "method": "POST", "headers": JSON | {"Content-Length": "9" * 5000}}),
        (415, {"path": "answer", "body": POLL, "headers": {"Content-Type": "text/plain"}}),
        (501, {"path": "answer", "method": "PUT"}),
        (501, {"path": "answer", "method": "OPTIONS"}),
    ],
)
def test_whatever_is_wrong_gets_a_status_and_a_sentence(studio: Studio, status: int, request_: dict[str, Any]) -> None:
    refused(studio, status, **request_)


def test_after_every_refusal_it_still_answers(studio: Studio) -> None:
    status, _, body = told(studio, "answer", body=POLL | {"part": "numbers"})
    assert (status, json.loads(body)["certified"]) == (200, True)
    status, headers, body = told(studio, "design", body=POLL)
    assert (status, headers["content-type"], json.loads(body)["target"]["n"]) == (200, "application/json", 2000)


@pytest.mark.parametrize("slip", [CertificateError("the ends contradict each other."), ZeroDivisionError("x")])
def test_a_slip_of_ours_is_withheld(studio: Studio, slip: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def slipping(*_: object) -> dict[str, Any]:
        raise slip

    monkeypatch.setattr(loopback, "answer", slipping)
    refused(studio, 500, path="answer", body=POLL)


def test_what_nobody_waits_for_is_not_computed(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []
    seen = threading.Event()

    def noted(_: Any, part: str) -> dict[str, Any]:
        computed.append(part)
        return {}

    left = loopback.Visit._left

    def watched(visit: Any) -> bool:
        gone = left(visit)
        seen.set()
        return gone

    monkeypatch.setattr(loopback, "answer", noted)
    monkeypatch.setattr(loopback.Visit, "_left", watched)
    body = json.dumps(POLL | {"part": "curve"}).encode()
    head = (
        f"POST /{studio.token}/answer HTTP/1.1\r\nHost: {studio.hosts[0]}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with studio.slowly, socket.create_connection(("127.0.0.1", studio.server_port)) as gone:
        gone.sendall(head.encode() + body)
    assert seen.wait(30)
    assert told(studio, "answer", body=POLL | {"part": "published"})[0] == 200, "the control: who waits is answered"
    assert computed == ["published"]
