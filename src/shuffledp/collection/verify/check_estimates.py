"""Estimates, standard errors and limits from the votes, by fractions and from definitions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import norm

from shuffledp.collection.page.clipping import CLIPPED, CLIPPED_TO_BOUNDS
from shuffledp.collection.verify.counted_law import CountedLaw
from shuffledp.collection.verify.intervals import rare, rare_signed, score
from shuffledp.collection.verify.limits import LISTED
from shuffledp.collection.verify.outcomes import Check, agree, equal, holds
from shuffledp.literature.exact.lattice import UNIT, Array

__all__ = ["COLUMNS", "Estimated", "check_estimates", "estimated", "labels_of", "places_of", "size_of"]

SHARP = 1e-7  # of a standard error
COLUMNS = ("value", "stderr", "lower", "upper", "all_lower", "all_upper")
FEW, MANY = 3, 50  # variances of votes below which the exact law is inverted instead of a normal one
ROUNDING = Fraction(1, 4)  # of a grid step, squared: every number may lie half-way between two points

Limits = Callable[[float], tuple[Array, Array]]


def check_estimates(facts: dict[str, Any], law: CountedLaw) -> list[Check]:
    """Every column of the table of estimates."""
    design, claimed, tally = facts["design"], facts["estimates"], facts["tally"]
    votes, reports = [int(each) for each in tally["votes"]], int(tally["reports"])
    level = float(claimed["level"])
    if design["task"] == "mean":
        if len(votes) != law.k:  # a stranger may write any number here, and as many points would be made
            return [holds("points of the grid", f"{len(votes)} votes", f"{law.k} points", "the design", False)]
        values, errors, limits = _mean(votes, law, Fraction(design["lower"]), Fraction(design["upper"]))
        labels, of = (
            [CLIPPED if "ends" in claimed and facts["asked"].get("outside") == CLIPPED_TO_BOUNDS else "mean"],
            1,
        )
    else:
        of, own = size_of(design), design["categories"] if design["task"] == "histogram" else design["domain"]
        if isinstance(own, list) and len({str(each) for each in own}) < of:
            return [holds("labels of the design", f"{of} labels", "fewer that differ", "each is there once", False)]
        places = (
            sorted(set(places_of(claimed["label"], design))) if of > LISTED else list(range(of))
        )  # of very many, only the largest are listed
        labels = [str(place if isinstance(own, int) else own[place]) for place in places]
        listed = min(of, LISTED)
        if not len(claimed["label"]) == len(votes) == len(labels) == listed:
            return [
                holds(
                    "labels of the estimates",
                    f"{len(claimed['label'])} for {len(votes)} votes",
                    f"{listed} distinct ones",
                    "the design",
                    False,
                )
            ]
        counted = estimated(votes, tally["blocks"], places, reports, law)
        values, errors, limits = counted.values, counted.errors, counted.limits
    rounding = math.sqrt(UNIT * reports) * (
        1.0 if design["task"] != "mean" else (float(design["upper"]) - float(design["lower"])) / reports
    )
    within = SHARP * np.maximum(errors, 1e-300) + 1e-12 * np.abs(values)
    checks = [
        equal("labels of the estimates", claimed["label"], labels, "the design"),
        equal("how many were estimated", claimed["of"], of, "the design"),
        equal("what is estimated", claimed["unit"], "mean" if design["task"] == "mean" else "people", "the task"),
        equal("level of the limits", level, 0.95, "what shuffledp writes"),
        agree("estimates", claimed["value"], values, "votes and integers, as fractions", within=within),
        agree(
            "standard errors",
            claimed["stderr"],
            errors,
            "the variance of the votes, as fractions",
            within=within + rounding,
        ),
    ]
    for names, tail, what in (
        (("lower", "upper"), (1.0 - level) / 2.0, "each"),
        (("all_lower", "all_upper"), (1.0 - level) / (2.0 * of), "all together"),
    ):
        for name, found in zip(names, limits(tail), strict=True):
            how = "the test that defines it, inverted by halving"
            checks.append(
                agree(
                    f"limits, {what}: {name.removeprefix('all_')}",
                    claimed[name],
                    found,
                    how,
                    within=10.0 * (within + rounding),
                )
            )
    if "ends" in claimed:
        checks += _ends(claimed["ends"], design, votes, law, (1.0 - level) / 4.0)
    return checks


def _ends(
    claimed: dict[str, Any], design: dict[str, Any], votes: list[int], law: CountedLaw, tail: float
) -> list[Check]:
    """How many people's numbers were rounded to either end of the range of a mean."""
    values, errors, limits = _counts([votes[0], votes[-1]], sum(votes), law)
    within = SHARP * np.maximum(errors, 1e-300) + 1e-12 * np.abs(values)
    low, high = limits(tail)
    step = float((Fraction(design["upper"]) - Fraction(design["lower"])) / (law.k - 1))
    how = "the votes for the ends, as fractions"
    return [
        agree("a step of the grid", [claimed["step"]], np.array([step]), "the design", within=np.array([1e-12 * step])),
        agree("people at the ends", claimed["value"], values, how, within=within),
        agree(
            "people at the ends, at least",
            claimed["lower"],
            low,
            how,
            within=10.0 * (within + math.sqrt(UNIT * sum(votes))),
        ),
        agree(
            "people at the ends, at most",
            claimed["upper"],
            high,
            how,
            within=10.0 * (within + math.sqrt(UNIT * sum(votes))),
        ),
    ]


def labels_of(design: dict[str, Any]) -> list[str]:
    """The categories as text."""
    own = design["categories"] if design["task"] == "histogram" else design["domain"]
    return [str(each) for each in (range(own) if isinstance(own, int) else own)]


def size_of(design: dict[str, Any]) -> int:
    """How many categories there are, without listing them."""
    own = design["categories"] if design["task"] == "histogram" else design["domain"]
    return own if isinstance(own, int) else len(own)


def places_of(labels: list[str], design: dict[str, Any]) -> list[int]:
    """Where these categories stand in the design; what is none is left out."""
    own = design["categories"] if design["task"] == "histogram" else design["domain"]
    if isinstance(own, int):
        short = (label for label in labels if label.isdecimal() and len(label) <= len(str(own)))
        return [int(label) for label in short if int(label) < own and str(int(label)) == label]
    known = {str(label): place for place, label in enumerate(own)}
    return [known[label] for label in labels if label in known]


@dataclass(frozen=True, slots=True, eq=False)
class Estimated:
    """Counts from votes: estimates, standard errors, limits at any tail, and how close a claim must
    come.
    """

    values: Array
    errors: Array
    limits: Limits
    within: Array
    rounding: float


def estimated(votes: list[int], blocks: list[int], places: list[int], reports: int, law: CountedLaw) -> Estimated:
    """The estimates of the categories in these places; those with the same votes, of the same
    block, are alike, and are computed once.
    """
    rows = law.blocks[1] - 1 if law.family == "hadamard" else 1
    kinds = [
        (vote, place // rows if law.family == "hadamard" else 0) for vote, place in zip(votes, places, strict=True)
    ]
    order = {kind: at for at, kind in enumerate(dict.fromkeys(kinds))}
    again = np.array([order[kind] for kind in kinds], dtype=np.intp)
    few = [vote for vote, _ in order]
    if law.family == "hadamard":
        values, errors, limits = _signed(few, blocks, [block * rows for _, block in order], reports, law)
    else:
        values, errors, limits = _counts(few, reports, law)

    def spread(tail: float) -> tuple[Array, Array]:
        low, high = limits(tail)
        return low[again], high[again]

    within = SHARP * np.maximum(errors, 1e-300) + 1e-12 * np.abs(values)
    return Estimated(values[again], errors[again], spread, within[again], math.sqrt(UNIT * reports))


def _floats(numbers: list[Fraction]) -> Array:
    return np.array([float(each) for each in numbers])


def _counts(votes: list[int], n: int, law: CountedLaw) -> tuple[Array, Array, Limits]:
    """With c holders the votes are Bin(c, hit) + Bin(n - c, miss)."""
    hit, miss = law.hit, law.miss
    contrast = hit - miss
    own, other = hit * (1 - hit), miss * (1 - miss)
    values = [(each - n * miss) / contrast for each in votes]
    held = [min(max(each, Fraction(0)), Fraction(n)) for each in values]
    variances = [c * own + (n - c) * other for c in held]
    thirds = [c * own * (1 - 2 * hit) + (n - c) * other * (1 - 2 * miss) for c in held]
    base = np.full(len(votes), float(n * other / contrast**2))
    slope = np.full(len(votes), float((own - other) / contrast**2))
    skew = _floats([third / (variance * contrast) for third, variance in zip(thirds, variances, strict=True)])
    few = [variance < FEW or (n * other < FEW and variance < MANY) for variance in variances]
    known: dict[tuple[int, float], tuple[float, float]] = {}

    def limits(tail: float) -> tuple[Array, Array]:
        low, high = score(_floats(values), base, slope, skew, tail)
        for place in np.flatnonzero(few).tolist():
            if (votes[place], tail) not in known:
                known[votes[place], tail] = rare(votes[place], n, float(hit), float(miss), tail)
            low[place], high[place] = known[votes[place], tail]
        return np.minimum(low, _floats(values)), np.maximum(high, _floats(values))

    return _floats(values), np.sqrt(_floats([variance / contrast**2 for variance in variances])), limits


def _signed(
    votes: list[int], blocks: list[int], places: list[int], n: int, law: CountedLaw
) -> tuple[Array, Array, Limits]:
    """Hadamard response: of the votes cast in a value's block, its holders' are all for it, and the
    others for and against alike.
    """
    hit, (count, columns) = law.hit, law.blocks
    rows = columns - 1
    where = [place // rows for place in places]
    cast = [int(blocks[block]) for block in where]
    alone = [min(law.k, (block + 1) * rows) - block * rows == 1 for block in where]
    far = (1 - hit) / count
    values = [each / hit for each in map(Fraction, votes)]
    held = [min(max(each, Fraction(0)), Fraction(n)) for each in values]
    stray = [
        n * far if only else max(total - c * hit, Fraction(0)) for only, total, c in zip(alone, cast, held, strict=True)
    ]
    variances = [c * hit * (1 - hit) + rest for c, rest in zip(held, stray, strict=True)]
    thirds = [c * hit * (1 - 3 * (hit + far) + 2 * hit**2) for c in held]
    bases = [(n * far if only else Fraction(total)) / hit**2 for only, total in zip(alone, cast, strict=True)]
    slopes = [(1 - hit) / hit if only else Fraction(-1) for only in alone]
    skew = _floats(
        [
            third / (variance * hit) if variance else Fraction(0)
            for third, variance in zip(thirds, variances, strict=True)
        ]
    )
    few = []
    for base, slope, c in zip(bases, slopes, held, strict=True):
        there, nobody = max(base + slope * c, Fraction(0)) * hit**2, max(base, Fraction(0)) * hit**2
        few.append(there < FEW or (nobody < FEW and there < MANY))

    def limits(tail: float) -> tuple[Array, Array]:
        low, high = score(_floats(values), _floats(bases), _floats(slopes), skew, tail)
        for place in np.flatnonzero(few).tolist():
            low[place], high[place] = rare_signed(votes[place], cast[place], n, float(hit), tail)
        return np.minimum(low, _floats(values)), np.maximum(high, _floats(values))

    return _floats(values), np.sqrt(_floats(variances)) / float(hit), limits


def _mean(votes: list[int], law: CountedLaw, lower: Fraction, upper: Fraction) -> tuple[Array, Array, Limits]:
    """Grid points 0, 1/k, ..., 1 and the chance ``gamma`` of a uniformly random one (Balle et al.
    2019, Algorithm 2).
    """
    k, reports = law.k - 1, sum(votes)
    gamma, kept = law.k * law.miss, law.hit - law.miss
    points = [Fraction(i, k) for i in range(law.k)]
    total = (sum(v * y for v, y in zip(votes, points, strict=True)) - reports * gamma / 2) / kept
    noise, rounded = gamma * (k + 2) / (12 * k), reports * ROUNDING / k**2
    half = Fraction(1, 2)
    spread = (sum(v * (y - half) ** 2 for v, y in zip(votes, points, strict=True)) - reports * noise) / kept - rounded
    spread = min(max(spread, Fraction(0)), Fraction(reports, 4))
    variance = (kept * (rounded + gamma * spread) + reports * noise) / kept**2
    value, error = lower + (upper - lower) * total / reports, math.sqrt(variance) * float(upper - lower) / reports

    def limits(tail: float) -> tuple[Array, Array]:
        reach = float(norm.isf(tail)) * error
        return np.array([float(value) - reach]), np.array([float(value) + reach])

    return np.array([float(value)]), np.array([error]), limits
