"""What a release says depends on the private values through the reports only; nothing else of the
table leaves.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shuffledp.questions import options_module
from shuffledp.release.arguments import complete
from shuffledp.release.options import options_of
from shuffledp.release.pipeline import described, release
from tests.cli.people import FILES, PROMISE, done, people
from tests.tables.tables import as_csv

PEOPLE = 400


def released(table: Path, folder: Path, seed: int, **question: Any) -> dict[str, Any]:
    """The facts of a release whose noise is known, without the clock's."""
    name = "histogram" if "categories" in question else "mean"
    given = complete(options_of(options_module(name).Options), question | {"epsilon": 1.0, "delta": 1e-6})
    asked, promise, _ = described(name, table, "value", given)
    with asked.values(asked.open()) as values:
        design = asked.design(values.count, promise)
        made = release(asked, values, design, folder, rng=np.random.default_rng(seed))
    facts = json.loads((folder / "estimates.json").read_text(encoding="utf-8"))
    assert facts == json.loads(json.dumps(made.facts))
    del facts["made"]["when"], facts["hashes"]["made"]
    return facts


def numbers(facts: object) -> set[object]:
    """Every number in a JSON object."""
    if isinstance(facts, dict | list):
        return {each for value in (facts.values() if isinstance(facts, dict) else facts) for each in numbers(value)}
    return {facts}


def test_tables_with_the_same_reports_have_the_same_release(tmp_path: Path) -> None:
    """Same places among the categories, but other texts, other columns, another size, another age:
    all of it must be invisible.
    """
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    plain = ["a" if i % 3 else "rest" for i in range(PEOPLE)]
    secret = ["a" if i % 3 else f"my secret {i}" for i in range(PEOPLE)]
    as_csv(here / "t.csv", pa.table({"value": plain}))
    as_csv(there / "t.csv", pa.table({"ssn": [f"{i:09d}" for i in range(PEOPLE)], "value": secret}))
    os.utime(there / "t.csv", (1, 1))
    question = {"categories": ["a", "rest"], "other": "rest"}
    first, second = (released(place / "t.csv", place / "result", 7, **question) for place in (here, there))
    assert first == second
    for name in FILES - {"estimates.json", "page.html"}:  # those two hold the time of day
        assert (here / "result" / name).read_bytes() == (there / "result" / name).read_bytes()
    assert released(here / "t.csv", here / "again", 8, **question) != first, "another noise is seen"


def test_missing_values_that_are_a_category_leave_no_trace(tmp_path: Path) -> None:
    """Nobody can tell them from others of the same category, so their number stands nowhere: it is
    the exact count of what noise protects.
    """
    first, second = tmp_path / "first", tmp_path / "second"
    for place, absent in ((first, None), (second, "elsewhere")):
        place.mkdir()
        as_csv(place / "t.csv", pa.table({"value": ["a" if i % 3 else absent for i in range(PEOPLE)]}))
    question = {"categories": ["a", "rest"], "other": "rest", "missing": "rest"}
    assert released(first / "t.csv", first / "result", 7, **question) == released(
        second / "t.csv", second / "result", 7, **question
    )


def test_clipped_values_leave_no_trace(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for place, far in ((first, 100.0), (second, 1e9)):
        place.mkdir()
        as_csv(place / "t.csv", pa.table({"value": [far if i % 10 == 0 else float(i % 100) for i in range(PEOPLE)]}))
    question = {"lower": 0.0, "upper": 100.0, "clip": True}
    assert released(first / "t.csv", first / "result", 7, **question) == released(
        second / "t.csv", second / "result", 7, **question
    )


def test_no_file_of_a_release_holds_ids_paths_hashes_or_sizes_of_the_table(
    folders: dict[str, Path], table: Path
) -> None:
    content = table.read_bytes()
    hidden = ["secret-", str(table.parent), hashlib.sha256(content).hexdigest(), hashlib.md5(content).hexdigest()]
    for folder in folders.values():
        for name in FILES:
            written = (folder / name).read_bytes()
            for each in hidden:
                assert each.encode() not in written, (name, each)
        facts = json.loads((folder / "estimates.json").read_text(encoding="utf-8"))
        assert len(content) not in numbers(facts)
        assert facts["asked"]["source"] == table.name
        assert set(facts["counted"]) == {"reports", "missing"}, (
            "how many were clipped, or were others, is nobody's business"
        )


def test_a_dry_run_says_nothing_about_the_values_but_their_number(tmp_path: Path) -> None:
    table = people()
    reverse = table.set_column(
        0, "city", pa.array(["Lima" if city is not None else None for city in table["city"].to_pylist()])
    )
    plans = []
    for name, each in (("a", table), ("b", reverse)):
        (tmp_path / name).mkdir()
        as_csv(tmp_path / name / "t.csv", each)
        asked = ("--column", "city", "--categories", "Lima,Osaka,Turku,Zürich", *PROMISE)
        plans.append(done("histogram", tmp_path / name / "t.csv", *asked, "--dry-run", "--json").out)
    assert plans[0] == plans[1]
