"""Any randomizer at all: only its local privacy is known."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from shuffledp._types import End, Floats
from shuffledp.errors import InvalidInput, check_probability
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.parameters import check_epsilon0, checked
from shuffledp.randomizers.randomizer import Atoms, Randomizer
from shuffledp.sampling import Rng

CHANCE = "delta0 is the chance that one report's guarantee fails; leave it out for a pure guarantee."


def _check_adaptive(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"adaptive must be True or False, got {value!r}. False: the randomizer is fixed in advance.")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyRandomizer(Randomizer):
    """No law, and only a bound on it: there is nothing to draw from."""

    epsilon0: float = field(metadata=checked(check_epsilon0))
    delta0: float = field(metadata=checked(partial(check_probability, "delta0", zero=True, remedy=CHANCE)), default=0.0)

    @abstractmethod
    def clones(self) -> Atoms:
        """A haystack that dominates purely private reports with clones, also with delta0 > 0."""

    @abstractmethod
    def distance(self, n: int) -> float:
        """How far all reports are at most, in total variation, from such ones."""

    @property
    def known(self) -> bool:
        """Only epsilon0 and delta0 are known."""
        return False

    @property
    def worst_pair(self) -> tuple[object, object]:
        return ("any", "any")

    @property
    def realised(self) -> NoReturn:
        self.randomize(())

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NoReturn:
        raise InvalidInput(
            f"the randomizer must name a law to draw from, got {type(self).__name__}. Choose one, such as KRR."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyLDP(AnyRandomizer):
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

    adaptive: bool = field(metadata=checked(_check_adaptive), default=True)

    @property
    def gamma(self) -> float:
        """2 / (E + 1); e^-epsilon0, that of the clones, if delta0 > 0."""
        return 2.0 / (math.exp(self.epsilon0) + 1.0) if self.delta0 == 0.0 else math.exp(-self.epsilon0)

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        """The dominating haystack, binary response with its own blanket; none if delta0 > 0.

        >>> AnyLDP(epsilon0=1.0, delta0=1e-9).blankets("upper")
        ()
        """
        pure = self._two_classes("binary randomized response", 2.0 / (math.exp(self.epsilon0) + 1.0))
        return (pure,) if self.delta0 == 0.0 else ()

    def clones(self) -> Atoms:
        """The clones pair, hay e^-epsilon0 (Feldman, McMillan and Talwar 2020, Thm 3.2).

        >>> AnyLDP(epsilon0=math.log(4)).clones().hay.tolist()
        [0.125, 0.125]
        """
        return self._two_classes("clones", math.exp(-self.epsilon0))

    def distance(self, n: int) -> float:
        """Of n reports (Feldman et al. 2020, Thm 3.8)."""
        return (1.0 + 0.5 * math.exp(-self.epsilon0)) * n * self.delta0

    def datasets(self) -> tuple[Atoms, ...]:
        """Those of 3-RR, an epsilon0-LDP randomizer: "any" must allow for it."""
        return KRR(k=3, epsilon0=self.epsilon0).datasets()

    def describe(self) -> dict[str, object]:
        name = "any" if self.adaptive else "static"
        return {"randomizer": name, "epsilon0": self.epsilon0, "delta0": self.delta0}

    def _two_classes(self, name: str, gamma: float) -> Atoms:
        rare = 1.0 / (math.exp(self.epsilon0) + 1.0)
        common = 1.0 / (math.exp(-self.epsilon0) + 1.0)
        return Atoms(name, np.full(2, gamma / 2.0), np.array([common, rare]), np.array([rare, common]))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyDeletionLDP(AnyRandomizer):
    """Any deletion (epsilon0, delta0)-DP randomizer (Feldman, McMillan and Talwar 2020, Def. 3.6):
    whatever the input, a report's distribution is (epsilon0, delta0)-close, in both directions, to
    one reference distribution.

    Two inputs are then up to 2 epsilon0 apart (``replaced``), and published bounds about
    epsilon0-LDP are asked with that. The reference hides more: with probability e^-epsilon0 every
    report is drawn from it (theory, "Deletion"). It is shared by all users; randomizers that are
    chosen adaptively in a secret random order may each have their own.

    >>> AnyDeletionLDP(epsilon0=1.0).describe()
    {'randomizer': 'deletion', 'epsilon0': 1.0, 'delta0': 0.0}
    """

    @property
    def replaced(self) -> tuple[float, float]:
        """2 epsilon0 and (1 + e^epsilon0) delta0: by way of the reference."""
        return 2.0 * self.epsilon0, min((1.0 + math.exp(self.epsilon0)) * self.delta0, 1.0)

    @property
    def gamma(self) -> float:
        """e^-epsilon0."""
        return math.exp(-self.epsilon0)

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        """The dominating haystack of the pure case; none if delta0 > 0."""
        return (self.clones(),) if self.delta0 == 0.0 else ()

    def clones(self) -> Atoms:
        """e^-epsilon0 of the reference as hay: a likely class per input, and one for neither.

        >>> AnyDeletionLDP(epsilon0=math.log(3)).clones().needle0.round(3).tolist()
        [0.75, 0.083, 0.167]
        """
        reference, x0, x1 = self._classes()
        return Atoms("deletion", self.gamma * reference, x0, x1)

    def distance(self, n: int) -> float:
        """delta0 for the target (Lemma 3.7), and e^-epsilon0 delta0 for everyone else, of whose
        reports only what they have of the reference counts.
        """
        return (1.0 + (n - 1) * self.gamma) * self.delta0

    def datasets(self) -> tuple[Atoms, ...]:
        """Two inputs that leak what ``clones`` says; all others hold one of them, or a third value
        whose reports are likely where those of the two are not.
        """
        reference, x0, x1 = self._classes()
        near = max(0.5 * (2.0 - math.exp(self.epsilon0)), 0.0)  # what is likely for it, in the two classes
        likely = np.array([near, near, min(reference[0] / reference[2], 1.0)])
        share = np.concatenate([likely, 1.0 - likely])
        some = share > 0.0
        split = [(np.tile(each, 2) * share)[some] for each in (reference, x0, x1)]
        times = np.exp(np.repeat([self.epsilon0, -self.epsilon0], 3))[some]
        third = Atoms("all others hold a third value", split[0] * times, split[1], split[2])
        return Atoms("all others hold x0", x0, x0, x1), Atoms("all others hold x1", x1, x0, x1), third

    def describe(self) -> dict[str, object]:
        return {"randomizer": "deletion", "epsilon0": self.epsilon0, "delta0": self.delta0}

    def _classes(self) -> tuple[Floats, Floats, Floats]:
        """The reference distribution, and those of two inputs."""
        growth = math.exp(self.epsilon0)
        likely, rest = 1.0 / (growth + 1.0), math.tanh(0.5 * self.epsilon0)
        x0 = np.array([growth * likely, likely / growth, rest / growth])
        return np.array([likely, likely, rest]), x0, x0[[1, 0, 2]]


register(Family(make=AnyLDP))
register(Family(make=AnyDeletionLDP))
