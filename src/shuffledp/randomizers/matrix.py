"""Any finite randomizer, given by its matrix of probabilities, and the base of a randomizer of
one's own: describe its matrix, and the rest follows.

Where reports are counted, the matrix is all that is known. With c_x users holding x, report y comes
sum of c_x P(y | x) times on average. A matrix W with P W = 1 undoes that: the counts of the reports
times W are unbiased, for any law whose rows are linearly independent. Of all such W the one with
the least squares is taken.
"""

from __future__ import annotations

import csv
import hashlib
import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats, that_of
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.parameters import GRID, check_indices, check_values, checked, on_grid, read_fraction
from shuffledp.randomizers.randomizer import Atoms, Listed, Randomizer, proportional, rounded
from shuffledp.randomizers.support import Counted, Form, Ints, bits_for
from shuffledp.sampling import WORD, Rng, Source, Table, smallest_dtype, source_of
from shuffledp.sampling.draws import log_at_least

SUM_TOLERANCE = 1e-9
SAME_BITS = 40
MOST_DATASETS = 200
MOST_TRIED = 2_000
FEW_ROWS = 6
HAYS_PER_PAIR = 5
NEAR_WORST = 1e-12


def _check_rows(rows: ArrayLike) -> tuple[tuple[float, ...], ...]:
    try:
        table = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "rows must be a rectangular table of numbers, got something else. Give every input one number per output."
        ) from error
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 1:
        raise InvalidInput(
            f"rows must be a table of at least 2 inputs and 1 output, got shape {table.shape}. Give one row per input, "
            f"one column per output."
        )
    for x, row in enumerate(table):
        if not np.all(np.isfinite(row)) or np.any(row < 0.0):
            worst = float(row[~(np.isfinite(row) & (row >= 0.0))][0])
            raise InvalidInput(
                f"row {x} must hold probabilities, got {worst!r}. Entry [x][y] is the chance of report y for input x."
            )
        total = math.fsum(row)
        if abs(total - 1.0) > SUM_TOLERANCE:
            raise InvalidInput(
                f"row {x} must sum to 1, got {total:.12g}. Divide the row by its sum, or add the missing output."
            )
    return tuple(tuple(row) for row in (table / table.sum(axis=1, keepdims=True)).tolist())


@dataclass(frozen=True, slots=True, repr=False)
class FromMatrix(Randomizer):
    """A finite randomizer: ``rows[x][y]`` is the probability of report y for input x.

    The blanket is the least entry of every column (Balle et al. 2019, Lemma 8). Rows must sum to 1
    within 1e-9, and are then divided by their sums. Equal rows are allowed: such a report says
    nothing, and epsilon0 is 0. Columns whose three masses are proportional are one class, which
    changes nothing, and input pairs with the same classes are listed once; datasets, which only
    bound from below, are merged to 12 digits.

    >>> survey = FromMatrix([[0.75, 0.25], [0.25, 0.75]])
    >>> round(survey.epsilon0, 6), survey.gamma, survey.worst_pair
    (1.098612, 0.5, (0, 1))
    """

    rows: ArrayLike = field(metadata=checked(_check_rows))

    @classmethod
    def from_csv(cls, *, matrix: Path) -> FromMatrix:
        """The randomizer of a CSV file: a line for each input, and in it the probability of every
        output, possibly as 1/3; lines that begin with # are left out.
        """
        rows: list[list[float]] = []
        try:
            with matrix.open(newline="", encoding="utf-8-sig") as lines:
                reader = csv.reader(lines)
                for line in reader:
                    if line and not line[0].lstrip().startswith("#"):
                        rows.append([float(read_fraction(cell.strip())) for cell in line])
        except OSError as error:
            raise InvalidInput(
                f"matrix must be a readable file, got {str(matrix)!r} ({error.strerror}). Check the path."
            ) from None
        except (ValueError, ArithmeticError, csv.Error):
            rule = "matrix must hold a line per value, with the probability of every report, separated by commas"
            raise InvalidInput(
                f"{rule}; line {reader.line_num} of {str(matrix)!r} does not. Write numbers such as 0.25 or 1/3."
            ) from None
        try:
            return cls(rows)
        except InvalidInput as error:
            raise InvalidInput(f"{str(matrix)!r}, rows counted from 0: {error}") from None

    def __repr__(self) -> str:
        """Its size and strength; the rows may be many."""
        inputs, outputs = self.table.shape
        return f"FromMatrix({inputs} inputs, {outputs} outputs, epsilon0={self.epsilon0:.6g})"

    @property
    def epsilon0(self) -> float:
        """The largest log-ratio in a column, rounded up; infinite beside a 0."""
        table = self.table
        low, high = table.min(axis=0), table.max(axis=0)
        low, high = low[high > 0.0], high[high > 0.0]
        if np.any(low == 0.0):
            return math.inf
        logs = np.log(high) - np.log(low)
        worst = np.flatnonzero(logs >= logs.max() - NEAR_WORST * (1.0 + logs.max()))
        return log_at_least(max(Fraction(float(high[y])) / Fraction(float(low[y])) for y in worst))

    @property
    def gamma(self) -> float:
        return float(self.table.min(axis=0).sum())

    @property
    def worst_pair(self) -> tuple[object, object]:
        """The rows at the largest total variation; ties go to the largest ratio, then the first.

        A choice for display only: ``blankets`` covers every pair.
        """
        return self._ranked_pairs()[0]

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        """Every ordered pair of distinct inputs against the columnwise least; exact."""
        table = self.table
        blanket = table.min(axis=0)
        pairs = permutations(range(len(table)), 2)
        return tuple(
            _distinct(
                (_atoms(f"blanket; inputs {i} and {j}", blanket, table[i], table[j], bits=52) for i, j in pairs),
                bits=52,
            )
        )

    def datasets(self) -> tuple[Atoms, ...]:
        """All others hold one input, for every ordered pair and every input, up to 6 rows.

        Beyond that only the likeliest to leak: pairs by falling total variation, each with x0, x1
        and the three inputs that overlap least with the pair, at most 200 in all. Any subset is a
        valid lower bound.
        """
        return tuple(islice(_distinct(islice(self._candidates(), MOST_TRIED)), MOST_DATASETS))

    def describe(self) -> dict[str, object]:
        return {
            "randomizer": "matrix",
            "inputs": len(self.table),
            "outputs": self.table.shape[1],
            "epsilon0": self.epsilon0,
        }

    @property
    def realised(self) -> FromMatrix:
        """The rows as drawn: multiples of 2^-53, at least that for what can happen."""
        return FromMatrix([[weight / GRID for weight in row] for row in map(on_grid, self.table.tolist())])

    @property
    def listed(self) -> Listed:
        words = [[int(Fraction(chance) * WORD) for chance in row] for row in self.table.tolist()]
        kind = np.min_scalar_type(self.table.shape[1] - 1)
        return Listed(np.arange(len(words)), self.table.__getitem__, kind, words=dict(enumerate(words)))

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        """One output, a column of the table, per value, a row of the table."""
        rows = [on_grid(row) for row in self.table.tolist()]
        checked, source = check_values(values, len(rows)), source_of(rng)
        reports = np.empty(len(checked), dtype=smallest_dtype(len(rows[0])))
        for x, row in enumerate(rows):
            holders = np.flatnonzero(checked == x)
            if len(holders):
                law = Table([weight * (WORD // GRID) for weight in row])
                reports[holders] = law.draw(source, len(holders))
        return reports

    @property
    def table(self) -> Floats:
        """The rows as an array."""
        return np.asarray(self.rows, dtype=np.float64)

    def _candidates(self) -> Iterator[Atoms]:
        table = self.table
        hays = len(table) if len(table) <= FEW_ROWS else HAYS_PER_PAIR
        for i, j in self._ranked_pairs():
            overlap = np.minimum(table, np.maximum(table[i], table[j])).sum(axis=1)
            overlap[[i, j]] = -1.0
            for other in np.argsort(overlap, kind="stable")[:hays]:
                yield _atoms(f"all others hold {other}; inputs {i} and {j}", table[other], table[i], table[j])

    def _ranked_pairs(self) -> list[tuple[int, int]]:
        """Ordered pairs by falling total variation, then by falling largest log-ratio."""
        table = self.table
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(table)
            ratio = np.array([np.nanmax(row - logs, axis=1) for row in logs])
        distance = np.array([0.5 * np.abs(row - table).sum(axis=1) for row in table])
        order = np.lexsort((-rounded(ratio, SAME_BITS).ravel(), -rounded(distance, SAME_BITS).ravel()))
        return [
            (i, j)
            for i, j in zip(*(axis.tolist() for axis in np.unravel_index(order, ratio.shape)), strict=True)
            if i != j
        ]


register(Family(make=FromMatrix))


def _atoms(name: str, hay: Floats, needle0: Floats, needle1: Floats, bits: int = SAME_BITS) -> Atoms:
    """Merge outputs of proportional masses, drop those that never occur, and sort."""
    return Atoms(name, *proportional(np.stack([hay, needle0, needle1]), bits))


def _distinct(candidates: Iterator[Atoms], bits: int = SAME_BITS) -> Iterator[Atoms]:
    """Leave out atoms that were seen before, up to the order of classes and rounding errors."""
    seen: set[bytes] = set()
    for atoms in candidates:
        key = rounded(np.stack([atoms.hay, atoms.needle0, atoms.needle1]), bits).tobytes()
        if key not in seen:
            seen.add(key)
            yield atoms


class FiniteRandomizer(Randomizer):
    """Derive from this class, and state in ``law`` the chance of each report for each input.

    That is enough to be accounted, compared, drawn and audited. To use a faster sampler than a
    table, override ``randomize``; ``shuffledp.testing.check_randomizer`` tells whether it draws
    the same law, which is then the law that is accounted. Without one, reports are drawn from the
    matrix in multiples of 2^-53, and ``realised`` has exactly those.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Hesitant(FiniteRandomizer):
    ...     silence: float
    ...
    ...     def law(self):
    ...         yes, no = (1.0 - self.silence) * 0.75, (1.0 - self.silence) * 0.25
    ...         return [[yes, no, self.silence], [no, yes, self.silence]]
    >>> Hesitant(0.5).describe()
    {'randomizer': 'Hesitant', 'inputs': 2, 'outputs': 3, 'epsilon0': 1.0986122886681098}
    """

    __slots__ = ()

    @abstractmethod
    def law(self) -> ArrayLike:
        """The matrix: entry [x][y] is the probability of report y for input x; rows add up to 1."""

    @property
    def _matrix(self) -> FromMatrix:
        return FromMatrix(self.law())

    table = that_of("_matrix")
    epsilon0 = that_of("_matrix")
    gamma = that_of("_matrix")
    worst_pair = that_of("_matrix")
    blankets = that_of("_matrix")
    datasets = that_of("_matrix")

    def describe(self) -> dict[str, object]:
        return self._matrix.describe() | {"randomizer": type(self).__name__}

    @property
    def realised(self) -> Randomizer:
        """Itself, where it draws its own reports; else its matrix as it is drawn."""
        return self._matrix.realised if type(self).randomize is FiniteRandomizer.randomize else self

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        """One column of the matrix per value, a row of it."""
        return self._matrix.randomize(values, rng=rng)


FAINTEST = 1e-9  # the least singular value, next to the largest, that rounding leaves meaningful


def _read_only(array: ArrayLike) -> Floats:
    """What is kept, and handed out: not to be changed."""
    kept: Floats = np.asarray(array, dtype=np.float64)
    kept.setflags(write=False)
    return kept


@dataclass(frozen=True, repr=False)
class Unmixed(Counted):
    """A law with a matrix for a ``table``. Its reports vote for nothing; each report is a block
    of its own, and how many there are in each is all that counts.
    """

    law: Any

    def __post_init__(self) -> None:
        strengths = np.linalg.svd(self.table, compute_uv=False)
        if len(self.table) > self.table.shape[1] or strengths[-1] < FAINTEST * strengths[0]:
            raise InvalidInput(
                f"the rows of a matrix must be linearly independent to count, got {self.law!r}. Merge like inputs."
            )

    @cached_property
    def table(self) -> Floats:
        """The law that runs."""
        return _read_only(self.law.realised.table)

    @cached_property
    def weights(self) -> Floats:
        """W: how much a report y adds to the estimate of x."""
        return _read_only(np.linalg.pinv(self.table))

    @cached_property
    def variances(self) -> Floats:
        """Entry [z][x]: what a user who holds z adds to the variance of the estimate of x."""
        return _read_only(np.maximum(self.table @ self.weights**2 - np.eye(len(self.table)), 0.0))

    @property
    def decoding(self) -> tuple[Floats, Floats]:
        return self.table, self.weights.T

    @property
    def influence(self) -> float:
        sent = self.weights[self.table.max(axis=0) > 0.0]
        return float(np.ptp(sent, axis=0).max())

    @property
    def k(self) -> int:  # type: ignore[override]
        """How many inputs there are."""
        return len(self.table)

    @property
    def blocks(self) -> int:
        return int(self.table.shape[1])

    def block_counts(self, reports: NDArray[Any]) -> Ints:
        return np.bincount(reports, minlength=self.blocks).astype(np.int64)

    def _tally(self, reports: NDArray[Any]) -> Ints:
        return np.zeros(self.k, dtype=np.int64)

    @property
    def hit(self) -> float:
        """No report votes."""
        return 0.0

    miss = contrast = hit

    @property
    def form(self) -> Form:
        return Form(smallest_dtype(self.blocks), None, self.blocks)

    @property
    def bits(self) -> int:
        return bits_for(self.blocks)

    def check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        checked = check_indices("reports", reports, self.blocks, remedy="A report is the number of a column.")
        never = np.flatnonzero(self.table.max(axis=0) == 0.0)
        if len(never) and np.any(wrong := np.isin(checked, never)):
            raise InvalidInput(
                f"reports must be of columns that can occur, got {int(checked[wrong][0])}, which no input sends."
            )
        return checked

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        drawn: NDArray[Any] = self.law.randomize(values, rng=source)
        return drawn

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        reports = self.check_reports(self.law.randomize(values, rng=source_of(rng)))
        if len(reports) != len(np.asarray(values)):
            raise InvalidInput(
                f"randomize must send one report for each of {len(np.asarray(values))} values, got {len(reports)} from "
                f"{self.law!r}."
            )
        return reports.astype(self.form.dtype)

    def debias(self, reports: ArrayLike) -> Floats:
        counted = self.block_counts(self.check_reports(reports))
        return np.asarray(counted @ self.weights, dtype=np.float64)

    def count_variance(self, counts: ArrayLike) -> Floats:
        return np.asarray(self._check_counts(counts) @ self.variances, dtype=np.float64)

    @property
    def realised(self) -> Unmixed:
        return Unmixed(self.law.realised) if self.law.realised is not self.law else self

    def describe(self) -> dict[str, object]:
        """As ``law``, and by a digest of the matrix: no other's reports pass for these."""
        said: dict[str, object] = self.law.describe()
        return said | {"matrix": hashlib.sha256(self.table.tobytes()).hexdigest()[:16]}

    @classmethod
    def of(cls, given: Randomizer) -> Unmixed | None:
        """``given``, if it has a matrix."""
        return None if given.table is None else cls(given)
