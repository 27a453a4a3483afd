"""Which words are most frequent, when nobody has listed them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shuffledp.protocols.categories import as_list
from shuffledp.release.answered import opened
from shuffledp.release.arguments import PathLike, budget_of, path_text, promised, reading, text_cleaning
from shuffledp.release.top_question import TopQuestion, read_tokens
from shuffledp.release.top_release import TopRelease, release_search
from shuffledp.sampling import Rng
from shuffledp.tables import Keep
from shuffledp.tables.formats import Format

__all__ = ["top"]


def top(
    data: object,
    column: str | None = None,
    *,
    k: int = 50,
    longest: int = 16,
    tokens: PathLike | Iterable[str] | None = None,
    least_holders: int = 50,
    error: float = 1e-3,
    candidates: int | None = None,
    epsilon: float,
    delta: float,
    honest: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    strip: bool = False,
    ignore_case: bool = False,
    na: str | Iterable[str] = (),
    ids: str | None = None,
    keep: Keep | None = None,
    one_row_per_person: bool = False,
    format: Format | None = None,
    encoding: str | None = None,
    title: str | None = None,
    rng: Rng = None,
) -> TopRelease:
    """The ``k`` most frequent words that people hold, when nobody has listed them.

    Beginnings that many people share are followed, symbol by symbol, up to ``longest`` of them;
    each step is asked of other people, who drew it at random, so that the promise to everybody is
    that of one step. Symbols are bytes, or ``tokens``: a list, or a file with one per line. With
    probability 1 - ``error`` no word is listed, and no beginning followed, that fewer than
    ``least_holders`` people hold. ``found`` of what is returned says what may have been missed.
    Everything else is as for ``histogram``.

    >>> fruit = ["fig"] * 9000 + ["kiwi"] * 6000 + [f"rare{i}" for i in range(2000)]
    >>> found = top(fruit, k=5, longest=4, epsilon=1.0, delta=1e-6)
    >>> [row.label for row in found.estimates][:2]
    ['fig', 'kiwi']
    """
    known: tuple[Any, ...] | None = None
    if isinstance(tokens, (str, os.PathLike)):
        known = read_tokens(Path(path_text("tokens", tokens)))
    elif tokens is not None:
        known = tuple(as_list("tokens", tokens, remedy='Pass a list such as ["a", "b"], or the name of a file.'))
    question = TopQuestion(
        **reading(data, column, ids=ids, keep=keep, alone=one_row_per_person, format=format, encoding=encoding),
        title=title,
        k=k,
        longest=longest,
        tokens=known,
        least_holders=least_holders,
        error=error,
        candidates=candidates,
        cleaning=text_cleaning(strip, ignore_case, na),
    ).checked()
    promise = promised(epsilon, delta, 1, honest)
    budget = budget_of(ledger, population, limit_epsilon, limit_delta)
    with opened(question, rng) as (settled, values):
        search = settled.search(values.count, promise)
        return release_search(search, values, settled.asked(), budget=budget, rng=rng)
