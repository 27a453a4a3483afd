"""Dummies from the shuffler: people send one message each, and the shuffler keeps some of them and
adds messages of its own, as many for each value as a table says (Murakami et al. 2025).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.messages.added_dummies import (
    AddedDummies,
    DummiesKind,
    check_center,
    check_dummies_kind,
    check_factor,
    check_keep,
    check_rate,
)
from shuffledp.randomizers.messages.faked_values import check_light
from shuffledp.randomizers.parameters import check_domain, checked
from shuffledp.sampling import WORD, Source

__all__ = ["ShufflerDummies"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShufflerDummies(AddedDummies):
    """One message per person: the true value, lightly randomized by k-ary randomized response of
    ``epsilon0`` unless that is infinite. The shuffler hands each on with probability ``keep``, and
    adds a random number of dummies for every value.

    ``kind`` "geometric": ``center`` is the likeliest number, and its probability falls by ``left``
    with every step below and by ``right`` above. "poisson": a Poisson number of mean ``rate``. A
    tally begins with the number of people, which the shuffler says apart from the messages.

    >>> import numpy as np
    >>> law = ShufflerDummies(k=3, kind="geometric", center=28, left=0.6, right=0.6)
    >>> sent = law.tally([0, 2, 2])
    >>> sent.tolist(), law.mixed(sent, rng=np.random.default_rng(2)).tolist()
    ([3, 1, 0, 2], [3, 28, 30, 23])
    """

    k: int = field(metadata=checked(check_domain))
    keep: float = field(default=1.0, metadata=checked(check_keep))
    kind: DummiesKind = field(default="geometric", metadata=checked(check_dummies_kind))
    center: int = field(default=0, metadata=checked(check_center))
    left: float = field(default=0.0, metadata=checked(check_factor("left")))
    right: float = field(default=0.0, metadata=checked(check_factor("right")))
    rate: float = field(default=0.0, metadata=checked(check_rate))
    epsilon0: float = field(default=math.inf, metadata=checked(check_light))

    def __post_init__(self) -> None:
        super(ShufflerDummies, self).__post_init__()  # a class with slots is made twice
        self._check_numbers()

    @property
    def places(self) -> int:
        return self.k

    @property
    def kept_threshold(self) -> int:
        return round(Fraction(self.keep) * WORD)

    @property
    def loss_step(self) -> float:
        """A count is likelier for one value than for another by 1 / right above the center, and by
        left below; two counts are compared.
        """
        exact = self.keep == 1.0 and self.epsilon0 == math.inf and 0.0 < self.left * self.right < 1.0
        return -math.log(self.left) - math.log(self.right) if exact else 0.0

    def describe(self) -> dict[str, object]:
        light = () if self.light is None else ("epsilon0",)
        names = ("k", "keep", *self._describing, *light)
        return {"randomizer": "dummies", **{name: getattr(self, name) for name in names}}

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        return self._true(source, values).astype(self.message.dtype, copy=False)


register(
    Family(
        make=ShufflerDummies,
        law="dummies",
        parameters=("k", "keep", "kind", "center", "left", "right", "rate", "epsilon0"),
        sentence="the true value is sent, and the shuffler adds dummies: messages of its own that nobody can tell from "
        "the others",
    )
)
