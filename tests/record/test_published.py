"""The published schemas are those that shuffledp reads by, and honest files are as they say."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from pages import schemas
from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.randomizers import KRR, CheckIn
from shuffledp.record import Record, data_block, read_record
from tests.record.published import FILES, FOLDER, faults
from tests.verify.releases import ASKED, NAMES, as_page, facts, told

FEW: dict[str, Any] = {"n": 500, "delta": 1e-6}
DESIGNS: dict[str, Callable[[], Poll]] = {
    "histogram": lambda: Poll("histogram", categories=["a", 2], other=2, epsilon0=3.0, **FEW),
    "check-in": lambda: Poll(
        "histogram", categories=4, randomizer=CheckIn(KRR(k=4, epsilon0=2.0), probability=0.25), **FEW
    ),
    "fakes": lambda: Poll("histogram", mechanism="fakes", categories=["a", "b"], epsilon=1.0, **FEW),
    "crosstab": lambda: Poll("crosstab", columns=["x", "y"], categories=[["a", "b"], 3], epsilon0=3.0, **FEW),
    "mean": lambda: Poll("mean", lower=-1.0, upper=2.0, k=4, epsilon0=3.0, **FEW),
    "hashing": lambda: Poll("histogram", categories=40, mechanism="hash", epsilon0=2.0, **FEW),
    "subset": lambda: Poll("histogram", categories=40, mechanism="subset", epsilon0=2.0, **FEW),
}


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_what_is_read_by(name: str) -> None:
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == schemas.texts()[name], "run: make schemas"


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_is_as_its_schema_says_and_refused_where_it_is_not(name: str) -> None:
    written = Design.of(DESIGNS[name]()).as_json()
    assert not list(faults(FILES["design.json"], written))
    for field in written:
        for wrong in ("nonsense", -1, True, [], [None], {}, None):
            changed = copy.deepcopy(written) | {field: wrong}
            if list(faults(FILES["design.json"], changed)):
                with pytest.raises(InvalidInput):
                    _ = Design.from_json(json.loads(json.dumps(changed))).resolved


@pytest.mark.parametrize("name", [*NAMES, *ASKED])
def test_a_record_is_written_again_byte_by_byte(name: str) -> None:
    for made in (facts(name), told(name)):
        record = Record.from_json(made)
        assert json.dumps(record.as_json()) == json.dumps(made)
        assert record.hashes.as_json() == record.digests()
        assert as_page(made).count(data_block(read_record(as_page(made)).as_json())) == 1
