"""The certificate, end by end, against the oracle."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shuffledp.judge.effort import TooLarge
from shuffledp.judge.lattice import Array
from shuffledp.judge.oracle import Oracle, Span
from shuffledp.record import Certificate, EpsilonBound, Record
from shuffledp.verify.outcomes import Check, Outcome, holds, unchecked, vital

End = Literal["lower", "upper"]

ENUMERATION, ROUNDED = 1e-7, 1e-14  # relative, and absolute
NOISE = 1e-9  # relative: rounding of the oracle
TOLERANCE = 1e-4  # relative: how far delta may be on the unsafe side of what the oracle's own end proves
CLOSE, STEP = 2e-3, 1e-3  # relative: how sharp delta must be, and epsilon, where a theorem has one value
FAINT = 1e-18  # the whole numbers of a law differ from its epsilon0 by a few of 2^64, and delta by as much
SUBTRACTED = 1e-11  # of deltas of fakes: what is left of two long sums
COARSE = "not decided: the oracle's two ends are too far apart"
WITHIN = f"to within {100.0 * TOLERANCE:g} % of delta, or {FAINT:g}"


def of_design(record: Record) -> Certificate:
    """What the certificate says of the design: of a search, without what is added for others than
    the people of its first level; its recheck knows how much that is.
    """
    claimed, search, delta = record.certificate, record.counted.search, record.design.delta
    if search is None:
        return claimed
    rest = search.delta - delta
    upper = tuple(max(0.0, each - rest) for each in claimed.curve.upper)
    promised = None if claimed.delta is None else replace(claimed.delta, upper=max(0.0, claimed.delta.upper - rest))
    epsilon, curve = replace(claimed.epsilon, delta=delta), replace(claimed.curve, upper=upper)
    return replace(claimed, epsilon=epsilon, delta=promised, curve=curve)


def check_certificate(certificate: Certificate, oracle: Oracle) -> list[Check]:
    """Every number that a certificate claims: right if the oracle's certified ends prove it, wrong
    if they contradict it, and a verification is incomplete if they do neither.

    An upper end of one round must be sharp, too, as the theorem is the same. Elsewhere a loose
    claim is honest. Where all lower ends are 0, as of a search, none is claimed.
    """
    epsilon, delta, curve = certificate.epsilon, certificate.delta, certificate.curve
    asked, lower, upper = (np.array(each, dtype=np.float64) for each in (curve.epsilon, curve.lower, curve.upper))
    points = [epsilon.upper, epsilon.upper * (1.0 - STEP), epsilon.lower]
    points += [] if delta is None else [delta.epsilon]
    shaped = asked.shape == lower.shape == upper.shape and asked.size > 1 and asked[0] == 0.0
    if not (shaped and min(points) >= 0.0):
        return [holds("the curve", "points", "points from epsilon = 0 on", "their order", False)]
    rising, ordered = "rising epsilon, falling delta", _in_order(asked, lower, upper)
    checks = [holds("the curve's points", f"{asked.size} points", rising, "their order", ordered)]
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
        at = _part(span, slice(3, 4))
        for end, claimed in zip(ends, (delta.upper, delta.lower), strict=False):
            what = f"delta at epsilon = {delta.epsilon:g}, {end}"
            checks.append(_end(what, np.array([claimed], dtype=np.float64), at, end, oracle))
    rest = _part(span, len(points) + np.argsort(order))
    columns = zip(ends, (upper, lower), strict=False)
    checks += [_end(f"delta on the curve, {end}", column, rest, end, oracle) for end, column in columns]
    return [*checks, *_enumerated(asked, lower, upper, oracle)]


def _in_order(asked: Array, lower: Array, upper: Array) -> bool:
    falling = all(np.all(np.diff(end) <= 0.0) for end in (lower, upper))
    within = np.all((lower >= 0.0) & (lower <= upper) & (upper <= 1.0))
    return bool(falling and within and np.all(np.diff(asked) > 0.0))


def _part(span: Span, part: slice | NDArray[np.intp]) -> Span:
    return Span((span.upper[0][part], span.upper[1][part]), (span.lower[0][part], span.lower[1][part]))


def _one_value(oracle: Oracle) -> bool:
    """Whether the theorem has one value that every honest computation meets: the first-clone swap
    leaves choices open, several rounds do, so do blocks of datasets, and what a table cuts off and
    delta counts.
    """
    return oracle.repeated == 1 and not (oracle.swap or oracle.law.cuts or oracle.law.binary)


def _blurred(oracle: Oracle) -> float:
    return SUBTRACTED if oracle.law.faked else FAINT


def _end(what: str, claimed: Array, span: Span, end: End, oracle: Oracle) -> Check:
    """An upper end below the oracle's lower one is wrong, and so is a lower end above its upper
    one.
    """
    least, most = span.upper if end == "upper" else span.lower
    if end == "upper":
        wrong, right = claimed < least * (1.0 - NOISE), claimed >= most * (1.0 - TOLERANCE) - FAINT
        if _one_value(oracle):
            wrong |= (most <= least * (1.0 + CLOSE) + FAINT) & (claimed > most * (1.0 + CLOSE) + _blurred(oracle))
    else:
        wrong, right = claimed > most * (1.0 + NOISE) + FAINT, claimed <= least * (1.0 + TOLERANCE) + FAINT
    open_ = ~(wrong | right)
    share = np.abs(claimed - most) / np.maximum(most, FAINT)
    worst = int(np.argmax(np.where(wrong, 4.0, np.where(open_, 2.0, 0.0)) + np.minimum(share, 1.0)))
    found = f"{least[worst]:.8g} to {most[worst]:.8g}"
    coarse = f"{int(open_.sum())} of {len(claimed)} points {COARSE}" if len(claimed) > 1 else COARSE
    return _judged(what, claimed[worst], found, oracle.how, bool(wrong.any()), not open_.any(), coarse)


def _judged(what: str, claimed: float, found: str, how: str, wrong: bool, right: bool, coarse: str = COARSE) -> Check:
    """Wrong, or right, or neither, where the oracle's ends are too far apart."""
    outcome: Outcome = "FAIL" if wrong else "pass" if right else "not checked"
    how = f"{how}, {WITHIN}" if wrong or right else coarse
    return Check(what, f"{claimed:.10g}", found, how, outcome, vital=True)


def _epsilons(epsilon: EpsilonBound, span: Span, oracle: Oracle) -> list[Check]:
    """At its upper end delta is kept, and where the theorem has one value, it is not just below; at
    its lower end some dataset exceeds delta.
    """
    delta, upper, lower = epsilon.delta, epsilon.upper, epsilon.lower
    at_least, at_most, before = span.upper[0][0], span.upper[1][0], span.upper[1][1]
    above, above_at_most = span.lower[0][2], span.lower[1][2]
    loose = _one_value(oracle) and before < delta * (1.0 - NOISE) - _blurred(oracle) and upper > 0.0
    wrong_upper = at_least > delta * (1.0 + NOISE) or lower > upper or loose
    wrong_lower = (lower > 0.0 and above_at_most < delta * (1.0 - NOISE)) or lower > upper
    right_upper, right_lower = at_most <= delta * (1.0 + TOLERANCE), lower == 0.0 or above >= delta * (1.0 - TOLERANCE)
    found = f"delta there: {at_least:.6g} to {at_most:.6g}", f"delta there: {above:.6g} to {above_at_most:.6g}"
    what, how = f"epsilon at delta = {delta:g}", oracle.how_closely
    return [
        _judged(f"{what}, upper", upper, found[0], how, bool(wrong_upper), bool(right_upper)),
        _judged(f"{what}, lower", lower, found[1], how, bool(wrong_lower), bool(right_lower)),
    ]


def _enumerated(asked: Array, lower: Array, upper: Array, oracle: Oracle) -> list[Check]:
    exact = oracle.enumerated(asked)
    if exact is None:
        return []
    below, above = exact * (1.0 - ENUMERATION) - ROUNDED, exact * (1.0 + ENUMERATION) + ROUNDED
    worst, how = "the worst of all datasets", "enumeration of every dataset and every view"
    right = bool(np.all(lower <= above) and np.all(upper >= below))
    return [holds("the curve around the exact one", "lower to upper", worst, how, right)]
