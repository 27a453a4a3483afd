"""Whom the reports of a law support, and what that hides: haystacks and first-clone swaps, in
fractions or in balls alike.

A report is drawn from a base law, in which it *supports* some of the inputs, and is more likely by
one factor if it supports the sender's (docs/theory.md):

    P(report | input x) = base(report) * (high if it supports x else low).

So what two inputs x0 and x1, and a third one x2 that others may hold, can be told apart by is the
pattern of which of them a report supports.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, filterfalse, permutations, product
from typing import Any

from shuffledp.judge.clones import CloneSwap, Row

Pattern = tuple[int, ...]
Table = Mapping[Pattern, Any]
Classes = tuple[tuple[Any, Any, Any], ...]  # hay, needle0, needle1 of every class of reports
NEAR_HAY = 1.2  # the clone's law over that of a third value, about, where a report tells the pair apart


@dataclass(frozen=True, eq=False)
class Supports:
    """``tables`` are the base probabilities of patterns for every kind of (x0, x1, third), without
    those of the reports that support every input, which are ``universal``. ``rounded`` makes a
    number that is chosen by eye one to count with.
    """

    high: Any
    low: Any
    universal: Any
    tables: tuple[Table, ...]
    rounded: Callable[[Any], Any]

    @property
    def blankets(self) -> tuple[Classes, ...]:
        """One haystack per kind of ordered pair, with what all inputs have in common."""
        return self.classes(self.masses(table, None) for table in self.tables)

    @property
    def datasets(self) -> tuple[Classes, ...]:
        """One haystack per kind of pair, order and value that all others hold."""
        holders = range(len(next(iter(self.tables[0]))))
        return self.classes(self.masses(table, holder) for table in self.tables for holder in holders)

    def masses(self, table: Table, holder: int | None) -> dict[tuple[int, int], Any]:
        """Hay by the powers of high / low that the pair's laws have over it: the law of the input
        in place ``holder``, or what all have in common.
        """
        found: dict[tuple[int, int], Any] = {}
        for pattern, base, own, _ in self._cells(table, holder):
            powers = pattern[0] - own, pattern[1] - own
            found[powers] = found.get(powers, 0) + base * (self.high if own else self.low)
        return found

    def classes(self, kinds: Iterable[Mapping[tuple[int, int], Any]]) -> tuple[Classes, ...]:
        """Haystacks of these masses; those that are alike once."""
        growth, found = self.high / self.low, {}
        for kind in kinds:
            rows = tuple((hay, hay * growth**u, hay * growth**v) for (u, v), hay in sorted(kind.items()))
            found[_key(chain.from_iterable(rows))] = rows
        return tuple(found.values())

    @property
    def swaps(self) -> tuple[CloneSwap, ...]:
        """The first-clone swap of every kind of pair, in both orders: the clone's law is the base
        law, less by a factor theta where a report tells the pair apart, and more where it supports
        every input. All tables in which a pair has one joint law are kinds of it.
        """
        pairs: dict[tuple[Any, ...], list[Table]] = {}
        for table in self.tables:
            pairs.setdefault(_key(_pair(table).values()), []).append(table)
        return tuple(map(self._swap, pairs.values()))

    def _swap(self, tables: Sequence[Table]) -> CloneSwap:
        growth, two = self.high / self.low, _pair(tables[0])
        split = two[0, 1] + two[1, 0]
        agreed = two[0, 0] + two[1, 1] + self.universal * growth
        theta = self.rounded(1)
        if agreed > 0:  # any theta will do; this one leaves a large kappa
            theta = self.rounded(NEAR_HAY * agreed / max(1 / self.low - NEAR_HAY * split, NEAR_HAY * agreed))
        norm = agreed + theta * split

        def rows(table: Table, holder: int | None) -> tuple[Row, ...]:
            found = []
            for pattern, base, own, every in self._cells(table, holder):
                clone = growth if every else theta if pattern[0] != pattern[1] else 1
                hay, there, back = (base * (self.high if one else self.low) for one in (own, *pattern[:2]))
                found.append((hay, there, back, base * clone / norm))
            return tuple(found)

        thirds = [rows(table, 2) for table in tables if len(next(iter(table))) == 3]
        least = rows(two, None)
        first = tuple((taken, there, back, 0 * taken) for _, there, back, taken in least)
        return CloneSwap(first, (rows(two, 0), rows(two, 1), *thirds), least)

    def _cells(self, table: Table, holder: int | None) -> Iterable[tuple[Pattern, Any, bool, bool]]:
        """Reports in the base law: pattern, mass, whether it supports the holder, and every one."""
        told = [(each, base, holder is not None and each[holder] == 1, False) for each, base in table.items()]
        return filterfalse(lambda cell: cell[1] == 0, [*told, ((1, 1), self.universal, True, True)])


def _pair(table: Table) -> dict[Pattern, Any]:
    """Without the third input."""
    two: dict[Pattern, Any] = dict.fromkeys(product((0, 1), repeat=2), 0)
    for pattern, base in table.items():
        two[pattern[:2]] += base
    return two


def _key(numbers: Iterable[Any]) -> tuple[Any, ...]:
    """What is alike where numbers are: balls go by their midpoints, which one law gives alike."""
    return tuple(each if isinstance(each, Fraction) else str(each) for each in numbers)


def set_patterns(k: int, size: int, tested: int) -> dict[Pattern, Fraction]:
    """Of all sets of ``size`` of k inputs, the share of those that hold just these of the
    ``tested`` ones, by falling factorials, as binomial coefficients would be long.
    """
    return {
        pattern: Fraction(
            math.perm(size, sum(pattern)) * math.perm(k - size, tested - sum(pattern)), math.perm(k, tested)
        )
        for pattern in product((0, 1), repeat=tested)
    }


def coin_patterns(share: Any, tested: int) -> dict[Pattern, Any]:
    """Every input is supported by itself, with probability ``share``."""
    return {
        pattern: share ** sum(pattern) * (1 - share) ** (tested - sum(pattern))
        for pattern in product((0, 1), repeat=tested)
    }


def sign_patterns(inputs: Sequence[int], blocks: int, columns: int) -> dict[Pattern, Fraction]:
    """The share of the columns of Sylvester matrices that support just these inputs; input x owns
    row 1 + x mod (columns - 1) of block x div (columns - 1).

    Entry (row, column) is -1 to the number of binary digits that both have, which is linear in the
    column's digits: so the signs are all sums of the single digits' ones, and occur equally often.
    """
    places = [divmod(x, columns - 1) for x in inputs]
    mine = {block for block, _ in places}
    counts = dict.fromkeys(product((0, 1), repeat=len(places)), 0)
    counts[(0,) * len(places)] = (blocks - len(mine)) * columns
    for block in mine:
        rows = [row + 1 if each == block else 0 for each, row in places]
        reached = {(0,) * len(rows)}
        for digit in range(max(rows).bit_length()):
            own = [row >> digit & 1 for row in rows]
            reached |= {tuple(a ^ b for a, b in zip(each, own, strict=True)) for each in reached}
        for signs in reached:
            there = tuple(int(row > 0 and sign == 0) for row, sign in zip(rows, signs, strict=True))
            counts[there] += columns // len(reached)
    return {pattern: Fraction(count, blocks * columns) for pattern, count in counts.items()}


def sign_tables(k: int, blocks: int, columns: int) -> tuple[Fraction, tuple[Table, ...]]:
    """``universal``, and the tables of all kinds of triples: what counts is who shares a block, and
    whether three rows of one block multiply to 1, as rows 1, 2, 3 do and rows 1, 2, 4 do not.
    """
    # Column 0 is +1 in every row. In any other column some row 1, 2, 4, ... is -1, and all of these
    # below b are inputs once the block is half full.
    universal, last = Fraction(int(k < columns), blocks * columns), columns - 1
    inputs = sorted({x for x in (0, 1, 2, 3, last, last + 1, 2 * last) if x < k})
    chosen = permutations(inputs, min(k, 3))
    kinds = {tuple(sign_patterns(each, blocks, columns).items()) for each in chosen}
    return universal, tuple({p: m - universal * all(p) for p, m in kind} for kind in sorted(kinds))
