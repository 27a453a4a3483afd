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
    from shuffledp.release.released import Release
    from shuffledp.release.top_release import SearchRequest
    from shuffledp.sampling import Rng


class Searched(TypedDict, total=False):
    """How far a search goes."""

    words: Annotated[int, Option("Number of words to list.", QUESTION, 50)]
    longest: Annotated[int, Option("Maximum word length in bytes or tokens; longer is less accurate.", QUESTION, 16)]
    least_holders: Annotated[int, Option("Smallest number of people with a listed word.", QUESTION, 50)]
    error: Annotated[float, Option("Probability that a rarer word is listed anyway.", QUESTION, 1e-3)]
    candidates: Annotated[
        int | None, Option("Number of prefixes to keep per step. If left out, twice {words}.", QUESTION)
    ]
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


def request(rows: dict[str, Any], column: object, given: dict[str, Any]) -> "SearchRequest":
    """The search in a column that the options describe."""
    from shuffledp.release.arguments import column_name
    from shuffledp.release.top_release import SearchRequest
    from shuffledp.search.question import Level
    from shuffledp.search.search import check_terms

    tokens: Any = given["tokens"]
    if isinstance(tokens, (str, os.PathLike)):
        tokens = _tokens_in(Path(check_path("tokens", tokens)))
    elif tokens is not None:
        tokens = tuple(as_list("tokens", tokens, remedy='Pass a list such as ["a", "b"], or the name of a file.'))
    followed = given["words"] if given["candidates"] is None else given["candidates"]
    terms = check_terms(given | {"k": given["words"], "tokens": tokens, "candidates": followed})
    if given["candidates"] is None:
        terms["candidates"] = 2 * terms["k"]
    nothing: Any = {"words": (), "prefixes": ("",), "span": 0, "room": 2}
    asked = Level(tokens=terms["tokens"], longest=terms["longest"], **nothing)
    named = column_name("column", column)
    return SearchRequest(question=asked, column=named, origins=("none",), terms=terms, **rows)


def _tokens_in(path: Path) -> tuple[str, ...]:
    """The tokens in a file, one per line; spaces are tokens like others."""
    from shuffledp.storage.files import lines_of

    remedy = "Check the name, or leave it out: words are then made of bytes."
    lines = lines_of(path, "tokens", "token", remedy=remedy)
    return tuple(line.removesuffix("\r") for line in lines if line.removesuffix("\r"))


@keywords(Options)
def top(data: object, column: str | None = None, *, rng: "Rng" = None, **given: Unpack[Options]) -> "Release":
    """The most frequent ``words`` that people hold, when nobody has listed them.

    Prefixes that many people share are followed, symbol by symbol, up to ``longest`` of them. Each
    level is asked of other people, drawn at random, so the whole search reveals no more of a person
    than one level does. Symbols are bytes, or ``tokens``: a list, or a file with one per line. With
    probability 1 - ``error`` no word is listed, and no prefix followed, that fewer than
    ``least_holders`` people have. The ``notes`` of what is returned say what may have been missed.
    Everything else is as for ``histogram``.

    >>> fruit = ["fig"] * 9000 + ["kiwi"] * 6000 + [f"rare{i}" for i in range(2000)]
    >>> found = top(fruit, words=5, longest=4, epsilon=1.0, delta=1e-6)
    >>> [row.label for row in found.estimates][:2]
    ['fig', 'kiwi']
    """
    from shuffledp.release.pipeline import answered

    return answered("top", data, column, given, rng)
