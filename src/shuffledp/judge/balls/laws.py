"""The laws of reports in balls, from their parameters: e^epsilon0 as a ball, and who is supported
by an output, counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import Any

from flint import arb

from shuffledp.judge.balls.arithmetic import Exact, ball
from shuffledp.judge.balls.clones import SwappedClone
from shuffledp.judge.balls.needle import Needle
from shuffledp.judge.clones import CloneSwap, Row
from shuffledp.judge.supports import Classes, Supports, Table, coin_patterns, set_patterns, sign_tables


@dataclass(frozen=True, eq=False)
class Kinds:
    """Haystacks of a randomizer: every kind of pair against the blanket, and datasets."""

    blankets: tuple[Needle, ...]
    datasets: tuple[Needle, ...]

    @classmethod
    def of(cls, blankets: Sequence[Classes], datasets: Sequence[Classes]) -> Kinds:
        """The same from masses of classes, in balls."""
        over, held = (
            tuple(Needle.of(*zip(*each, strict=True), whole=whole) for each in kinds)
            for whole, kinds in ((False, blankets), (True, datasets))
        )
        return cls(over, held)

    def strong(self) -> tuple[Needle, ...]:
        """The blankets' haystacks for an analyst who also sees whether the target's own report
        came from the blanket: only what the needles have beyond it counts.
        """

        def beyond(needle: Sequence[arb], hay: Sequence[arb]) -> tuple[arb, ...]:
            return tuple(own - common for own, common in zip(needle, hay, strict=True))

        return tuple(
            replace(each, needle0=beyond(each.needle0, each.hay), needle1=beyond(each.needle1, each.hay))
            for each in self.blankets
        )


def kinds_of(described: Mapping[str, Any]) -> Kinds | None:
    """The haystacks of a randomizer that ``describe`` tells, from name and parameters; or None.

    >>> kinds = kinds_of({"randomizer": "krr", "k": 16, "epsilon0": 4.0})
    >>> len(kinds.blankets), len(kinds.datasets)
    (1, 3)
    """
    if described["randomizer"] in {"any", "static"}:  # binary response dominates, and ternary is one of them
        two, three = (_subsets(k, 1, described["epsilon0"]) for k in (2, 3))
        return Kinds.of(two.blankets, three.datasets)
    supports = _supports_of(described)
    return None if supports is None else Kinds.of(supports.blankets, supports.datasets)


def kinds_of_table(rows: Sequence[Sequence[Exact]]) -> Kinds:
    """The haystacks of a table of probabilities, taken as exact but for a common factor of every
    row: every pair of inputs against the least of every column, and against everybody on one row.
    """
    exact = [[Fraction(each) for each in row] for row in rows]
    inputs = dict.fromkeys(tuple(each / sum(row) for each in row) for row in exact)
    least, pairs = tuple(map(min, zip(*inputs, strict=True))), list(permutations(inputs, 2))

    def haystack(*laws: Sequence[Fraction]) -> Classes:
        return tuple(tuple(map(ball, each)) for each in zip(*laws, strict=True) if any(each))  # type: ignore[misc]

    return Kinds.of(
        [haystack(least, *pair) for pair in pairs], [haystack(held, *pair) for pair in pairs for held in inputs]
    )


def _supports_of(described: Mapping[str, Any]) -> Supports | None:
    """Who is supported by the outputs of a support randomizer; None if it is another."""
    name: str = described["randomizer"]
    k: Any = described.get("k")
    epsilon0: Any = described.get("epsilon0")
    if name in {"krr", "rr"}:
        return _subsets(k, 1, epsilon0)
    if name == "subset":
        return _subsets(k, described["size"], epsilon0)
    if name == "unary":
        p, q = Fraction(described["p"]), Fraction(described["q"])
        return _coins(k, ball(q), ball(p * (1 - q) / (q * (1 - p))))
    if name in {"blh", "local_hash", "olh"}:
        return _coins(k, arb(1) / described["g"], ball(epsilon0).exp())
    if name in {"oue", "rappor"}:
        growth = ball(epsilon0).exp()
        return _coins(k, 1 / ((growth if name == "oue" else growth.sqrt()) + 1), growth)
    if name == "hadamard":  # B and b are chosen in floating point, as by whoever runs the randomizer
        blocks = 1 << min(math.ceil(epsilon0 / math.log(2.0)), (2 * k - 1).bit_length()) - 1
        universal, tables = sign_tables(k, blocks, 1 << (-(-k // blocks)).bit_length())
        return _supports(ball(epsilon0).exp(), ball(Fraction(1, 2 * blocks)), ball(universal), tables)
    return None


def _subsets(k: int, size: int, epsilon0: float) -> Supports:
    """Outputs support a uniformly random set of ``size`` inputs."""
    return _supports(ball(epsilon0).exp(), ball(Fraction(size, k)), arb(0), [set_patterns(k, size, min(k, 3))])


def _coins(k: int, share: arb, growth: arb) -> Supports:
    """Outputs support every input by itself, with probability ``share``."""
    tested = min(k, 3)
    every = share**tested * (1 - share ** (k - tested)) if k > tested else arb(0)
    return _supports(growth, share, share**k, [coin_patterns(share, tested) | {(1,) * tested: every}])


def _supports(growth: arb, share: arb, universal: arb, tables: Sequence[Table]) -> Supports:
    low = 1 / (1 + (growth - 1) * share)
    in_balls = tuple({pattern: ball(base) for pattern, base in table.items()} for table in tables)
    return Supports(growth * low, low, universal, in_balls, lambda number: arb(number).mid())


def swaps_of(described: Mapping[str, Any]) -> tuple[SwappedClone, ...]:
    """The swap for every kind of pair of a described law; none where that does not tell."""
    if described["randomizer"] == "static":
        return (static_swap(described["epsilon0"]),) if described.get("delta0", 0.0) == 0.0 else ()
    supports = _supports_of(described)
    return () if supports is None else tuple(map(SwappedClone.of, supports.swaps))


def static_swap(epsilon0: float) -> SwappedClone:
    """Any epsilon0-LDP randomizer fixed in advance, E = e^epsilon0: omega = (m_0 + m_1) / 2, and
    (m_0, m_1) / h lies in a hexagon with mean (1, 1); the kinds are the extreme laws on its
    corners.

    A slot enters by the mean of a function of (m_0, m_1) / h that is convex (a perspective), so
    that no other law in the hexagon is above all of these.
    """
    e = ball(epsilon0).exp()
    one = arb(1)
    corners = {
        "up": (e, one),
        "down": (one, e),
        "high": (e, e),
        "low": (1 / e, 1 / e),
        "less0": (1 / e, one),
        "less1": (one, 1 / e),
    }
    kinds: list[tuple[Row, ...]] = []
    for names in (
        ("up", "less0"),
        ("down", "less1"),
        ("high", "low"),
        ("up", "down", "low"),
        ("high", "less0", "less1"),
    ):
        weights = [e if name in {"low", "less0", "less1"} else one for name in names]
        total = sum(weights, arb(0))
        chosen = [(corners[name], weight / total) for name, weight in zip(names, weights, strict=True)]
        kinds.append(tuple((share, a * share, b * share, share * (a + b) / 2) for (a, b), share in chosen))
    half, none, up, down = arb(0.5), arb(0), e / (e + 1), 1 / (e + 1)
    return SwappedClone.of(CloneSwap(((half, up, down, none), (half, down, up, none)), tuple(kinds)))
