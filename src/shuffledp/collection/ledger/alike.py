"""Mechanisms that are alike, counted as one that is harsher than all of them, or gentler.

Both moves are safe, because the gentler mechanism can be computed from the harsher one's output:

* more users: add the other users' reports, and shuffle again;
* a smaller epsilon0 of the same family: randomize every report again. Families that mix a fixed law
  with noise replace a report by noise with some probability; fixed means the same k, hash range,
  subset size, and Hadamard blocks, which epsilon0 chooses: across such a step a smaller epsilon0
  may leak more. Unary encodings pass every bit through one binary channel: for RAPPOR another
  symmetric flip, and for OUE, from q to q' with p = 1/2, one that keeps a bit with probability (1 -
  q - q') / (1 - 2 q).

So any group of one kind has a harshest and a gentlest corner. Narrow groups cost little; if there
are too many of them, they are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.mechanism import Shuffled, shuffle

__all__ = ["AtMost", "Group", "Mechanism", "corner", "grouped"]

MOST = 64  # groups, if there are no more kinds than that
COMPARED = 512  # groups are made wider until there are at most so many, and only then compared in pairs
USERS = 1.05  # alike: honest users within this factor, which is 2.5 % of epsilon
STRENGTH = 0.05  # alike: epsilon0 within this much, or this share of it if it is below 1; again about 2.5 % of epsilon

Mechanism = tuple[Shuffled, int]
Group = list[Mechanism]


class AtMost(Shuffled):
    """A mechanism that shows at least as much as what ran: no lower end follows from it."""


def grouped(mechanisms: Group) -> list[Group]:
    """Alike mechanisms together: of one kind, with epsilon0 and honest users in narrow ranges, or
    in wider ones if the groups were too many.
    """
    groups, width = _runs(mechanisms, 1.0), 1.0
    while len(groups) > COMPARED and width < COMPARED:
        width *= 2.0
        groups = _runs(mechanisms, width)
    return _joined(groups) if len(groups) > MOST else groups


def corner(group: Group, *, harsh: bool) -> Mechanism:
    """A mechanism at least as harsh as every one in the group, or at most as harsh, run as often as
    all of them.
    """
    strongest, fewest = (max, min) if harsh else (min, max)
    randomizer = strongest((each.randomizer for each, _ in group), key=lambda each: each.epsilon0)
    users = fewest(each.honest for each, _ in group)
    return shuffle(randomizer, n=users), sum(rounds for _, rounds in group)


def _runs(mechanisms: Group, width: float) -> list[Group]:
    """Groups of one kind whose ranges are ``width`` times the narrow ones."""

    def close(first: Shuffled, each: Shuffled) -> bool:
        low, high = first.randomizer.epsilon0, each.randomizer.epsilon0
        return low == high or high - low <= width * STRENGTH * min(1.0, low)  # both may be infinite

    groups: list[Group] = []
    for alike in _split(mechanisms, lambda each: repr(_kind(each)), lambda first, each: _kind(first) == _kind(each)):
        for strong in _split(alike, lambda each: each.randomizer.epsilon0, close):
            groups += _split(
                strong, lambda each: each.honest, lambda first, each: each.honest <= USERS**width * first.honest
            )
    return groups


def _joined(groups: list[Group]) -> list[Group]:
    """Joined until ``MOST`` are left, or one of every kind: each time the two whose union adds
    least to the variance of the loss.
    """
    groups, numbers = list(groups), dict[Hashable, int]()
    kinds = np.array([numbers.setdefault(_kind(group[0][0]), len(numbers)) for group in groups])
    corners = [corner(group, harsh=True) for group in groups]
    strength, users, rounds = (
        np.array(column, dtype=np.float64)
        for column in zip(*((each.randomizer.epsilon0, each.honest, times) for each, times in corners), strict=True)
    )

    def added(one: int) -> Floats:
        """What joining one group with every other would add; with itself, or with another kind, it
        is not possible.
        """
        union = _variance(np.maximum(strength, strength[one]), np.minimum(users, users[one])) * (rounds + rounds[one])
        alone = _variance(strength, users) * rounds
        possible = (kinds == kinds[one]) & (rounds > 0.0) & (np.arange(rounds.size) != one)
        return np.where(possible, union - alone - alone[one], np.inf)

    costs = np.stack([added(one) for one in range(len(groups))])
    for _ in range(len(groups) - MOST):
        one, other = divmod(int(costs.argmin()), len(groups))
        if costs[one, other] == np.inf:
            break
        groups[one], groups[other] = groups[one] + groups[other], []
        strength[one], users[one] = max(strength[one], strength[other]), min(users[one], users[other])
        rounds[one], rounds[other] = rounds[one] + rounds[other], 0.0
        costs[one], costs[other] = added(one), np.inf
        costs[:, one], costs[:, other] = costs[one], np.inf
    return [group for group in groups if group]


def _variance(strength: Floats, users: Floats) -> Floats:
    """Roughly that of the loss of one round. It only chooses which groups are joined; any choice is
    safe.
    """
    return np.asarray(np.minimum(strength**2, 4.0 * np.sinh(np.minimum(strength, 60.0) / 2.0) ** 2 / users))


def _kind(mechanism: Shuffled) -> Hashable:
    """What randomizers must share so that the one with the smaller epsilon0 is gentler."""
    return type(mechanism.randomizer), mechanism.randomizer.gentler


def _split(
    mechanisms: Group, key: Callable[[Shuffled], Any], alike: Callable[[Shuffled, Shuffled], bool]
) -> list[Group]:
    """Runs, in the order of ``key``, of mechanisms that are alike to the first of their run."""
    runs: list[Group] = []
    for each in sorted(mechanisms, key=lambda each: key(each[0])):
        if runs and alike(runs[-1][0][0], each[0]):
            runs[-1].append(each)
        else:
            runs.append([each])
    return runs
