"""A collection is its bytes: read back exactly, or refused with a sentence."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.storage.canonical import canonical
from shuffledp.survey.collection import Collection, check_address, check_digest, read_collection
from tests.survey.studies import study


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
        Collection.of_bytes(changed)


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
            Collection.of_bytes(content)


def test_it_opens_before_it_closes() -> None:
    assert study(opens=1, closes=2).opens == 1
    with pytest.raises(InvalidInput, match="open before it closes"):
        study(opens=2, closes=2)


def test_a_file_that_is_not_there_or_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="Check the name"):
        read_collection(tmp_path / "none")
    (tmp_path / "long").write_bytes(study().content)
    monkeypatch.setattr("shuffledp.survey.collection.LONGEST_FILE", 100)
    with pytest.raises(InvalidInput, match="at most 100 bytes"):
        read_collection(tmp_path / "long")


@pytest.mark.parametrize(
    "address",
    [
        *("https://a.org?", "https://a.org#", "https://a.org/?", "https://a.org/x#", "https://@a.org", "HTTPS://a.org"),
        *("http://:@127.0.0.1", "http://127.0.0.1\\.localhost", "http://a.org%2f.localhost", "http://[::1].a.org"),
        *(
            "http://[::1%25eth0]",
            "https://a.org:",
            "https://a.org:0",
            "https://a.org:99999",
            "https://a.org;b",
            "https://",
        ),
    ],
)
def test_an_address_that_readers_could_take_for_different_ones_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="shuffler of a collection must be an address"):
        replace(study(), shuffler=address)


def test_only_names_that_nobody_is_asked_for_are_this_machine() -> None:
    for address in ("http://localhost", "http://localhost.:80", "http://127.8.0.1", "http://[::1]:8000"):
        check_address(replace(study(), shuffler=address))
    for address in ("http://x.localhost", "http://127.0.0.1.a.org", "http://2130706433", "http://0.0.0.0"):
        with pytest.raises(InvalidInput, match="begins with https://"):
            check_address(replace(study(), shuffler=address))


def test_laws_within_laws_end_somewhere() -> None:
    """Python gives up at a depth that depends on who calls; a sentence comes long before that."""
    facts = study().as_json()
    law = facts["design"]["mechanism"]
    for _ in range(600):
        law = {"type": "check-in", "epsilon0": 1.0, "probability": 0.5, "of": law, "integers": [str(2**63)]}
    facts["design"]["mechanism"] = law
    with pytest.raises(InvalidInput, match="at most 32 others in each other, got more"):
        Collection.of_bytes(canonical(facts).encode() + b"\n")


@pytest.mark.parametrize("name", ["n", "rounds"])
def test_numbers_that_no_float_holds_are_refused(name: str) -> None:
    facts = study().as_json()
    facts["design"]["target"][name] = 10**400
    with pytest.raises(InvalidInput, match=f"must have its usual form, got '1000.*for design.target.{name}"):
        Collection.of_bytes(canonical(facts).encode() + b"\n")


@pytest.mark.parametrize("categories", [[1, "1", "no"], ["caf\u00e9", "cafe\u0301", "no"]])
def test_answers_that_look_the_same_are_refused(categories: list[Any]) -> None:
    facts = study().as_json()
    facts["design"]["domain"] |= {"labels": categories}
    with pytest.raises(InvalidInput, match="must look different"):
        Collection.of_bytes(canonical(facts).encode() + b"\n")
