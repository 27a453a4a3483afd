"""A question about quantiles, from values to a verified page: what is said is what was found, and
nobody can change it.
"""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.engines.batch import BatchReporter
from shuffledp.errors import InvalidInput
from shuffledp.page import html
from shuffledp.record import Record
from shuffledp.release.stages import check_counts
from shuffledp.verify import verify
from tests.verify.releases import made_by, rehashed
from tests.verify.test_every_field import forgeries, is_free
from tests.verify.test_verify import fails

CUTS = tuple(float(each) for each in range(0, 41, 5))
SHAPES: dict[str, tuple[int, ...]] = {"all bins": (), "levels": (4, 8)}


@pytest.fixture(autouse=True)
def _without_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which are slower for so small a page."""
    monkeypatch.setattr("shuffledp.judge.oracle.BALLS", False)


@cache
def _facts(shape: str) -> str:
    ages = Poll(
        "quantile", cuts=CUTS, at=[0.1, 0.5], ranges=[(10, 20)], n=40, epsilon=2.0, delta=1e-2, levels=SHAPES[shape]
    )
    made = made_by(ages, np.random.default_rng(1).normal(20.0, 6.0, 40).clip(0.0, 40.0))
    return json.dumps(made)


def facts(shape: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(_facts(shape))
    return made


@pytest.mark.parametrize("shape", SHAPES)
def test_a_page_as_it_was_written_passes(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate of k-ary randomized response is that of a histogram, which others verify."""
    if shape == "all bins":
        monkeypatch.setattr("shuffledp.verify.verification.check_certificate", lambda *_: [])
    found = verify(_facts(shape))
    assert not found.failed
    assert found.verdict == "pass"
    assert html(Record.from_json(facts(shape))).count("<table>") == 4


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
def test_whoever_changes_a_number_and_mends_the_hashes_is_found_out(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The certificate, which other tests walk over, is left as it is."""
    monkeypatch.setattr("shuffledp.verify.verification.check_certificate", lambda *_: [])
    monkeypatch.setattr("shuffledp.verify.verification.check_comparison", lambda *_: [])
    parts = ("design.", "tally.", "tables.", "counted.")
    forged = [each for each in forgeries(facts(shape)) if each.deed == "changed" and each.name.startswith(parts)]
    forged = [each for each in forged if not is_free(each.name)]
    assert len(forged) > 50
    assert not [each.name for each in forged if not fails(each.made)]


@pytest.mark.long
def test_the_oracle_judges_the_certificate_of_levels() -> None:
    made = facts("levels")
    curve = made["certificate"]["curve"]
    curve["upper"][20] *= 0.99
    curve["lower"][20] = min(curve["lower"][20], curve["upper"][20])
    assert {check.what for check in verify(json.dumps(rehashed(made))).failed} >= {"delta on the curve, upper"}


def test_from_python_to_a_verified_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people = np.random.default_rng(2).normal(40.0, 12.0, 400).clip(0.0, 99.0)
    age = sdp.quantile(people, lower=0, upper=100, bins=20, at=[0.25, 0.5], ranges=[(20, 60)], epsilon=1.0, delta=1e-6)
    found = age.record.table("quantiles")
    assert found is not None
    for at, low, high in zip([0.25, 0.5], found.lower, found.upper, strict=True):
        assert low - 20.0 <= np.quantile(people, at) <= high + 20.0
    assert "lower quartile" in str(age)
    assert "median" in age._repr_html_()
    assert [row.label for row in age.estimates][:2] == ["below 5", "below 10"]
    folder = age.save(tmp_path / "out")
    monkeypatch.setattr("shuffledp.verify.verification.check_certificate", lambda *_: [])
    assert not verify(
        (folder / "page.html").read_text(), beside={"estimates.csv": (folder / "estimates.csv").read_text()}
    ).failed


def test_a_quantile_among_clipped_values_is_at_or_beyond_the_end() -> None:
    values = [5.0] * 400 + [500.0] * 1600
    with pytest.raises(InvalidInput, match="clip=True"):
        sdp.quantile(values, lower=0, upper=100, bins=10, at=0.5, epsilon=1.0, delta=1e-6)
    asked: dict[str, Any] = {"lower": 0, "upper": 100, "bins": 10, "at": [0.1, 0.5], "clip": True}
    made = sdp.quantile(values, **asked, epsilon=1.0, delta=1e-6)
    (told,) = made.record.question.told(made.record)
    assert told.rows == [
        ("0.1-quantile", "below 10", "below 10"),
        ("median", "90 or more", "90 or more"),
    ]
    assert "at the end of the range or beyond it" in str(made)


def test_ranges_are_counted() -> None:
    made = sdp.quantile([15.0] * 1500 + [35.0] * 500, cuts=CUTS, ranges=[(10, 20)], epsilon=1.0, delta=1e-6)
    ((name, people, share, _),) = made.record.question.told(made.record)[1].rows
    assert name == "10 to 20"
    assert abs(int(people.replace(",", "")) - 1500) < 200
    assert share.endswith("%")


@pytest.mark.parametrize("shape", SHAPES)
def test_an_engine_counts_what_a_file_would(shape: str) -> None:
    ages = Poll("quantile", cuts=CUTS, n=4, epsilon=2.0, delta=1e-1, levels=SHAPES[shape])
    pa = pytest.importorskip("pyarrow")
    phones = BatchReporter.of(ages, column="age")
    sums = phones.added_up(phones.tally([pa.record_batch({"age": [1.0, 7.0, None, 39.0, 40.0]})]))
    assert (sums.people, sums.missing) == (4, 1)
    check_counts(phones.counted(sums), "these", Design.of(ages))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"lower": 0}, "lower and upper, known without the data"),
        ({"lower": 0, "upper": 10, "cuts": [0, 5, 10]}, "the bins must be given in one way"),
        ({"lower": 0, "upper": 10, "at": 1.0}, "between 0 and 1"),
        ({"lower": 0, "upper": 10, "bins": 5, "ranges": [(1, 4)]}, "The nearest one is"),
        ({"lower": 0, "upper": 10, "ranges": [(1, 4, 5)]}, "a range must be two cut points"),
        ({"cuts": [0, 5, 5]}, "cut points must increase"),
        ({"cuts": "0,5"}, "cuts must be"),
        ({"lower": 0, "upper": "ten"}, "upper must be"),
        ({"lower": 0, "upper": 10, "bins": 5000}, "bins must be at most 1,024"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        sdp.quantile([1.0, 2.0] * 50, **asked, epsilon=1.0, delta=1e-6)


def test_what_was_asked_has_files_of_its_own(tmp_path: Path) -> None:
    ages = [float(age) for age in range(40)] * 10
    asked = {"lower": 0, "upper": 40, "at": [0.25, 0.5], "ranges": [(10, 20)]}
    made = sdp.quantile(ages, epsilon=2.0, delta=1e-3, **asked)
    folder = made.save(tmp_path / "ages")
    for name, labels in (("quantiles", ["0.25", "0.5"]), ("ranges", ["10 to 20"])):
        with (folder / f"{name}.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        found = made.record.table(name)
        assert found is not None
        assert [row["label"] for row in rows] == labels
        assert tuple(float(row["estimate"]) for row in rows) == found.value
        assert tuple(float(row["upper"]) for row in rows) == found.upper
