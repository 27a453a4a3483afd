"""What the third and the fourth edition wrote is read and confirmed for ever; sealed reports are
opened by the key that they were sealed for.

Never change a file in ``v4``; what fails is the code.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from shuffledp.collection.ledger import Ledger
from shuffledp.collection.network.collection_file import read_collection
from shuffledp.collection.network.opening.opened_file import OpenedFile
from shuffledp.collection.network.opening.opening_reports import open_collection
from shuffledp.collection.page import unchanged
from shuffledp.collection.record import read_record
from shuffledp.collection.verify import verify
from tests.data.limits_anew import assert_same_but_limits

V4 = Path(__file__).parent / "v4"
EDITIONS = {"binary": 3, "rounds": 3, "mean-clip": 3, "frequency": 3, "network": 4}
IN_FULL = ("binary", "network")  # the oracle takes seconds for each of the others, and confirmed them on that day


def page_of(folder: str) -> str:
    return gzip.decompress((V4 / folder / "page.html.gz").read_bytes()).decode()


def beside(folder: str, name: str) -> str:
    return (V4 / folder / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", EDITIONS)
def test_every_page_is_confirmed(folder: str) -> None:
    ledger = Ledger(V4 / "budget.sqlite") if folder == "binary" else None
    seconds = 120.0 if folder in IN_FULL else 0.0
    found = verify(page_of(folder), table=beside(folder, "estimates.csv"), ledger=ledger, seconds=seconds)
    assert not found.failed
    assert next(check.outcome for check in found.checks if check.what == "the page") == "pass"
    assert found.verdict == "pass" or folder not in IN_FULL


@pytest.mark.parametrize("folder", EDITIONS)
def test_every_page_and_its_json_are_written_again_from_the_record(folder: str) -> None:
    page, facts = page_of(folder), beside(folder, "estimates.json")
    record = read_record(page)
    assert record.edition == EDITIONS[folder]
    assert unchanged(page)
    assert _lines(record.as_json()) == _lines(read_record(facts).as_json()) == facts
    assert record.digests() == record.hashes.as_json()


def test_the_first_collection_is_read_and_written_again() -> None:
    path = V4 / "study" / "collection.json"
    collection = read_collection(path)
    assert collection.content == path.read_bytes()
    assert collection.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    opened = OpenedFile.read(V4 / "study" / "opened.json")
    assert opened is not None
    assert (opened.collection, opened.reports, opened.invalid) == (collection.digest, 150, 2)


def test_its_sealed_reports_are_opened_again_to_the_same_result(tmp_path: Path) -> None:
    shutil.copytree(V4 / "study", tmp_path / "study")
    (tmp_path / "study" / "analyst.key").chmod(0o600)  # which git does not keep
    made = open_collection(tmp_path / "study", V4 / "sealed.bin").facts
    kept = json.loads(beside("network", "estimates.json"))
    assert made["estimates"].pop("sway")  # which the fifth edition began to say
    assert_same_but_limits(made["estimates"], kept["estimates"])
    assert {name: made[name] for name in ("tally", "counted", "asked")} == {
        name: kept[name] for name in ("tally", "counted", "asked")
    }
    assert (tmp_path / "study" / "opened.json").read_bytes() == (V4 / "study" / "opened.json").read_bytes()


def _lines(facts: dict[str, Any]) -> str:
    return json.dumps(facts, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
