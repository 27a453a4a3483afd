"""The certificate, end by end, against the oracle."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shuffledp.collection.record import Certificate, EpsilonBound
from shuffledp.collection.verify.effort import TooLarge
from shuffledp.collection.verify.oracle import Oracle, Span
from shuffledp.collection.verify.outcomes import Check, Outcome, holds, unchecked, vital
from shuffledp.literature.exact.lattice import Array

__all__ = ["check_certificate"]

End = Literal["lower", "upper"]

ENUMERATION, ROUNDED = 1e-7, 1e-14  # relative, and absolute
NOISE = 1e-9  # relative: rounding of the oracle
CLOSE, STEP, COARSE_STEP = 2e-3, 1e-3, 1.5e-2  # relative: how sharp delta must be, and epsilon
# Of delta: how far the choices that the first-clone swap leaves open may move it, but where the
# promise is made: there an honest upper end is not below the oracle's. There, what
# the tables of all people cut off moves it less, too.
SWAPPED = 2e-2
COMPOSED = 0.03  # how far apart the oracle's ends may be, for several rounds, where it judges
# Certificates put blocks of datasets, and of losses, together; that costs a share of |log delta|.
BLOCKS, LOSS_BLOCKS = 400.0, 60.0
FAINT = 5e-18  # deltas this small need not be sharp
COARSE = "not decided: the oracle's two ends are too far apart"
LOOSE = "not contradicted, but farther from the oracle than usual, on the safe side"


def check_certificate(certificate: Certificate, oracle: Oracle) -> list[Check]:
    """Every number that a certificate claims: wrong if the oracle's certified ends contradict it.

    An upper end of one round must be sharp, too, as the theorem is the same. Elsewhere a loose
    claim is honest, and only listed. Where all lower ends are 0, as of a search, none is claimed.
    """
    epsilon, delta, curve = certificate.epsilon, certificate.delta, certificate.curve
    asked, lower, upper = (np.array(each, dtype=np.float64) for each in (curve.epsilon, curve.lower, curve.upper))
    step = COARSE_STEP if oracle.repeated > 1 or oracle.law.binary else STEP
    points = [epsilon.upper, epsilon.upper * (1.0 - step), epsilon.lower, epsilon.lower * (1.0 + step)]
    points += [] if delta is None else [delta.epsilon]
    shaped = asked.shape == lower.shape == upper.shape and asked.size > 1 and asked[0] == 0.0
    if not (shaped and min(points) >= 0.0):
        return [holds("the curve", "points", "points from epsilon = 0 on", "their order", False)]
    checks = [
        holds(
            "the curve's points",
            f"{asked.size} points",
            "rising epsilon, falling delta",
            "their order",
            _in_order(asked, lower, upper),
        )
    ]
    try:
        order = np.argsort(np.abs(asked - points[0]))  # what was asked first: what is far from it may be too much
        span = oracle.spans(np.append(points, asked[order]), len(points))
    except TooLarge as error:
        what = f"epsilon at delta = {epsilon.delta:g}"
        return [*checks, vital(unchecked(what, epsilon.upper, f"not summed again: {error}"))]
    below = epsilon.lower > 0.0 or lower.any() or (delta is not None and delta.lower > 0.0)
    ends: tuple[End, ...] = ("upper", "lower") if below else ("upper",)
    checks += _epsilons(epsilon, span, oracle)[: len(ends)]
    if delta is not None:
        at = _part(span, slice(4, 5))
        for end, claimed in zip(ends, (delta.upper, delta.lower), strict=False):
            what = f"delta at epsilon = {delta.epsilon:g}, {end}"
            checks.append(vital(_end(what, np.array([claimed], dtype=np.float64), at, end, oracle, closely=True)))
    rest = _part(span, len(points) + np.argsort(order))
    checks += [
        _end(f"delta on the curve, {end}", column, rest, end, oracle)
        for end, column in zip(ends, (upper, lower), strict=False)
    ]
    return [*checks, *_enumerated(asked, lower, upper, oracle)]


def _in_order(asked: Array, lower: Array, upper: Array) -> bool:
    falling = all(np.all(np.diff(end) <= 0.0) for end in (lower, upper))
    return bool(
        np.all(np.diff(asked) > 0.0)
        and falling
        and np.all(lower <= upper)
        and np.all(lower >= 0.0)
        and np.all(upper <= 1.0)
    )


def _part(span: Span, part: slice | NDArray[np.intp]) -> Span:
    return Span((span.upper[0][part], span.upper[1][part]), (span.lower[0][part], span.lower[1][part]))


def _one_value(oracle: Oracle) -> bool:
    """Whether the theorem has one value that every honest computation meets: the first-clone swap
    leaves choices open, several rounds do, and so does what a table cuts off and delta counts.
    """
    return oracle.repeated == 1 and not oracle.swap and not oracle.law.cuts


def _swapped_once(oracle: Oracle) -> bool:
    return oracle.repeated == 1 and oracle.swap and not oracle.law.binary


def _sharp(delta: Array, oracle: Oracle) -> Array:
    """How far, relatively, a claim may be from the truth on the safe side."""
    if oracle.repeated > 1:
        return np.asarray(2.0 * COMPOSED + np.abs(np.log(np.maximum(delta, FAINT))) / LOSS_BLOCKS)
    if oracle.law.binary:
        return np.asarray(0.01 + np.abs(np.log(np.maximum(delta, FAINT))) / BLOCKS)
    return np.full_like(delta, SWAPPED if oracle.swap or oracle.law.cuts else CLOSE)


def _decided(delta: Array, oracle: Oracle) -> Array:
    """How close, relatively, a claim on the safe side of one end of the oracle must be to the other
    to be believed.
    """
    return np.full_like(delta, COMPOSED) if oracle.repeated > 1 else _sharp(delta, oracle)


def _end(what: str, claimed: Array, span: Span, end: End, oracle: Oracle, *, closely: bool = False) -> Check:
    """An upper end below the oracle's lower one is wrong, and so is a lower end above its upper
    one.
    """
    least, most = span.upper if end == "upper" else span.lower
    close, slack = _decided(most, oracle), _sharp(most, oracle)
    known = most <= least * (1.0 + close) + FAINT
    if end == "upper":
        wrong, loose = claimed < least * (1.0 - NOISE) - FAINT, claimed > most * (1.0 + slack) + FAINT
        believed = claimed >= most / (1.0 + close) - FAINT
        if closely and _swapped_once(oracle):
            believed = claimed >= most / (1.0 + CLOSE) - FAINT
            known &= believed
    else:
        wrong, loose = claimed > most * (1.0 + NOISE) + FAINT, claimed < least * (1.0 - slack) - FAINT
        believed = claimed <= least * (1.0 + close) + FAINT
    loose &= known
    failed = wrong | loose if end == "upper" and _one_value(oracle) else wrong
    open_ = ~failed & (loose | ~(known | believed))
    share = np.abs(claimed - most) / np.maximum(most, FAINT)
    worst = int(np.argmax(np.where(failed, 4.0, np.where(open_, 2.0, 0.0)) + np.minimum(share, 1.0)))
    some = f"{int(open_.sum())} of {len(claimed)} points " if len(claimed) > 1 else ""
    outcome: Outcome = "pass"
    how = oracle.how
    if failed.any():
        outcome = "FAIL"
    elif open_.any():
        outcome = "not checked"
        how = f"{some}{LOOSE if loose[worst] else COARSE}"
    return Check(what, f"{claimed[worst]:.10g}", f"{least[worst]:.8g} to {most[worst]:.8g}", how, outcome)


def _epsilons(epsilon: EpsilonBound, span: Span, oracle: Oracle) -> list[Check]:
    """At its upper end delta is kept, and just below it is not; at its lower end some dataset
    exceeds delta, and just above none that was tried does.
    """
    delta, upper, lower = epsilon.delta, epsilon.upper, epsilon.lower
    close = float(_decided(np.array([delta]), oracle)[0])
    slack = 2.0 * COMPOSED if oracle.repeated > 1 else close
    believable = CLOSE if _swapped_once(oracle) else close
    (at_least, *_), (at_most, before, *_) = span.upper[0][:1], span.upper[1][:2]
    (above, beyond), above_at_most = span.lower[0][2:4], span.lower[1][2]
    ordered = lower <= upper
    wrong_upper, loose_upper = at_least > delta * (1.0 + NOISE), before < delta * (1.0 - NOISE) and upper > 0.0
    wrong_lower = lower > 0.0 and above_at_most < delta * (1.0 - NOISE)
    return [
        vital(
            _epsilon(
                "upper",
                epsilon,
                wrong_upper or not ordered or (loose_upper and _one_value(oracle)),
                at_most <= delta * (1.0 + believable),
                f"delta there: {at_least:.6g} to {at_most:.6g}",
                oracle,
            )
        ),
        _epsilon(
            "lower",
            epsilon,
            wrong_lower or not ordered,
            (lower == 0.0 or above >= delta * (1.0 - slack)) and beyond <= delta * (1.0 + slack),
            f"delta there: {above:.6g} to {above_at_most:.6g}",
            oracle,
        ),
    ]


def _epsilon(end: End, epsilon: EpsilonBound, wrong: bool, believed: bool, found: str, oracle: Oracle) -> Check:
    outcome: Outcome = "not checked"
    how = f"{COARSE}, or the claim is loose"
    if wrong or believed:
        outcome = "FAIL" if wrong else "pass"
        how = f"{oracle.how_closely}, at this epsilon and a little beside it"
    claimed = epsilon.upper if end == "upper" else epsilon.lower
    return Check(f"epsilon at delta = {epsilon.delta:g}, {end}", f"{claimed:.10g}", found, how, outcome)


def _enumerated(asked: Array, lower: Array, upper: Array, oracle: Oracle) -> list[Check]:
    exact = oracle.enumerated(asked)
    if exact is None:
        return []
    right = np.all(lower <= exact * (1.0 + ENUMERATION) + ROUNDED) and np.all(
        upper >= exact * (1.0 - ENUMERATION) - ROUNDED
    )
    return [
        holds(
            "the curve around the exact one",
            "lower to upper",
            "the worst of all datasets",
            "enumeration of every dataset and every view",
            bool(right),
        )
    ]
