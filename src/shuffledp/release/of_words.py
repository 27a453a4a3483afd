"""Which words are most frequent, when nobody has listed them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Unpack

from shuffledp.domain import as_list
from shuffledp.release.answered import opened
from shuffledp.release.arguments import budget_of, column_name, path_text, promise_of, reading
from shuffledp.release.options import TopOptions, keywords
from shuffledp.release.released import Release
from shuffledp.release.top_question import TopRequest, read_tokens
from shuffledp.release.top_release import release_search
from shuffledp.sampling import Rng

__all__ = ["top"]

SEARCHED = ("title", "k", "longest", "least_holders", "error", "candidates")


def _top(read: dict[str, Any], column: object, given: dict[str, Any]) -> TopRequest:
    tokens: Any = given["tokens"]
    if isinstance(tokens, (str, os.PathLike)):
        tokens = read_tokens(Path(path_text("tokens", tokens)))
    elif tokens is not None:
        tokens = tuple(as_list("tokens", tokens, remedy='Pass a list such as ["a", "b"], or the name of a file.'))
    own = {name: given[name] for name in SEARCHED if name in given}
    return TopRequest(**read, column=column_name("column", column), tokens=tokens, **own).checked()


@keywords(TopOptions, _top)
def top(data: object, column: str | None = None, *, rng: Rng = None, **given: Unpack[TopOptions]) -> Release:
    """The ``k`` most frequent words that people hold, when nobody has listed them.

    Beginnings that many people share are followed, symbol by symbol, up to ``longest`` of them;
    each step is asked of other people, who drew it at random, so that the promise to everybody is
    that of one step. Symbols are bytes, or ``tokens``: a list, or a file with one per line. With
    probability 1 - ``error`` no word is listed, and no beginning followed, that fewer than
    ``least_holders`` people hold. The ``notes`` of what is returned say what may have been missed.
    Everything else is as for ``histogram``.

    >>> fruit = ["fig"] * 9000 + ["kiwi"] * 6000 + [f"rare{i}" for i in range(2000)]
    >>> found = top(fruit, k=5, longest=4, epsilon=1.0, delta=1e-6)
    >>> [row.label for row in found.estimates][:2]
    ['fig', 'kiwi']
    """
    known: Any = given
    question, promise, budget = _top(reading(data, known), column, known), promise_of(known), budget_of(known)
    with opened(question, rng) as (settled, values):
        search = settled.search(values.count, promise)
        return release_search(search, values, settled.asked(), budget=budget, rng=rng)
