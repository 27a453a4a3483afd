"""What the second version wrote is read and confirmed for ever.

What follows from it alone is written again byte by byte. Never change a file in ``v2``; what fails
is the code.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from shuffledp.collection.client import Encoder
from shuffledp.collection.ledger import Entry, Ledger
from shuffledp.collection.page import plain, unchanged
from shuffledp.collection.record import read_record
from shuffledp.collection.release import stages
from shuffledp.collection.release.budget import entry_of
from shuffledp.collection.tables import open_reports, tally_file
from shuffledp.collection.verify import verify
from shuffledp.protocols.design import Design
from shuffledp.storage.canonical import canonical
from tests.data.limits_anew import assert_same_but_limits

V2 = Path(__file__).parent / "v2"
PAGES = sorted(each.parent.name for each in V2.glob("*/report.html*"))
DESIGNS = sorted(each.name for each in V2.glob("design-*.json"))
REPORTS = sorted(each.name for each in V2.glob("*.parquet"))
IN_FULL = "binary"  # the oracle takes seconds for each of the others, and confirmed them when they were made


def text(folder: str, name: str) -> str:
    packed = V2 / folder / f"{name}.gz"
    return (gzip.decompress(packed.read_bytes()) if packed.exists() else (V2 / folder / name).read_bytes()).decode()


def facts_of(folder: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(text(folder, "estimates.json"))
    return facts


def test_every_kind_is_here() -> None:
    facts = [facts_of(folder) for folder in PAGES]
    assert {each["edition"] for each in facts} == {2}
    assert {each["design"]["task"] for each in facts} == {"histogram", "mean", "frequency"}
    methods = {each["design"].get("method") for each in facts}
    assert methods == {None, "hadamard", "hashing", "subset", "unary"}
    assert {each["secure"] for each in facts} == {True, False}
    assert {each["design"]["rounds"] for each in facts} == {1, 2, 3, 4}
    assert {each["design"]["learned"] for each in facts} == {True, False}
    assert sum("cleaned" in each["asked"] for each in facts) == 2
    assert sum(each["ledger"] is not None for each in facts) == 6
    assert sum(each["design"]["least"] < each["design"]["n"] for each in facts) == 2


@pytest.mark.parametrize("folder", PAGES)
def test_every_page_is_confirmed(folder: str) -> None:
    ledger = Ledger(V2 / "budget.sqlite") if facts_of(folder)["ledger"] else None
    seconds = 120.0 if folder == IN_FULL else 0.0
    found = verify(text(folder, "report.html"), table=text(folder, "estimates.csv"), ledger=ledger, seconds=seconds)
    outcomes = {check.what: check.outcome for check in found.checks}
    assert not found.failed
    assert outcomes["the page"] == "pass"
    assert {outcome for what, outcome in outcomes.items() if "estimates.csv" in what} == {"pass"}
    assert found.verdict == "pass" or folder != IN_FULL


@pytest.mark.parametrize("folder", PAGES)
def test_every_page_and_its_json_are_written_again_from_the_record(folder: str) -> None:
    page, beside = text(folder, "report.html"), text(folder, "estimates.json")
    record = read_record(page)
    assert unchanged(page)
    assert plain(page) == page
    assert _lines(record.as_json()) == _lines(read_record(beside).as_json()) == beside
    assert record.digests() == record.hashes.as_json()


@pytest.mark.parametrize("folder", PAGES)
def test_every_design_of_a_page_is_the_one_beside_it(folder: str) -> None:
    written, facts = text(folder, "design.json"), facts_of(folder)
    design = Design.from_json(json.loads(written))
    assert _lines(design.as_json()) == written
    assert canonical(design.as_json()) == canonical(facts["design"])
    assert design.digest == facts["hashes"]["design"]


@pytest.mark.parametrize("name", DESIGNS)
def test_every_design_is_read_and_written_again(name: str) -> None:
    assert _lines(stages.read_design(V2 / name).as_json()) == text(".", name)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_same_seed_draws_the_same_reports(name: str) -> None:
    design = stages.read_design(V2 / name)
    size = design.task.size
    values = np.arange(48) * 2.5 if size is None else np.arange(48) % size
    drawn = Encoder.of(design).encode(values, rng=np.random.default_rng(2026))
    assert drawn.tolist() == json.loads(text(".", "drawn.json"))[name]


@pytest.mark.parametrize("name", REPORTS)
def test_every_header_of_reports_is_written_again(name: str) -> None:
    header = pyarrow.parquet.read_metadata(V2 / name).metadata[b"shuffledp"]
    file = open_reports(V2 / name)
    assert file.header.as_json().encode() == header
    assert canonical(Design.from_json(file.header.design).as_json()) == canonical(dict(file.header.design))
    assert file.header.stage == name.partition("-")[0]
    assert file.named == name.startswith("encoded-histogram")


@pytest.mark.parametrize("name", [each for each in REPORTS if each.startswith("shuffled")])
def test_shuffled_reports_are_counted_as_they_were(name: str) -> None:
    file = open_reports(V2 / name, stage="shuffled")
    protocol = Design.from_json(file.header.design).protocol
    counted = tally_file(file, protocol.tally, check=protocol.randomizer.check_reports)
    assert counted.votes.tolist() == json.loads(text(".", "tallied.json"))[name]


def test_shuffled_reports_are_analysed_as_they_were(tmp_path: Path) -> None:
    shutil.copy(V2 / "shuffled-histogram.parquet", tmp_path)
    design = stages.read_design(V2 / "design-histogram.json")
    stages.analyse(tmp_path / "shuffled-histogram.parquet", tmp_path / "result", design=design, title="Shuffled cities")
    assert (tmp_path / "result" / "design.json").read_bytes().decode() == text("analysed", "design.json")
    now, then = json.loads((tmp_path / "result" / "estimates.json").read_text(encoding="utf-8")), facts_of("analysed")
    assert now["estimates"].pop("sway")  # which the fifth edition began to say
    assert_same_but_limits(now["estimates"], then["estimates"])
    for part in ("asked", "design", "counted", "tally", "secure", "notes", "ledger"):
        assert now[part] == then[part]
        assert now["hashes"][part] == then["hashes"][part]


def test_encoded_reports_of_two_batches_are_shuffled(tmp_path: Path) -> None:
    names = ["encoded-histogram-half.parquet", "encoded-histogram-rest.parquet"]
    for name in names:
        shutil.copy(V2 / name, tmp_path)
    done = stages.shuffle([tmp_path / name for name in names], tmp_path / "shuffled.parquet").file
    then = open_reports(V2 / "shuffled-histogram.parquet")
    assert (done.count, done.header) == (then.count, then.header)


def test_the_ledger_is_confirmed_and_exports_what_it_did(tmp_path: Path) -> None:
    shutil.copy(V2 / "budget.sqlite", tmp_path)
    ledger = Ledger(tmp_path / "budget.sqlite")
    assert not ledger.check().faults
    now, then = ledger.export(), json.loads(text(".", "budget.json"))
    states = {(one["state"], one["begun"] is None) for each in then["populations"] for one in each["releases"]}
    assert states == {("published", False), ("recorded", False), ("recorded", True)}
    for mine, theirs in zip(now["populations"], then["populations"], strict=True):
        assert mine.pop("series") == []  # which later ledgers may have
        ours, kept = mine.pop("total")["epsilon"], theirs.pop("total")["epsilon"]
        # A newer theorem may certify less than was known then, and never more.
        assert ours["lower"] >= kept["lower"] * (1.0 - 1e-6)
        assert ours["lower"] <= ours["upper"] <= kept["upper"] * (1.0 + 1e-6)
        left, then_left = mine.pop("more"), theirs.pop("more")
        assert (left is None) == (then_left is None)
        assert left is None or left >= then_left
    assert now == then


def test_every_entry_of_the_ledger_is_written_again() -> None:
    with closing(sqlite3.connect(f"file:{V2 / 'budget.sqlite'}?mode=ro&immutable=1", uri=True)) as connection:
        entries = [entry for (entry,) in connection.execute("SELECT entry FROM releases ORDER BY id")]
    assert len(entries) == 10
    assert [canonical(Entry.from_json(json.loads(entry)).as_json()) for entry in entries] == entries


def test_what_was_held_back_is_taken_over_and_more_is_spent(tmp_path: Path) -> None:
    shutil.copy(V2 / "budget.sqlite", tmp_path)
    ledger, design = Ledger(tmp_path / "budget.sqlite"), stages.read_design(V2 / "design-mean.json")
    held = next(each for each in ledger.releases("interrupted") if each.begun is None)
    again = ledger.spend("interrupted", entry_of(design, held.entry.what, held.entry.batches), held_back=True)
    assert (again.id, again.record) == (held.id, held.record)
    last = ledger.spend("app-users", entry_of(design, "one more"))
    assert last.id == 11
    assert not ledger.check().faults


def _lines(facts: object) -> str:
    """JSON as the files of a release hold it."""
    return json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
