"""The shuffler has nothing that opens a report: not in its memory while it works, not on its disk."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import AnalystKey, Envelopes
from shuffledp.survey.wire import Address, Uploads
from tests.survey.linking import Disk
from tests.survey.shufflers import OCTETS, process
from tests.survey.studies import ADDRESS, designs

pytestmark = pytest.mark.long

PEOPLE = 500
READER = """
import sys
from pathlib import Path
from shuffledp.survey.collection import read_collection
from shuffledp.survey.envelopes import AnalystKey, Envelopes

study = Path(sys.argv[1])
key, ways = AnalystKey.read(study / "analyst.key"), Envelopes(read_collection(study / "collection.json"))
opened = ways.opened([(study / "envelope").read_bytes()], key)
print(len(opened), flush=True)
sys.stdin.read()
"""


def memory(process: int) -> Iterator[bytes]:
    """All that a process can write to, piece by piece."""
    with Path(f"/proc/{process}/maps").open() as maps, Path(f"/proc/{process}/mem").open("rb", buffering=0) as content:
        for line in maps:
            span, rights, *_ = line.split()
            begin, end = (int(place, 16) for place in span.split("-"))
            if rights.startswith("rw"):
                content.seek(begin)
                try:
                    yield content.read(end - begin)
                except OSError:  # a part of the kernel's
                    continue


def held(pieces: Iterator[bytes], secrets: Mapping[str, bytes]) -> set[str]:
    """Which of the secrets are somewhere in there."""
    found: set[str] = set()
    for piece in pieces:
        found |= {name for name, secret in secrets.items() if secret in piece}
    return found


def spelled(key: AnalystKey) -> dict[str, bytes]:
    """The key in every form in which a program may hold it."""
    clamped = bytes([key.secret[0] & 248, *key.secret[1:31], key.secret[31] & 127 | 64])
    return {
        "key": key.secret,
        "key as X25519 uses it": clamped,
        "key backwards": key.secret[::-1],
        "key in hexadecimal": key.secret.hex().encode(),
        "key in capitals": key.secret.hex().upper().encode(),
        "key in base64": base64.b64encode(key.secret).rstrip(b"="),
        "key for addresses": base64.urlsafe_b64encode(key.secret).rstrip(b"="),
    }


def test_the_shuffler_cannot_read(tmp_path: Path) -> None:
    if not Path("/proc/self/mem").exists():
        pytest.skip("this system has no files that show the memory of a process")
    key = AnalystKey.new()
    collection = Collection(design=designs()["hash"], key=key.public, shuffler=ADDRESS)
    ways, place = Envelopes(collection), tmp_path / "shuffler"
    reports = collection.reporter.encode(np.arange(PEOPLE) % 300)
    envelopes = ways.seal(reports)
    private = X25519PrivateKey.from_private_bytes(key.secret)
    secrets = spelled(key)
    for number in (0, PEOPLE - 1):  # of 16 bytes, half of them random
        secrets[f"report {number}"] = reports[number].tobytes()
        public = X25519PublicKey.from_public_bytes(envelopes[number][:32])
        secrets[f"shared secret {number}"] = private.exchange(public)
    place.mkdir()
    with process(place, collection) as shuffler, httpx.Client(base_url=shuffler.url) as client:
        at = Address(collection.digest)
        body = Uploads(collection).body(envelopes)
        assert client.post(at.reports, content=body, headers=OCTETS).json() == {"reports": PEOPLE, "new": PEOPLE}
        working = {"digest": collection.digest.encode(), "public": key.public.encode()}
        # One of them may lie across two pages of the database, in two parts.
        working |= (arrived := {f"envelope {number}": envelopes[number] for number in range(5)})
        found = held(memory(shuffler.process.pid), secrets | working)
        assert found >= {"digest", "public"}, "the search sees what is there"
        assert found & set(secrets) == set()
        bearer = {"authorization": f"Bearer {shuffler.token}"}
        assert client.post(at.close, headers=bearer).status_code == 200
        sealed = client.get(at.sealed, headers=bearer).content
        assert sealed.endswith(b"".join(sorted(envelopes)))
        found = held(memory(shuffler.process.pid), secrets | working)
        assert found & set(secrets) == set()
        found = held(iter(Disk.of(place).files.values()), secrets | working)
        assert {*working} - found < {*arrived}, "what is there is seen"
        assert found & set(secrets) == set()
    found = found_in_a_reader(tmp_path, collection, key, envelopes[0], secrets)
    assert found >= {"key", "report 0"}, "the positive control: it could read, and did"


def found_in_a_reader(
    study: Path, collection: Collection, key: AnalystKey, envelope: bytes, secrets: Mapping[str, bytes]
) -> set[str]:
    """The positive control: a process that has opened one report."""
    key.write(study / "analyst.key")
    (study / "collection.json").write_bytes(collection.content)
    (study / "envelope").write_bytes(envelope)
    with subprocess.Popen(
        [sys.executable, "-c", READER, str(study)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "1\n"
        return held(memory(reader.pid), secrets)
