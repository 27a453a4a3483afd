"""How a value becomes a place: what a design stores, and clients, engines and browsers read, so
that none of them needs to know the question.

Labels     a place for each of some texts or whole numbers
Bins       numbers between cut points: nothing is drawn
Grid       numbers, rounded at random to the points of a grid
Cells      several columns of labels, and a place for each combination
Prefixes   words by how they begin: a level of a search

The set is closed. NumPy is loaded where places are computed, and not before.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import pairwise, product
from numbers import Real
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from shuffledp.errors import Argument, InvalidInput, Refusal, Words, check_count, check_finite, meant
from shuffledp.schema import NEEDED, Count, Floats, Label, Limits, Number, Part, Some, Text, Texts, part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp._types import Floats as Values
    from shuffledp.search.alphabet import LevelPlaces

Named = tuple[Label, ...] | Count  # a list of labels, or a number k, for 0, ..., k - 1

MOST_LABELS = 1 << 22
MOST_BINS = 1024
LARGEST_BOUND = 1e100
MOST_NUMBERS = 10_000  # cells and sums together: a page lists them all, so that anybody can add them up
MOST_COLUMNS = 8  # of two labels each, which make 3^8 - 1 numbers; of more columns nothing is even multiplied
CROSS, ALL = " × ", "(all)"  # between the labels of a cell, and in place of one that is summed over
SHOWN = 12  # answers that a message lists
CHUNK = 1 << 18
NO_VALUES = "values must hold at least one value, got none. Pass one value per person."
REMEDY = "Take a design that `shuffledp stage design` wrote, unchanged."
NAMING = ("krr", "fakes", "dummies")  # laws whose messages name places: what they say of groups adds up
ENCODINGS = ("hadamard", "hash", "subset", "oue")  # laws whose reports vote for several places of many


@part
class Domain(Part):
    """How a value becomes one of ``size`` places. Its ``families`` are the laws of the reports that
    can be about a place, and ``kind`` is what a column must hold.
    """

    families: ClassVar[tuple[str, ...]]
    kind: ClassVar[Literal["text", "number"]] = "text"
    checks_in: ClassVar[bool] = True  # whether a person's report may be blank
    rounded: ClassVar[bool] = False  # whether places are numbers, rounded at random
    place: ClassVar[str] = "answer"  # what a person's place is to people
    bounds: ClassVar[Any] = None  # between which numbers a value lies; None where it is a text
    column_names: ClassVar[Any] = None  # of the columns that a value has, where there are several
    names: ClassVar[Any] = ()  # of its places, where these have names
    rest: ClassVar[Any] = None  # the name of the place of all other values, where there is one

    @property
    @abstractmethod
    def size(self) -> int:
        """How many places there are."""

    @abstractmethod
    def checked(self) -> Self:
        """The same, if a design can hold it."""

    @abstractmethod
    def answer(self, value: object, *, clip: bool = False) -> int | float:
        """One person's answer, as it is typed, as ``places`` takes it; with ``clip``, a number
        outside is moved to the nearest bound.
        """

    def places(self, values: Any, source: Any) -> NDArray[Any]:
        """The place of each value, as a reader of tables or ``answer`` has it; ``source`` draws,
        where something is rounded.
        """
        return values  # type: ignore[no-any-return]

    def expected_stderr(self, mechanism: Any, n: int) -> float:
        """The standard error to expect if ``n`` people report by a mechanism: of a count, the root
        mean square over places that are held equally often.
        """
        import numpy as np

        from shuffledp.workload import Each

        held = np.full(mechanism.size, n / mechanism.size)
        return float(np.sqrt(np.mean(mechanism.predicted(Each(()), held) ** 2)))

    def scale(self, n: int) -> float:
        """How large an answer can be at most; an error above it says nothing."""
        return n


@part
class Labels(Domain):
    """A place for each label, or for 0, ..., k - 1. Of an unlisted value the place is ``other``, of
    a missing one ``missing``, where those are declared.

    >>> drinks = Labels.of(("tea", "coffee", "none of these"), other="none of these")
    >>> (
    ...     drinks.indices(["tea", "water"]).tolist(),
    ...     drinks.answer("water"),
    ...     Labels(labels=3).names,
    ... )
    ([0, 2], 2, ('0', '1', '2'))
    """

    families = (*NAMING, *ENCODINGS, "signed")

    type: Annotated[Literal["labels"], NEEDED] = "labels"
    labels: Named
    other: Annotated[Count | None, NEEDED] = None
    missing: Annotated[Count | None, NEEDED] = None

    @classmethod
    def of(cls, labels: object, other: Hashable | None = None) -> Self:
        """Check a user's list, or a number k, which stands for 0, ..., k - 1; ``other`` is the
        label of all that is not listed. Labels may be anything hashable.
        """
        if isinstance(labels, Real):
            if other is not None:
                raise InvalidInput(
                    f"other must be left out when the domain is a number, got {other!r}. List the categories to "
                    f"declare one."
                )
            alone = "k counts the possible inputs; with a single one there is nothing to hide."
            return cls(labels=check_size("categories", check_count("k", labels, least=2, remedy=alone)))
        listed = as_list("categories", labels, remedy='Pass a list such as ["yes", "no"].')
        check_size("categories", len(listed))
        seen: set[Hashable] = set()
        for label in listed:
            if not _is_hashable(label):
                raise InvalidInput(f"categories must be hashable, got {label!r}. Use strings, numbers or tuples.")
            if _is_missing(label):
                raise InvalidInput(
                    f'categories must not hold NaN, NaT or None, got {label!r}. Name it, for instance "missing".'
                )
            if label in seen:
                raise InvalidInput(f"categories must be distinct, got {label!r} twice. Merge the two.")
            seen.add(label)
        if other is not None and not _is_hashable(other):
            raise InvalidInput(f"other must be hashable, got {other!r}. Use a string, a number or a tuple.")
        if len(listed) < 2:
            raise InvalidInput(
                f"categories must number at least two, got {len(listed)}. With a single one there is nothing to hide; "
                f'add an "other".'
            )
        if other is not None and other not in seen:
            raise InvalidInput(
                f"other must be one of the categories, got {other!r}. Add it to the list: it is estimated like "
                f"the rest."
            )
        return cls(labels=tuple(listed), other=None if other is None else listed.index(other))  # type: ignore[arg-type]

    def checked(self, called: str = "labels") -> Self:
        """The same, if there are at least two distinct labels, printable text or whole numbers,
        and the places of other and missing values are among theirs.
        """
        labels: object = self.labels
        if isinstance(labels, bool) or not isinstance(labels, (int, tuple)):
            raise InvalidInput(f"{called} must be a list or a whole number, got {labels!r}. {REMEDY}")
        if not 2 <= self.size <= MOST_LABELS:
            raise InvalidInput(f"{called} must be from 2 to {MOST_LABELS}, got {self.size}. {REMEDY}")
        if isinstance(labels, tuple):
            wrong = [each for each in labels if not (type(each) in (str, int) and str(each).isprintable())]
            if wrong:
                raise InvalidInput(
                    f"{called} must be printable strings or whole numbers to be written down, got {wrong[0]!r}. Rename "
                    f"it."
                )
            known = Counter(labels)
            if len(known) < len(labels):
                twice = next(each for each, times in known.items() if times > 1)
                raise InvalidInput(f"{called} must be distinct, got {twice!r} twice. {REMEDY}")
        for name, place in (("other", self.other), ("missing", self.missing)):
            if place is not None and not (type(place) is int and 0 <= place < self.size and type(labels) is tuple):
                raise InvalidInput(f"{name} must be the place of one of the {called}, got {place!r}. {REMEDY}")
        return self

    @property
    def size(self) -> int:
        return self.labels if isinstance(self.labels, int) else len(self.labels)

    @property
    def listed(self) -> Sequence[Label]:
        """The labels as they are."""
        return range(self.labels) if isinstance(self.labels, int) else self.labels

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The labels as text."""
        return tuple(map(str, self.listed))

    @property
    def rest(self) -> str | None:
        """The label that everything else counts as, if there is one."""
        return None if self.other is None else str(self.listed[self.other])

    @property
    def gap(self) -> str | None:
        """The label that missing values count as, if there is one."""
        return None if self.missing is None else str(self.listed[self.missing])

    def answer(self, value: object, *, clip: bool = False) -> int:
        """Whole numbers and truth values compare by their usual text, as in tables; what is not
        listed counts as the label for the rest, where there is one.
        """
        if clip:
            rule = (Argument("clip"), " must be left out where the answer is no number")
            raise InvalidInput(Refusal(rule, "it", "It is for means."))
        text, names = _text(value), self.names
        if text in names:
            return names.index(text)
        if self.other is not None:
            return self.other
        listed = ", ".join(map(repr, names[:SHOWN]))
        more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
        raise InvalidInput(
            f"the answer must be one of the {len(names):,} that the collection lists, got {text[:80]!r}. "
            f"{meant(text, names[:100_000])}They "
            f"are {listed}{more}."
        )

    @cached_property
    def _places(self) -> Mapping[Hashable, int]:
        return {label: place for place, label in enumerate(self.listed)}

    def indices(self, values: object) -> NDArray[Any]:
        """The place of each value of a Python list or an array; unknown values are ``other``, or
        refused.
        """
        import numpy as np

        if isinstance(values, np.ma.MaskedArray):
            raise InvalidInput(
                "values must not be a masked array, got one. Drop the masked people before counting n, or name a "
                'category "missing".'
            )
        if isinstance(self.labels, int):
            return self._numbers(values)
        if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biufUS":
            distinct, back = np.unique(values, return_inverse=True)
            return self._look_up(distinct.tolist())[back]
        return self._look_up(as_list("values", values, remedy="Pass a list or an array with one value per person."))

    def _numbers(self, values: object) -> NDArray[Any]:
        import numpy as np

        try:
            array = np.asarray(
                values
                if isinstance(values, np.ndarray)
                else as_list("values", values, remedy="Pass one whole number per person.")
            )
        except ValueError:
            raise InvalidInput(
                "values must be whole numbers, got rows of different lengths. Pass one whole number per person."
            ) from None
        if array.size == 0:
            raise InvalidInput(NO_VALUES)
        whole = array.ndim == 1 and array.dtype.kind in "iu"
        if not whole or array.min() < 0 or array.max() >= self.size:
            wrong = array.ravel()[np.argmax((array < 0) | (array >= self.size))] if whole else array.ravel()[0]
            raise InvalidInput(
                f"values must be whole numbers from 0 to {self.size - 1}, got {wrong!r}. List the categories instead "
                f"of giving their number."
            )
        return array.astype(np.intp)

    def _look_up(self, values: Sequence[Hashable]) -> NDArray[Any]:
        import numpy as np

        if not values:
            raise InvalidInput(NO_VALUES)
        fallback = -1 if self.other is None else self.other
        try:
            found = np.fromiter(
                (self._places.get(value, fallback) for value in values), dtype=np.intp, count=len(values)
            )
        except TypeError as error:
            raise InvalidInput(
                f"values must be hashable like the categories, got {error}. Pass a flat list with one value per person."
            ) from None
        for value in values:
            if _is_missing(value):
                raise InvalidInput(
                    f"values must not be NaN, NaT or None, got {value!r}. Drop that person before counting n, or name "
                    f'a category "missing".'
                )
        if (unknown := np.flatnonzero(found < 0)).size:
            raise InvalidInput(
                f"values must be among the {self.size} categories, got {values[unknown[0]]!r}. Add it, or declare "
                f"other=<a category>."
            )
        return found


class Numbers(Domain):
    """Numbers between two ``bounds``; with ``clip``, those outside are moved to the nearest one."""

    kind = "number"
    checks_in = False
    clip: Any

    def answer(self, value: object, *, clip: bool = False) -> float:
        try:
            number = float(value) if isinstance(value, (str, int, float)) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        lower, upper = self.bounds
        if math.isnan(number) or not (clip or self.clip or lower <= number <= upper):
            remedy = ("Correct it, or move it to the nearest bound: ", Argument("clip", True), ".")
            rule = f"the answer must be a number in [{lower:g}, {upper:g}]"
            raise InvalidInput(Refusal(rule, repr(str(value)[:80]), remedy))
        return float(min(max(number, lower), upper))


@part
class Bins(Numbers):
    """Neighboring bins between cut points: a bin holds the numbers from its lower end to below its
    upper one, the last one its upper end too. With ``clip``, numbers outside are moved to the
    nearest end.

    >>> import numpy as np
    >>> Bins(cuts=(0.0, 10.0, 20.0)).places(np.array([0.0, 9.9, 10.0, 20.0]), None).tolist()
    [0, 0, 1, 1]
    """

    families = (*NAMING, "one of", "tree")
    place = "bin"

    type: Annotated[Literal["bins"], NEEDED] = "bins"
    cuts: Floats
    clip: Annotated[bool, NEEDED] = False

    def checked(self) -> Self:
        if not all(map(is_bound, self.cuts)):
            raise InvalidInput(
                f"cuts must be numbers of at most {LARGEST_BOUND:g} in size, with a decimal point, got "
                f"{str(self.cuts)[:60]}. {REMEDY}"
            )
        if not 2 <= self.size <= MOST_BINS:
            rule = f"the cut points must make from 2 to {MOST_BINS:,} bins"
            remedy = ("Choose wider bins: ", Argument("bins", 64), ", or other ", Argument("cuts"), ".")
            raise InvalidInput(Refusal(rule, f"{max(self.size, 0):,}", remedy))
        if wrong := next((pair for pair in pairwise(self.cuts) if pair[0] >= pair[1]), None):
            raise InvalidInput(
                f"cut points must increase, got {wrong[0]:.15g} before {wrong[1]:.15g}. Sort them, and give each once."
            )
        return self

    @property
    def size(self) -> int:
        return len(self.cuts) - 1

    @property
    def bounds(self) -> tuple[float, float]:
        return self.cuts[0], self.cuts[-1]

    def places(self, values: Any, source: Any) -> NDArray[Any]:
        """The bin of each number; what lies outside is refused."""
        import numpy as np

        numbers = check_numbers(values, *self.bounds)
        places: NDArray[Any] = np.searchsorted(np.asarray(self.cuts[1:-1]), numbers, side="right").astype(np.int64)
        return places

    def expected_stderr(self, mechanism: Any, n: int) -> float:
        """Of the count below the cut point in the middle."""
        return math.sqrt(mechanism.law.group_law(mechanism.size // 2, n).variance(n / 2, n))


@part
class Grid(Numbers):
    """Numbers from ``lower`` to ``upper``, each rounded at random to one of its two neighbors among
    ``steps`` + 1 points, such that its mean stays. With ``clip``, numbers outside are moved to the
    nearest end.
    """

    families = ("krr", "split")
    rounded = True
    place = "number"

    type: Annotated[Literal["grid"], NEEDED] = "grid"
    lower: Number
    upper: Number
    steps: Some
    clip: Annotated[bool, NEEDED] = False

    def checked(self) -> Self:
        for name, value in (("lower", self.lower), ("upper", self.upper)):
            if not is_bound(value):
                raise InvalidInput(
                    f"{name} must be a number of at most {LARGEST_BOUND:g} in size, with a decimal point, got "
                    f"{value!r}. {REMEDY}"
                )
        if not self.lower < self.upper:
            raise InvalidInput(f"lower must be below upper, got {self.lower!r} and {self.upper!r}. {REMEDY}")
        return self

    @property
    def size(self) -> int:
        return self.steps + 1

    @property
    def bounds(self) -> tuple[float, float]:
        return self.lower, self.upper

    def places(self, values: Any, source: Any) -> NDArray[Any]:
        """The point that each number is rounded to."""
        return on_grid(check_numbers(values, *self.bounds), *self.bounds, self.steps, source)

    def expected_stderr(self, mechanism: Any, n: int) -> float:
        """Of the mean, for the worst data."""
        from shuffledp.workload import Weights

        return float(mechanism.worst(Weights.grid("", self.steps), n)) * self.scale(n) / n

    def scale(self, n: int) -> float:
        return self.upper - self.lower


@part
class ColumnLabels(Labels):
    """One of several columns: its ``name``, and its labels."""

    name: Text


@part
class Cells(Domain):
    """Several columns as one: every combination of their labels is a cell, in rows, so that the
    last column changes fastest.

    >>> columns = (("region", ("north", "south")), ("smoker", ("yes", "no")))
    >>> cells = Cells(
    ...     columns=tuple(ColumnLabels(name=name, labels=labels) for name, labels in columns)
    ... )
    >>> cells.names, cells.answer(("south", "yes"))
    (('north × yes', 'north × no', 'south × yes', 'south × no'), 2)
    """

    families = NAMING
    place = "cell"

    type: Annotated[Literal["cells"], NEEDED] = "cells"
    columns: Annotated[tuple[ColumnLabels, ...], Limits(2, MOST_COLUMNS)]

    def __post_init__(self) -> None:
        """Refuse a table that no page could list, before anything spells it out."""
        if not fits_a_page(self.sizes):
            raise InvalidInput(
                f"a crosstab must have at most {MOST_NUMBERS} cells and sums, got those of "
                f"{' x '.join(map(str, self.sizes))[:60]} categories. Merge rare categories, or leave a column out."
            )

    def checked(self) -> Self:
        """The same, if there are two or more columns, each with labels that one alone could have,
        and names that tell every cell and every sum apart.
        """
        names = list[object](self.column_names)
        if wrong := [name for name in names if not (isinstance(name, str) and name and name.isprintable())]:
            raise InvalidInput(f"columns must be printable names, got {wrong[0]!r}. Rename it.")
        if len(names) < 2:
            raise InvalidInput(
                f"a crosstab must have at least two columns, got {len(names)}. Ask about one with a histogram."
            )
        if twice := [name for name, times in Counter(names).items() if times > 1]:
            raise InvalidInput(f"columns must be distinct, got {twice[0]!r} twice. Name each column once.")
        for column in self.columns:
            if column.labels in (0, 1) or (isinstance(column.labels, tuple) and len(column.labels) < 2):
                raise InvalidInput(
                    f"column {column.name!r} must have at least two categories, got {column.size}. With a single one "
                    f"there is nothing to tell apart: leave the column out, or add a category for the rest."
                )
            column.checked("categories")
        for column in self.columns:
            if odd := [label for label in column.names if label == ALL or CROSS in label]:
                raise InvalidInput(
                    f"a category of a crosstab must not be {ALL!r} nor hold {CROSS!r}, which its numbers are named "
                    f"by, got {odd[0]!r}. Rename it, in the data too."
                )
        return self

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many labels each column has."""
        return tuple(column.size for column in self.columns)

    @property
    def size(self) -> int:
        return math.prod(self.sizes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the cells are called."""
        return tuple(map(CROSS.join, product(*(column.names for column in self.columns))))

    def answer(self, value: object, *, clip: bool = False) -> int:
        """Which cell somebody is in, who answers about every column."""
        if not isinstance(value, (tuple, list)) or len(value) != len(self.columns):
            raise InvalidInput(
                f"an answer must be given about each of {', '.join(self.column_names)}, in this order, got "
                f"{str(value)[:80]!r}. Pass a tuple of {len(self.columns)} answers."
            )
        cell = 0
        for column, answer in zip(self.columns, value, strict=True):
            cell = cell * column.size + column.answer(answer, clip=clip)
        return cell


@part
class OneLevel(Part):
    """What a level of a search tells apart."""

    type: Any
    tokens: Texts | None
    longest: Some
    words: Texts
    prefixes: Texts
    span: Count
    room: Some

    @property
    def size(self) -> int:
        return self.room

    @cached_property
    def level(self) -> LevelPlaces:
        """Which word counts as which value."""
        from shuffledp.search.alphabet import LevelPlaces

        return LevelPlaces.of(self.tokens, self.longest, self.words, self.prefixes, self.span)


@part
class Prefixes(OneLevel, Domain):
    """One level of a search: one of ``words``, or one that begins with one of ``prefixes`` and goes
    on in some way for ``span`` symbols; all others share a place. Symbols are ``tokens``, or bytes
    of UTF-8; only the first ``longest`` of a word are looked at, and whether it goes on. There are
    ``room`` places, the same at every level: the last ones are nobody's.
    """

    families = ("krr",)

    type: Annotated[Literal["prefixes"], NEEDED] = "prefixes"

    def checked(self) -> Self:
        if not self.level.count <= self.room <= MOST_LABELS:
            raise InvalidInput(
                f"room must be at least the {self.level.count} values that are told apart, and at most {MOST_LABELS}, "
                f"got {self.room}. {REMEDY}"
            )
        return self

    def answer(self, value: object, *, clip: bool = False) -> int:
        return self.level.place(_text(value))


Stored = Labels | Bins | Grid | Cells | Prefixes


def numbers_in(sizes: Sequence[int]) -> int:
    """How many cells and sums there are.

    >>> numbers_in([4, 3])
    19
    """
    return math.prod(size + 1 for size in sizes) - 1


def fits_a_page(sizes: Sequence[int]) -> bool:
    """Whether a table of so many labels in each column is not too large; a stranger may have
    written any.

    >>> fits_a_page([4, 3]), fits_a_page([10**9, 2]), fits_a_page([2] * 10**6)
    (True, False, False)
    """
    return len(sizes) <= MOST_COLUMNS and numbers_in(sizes) <= MOST_NUMBERS


def is_bound(value: object) -> bool:
    """Whether this can be an end of the numbers that are asked for."""
    return isinstance(value, float) and abs(value) <= LARGEST_BOUND


def check_bounds(lower: float, upper: float) -> tuple[float, float]:
    """Return the bounds of users' numbers."""
    low, high = (
        check_finite(name, value, remedy="Every number must lie between the two.")
        for name, value in (("lower", lower), ("upper", upper))
    )
    if not (low < high and math.isfinite(high - low)):
        raise InvalidInput(
            f"lower must be below upper, and their distance finite, got {low!r} and {high!r}. Choose bounds before "
            f"looking at the data."
        )
    if max(abs(low), abs(high)) > LARGEST_BOUND:
        raise InvalidInput(
            f"lower and upper must be at most {LARGEST_BOUND:g} in size, got {low!r} and {high!r}. Squares of sums "
            f"must be finite; scale the numbers."
        )
    return low, high


def check_numbers(values: Any, lower: float, upper: float) -> Values:
    """Return ``values`` as a vector of numbers in [lower, upper], one per user."""
    import numpy as np

    remedy = (
        f"Pass one number from {lower:g} to {upper:g} per person; decide before collecting how to treat missing and "
        f"extreme ones."
    )
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidInput(f"values must not be a masked array, got one. {remedy}")
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidInput(f"values must be numbers, got rows of different lengths. {remedy}") from None
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise InvalidInput(f"values must be a list of numbers, got {type(values).__name__} of {array.dtype}. {remedy}")
    if array.size == 0:
        raise InvalidInput(f"values must hold at least one number, got none. {remedy}")
    numbers: Values = array.astype(np.float64)
    outside = ~((numbers >= lower) & (numbers <= upper))  # NaN is outside, too
    if outside.any():
        raise InvalidInput(
            f"values must lie in [{lower:g}, {upper:g}], got {float(numbers[np.argmax(outside)])!r}. {remedy}"
        )
    return numbers


def on_grid(numbers: Values, lower: float, upper: float, k: int, source: Any) -> NDArray[Any]:
    """Each number at one of its two neighbors among k + 1 points from ``lower`` to ``upper``,
    chosen at random so that its mean stays.
    """
    import numpy as np

    places = np.empty(len(numbers), dtype=np.int64)
    for start in range(0, len(numbers), CHUNK):
        positions = (numbers[start : start + CHUNK] - lower) / (upper - lower) * k
        below = np.floor(positions)
        thresholds = ((positions - below) * 2.0**64).astype(np.uint64)
        places[start : start + CHUNK] = below + (source.words(len(positions), np.uint64) < thresholds)
    return places


def as_list(name: Words, values: object, *, remedy: Words) -> list[Hashable]:
    """Return the items of a list-like thing; strings, sets and mappings are refused, as they rarely
    mean one item per user.
    """
    import numpy as np

    single = isinstance(values, np.ndarray) and values.ndim == 0
    if single or isinstance(values, (str, bytes, Mapping, Set)) or not isinstance(values, Iterable):
        raise InvalidInput(Refusal((name, " must be a list"), type(values).__name__, remedy))
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


Missing = str | Mapping[str, str] | None  # a name for all columns, or names by column


def one_name(option: Words, given: Missing) -> str | None:
    """A name for the one column that is asked about."""
    if given is None or isinstance(given, str):
        return given
    raise InvalidInput(
        Refusal((option, " must be one name where one column is asked about"), repr(given), "Pass a string.")
    )


def per_column(option: Words, given: object, columns: Sequence[str]) -> tuple[str | None, ...]:
    """A name for every column, or for some: one text for all of them, COLUMN=NAME with commas
    between several, or a mapping of columns to names. What stands before = is meant to be a column,
    so a name with = in it is given by column.

    >>> per_column("other", "region=elsewhere", ["region", "smoker"])
    ('elsewhere', None)
    >>> per_column("missing", "unknown", ["region", "smoker"])
    ('unknown', 'unknown')
    """
    if given is None:
        return (None,) * len(columns)
    if isinstance(given, str):
        parts = [part.partition("=") for part in given.split(",")]
        if not any(sign for _, sign, _ in parts):
            return (given,) * len(columns)
        given = {name.strip(): value.strip() for name, _, value in parts}
    if not isinstance(given, Mapping) or not all(isinstance(each, str) for each in given.values()):
        rule = (option, " must be one name for all columns, or COLUMN=NAME with commas between several")
        raise InvalidInput(Refusal(rule, repr(given), f"For instance {columns[0]}=elsewhere."))
    if unknown := [name for name in given if name not in columns]:
        rule = (option, " must name columns of the question")
        raise InvalidInput(Refusal(rule, repr(unknown[0]), f"They are {', '.join(columns)}."))
    return tuple(given.get(name) for name in columns)


def check_size(name: str, size: int) -> int:
    """Refuse more values than tables of them fit into memory."""
    if size > MOST_LABELS:
        raise InvalidInput(
            f"{name} must be at most {MOST_LABELS}, got {size}. Every one is estimated; merge rare ones, or hash them "
            f"to fewer."
        )
    return size


def _is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # some libraries' missing values cannot even be compared
        return True


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:  # a tuple that holds a list claims to be Hashable
        return False
    return True


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (str, int)):
        return str(value)
    raise InvalidInput(f"an answer must be a text or a whole number, got {type(value).__name__}. Write it as listed.")
