"""The fewest fakes that keep a promise: found by trying, each candidate certified as it would
run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Literal

from shuffledp.accounting.mechanism import shuffle
from shuffledp.errors import CertificateError, InvalidInput
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.messages import ShufflerDummies, UserFakes
from shuffledp.randomizers.messages.added_dummies import DummiesKind
from shuffledp.randomizers.messages.user_fakes import MOST_SLOTS
from shuffledp.randomizers.randomizer import Randomizer

__all__ = ["fewest_dummies", "fewest_fakes"]

CLOSE = 1e-3  # relative: how near to the least noise is near enough
NO_FAKES, MOST_FAKES = 1e-3, 1e9  # of a value
MOST_LOSS = 50.0  # of geometric noise that is none
LARGE = 30.0  # epsilon: dummies that keep this one keep larger ones, and make hardly any noise
NOT_NEEDED = (
    "fakes must be needed to keep the promise, got light_epsilon0 so small that randomized values keep it by "
    "themselves. Raise it, or leave the fakes out: krr."
)
CUT = 1e-3  # the share of delta that may go to a Poisson number of fakes that has no room


@lru_cache(maxsize=256)
def fewest_fakes(
    k: int,
    least: int,
    epsilon: float,
    delta: float,
    rounds: int,
    *,
    slots: int | None,
    kind: Literal["bernoulli", "poisson"],
    epsilon0: float,
) -> UserFakes:
    """The law of users' fakes with the least noise that keeps a promise if ``least`` people are
    honest, and in as few ``slots`` as it fits into, unless these are given.
    """
    _check_needed(k, epsilon0, keeps := _keeping(least, epsilon, delta, rounds))

    def law(fakes: float) -> UserFakes:
        mean = fakes * k / least  # of one person, for all values together
        room = _room(mean, kind, CUT * delta / (least * rounds)) if slots is None else slots
        if mean > room or room > MOST_SLOTS:
            raise InvalidInput(
                f"honest people must be enough to send the fakes of {k:,} values, got {least:,}, each of whom would "
                f"have to send {mean:,.1f} on average{'' if slots is None else f' in {slots} slots'}. Ask more people, "
                f"or about fewer values, or have the shuffler add dummies."
            )
        return UserFakes(k=k, slots=room, chance=mean / room, epsilon0=epsilon0, kind=kind).realised

    return law(_least(lambda fakes: keeps(law(fakes)), _typical(epsilon / math.sqrt(rounds), delta)))


def _room(mean: float, kind: str, rare: float) -> int:
    """How many slots a person needs for that many fakes on average."""
    if kind == "bernoulli":
        return max(1, math.ceil(mean))
    room, chance = 0, math.exp(-min(mean, 700.0))
    beyond = 1.0 - chance
    while (beyond > rare or room < mean) and room <= MOST_SLOTS:
        room += 1
        chance *= mean / room
        # from above: further terms fall at least this fast
        beyond = chance * mean / (room + 1) / max(1.0 - mean / (room + 2), 1e-3)
    return max(room, 1)


@lru_cache(maxsize=256)
def fewest_dummies(
    k: int,
    people: int,
    epsilon: float,
    delta: float,
    rounds: int,
    *,
    keep: float,
    kind: DummiesKind | None,
    epsilon0: float,
) -> ShufflerDummies:
    """The law of the shuffler's dummies with the least noise that keeps a promise, of any kind if
    none is given.
    """
    epsilon = min(epsilon, LARGE)
    _check_needed(k, epsilon0, keeps := _keeping(people, epsilon, delta, rounds))

    def poisson(rate: float) -> ShufflerDummies:
        return ShufflerDummies(k=k, keep=keep, kind="poisson", rate=rate, epsilon0=epsilon0).realised

    def geometric(loss: float, center: int | None = None) -> ShufflerDummies:
        """No ratio of two counts is above e^loss, but where they are cut; as good as nowhere, if
        there is no ``center``.
        """
        left, right = _falls(loss, keep)
        if center is None:
            center = 1 if left == 0.0 else max(1, math.ceil(math.log(delta / (100.0 * rounds)) / math.log(left)))
        return ShufflerDummies(k=k, keep=keep, center=center, left=left, right=right, epsilon0=epsilon0).realised

    def best_poisson() -> ShufflerDummies:
        return poisson(_least(lambda rate: keeps(poisson(rate)), _typical(epsilon / math.sqrt(rounds), delta)))

    def best_geometric() -> ShufflerDummies:
        loss = epsilon
        if rounds > 1 or epsilon0 < math.inf:
            start = rounds**0.5 / epsilon
            loss = 1.0 / _least(lambda noise: keeps(geometric(1.0 / noise)), start, 1.0 / MOST_LOSS)
        law = geometric(loss)
        if not keeps(law):
            raise CertificateError(
                "geometric dummies miss their promise. This is a bug in shuffledp; please report it."
            )
        low, high = 0, law.center
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if keeps(geometric(loss, middle)) else (middle, high)
        return geometric(loss, high)

    if kind == "poisson":
        return best_poisson()
    # A curator's noise for one round is geometric, and so it is here.
    if kind == "geometric" or rounds == 1 or epsilon0 < math.inf:
        return best_geometric()
    try:
        other = best_poisson()
    except InvalidInput:
        return best_geometric()
    with suppress(InvalidInput):  # tables that are too long
        # Of geometric dummies try those that err as much: if they miss the promise, better ones do.
        if keeps(geometric(_loss_that_varies_by(float(other.numbers.variance), keep))):
            return best_geometric()
    return other


def _falls(loss: float, keep: float) -> tuple[float, float]:
    """By which factors geometric noise falls that gives away ``loss`` (Murakami et al. 2025)."""
    left = max((math.exp(-loss / 2.0) - 1.0 + keep) / keep, 0.0)
    return left, keep / (math.expm1(loss / 2.0) + keep)


def _loss_that_varies_by(variance: float, keep: float) -> float:
    """What geometric noise of that variance gives away."""

    def varies(loss: float) -> float:
        left, right = _falls(loss, keep)
        whole = 1.0 / (1.0 - left) + right / (1.0 - right)
        mean = (right / (1.0 - right) ** 2 - left / (1.0 - left) ** 2) / whole
        square = (right * (1.0 + right) / (1.0 - right) ** 3 + left * (1.0 + left) / (1.0 - left) ** 3) / whole
        return square - mean * mean

    low, high = 1e-6, MOST_LOSS
    while high > low * (1.0 + CLOSE):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if varies(middle) > variance else (low, middle)
    return high


def _keeping(people: int, epsilon: float, delta: float, rounds: int) -> Callable[[Randomizer], bool]:
    """Whether a law keeps the promise in all rounds together."""

    def keeps(law: Randomizer) -> bool:
        guarantee = shuffle(law, n=people).compose(rounds)
        return guarantee.delta_at_most(epsilon=epsilon) <= delta

    return keeps


def _check_needed(k: int, epsilon0: float, keeps: Callable[[Randomizer], bool]) -> None:
    """Refuse fakes beside values that are randomized enough without any."""
    if epsilon0 < math.inf and keeps(KRR(k=k, epsilon0=epsilon0)):
        raise InvalidInput(NOT_NEEDED)


def _typical(epsilon: float, delta: float) -> float:
    """About how many fakes a value needs, where epsilon is small: two counts that each vary by so
    much must hide a difference of one in each.
    """
    return 2.0 * max(math.log(1.0 / delta), 1.0) / min(epsilon, 2.0) ** 2


def _least(fits: Callable[[float], bool], start: float, nothing: float = NO_FAKES) -> float:
    """The least number that fits, up to ``CLOSE``, given that all larger ones do; refused where it
    is as good as ``nothing``.
    """
    high = start
    while not fits(high):
        high *= 2.0
        if high > MOST_FAKES:
            raise InvalidInput(
                "epsilon and delta must leave room for an answer, got a promise that no number of fakes keeps. Allow a "
                "larger epsilon or delta."
            )
    low = high / 1.5
    while fits(low):
        low, high = low / 1.5, low
        if high < nothing:
            raise InvalidInput(NOT_NEEDED)
    while high > low * (1.0 + CLOSE):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high
