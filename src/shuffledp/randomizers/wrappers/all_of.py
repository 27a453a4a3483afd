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
    Wrapper,
    check_finite_reports,
    check_parts,
    check_rows,
    columns_of,
    counted,
    every_choice,
    joined,
    likely_choices,
    outputs_of,
    pairs_of,
    product_of,
    reports_of,
    small_tables,
    words_of,
)
from shuffledp.sampling import Rng, smallest_dtype, source_of


@dataclass(frozen=True, slots=True)
class AllOf(Wrapper):
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
        Wrapper.__post_init__(self)
        if LARGEST_SUM < self.epsilon0 < math.inf:
            raise InvalidInput(
                f"epsilon0 must be at most {LARGEST_SUM:g} for all together, got {self.epsilon0!r}. Ask fewer."
            )
        if len(self.parts) > 1:
            for each in self.parts:
                check_finite_reports(each)

    @property
    def parts(self) -> tuple[Randomizer, ...]:
        return tuple(self.randomizers)

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

    def _pairs(self, end: End, together: bool) -> tuple[Atoms, ...]:
        groups = counted(self.parts)
        kinds = [(pairs_of(part, end, together or len(self.parts) > 1), count) for part, count in groups]
        return tuple(self._multiplied(choice, end) for choice in every_choice(kinds))

    def datasets(self) -> tuple[Atoms, ...]:
        """All others have the same answers, and the target differs in all of them."""
        kinds = [(part.datasets(), count) for part, count in counted(self.parts)]
        return tuple(self._multiplied(choice, "lower") for choice in likely_choices(kinds))

    def _multiplied(self, choice: Sequence[Atoms], end: End) -> Atoms:
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
        counts = [outputs_of(each) for each in self.parts]
        known = [each for each in counts if each is not None]
        if len(known) == len(counts) and math.prod(known) <= MOST_OUTPUTS:
            return Form(smallest_dtype(math.prod(known)), outputs=math.prod(known))
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
        if self.form.outputs is None:
            return np.concatenate([words_of(each) for each in reports], axis=1)
        whole = tuple(each.astype(np.int64) for each in reports)
        return np.ravel_multi_index(whole, self._counts()).astype(self.form.dtype)

    def split(self, reports: ArrayLike) -> list[NDArray[Any]]:
        """The reports question by question, as each randomizer sent them.

        >>> from shuffledp import RR
        >>> [each.tolist() for each in AllOf([RR(epsilon0=1.0), RR(epsilon0=1.0)]).split([0, 1, 2])]
        [[0, 0, 1], [0, 1, 0]]
        """
        checked = check_rows(reports, self.form)
        if self.form.outputs is not None:
            rows = np.stack(np.unravel_index(checked.astype(np.int64), self._counts()), axis=1)
        else:
            rows = checked
        ends = np.cumsum([columns_of(each) for each in self.parts])[:-1]
        columns = np.split(rows.astype(np.int64), ends, axis=1)
        return [reports_of(part, words) for part, words in zip(self.parts, columns, strict=True)]

    def _counts(self) -> list[int]:
        return [outputs_of(each) or 1 for each in self.parts]
