"""What is seen where everybody sends several messages, by listing what every person may send, from the
protocols' own words. Such a law is a dictionary from what is seen to its probability.
``added`` joins independent parts whose numbers add up; the rest says what one person, or the
shuffler, contributes. Numbers may be floats or fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from typing import Any

View = Mapping[tuple[int, ...], Any]


def added(laws: Iterable[View]) -> dict[tuple[int, ...], Any]:
    """The law of a sum of independent vectors."""
    return reduce(_two, (dict(law) for law in laws))


def _two(one: dict[tuple[int, ...], Any], two: View) -> dict[tuple[int, ...], Any]:
    total: dict[tuple[int, ...], Any] = {}
    for (a, p), (b, q) in product(one.items(), two.items()):
        where = tuple(i + j for i, j in zip(a, b, strict=True))
        total[where] = total.get(where, 0) + p * q
    return total


def rounds_of(law: View, rounds: int) -> dict[tuple[int, ...], Any]:
    """Independent rounds side by side."""
    total: dict[tuple[int, ...], Any] = {(): 1}
    for _ in range(rounds):
        total = {a + b: p * q for (a, p), (b, q) in product(total.items(), law.items())}
    return total


def _one(k: int, value: int) -> tuple[int, ...]:
    return tuple(int(y == value) for y in range(k))


def fakes_view(
    values: Sequence[int], k: int, fakes: Sequence[Any], truth: Any = 1, honest: int | None = None
) -> dict[tuple[int, ...], Any]:
    """How often each of k values is named. A person names the own value with probability ``truth``
    and every other value with the same probability; the first ``honest`` people, by default all,
    also send j fakes with probability fakes[j], each a uniform value.
    """
    other = (1 - truth) / (k - 1)
    parts: list[View] = [{_one(k, y): truth if y == value else other for y in range(k)} for value in values]
    number: dict[tuple[int, ...], Any] = {}
    for j, chance in enumerate(fakes):
        for named in product(range(k), repeat=j):
            where = tuple(named.count(y) for y in range(k))
            number[where] = number.get(where, 0) + chance / k**j
    return added([*parts, *[number] * (len(values) if honest is None else honest)])


def dummies_view(
    values: Sequence[int], k: int, dummies: Sequence[Any], keep: Any = 1, truth: Any = 1
) -> dict[tuple[int, ...], Any]:
    """How often each of k values is named if the shuffler keeps a message with probability ``keep``
    and adds j dummies to each value with probability dummies[j].
    """
    other = (1 - truth) / (k - 1)
    nothing = (0,) * k
    parts: list[View] = []
    for value in values:
        kept = {_one(k, y): keep * (truth if y == value else other) for y in range(k)}
        parts.append({**kept, nothing: 1 - keep})
    parts += [
        {tuple(j * int(y == value) for y in range(k)): chance for j, chance in enumerate(dummies)} for value in range(k)
    ]
    return added(parts)


def tree_view(
    values: Sequence[int], k: int, levels: int, branches: int, dummies: Sequence[Any]
) -> dict[tuple[int, ...], Any]:
    """How often each node of a tree over k values is named, level by level, coarse ones first: a
    node holds as many nodes of the next level as there are ``branches``. Everybody names one node
    of each level, and the shuffler adds j dummies to each node with probability dummies[j].
    """
    nodes = [(level, node) for level in range(levels) for node in range(-(-k // branches ** (levels - 1 - level)))]
    parts: list[View] = [
        {tuple(int(value // branches ** (levels - 1 - level) == node) for level, node in nodes): 1} for value in values
    ]
    parts += [
        {tuple(j * int(other == own) for other in nodes): chance for j, chance in enumerate(dummies)} for own in nodes
    ]
    return added(parts)


def signed_share(noise: Sequence[Any], pairs: Sequence[Any]) -> dict[tuple[int, ...], Any]:
    """One person's +1 and -1 beside the own answer: i of one and j of the other with probability
    noise[i] noise[j], and l of both with probability pairs[l].
    """
    share: dict[tuple[int, ...], Any] = {}
    for (i, a), (j, b), (both, c) in product(enumerate(noise), enumerate(noise), enumerate(pairs)):
        where = (i + both, j + both)
        share[where] = share.get(where, 0) + a * b * c
    return share


def signed_view(values: Sequence[int], share: View, honest: int | None = None) -> dict[tuple[int, ...], Any]:
    """How many +1 and how many -1 are seen; the first ``honest`` people add a share."""
    holders: list[View] = [{(value, 0): 1} for value in values]
    return added([*holders, *[share] * (len(values) if honest is None else honest)])


def shares_view(values: Sequence[int], modulus: int, messages: int) -> dict[tuple[int, ...], Any]:
    """The multiset of all shares, as how often each number below ``modulus`` occurs: each person's
    are uniform but for their sum, the own value.
    """
    parts = []
    for value in values:
        part: dict[tuple[int, ...], Any] = {}
        for shares in vectors_with_sum(messages, modulus, value):
            where = tuple(shares.count(y) for y in range(modulus))
            part[where] = part.get(where, 0) + 1 / modulus ** (messages - 1)
        parts.append(part)
    return added(parts)


def vectors_with_sum(size: int, modulus: int, total: int) -> Iterator[tuple[int, ...]]:
    """All vectors of numbers below ``modulus`` that add up to ``total``, modulo that."""
    for first in product(range(modulus), repeat=size - 1):
        yield (*first, (total - sum(first)) % modulus)
