"""A collection is its bytes: read back exactly, or refused with a sentence."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from shuffledp.collection.network.collection_file import Collection, check_digest, read_collection
from shuffledp.errors import InvalidInput
from shuffledp.storage.canonical import canonical
from tests.collection.network.studies import study


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    collection, path = study(question="Do you smoke?", codes=True), tmp_path / "collection.json"
    path.write_bytes(collection.content)
    assert read_collection(path) == collection
    assert read_collection(path, digest=collection.digest.upper()).digest == collection.digest
    assert hashlib.sha256(path.read_bytes()).hexdigest() == collection.digest
    with pytest.raises(InvalidInput, match="Do not report to it"):
        check_digest(collection, study().digest)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("key", "00"),
        ("key", "AB" * 32),
        ("key", None),
        ("shuffler", "ftp://example.org"),
        ("shuffler", "https://"),
        ("shuffler", "https://example.org/"),
        ("shuffler", "https://user:word@example.org"),
        ("shuffler", "https://example.org:99999"),
        ("shuffler", "https://example.org/\u202e"),
        ("round", 0),
        ("round", 2),
        ("round", True),
        ("question", ""),
        ("question", "two\nlines"),
        ("question", "x" * 501),
        ("opens", -1),
        ("opens", 1.5),
        ("closes", 10**13),
        ("codes", 1),
        ("design", {}),
        ("version", 2),
        ("format", "other"),
    ],
)
def test_other_values_are_refused(name: str, value: Any) -> None:
    changed = canonical(study().as_json() | {name: value}).encode() + b"\n"
    with pytest.raises(InvalidInput):
        Collection.from_bytes(changed)


def test_other_spellings_are_refused() -> None:
    collection = study()
    spelled = [
        collection.content.rstrip(b"\n"),
        collection.content + b"\n",
        json.dumps(collection.as_json()).encode() + b"\n",
        b"\xef\xbb\xbf" + collection.content,
        b"[" * 100_000,
        re.sub(rb'"epsilon0":[\d.]+', b'"epsilon0":1e400', collection.content),
        b"\xff",
        b"",
        collection.content.replace(b'"codes":false', b'"codes":false,"codes":false'),
        canonical(collection.as_json() | {"more": 1}).encode() + b"\n",
    ]
    for content in spelled:
        with pytest.raises(InvalidInput):
            Collection.from_bytes(content)


def test_it_opens_before_it_closes() -> None:
    assert study(opens=1, closes=2).opens == 1
    with pytest.raises(InvalidInput, match="open before it closes"):
        study(opens=2, closes=2)


def test_a_file_that_is_not_there_or_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="Check the name"):
        read_collection(tmp_path / "none")
    (tmp_path / "long").write_bytes(study().content)
    monkeypatch.setattr("shuffledp.collection.network.collection_file.LONGEST_FILE", 100)
    with pytest.raises(InvalidInput, match="at most 100 bytes"):
        read_collection(tmp_path / "long")
