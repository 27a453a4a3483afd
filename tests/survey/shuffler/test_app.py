"""Every refusal has a status and a sentence; what is acknowledged is stored, and what is refused is
not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from shuffledp.survey.collection import SKEW
from shuffledp.survey.envelopes import SealedHeader
from shuffledp.survey.shuffler.app import HEADERS, MEDIA_TYPES, Limits, WebFile, web_files
from shuffledp.survey.wire import MEDIA_TYPE, hash_of_code, new_codes
from tests.survey.memory_folder import small_files
from tests.survey.shufflers import BEARER, OCTETS, TOKEN, Trial, envelopes, trial
from tests.survey.studies import study

NOW = 1_000_000_000


@pytest.fixture
def tried(tmp_path: Path) -> Iterator[Trial]:
    with trial(tmp_path) as made:
        yield made


def sentence(response: httpx.Response) -> str:
    """The one sentence of a refusal, which ends in a remedy."""
    said = json.loads(response.content)
    assert set(said) <= {"error", "at"}
    assert said["error"].endswith(".")
    return str(said["error"])


def test_an_upload_is_acknowledged_once_it_is_stored(tried: Trial) -> None:
    some = envelopes(tried.collection, 5)
    first, again, mixed = tried.send(some[:3]), tried.send(some[:3]), tried.send(some)
    assert (first.status_code, first.json()) == (201, {"reports": 3, "new": 3})
    assert (again.status_code, again.json()) == (200, {"reports": 3, "new": 0})
    assert (mixed.status_code, mixed.json()) == (201, {"reports": 5, "new": 2})
    assert tried.store.stock().reports == 5


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"content": b""}, 400, "records of 49 bytes, got 0"),
        ({"content": bytes(48)}, 400, "records of 49 bytes, got 48"),
        ({"content": bytes(50)}, 400, "records of 49 bytes, got 50"),
        ({"content": bytes(49 * 10_001)}, 413, "at most 10,000 reports"),
        ({"headers": {"content-type": "application/json"}}, 415, "must be application/octet-stream"),
        ({"headers": {}}, 415, "must be application/octet-stream"),
        ({"headers": OCTETS | {"content-encoding": "gzip"}}, 415, "not compressed"),
        ({"url": f"/collections/{'0' * 64}/reports"}, 404, "the one that this shuffler serves"),
        ({"url": "/collections/x/reports"}, 404, "the one that this shuffler serves"),
        ({"url": "/elsewhere"}, 404, "nothing at this address"),
        ({"method": "PUT"}, 405, "got one that it does not know"),
        ({"method": "DELETE"}, 405, "got one that it does not know"),
    ],
)
def test_what_is_no_upload_is_refused(tried: Trial, change: dict[str, object], status: int, words: str) -> None:
    sound = {"method": "POST", "url": tried.address.reports, "content": bytes(49), "headers": OCTETS}
    response = tried.asked(lambda client: client.request(**(sound | change)))  # type: ignore[arg-type]
    assert response.status_code == status
    assert words in sentence(response)
    assert tried.store.stock().reports == 0


def test_an_endless_body_is_not_read_to_its_end(tried: Trial) -> None:
    read = 0

    async def endless() -> object:
        nonlocal read
        while True:
            read += 1 << 16
            yield bytes(1 << 16)

    response = tried.request("POST", tried.address.reports, content=endless(), headers=OCTETS)
    assert response.status_code == 413
    assert read <= tried.uploads.most_bytes + (2 << 16)


def test_before_opening_and_after_closing_nothing_is_taken(tmp_path: Path) -> None:
    clock = [NOW]
    with trial(tmp_path, study(opens=NOW, closes=NOW + 1000), clock=lambda: clock[0]) as tried:
        some = envelopes(tried.collection, 1)
        for now, status, stored in [
            (NOW - SKEW - 1, 425, 0),
            (NOW + 1000 + SKEW, 410, 0),
            (NOW - SKEW, 201, 1),
            (NOW + 999 + SKEW, 200, 1),
        ]:
            clock[0] = now
            response = tried.send(some)
            assert response.status_code == status
            assert tried.store.stock().reports == stored
            if status >= 400:
                assert "this collection has" in sentence(response)


def test_codes_are_used_once(tmp_path: Path) -> None:
    collection, codes = study(codes=True), list(new_codes(4))
    with trial(tmp_path, collection) as tried:
        tried.store.invite(hash_of_code(collection.digest, code) for code in codes[:3])
        one, two, three, four = envelopes(collection, 4)
        assert tried.send([one], codes[:1]).status_code == 201
        used = tried.send([two, three], [codes[1], codes[0]])
        assert (used.status_code, used.json()["at"]) == (409, 1)
        assert "used for another report" in sentence(used)
        unknown = tried.send([two, four], [codes[1], codes[3]])
        assert (unknown.status_code, unknown.json()["at"]) == (403, 1)
        assert "letter by letter" in sentence(unknown)
        twice = tried.send([two, three], [codes[1], codes[1]])
        assert (twice.status_code, twice.json()["at"]) == (409, 1)
        assert tried.store.stock().reports == 1
        assert tried.send([one], [codes[3]]).status_code == 200, "stored bytes are acknowledged, whatever the code"
        assert tried.send([two, three], codes[1:3]).status_code == 201


def test_a_full_collection_takes_no_more(tried: Trial) -> None:
    some = envelopes(tried.collection, 1001)
    assert tried.send(some[:999]).status_code == 201
    over = tried.send(some[998:])
    assert over.status_code == 409
    assert "the 1,000 reports that it was designed for" in sentence(over)
    assert tried.store.stock().reports == 999
    assert tried.send(some[:1000]).json() == {"reports": 1000, "new": 1}


def test_more_than_a_collection_takes_is_not_said_to_be_there(tried: Trial) -> None:
    over = tried.send(envelopes(tried.collection, 1001))
    assert sentence(over) == (
        "this collection takes the 1,000 reports that it was designed for, and these would be more. Nothing of this "
        "upload was stored."
    )
    assert tried.store.stock().reports == 0


def test_a_full_disk_is_a_reason_to_come_again(tried: Trial) -> None:
    some = envelopes(tried.collection, 600)
    assert tried.send(some[:100]).status_code == 201
    with small_files(4096):
        for _ in range(2):
            refused = tried.send(some)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
            assert "Send the same bytes again later" in sentence(refused)
        assert tried.send(some[:100]).status_code == 200
    assert tried.store.stock().reports == 100
    assert tried.send(some).json() == {"reports": 600, "new": 500}
    with small_files(4096):
        assert tried.close().status_code == 503
    assert tried.close().json() == {"state": "closed", "reports": 600}


def test_the_end_is_final_and_released_in_no_order(tried: Trial) -> None:
    some = envelopes(tried.collection, 501)
    tried.send(some[:499])
    early, unclosed = tried.close(), tried.fetch()
    assert early.status_code == unclosed.status_code == 409
    assert "499" not in sentence(early)
    assert "closed before it is fetched" in sentence(unclosed)
    tried.send(some[499:500])
    assert tried.close().json() == tried.close().json() == {"state": "closed", "reports": 500}
    late = tried.send(some[500:])
    assert late.status_code == 410
    assert "is closed" in sentence(late)
    assert tried.send(some[:500]).json() == {"reports": 500, "new": 0}, "what is stored is acknowledged again"
    header = SealedHeader.of(tried.collection.digest, 500, 49)
    fetched = tried.fetch()
    assert fetched.headers["content-type"] == MEDIA_TYPE
    assert fetched.content == tried.fetch().content == header.content + b"".join(sorted(some[:500]))
    assert tried.request("GET", tried.address.status).json()["state"] == "closed"


@pytest.mark.parametrize("path", ["close", "sealed", "outlook"])
def test_a_token_opens_what_is_not_for_everybody(tried: Trial, path: str) -> None:
    method = "POST" if path == "close" else "GET"
    url = f"/collections/{tried.collection.digest}/{path}"
    wrong = ["", "Bearer", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN]
    for given in wrong:
        refused = tried.request(method, url, headers={"authorization": given})
        assert refused.status_code == 401
        assert TOKEN not in sentence(refused)
    limited = tried.request(method, url)
    assert limited.status_code == 429
    assert int(limited.headers["retry-after"]) > 0
    assert tried.request(method, url, headers=BEARER).status_code in (200, 409), "whoever has it is not kept out"


def test_everything_has_strict_headers(tried: Trial) -> None:
    for method, path in [("GET", "/"), ("GET", "/health"), ("GET", "/nowhere"), ("PUT", tried.address.reports)]:
        found = tried.request(method, path).headers
        assert {name: found[name] for name in HEADERS} == HEADERS
        assert not {"set-cookie", "server", "date", "access-control-allow-origin"} & set(found)


def test_the_collection_is_served_as_it_is(tried: Trial) -> None:
    found = tried.request("GET", "/collection.json")
    assert found.content == tried.collection.content
    again = tried.request("GET", "/collection.json", headers={"if-none-match": found.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_too_many_requests_wait(tmp_path: Path) -> None:
    with trial(tmp_path, limits=Limits(rate=0.001, burst=3)) as tried:
        codes = [tried.request("GET", "/health").status_code for _ in range(5)]
        assert codes == [200, 200, 200, 429, 429]
        refused = tried.send(envelopes(tried.collection, 1))
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 1
        assert "Wait a little" in sentence(refused)
        assert tried.store.stock().reports == 0


def test_what_the_reports_so_far_would_give(tried: Trial) -> None:
    url = f"/collections/{tried.collection.digest}/outlook"
    before = tried.request("GET", url, headers=BEARER).json()
    assert (before["reports"], before["epsilon"], before["may_close"]) == (0, None, False)
    assert "500 reports of its promise" in before["why"]
    tried.send(envelopes(tried.collection, 600))
    tried.shuffler._stocked = None
    after = tried.request("GET", url, headers=BEARER).json()
    assert (after["may_close"], after["why"]) == (True, None)
    assert 0 < after["epsilon"] <= after["promised"]
    assert after["stderr"] > 0


SHIPPED = {
    "participant.html": WebFile(b"<!doctype html>", "text/html; charset=utf-8"),
    "participant.js": WebFile(b"1;", "text/javascript; charset=utf-8"),
}


def test_the_pages_and_their_parts_are_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.survey.shuffler.app.web_files", lambda: SHIPPED)
    with trial(tmp_path) as tried:
        page, part = tried.request("GET", "/"), tried.request("GET", "/static/participant.js")
        assert (page.content, page.headers["content-type"]) == (b"<!doctype html>", "text/html; charset=utf-8")
        assert (part.content, part.headers["content-type"]) == (b"1;", "text/javascript; charset=utf-8")
        again = tried.request("GET", "/static/participant.js", headers={"if-none-match": part.headers["etag"]})
        assert (again.status_code, again.headers["cache-control"]) == (304, "no-cache")
        for path in ("/operator", "/static/participant.html", "/static/x.js", "/static/..%2f__init__.py", "/static/"):
            assert tried.request("GET", path).status_code == 404
        broken = tried.request("GET", "/", headers={"host": "[::"})
        assert broken.status_code == 200, "an address of one's own does not matter"


def test_what_is_shipped_has_a_type_and_a_tag() -> None:
    for name, file in web_files().items():
        assert file.media_type == MEDIA_TYPES[f".{name.rpartition('.')[2]}"]
        assert file.content
        assert file.tag == WebFile(file.content, file.media_type).tag
