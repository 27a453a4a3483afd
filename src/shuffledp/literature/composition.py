"""Composition theorems that know one round only by its (epsilon, delta): basic, advanced, and
Kairouz, Oh and Viswanath's.
"""

import math
from dataclasses import replace
from typing import Literal

from shuffledp.accounting.inversion import halve, mean
from shuffledp.errors import LARGEST_EPSILON, LEAST_DELTA, DoesNotApply, InvalidInput, Refusal
from shuffledp.literature.bound import Published, Setting, require

Theorem = Literal["basic", "advanced"]
COMPOSITIONS: tuple[Theorem, ...] = ("basic", "advanced")
SPLITS = (0.1, 0.5, 0.9)  # the share of delta that pays for the rounds' joint deviation
SEARCHED = 14  # times: where the rounds' deltas and the slack are alike, the failure is at most twice the least
SOURCES: dict[Theorem, str] = {
    "basic": "basic composition (Dwork and Roth 2014, Thm 3.16)",
    "advanced": (
        "the best of basic and advanced composition (Dwork and Roth 2014, Thms 3.16 and 3.20; Kairouz, Oh and "
        "Viswanath 2015)"
    ),
}


def basic(epsilon: float, delta: float, rounds: int) -> tuple[float, float]:
    """epsilon and delta add up (Dwork and Roth 2014, Thm 3.16).

    >>> basic(0.25, 1e-9, 4)
    (1.0, 4e-09)
    """
    return rounds * epsilon, min(rounds * delta, 1.0)


def advanced(epsilon: float, delta: float, rounds: int, slack: float) -> tuple[float, float]:
    """k rounds of (epsilon, delta) are (sqrt(2k log(1/slack)) epsilon + k epsilon (e^epsilon - 1),
    k delta + slack)-DP (Dwork and Roth 2014, Thm 3.20).

    >>> [float(f"{x:.6g}") for x in advanced(0.1, 1e-9, 100, 1e-6)]
    [6.30822, 1.1e-06]
    """
    growth = math.expm1(epsilon) if epsilon < LARGEST_EPSILON else math.inf
    spread = math.sqrt(2.0 * rounds * math.log(1.0 / slack)) * epsilon
    return spread + rounds * epsilon * growth, min(rounds * delta + slack, 1.0)


def kairouz_oh_viswanath(epsilon: float, delta: float, rounds: int, slack: float) -> tuple[float, float]:
    """The same with delta' = 1 - (1-delta)^k (1-slack) and, with m = k epsilon (e^epsilon -
    1)/(e^epsilon + 1), the least of

    k epsilon,   m + epsilon sqrt(2k log(e + sqrt(k epsilon^2)/slack)),   m + epsilon sqrt(2k
                 log(1/slack))     (Kairouz, Oh and Viswanath 2015).

    >>> [float(f"{x:.6g}") for x in kairouz_oh_viswanath(0.1, 1e-9, 100, 1e-6)]
    [5.75611, 1.1e-06]
    """
    mean, spread = rounds * epsilon * math.tanh(epsilon / 2.0), epsilon * math.sqrt(2.0 * rounds)
    least = min(math.log(1.0 / slack), math.log(math.e + math.sqrt(rounds) * epsilon / slack))
    failure = -math.expm1(rounds * math.log1p(-delta) + math.log1p(-slack))
    return min(rounds * epsilon, mean + spread * math.sqrt(least)), failure


def composed(bound: Published, theorem: Theorem) -> Published:
    """The description for any number of rounds of an upper bound on one round; for one round it is
    the bound itself.

    "basic" gives every round delta/rounds, or epsilon/rounds. "advanced" takes the best of basic
    composition and of Kairouz, Oh and Viswanath's, which is never above the older advanced
    composition, over a few splits of delta between the rounds and the slack, or with the epsilon of
    one round at which both are alike.
    """
    if bound.side == "lower" or bound.rounds == "any":
        rule = "only an upper bound on one round can be composed"
        raise InvalidInput(Refusal(rule, bound.name, "A lower bound on rounds is shuffledp-lower."))
    evaluations = 1 if theorem == "basic" else 1 + len(SPLITS)
    return replace(
        bound,
        name=f"{bound.name}+{theorem}",
        where=f"{bound.where}; {SOURCES[theorem]}",
        conditions=f"{bound.conditions}; at a part of delta for every round",
        rounds="any",
        enclosed_at=None,
        epsilon_at=lambda setting, delta: _composed(bound, setting, delta, theorem),
        delta_at=lambda setting, epsilon: _composed_delta(bound, setting, epsilon, theorem),
        cost=lambda setting: bound.seconds(setting.once()) * (1 if setting.rounds == 1 else evaluations),
    )


def for_rounds(bound: Published, setting: Setting) -> Published:
    """What says something of as many rounds as ``setting`` has: the bound itself, or, if it is an
    upper bound on one round, the bound by the best composition theorem.
    """
    needed = setting.rounds > 1 and bound.rounds == "one" and bound.side == "upper"
    return composed(bound, "advanced") if needed else bound


def _composed(bound: Published, setting: Setting, delta: float, theorem: Theorem) -> float:
    rounds, once = setting.rounds, setting.once()
    if rounds == 1:
        return bound.epsilon(once, delta=delta)

    def one(part: float) -> float:
        """One round at a part of delta; infinite where the bound does not apply to so small a
        part.
        """
        try:
            require(part >= LEAST_DELTA, f"every round's part of delta must be at least {LEAST_DELTA:g}", f"{part:g}")
            return bound.epsilon(once, delta=part)
        except DoesNotApply as error:
            reasons.append(error)
            return math.inf

    reasons: list[DoesNotApply] = []
    best = rounds * one(delta / rounds)
    for slack in (share * delta for share in SPLITS) if theorem == "advanced" else ():
        # (1 - part)^rounds (1 - slack) = 1 - delta.
        part = -math.expm1((math.log1p(-delta) - math.log1p(-slack)) / rounds)
        best = min(best, kairouz_oh_viswanath(one(part), part, rounds, slack)[0])
    if math.isinf(best) and reasons:
        raise reasons[0]
    return best


def _composed_delta(bound: Published, setting: Setting, epsilon: float, theorem: Theorem) -> float:
    rounds, once = setting.rounds, setting.once()
    if rounds == 1:
        return bound.delta(once, epsilon=epsilon)
    reasons: list[DoesNotApply] = []
    failures: list[float] = [1.0]

    def covered(power: float) -> bool:
        """Whether the slack is most of the failure, if one round has epsilon / rounds^power."""
        part = epsilon * rounds**-power
        room = epsilon - rounds * part * math.tanh(part / 2.0)
        likely = min((max(room, 0.0) / part) ** 2 / (2.0 * rounds), LARGEST_EPSILON) if part > 0.0 else 0.0
        excess = math.exp(likely) - math.e  # the slack at which Kairouz, Oh and Viswanath's theorem gives epsilon
        slack = min(math.exp(-likely), math.sqrt(rounds) * part / excess if excess > 0.0 else 1.0)
        slack = 0.0 if power == 1.0 else slack
        try:
            together = rounds * bound.delta(once, epsilon=part)
        except DoesNotApply as error:
            reasons.append(error)
            return False
        failures.append(together + slack)
        return together <= slack

    if not covered(1.0) and theorem == "advanced":
        halve(covered, 0.5, 1.0, middle=mean, steps=SEARCHED)
    if len(failures) == 1:
        raise reasons[0]
    return min(failures)
