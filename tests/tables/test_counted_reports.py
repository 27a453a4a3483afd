"""The file of counted reports: read back as it was written, or refused in a sentence."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shuffledp.errors import InvalidInput
from shuffledp.storage.canonical import canonical, digest_of
from shuffledp.tables.counted_reports import CountedReports, holds_counts, new_batch, read_counted, write_counted

COUNTED = CountedReports(
    design={"task": "histogram"},
    votes=np.array([5, 0, 7]),
    reports=12,
    batches=("a" * 32, "b" * 32),
    secure=True,
    missing=3,
    repeated=None,
    engine="Spark 4.3",
)


def sealed(facts: dict[str, Any]) -> str:
    """With a seal of its own: whoever forges a file can count, too."""
    plain = {name: value for name, value in facts.items() if name != "sha256"}
    return json.dumps(plain | {"sha256": digest_of(plain)})


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "counted.json"
    write_counted(path, COUNTED)
    again = read_counted(path)
    for field in fields(CountedReports):
        mine, read = getattr(COUNTED, field.name), getattr(again, field.name)
        assert np.array_equal(mine, read), field.name
    assert (again.votes.dtype, type(again.batches)) == (np.int64, tuple)
    assert holds_counts(path)
    assert path.read_text(encoding="utf-8") == canonical(COUNTED.as_json()) + "\n"
    assert [each.name for each in tmp_path.iterdir()] == ["counted.json"]


def test_the_same_facts_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_counted(tmp_path / name, COUNTED)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_is_called_last_may_still_forbid_it(tmp_path: Path) -> None:
    def forbid() -> None:
        assert not (tmp_path / "counted.json").exists()
        raise InvalidInput("no")

    with pytest.raises(InvalidInput, match="no"):
        write_counted(tmp_path / "counted.json", COUNTED, last=forbid)
    assert list(tmp_path.iterdir()) == []


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "counted.json"
    write_counted(path, COUNTED)
    whole = path.read_bytes().rstrip()
    for place in range(0, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(InvalidInput, match="must"):
            read_counted(path)


def test_a_file_that_was_cut_off_is_refused_wherever(tmp_path: Path) -> None:
    path = tmp_path / "counted.json"
    write_counted(path, COUNTED)
    whole = path.read_bytes().rstrip()
    for length in range(0, len(whole), 3):
        path.write_bytes(whole[:length])
        with pytest.raises(InvalidInput, match="must hold counted reports"):
            read_counted(path)
    path.write_bytes(whole + whole)
    with pytest.raises(InvalidInput, match="must hold counted reports"):
        read_counted(path)


@pytest.mark.parametrize(
    "name, value",
    [
        ("design", None),
        ("design", []),
        ("votes", None),
        ("votes", [5, 0, 7.0]),
        ("votes", [5, 0, True]),
        ("votes", [5, 0, "7"]),
        ("votes", [5, 0, 1 << 70]),
        ("votes", {"0": 5}),
        ("reports", 12.0),
        ("reports", -1),
        ("reports", 1 << 63),
        ("reports", True),
        ("batches", []),
        ("batches", ["a", "a"]),
        ("batches", [""]),
        ("batches", [7]),
        ("batches", "a"),
        ("secure", 1),
        ("secure", None),
        ("missing", -1),
        ("missing", 3.0),
        ("repeated", "none"),
        ("engine", 4),
        ("engine", ""),
        ("engine", "x" * 201),
        ("engine", "Spark\x1b[31m"),
        ("engine", "Spark\u202e3.4"),
    ],
)
def test_a_field_that_no_version_writes_is_refused_although_it_is_sealed(
    name: str, value: object, tmp_path: Path
) -> None:
    path = tmp_path / "counted.json"
    path.write_text(sealed(COUNTED.as_json() | {name: value}), encoding="utf-8")
    with pytest.raises(InvalidInput, match=f"must say what counted reports say, got a difference in {name}"):
        read_counted(path)


@pytest.mark.parametrize("name", ["engine", "batches", "design", "\ud800"])
def test_half_a_sign_is_refused(name: str, tmp_path: Path) -> None:
    """JSON can say it, and no file can hold it."""
    path = tmp_path / "counted.json"
    wrong = {"engine": "\ud800", "batches": ["\ud800"], "design": {"\ud800": 1}}.get(name, 1)
    path.write_text(json.dumps(COUNTED.as_json() | {name: wrong}), encoding="utf-8")
    with pytest.raises(InvalidInput, match="must be text that can be written, got other"):
        read_counted(path)


def test_more_and_fewer_fields_are_refused(tmp_path: Path) -> None:
    path, facts = tmp_path / "counted.json", COUNTED.as_json()
    path.write_text(sealed(facts | {"keyed": False}), encoding="utf-8")  # as another version wrote it
    with pytest.raises(InvalidInput, match=r"a difference in keyed\. Use the shuffledp that wrote it"):
        read_counted(path)
    for wrong in (facts | {"more": 1}, {name: value for name, value in facts.items() if name != "missing"}):
        path.write_text(sealed(wrong), encoding="utf-8")
        with pytest.raises(InvalidInput, match="got a difference in m"):
            read_counted(path)
    path.write_text(json.dumps({name: value for name, value in facts.items() if name != "sha256"}), encoding="utf-8")
    with pytest.raises(InvalidInput, match="as it was written, got a changed file"):
        read_counted(path)
    path.write_text(json.dumps(facts), encoding="utf-8")  # the positive control: spelled otherwise, the same facts
    assert read_counted(path).reports == 12


def test_a_strange_name_is_not_sent_to_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "counted.json"
    path.write_text(sealed(COUNTED.as_json() | {"\x1b[31m": 1}), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"got a difference in '\\x1b\[31m'\."):
        read_counted(path)


@pytest.mark.parametrize("version", [0, 2, 1.0, True, "1", None])
def test_another_version_is_named(version: object, tmp_path: Path) -> None:
    path = tmp_path / "counted.json"
    path.write_text(sealed(COUNTED.as_json() | {"version": version}), encoding="utf-8")
    with pytest.raises(InvalidInput, match="must be of version 1, got"):
        read_counted(path)


NO_COUNTS = {
    "nothing": lambda _: "",
    "a list": lambda _: "[]",
    "null": lambda _: "null",
    "no fields": lambda _: "{}",
    "very deep": lambda _: "{" * 100_000,
    "something else": lambda _: '{"format": "something else"}',
    "NaN": lambda whole: whole.replace("12", "NaN"),
    "a name twice": lambda whole: whole.replace('"reports":12', '"reports":12,"reports":12'),
    "a byte order mark": lambda whole: "\ufeff" + whole,
}


@pytest.mark.parametrize("what", NO_COUNTS)
def test_what_is_no_such_file_is_refused(what: str, tmp_path: Path) -> None:
    text = NO_COUNTS[what](canonical(COUNTED.as_json()))
    path = tmp_path / "counted.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="must hold counted reports, got something else"):
        read_counted(path)


def test_bytes_that_are_no_text_and_files_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "counted.json"
    for read in (read_counted, holds_counts):
        with pytest.raises(InvalidInput, match="must be a file, got nothing there"):
            read(path)
    path.write_bytes(b"{\xff\xfe}")
    with pytest.raises(InvalidInput, match="must hold counted reports"):
        read_counted(path)
    with pytest.raises(InvalidInput, match="must be"):
        read_counted(tmp_path)


def test_drawings_have_names_of_their_own() -> None:
    assert len({new_batch() for _ in range(100)}) == 100
    assert replace(COUNTED, batches=(new_batch(),)).batches[0] != COUNTED.batches[0]
