"""Any randomizer at all: only its local privacy parameter is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from shuffledp._types import End
from shuffledp.errors import InvalidInput, check_probability
from shuffledp.randomizers.family import EPSILON0, Family, Named, Parameter, Way, register
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.parameters import check_epsilon0, checked
from shuffledp.randomizers.randomizer import Atoms, Randomizer
from shuffledp.sampling import Rng

__all__ = ["AnyLDP"]

CHANCE = "delta0 is the chance that one report's guarantee fails; leave it out for a pure guarantee."


def _check_adaptive(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(
            f"adaptive must be True or False, got {value!r}. It is False if the randomizer is fixed before any report "
            f"is made."
        )
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyLDP(Randomizer):
    """Any (epsilon0, delta0)-LDP randomizer, shared by all users or chosen adaptively; with
    ``adaptive=False`` one that is fixed in advance.

    Adaptive means the model of Feldman, McMillan and Talwar 2020: a secret, uniformly random order
    of the users is drawn first, and the randomizer of each position may depend on the reports
    before it. Users who report in a known order and are shuffled afterwards are not covered if
    their randomizers depend on earlier reports: such reports can show who sent them (theory,
    "any randomizer").

    For delta0 = 0 the haystack of binary randomized response dominates: gamma = 2 / (E + 1),
    uniform hay on two classes (theory, section 2b; the bound of Feldman, McMillan and Talwar 2022,
    by another proof). For delta0 > 0 only the clones pair is proven, with an addition to delta
    (Feldman et al. 2020, Thm 3.8): use ``clones()``.

    A randomizer that is fixed before any report is made, the same for all users, leaks less: the
    first-clone swap then meets what binary and ternary response leak. Users may have different ones
    if each law of each user is within a factor of e^epsilon0 of every law of every other.

    >>> AnyLDP(epsilon0=4.0).describe()
    {'randomizer': 'any', 'epsilon0': 4.0, 'delta0': 0.0}
    >>> AnyLDP(epsilon0=4.0, adaptive=False).describe()
    {'randomizer': 'static', 'epsilon0': 4.0, 'delta0': 0.0}
    """

    epsilon0: float = field(metadata=checked(check_epsilon0))
    delta0: float = field(metadata=checked(partial(check_probability, "delta0", zero=True, remedy=CHANCE)), default=0.0)

    adaptive: bool = field(metadata=checked(_check_adaptive), default=True)

    @property
    def known(self) -> bool:
        """Only epsilon0 and delta0 are known."""
        return False

    @property
    def gamma(self) -> float:
        """2 / (E + 1); e^-epsilon0, that of the clones, if delta0 > 0."""
        return 2.0 / (math.exp(self.epsilon0) + 1.0) if self.delta0 == 0.0 else math.exp(-self.epsilon0)

    @property
    def worst_pair(self) -> tuple[object, object]:
        """Nothing is known of the inputs."""
        return ("any", "any")

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        """The dominating haystack of the pure case, binary randomized response with its own
        blanket; none if delta0 > 0.

        >>> AnyLDP(epsilon0=1.0, delta0=1e-9).blankets("upper")
        ()
        """
        pure = self._two_classes("binary randomized response", 2.0 / (math.exp(self.epsilon0) + 1.0))
        return (pure,) if self.delta0 == 0.0 else ()

    def clones(self) -> Atoms:
        """The clones pair, hay e^-epsilon0 in all (Feldman, McMillan and Talwar 2020, Thm 3.2);
        looser than ``blankets``.

        >>> AnyLDP(epsilon0=math.log(4)).clones().hay.tolist()
        [0.125, 0.125]
        """
        return self._two_classes("clones", math.exp(-self.epsilon0))

    def datasets(self) -> tuple[Atoms, ...]:
        """Those of 3-RR: what one epsilon0-LDP randomizer leaks, "any" must allow for (also with
        delta0 > 0).
        """
        return KRR(k=3, epsilon0=self.epsilon0).datasets()

    def describe(self) -> dict[str, object]:
        name = "any" if self.adaptive else "static"
        return {"randomizer": name, "epsilon0": self.epsilon0, "delta0": self.delta0}

    @property
    def realised(self) -> NoReturn:
        """Nothing runs: "any" names no law."""
        raise _no_law()

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NoReturn:
        """Refused: "any" names no law."""
        raise _no_law()

    def _two_classes(self, name: str, gamma: float) -> Atoms:
        rare = 1.0 / (math.exp(self.epsilon0) + 1.0)
        common = 1.0 / (math.exp(-self.epsilon0) + 1.0)
        return Atoms(name, np.full(2, gamma / 2.0), np.array([common, rare]), np.array([rare, common]))


DELTA0 = Parameter("delta0", "number", "1e-12", "the local delta, if a report is only (epsilon0, delta0)-private")
register(
    Family(
        make=AnyLDP,
        names=(
            Named(
                name="any",
                title="any randomizer with that epsilon0, also adaptive in a secret random order",
                ways=(Way((EPSILON0,), AnyLDP),),
                optional=(DELTA0,),
            ),
            Named(
                name="static",
                title="any randomizer with that epsilon0, fixed in advance",
                ways=(Way((EPSILON0,), partial(AnyLDP, adaptive=False)),),
                optional=(DELTA0,),
            ),
        ),
    )
)


def _no_law() -> InvalidInput:
    return InvalidInput(
        "the randomizer must name a law to draw from, got AnyLDP. Choose one, such as KRR(k=16, epsilon0=4.0), or "
        "FromMatrix(rows)."
    )
