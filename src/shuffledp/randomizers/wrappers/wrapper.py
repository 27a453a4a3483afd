"""What all wrappers share: a user's answers, the reports about them, which pairs of answers must be
considered, and haystacks of several randomizers at once: mixtures and products of output classes.

A user answers several questions, and so a value is a row of answers, one for each randomizer in a
wrapper, in their order, however deep it is nested. Two users' answers may differ in all questions
at once. That this is the worst they can do, question by question, is proven in docs/theory.md,
"Wrappers".

Classes whose three masses are proportional are one class, and these are very many: fifty questions
of three classes each have 3^50 outputs, and 1,326 classes. What is proportional up to 2^-42 is
merged. An upper end must not gain by that, and so ``Atoms.doubt`` says how far a needle's mass may
be off, and ``Atoms.rounding`` how far any mass may be: the accountant adds both to its ends.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement, product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.matrix import FromMatrix
from shuffledp.randomizers.randomizer import Atoms, Randomizer, check_randomizer, proportional
from shuffledp.randomizers.support import Form, SupportRandomizer, VotingRandomizer
from shuffledp.sampling import smallest_dtype

Bools = NDArray[np.bool_]
UNIT = 2.0**-52
SAME_BITS = 42
MERGED = 2.0 ** (2 - SAME_BITS)  # how far a ratio may be moved by one merging
FAINTEST = 1e-290  # products of masses below that may have lost their digits
MOST_CLASSES, MOST_PRODUCTS = 6_000, 1 << 18


def mixture(name: str, parts: Sequence[tuple[float, Atoms]], end: End, silent: float = 0.0) -> Atoms:
    """With probability ``weight`` an output of each of the ``parts``, and it is seen of which; with
    probability ``silent`` an output that says nothing. For ``end`` see ``product_of``.
    """
    columns = [weight * _masses(atoms) for weight, atoms in parts]
    possible = [_masses(atoms) > 0.0 for _, atoms in parts]
    if silent > 0.0:
        columns.append(np.full((3, 1), silent))
        possible.append(np.full((3, 1), True))
    masses = _merged(_without_faint(np.concatenate(columns, axis=1), np.concatenate(possible, axis=1), end))
    doubt = max(atoms.doubt for _, atoms in parts) + MERGED
    return Atoms(name, *masses, rounding=max(atoms.rounding for _, atoms in parts) + 4.0 * UNIT, doubt=doubt)


def product_of(name: str, parts: Sequence[Atoms], end: End) -> Atoms:
    """One output of each of the ``parts``, all independent and all seen.

    What is too small for a float errs to the side of ``end``: above, hay is left out, which exposes
    what is there; below, classes are merged, and that only hides.
    """
    masses = np.ones((3, 1))
    for atoms in parts:
        factor = _masses(atoms)
        if masses.shape[1] * factor.shape[1] > MOST_PRODUCTS:
            raise _too_many(masses.shape[1] * factor.shape[1])
        every = np.multiply(masses[:, :, None], factor[:, None, :]).reshape(3, -1)
        possible = ((masses > 0.0)[:, :, None] & (factor > 0.0)[:, None, :]).reshape(3, -1)
        masses = _merged(_without_faint(every, possible, end))
        if masses.shape[1] > MOST_CLASSES:
            raise _too_many(masses.shape[1])
    rounding = sum(atoms.rounding + 12.0 * UNIT for atoms in parts)
    return Atoms(name, *masses, rounding=rounding, doubt=sum(atoms.doubt + MERGED for atoms in parts))


def joined(names: Sequence[str]) -> str:
    """What several haystacks are called together.

    >>> joined(["blanket", "blanket"]), joined(["all others hold x0", "all others hold x1"])
    ('blanket', 'all others hold x0 | all others hold x1')
    """
    different = list(dict.fromkeys(names))
    if len(different) > 3:
        return f"{different[0]} | ... | {different[-1]}"
    return " | ".join(different)


def chi_square(atoms: Atoms) -> float:
    """Roughly how much the needle stands out: it only chooses which datasets are tried."""
    covered = atoms.hay > FAINTEST
    gap = (atoms.needle0 - atoms.needle1)[covered]
    return float(np.sum(gap * (gap / atoms.hay[covered]))) + float(np.sum(atoms.needle0[~covered]))


def _merged(masses: Floats) -> Floats:
    """Classes whose masses are proportional, added up; those that never occur are left out."""
    return proportional(masses, SAME_BITS, np.max)


def _masses(atoms: Atoms) -> Floats:
    return np.stack([atoms.hay, atoms.needle0, atoms.needle1])


def _without_faint(masses: Floats, possible: Bools, end: End) -> Floats:
    """Products that are too small to have kept their digits, moved to the side of ``end``."""
    faint = possible & (masses < FAINTEST)
    if not faint.any():
        return masses
    if end == "upper":
        moved = np.where(faint, 0.0, masses)
        moved[1] = np.where(faint[1], FAINTEST, masses[1])
        return moved
    hidden: Bools = np.asarray(faint.any(axis=0))
    hidden[np.argmax(masses[0])] = False
    kept = masses[:, ~hidden]
    kept[:, np.argmax(kept[0])] += masses[:, hidden].sum(axis=1)
    return kept


def _too_many(classes: int) -> InvalidInput:
    return InvalidInput(
        f"questions asked together must have at most {MOST_CLASSES} classes of reports, got {classes}. Ask fewer."
    )


MOST_KINDS = 400
MOST_TRIED = 24
MOST_OUTPUTS = 1 << 20
FEW_ROWS, MOST_ROWS, MOST_COLUMNS = 9, 64, 4096
LARGEST_SUM = 100.0
Kind = TypeVar("Kind")


class Wrapper(Randomizer):
    """A randomizer made of others."""

    __slots__ = ()

    @property
    @abstractmethod
    def parts(self) -> tuple[Randomizer, ...]:
        """The randomizers in it, one per question."""

    @abstractmethod
    def _pairs(self, end: End, together: bool) -> tuple[Atoms, ...]:
        """One haystack per kind of ordered pair of answers; with those that agree on some
        questions, unless another kind leaks more, where it is asked ``together`` with others.
        """

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        """All pairs of answers, with the blanket as hay; see ``_pairs``."""
        return self._pairs(end, False)

    @property
    def width(self) -> int:
        """How many answers a user gives."""
        return sum(width_of(each) for each in self.parts)

    @property
    def inputs(self) -> int | None:
        """How many different rows of answers there are, if that is finite."""
        return _multiplied(inputs_of(each) for each in self.parts)

    @property
    @abstractmethod
    def form(self) -> Form:
        """What one report is."""

    @property
    def worst_pair(self) -> tuple[object, object]:
        """Answers that differ in every question."""
        ends = [[_row(each.worst_pair[side]) for each in self.parts] for side in (0, 1)]
        first, second = (tuple(answer for row in rows for answer in row) for rows in ends)
        return (first[0], second[0]) if len(first) == 1 else (first, second)

    @property
    def assumptions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each for part in self.parts for each in part.assumptions))

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(size for part in self.parts for size in part.sizes)

    def _columns(self, values: ArrayLike) -> list[NDArray[Any]]:
        """The answers to each part, from rows of them or their numbers in ``table``."""
        remedy = (
            f"Give one row per person, with {self.width} answers in it"
            if self.width > 1
            else "Give one answer per person, as the randomizer inside takes them"
        )
        try:
            array = np.asarray(values)
        except ValueError as error:
            raise InvalidInput(f"values must be a table, got rows of different lengths. {remedy}.") from error
        if array.ndim == 1 and self.width > 1 and self.inputs is not None and array.dtype.kind in "iu" and len(array):
            if int(array.min()) < 0 or int(array.max()) >= self.inputs:
                raise InvalidInput(f"values must be from 0 to {self.inputs - 1}, got others. {remedy}.")
            array = self._unnumbered(array)
        if self.width == 1 and array.ndim == 1:
            array = array[:, None]
        if array.ndim != 2 or array.shape[1] != self.width or not len(array):
            raise InvalidInput(f"values must be a table of {self.width} columns, got shape {array.shape}. {remedy}.")
        ends = np.cumsum([width_of(each) for each in self.parts])[:-1]
        return [_answers(part, rows) for part, rows in zip(self.parts, np.split(array, ends, axis=1), strict=True)]

    def _unnumbered(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The rows of answers with these numbers."""
        sizes = [inputs_of(each) or 1 for each in self.parts]
        columns = np.unravel_index(numbers, sizes)
        rows = [
            part._unnumbered(column) if isinstance(part, Wrapper) and part.width > 1 else np.asarray(column)[:, None]
            for part, column in zip(self.parts, columns, strict=True)
        ]
        return np.concatenate(rows, axis=1)


class Several(Wrapper):
    """A wrapper of one randomizer for each of several questions."""

    __slots__ = ()

    randomizers: Sequence[Randomizer]

    @property
    def parts(self) -> tuple[Randomizer, ...]:
        return tuple(self.randomizers)

    @property
    @abstractmethod
    def _alike(self) -> list[tuple[Randomizer, int]]:
        """Questions that are alike, in the order of ``_combined``, and how many they are."""

    @abstractmethod
    def _combined(self, choice: Sequence[Atoms], end: End) -> Atoms:
        """One haystack of those that were chosen for the questions."""

    def _pairs(self, end: End, together: bool) -> tuple[Atoms, ...]:
        kinds = [(pairs_of(part, end, together), count) for part, count in self._alike]
        return tuple(self._combined(choice, end) for choice in every_choice(kinds))

    def datasets(self) -> tuple[Atoms, ...]:
        """All others have the same answers, and the target differs in all of them."""
        kinds = [(part.datasets(), count) for part, count in self._alike]
        return tuple(self._combined(choice, "lower") for choice in likely_choices(kinds))

    @property
    def _counts(self) -> list[int] | None:
        """How many reports each part has, if all are numbers."""
        counts = [each for each in map(outputs_of, self.parts) if each is not None]
        return counts if len(counts) == len(self.parts) else None


def check_part(given: object) -> Randomizer:
    """Return ``given`` as a randomizer whose law is known and stays."""
    part = check_randomizer(given)
    if not part.known:
        raise InvalidInput(
            f"a wrapper must be given randomizers whose law is known, got {given!r}. Name it, such as KRR."
        )
    return part


def check_parts(given: object) -> tuple[Randomizer, ...]:
    """Return ``given`` as at least one randomizer."""
    if isinstance(given, Randomizer) or not isinstance(given, Iterable):
        raise InvalidInput(
            f"randomizers must be a list of them, got {given!r}. Write one per question: [KRR(k=4, epsilon0=1.0)]."
        )
    parts = tuple(check_part(each) for each in given)
    if not parts:
        raise InvalidInput("randomizers must hold at least one, got none. Give one per question.")
    return parts


def check_finite_reports(randomizer: Randomizer) -> None:
    """Refuse one whose pairs cannot be considered together with other questions."""
    if isinstance(randomizer, Wrapper):
        for each in randomizer.parts:
            check_finite_reports(each)
    elif not isinstance(randomizer, SupportRandomizer) and randomizer.table is None:
        raise InvalidInput(
            f"questions asked together must have finitely many reports, got {randomizer!r}. Use OneOf(...)."
        )


def width_of(randomizer: Randomizer) -> int:
    """How many answers of a user it takes."""
    return randomizer.width if isinstance(randomizer, Wrapper) else 1


def inputs_of(randomizer: Randomizer) -> int | None:
    """How many different values it takes, if these are the numbers 0, 1, ..."""
    if isinstance(randomizer, Wrapper):
        return randomizer.inputs
    if isinstance(randomizer, VotingRandomizer):
        return randomizer.k
    return None if randomizer.table is None else len(randomizer.table)


def outputs_of(randomizer: Randomizer) -> int | None:
    """How many different reports it sends, if these are the numbers 0, 1, ..."""
    return form_of(randomizer).outputs


def form_of(randomizer: Randomizer) -> Form:
    """What one report is; of a randomizer that does not say, a whole number."""
    if isinstance(randomizer, (Wrapper, VotingRandomizer)):
        return randomizer.form
    if randomizer.table is None:
        return Form(np.dtype(np.int64))
    return Form(smallest_dtype(randomizer.table.shape[1]), outputs=int(randomizer.table.shape[1]))


def columns_of(randomizer: Randomizer) -> int:
    """How many whole numbers a report is."""
    return form_of(randomizer).width or 1


def pairs_of(randomizer: Randomizer, end: End, together: bool) -> tuple[Atoms, ...]:
    """One haystack per kind of ordered pair of inputs that may leak most.

    Where other questions are answered ``together`` with it, two equal inputs are such a pair, too,
    unless the randomizer treats two inputs alike (docs/theory.md, "Wrappers").
    """
    if isinstance(randomizer, SupportRandomizer):
        return (randomizer.least_overlapping(),)
    if isinstance(randomizer, Wrapper):
        return randomizer._pairs(end, together)
    if not together:
        return randomizer.blankets(end)
    check_finite_reports(randomizer)
    table = np.asarray(randomizer.table, dtype=np.float64)
    blanket = table.min(axis=0)
    same = tuple(Atoms(f"blanket; input {x} twice", blanket, row, row) for x, row in enumerate(table))
    return FromMatrix(table).blankets(end) + same


def every_choice(groups: Sequence[tuple[Sequence[Kind], int]]) -> Iterator[list[Kind]]:
    """All ways to choose a kind for each question. Each of the ``groups`` is of questions that are
    alike, so that it only matters how often a kind is chosen: their kinds, and how many they are.
    """
    ways = math.prod(math.comb(len(kinds) + count - 1, count) for kinds, count in groups)
    if ways > MOST_KINDS:
        raise InvalidInput(
            f"the questions must have at most {MOST_KINDS} kinds of pairs of answers together, got {ways}. Ask fewer."
        )
    each = [combinations_with_replacement(kinds, count) for kinds, count in groups]
    return ([kind for chosen in choice for kind in chosen] for choice in product(*each))


def likely_choices(groups: Sequence[tuple[Sequence[Atoms], int]]) -> Iterator[list[Atoms]]:
    """Some ways to choose a dataset for each question, those that may leak most; questions that are
    alike have the same. Any choice is a valid lower end.
    """
    ranked = [sorted(kinds, key=chi_square, reverse=True) for kinds, _ in groups]
    most = max(1, math.floor(MOST_TRIED ** (1.0 / len(groups)) + 1e-9))
    for choice in product(*(kinds[:most] for kinds in ranked)):
        yield [atoms for atoms, (_, count) in zip(choice, groups, strict=True) for _ in range(count)]


def counted(parts: Iterable[Kind]) -> list[tuple[Kind, int]]:
    """Equal ones together, and how many they are."""
    return list(Counter(parts).items())


def small_tables(parts: Sequence[Randomizer]) -> list[Floats] | None:
    """The tables of all parts, if they have some and the rows of answers are few. Randomized
    response has one only where they are very few: a matrix is bounded more closely than classes,
    and takes longer.
    """
    very_few = len(parts) > 1 and (_multiplied(map(inputs_of, parts)) or FEW_ROWS + 1) <= FEW_ROWS
    tables = [_response_table(each) if very_few and isinstance(each, KRR) else each.table for each in parts]
    known = [np.asarray(each, dtype=np.float64) for each in tables if each is not None]
    few = len(known) == len(tables) and math.prod(len(each) for each in known) <= MOST_ROWS
    return known if few and math.prod(each.shape[1] for each in known) <= MOST_COLUMNS else None


def words_of(reports: NDArray[Any]) -> NDArray[np.int64]:
    """Reports as rows of whole numbers; those that fill 64 bits keep their bits."""
    rows = np.ascontiguousarray(reports.reshape(len(reports), -1))
    return rows.view(np.int64) if rows.dtype == np.uint64 else rows.astype(np.int64)


def reports_of(randomizer: Randomizer, words: NDArray[np.int64]) -> NDArray[Any]:
    """The reports of which ``words_of`` made these rows."""
    dtype, width, _ = form_of(randomizer)
    rows = np.ascontiguousarray(words[:, : width or 1])
    typed = rows.view(np.uint64) if dtype == np.uint64 else rows.astype(dtype)
    return typed[:, 0] if width is None else typed


def check_rows(reports: ArrayLike, form: Form) -> NDArray[Any]:
    """Return ``reports`` as an array of this form."""
    array = np.asarray(reports)
    shape = (len(array),) if array.ndim and form.width is None else (len(array) if array.ndim else 0, form.width)
    if array.shape != shape or not len(array) or array.dtype.kind not in "iu":
        what = "whole numbers" if form.width is None else f"rows of {form.width} whole numbers"
        raise InvalidInput(
            f"reports must be {what}, got shape {array.shape} of {array.dtype}. Pass what randomize(...) made."
        )
    if form.outputs is not None and not 0 <= int(array.min()) <= int(array.max()) < form.outputs:
        raise InvalidInput(f"reports must be from 0 to {form.outputs - 1}, got others. Pass what randomize(...) made.")
    return array


def _response_table(response: KRR) -> Floats:
    lie = 1.0 / (math.exp(response.epsilon0) + response.k - 1.0)
    return np.full((response.k, response.k), lie) + np.eye(response.k) * math.expm1(response.epsilon0) * lie


def _multiplied(counts: Iterable[int | None]) -> int | None:
    total = 1
    for each in counts:
        if each is None:
            return None
        total *= each
    return total


def _row(answer: object) -> tuple[object, ...]:
    return answer if isinstance(answer, tuple) else (answer,)


def _answers(part: Randomizer, rows: NDArray[Any]) -> NDArray[Any]:
    """One part's answers, as it takes them; in a table with others' they may have become floats."""
    column = rows if width_of(part) > 1 else rows[:, 0]
    if inputs_of(part) is not None and column.dtype.kind == "f" and np.all(column == np.floor(column)):
        return column.astype(np.int64)
    return column
