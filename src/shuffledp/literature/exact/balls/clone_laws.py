"""The first-clone swap of a randomizer in balls, from its parameters: the law that is swapped in,
and the kinds of slots that others may be.
"""

from __future__ import annotations

from collections.abc import Mapping

from flint import arb

from shuffledp.literature.exact.balls.ball import ball
from shuffledp.literature.exact.balls.report_laws import Pattern, Supports, supports_of
from shuffledp.literature.exact.balls.swapped_clone import Slot, SwappedClone

__all__ = ["static_swap", "support_swaps", "swaps_of"]

NEAR_HAY = 1.2  # omega / hay of a third value, about, where an output tells the target's inputs apart


def swaps_of(described: Mapping[str, object]) -> tuple[SwappedClone, ...]:
    """The swap for every kind of pair of a law that its name and parameters describe; none where
    they do not tell.
    """
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
