"""A small population in every format, and the command line as a function."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

from shuffledp.cli import main

CITIES = ("Lima", "Osaka", "Turku", "Zürich")
TRUTH = {"Lima": 1600, "Osaka": 900, "Turku": 400, "Zürich": 100}
PEOPLE, ABSENT = sum(TRUTH.values()), 7
PROMISE = ("--epsilon", 1, "--delta", 1e-6)
CITY = ("--column", "city", "--categories", ",".join(CITIES), *PROMISE)
AGE = ("--column", "age", "--lower", 0, "--upper", 100, *PROMISE)
FILES = {"page.html", "estimates.csv", "estimates.json", "estimates.svg", "design.json"}


def people() -> pa.Table:
    """3,000 people with a city, 7 without one, an age, and a name that must appear nowhere."""
    cities: list[str | None] = [city for city, count in TRUTH.items() for _ in range(count)] + [None] * ABSENT
    places = [(1009 * i) % len(cities) for i in range(len(cities))]
    ages = [float(18 + i % 60) for i in range(len(cities))]
    return pa.table(
        {"city": [cities[i] for i in places], "age": ages, "name": [f"secret-{i:05d}" for i in range(len(cities))]}
    )


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    code: int
    out: str
    error: str

    @property
    def facts(self) -> dict[str, Any]:
        """The object that --json printed; a NaN or an infinity is an error."""
        facts: dict[str, Any] = json.loads(self.out, parse_constant=_refuse)
        return facts

    def refused(self, words: str) -> None:
        """Assert that it was one line, exit code 2, and no answer."""
        assert self.code == 2, (self.code, self.out, self.error)
        assert self.error.startswith(("error: ", '{"error": ')), self.error
        assert self.error.count("\n") == 1, self.error
        assert words in self.error, self.error
        assert self.out == ""


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def run(*arguments: object, stdin: bytes | None = None) -> Said:
    """Run a command in this process."""
    out, error = io.StringIO(), io.StringIO()
    given = mock.patch.object(sys, "stdin", mock.Mock(buffer=io.BytesIO(stdin or b""), encoding="utf-8"))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error), given:
        code = main([str(each) for each in arguments])
    return Said(code, out.getvalue(), error.getvalue())


def done(*arguments: object, stdin: bytes | None = None) -> Said:
    """Run a command that must succeed."""
    said = run(*arguments, stdin=stdin)
    assert said.code == 0, said.error
    assert said.error == ""
    return said


def listing(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its content, and every folder."""
    return {
        str(each.relative_to(folder)): each.read_bytes() if each.is_file() else b"folder"
        for each in sorted(folder.rglob("*"))
    }
