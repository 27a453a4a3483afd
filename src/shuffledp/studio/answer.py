"""From a request to what the page shows. Every number comes with its text, rounded to the safe
side here: the page writes what it is told.

An answer has parts, the quick one first: ``numbers`` while the pointer moves; when it rests
``certified``, if those were a forecast; then ``curve``, with the certified interval; ``published``;
and ``thorough``, with the published bounds that take long.

Several rounds, and the grid of a mean, are guessed while the pointer moves: calibrating those takes
up to seconds, and a forecast does until the certified answer is there. No promise rests on one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting import analytic_gaussian
from shuffledp.accounting.accuracy import FIGURE_GAP, PATIENCE, ROUGH_GAP
from shuffledp.accounting.calibration import deviation
from shuffledp.accounting.inversion import geometric, halve
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.literature.comparison import Left, compare
from shuffledp.mechanisms.baselines import Baseline, best_alone, best_curator, best_size, number_named
from shuffledp.mechanisms.grids import guessed_grid
from shuffledp.mechanisms.one_message import OneMessage
from shuffledp.planning import planned
from shuffledp.poll import Poll
from shuffledp.questions.question import Question
from shuffledp.randomizers import KRR, SubsetSelection
from shuffledp.randomizers.gaussian_delta import gaussian_delta_roughly
from shuffledp.randomizers.parameters import LARGEST_EPSILON0
from shuffledp.studio.request import LEAST_PROMISED, MOST_PROMISED, PlanRequest
from shuffledp.wording import exactly, large_delta, meaning, reserved, rounded
from shuffledp.workload import Weights

NOISE: Mapping[str, Any] = {}  # what hides the answers usually
STEPS = 14  # halvings: three digits of a guess
MOST_TELLING = 2000  # reports of one person, on average, that tell two values apart; of more, the sum is Gaussian
NEGLIGIBLE = 1e-200  # a probability that no delta can see
LOCAL_GRIDS = (1, 2, 3, 4, 6, 8, 12, 16)  # a report that nobody hides can afford few steps
FEW_GRIDS = (*LOCAL_GRIDS, 24, 32, 48, 64)


def forecast_shuffled(
    question: Question,
    *,
    n: int,
    honest: int,
    epsilon: float,
    delta: float,
    rounds: int,
    hiding: Mapping[str, Any] = NOISE,
) -> Poll:
    """About the poll that keeps the promise over all rounds: the noise that one round needs to
    leak the share of a Gaussian mechanism that it may, mu / sqrt(rounds).

    Shuffled reports are many, so their privacy loss is nearly Gaussian: the error is mostly within
    5 % of the certified poll's.
    """
    once = epsilon
    if rounds > 1:
        mu = deviation(epsilon, delta) / math.sqrt(rounds)
        once = max(analytic_gaussian.epsilon(sigma=1.0 / mu, delta=delta), epsilon / rounds)
    terms: dict[str, Any] = {"n": n, "honest": honest, "delta": delta}
    if question.size is not None:
        return Poll(question, epsilon=once, **terms, **hiding)
    hidden = Poll(question, epsilon=once, k=guessed_grid(n, once, delta), **terms)
    alone = (Poll(question, epsilon0=once, k=k, **terms) for k in FEW_GRIDS)  # what few people cannot add to
    return min((hidden, *alone), key=lambda poll: poll.predicted_stderr())


def forecast_local(question: Question, *, n: int, epsilon: float, delta: float, rounds: int) -> Baseline:
    """The same without a shuffler, where a report's privacy loss is far from Gaussian: it is 0, or
    plus or minus epsilon0; at least epsilon / rounds is always allowed.
    """

    def noise(k: int, size: int | None) -> float:
        def fits(epsilon0: float) -> bool:
            return _delta_alone(SubsetSelection(k=k, epsilon0=epsilon0, size=size), epsilon, rounds) <= delta

        return halve(fits, epsilon / rounds, LARGEST_EPSILON0, middle=geometric, steps=STEPS)[0]

    if question.size is None:
        lone, width = noise(2, 1), question.scale(n) / n
        laws = ((Weights.grid("sum", k), KRR(k=k + 1, epsilon0=lone).realised) for k in LOCAL_GRIDS)
        error = min(OneMessage(law).worst(rows, n) for rows, law in laws)
        return number_named(width, n, lone, (error, 0, lone))
    return best_size(question.size, lambda size: noise(question.size or 2, size), n)


def _delta_alone(randomizer: SubsetSelection, epsilon: float, rounds: int) -> float:
    """Of two values' reports: E max(0, 1 - e^(epsilon - loss)), the loss being a walk of so many
    steps.
    """
    step = randomizer.epsilon0
    likely = min(randomizer.contrast / -math.expm1(-step), 1.0)
    once = np.array([likely * math.exp(-step), 0.0, likely])
    if rounds * once.sum() > MOST_TELLING:
        return gaussian_delta_roughly(math.sqrt(2.0 * rounds * randomizer.contrast * step), epsilon)
    once[1] = max(0.0, 1.0 - once.sum())
    walk = _walked(once, rounds)
    reach = len(walk) // 2
    losses = step * np.arange(-reach, reach + 1)
    above = losses > epsilon
    return float(walk[above] @ -np.expm1(epsilon - losses[above]))


def _walked(once: Floats, steps: int) -> Floats:
    """The law of the sum of so many independent steps: of half as many, twice, and of one more.
    Sums that never come are left out on both sides, or rare steps would be as slow as many.
    """
    if steps == 1:
        return once
    half = _walked(once, steps // 2)
    whole = np.convolve(half, half)
    if steps % 2:
        whole = np.convolve(whole, once)
    middle = len(whole) // 2
    reach = np.abs(np.flatnonzero(whole > NEGLIGIBLE) - middle).max()
    return whole[middle - reach : middle + reach + 1]


KEPT = 256  # plans that were certified: whoever moves a slider back finds them
ROUGH, FINE = 41, 81  # points of the curve, while something moves and when it rests
REACH, DENSER = 3.0, 1.3  # how far it is drawn beyond the promise, with more points where it falls
QUICK = 0.03  # seconds that a published bound may take in the first pass
NOTICED = 1.05  # times closer: less is not worth a number
STEP, LOWEST = 3, 300  # the curve is drawn down to a power of 1/1000 below delta


@dataclass(frozen=True)
class CalibratedPlan:
    """A request whose noise is chosen, and certified."""

    asked: PlanRequest
    poll: Poll

    @property
    def epsilon(self) -> float:
        """What is promised, or certified for noise that was given."""
        if self.asked.given == "epsilon":
            return self.asked.epsilon
        certified = self.poll.guarantee.epsilon_at_most(delta=self.asked.delta)
        if not LEAST_PROMISED <= certified <= MOST_PROMISED:
            worth, few = rounded(certified, up=True, zeros=False), certified < LEAST_PROMISED
            raise InvalidInput(
                f"epsilon0 must be worth an epsilon between {exactly(LEAST_PROMISED)} and {MOST_PROMISED:g} to be "
                f"compared, got {exactly(self.asked.epsilon0)}, which is worth {worth}. "
                f"{'Allow more, or lower delta' if few else 'Lower it, or ask for fewer rounds'}."
            )
        return certified


@lru_cache(maxsize=KEPT)
def calibrated(asked: PlanRequest) -> CalibratedPlan:
    """Choose the noise that a request leaves open."""
    terms = _terms(asked) | {asked.given: getattr(asked, asked.given)}
    return CalibratedPlan(asked, Poll(asked.question, honest=asked.crowd, **terms, **asked.hiding))


def answer(asked: PlanRequest, part: str = "certified") -> dict[str, Any]:
    """One part of the answer; it is kept, and not to be changed.

    >>> asked = PlanRequest(task="histogram", n=10_000, size=16, epsilon=1.0, delta=1e-6)
    >>> found = answer(asked)
    >>> found["epsilon0"]["text"], [each["trust"] for each in found["errors"]]
    ('5.535', ['nobody', 'the shuffler', 'the curator'])
    """
    if part not in tuple(PARTS):  # a tuple, as what was sent may not be hashable
        raise InvalidInput(f"part must be one of {', '.join(PARTS)}, got {part!r}. Reload the page.")
    return _kept(asked, part)


@lru_cache(maxsize=KEPT)
def _kept(asked: PlanRequest, part: str) -> dict[str, Any]:
    return PARTS[part](asked)


def _numbers(asked: PlanRequest) -> dict[str, Any]:
    """What can be said at once: all, of one round of counts; a forecast of what takes longer."""
    if asked.rounds == 1 and not asked.of_number:
        return _certified(asked)
    if asked.given == "epsilon0":
        found = calibrated(asked)
        shuffled, epsilon = found.poll, found.epsilon
    else:
        epsilon, terms = asked.epsilon, _terms(asked)
        shuffled = forecast_shuffled(asked.question, honest=asked.crowd, epsilon=epsilon, hiding=asked.hiding, **terms)
    local = forecast_local(asked.question, epsilon=epsilon, **_terms(asked))
    return _shown(asked, shuffled, local, epsilon, certified=False)


def _certified(asked: PlanRequest) -> dict[str, Any]:
    found = calibrated(asked)
    local = best_alone(asked.question, epsilon=found.epsilon, **_terms(asked))
    shown = _shown(asked, found.poll, local, found.epsilon, certified=True)
    return shown | {"curve": _drawn(found, ROUGH, ROUGH_GAP)}


def _shown(asked: PlanRequest, shuffled: Poll, local: Baseline, epsilon: float, *, certified: bool) -> dict[str, Any]:
    curator = best_curator(asked.question, epsilon=epsilon, **_terms(asked))
    models = [
        ("local", "nobody", local.name),
        ("shuffled", "the shuffler", ""),
        ("central", "the curator", curator.name),
    ]
    errors = {"local": local.error, "shuffled": shuffled.predicted_stderr(), "central": curator.error}
    return {
        "certified": certified,
        "epsilon": _promised(asked, epsilon),
        "delta": _said(asked.delta),
        "only": reserved(shuffled.randomizer.assumptions),
        "epsilon0": _said(asked.epsilon0) if asked.given == "epsilon0" else _up(shuffled.epsilon0),
        "alone": Design.of(shuffled).reveals,
        "bits": f"{shuffled.bits:,}",
        "honest": f"{asked.crowd:,}",
        "errors": [
            {"model": name, "trust": trust, "mechanism": mechanism, **_error(asked, errors[name])}
            | {"scale": asked.question.scale(asked.n)}
            for name, trust, mechanism in models
        ],
        "error": planned(asked.task).error,
        "gain": _gain(errors, local.name, curator.name, "" if certified else "about "),
        "meaning": meaning(_times_of(epsilon), exactly(asked.delta)),
        "colluding": _colluding(shuffled.epsilon0, asked.rounds, "at most" if certified else "about"),
        "cautions": large_delta(asked.delta, asked.n),
        "commands": asked.commands(),
    }


def _curve(asked: PlanRequest) -> dict[str, Any]:
    """The certified interval, and the curve that it is a point of, as finely as it can be seen."""
    found = calibrated(asked)
    bound = found.poll.guarantee.epsilon(delta=asked.delta)
    upper = _up(bound.upper)
    if found.epsilon < bound.upper:  # calibrating certified the promise, and saw more than this search for its place
        upper = _promised(asked, found.epsilon)
    interval = {"lower": {"value": bound.lower, "text": rounded(bound.lower, up=False)}, "upper": upper}
    return {
        "interval": interval,
        "only": reserved(bound.assumptions),
        "method": bound.method,
        "curve": _drawn(found, FINE, FIGURE_GAP),
    }


def _drawn(found: CalibratedPlan, points: int, gap: float) -> dict[str, Any]:
    """Both certified ends of delta, closer to each other for a smaller gap, and the promise."""
    asked = found.asked
    epsilons = REACH * found.epsilon * np.linspace(0.0, 1.0, points) ** DENSER
    band = found.poll.guarantee.profile(epsilons, gap=gap)
    return {
        "epsilon": _promised(asked, found.epsilon),
        "delta": _said(asked.delta),
        "floor": 10.0 ** -min(STEP * math.ceil(1.0 - math.log10(asked.delta) / STEP), LOWEST),
        "at": band.at.tolist(),
        "lower": band.lower.tolist(),
        "upper": band.upper.tolist(),
    }


def _published(asked: PlanRequest, patience: float = QUICK) -> dict[str, Any]:
    """What every published bound says, and why the others say nothing."""
    guarantee = calibrated(asked).poll.guarantee
    table = compare(guarantee, delta=asked.delta, patience=patience)
    rows = [
        {
            "name": row.name,
            "label": _authors(row.name),
            "citation": row.citation,
            "side": row.side,
            "verdict": "refuted" if row.refuted else row.standing,
            "remark": row.rests if row.standing == "assumed" else row.remark,
            "epsilon": {"value": _finite(row.value), "text": rounded(row.value, up=row.side == "upper")},
            "times": "" if math.isnan(row.ratio) else rounded(row.ratio, up=True, digits=3),
        }
        for row in table.rows
    ]
    return {
        "rows": rows,
        "silent": [_silent(left) for left in table.refused],
        "skipped": [_silent(left) for left in table.skipped],
    }


PARTS: dict[str, Callable[[PlanRequest], dict[str, Any]]] = {
    "numbers": _numbers,
    "certified": _certified,
    "curve": _curve,
    "published": _published,
    "thorough": partial(_published, patience=PATIENCE),
}

QUICK_PARTS = ("numbers",)  # the others may take seconds


def _terms(asked: PlanRequest) -> dict[str, Any]:
    return {"n": asked.n, "delta": asked.delta, "rounds": asked.rounds}


def _up(value: float) -> dict[str, Any]:
    return {"value": _finite(value), "text": rounded(value, up=True, zeros=False)}


def _promised(asked: PlanRequest, epsilon: float) -> dict[str, Any]:
    return _said(epsilon) if asked.given == "epsilon" else _up(epsilon)


def _said(value: float) -> dict[str, Any]:
    """A number that was given, as it was given."""
    return {"value": value, "text": exactly(value)}


def _finite(value: float) -> float | None:
    """As JSON can hold it."""
    return value if math.isfinite(value) else None


def _error(asked: PlanRequest, error: float) -> dict[str, Any]:
    """In people and as a share of them, or in the unit of the mean and as a share of its range."""
    share = error / asked.question.scale(asked.n)
    return {
        "value": error,
        "text": in_digits(error, 3) if asked.question.counts else rounded(error, up=True, digits=3),
        "share": f"{in_digits(100.0 * share, 2)} %",
    }


def in_digits(number: float, digits: int, *, up: bool = True) -> str:
    """A number in so many digits, without an exponent where there is room.

    >>> (
    ...     in_digits(1234.5, 3),
    ...     in_digits(0.01234, 3),
    ...     in_digits(234.5, 2),
    ...     in_digits(98765432.1, 3),
    ... )
    ('1,240', '0.0124', '240', '98,800,000')
    """
    text = rounded(number, up=up, digits=digits, zeros=False)
    return f"{float(text.replace(',', '')):,.0f}" if 10.0 ** (digits - 1) <= number < 1e15 else text


def _gain(errors: dict[str, float], alone: str, by_curator: str, about: str) -> str:
    """How the shuffled model stands between the two others."""
    nearer, farther = errors["local"] / errors["shuffled"], errors["shuffled"] / errors["central"]
    closer = f"{about.title()}{in_digits(nearer, 2, up=False)} times closer than without a shuffler ({alone})"
    if nearer < NOTICED:
        closer = f"Hardly closer than without a shuffler ({alone})"
    if nearer * NOTICED < 1.0:
        closer = f"{about.title()}{in_digits(1.0 / nearer, 2)} times as far off as without a shuffler ({alone})"
    curator = f"and {about}{in_digits(farther, 2)} times the error of a curator who sees every value"
    if farther <= 1.0:
        curator = "and as close as a curator who sees every value, or closer"
    return f"{closer}, {curator} ({by_curator})."


def _colluding(epsilon0: float, rounds: int, most: str) -> str:
    many = "" if rounds == 1 else f", in each of {rounds:,} rounds"
    return (
        f"If shuffler and analyst collude, only the noise in a person's own report protects them: it changes the "
        f"probability of any report by {most} a factor of {_times_of(epsilon0)}{many}."
    )


def _times_of(epsilon: float) -> str:
    """e to the epsilon, rounded up."""
    factor = math.exp(epsilon)
    return in_digits(factor, 3) if factor < 1e7 else rounded(factor, up=True, digits=3, zeros=False)


def _authors(name: str) -> str:
    """Who and when, for a figure; what this package proves needs no label there.

    >>> _authors("feldman-2020-thm-3.1"), _authors("shuffledp-any")
    ('Feldman 2020', '')
    """
    who, when, *_ = (*name.split("-"), "")
    return f"{who.title()} {when}" if when.isdigit() else ""


def _silent(left: Left) -> dict[str, str]:
    return {"name": left.name, "citation": left.citation, "reason": left.reason}
