"""The one unknown of a plan: the largest epsilon0, the smallest n, or the most rounds that meet (epsilon, delta)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from shuffledp.errors import CertificateError, InvalidInput, check_probability
from shuffledp.guarantee import MOST_ROUNDS, Guarantee, check_delta, check_epsilon, check_rounds
from shuffledp.mechanism import shuffle
from shuffledp.randomizers import Gaussian
from shuffledp.randomizers.base import Randomizer
from shuffledp.reductions import Adversary

__all__ = ["Calibration", "calibrate"]

EPSILON0_RANGE = (1e-6, 50.0)
SIGMA_RANGE = (0.05, 1e6)
MOST_USERS = 10**12
MARGIN = 1e-6  # plans meet a target this much smaller, so that solving for epsilon, to 1e-7, confirms it
DIGITS = 1e-4  # relative accuracy of a real unknown; it is rounded to the safe side


@dataclass(frozen=True, slots=True)
class Calibration:
    """The answer to ``calibrate``: ``value`` of the ``unknown``, the plan that uses it, and the epsilon it was checked to give."""

    unknown: str
    value: float
    guarantee: Guarantee
    epsilon: float
    delta: float

    def __float__(self) -> float:
        """The value itself."""
        return float(self.value)


def calibrate(
    family: Callable[..., Randomizer] | Randomizer,
    *,
    epsilon: float,
    delta: float,
    n: int | None = None,
    rounds: int | None = 1,
    adversary: Adversary = "shuffled",
    honest_share: float = 1.0,
    **parameters: object,
) -> Calibration:
    """Solve for what is left open, so that the *upper* end of the guarantee meets (epsilon, delta).

    A family such as ``KRR`` leaves epsilon0 open (``Gaussian``: sigma). With a randomizer such as ``KRR(k=16, epsilon0=4.0)``, leave out n for
    the smallest number of users, or pass rounds=None for the most rounds. The answer is checked before it is returned.

    >>> from shuffledp import KRR
    >>> plan = calibrate(KRR, k=16, n=10_000, epsilon=1.0, delta=1e-6)
    >>> plan.unknown, round(plan.value, 2), plan.epsilon <= 1.0
    ('epsilon0', 5.53, True)
    >>> calibrate(KRR(k=16, epsilon0=4.0), epsilon=1.0, delta=1e-6).unknown
    'n'
    """
    target, delta = check_epsilon(epsilon), check_delta(delta)
    if target == 0.0:
        raise InvalidInput("epsilon must be positive to calibrate for, got 0.0. No useful report has epsilon = 0; allow a little.")

    honest_share = check_probability("honest_share", honest_share, one=True, remedy="It is the share of the users who follow the protocol; 1 means all.")

    def plan(randomizer: Randomizer, users: int, times: int) -> Guarantee:
        return one_round(randomizer, users).compose(times)

    def one_round(randomizer: Randomizer, users: int) -> Guarantee:
        return shuffle(randomizer, n=users, adversary=adversary, honest=max(1, math.floor(users * honest_share)))

    def fits(guarantee: Guarantee) -> bool:
        return _delta_at(guarantee, target * (1.0 - MARGIN)) <= delta

    open_ones = [name for name, missing in (("epsilon0", not isinstance(family, Randomizer)), ("n", n is None), ("rounds", rounds is None)) if missing]
    if len(open_ones) != 1:
        found = " and ".join(open_ones) if open_ones else "none"
        raise InvalidInput(f"exactly one of epsilon0, n and rounds must be left open, got {found}. Pass a family, or leave out n, or say rounds=None.")
    if rounds is not None:
        rounds = check_rounds(rounds)
    if isinstance(family, Randomizer):
        if parameters:
            raise InvalidInput(f"{', '.join(parameters)} must not be given with a randomizer, got {parameters!r}. Set it in the randomizer itself.")
        if rounds is None:
            assert n is not None
            round_ = one_round(family, n)
            return _whole("rounds", round_.compose, fits, target, delta, MOST_ROUNDS, growing=True)
        return _whole("n", lambda users: plan(family, users, rounds), fits, target, delta, MOST_USERS, growing=False)
    assert n is not None
    assert rounds is not None
    name, (low, high) = ("sigma", SIGMA_RANGE) if family is Gaussian else ("epsilon0", EPSILON0_RANGE)

    def build(value: float) -> Guarantee:
        try:
            return plan(family(**parameters, **{name: value}), n, rounds)
        except TypeError as error:
            raise InvalidInput(
                f"the family must accept {name} and {', '.join(parameters) or 'nothing else'}, got {error}. Pass its other parameters."
            ) from None

    return _real(name, build, fits, target, delta, low, high, growing=name == "epsilon0")


def _real(
    name: str, build: Callable[[float], Guarantee], fits: Callable[[Guarantee], bool], epsilon: float, delta: float, low: float, high: float, *, growing: bool
) -> Calibration:
    """The last value that fits, going from the safe end to the other; ``growing``: a larger value leaks more."""
    good, bad = (low, high) if growing else (high, low)
    if not fits(build(good)):
        raise InvalidInput(
            f"no {name} between {low:g} and {high:g} meets epsilon = {epsilon:g} at delta = {delta:g}. Use more users, fewer rounds, or relax the target."
        )
    if fits(build(bad)):
        good = bad
    while abs(math.log(bad / good)) > DIGITS / 2.0:
        middle = math.sqrt(good * bad)
        good, bad = (middle, bad) if fits(build(middle)) else (good, middle)
    value = _rounded(good, down=growing)
    guarantee = build(value)
    if not fits(guarantee):  # families whose parameters are rounded inside (subset sizes, hash ranges) need not be monotone
        value, guarantee = good, build(good)
    return _checked(name, value, guarantee, epsilon, delta)


def _whole(
    name: str, build: Callable[[int], Guarantee], fits: Callable[[Guarantee], bool], epsilon: float, delta: float, most: int, *, growing: bool
) -> Calibration:
    """The largest (``growing``) or smallest whole number that fits."""
    good, bad = (1, most) if growing else (most, 1)
    if not fits(build(good)):
        remedy = "Use more users or a smaller epsilon0." if growing else "Use a smaller epsilon0 or fewer rounds."
        raise InvalidInput(f"{name} = {good} must already meet epsilon = {epsilon:g} at delta = {delta:g}, got a larger epsilon. {remedy}")
    if fits(build(bad)):
        return _checked(name, bad, build(bad), epsilon, delta)
    while abs(good - bad) > 1:
        middle = round(math.sqrt(good * bad)) if max(good, bad) > 4 * min(good, bad) else (good + bad) // 2
        middle = min(max(middle, min(good, bad) + 1), max(good, bad) - 1)
        good, bad = (middle, bad) if fits(build(middle)) else (good, middle)
    return _checked(name, good, build(good), epsilon, delta)


def _rounded(value: float, *, down: bool) -> float:
    """Five significant digits, to the safe side."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 4)
    return round((math.floor if down else math.ceil)(value / unit) * unit, 12)


def _checked(name: str, value: float, guarantee: Guarantee, epsilon: float, delta: float) -> Calibration:
    """The re-check, at full accuracy: the certified delta at the target epsilon."""
    if _delta_at(guarantee, epsilon) > delta:
        raise CertificateError(f"calibration of {name} failed its own check at {value}. This is a bug in shuffledp; please report the call.")
    return Calibration(name, value, guarantee, min(guarantee.epsilon(delta=delta).upper, epsilon), delta)


def _delta_at(guarantee: Guarantee, epsilon: float) -> float:
    return guarantee.delta(epsilon=epsilon).upper
