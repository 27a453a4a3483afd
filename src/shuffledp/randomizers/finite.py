"""A randomizer of one's own: describe its matrix, and the rest follows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats
from shuffledp.randomizers.matrix import FromMatrix
from shuffledp.randomizers.randomizer import Atoms, Randomizer
from shuffledp.sampling import Rng

__all__ = ["FiniteRandomizer"]


class FiniteRandomizer(Randomizer):
    """Derive from this class, and state in ``law`` the probability with which each input sends
    each report.

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
    def table(self) -> Floats:
        """The matrix, checked."""
        return self._matrix.table

    @property
    def _matrix(self) -> FromMatrix:
        return FromMatrix(self.law())

    @property
    def epsilon0(self) -> float:
        return self._matrix.epsilon0

    @property
    def gamma(self) -> float:
        return self._matrix.gamma

    @property
    def worst_pair(self) -> tuple[object, object]:
        return self._matrix.worst_pair

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        return self._matrix.blankets(end)

    def datasets(self) -> tuple[Atoms, ...]:
        return self._matrix.datasets()

    def describe(self) -> dict[str, object]:
        return self._matrix.describe() | {"randomizer": type(self).__name__}

    @property
    def realised(self) -> Randomizer:
        """Itself, where it draws its own reports; else its matrix as it is drawn."""
        return self._matrix.realised if type(self).randomize is FiniteRandomizer.randomize else self

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        """One column of the matrix per value, a row of it."""
        return self._matrix.randomize(values, rng=rng)
