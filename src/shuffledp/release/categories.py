"""The categories of a question as its options give them: a list, a number, a file, a text with
commas, or whole numbers such as 0..11.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from numbers import Integral
from pathlib import Path
from typing import Any

from shuffledp.domain import as_list, check_size, per_column
from shuffledp.errors import (
    LONGEST_WORDS,
    UNPRINTABLE,
    Argument,
    InvalidInput,
    Refusal,
    check_path,
    check_words,
    name_of,
    shortened,
)

LARGEST_LABEL = 10**18  # of whole numbers as categories
NUMBERS = re.compile(r"(\d{1,18})\.\.(\d{1,18})")


@dataclass(frozen=True, slots=True)
class Categories:
    """The answers that count, how they became known, and those of them that others and missing
    values count as.
    """

    labels: tuple[str, ...]
    origin: str
    other: str | None = None
    missing: str | None = None

    @property
    def all(self) -> tuple[str, ...]:
        """With those that stand for the rest, which are counted like all others."""
        more = [label for label in (self.other, self.missing) if label is not None]
        return (*self.labels, *(label for label in dict.fromkeys(more) if label not in set(self.labels)))

    def checked(self) -> tuple[str, ...]:
        """All of them; fewer than two, and those that no page can show, are refused."""
        labels = self.all
        check_size("categories", len(labels))
        if len(labels) < 2:
            remedy = ("List all answers that count, or add one for the rest: ", Argument("other"), ".")
            raise InvalidInput(Refusal("categories must number at least two", str(len(labels)), remedy))
        if max(map(len, labels)) > LONGEST_WORDS or UNPRINTABLE.search("".join(labels)):
            wrong = next(label for label in labels if len(label) > LONGEST_WORDS or UNPRINTABLE.search(label))
            raise InvalidInput(
                f"a category must be one line of at most {LONGEST_WORDS} printable characters, got {shortened(wrong)}. "
                f"Rename it, in the data too."
            )
        return labels


def categories_of(given: object, *, other: object = None, missing: object = None) -> Categories:
    """The categories in whichever way they are given."""
    rest, gap = (None if each is None else label_text(each) for each in (other, missing))
    if given is None:
        file, names = Argument("categories", "FILE"), Argument("categories", ("yes", "no"))
        remedy = ("Add ", file, " (one per line) or ", names, "; `shuffledp look FILE` prints a list to copy.")
        raise InvalidInput(Refusal("the categories must be given", "none", remedy))
    if isinstance(given, (str, os.PathLike)):
        text = check_path("categories", given)
    elif not isinstance(given, Integral):
        listed = as_list("categories", given, remedy='Pass a list such as ["yes", "no"].')
        return given_categories([label_text(label) for label in listed], other=rest, missing=gap)
    check_words(Argument("other"), rest)
    check_words(Argument("missing"), gap)
    if isinstance(given, Integral):
        return Categories(*_numbered(0, int(given) - 1), rest, gap)
    return Categories(*_written(text), rest, gap)


def given_categories(labels: list[str], *, other: str | None = None, missing: str | None = None) -> Categories:
    """The categories as a list gives them, letter by letter."""
    check_words(Argument("other"), other)
    check_words(Argument("missing"), missing)
    for label in labels:
        check_words("a category", label)
    return Categories(_distinct(labels, "the list"), "a list", other, missing)


def _numbered(first: int, last: int) -> tuple[tuple[str, ...], str]:
    """The whole numbers from the first to the last, and how they became known."""
    size = check_size("categories", last - first + 1)
    return tuple(map(str, range(first, first + size))), f"the whole numbers from {first} to {last}"


def _written(text: str) -> tuple[tuple[str, ...], str]:
    """The categories in a file with one per line, in a text with commas, or as 0..11."""
    path = Path(text)
    if (found := NUMBERS.fullmatch(text)) and not path.exists():
        return _numbered(*map(int, found.groups()))
    if "," in text and not os.path.exists(text):  # not Path.exists, which fails on a long list
        return _distinct([part.strip() for part in text.split(",")], "the list"), "a list"
    from shuffledp.storage.files import lines_of  # loaded when called

    remedy = "A single category is nothing to choose from."
    lines = lines_of(path, "categories", "category", instead=", or list them with commas", remedy=remedy)
    return _distinct([line.strip() for line in lines], text), name_of(path)


def _distinct(labels: list[str], where: str) -> tuple[str, ...]:
    """The labels that are not empty, each once."""
    kept = [label for label in labels if label]
    if len(set(kept)) < len(kept):
        twice = next(label for place, label in enumerate(kept) if label in set(kept[:place]))
        raise InvalidInput(f"categories must be distinct, got {twice!r} twice in {where}. Remove one.")
    return tuple(kept)


def parts_of(columns: Sequence[str], given: object, *, other: object, missing: object) -> tuple[Categories, ...]:
    """The same for each column of a crosstab: in their order, or, as texts, COLUMN=LIST."""
    remedy = 'Pass a list with the categories of each column, such as [["north", "south"], ["yes", "no"]].'
    known = as_list("categories", () if given is None else given, remedy=remedy)
    if all(isinstance(each, str) for each in known):
        known = _by_column(columns, [str(each) for each in known])
    if len(known) != len(columns):
        rule = (Argument("categories"), f" must have an entry for each of the columns {', '.join(columns)}")
        first = "The column of the groups comes first if only by names it."
        raise InvalidInput(Refusal(rule, str(len(known)), first))
    rests, gaps = per_column(Argument("other"), other, columns), per_column(Argument("missing"), missing, columns)
    return tuple(
        categories_of(listed, other=rest, missing=gap) for listed, rest, gap in zip(known, rests, gaps, strict=True)
    )


def _by_column(columns: Sequence[str], given: Sequence[str]) -> list[Any]:
    """Texts in the order of the columns, where they may begin with the name of one."""
    texts = dict[str, str]()
    for text in given:
        name, sign, listed = text.partition("=")
        free = [column for column in columns if column not in texts]
        if sign and name in columns and not Path(text).exists():
            if name in texts:
                rule = "the categories of a column must be given once"
                raise InvalidInput(Refusal(rule, f"{name!r} again", "Leave one out."))
            texts[name] = listed
        elif free:
            texts[free[0]] = text
        else:
            rules = (Argument("categories"), f" must be given once for each of the {len(columns)} columns")
            raise InvalidInput(Refusal(rules, str(len(given)), "Leave out what is too many."))
    if without := [name for name in columns if name not in texts]:
        once = ("Repeat ", Argument("categories"), " once for each column, in their order; ")
        remedy = (*once, "`shuffledp look FILE --column NAME` prints a list to copy.")
        raise InvalidInput(Refusal(f"the categories of column {without[0]!r} must be given", "none", remedy))
    return [texts[name] for name in columns]


def label_text(label: Any) -> str:
    """A category as the text that values are compared by."""
    import numpy as np
    import pyarrow as pa

    plain = label.item() if isinstance(label, np.generic) else label
    plain = plain.as_py() if isinstance(plain, pa.Scalar) else plain
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    if isinstance(plain, bool):
        return str(plain).lower()
    if isinstance(plain, str) or (isinstance(plain, int) and abs(plain) < LARGEST_LABEL):
        return str(plain)
    if type(plain) is date:
        return plain.isoformat()
    given = "a larger one" if isinstance(plain, int) else repr(label)
    rule = "a category must be text, a whole number of at most 18 digits, a boolean or a date"
    raise InvalidInput(
        Refusal(rule, given, ("Write it as text; missing values are counted with ", Argument("missing", "NAME"), "."))
    )
