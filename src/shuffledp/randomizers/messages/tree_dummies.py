"""Dummies from the shuffler in all levels of a tree: of a value that is one of many in a row, such
as the bin of a number, people send where it lies coarsely, finely, and in between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput, check_count
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.messages.added_dummies import (
    AddedDummies,
    DummiesKind,
    check_center,
    check_dummies_kind,
    check_factor,
    check_rate,
)
from shuffledp.randomizers.messages.message_law import MessageLaw
from shuffledp.randomizers.messages.shared_noise import check_no_epsilon0
from shuffledp.randomizers.messages.shuffler_dummies import ShufflerDummies
from shuffledp.randomizers.mixing import histogram
from shuffledp.randomizers.parameters import check_domain, checked
from shuffledp.randomizers.reporting import Ints
from shuffledp.sampling import Source

__all__ = ["MOST_LEVELS", "TreeDummies"]

MOST_LEVELS = 16


def check_levels(value: object) -> int:
    """Return ``value`` as a number of levels."""
    remedy = "It counts the messages that a person sends, one for each level; 1 is all values at once."
    return check_count("levels", value, least=1, most=MOST_LEVELS, remedy=remedy)


def check_branches(value: object) -> int:
    """Return ``value`` as how many nodes a node of the next coarser level holds."""
    return check_count("branches", value, least=2, remedy="So many nodes of a level make one of the next coarser.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeDummies(AddedDummies):
    """A message for each of ``levels`` levels: which of its nodes holds the value. A node of the
    last level is a value, one of any other level is ``branches`` nodes of the next in a row, and
    the last of a level may be of fewer. The shuffler adds a random number of dummies for every node
    of every level (see ``ShufflerDummies``), and mixes the messages of all levels and people, so
    that nobody can tell which came from one person.

    Nodes are numbered through all levels, coarse ones first.

    >>> law = TreeDummies(k=16, levels=2, branches=4, center=28, left=0.6, right=0.6)
    >>> law.sizes, law.randomize([0, 7, 15]).tolist()
    ((4, 16), [[0, 4], [1, 11], [3, 19]])
    """

    k: int = field(metadata=checked(check_domain))
    levels: int = field(metadata=checked(check_levels))
    branches: int = field(metadata=checked(check_branches))
    kind: DummiesKind = field(default="geometric", metadata=checked(check_dummies_kind))
    center: int = field(default=0, metadata=checked(check_center))
    left: float = field(default=0.0, metadata=checked(check_factor("left")))
    right: float = field(default=0.0, metadata=checked(check_factor("right")))
    rate: float = field(default=0.0, metadata=checked(check_rate))
    epsilon0: float = field(default=math.inf, metadata=checked(check_no_epsilon0))

    def __post_init__(self) -> None:
        super(TreeDummies, self).__post_init__()  # a class with slots is made twice
        if self.branches ** (self.levels - 1) >= self.k:
            raise InvalidInput(
                f"levels must each have two nodes or more, got {self.levels} of {self.branches} branches for "
                f"{self.k:,} values. Use fewer levels, or fewer branches."
            )
        self._check_numbers()

    @property
    def messages(self) -> int:
        return self.levels

    @property
    def true_messages(self) -> int:
        return self.levels

    @property
    def widths(self) -> tuple[int, ...]:
        """How many values a node of each level holds."""
        return tuple(self.branches**up for up in reversed(range(self.levels)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many nodes each level has."""
        return tuple(-(-self.k // width) for width in self.widths)

    @property
    def firsts(self) -> tuple[int, ...]:
        """The first node of each level."""
        return tuple(sum(self.sizes[:level]) for level in range(self.levels))

    @property
    def places(self) -> int:
        return sum(self.sizes)

    @property
    def seen_as(self) -> tuple[MessageLaw, int]:
        """Given the data the counts of the levels are independent, and values that differ on the
        coarsest level already differ on all: each level is like a round of its own. How many nodes
        it has makes no difference to what it hides.
        """
        numbers = {name: getattr(self, name) for name in self._describing}
        return ShufflerDummies(k=self.sizes[0], **numbers), self.levels

    def describe(self) -> dict[str, object]:
        names = ("k", "levels", "branches", *self._describing)
        return {"randomizer": "tree", **{name: getattr(self, name) for name in names}}

    def nodes(self, values: NDArray[Any]) -> Ints:
        """The node of each value in each level: a row per value."""
        nodes: Ints = values.astype(np.int64)[:, None] // np.array(self.widths) + np.array(self.firsts)
        return nodes

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        nodes = self.nodes(values).astype(self.message.dtype)
        return nodes[:, 0] if self.levels == 1 else nodes

    def _tally(self, messages: NDArray[Any]) -> Ints:
        return histogram(messages, self.places)


register(
    Family(
        make=TreeDummies,
        law="tree",
        parameters=("k", "levels", "branches", "kind", "center", "left", "right", "rate", "epsilon0"),
        sentence="the truth is sent, coarsely and finely, in several messages, and the shuffler adds dummies to every "
        "level: messages of its own that nobody can tell from the others",
    )
)
