"""Support randomizers: an output is a vote for the inputs it supports, and the true input is
favored by one factor.

k-RR, Hadamard response, unary encoding, local hashing and subset selection are one mechanism in
different clothes. There is a base law on outputs and a relation "output y supports input x", with f
= P_base(y supports x) the same for all x:

    mu_x(y) = base(y) * (E if y supports x else 1) / Z,      E = e^epsilon0,  Z = 1 + (E - 1) f.

(Acharya, Sun and Zhang 2019 call the sets S_x; Wang et al. 2017 call these protocols "pure".) So a
haystack needs only the joint base law of who is supported: the target's inputs x0 and x1, and a
third input x2 that the others may hold.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shuffledp._types import End
from shuffledp.randomizers.randomizer import Atoms
from shuffledp.randomizers.votes import VotingRandomizer

__all__ = ["Overlap", "SupportRandomizer", "hypergeometric", "independent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """How the supports of x0, x1 and possibly x2 overlap under the base law.

    ``table[a0, a1, a2]`` is the base probability of the outputs that support x0 iff a0, x1 iff a1
    and x2 iff a2, *without* those that support every input; these have probability ``universal``.
    Without a third input the keys are pairs and ``third`` is None. ``pair`` and ``third`` name the
    kind of inputs where there are several.
    """

    table: Mapping[tuple[int, ...], float]
    universal: float = 0.0
    pair: str = ""
    third: str | None = "a third value"


def hypergeometric(k: int, size: int) -> Overlap:
    """The overlap when the output supports a uniformly random ``size``-subset of the k inputs, size
    < k.

    >>> hypergeometric(4, 1).table[0, 0, 1]
    0.25
    """
    tested = min(k, 3)
    table = {
        pattern: math.perm(size, sum(pattern)) * math.perm(k - size, tested - sum(pattern)) / math.perm(k, tested)
        for pattern in _patterns(tested)
    }
    return Overlap(table=table, third="a third value" if k > 2 else None)


def independent(k: int, share: float) -> Overlap:
    """The overlap when the output supports each of the k inputs independently with probability
    ``share``.

    >>> independent(2, 0.25).table[1, 0], independent(2, 0.25).universal
    (0.1875, 0.0625)
    """
    tested = min(k, 3)
    table = {pattern: share ** sum(pattern) * (1.0 - share) ** (tested - sum(pattern)) for pattern in _patterns(tested)}
    table[(1,) * tested] *= -math.expm1((k - tested) * math.log(share))
    return Overlap(table=table, universal=share**k, third="a third value" if k > 2 else None)


class SupportRandomizer(VotingRandomizer):
    """A randomizer given by ``epsilon0`` and ``overlaps()``; every law the accountant needs
    follows.

    The classes are exact for any number of inputs: outputs whose likelihoods have one ratio to the
    hay are one class.
    """

    __slots__ = ()

    @abstractmethod
    def overlaps(self) -> tuple[Overlap, ...]:
        """One overlap per inequivalent kind of (pair, third input); overlaps of one pair are
        adjacent.
        """

    @property
    def worst_pair(self) -> tuple[object, object]:
        """Any two inputs: the randomizer treats all pairs alike unless a subclass says
        otherwise.
        """
        return (0, 1)

    @property
    def gamma(self) -> float:
        """The blanket is base * E / Z on outputs that support every input, and base / Z
        elsewhere.
        """
        return (1.0 + math.expm1(self.epsilon0) * self.overlaps()[0].universal) / self.normaliser

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        """The blanket against every kind of pair; exact, so ``end`` makes no difference."""
        pairs = {overlap.pair: overlap for overlap in self.overlaps()}
        return tuple(self._atoms(_joined("blanket", pair), overlap, None) for pair, overlap in pairs.items())

    def least_overlapping(self) -> Atoms:
        """The blanket against the pair whose supports overlap least: it leaks most, also among
        other questions (docs/theory.md, "Wrappers").
        """
        least = min(
            self.overlaps(),
            key=lambda each: math.fsum(base for pattern, base in each.table.items() if pattern[0] and pattern[1]),
        )
        return self._atoms(_joined("blanket", least.pair), least, None)

    def datasets(self) -> tuple[Atoms, ...]:
        """All others hold x0, x1, or a third value, for every kind of pair and third value;
        exact.
        """
        pairs = {overlap.pair: overlap for overlap in self.overlaps()}
        target = [
            self._atoms(_joined(f"all others hold x{i}", pair), overlap, i)
            for pair, overlap in pairs.items()
            for i in (0, 1)
        ]
        third = [
            self._atoms(_joined(f"all others hold {overlap.third}", overlap.pair), overlap, 2)
            for overlap in self.overlaps()
            if overlap.third
        ]
        return (*target, *third)

    @property
    def normaliser(self) -> float:
        """Z = 1 + (E - 1) f."""
        overlap = self.overlaps()[0]
        share = math.fsum(base for pattern, base in overlap.table.items() if pattern[0]) + overlap.universal
        return 1.0 + math.expm1(self.epsilon0) * share

    def _atoms(self, name: str, overlap: Overlap, holder: int | None) -> Atoms:
        """Hay = the law of input ``holder`` (None: the blanket), grouped by the powers of E in
        needle / hay.
        """
        growth = math.exp(self.epsilon0)
        mass: defaultdict[tuple[int, int], float] = defaultdict(float)
        for pattern, base in overlap.table.items():
            favour = 0 if holder is None else pattern[holder]
            mass[pattern[0] - favour, pattern[1] - favour] += base * growth**favour
        mass[0, 0] += overlap.universal * growth
        powers = np.array(sorted((power for power in mass if mass[power] > 0.0), reverse=True), dtype=np.float64)
        hay = np.array([mass[int(a), int(b)] for a, b in powers]) / self.normaliser
        return Atoms(name, hay, hay * np.exp(self.epsilon0 * powers[:, 0]), hay * np.exp(self.epsilon0 * powers[:, 1]))


def _patterns(tested: int) -> list[tuple[int, ...]]:
    return list(np.ndindex(*(2,) * tested))


def _joined(what: str, pair: str) -> str:
    return f"{what}; {pair}" if pair else what
