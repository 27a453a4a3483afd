"""A published bound, described: who proved it, of what, on which conditions, and whether it
survived our checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np

from shuffledp._types import Adversary, End
from shuffledp.accounting.curves import Bound, Envelope
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.inversion import halve, mean
from shuffledp.accounting.reductions import ADVERSARIES
from shuffledp.accounting.rounds import Rounds
from shuffledp.accounting.shuffled import Shuffled
from shuffledp.errors import (
    DoesNotApply,
    InvalidInput,
    Refusal,
    check_delta,
    check_epsilon,
    check_rounds,
    check_users,
    shown,
)
from shuffledp.randomizers import KRR, Randomizer
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.randomizers.parameters import LARGEST_EPSILON0, SMALLEST_EPSILON0

Quantity = Literal["epsilon", "delta"]
Status = Literal["proven", "unproven", "invalid"]
EPSILONS = [2.0**i for i in range(-30, 10)]  # where a bound on delta is tried before it is bisected
BISECTED = 60  # times: to the last digits
RECONSTRUCTED = "reconstructed"
KNOWN: dict[str, tuple[str, ...]] = {
    "status": ("proven", "unproven", "invalid"),
    "side": ("upper", "lower"),
    "adversary": ADVERSARIES,
    "rounds": ("one", "any"),
    "messages": ("one", "any"),
}
TRIED = (0.999, 0.5, 0.2, 0.1, 0.03, 0.009, 1e-3, 1e-4, 1e-5, 1e-6, 1e-9, 1e-12, 1e-20, 1e-50, 1e-100, 1e-250)
LOG_DELTAS = [math.log(delta) for delta in TRIED]  # where a bound on epsilon is tried


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
        if not isinstance(mechanism, Guarantee):
            raise InvalidInput(f"a mechanism must be given, got {shown(mechanism)}. Pass shuffle(randomizer, n=...).")
        parts = [part for part, _ in mechanism.parts if isinstance(part, Shuffled)]
        if any(part.view != "reports" for part in parts):
            remedy = 'Compare the same with view="reports"; its explain(...) says what that adds.'
            raise InvalidInput(Refusal("published bounds are about shuffled reports", repr(mechanism), remedy))
        of_one = isinstance(mechanism, (Shuffled, Rounds)) and len(mechanism.parts) == 1
        part, rounds = mechanism.parts[0] if of_one else (None, 0)
        if isinstance(part, Shuffled):
            return cls(part.randomizer, part.honest, rounds, part.adversary)
        remedy = "Pass shuffle(...), or shuffle(...).compose(rounds)."
        raise InvalidInput(Refusal("published bounds are about rounds of one mechanism", repr(mechanism), remedy))

    @property
    def epsilon0(self) -> float:
        """The local guarantee of one report, for any two inputs, which must be pure."""
        epsilon0, delta0 = self.randomizer.replaced
        pure = math.isfinite(epsilon0) and delta0 == 0.0
        require(pure, "it is about purely private reports, with delta0 = 0", self.randomizer)
        require(epsilon0 > 0.0, "epsilon0 must be positive", "reports that say nothing")
        require(epsilon0 >= SMALLEST_EPSILON0, f"epsilon0 must be at least {SMALLEST_EPSILON0:g}", f"{epsilon0:g}")
        require(epsilon0 <= LARGEST_EPSILON0, f"epsilon0 must be at most {LARGEST_EPSILON0:g}", f"{epsilon0:g}")
        return epsilon0

    @property
    def krr(self) -> KRR:
        """The randomizer, which must be k-ary randomized response."""
        if isinstance(self.randomizer, KRR):
            return self.randomizer
        raise DoesNotApply(f"does not apply here: it is about k-ary randomized response, got {self.randomizer}.")

    def once(self) -> Setting:
        """The same, for one round."""
        return Setting(self.randomizer, self.n, 1, self.adversary)


def require(condition: bool, rule: str, got: object) -> None:
    """Refuse unless a theorem's condition holds; ``rule`` says what must hold."""
    if not condition:
        raise DoesNotApply(f"does not apply here: {rule}, got {got}.")


def enveloped(curve: Callable[[Setting], Envelope]) -> dict[str, Any]:
    """Both questions to a bound, asked of the curve delta(epsilon) that it is."""
    return {
        "epsilon_at": lambda setting, delta: curve(setting).meets(delta),
        "delta_at": lambda setting, epsilon: float(curve(setting)(np.array([epsilon]))[0]),
    }


@dataclass(frozen=True, slots=True)
class Published:
    """One bound of the literature.

    ``covers`` says in words which randomizers it is about and ``conditions`` when it holds; both
    are checked where the number is computed, and outside them ``DoesNotApply`` is raised: there is
    no number then. ``status`` is "proven" (a published proof, and every enumeration agrees),
    "unproven" (it is reconstructed, as its text was not found, or a step of the proof is missing;
    ``remark`` says which) or "invalid" (enumeration refutes it). A bound states epsilon at a delta,
    or delta at an epsilon, or both; what it does not state is found by bisection. ``cost``
    estimates its seconds, and refuses as they do where no wait would help. A bound about
    ``messages`` other than one of each user says so. ``enclosed_at`` gives both ends of the number
    itself, where an algorithm computes it up to an error: see ``enclosure``.
    """

    name: str
    where: str
    covers: str
    _: KW_ONLY
    paper: str
    conditions: str = "none"
    status: Status
    remark: str = ""
    side: End = "upper"
    adversary: Adversary = "shuffled"
    rounds: Literal["one", "any"] = "one"
    messages: Literal["one", "any"] = "one"
    epsilon_at: Callable[[Setting, float], float] | None = None
    delta_at: Callable[[Setting, float], float] | None = None
    enclosed_at: Callable[[Setting, Quantity, float], Bound] | None = None
    cost: Callable[[Setting], float] | None = None

    @property
    def rests(self) -> str:
        """What keeps its number from being a guarantee, in the word that is next to its name
        everywhere: "reconstructed", if its remark begins with that.
        """
        return RECONSTRUCTED if self.remark.startswith(RECONSTRUCTED) else ""

    def __post_init__(self) -> None:
        if self.epsilon_at is None and self.delta_at is None:
            got = f"neither epsilon_at nor delta_at for {self.name!r}"
            remedy = "Pass a function of (setting, delta) or of (setting, epsilon)."
            raise InvalidInput(Refusal("a bound must compute something", got, remedy))
        for field, known in KNOWN.items():
            if getattr(self, field) not in known:
                got = f"{getattr(self, field)!r} for {self.name!r}"
                remedy = "See shuffledp.literature.bounds.Published for what they mean."
                raise InvalidInput(Refusal(f"{field} must be one of {', '.join(known)}", got, remedy))

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
        return self._boundary(lambda epsilon: stated(setting, epsilon), delta, [0.0, *EPSILONS], 0.0, "delta")

    def delta(self, setting: Setting, *, epsilon: float) -> float:
        """The bound on delta at ``epsilon``; ``DoesNotApply`` if it says nothing here."""
        epsilon = check_epsilon(epsilon)
        self._check(setting)
        if self.delta_at is not None:
            return self.delta_at(setting, epsilon)
        stated = self.epsilon_at
        assert stated is not None
        log = self._boundary(lambda log: stated(setting, math.exp(log)), epsilon, LOG_DELTAS, -math.inf, "epsilon")
        return math.exp(log)

    def ask(self, setting: Setting, asked: Quantity, at: float) -> float:
        """One of the two."""
        return self.epsilon(setting, delta=at) if asked == "epsilon" else self.delta(setting, epsilon=at)

    def enclosure(self, setting: Setting, asked: Quantity, at: float) -> Bound | None:
        """Both ends of this bound's own epsilon or delta, if it is known how far its algorithm is
        from them.

        They enclose what the bound states, such as the delta of a pair of distributions, and not
        what the mechanism leaks.
        """
        self._check(setting)
        return None if self.enclosed_at is None else self.enclosed_at(setting, asked, at)

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

    def _boundary(
        self, stated: Callable[[float], float], most: float, grid: Sequence[float], least: float, other: str
    ) -> float:
        """Where ``stated`` begins to be at most ``most``; the end that keeps the bound a bound is
        returned: ``least`` for a lower one that is so on all of the grid.
        """
        silent: list[DoesNotApply] = []

        def holds(at: float) -> bool | None:
            try:
                return stated(at) <= most
            except DoesNotApply as error:
                silent.append(error)
                return None

        tried = ((at, holds(at)) for at in grid)
        downwards = grid[0] > grid[-1]  # then where the first point that is covered is not enough, none is
        first = islice((each for each in tried if each[1] is not None), 1) if downwards else tried
        good = next((at for at, answer in first if answer), None)
        if good is None:
            if len(silent) == len(grid) or (not downwards and holds(grid[-1]) is None):
                raise silent[0 if downwards else -1]  # where its conditions ask for the least
            raise DoesNotApply(f"does not apply here: wherever it applies, its {other} is above {most:g}.")
        bad = grid[-1] if downwards else grid[max(grid.index(good) - 1, 0)]
        if holds(bad):
            return bad if self.side == "upper" else least
        good, bad = halve(lambda at: bool(holds(at)), good, bad, middle=mean, steps=BISECTED)
        if silent and self.side == "lower":  # a point where nothing is said is no evidence of a leak
            raise silent[0]
        return good if self.side == "upper" else bad
