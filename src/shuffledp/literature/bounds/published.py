"""A published bound, described: who proved it, of what, on which conditions, and whether it
survived our checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from shuffledp._types import Adversary, End
from shuffledp.accounting.bisection import halve, mean
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.mechanism import Shuffled
from shuffledp.accounting.reductions import ADVERSARIES
from shuffledp.accounting.rounds import Rounds
from shuffledp.errors import DoesNotApply, InvalidInput, check_delta, check_epsilon, check_rounds, check_users
from shuffledp.randomizers import KRR, Randomizer
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.randomizers.parameters import LARGEST_EPSILON0

__all__ = ["Published", "Setting", "Status", "require"]

Status = Literal["proven", "unproven", "invalid"]
EPSILONS = [2.0**i for i in range(-30, 10)]  # where a bound on delta is tried before it is bisected
BISECTED = 60  # times: to the last digits
KNOWN: dict[str, tuple[str, ...]] = {
    "status": ("proven", "unproven", "invalid"),
    "side": ("upper", "lower"),
    "adversary": ADVERSARIES,
    "rounds": ("one", "any"),
    "messages": ("one", "any"),
}
LOG_DELTAS = [i * math.log(10.0) for i in range(-250, 0)] + [math.log(0.5), math.log(0.999)]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a bound is asked about: ``rounds`` rounds in which n users send one report each through
    a shuffler.
    """

    randomizer: Randomizer
    n: int
    rounds: int = 1
    adversary: Adversary = "shuffled"

    def __post_init__(self) -> None:
        check_users(self.n)
        check_rounds(self.rounds)

    @classmethod
    def of(cls, mechanism: Guarantee) -> Setting:
        """The setting of a mechanism; of its n users only the honest ones count, as the others hide
        nobody.
        """
        parts = [part for part, _ in mechanism.parts if isinstance(part, Shuffled)]
        if any(part.view != "reports" for part in parts):
            raise InvalidInput(
                f"published bounds are about shuffled reports, got {mechanism!r}. Compare the same with "
                f'view="reports"; its explain(...) says what that adds.'
            )
        if isinstance(mechanism, Shuffled):
            return cls(mechanism.randomizer, mechanism.honest, 1, mechanism.adversary)
        if isinstance(mechanism, Rounds) and len(mechanism.parts) == 1:
            ((part, rounds),) = mechanism.parts
            if isinstance(part, Shuffled):
                return cls(part.randomizer, part.honest, rounds, part.adversary)
        raise InvalidInput(
            f"published bounds are about rounds of one mechanism, got {mechanism!r}. Pass shuffle(...), or "
            f"shuffle(...).compose(rounds)."
        )

    @property
    def epsilon0(self) -> float:
        """The local guarantee of one report, for any two inputs, which must be pure."""
        epsilon0, delta0 = self.randomizer.replaced
        pure = math.isfinite(epsilon0) and delta0 == 0.0
        require(pure, "it is about purely private reports, with delta0 = 0", self.randomizer)
        require(epsilon0 <= LARGEST_EPSILON0, f"epsilon0 must be at most {LARGEST_EPSILON0:g}", f"{epsilon0:g}")
        return epsilon0

    @property
    def krr(self) -> KRR:
        """The randomizer, which must be k-ary randomized response."""
        randomizer = self.randomizer
        require(isinstance(randomizer, KRR), "it is about k-ary randomized response", randomizer)
        assert isinstance(randomizer, KRR)
        return randomizer

    def once(self) -> Setting:
        """The same, for one round."""
        return Setting(self.randomizer, self.n, 1, self.adversary)


def require(condition: bool, rule: str, got: object) -> None:
    """Refuse unless a theorem's condition holds; ``rule`` says what must hold."""
    if not condition:
        raise DoesNotApply(f"does not apply here: {rule}, got {got}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One bound of the literature.

    ``covers`` says in words which randomizers it is about and ``conditions`` when it holds; both
    are checked where the number is computed, and outside them ``DoesNotApply`` is raised: there is
    no number then. ``status`` is "proven" (a published proof, and every enumeration agrees),
    "unproven" (its constants are reconstructed, or a step of the proof is missing; ``remark`` says
    which) or "invalid" (enumeration refutes it). A bound states epsilon at a delta, or delta at an
    epsilon, or both; what it does not state is found by bisection. ``cost`` estimates its seconds.
    A bound about ``messages`` other than one of each user says so.
    """

    name: str
    paper: str
    where: str
    covers: str
    conditions: str = "none"
    status: Status
    remark: str = ""
    side: End = "upper"
    adversary: Adversary = "shuffled"
    rounds: Literal["one", "any"] = "one"
    messages: Literal["one", "any"] = "one"
    epsilon_at: Callable[[Setting, float], float] | None = None
    delta_at: Callable[[Setting, float], float] | None = None
    cost: Callable[[Setting], float] | None = None

    @property
    def rests(self) -> str:
        """What keeps its number from being a guarantee, in the words that stand beside it."""
        return "constants from memory" if self.status == "unproven" and "reconstructed" in self.remark else ""

    def __post_init__(self) -> None:
        if self.epsilon_at is None and self.delta_at is None:
            raise InvalidInput(
                f"a bound must compute something, got neither epsilon_at nor delta_at for {self.name!r}. Pass a "
                f"function of (setting, delta) or of (setting, epsilon)."
            )
        for field, known in KNOWN.items():
            if getattr(self, field) not in known:
                raise InvalidInput(
                    f"{field} must be one of {', '.join(known)}, got {getattr(self, field)!r} for {self.name!r}. "
                    f"See shuffledp.literature.bounds.Published for what they mean."
                )

    @property
    def citation(self) -> str:
        """Paper and place."""
        return f"{self.paper}, {self.where}"

    def epsilon(self, setting: Setting, *, delta: float) -> float:
        """The bound on epsilon at ``delta``; ``DoesNotApply`` if it says nothing here."""
        delta = check_delta(delta)
        self._check(setting)
        if self.epsilon_at is not None:
            return self.epsilon_at(setting, delta)
        stated = self.delta_at
        assert stated is not None
        if _holds(lambda: stated(setting, 0.0) <= delta):
            return 0.0
        return self._boundary(lambda epsilon: stated(setting, epsilon) <= delta, [0.0, *EPSILONS])

    def delta(self, setting: Setting, *, epsilon: float) -> float:
        """The bound on delta at ``epsilon``; ``DoesNotApply`` if it says nothing here."""
        epsilon = check_epsilon(epsilon)
        self._check(setting)
        if self.delta_at is not None:
            return self.delta_at(setting, epsilon)
        stated = self.epsilon_at
        assert stated is not None
        return math.exp(self._boundary(lambda log: stated(setting, math.exp(log)) <= epsilon, LOG_DELTAS))

    def seconds(self, setting: Setting) -> float:
        """About how long an answer takes, if there is one."""
        self._check(setting)
        return 0.0 if self.cost is None else self.cost(setting)

    def _check(self, setting: Setting) -> None:
        covered = self.messages == "any" or not isinstance(setting.randomizer, MessageLaw)
        require(covered, "it is about one message of each user", setting.randomizer)
        require(self.rounds == "any" or setting.rounds == 1, "it covers one round", f"{setting.rounds} rounds")
        known, asked = ADVERSARIES.index(self.adversary), ADVERSARIES.index(setting.adversary)
        enough = known >= asked if self.side == "upper" else known <= asked  # who sees more learns more
        require(enough, f"it is about the {self.adversary} adversary", f"the {setting.adversary} one")

    def _boundary(self, holds: Callable[[float], bool], grid: Sequence[float]) -> float:
        """Where ``holds`` begins to be true, found on a grid first and then by bisection; the end
        that keeps the bound a bound is returned.
        """
        if self.side == "lower":  # a point where nothing is said is no evidence of a leak
            holds(grid[0])
        found = next((i for i, at in enumerate(grid) if _holds(lambda at=at: holds(at))), None)  # type: ignore[misc]
        if found is None:
            holds(grid[-1])  # raises the reason, if there is one
            raise DoesNotApply("does not apply here: it says nothing better than that something may leak.")
        if found == 0:
            return grid[0]
        good, bad = halve(
            lambda at: _holds(lambda: holds(at)), grid[found], grid[found - 1], middle=mean, steps=BISECTED
        )
        return good if self.side == "upper" else bad


def _holds(claim: Callable[[], bool]) -> bool:
    try:
        return claim()
    except DoesNotApply:
        return False
