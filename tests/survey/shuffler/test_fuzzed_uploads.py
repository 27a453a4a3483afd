"""Ten thousand uploads with something wrong: none crashes the shuffler, and none is taken that is not
sound.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from shuffledp.survey.wire import hash_of_code
from tests.survey.memory_folder import memory_folder
from tests.survey.shufflers import Trial, trial
from tests.survey.studies import designs, study, with_target

MUTATIONS = 10_000
KNOWN = 40  # codes; each may bring one report


@dataclass
class Upload:
    """A request, as ASGI has it."""

    path: str
    body: bytes
    method: str = "POST"
    headers: list[tuple[bytes, bytes]] = field(default_factory=lambda: [(b"content-type", b"application/octet-stream")])
    pieces: int = 1
    ends: bool = True

    def sound(self, path: str, record: int) -> bool:
        """Whether it is one that may be taken, said in other words than the shuffler's."""
        kinds = [value for name, value in self.headers if name == b"content-type"]
        told = [value for name, value in self.headers if name == b"content-length"]
        return (
            (self.method, self.path, self.ends) == ("POST", path, True)
            and kinds[:1] == [b"application/octet-stream"]
            and not [value for name, value in self.headers if name == b"content-encoding" and value != b"identity"]
            and (not told or (told[0].isdigit() and int(told[0]) <= 10_000 * record))
            and len(self.body) > 0
            and len(self.body) % record == 0
        )


def mutated(rng: random.Random, upload: Upload, records: list[bytes]) -> Upload:
    """The upload with something else about it."""
    noise = rng.randbytes(rng.randint(0, 12))
    values = [b"", noise, b"text/plain", b"gzip", b"chunked", b"-1", b"9" * 40, b"1e3", b"\xff\xfe", b"identity"]
    names = [b"content-type", b"content-length", b"content-encoding", b"host", b"cookie", b"authorization", b"range"]
    at = rng.randrange(len(upload.body) + 1)
    kind = rng.randrange(12)
    body, path = upload.body, upload.path
    if kind == 0:
        return replace(upload, method=rng.choice(["GET", "HEAD", "PUT", "PATCH", "OPTIONS", "get", "", "TRACE"]))
    if kind == 1:
        spot = rng.randrange(len(path) + 1)
        return replace(upload, path=path[:spot] + rng.choice(["", "/", "..", "\0", "é", "%2e", "0"]) + path[spot + 1 :])
    if kind == 2:
        return replace(upload, path=rng.choice(["", "/", path.upper(), path + "/", "/collections", "*", path + "?x"]))
    if kind == 3:
        return replace(upload, headers=[*upload.headers, (rng.choice(names), rng.choice(values))])
    if kind == 4:
        return replace(upload, headers=[(rng.choice(names), rng.choice(values)), *upload.headers])
    if kind == 5:
        return replace(upload, headers=[])
    if kind == 6:
        return replace(upload, body=body[:at] + noise + body[at:])
    if kind == 7:
        return replace(upload, body=body[:at])
    if kind == 8:
        return replace(upload, body=body[:at] + noise + body[at + len(noise) :])
    if kind == 9:
        return replace(upload, body=body + rng.choice(records))
    if kind == 10:
        return replace(upload, ends=False)
    return replace(upload, pieces=rng.randint(1, 5), body=body * rng.randint(0, 3))


async def asked(tried: Trial, upload: Upload) -> int:
    """Send it past every client's good manners; return the status."""
    size = max(1, -(-len(upload.body) // upload.pieces))
    pieces = [upload.body[start : start + size] for start in range(0, len(upload.body), size)]
    coming: list[dict[str, Any]] = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    coming.append(
        {"type": "http.request", "body": b"", "more_body": False} if upload.ends else {"type": "http.disconnect"}
    )
    sent: list[Any] = []

    async def receive() -> Any:
        return coming.pop(0) if coming else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": upload.method,
        "path": upload.path,
        "raw_path": upload.path.encode(),
        "query_string": b"",
        "headers": upload.headers,
        "client": ("127.0.0.1", 1),
        "scheme": "http",
        "server": ("x", 80),
        "root_path": "",
        "http_version": "1.1",
    }
    await tried.shuffler(scope, receive, send)
    assert sent[0]["type"] == "http.response.start"
    return int(sent[0]["status"])


@pytest.mark.parametrize("codes", [False, True])
def test_no_mutation_is_taken_for_a_report(codes: bool, record_property: pytest.RecordProperty) -> None:
    collection = replace(study(codes=codes), design=with_target(designs()["krr"], n=10**6))
    rng = random.Random(11 + codes)
    invited = [rng.randbytes(16) for _ in range(KNOWN)]
    with memory_folder() as folder, trial(folder, collection) as tried:
        tried.store.invite(hash_of_code(collection.digest, code) for code in invited)
        length, before, statuses = tried.uploads.length, 0, Counter[int]()

        async def attack() -> None:
            nonlocal before
            for _ in range(MUTATIONS // 2):
                records = [rng.choice(invited) * codes + rng.randbytes(49) for _ in range(rng.randint(1, 3))]
                upload = Upload(tried.address.reports, b"".join(records))
                for _ in range(rng.randint(1, 3)):
                    upload = mutated(rng, upload, records)
                status = await asked(tried, upload)
                stored, statuses[status] = tried.store.stock().reports, statuses[status] + 1
                if upload.path == "/" and upload.method in ("GET", "HEAD"):
                    assert status == 200, "the participant's page"
                elif not upload.sound(tried.address.reports, length):
                    assert 400 <= status < 500, (status, upload)
                elif not codes:
                    assert status in (200, 201), (status, upload)
                assert (stored > before) == (status == 201), (status, upload)
                assert stored - before <= len(upload.body) // length
                before = stored

        asyncio.run(attack())
    assert set(statuses) <= {200, 201, 400, 403, 404, 405, 409, 413, 415}
    assert {201, 400, 404, 405, 415} <= set(statuses)
    assert not codes or before <= KNOWN, "a code brings one report"
    record_property("fault: mutated uploads", statuses.total())
