"""The laws of reports in balls, from their parameters: who is supported by an output, counted,
e^epsilon0 as a ball, and the first-clone swap.

An output of a support randomizer is E = e^epsilon0 times as likely for the inputs that it supports
(docs/theory.md). So all that a haystack needs is the base probability of every pattern of which of
the target's two inputs, and of a third that others may hold, are supported. The swap needs the law
that is swapped in, and the kinds of slots that others may be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

from flint import arb

from shuffledp.judge.balls.arithmetic import Exact, ball
from shuffledp.judge.balls.clones import Slot, SwappedClone
from shuffledp.judge.balls.needle import Needle
from shuffledp.judge.laws import set_patterns, sign_patterns

Pattern = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Kinds:
    """Haystacks of a randomizer: every kind of pair against the blanket, and datasets."""

    blankets: tuple[Needle, ...]
    datasets: tuple[Needle, ...]

    def strong(self) -> tuple[Needle, ...]:
        """The blankets' haystacks for an analyst who also sees whether the target's own report
        came from the blanket: only what the needles have beyond it counts.
        """
        return tuple(
            Needle(
                each.name,
                each.hay,
                tuple(there - hay for there, hay in zip(each.needle0, each.hay, strict=True)),
                tuple(back - hay for back, hay in zip(each.needle1, each.hay, strict=True)),
                each.whole,
            )
            for each in self.blankets
        )


@dataclass(frozen=True, eq=False)
class Supports:
    """The base probabilities of patterns, for every kind of (x0, x1, third): ``tables``; the last
    entry of a pattern is the third input's, if there is one.

    ``universal`` is the base probability of the outputs that support every input, which the tables
    leave out.
    """

    growth: arb
    share: arb
    universal: arb
    tables: tuple[Mapping[Pattern, arb], ...]

    @property
    def normaliser(self) -> arb:
        """Z = 1 + (E - 1) f."""
        return 1 + (self.growth - 1) * self.share

    def kinds(self) -> Kinds:
        """All haystacks, those that are alike once."""
        blankets = [self._needle("blanket", table, None) for table in self.tables]
        datasets = [
            self._needle(f"all others hold {('x0', 'x1', 'a third value')[holder]}", table, holder)
            for table in self.tables
            for holder in range(len(next(iter(table))))
        ]
        return Kinds(_distinct(blankets), _distinct(datasets))

    def _needle(self, name: str, table: Mapping[Pattern, arb], holder: int | None) -> Needle:
        """Hay: the law of the input in place ``holder``, or what all inputs have in common."""
        mass: dict[tuple[int, int], arb] = {}
        favored = [(pattern, base, 0 if holder is None else pattern[holder]) for pattern, base in table.items()]
        for pattern, base, favor in [*favored, ((1, 1), self.universal, 1)]:
            if not base.is_zero():
                powers = (pattern[0] - favor, pattern[1] - favor)
                mass[powers] = mass.get(powers, arb(0)) + base * self.growth**favor / self.normaliser
        some = sorted(mass)
        return Needle(
            name,
            tuple(mass[each] for each in some),
            tuple(mass[each] * self.growth ** each[0] for each in some),
            tuple(mass[each] * self.growth ** each[1] for each in some),
            whole=holder is not None,
        )


def kinds_of(described: Mapping[str, object]) -> Kinds | None:
    """The haystacks of a randomizer that ``describe`` tells, from name and parameters; or None.

    >>> kinds = kinds_of({"randomizer": "krr", "k": 16, "epsilon0": 4.0})
    >>> len(kinds.blankets), len(kinds.datasets)
    (1, 3)
    """
    if described["randomizer"] in {"any", "static"}:  # binary response dominates, and ternary is one of them
        epsilon0 = _number(described["epsilon0"])
        return Kinds(_subsets(2, 1, epsilon0).kinds().blankets, _subsets(3, 1, epsilon0).kinds().datasets)
    supports = supports_of(described)
    return None if supports is None else supports.kinds()


def supports_of(described: Mapping[str, object]) -> Supports | None:
    """Who is supported by the outputs of a support randomizer; None if it is another."""
    name = described["randomizer"]
    if name in {"krr", "rr"}:
        return _subsets(_whole(described["k"]), 1, _number(described["epsilon0"]))
    if name == "subset":
        return _subsets(_whole(described["k"]), _whole(described["size"]), _number(described["epsilon0"]))
    if name in {"blh", "local_hash", "olh"}:
        return _independent(
            _whole(described["k"]), arb(1) / _whole(described["g"]), ball(_number(described["epsilon0"])).exp()
        )
    if name == "oue":
        growth = ball(_number(described["epsilon0"])).exp()
        return _independent(_whole(described["k"]), 1 / (growth + 1), growth)
    if name == "rappor":
        root = (ball(_number(described["epsilon0"])) / 2).exp()
        return _independent(_whole(described["k"]), 1 / (root + 1), root * root)
    if name == "unary":
        p, q = Fraction(_number(described["p"])), Fraction(_number(described["q"]))
        return _independent(_whole(described["k"]), ball(q), ball(p * (1 - q) / (q * (1 - p))))
    if name == "hadamard":
        return _hadamard(_whole(described["k"]), _number(described["epsilon0"]))
    return None


def kinds_of_table(rows: Sequence[Sequence[Exact]]) -> Kinds:
    """The haystacks of a table of probabilities, taken as exact but for a common factor of every
    row: every pair of inputs against the least of every column, and against everybody on one row.
    """
    sums = [sum((Fraction(each) for each in row), Fraction(0)) for row in rows]
    exact = [[Fraction(each) / total for each in row] for row, total in zip(rows, sums, strict=True)]
    distinct = list(dict.fromkeys(tuple(row) for row in exact))
    least = [min(column) for column in zip(*distinct, strict=True)]
    pairs = list(permutations(distinct, 2))
    blankets = [_from_rows("blanket", least, *pair, whole=False) for pair in pairs]
    datasets = [_from_rows("all others hold one value", held, *pair, whole=True) for pair in pairs for held in distinct]
    return Kinds(tuple(blankets), tuple(datasets))


def _from_rows(
    name: str, hay: Sequence[Fraction], there: Sequence[Fraction], back: Sequence[Fraction], *, whole: bool
) -> Needle:
    columns = [each for each in zip(hay, there, back, strict=True) if any(each)]
    return Needle.of(name, *zip(*columns, strict=True), whole=whole)


def _subsets(k: int, size: int, epsilon0: float) -> Supports:
    """Outputs support a uniformly random set of ``size`` inputs."""
    table = {pattern: ball(share) for pattern, share in set_patterns(k, size, min(k, 3)).items()}
    return Supports(ball(epsilon0).exp(), ball(Fraction(size, k)), arb(0), (table,))


def _independent(k: int, share: arb, growth: arb) -> Supports:
    """Outputs support every input by itself, with probability ``share``."""
    tested = min(k, 3)
    table = {
        pattern: share ** sum(pattern) * (1 - share) ** (tested - sum(pattern))
        for pattern in product((0, 1), repeat=tested)
    }
    table[(1,) * tested] = share**tested * (1 - share ** (k - tested)) if k > tested else arb(0)
    return Supports(growth, share, share**k, (table,))


def _hadamard(k: int, epsilon0: float) -> Supports:
    """Columns of B Sylvester matrices; input x owns row 1 + x mod (b - 1) of matrix x div (b - 1).

    B and b are chosen in floating point, as by whoever runs the randomizer.
    """
    half = min(math.ceil(epsilon0 / math.log(2.0)), (2 * k - 1).bit_length()) - 1
    blocks = 2**half
    columns = 2
    while (columns - 1) * blocks < k:
        columns *= 2
    last = columns - 1
    # Inputs among which every kind of triple occurs: who shares a block, and whether three rows of
    # one block multiply to 1, as rows 1, 2, 3 do and rows 1, 2, 4 do not.
    inputs = sorted({x for x in (0, 1, 2, 3, last, last + 1, 2 * last) if x < k})
    tables = {
        tuple(sorted(sign_patterns([divmod(x, last) for x in chosen], blocks, columns).items()))
        for chosen in permutations(inputs, min(k, 3))
    }
    total, universal = blocks * columns, int(k < columns)  # column 0 of a single block supports all its rows
    return Supports(
        ball(epsilon0).exp(),
        ball(Fraction(1, 2 * blocks)),
        ball(Fraction(universal, total)),
        tuple(
            {pattern: ball(Fraction(count - universal * all(pattern), total)) for pattern, count in table}
            for table in sorted(tables)
        ),
    )


def _distinct(needles: Sequence[Needle]) -> tuple[Needle, ...]:
    """Those that are alike once: by the midpoints of their masses, which one law gives alike."""
    kept = {
        tuple(str(each) for column in (needle.hay, needle.needle0, needle.needle1) for each in column): needle
        for needle in needles
    }
    return tuple(kept.values())


def _whole(number: object) -> int:
    assert isinstance(number, int)
    return number


def _number(number: object) -> float:
    assert isinstance(number, float | int)
    return float(number)


NEAR_HAY = 1.2  # omega / hay of a third value, about, where an output tells the target's inputs apart


def swaps_of(described: Mapping[str, object]) -> tuple[SwappedClone, ...]:
    """The swap for every kind of pair of a described law; none where that does not tell."""
    if described["randomizer"] == "static":
        epsilon0 = described["epsilon0"]
        assert isinstance(epsilon0, float)
        return (static_swap(epsilon0),) if described.get("delta0", 0.0) == 0.0 else ()
    supports = supports_of(described)
    return () if supports is None else support_swaps(supports)


def support_swaps(supports: Supports) -> tuple[SwappedClone, ...]:
    """For every kind of pair: omega is the base law, less by a factor theta where an output
    supports one of x0 and x1 only, and more by E where it supports every input.

    All tables in which the pair has one joint law are kinds of one pair; they come in both orders.
    """
    pairs: dict[tuple[str, ...], list[Mapping[Pattern, arb]]] = {}
    for table in supports.tables:
        two = _pair(table)
        pairs.setdefault(tuple(str(two[key]) for key in sorted(two)), []).append(table)
    return tuple(_support_swap(supports, tables) for tables in pairs.values())


def _pair(table: Mapping[Pattern, arb]) -> dict[Pattern, arb]:
    """Without the third input."""
    two: dict[Pattern, arb] = {}
    for pattern, base in table.items():
        two[pattern[:2]] = two.get(pattern[:2], arb(0)) + base
    return two


def _support_swap(supports: Supports, tables: list[Mapping[Pattern, arb]]) -> SwappedClone:
    growth, z, universal = supports.growth, supports.normaliser, supports.universal
    two = _pair(tables[0])
    agreed = two.get((0, 0), arb(0)) + two.get((1, 1), arb(0)) + universal * growth
    split = two.get((0, 1), arb(0)) + two.get((1, 0), arb(0))
    theta = arb(1)
    if agreed > 0:  # any theta will do; this one leaves a large kappa
        room = (z - NEAR_HAY * split).max(NEAR_HAY * agreed)
        theta = (NEAR_HAY * agreed / room).mid()
    norm = agreed + theta * split

    def slot(table: Mapping[Pattern, arb], holder: int | None) -> Slot:
        rows = []
        for pattern, base in table.items():
            if base.is_zero():
                continue
            favor = 0 if holder is None else pattern[holder]
            clone = base * (theta if pattern[0] != pattern[1] else 1) / norm
            rows.append(
                (base * growth ** pattern[0] / z, base * growth ** pattern[1] / z, base * growth**favor / z, clone)
            )
        if not universal.is_zero():
            everybody = universal * growth / z
            rows.append((everybody, everybody, everybody, universal * growth / norm))
        return Slot(*(tuple(column) for column in zip(*rows, strict=True)))

    thirds = [slot(table, 2) for table in tables if len(next(iter(table))) == 3]
    kinds = (slot(two, 0), slot(two, 1), *thirds)
    least = slot(two, None)
    none = tuple(arb(0) for _ in least.hay)
    return SwappedClone("swap", _kappa(kinds), Slot(least.needle0, least.needle1, least.taken, none), kinds, least)


def _kappa(kinds: tuple[Slot, ...]) -> arb:
    ratios = [
        (hay / taken).lower() for kind in kinds for hay, taken in zip(kind.hay, kind.taken, strict=True) if taken > 0
    ]
    least = ratios[0]
    for each in ratios[1:]:
        least = least.min(each)
    return least


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
    kinds = []
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
        kinds.append(
            Slot(
                tuple(a * share for (a, _), share in chosen),
                tuple(b * share for (_, b), share in chosen),
                tuple(share for _, share in chosen),
                tuple(share * (a + b) / 2 for (a, b), share in chosen),
            )
        )
    half, none = arb(0.5), arb(0)
    first = Slot((e / (e + 1), 1 / (e + 1)), (1 / (e + 1), e / (e + 1)), (half, half), (none, none))
    return SwappedClone("swap", (1 / e).lower(), first, tuple(kinds), None)
