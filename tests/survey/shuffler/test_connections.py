"""Slow, endless, broken and too many: each is answered or cut off, and others are served meanwhile."""

from __future__ import annotations

import io
import logging
import random
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from shuffledp.survey.shuffler.server import LONGEST_HEAD, OneLine, Patience, logged
from tests.survey.shufflers import TOKEN, Trial, envelopes, trial
from tests.survey.studies import study

QUICK = Patience(head=0.3, body=0.3, unread=0.3, connections=8)


@pytest.fixture
def tried(tmp_path: Path) -> Iterator[Trial]:
    with trial(tmp_path) as made:
        yield made


@contextmanager
def connected(address: tuple[str, int]) -> Iterator[socket.socket]:
    with socket.create_connection(address, timeout=60) as made:
        yield made


def to_the_end(connection: socket.socket) -> bytes:
    """All that comes until the other side ends it."""
    found = b""
    try:
        while piece := connection.recv(1 << 16):
            found += piece
    except ConnectionError:
        pass
    return found


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def drip(connection: socket.socket, piece: bytes) -> None:
    """A byte now and then, for as long as anybody listens."""
    connection.settimeout(0.02)
    try:
        while True:
            connection.sendall(piece)
            try:
                connection.recv(1, socket.MSG_PEEK)
                break
            except TimeoutError:
                continue
    except OSError:
        pass
    connection.settimeout(60)


def upload_head(tried: Trial, length: int) -> bytes:
    lines = [f"POST {tried.address.reports} HTTP/1.1", "host: x", "content-type: application/octet-stream"]
    return "\r\n".join([*lines, f"content-length: {length}", "", ""]).encode()


@pytest.mark.parametrize("kind", ["nothing", "headers", "body", "between"])
def test_a_slow_client_is_cut_off(tried: Trial, kind: str) -> None:
    begun = {
        "nothing": (b"", b""),
        "headers": (b"GET /health HTTP/1.1\r\nx: ", b"y"),
        "body": (upload_head(tried, 49 * 1000), b"z"),
        "between": (b"GET /collection.json HTTP/1.1\r\nhost: x\r\n\r\n", b"\r\n"),
    }
    first, piece = begun[kind]
    with tried.listening(QUICK) as address, connected(address) as slow:
        slow.sendall(first)
        if kind == "between":
            assert slow.recv(1 << 16).startswith(b"HTTP/1.1 200")
        if piece:
            drip(slow, piece)
        answer = to_the_end(slow)
        if kind != "between":
            assert status(answer) == 408
            assert b"must arrive in time" in answer
        with connected(address) as other:
            other.sendall(upload_head(tried, 49) + bytes(49))
            assert status(other.recv(1 << 16)) == 201
    assert tried.store.stock().reports == 1


def test_endless_headers_are_cut_off(tried: Trial) -> None:
    with tried.listening(Patience()) as address, connected(address) as endless:
        endless.sendall(b"GET /health HTTP/1.1\r\nx: ")
        endless.sendall(b"y" * LONGEST_HEAD)
        assert status(to_the_end(endless)) == 431


@pytest.mark.parametrize("patience", [Patience(connections=3), Patience(of_one=3)])
def test_too_many_connections_wait(tried: Trial, patience: Patience, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another address of the same network is no other customer."""
    addresses = (f"2001:db8::{number:x}" for number in count(1))
    monkeypatch.setattr("uvicorn.protocols.http.httptools_impl.get_remote_addr", lambda _: (next(addresses), 443))
    with tried.listening(patience) as address:
        held = [socket.create_connection(address, timeout=60) for _ in range(3)]
        for each in held:  # answered, so that all of them are counted
            each.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
            assert status(each.recv(1 << 16)) == 200
        with connected(address) as one_more:
            answer = to_the_end(one_more)
            assert status(answer) == 503
            assert b"retry-after: 5" in answer
        held[0].sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
        assert status(held[0].recv(1 << 16)) == 200
        for each in held:
            each.close()


def test_requests_that_nobody_waits_for_are_not_piled_up(tried: Trial) -> None:
    with tried.listening(Patience()) as address, connected(address) as hasty:
        try:
            hasty.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n" * 2000)
            answers = to_the_end(hasty).count(b"HTTP/1.1 200")
        except OSError:
            answers = 0
        assert answers < 200


def test_an_answer_that_nobody_reads_is_given_up(tmp_path: Path) -> None:
    collection = study("oue")
    with trial(tmp_path, collection) as tried:
        tried.send(envelopes(collection, 1000))
        tried.close()
        request = f"GET {tried.address.sealed} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n\r\n".encode()
        with tried.listening(QUICK) as address, socket.socket() as lazy:
            lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            lazy.settimeout(60)
            lazy.connect(address)
            for _ in range(12):
                lazy.sendall(request)
            while True:  # until the other side has no more patience
                time.sleep(0.05)
                try:
                    lazy.send(b"\r")
                except OSError:
                    break


def test_broken_http_is_refused_and_nothing_is_stored(tried: Trial, record_property: pytest.RecordProperty) -> None:
    rng, sound, found = random.Random(7), upload_head(tried, 49) + bytes(49), []
    with tried.listening(Patience(connections=1000)) as address:
        for _ in range(300):
            broken = bytearray(sound)
            for _ in range(rng.randint(1, 6)):
                place = rng.randrange(len(broken) - 49)
                kind = rng.randrange(3)
                if kind == 0:
                    broken[place] = rng.randrange(256)
                elif kind == 1:
                    del broken[place : place + rng.randint(1, 20)]
                else:
                    broken[place:place] = rng.choice([b"\r\n", b"\0", b"transfer-encoding: chunked\r\n", b"A" * 300])
            with connected(address) as connection:
                connection.sendall(broken)
                connection.shutdown(socket.SHUT_WR)
                answer = to_the_end(connection)
                found.append(status(answer) if answer else 0)
        with connected(address) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
            assert status(connection.recv(1 << 16)) == 200, "it still answers"
    assert not {each for each in found if each >= 500}
    taken = {201, 200} & set(found)
    assert tried.store.stock().reports == (1 if taken else 0), "nothing but the one report that was sent whole"
    assert {400, 404} <= set(found)
    record_property("fault: broken requests over a socket", len(found))


def test_failures_are_a_line_a_minute_however_many_requests_fail() -> None:
    written, now = io.StringIO(), [0.0]
    with logged(written):
        (handler,) = logging.getLogger("asyncio").handlers[-1:]
        handler.filters[:] = [OneLine(lambda: now[0])]
        for moment in range(1000):
            now[0] = 0.1 * moment
            for name in ("shuffledp.survey.shuffler.app", "asyncio"):
                try:
                    raise RuntimeError("unable to perform operation\non a transport; the handler is closed")
                except RuntimeError:
                    logging.getLogger(name).exception("a request failed")
    lines = written.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("a request failed: RuntimeError: unable to perform operation on a transport")
    assert "test_connections.py:" in lines[0]
    assert lines[1].endswith("; 1,199 more since the last line")


def test_a_client_that_makes_requests_fail_hides_no_other_failure() -> None:
    written = io.StringIO()
    with logged(written):
        ours, theirs = logging.getLogger("shuffledp.survey"), logging.getLogger("asyncio")
        for kind in [ConnectionError] * 50 + [OSError] + [ConnectionError] * 50:
            try:
                raise kind("disk full" if kind is OSError else "aborted")
            except OSError:
                ours.exception("a request failed")
            theirs.warning("socket.send() raised exception.")
    assert [line.partition(" at ")[0] for line in written.getvalue().splitlines()] == [
        "a request failed: ConnectionError: aborted",
        "socket.send() raised exception.",
        "a request failed: OSError: disk full",
    ]
