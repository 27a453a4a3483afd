"""All of several questions in one message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.parameters import checked
from shuffledp.randomizers.randomizer import Atoms, Randomizer
from shuffledp.randomizers.support import Form
from shuffledp.randomizers.wrappers.wrapper import (
    LARGEST_SUM,
    MOST_OUTPUTS,
    Several,
    check_finite_reports,
    check_parts,
    check_rows,
    columns_of,
    counted,
    joined,
    product_of,
    reports_of,
    small_tables,
    words_of,
)
from shuffledp.sampling import Rng, smallest_dtype, source_of


@dataclass(frozen=True, slots=True)
class AllOf(Several):
    """A user answers all questions, each by its own randomizer, in one message that stays whole:

        m'_x(y_1, y_2, ...) = m_1,x_1(y_1) m_2,x_2(y_2) ...

    So it is seen which answers came from one user, though not from whom. Where that is not needed,
    shuffle each question by itself, which leaks less: ``Accountant`` adds them up.

    The blanket is the product of the blankets. Questions that are alike have few classes of reports
    together: how often each of theirs occurs. A randomizer with infinitely many reports, such as
    Laplace, is refused.

    A report is a number if there are at most 2^20; else a row, one report after the other.

    >>> from shuffledp import KRR, shuffle
    >>> diary = AllOf([KRR(k=8, epsilon0=0.5)] * 7)
    >>> round(diary.epsilon0, 3), round(shuffle(diary, n=10_000).epsilon(delta=1e-6).upper, 3)
    (3.5, 0.037)
    """

    randomizers: Sequence[Randomizer] = field(metadata=checked(check_parts))

    def __post_init__(self) -> None:
        Several.__post_init__(self)
        if LARGEST_SUM < self.epsilon0 < math.inf:
            raise InvalidInput(
                f"epsilon0 must be at most {LARGEST_SUM:g} for all together, got {self.epsilon0!r}. Ask fewer."
            )
        if len(self.parts) > 1:
            for each in self.parts:
                check_finite_reports(each)

    @property
    def epsilon0(self) -> float:
        """The sum, rounded up."""
        total = math.fsum(each.epsilon0 for each in self.parts)
        return math.nextafter(total, math.inf) if len(self.parts) > 1 and total > 0.0 else total

    @property
    def delta0(self) -> float:
        return min(math.fsum(each.delta0 for each in self.parts), 1.0)

    @property
    def gamma(self) -> float:
        return math.prod(each.gamma for each in self.parts)

    @property
    def _alike(self) -> list[tuple[Randomizer, int]]:
        return counted(self.parts)

    def _pairs(self, end: End, together: bool) -> tuple[Atoms, ...]:
        return Several._pairs(self, end, together or len(self.parts) > 1)  # super() does not work with slots

    def _combined(self, choice: Sequence[Atoms], end: End) -> Atoms:
        return product_of(joined([each.name for each in choice]), choice, end)

    @property
    def table(self) -> Floats | None:
        """Rows and columns in the order of the answers, the last question's changing fastest."""
        if (tables := small_tables(self.parts)) is None:
            return None
        whole: Floats = np.ones((1, 1))
        for each in tables:
            whole = np.asarray(np.kron(whole, each), dtype=np.float64)
        return whole

    @property
    def form(self) -> Form:
        if (counts := self._counts) and (outputs := math.prod(counts)) <= MOST_OUTPUTS:
            return Form(smallest_dtype(outputs), outputs=outputs)
        return Form(np.dtype(np.int64), width=sum(columns_of(each) for each in self.parts))

    def local_delta(self, *, epsilon: float) -> float:
        return self.delta0 if epsilon >= self.epsilon0 else 1.0

    def local_rdp(self, *, order: float) -> float:
        return math.fsum(each.local_rdp(order=order) for each in self.parts)

    def describe(self) -> dict[str, object]:
        return {"randomizer": "all of", "questions": [each.describe() for each in self.parts]}

    @property
    def realised(self) -> AllOf:
        return AllOf([each.realised for each in self.parts])

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        source, columns = source_of(rng), self._columns(values)
        reports = [part.randomize(answers, rng=source) for part, answers in zip(self.parts, columns, strict=True)]
        dtype, width, _ = self.form
        if width is not None:
            return np.concatenate([words_of(each) for each in reports], axis=1)
        assert self._counts
        return np.ravel_multi_index(tuple(each.astype(np.int64) for each in reports), self._counts).astype(dtype)

    def split(self, reports: ArrayLike) -> list[NDArray[Any]]:
        """The reports question by question, as each randomizer sent them.

        >>> from shuffledp import RR
        >>> [each.tolist() for each in AllOf([RR(epsilon0=1.0), RR(epsilon0=1.0)]).split([0, 1, 2])]
        [[0, 0, 1], [0, 1, 0]]
        """
        rows = check_rows(reports, self.form)
        if self.form.outputs is not None:
            assert self._counts
            rows = np.stack(np.unravel_index(rows.astype(np.int64), self._counts), axis=1)
        ends = np.cumsum([columns_of(each) for each in self.parts])[:-1]
        columns = np.split(rows.astype(np.int64), ends, axis=1)
        return [reports_of(part, words) for part, words in zip(self.parts, columns, strict=True)]
