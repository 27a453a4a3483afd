"""Both ends of epsilon and of delta, to twelve digits."""

from __future__ import annotations

import pytest

from tests.pins import asked
from tests.pins.pinned import Pin, expect, pins, relatively

PINS = pins("ends")


@pytest.mark.parametrize("pin", PINS, ids=lambda pin: pin["id"])
def test_both_ends_stay_where_they_are(pin: Pin) -> None:
    expect(pin, asked.ends(pin), relatively(1e-12))


def test_every_mechanism_is_among_them() -> None:
    names = {pin["mechanism"]["name"] for pin in PINS if "mechanism" in pin}
    assert names >= {*asked.MECHANISMS, "check-in", "one-of", "all-of"}
    assert {pin.get("rounds", 1) for pin in PINS} >= {1, 2, 10, 100}
    people = [pin["people"] for pin in PINS if "people" in pin]
    assert (min(people), max(people)) == (2, 10**12)
    assert any("groups" in pin for pin in PINS)
    assert sum("honest" in pin for pin in PINS) >= 10
