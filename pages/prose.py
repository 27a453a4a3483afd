"""Numbers in the prose of docs/: what stands between ``<!-- =NAME -->`` and ``<!-- = -->`` is
computed; the rest of such a page is written by hand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from shuffledp import Poll

__all__ = ["PAGES", "page"]

PAGES = ("guides/sums", "guides/which-question")
MARKED = re.compile(r"(<!-- =(\w+) -->).*?(<!-- = -->)")
PROMISE: dict[str, Any] = {"n": 100_000, "epsilon": 1.0, "delta": 1e-8}


@cache
def _error(question: str, **asked: Any) -> float:
    return Poll(question, **asked, **PROMISE).predicted_stderr()


def _mean() -> float:
    return _error("mean", lower=0, upper=1)


def _found_from(docs: Path, words: str) -> str:
    """The last column of a row of the measured search."""
    rows = (docs / "top-words-measured.md").read_text(encoding="utf-8").splitlines()
    return next(row for row in rows if row.startswith(f"| {words} |")).split("|")[-2].strip()


NUMBERS: dict[str, Callable[[Path], str]] = {
    "mean": lambda _: f"{_mean():.1e}".replace("e-0", "e-"),
    "curator": lambda _: f"{math.sqrt(2.0) / (PROMISE['epsilon'] * PROMISE['n']):.1e}".replace("e-0", "e-"),
    "sum": lambda _: f"{PROMISE['n'] * _mean():.0f}",
    "count": lambda _: f"{_error('histogram', categories=2):.1f}",
    "bytes": lambda docs: _found_from(docs, "16 bytes"),
    "letters": lambda docs: _found_from(docs, "8 of 27 letters"),
}


def page(docs: Path, name: str) -> str:
    """The page with its numbers."""
    text = (docs / f"{name}.md").read_text(encoding="utf-8")
    return MARKED.sub(lambda mark: f"{mark[1]}{NUMBERS[mark[2]](docs)}{mark[3]}", text)
