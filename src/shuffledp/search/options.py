"""What a search for frequent words takes, on the command line and as ``sdp.top``."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from shuffledp.domain import as_list
from shuffledp.errors import check_path
from shuffledp.release import options as shared
from shuffledp.release.options import QUESTION, Option, PathLike, keywords

if TYPE_CHECKING:
    from shuffledp.release.top_question import TopRequest
    from shuffledp.release.top_release import TopRelease
    from shuffledp.sampling import Rng

__all__ = ["Options", "Searched", "request", "top"]


class Searched(TypedDict, total=False):
    """How far a search goes."""

    k: Annotated[int, Option("Number of words to list.", QUESTION, 50)]
    longest: Annotated[int, Option("Maximum word length in bytes or tokens; longer is less accurate.", QUESTION, 16)]
    least_holders: Annotated[int, Option("Smallest number of people with a listed word.", QUESTION, 50)]
    error: Annotated[float, Option("Probability that a rarer word is listed anyway.", QUESTION, 1e-3)]
    candidates: Annotated[int | None, Option("Number of prefixes to keep per step. If left out, twice {k}.", QUESTION)]
    tokens: Annotated[
        PathLike | Iterable[str] | None,
        Option("File with the tokens of words, one per line. If left out, bytes.", QUESTION, kind="file"),
    ]


class Options(
    Searched,
    shared.Epsilon,
    shared.Promised,
    shared.Budgeted,
    shared.Rows,
    shared.Absent,
    shared.Texts,
    shared.Titled,
    total=False,
):
    """Which words are most frequent."""


SEARCHED = ("k", "longest", "least_holders", "error", "candidates")


def request(rows: dict[str, Any], column: object, given: dict[str, Any]) -> "TopRequest":
    """The search in a column that the options describe."""
    from shuffledp.release.arguments import column_name
    from shuffledp.release.top_question import TopRequest, read_tokens

    tokens: Any = given["tokens"]
    if isinstance(tokens, (str, os.PathLike)):
        tokens = read_tokens(Path(check_path("tokens", tokens)))
    elif tokens is not None:
        tokens = tuple(as_list("tokens", tokens, remedy='Pass a list such as ["a", "b"], or the name of a file.'))
    own = {name: given[name] for name in SEARCHED if name in given}
    return TopRequest(**rows, column=column_name("column", column), tokens=tokens, **own).checked()


@keywords(Options)
def top(data: object, column: str | None = None, *, rng: "Rng" = None, **given: Unpack[Options]) -> "TopRelease":
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
    from shuffledp.release.pipeline import described, opened
    from shuffledp.release.top_release import release_search

    question, promise, budget = described("top", data, column, given)
    with opened(question, rng) as (settled, values):
        search = settled.search(values.count, promise)
        return release_search(search, values, settled.asked(), budget=budget, rng=rng)
