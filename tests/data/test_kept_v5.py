"""What the fifth edition wrote is read and confirmed for ever: laws of several messages, crosstabs,
quantiles, searches, and a week of a series.

Never change a file in ``v5``; what fails is the code.
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from shuffledp.collection.client import read_design
from shuffledp.collection.ledger import Ledger
from shuffledp.collection.page import unchanged
from shuffledp.collection.record import read_record
from shuffledp.collection.verify import verify
from shuffledp.protocols.settling import certify

V5 = Path(__file__).parent / "v5"
KINDS = ("fakes", "dummies", "count", "split", "crosstab", "quantile", "levels", "top", "week")
IN_FULL = ("fakes", "dummies", "split")  # the oracle takes seconds for the others, and confirmed them on that day


def page_of(folder: str) -> str:
    return gzip.decompress((V5 / folder / "page.html.gz").read_bytes()).decode()


@pytest.mark.parametrize("folder", KINDS)
def test_every_page_is_confirmed(folder: str) -> None:
    table = (V5 / folder / "estimates.csv").read_text(encoding="utf-8")
    ledger = Ledger(V5 / "budget.sqlite") if folder == "week" else None
    found = verify(page_of(folder), table=table, ledger=ledger, seconds=120.0 if folder in IN_FULL else 0.0)
    assert not found.failed
    assert next(check.outcome for check in found.checks if check.what == "the page") == "pass"
    assert found.verdict == "pass" or folder not in IN_FULL


@pytest.mark.parametrize("folder", KINDS)
def test_every_page_and_its_json_are_written_again_from_the_record(folder: str) -> None:
    page, facts = page_of(folder), (V5 / folder / "estimates.json").read_text(encoding="utf-8")
    record = read_record(page)
    assert record.edition == 5
    assert unchanged(page)
    assert json.loads(facts) == record.as_json() == read_record(facts).as_json()
    assert record.digests() == record.hashes.as_json()


@pytest.mark.parametrize("folder", [each for each in KINDS if each not in ("top", "week")])
def test_every_design_runs_and_keeps_its_promise(folder: str) -> None:
    path = V5 / folder / "design.json"
    design = read_design(path)
    assert design.file_text() == path.read_text(encoding="utf-8")
    assert certify(design).guarantee.delta_at_most(epsilon=2.0) <= 1e-4


def test_the_ledger_knows_its_series(tmp_path: Path) -> None:
    shutil.copy(V5 / "budget.sqlite", tmp_path)
    ledger = Ledger(tmp_path / "budget.sqlite")
    assert not ledger.check().faults
    (people,) = ledger.export()["populations"]
    assert [series["weeks"] for series in people["series"]] == [3]
