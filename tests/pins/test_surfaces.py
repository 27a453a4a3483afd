"""What a terminal shows is what it showed: ``python -m tests.pins.surfaces --write`` writes it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pins.surfaces import ANSWERS, CHAPTERS, OPTIONS, TRANSCRIPTS, masked, options, played, rounded, shape

ANSWERED: dict[str, Any] = json.loads(ANSWERS.read_text(encoding="utf-8"))
GIVEN: dict[str, Any] = json.loads(OPTIONS.read_text(encoding="utf-8"))
LONG = {"series of quantiles"}  # its verification alone takes 4 s


@pytest.mark.parametrize(
    "chapter", [pytest.param(each, marks=[pytest.mark.long] * (each in LONG)) for each in CHAPTERS]
)
def test_a_chapter_reads_as_it_did(chapter: str, tmp_path: Path) -> None:
    text, answers = played(chapter, tmp_path)
    assert text.splitlines() == (TRANSCRIPTS / f"{chapter}.txt").read_text(encoding="utf-8").splitlines()
    assert answers == ANSWERED[chapter]


def test_the_options_are_those_that_were() -> None:
    found = options()
    assert found.keys() == GIVEN.keys()
    for command, given in found.items():
        assert given == GIVEN[command], command


def test_every_command_is_played_as_text_and_as_json() -> None:
    """And none that is gone is kept."""
    words = "\n".join(f"$ shuffledp {line}" for each in ANSWERED.values() for line in each)
    text = "".join((TRANSCRIPTS / f"{chapter}.txt").read_text(encoding="utf-8") for chapter in CHAPTERS)
    for command in GIVEN:
        assert f"$ shuffledp {command}" in words, command
        assert f"$ shuffledp {command}" in text, command
    assert {path.stem for path in TRANSCRIPTS.iterdir()} == set(CHAPTERS) == set(ANSWERED)


def test_a_shape_is_keys_and_types() -> None:
    assert shape({"a": 1, "b": 1.0, "c": True, "d": None, "e": "x", "f": []}) == {
        "a": "integer", "b": "number", "c": "boolean", "d": "null", "e": "string", "f": [],
    }  # fmt: skip
    assert shape([1, 0.5, None]) == ["integer or null or number"]
    assert shape([{"a": 1}, {"a": None, "b": 2}]) == [{"a": "integer or null", "b?": "integer"}]
    assert shape([[{"a": 1}], [{}], 3]) == ["integer", [{"a?": "integer"}]]


def test_what_varies_is_masked_and_nothing_else() -> None:
    assert masked("at 2026-11-18T16:48:21+00:00, in 0.31 s\n") == "at <time>, in <duration>\n"
    assert masked("shuffledp 0.1.0  " + 64 * "a" + "\n") == "shuffledp <version>  <digest>\n"
    assert masked("1,592           9  1,573 to 1,611  Lima\n") == "1,592           9  1,573 to 1,611  Lima\n"
    assert rounded({"law": ["2395744235362568317"], "upper": 1.9997923012345}) == {
        "law": ["2395744235362568317"],
        "upper": 1.9997923,
    }
