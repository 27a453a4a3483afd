"""The integers that calibration finds for a target, exactly."""

from __future__ import annotations

import pytest

from tests.pins import asked
from tests.pins.pinned import Pin, exactly, expect, pins

PINS = pins("calibrations")


@pytest.mark.parametrize("pin", PINS, ids=lambda pin: pin["id"])
def test_a_target_has_the_same_mechanism(pin: Pin) -> None:
    expect(pin, asked.calibrated(pin), exactly)


def test_every_kind_of_search_is_among_them() -> None:
    questions = {(pin["question"]["ask"], pin.get("by", "")) for pin in PINS if "question" in pin}
    assert questions >= {*asked.ASKED, ("top", "")} - {("quantile", "tree")}
    shapes = {pin["found"]["law"]["randomizer"] for pin in PINS if "law" in pin["found"]}
    assert shapes >= {"tree", "one of", "split", "signed", "fakes", "dummies", "hash"}
    assert sum(pin.get("rounds", 1) > 1 for pin in PINS) >= 10
    assert sum("honest" in pin for pin in PINS) >= 8
    assert len(PINS) >= 60
