"""What somebody gave is shown in a refusal, and steers neither a terminal nor a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shuffledp as sdp
from shuffledp.questions import options_of_all
from shuffledp.release.options import options_of
from tests.cli.people import run

EVIL = "a\x1b[2J\x07\r\n\u202eb"  # clear the screen, ring, go back, begin a line, write from right to left
ASKED: dict[str, Any] = {"categories": ["x", "y"], "epsilon": 1.0, "delta": 1e-6}
PEOPLE = {"city": ["x", "y"] * 30, "who": [*range(60)]}
TEXTS = [
    each.name for each in options_of(options_of_all()["histogram"]).values() if each.kind in ("text", "texts", "words")
]
FILES = ["ledger"]
WITH: dict[str, dict[str, Any]] = {
    "keep": {"ids": "who"},
    "population": {"ledger": "b.sqlite"},
    "ledger": {"population": "p"},
}


def plain(text: str) -> None:
    assert text.isprintable(), ascii(text)


@pytest.mark.parametrize("name", [*TEXTS, *FILES])
def test_every_text_of_a_histogram(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = ASKED | WITH.get(name, {}) | {name: EVIL}
    try:
        sdp.histogram(pa.table(PEOPLE), "city", **given)
    except sdp.InvalidInput as error:
        plain(str(error))
        plain(error.typed)
    else:
        assert name in ("na", "ids"), "nothing was wrong with it"


@pytest.mark.parametrize("name", [*TEXTS, *FILES, "out", "column", "epsilon"])
def test_every_text_of_its_command(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("city,who\n" + "x,1\ny,2\n" * 30, encoding="utf-8")
    given = {
        "column": "city",
        "categories": "x,y",
        "epsilon": 1,
        "delta": 1e-6,
        "out": "result",
        "one-row-per-person": True,
    }
    given |= WITH.get(name, {}) | {name.replace("_", "-").replace("ids", "id"): EVIL}
    words = [each for flag, value in given.items() for each in (f"--{flag}", value)]
    for as_json in ((), ("--json",)):
        said = run("histogram", "people.csv", *words, *as_json)
        plain(said.error.removesuffix("\n"))


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ({"city": ["x", EVIL] * 30}, "city"),
        ({EVIL: ["x", "z"] * 30, "other": [1] * 60}, EVIL),
        ({EVIL: ["x", "z"] * 30, "other": [1] * 60}, None),
        ({"city": ["x", "y"] * 30, EVIL: [1] * 60}, "cit"),
        ({"city": [1.5, 2.5] * 30, EVIL: [1] * 60}, "city"),
        ({"city": ["x", " " + EVIL, EVIL + " "] * 20}, "city"),
    ],
)
def test_names_and_values_of_a_table(table: dict[str, Any], column: str | None, tmp_path: Path) -> None:
    with pytest.raises(sdp.InvalidInput) as refused:
        sdp.histogram(pa.table(table), column, **ASKED)
    plain(str(refused.value))
    plain(refused.value.typed)
    for name in (EVIL, f"{EVIL}.csv"):
        with pytest.raises(sdp.InvalidInput) as missing:
            sdp.histogram(tmp_path / name, "city", **ASKED)
        plain(str(missing.value))


def test_files_of_categories(tmp_path: Path) -> None:
    for name, content in ((EVIL, "x\nx\n"), ("plain.txt", "x\n\x1b[2J\u202e\n")):
        file = tmp_path / name
        file.write_text(content, encoding="utf-8")
        with pytest.raises(sdp.InvalidInput) as refused:
            sdp.histogram(pa.table(PEOPLE), "city", **ASKED | {"categories": file})
        plain(str(refused.value))
