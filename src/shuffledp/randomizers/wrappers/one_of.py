"""One of several questions: every user answers one of them, chosen at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats
from shuffledp.errors import InvalidInput, check_finite
from shuffledp.randomizers.parameters import GRID, check_values, checked, on_grid
from shuffledp.randomizers.randomizer import Atoms, Randomizer
from shuffledp.randomizers.support import Form
from shuffledp.randomizers.wrappers.check_in import CheckIn
from shuffledp.randomizers.wrappers.wrapper import (
    MOST_OUTPUTS,
    Several,
    check_parts,
    check_rows,
    columns_of,
    counted,
    inputs_of,
    joined,
    mixture,
    reports_of,
    small_tables,
    words_of,
)
from shuffledp.sampling import WORD, Rng, Table, smallest_dtype, source_of

SUM_TOLERANCE = 1e-9
SHARES = "A weight is the probability of a question; leave weights out to ask each of them equally often."


def _check_weights(given: object) -> tuple[float, ...] | None:
    if given is None:
        return None
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise InvalidInput(f"weights must be a list of numbers, got {given!r}. {SHARES}")
    weights = tuple(check_finite("a weight", each, remedy=SHARES) for each in given)
    if any(each <= 0.0 for each in weights):
        raise InvalidInput(f"weights must be positive, got {min(weights)!r}. {SHARES}")
    total = math.fsum(weights)
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise InvalidInput(f"weights must sum to 1, got {total:.12g}. {SHARES}")
    return weights if total == 1.0 else tuple(each / total for each in weights)


@dataclass(frozen=True, slots=True)
class OneOf(Several):
    """A user answers one of several questions, the j-th with probability ``weights[j]``, and it is
    seen which:

        m'_x = sum of w_j (question j) x m_j,x_j,      x = (x_1, x_2, ...).

    The blanket is the mixture of the blankets, so the classes of reports are those of the parts,
    and questions that are alike share them.

    A report is a number if those of all parts are, numbered question by question; else a row: the
    question, counted from 0, and then the report, filled up with zeros. ``split`` takes them apart.

    >>> from shuffledp import KRR, RR, shuffle
    >>> survey = OneOf([KRR(k=16, epsilon0=4.0), RR(epsilon0=2.0)], weights=[0.75, 0.25])
    >>> bound = shuffle(survey, n=10_000).epsilon(delta=1e-6)
    >>> round(bound.lower, 3), round(bound.upper, 3)
    (0.313, 0.315)
    """

    randomizers: Sequence[Randomizer] = field(metadata=checked(check_parts))
    weights: Sequence[float] | None = field(metadata=checked(_check_weights), default=None, kw_only=True)

    def __post_init__(self) -> None:
        Several.__post_init__(self)
        if self.weights is None:
            object.__setattr__(self, "weights", (1.0 / len(self.parts),) * len(self.parts))
        if len(self.shares) != len(self.parts):
            raise InvalidInput(
                f"weights must number {len(self.parts)}, as the randomizers do, got {len(self.shares)}. {SHARES}"
            )

    @property
    def shares(self) -> tuple[float, ...]:
        """The weights, filled in."""
        assert self.weights is not None
        return tuple(self.weights)

    @property
    def epsilon0(self) -> float:
        return max(each.epsilon0 for each in self.parts)

    @property
    def delta0(self) -> float:
        return math.fsum(share * each.delta0 for share, each in zip(self.shares, self.parts, strict=True))

    @property
    def gamma(self) -> float:
        return math.fsum(share * each.gamma for share, each in zip(self.shares, self.parts, strict=True))

    @property
    def _alike(self) -> list[tuple[Randomizer, int]]:
        return [(part, count) for (part, _), count in counted(zip(self.parts, self.shares, strict=True))]

    def _combined(self, choice: Sequence[Atoms], end: End) -> Atoms:
        groups = counted(zip(self.parts, self.shares, strict=True))
        shares = [share for (_, share), count in groups for _ in range(count)]
        return mixture(joined([each.name for each in choice]), list(zip(shares, choice, strict=True)), end)

    @property
    def table(self) -> Floats | None:
        """Rows in the order of the answers, the last question's changing fastest."""
        if (tables := small_tables(self.parts)) is None:
            return None
        rows = np.indices([len(each) for each in tables]).reshape(len(tables), -1)
        columns = [share * each[row] for share, each, row in zip(self.shares, tables, rows, strict=True)]
        return np.concatenate(columns, axis=1)

    @property
    def form(self) -> Form:
        if (counts := self._counts) and sum(counts) <= MOST_OUTPUTS:
            return Form(smallest_dtype(sum(counts)), outputs=sum(counts))
        return Form(np.dtype(np.int64), width=1 + max(columns_of(each) for each in self.parts))

    def local_delta(self, *, epsilon: float) -> float:
        alone = (each.local_delta(epsilon=epsilon) for each in self.parts)
        return math.fsum(share * each for share, each in zip(self.shares, alone, strict=True))

    def local_rdp(self, *, order: float) -> float:
        alone = [(order - 1.0) * each.local_rdp(order=order) for each in self.parts]
        if not all(map(math.isfinite, alone)):
            return math.inf
        return float(np.logaddexp.reduce(np.log(self.shares) + alone)) / (order - 1.0)

    def describe(self) -> dict[str, object]:
        return {
            "randomizer": "one of",
            "weights": list(self.shares),
            "questions": [each.describe() for each in self.parts],
        }

    @property
    def integers(self) -> tuple[int, ...]:
        """The words out of 2^64 of each question; the likeliest takes up rounding."""
        return tuple(each * (WORD // GRID) for each in on_grid(self.shares))

    @property
    def realised(self) -> OneOf:
        """The weights as they are drawn: exact multiples of 2^-53."""
        return OneOf([each.realised for each in self.parts], weights=[each / WORD for each in self.integers])

    def question(self, number: int) -> CheckIn:
        """What one question is by itself: a check-in with its weight. A histogram with it as
        randomizer reads the reports that ``split`` gives.
        """
        return CheckIn(self.parts[number], probability=self.shares[number])

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        source, columns = source_of(rng), self._columns(values)
        for part, answers in zip(self.parts, columns, strict=True):  # also of those who are not asked
            if answers.ndim == 1 and (known := inputs_of(part)) is not None:
                check_values(answers, known)
        asked = Table(self.integers).draw(source, len(columns[0]))
        rows = np.zeros((len(asked), max(columns_of(each) for each in self.parts)), dtype=np.int64)
        for number, part in enumerate(self.parts):
            if len(who := np.flatnonzero(asked == number)):
                drawn = words_of(part.randomize(columns[number][who], rng=source))
                rows[who, : drawn.shape[1]] = drawn
        if self.form.outputs is None:
            return np.concatenate([asked[:, None], rows], axis=1)
        return (self._first_numbers()[asked] + rows[:, 0]).astype(self.form.dtype)

    def split(self, reports: ArrayLike) -> list[NDArray[Any]]:
        """The reports question by question, as of ``question``: blank where another was answered.

        >>> from shuffledp import RR
        >>> [each.tolist() for each in OneOf([RR(epsilon0=1.0), RR(epsilon0=1.0)]).split([0, 1, 3])]
        [[0, 1, 2], [2, 2, 1]]
        """
        checked = check_rows(reports, self.form)
        if self.form.outputs is None:
            asked, words = checked[:, 0], checked[:, 1:].astype(np.int64)
        else:
            asked = np.searchsorted(self._first_numbers(), checked, side="right") - 1
            words = (checked.astype(np.int64) - self._first_numbers()[asked])[:, None]
        whole = [reports_of(part, np.where((asked == j)[:, None], words, 0)) for j, part in enumerate(self.parts)]
        return [self.question(j).blanked(each, asked == j) for j, each in enumerate(whole)]

    def _first_numbers(self) -> NDArray[np.int64]:
        """The number of each question's first report."""
        return np.cumsum([0, *(self._counts or ())])[:-1]
