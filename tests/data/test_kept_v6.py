"""What the sixth edition wrote is read and confirmed for ever: limits that know whole votes, trees
of dummies, light fakes, and a search with two laws.

Never change a file in ``v6``; what fails is the code.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from shuffledp.collection.client import read_design
from shuffledp.collection.page import unchanged
from shuffledp.collection.record import read_record
from shuffledp.collection.verify import verify
from shuffledp.protocols.settling import certify

V6 = Path(__file__).parent / "v6"
KINDS = ("histogram", "mean", "crosstab", "light", "tree", "top")
IN_FULL = ("histogram", "light")  # the oracle takes seconds for the others, and confirmed them on that day


def page_of(folder: str) -> str:
    return gzip.decompress((V6 / folder / "page.html.gz").read_bytes()).decode()


@pytest.mark.parametrize("folder", KINDS)
def test_every_page_is_confirmed(folder: str) -> None:
    table = (V6 / folder / "estimates.csv").read_text(encoding="utf-8")
    found = verify(page_of(folder), table=table, seconds=120.0 if folder in IN_FULL else 0.0)
    assert not found.failed
    assert next(check.outcome for check in found.checks if check.what == "the page") == "pass"
    assert found.verdict == "pass" or folder not in IN_FULL


@pytest.mark.parametrize("folder", KINDS)
def test_every_page_and_its_json_are_written_again_from_the_record(folder: str) -> None:
    page, facts = page_of(folder), (V6 / folder / "estimates.json").read_text(encoding="utf-8")
    record = read_record(page)
    assert record.edition == 6
    assert unchanged(page)
    assert json.loads(facts) == record.as_json() == read_record(facts).as_json()
    assert record.digests() == record.hashes.as_json()


@pytest.mark.parametrize("folder", [each for each in KINDS if each != "top"])
def test_every_design_runs_and_keeps_its_promise(folder: str) -> None:
    path = V6 / folder / "design.json"
    design = read_design(path)
    assert design.file_text() == path.read_text(encoding="utf-8")
    assert certify(design).guarantee.delta_at_most(epsilon=2.0) <= 1e-4


def test_limits_of_an_earlier_edition_are_made_otherwise() -> None:
    facts = json.loads((V6 / "histogram" / "estimates.json").read_text(encoding="utf-8"))
    assert not any(end % 1.0 for end in facts["estimates"]["lower"])
    failed = {check.what for check in verify(json.dumps(facts | {"edition": 5}), seconds=0.0).failed}
    assert any("lower" in what for what in failed)
