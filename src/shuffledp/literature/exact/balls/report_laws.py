"""The laws of reports in balls, from their parameters: who is supported by an output, counted, and
e^epsilon0 as a ball.

An output of a support randomizer is E = e^epsilon0 times as likely for the inputs that it supports
(docs/theory.md). So all that a haystack needs is the base probability of every pattern of which of
the target's two inputs, and of a third that others may hold, are supported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

from flint import arb

from shuffledp.literature.exact.balls.ball import Exact, ball
from shuffledp.literature.exact.balls.needle import Needle

__all__ = ["Kinds", "Pattern", "Supports", "kinds_of", "kinds_of_table", "supports_of"]

Pattern = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Kinds:
    """The haystacks of a randomizer: every kind of pair against what all inputs have in common,
    and against others who all hold one value.
    """

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
    """The haystacks of a randomizer from its name and parameters, as ``describe`` gives them; None
    if these do not tell.

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
    tested = min(k, 3)
    table = {
        pattern: ball(
            Fraction(math.perm(size, sum(pattern)) * math.perm(k - size, tested - sum(pattern)), math.perm(k, tested))
        )
        for pattern in product((0, 1), repeat=tested)
    }
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
    """Columns of B Sylvester matrices of b columns; input x owns row 1 + x mod (b - 1) of matrix x
    div (b - 1).

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
        tuple(sorted(_sign_patterns([divmod(x, last) for x in chosen], blocks, columns).items()))
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


def _sign_patterns(places: Sequence[tuple[int, int]], blocks: int, columns: int) -> dict[Pattern, int]:
    """How many columns support just these of the inputs at (block, row - 1)."""
    counts: dict[Pattern, int] = {(0,) * len(places): (blocks - len({block for block, _ in places})) * columns}
    for block in {block for block, _ in places}:
        own = [row + 1 if each == block else 0 for each, row in places]
        width = max(own).bit_length()
        for column in _columns_of(own, width):
            supported = tuple(int(row > 0 and (row & column).bit_count() % 2 == 0) for row in own)
            counts[supported] = counts.get(supported, 0) + columns // 2 ** len(_digits(own, width))
    return counts


def _digits(rows: Sequence[int], width: int) -> list[int]:
    """Of digits of a column that act alike on these rows, one."""
    seen: dict[tuple[int, ...], int] = {}
    for digit in range(width):
        seen.setdefault(tuple(row >> digit & 1 for row in rows), digit)
    return [digit for signature, digit in seen.items() if any(signature)]


def _columns_of(rows: Sequence[int], width: int) -> Iterator[int]:
    """One column for every combination of the digits that act differently; all occur equally
    often.
    """
    digits = _digits(rows, width)
    for chosen in product((0, 1), repeat=len(digits)):
        yield sum(bit << digit for bit, digit in zip(chosen, digits, strict=True))


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
