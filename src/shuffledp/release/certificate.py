"""What a privacy officer signs: the certified interval of a design, its curve, its premises, and
what other models of trust would cost.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shuffledp.accounting.accuracy import DRAWN_GAP
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.messages.reductions import Inexact
from shuffledp.accounting.reductions import Theorem
from shuffledp.accounting.shuffled import Shuffled
from shuffledp.design import Design
from shuffledp.mechanisms.baselines import best_alone, best_curator
from shuffledp.record import Alternative, Certificate, Curve, DeltaBound, EpsilonBound
from shuffledp.wording import statement, statement_ids

POINTS = 49
FAR_DELTA = 1e-15  # where the curve ends
BRINK = 1e-6  # relative
THIS = "this release"
BEYOND = 4.0  # or so many times the certified epsilon


def certificate(design: Design, *, collected: bool = False, last: float | None = None) -> Certificate:
    """The guarantee of a design, for all its rounds, as long as the promised number of honest
    reports is shuffled together; where they were ``collected`` over the network, no table is
    mentioned. The curve ends at the ``last`` epsilon that it states, if there is one.
    """
    guarantee, target = design.poll.guarantee, design.target
    bound, promised = guarantee.epsilon(delta=target.delta), target.epsilon
    assumptions = (*guarantee.assumptions, statement("senders" if collected else "rows"), statement("counts"))
    return Certificate(
        epsilon=EpsilonBound(delta=target.delta, lower=bound.lower, upper=bound.upper),
        delta=None if promised is None else _delta(guarantee, promised),
        curve=_curve(guarantee, bound.upper, last),
        method=guarantee.method,
        assumptions=assumptions,
        adversary=statement("adversary"),
        adjacency=statement("adjacency"),
        users=target.n,
        honest=target.honest,
        rounds=target.rounds,
        alone=_finite(design.mechanism.alone),
        numerical_error=_numerical_error(guarantee, bound.upper),
        theorem_ids=_theorem_ids(guarantee.method, target.rounds),
        assumption_ids=statement_ids(assumptions),
    )


def _theorem_ids(method: str, rounds: int) -> tuple[str, ...]:
    composed = statement("composed", rounds=rounds)
    one = statement_ids(method.removesuffix(composed).split(" or "))
    return one if rounds == 1 else (*one, "composed")


def _delta(guarantee: Guarantee, epsilon: float) -> DeltaBound:
    bound = guarantee.delta(epsilon=epsilon)
    return DeltaBound(epsilon=epsilon, lower=bound.lower, upper=bound.upper)


def _numerical_error(guarantee: Guarantee, epsilon: float) -> float | None:
    """How far apart, relatively, the two ends are between which the best theorem's delta was
    computed; several rounds keep only the safe end. How far a law is from an ideal one is no error
    of computing.
    """
    if not isinstance(guarantee, Shuffled):
        return None
    low, high = min((_computed(theorem, epsilon) for theorem in guarantee.reduction.theorems), key=lambda ends: ends[1])
    return (high - low) / high if high > 0.0 else 0.0


def _computed(theorem: Theorem, epsilon: float) -> tuple[float, float]:
    ideals = [curve.ideal if isinstance(curve, Inexact) else curve for curve in theorem.of(None)]
    ends = [curve.bounds(np.array([epsilon])) for curve in ideals]
    return max(float(low[0]) for low, _ in ends), max(float(high[0]) for _, high in ends)


def _curve(guarantee: Guarantee, epsilon: float, last: float | None = None) -> Curve:
    if last is None:
        last = min(guarantee.epsilon_at_most(delta=FAR_DELTA), guarantee.ceiling)
    if last == math.inf:  # some delta is left however large epsilon is
        last = BEYOND * epsilon
    elif last > guarantee.ceiling * (1.0 - BRINK):  # there delta is the last digits of epsilon; at the ceiling it is 0
        last = guarantee.ceiling
    epsilons = np.linspace(0.0, last, POINTS)
    band = guarantee.profile(epsilons, gap=DRAWN_GAP)
    points, lower, upper = (tuple(column.tolist()) for column in (epsilons, band.lower, band.upper))
    return Curve(epsilon=points, lower=lower, upper=upper)


def comparison(design: Design, certified: Certificate) -> tuple[Alternative, ...]:
    """The same promise under three kinds of trust, with the standard error to expect of each:
    nobody, a shuffler, a curator. Where it is nobody or a curator, by the best known here.
    """
    target = design.target
    epsilon = certified.epsilon.upper if target.epsilon is None else target.epsilon
    promise: dict[str, Any] = {"n": target.n, "epsilon": epsilon, "delta": target.delta, "rounds": target.rounds}
    alone, curator = best_alone(design.resolved, **promise), best_curator(design.resolved, **promise)
    poll = design.poll
    own, error = _finite(poll.epsilon0), poll.predicted_stderr()
    return (
        Alternative(trust="nobody", mechanism=alone.name, epsilon0=alone.epsilon0, stderr=alone.error),
        Alternative(trust="shuffler", mechanism=THIS, epsilon0=own, stderr=error),
        Alternative(trust="curator", mechanism=curator.name, epsilon0=None, stderr=curator.error),
    )


def _finite(epsilon0: float | None) -> float | None:
    return None if epsilon0 == math.inf else epsilon0
