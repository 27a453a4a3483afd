"""Reports from fixed tapes of random words: the same words, used in the same order, give the same
reports, in Python and in the code that browsers run.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import shuffledp
from tests.pins import asked
from tests.pins.pinned import Pin, exactly, expect, pins, tape_of

PINS = pins("tapes")
CLIENT = Path(shuffledp.__file__).parent / "survey" / "web" / "client.js"
NODE = shutil.which("node")


@pytest.mark.parametrize("pin", PINS, ids=lambda pin: pin["id"])
def test_the_words_of_a_tape_give_the_same_reports(pin: Pin) -> None:
    expect(pin, tape_of(pin), exactly)


def test_every_mechanism_that_draws_is_among_them() -> None:
    names = {pin["mechanism"]["name"] for pin in PINS}
    assert names >= {*asked.MECHANISMS, "check-in", "one-of", "all-of"} - {"any-ldp"}, "which names no law"


def test_a_tally_in_parts_is_that_of_the_whole() -> None:
    """Dummies come once. Messages that are dropped are dropped part by part, by other words."""
    found: dict[str, dict[int, Any]] = defaultdict(dict)
    for pin in PINS:
        if "parts" in pin:
            found[pin["tape"]][pin["parts"]] = tape_of(pin)["tally"]
    assert len(found) >= 8
    for tape, tallies in found.items():
        assert set(tallies) == {1, 2, 7}
        assert (tallies[1] == tallies[2] == tallies[7]) is ("half kept" not in tape), tape


@pytest.mark.skipif(NODE is None, reason="it needs node, which runs what browsers do")
def test_the_code_of_browsers_draws_the_same_from_the_same_words() -> None:
    told, expected = [], []
    chosen = [pin for pin in PINS if "tape" in pin and pin.get("question", {}).get("ask") not in (None, "crosstab")]
    for pin in chosen:
        text, encode = asked.in_a_browser(pin)
        people = [encode(value, f"{pin['tape']} {place}") for place, value in enumerate(pin["values"])]
        told.append(
            (text, [(value, [(bits, [*map(str, words)]) for bits, words in asks]) for value, asks, _ in people])
        )
        expected.append([[report, 0] for _, _, report in people])
    run = [str(NODE), str(Path(__file__).with_name("replay.mjs")), str(CLIENT)]
    answer = subprocess.run(run, input=json.dumps(told), capture_output=True, text=True, timeout=120, check=False)
    assert answer.returncode == 0, answer.stderr
    for pin, was, now in zip(chosen, expected, json.loads(answer.stdout), strict=True):
        assert now == was, pin["id"]
