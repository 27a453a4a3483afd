"""What the analyst asks of the shuffler: what was collected comes whole, the same every time, and from
nobody else; whatever goes wrong is one sentence, and no file.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from shuffledp.errors import InvalidInput, ShuffledpError
from shuffledp.survey.analyst import TOKEN_VARIABLE, Analyst, Unanswered
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import SealedHeader, open_sealed
from shuffledp.survey.wire import Uploads
from tests.survey.released import LEAST, announced, answers, write_sealed
from tests.survey.shufflers import TOKEN, Trial, trial

URL = "http://127.0.0.1:8000"
Handler = Callable[[httpx.Request], httpx.Response]


def analyst(handler: Handler, pinned: Collection | None = None, *, token: str | None = TOKEN) -> Analyst:
    """An analyst whose shuffler is a function."""
    return Analyst(URL, pinned, token, transport=httpx.MockTransport(handler))


def asking(shuffler: Trial) -> Handler:
    """A shuffler in this process, as a function."""

    def handler(request: httpx.Request) -> httpx.Response:
        got = shuffler.request(request.method, request.url.path, headers=dict(request.headers), content=request.read())
        return httpx.Response(got.status_code, headers=got.headers, content=got.content)

    return handler


def saying(status: int, content: bytes = b"", **headers: str) -> Handler:
    """What answers everything in the same way."""
    return lambda _: httpx.Response(status, content=content, headers=headers)


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return announced(tmp_path / "study")


def test_status_close_and_fetch(tmp_path: Path, collection: Collection) -> None:
    out = tmp_path / "sealed.bin"
    with trial(tmp_path, collection) as shuffler:
        envelopes = answers(collection)
        asked = analyst(asking(shuffler))
        shuffler.send(envelopes[: LEAST - 1])
        with pytest.raises(InvalidInput, match=r"refused it: a collection must have the 100 reports of its promise"):
            asked.close()
        shuffler.send(envelopes)
        shuffler.shuffler._stocked = None  # a status is a second old, at most
        told = asked.status()
        assert (told["collection"], told["state"]) == (collection.digest, "open")
        assert told["reports"] <= len(envelopes)
        with pytest.raises(InvalidInput, match="must be closed before it is fetched"):
            asked.fetch(out)
        assert not out.exists()
        assert asked.close() == asked.close() == len(envelopes)

        done: list[int] = []
        assert asked.fetch(out, tick=done.append) == SealedHeader.of(collection.digest, len(envelopes), 49)
        assert sum(done) >= len(envelopes)
        assert list(open_sealed(out).envelopes()) == sorted(envelopes)
        assert out.stat().st_mode & 0o777 == 0o600
        first = out.read_bytes()
        with pytest.raises(InvalidInput, match="must not exist yet"):
            asked.fetch(out)
        asked.fetch(out, force=True)
        assert out.read_bytes() == first


@pytest.mark.parametrize("status", [301, 304, 307])
def test_a_redirect_to_nowhere_is_one_sentence(collection: Collection, status: int) -> None:
    with pytest.raises(Unanswered, match=f"got status {status} and no word of a shuffler"):
        analyst(saying(status), collection).status()


def test_what_comes_compressed_is_not_unpacked(tmp_path: Path, collection: Collection) -> None:
    packed = saying(200, gzip.compress(gzip.compress(bytes(1000))), **{"content-encoding": "gzip, gzip"})
    asked = analyst(packed, collection)
    for ask in (asked.status, asked.close, lambda: asked.fetch(tmp_path / "sealed.bin")):
        with pytest.raises(Unanswered, match="a compressed answer, which nobody asked for"):
            ask()


def test_numbers_below_zero_and_signs_for_a_terminal_are_not_passed_on(collection: Collection) -> None:
    told = {"state": "\x1b[2Jopen", "reports": 5, "step": 5, "promise": 100, "most": 200}
    assert analyst(saying(200, json.dumps(told).encode()), collection).status()["state"] == "[2Jopen"
    wrong = analyst(saying(200, json.dumps(told | {"reports": -5}).encode()), collection)
    for ask in (wrong.status, wrong.close):
        with pytest.raises(Unanswered, match="another answer than a shuffler gives"):
            ask()


def test_a_second_set_does_not_replace_the_first(tmp_path: Path, collection: Collection) -> None:
    envelopes = answers(collection)
    out = write_sealed(tmp_path / "sealed.bin", collection, envelopes)
    other = write_sealed(tmp_path / "other.bin", collection, envelopes[:-1])
    first = out.read_bytes()
    with pytest.raises(InvalidInput, match="must release the same bytes every time"):
        analyst(saying(200, other.read_bytes()), collection).fetch(out, force=True)
    assert out.read_bytes() == first


def test_what_stands_there_and_is_no_release_is_replaced_by_force(tmp_path: Path, collection: Collection) -> None:
    out = tmp_path / "sealed.bin"
    out.write_text("something else")
    released = write_sealed(tmp_path / "other.bin", collection, answers(collection)).read_bytes()
    analyst(saying(200, released), collection).fetch(out, force=True)
    assert out.read_bytes() == released


def test_what_is_fetched_must_be_the_whole_release_of_this_collection(tmp_path: Path, collection: Collection) -> None:
    released = write_sealed(tmp_path / "sealed.bin", collection, answers(collection)).read_bytes()
    other = replace(collection, question="Coffee?")
    foreign = write_sealed(tmp_path / "foreign.bin", other, answers(other)).read_bytes()
    length = Uploads(collection).envelope_bytes
    swapped = released[: -2 * length] + released[-length:] + released[-2 * length : -length]
    out = tmp_path / "out.bin"
    for content, words in {
        released[:-1]: "must be as long as its header says",
        swapped: "must hold each report once, in the order of its bytes",
        foreign: "the reports of another collection",
        b"<html>": "must be a file of sealed reports",
        released + bytes(length * collection.design.n): "more bytes than the 200 reports",
    }.items():
        with pytest.raises(Unanswered, match=words):
            analyst(saying(200, content), collection).fetch(out)
        assert not out.exists()


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (saying(401, b'{"error":"the token must be the one."}'), InvalidInput, "refused it: the token must be the one"),
        (saying(404, b'{"error":"another collection."}'), InvalidInput, "refused it: another collection"),
        (saying(429, b'{"error":"too many."}'), Unanswered, "refused it: too many"),
        (saying(503, b'{"error":"the disk is full."}'), Unanswered, "refused it: the disk is full"),
        (saying(502, b"<html>Bad gateway</html>"), Unanswered, "got status 502 and no word of a shuffler"),
        (saying(500, b'{"error":7}'), Unanswered, "got status 500 and no word of a shuffler"),
        (saying(200, b"<html>Log in</html>"), Unanswered, "got another answer than a shuffler gives"),
        (saying(200, b"[]"), Unanswered, "got another answer than a shuffler gives"),
        (saying(200, b"{}"), Unanswered, "got another answer than a shuffler gives"),
        (saying(200, b" " * (1 << 20) + b"{}"), Unanswered, "got an endless answer"),
        (saying(302, location="https://evil.example"), Unanswered, "redirect to 'https://evil.example', which is not"),
        (saying(400, b'{"error":"\\u001b[2Jclean"}'), InvalidInput, r"refused it: \[2Jclean$"),
    ],
)
def test_every_answer_that_is_none_is_one_sentence(
    collection: Collection, answer: Handler, kind: type[ShuffledpError], words: str
) -> None:
    for ask in (Analyst.status, Analyst.close):
        with pytest.raises(kind, match=words):
            ask(analyst(answer, collection))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (httpx.ConnectError("[Errno 111] Connection refused"), "must answer, got: .Errno 111. Connection refused"),
        (httpx.ReadTimeout("late"), "must answer in time"),
        (httpx.RemoteProtocolError("peer closed connection"), "must answer, got: peer closed connection"),
    ],
)
def test_a_shuffler_that_is_not_there(tmp_path: Path, collection: Collection, error: Exception, words: str) -> None:
    def handler(_: httpx.Request) -> httpx.Response:
        raise error

    with pytest.raises(Unanswered, match=words):
        analyst(handler, collection).fetch(tmp_path / "out.bin")
    assert not (tmp_path / "out.bin").exists()


def test_a_redirect_takes_no_token_along(collection: Collection) -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(307, headers={"location": "https://evil.example/"})

    with pytest.raises(Unanswered, match="redirect"):
        analyst(handler, collection).close()
    assert asked == ["127.0.0.1"]
    with httpx.Client(transport=httpx.MockTransport(handler), follow_redirects=True) as careless:
        with pytest.raises(httpx.TooManyRedirects):
            careless.post(URL)
        assert "evil.example" in asked, "a client that follows goes there"


def test_a_pinned_collection_is_what_is_asked_for(tmp_path: Path, collection: Collection) -> None:
    other = replace(collection, question="Coffee?")
    with trial(tmp_path, other) as shuffler:
        assert analyst(asking(shuffler)).status()["collection"] == other.digest
        with pytest.raises(InvalidInput, match=r"refused it: the collection must be the one that this shuffler serves"):
            analyst(asking(shuffler), collection).status()


@pytest.mark.parametrize("url", ["shuffle.example.org", "ftp://a.org", "https://a.org/?x=1", "https://me:pw@a.org", ""])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(InvalidInput, match="URL must be the shuffler's address"):
        Analyst(url)


def test_an_address_that_cannot_be_asked_is_said(collection: Collection) -> None:
    with pytest.raises(InvalidInput, match="shuffler must be an address that can be asked"):
        Analyst("https://xn--.example", collection).status()


def test_a_token_never_goes_without_tls() -> None:
    with pytest.raises(InvalidInput, match="URL must begin with https://"):
        Analyst("http://shuffle.example.org", token=TOKEN)
    assert TOKEN not in repr(Analyst("https://shuffle.example.org", token=TOKEN))


def test_the_token_comes_from_a_file_of_its_owner_or_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collection: Collection
) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    with pytest.raises(InvalidInput, match=r"^token must name the file that `shuffledp survey serve` made, got none"):
        Analyst.of(URL, collection=tmp_path / "study" / "collection.json").close()
    monkeypatch.setenv(TOKEN_VARIABLE, "two\nlines")
    with pytest.raises(InvalidInput, match="SHUFFLEDP_TOKEN must hold a token"):
        replace(analyst(saying(200), collection), token=Analyst.of(URL).token).close()
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    assert Analyst.of(URL).token == TOKEN
    file = tmp_path / "token"
    file.write_text("ab" * 32 + "\n")
    file.chmod(0o644)
    with pytest.raises(InvalidInput, match="readable by its owner alone, got permissions 644"):
        Analyst.of(URL, token=file)
    file.chmod(0o600)
    assert Analyst.of(URL, token=file).token == "ab" * 32


def test_authorities_must_be_certificates(tmp_path: Path, collection: Collection) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    for name in ("ca.pem", "none.pem"):
        with pytest.raises(InvalidInput, match=r"^ca must name a file of certificates in PEM"):
            Analyst("https://127.0.0.1:9", collection, ca=tmp_path / name).status()
