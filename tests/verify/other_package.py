"""Another distribution, which adds a question."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from shuffledp.page.page import environment

QUESTION = """
from typing import Annotated, Literal

from shuffledp.questions.histogram.question import HistogramQuestion
from shuffledp.schema import NEEDED, part


@part
class BallotQuestion(HistogramQuestion):
    type: Annotated[Literal["ballot"], NEEDED] = "ballot"


QUESTION = BallotQuestion
"""
OPTIONS = """
from dataclasses import replace

from of_ballots.question import QUESTION
from shuffledp.questions.histogram import options
from shuffledp.questions.histogram.options import Options


def request(rows, column, given):
    asked = options.request(rows, column, given)
    return replace(asked, question=QUESTION(categories=asked.question.categories))
"""
RECHECK = "from shuffledp.questions.histogram.recheck import recheck as own\n\n\ndef recheck(record, judge):\n"
HONEST = "    return own(record, judge)\n"
SECTION = '{% macro kind() %}ballot{% endmacro %}\n{% macro extra() %}<p>{{ "<b>votes</b>" }}</p>{% endmacro %}\n'


def write(
    home: Path,
    recheck: str = RECHECK + HONEST,
    *,
    question: str = QUESTION,
    section: str = SECTION,
    names: str = "ballot",
    version: str = "1.2",
) -> None:
    """Into a folder from which modules are imported."""
    package, said = home / "of_ballots", home / "of_ballots-1.dist-info"
    for folder in (package, said):
        folder.mkdir(exist_ok=True)
    texts = {"question.py": question, "options.py": OPTIONS, "recheck.py": recheck, "section.html": section}
    for name, text in texts.items():
        (package / name).write_text(text, encoding="utf-8")
    (package / "__init__.py").touch()
    (said / "METADATA").write_text(f"Metadata-Version: 2.1\nName: of-ballots\nVersion: {version}\n")
    groups = "".join(f"{name} = of_ballots\n" for name in names.split())
    (said / "entry_points.txt").write_text(f"[shuffledp.questions]\n{groups}")
    forget()


def forget() -> None:
    """Modules and templates that were loaded from it."""
    environment.cache_clear()
    for name in [each for each in sys.modules if each.partition(".")[0] == "of_ballots"]:
        del sys.modules[name]
    importlib.invalidate_caches()
