"""Checks to run against a class of one's own: a randomizer, its sampler, a bound.

Each one raises ``AssertionError`` with a sentence that says what is wrong and by how much. They are
what the tests of shuffledp itself are made of: the truth is enumerated over all datasets of a
handful of users (``shuffledp.judge``), by code that shares nothing with the accountant.

    check_randomizer   all of the checks below that a randomizer is open to
    check_law          what a randomizer says of itself agrees with its matrix
    check_ends         lower <= exact <= upper, for every number of users, rounds and adversary
    check_sampler      what is drawn has the law that is accounted
    check_bound        a bound that claims to be proven is never below the truth

>>> from shuffledp import FromMatrix
>>> check_randomizer(FromMatrix([[0.75, 0.25], [0.25, 0.75]]), draws=2_000)
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp import judge
from shuffledp._types import Adversary
from shuffledp.accounting.shuffled import shuffle
from shuffledp.errors import DoesNotApply, InvalidInput
from shuffledp.literature.bound import Published, Setting
from shuffledp.randomizers.matrix import FromMatrix
from shuffledp.randomizers.randomizer import Atoms, Floats, Randomizer

RELATIVE, ABSOLUTE = 1e-12, 1e-15  # what the enumeration itself may be off by
LAW = 1e-9  # how far a description may be from its matrix, relative to the mass
GAP = 2e-4  # of the ends: a hundred times cheaper than single answers, and as binding
ALARM = 1e-9  # how often a sampler that is right is called wrong
SHARES = (0.0, 1e-3, 0.05, 0.3, 0.7, 0.97, 1.0 - 1e-6, 1.0)  # of epsilon0
ENDLESS = (0.0, 1e-3, 0.3, 1.0, 3.0, 10.0, 30.0)  # epsilons where epsilon0 is infinite
USERS = (1, 2, 3, 5)
MOST_STATES = 400_000  # entries of the laws that are enumerated for one number of users


def check_randomizer(
    randomizer: Randomizer,
    *,
    rows: ArrayLike | None = None,
    users: Sequence[int] = USERS,
    rounds: Sequence[int] = (1, 2),
    draws: int = 20_000,
    rng: np.random.Generator | None = None,
) -> None:
    """Everything that can be checked about ``randomizer``.

    ``rows`` is its matrix, ``rows[x][y]`` the probability of report y for input x; left out, it is
    the randomizer's own ``table``. With ``draws=0`` the sampler is not tested.
    """
    table = _rows(randomizer, rows)
    check_law(randomizer, rows=table)
    check_ends(randomizer, rows=table, users=users, rounds=rounds)
    if draws:
        check_sampler(randomizer, rows=table, draws=draws, rng=rng)


def check_law(randomizer: Randomizer, *, rows: ArrayLike | None = None) -> None:
    """What ``randomizer`` says of itself (epsilon0, gamma, worst pair, blankets, datasets) agrees
    with its matrix, and its description can be written as JSON.
    """
    table = _rows(randomizer, rows)
    low, high = table.min(axis=0), table.max(axis=0)
    possible = high > 0.0
    with np.errstate(divide="ignore"):
        largest = float(np.max(np.log(high[possible]) - np.log(low[possible])))
    _demand(
        randomizer.epsilon0 >= largest * (1.0 - LAW) - LAW,
        f"epsilon0 must be at least {largest:.12g}, the largest log-ratio of its matrix, got {randomizer.epsilon0!r}",
    )
    blanket = float(low.sum())
    _demand(
        randomizer.gamma <= blanket + LAW,
        f"gamma must be at most {blanket:.12g}, the sum of the least probabilities, got {randomizer.gamma!r}",
    )
    _demand(len(randomizer.blankets("upper")) > 0, "blankets('upper') must name at least one pair of inputs, got none")
    _demand(len(randomizer.datasets()) > 0, "datasets() must name at least one dataset, got none")
    for end in ("upper", "lower"):
        for atoms in randomizer.blankets(end):
            _check_masses(atoms, f"blankets({end!r})", randomizer.gamma)
    for atoms in randomizer.datasets():
        _check_masses(atoms, "datasets()", 1.0)
    described = randomizer.describe()
    _demand("randomizer" in described, f"describe() must name the randomizer, got {described!r}")
    try:
        json.dumps(described)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"describe() must be JSON, got {described!r}: {error}.") from None


def check_ends(
    randomizer: Randomizer,
    *,
    rows: ArrayLike | None = None,
    users: Sequence[int] = USERS,
    rounds: Sequence[int] = (1, 2),
    adversaries: Sequence[Adversary] = ("shuffled", "weak", "strong"),
    epsilons: ArrayLike | None = None,
) -> None:
    """lower <= exact <= upper, by enumeration over all datasets of so many ``users``.

    The weak and the strong adversary are enumerated for one round. Where an enumeration would be
    too large it is left out; at least one must remain.
    """
    table = merged(_rows(randomizer, rows))
    at = _epsilons(randomizer, epsilons)
    done = 0
    for n in users:
        for count in rounds:
            if _states(table, n) ** count <= MOST_STATES:
                band = shuffle(randomizer, n=n).compose(count).profile(at, gap=GAP)
                truth = judge.rounds_delta([table] * count, n, at)
                assert_between(band.lower, truth, band.upper, f"{n} users, {count} rounds")
                done += 1
        for view, slow in (("weak", judge.weak_delta), ("strong", judge.strong_delta)):
            if view in adversaries and _states(table, n) <= MOST_STATES:
                band = shuffle(randomizer, n=n, adversary=view).profile(at, gap=GAP)  # type: ignore[arg-type]
                pairs = list(permutations(range(len(table)), 2))
                truth = np.array([max(slow(table, n, pair, float(epsilon)) for pair in pairs) for epsilon in at])
                assert_between(band.lower, truth, band.upper, f"{n} users, {view} adversary")
                done += 1
    if not done:
        raise InvalidInput(
            f"users must hold a number small enough to enumerate, got {list(users)} for {table.shape[1]} outputs. "
            "Try users=(1, 2), or merge outputs that say the same."
        )


def check_sampler(
    randomizer: Randomizer,
    *,
    rows: ArrayLike | None = None,
    draws: int = 20_000,
    rng: np.random.Generator | None = None,
) -> None:
    """What ``randomize`` draws has the law of the matrix: ``draws`` reports of every input.

    Every cell is held against its exact binomial law; a sampler that is right is called wrong once
    in a billion runs. Reports must be the numbers 0, 1, ... of the matrix's columns.
    """
    from scipy.stats import binom  # a test's, not the accountant's

    table = _rows(randomizer, rows)
    level = ALARM / (2.0 * table.size)
    for x, law in enumerate(table):
        reports = np.asarray(randomizer.randomize(np.full(draws, x), rng=rng))
        _demand(
            reports.shape == (draws,),
            f"randomize must send one number for each of {draws} values, got shape {reports.shape}",
        )
        numbers = reports.dtype.kind in "iub" or (reports.dtype.kind == "f" and bool(np.all(np.isfinite(reports))))
        whole = reports.astype(np.int64) if numbers else np.array([-1])
        _demand(
            numbers and bool(np.all(whole == reports)) and int(whole.min()) >= 0 and int(whole.max()) < len(law),
            f"reports of input {x} must be whole numbers from 0 to {len(law) - 1}, got {_odd(reports, len(law))!r}",
        )
        for y, (count, mass) in enumerate(zip(np.bincount(whole, minlength=len(law)).tolist(), law, strict=True)):
            chance = min(float(binom.cdf(count, draws, mass)), float(binom.sf(count - 1, draws, mass)))
            _demand(
                chance >= level,
                f"report {y} of input {x} must come with probability {mass:.6g}, got {count} of {draws} draws "
                f"({count / draws:.6g}), which is that rare by chance: {chance:.1e}",
            )


def check_bound(
    bound: Published,
    cases: Sequence[tuple[Randomizer, ArrayLike]] | None = None,
    *,
    users: Sequence[int] = (2, 3, 5, 8),
    deltas: Sequence[float] = (1e-6, 1e-3, 0.05),
) -> int:
    """Hold a bound that claims to be proven against the truth, and return how many comparisons
    could have failed.

    ``cases`` are randomizers with their matrices; left out, k-ary randomized response with 2 to 4
    values. Where the bound does not apply, nothing is asked of it.
    """
    asked = 0
    for setting, delta, truth in _truths(list(cases) if cases is not None else _usual(), users, deltas):
        try:
            stated = bound.epsilon(setting, delta=delta)
        except DoesNotApply:
            continue
        asked += 1
        room = RELATIVE * truth + 1e-12
        where = f"{setting.randomizer!r}, {setting.n} users, delta = {delta:g}"
        if bound.side == "upper":
            _demand(stated >= truth - room, f"an upper bound must be at least {truth:.12g}, got {stated!r} ({where})")
        else:
            _demand(stated <= truth + room, f"a lower bound must be at most {truth:.12g}, got {stated!r} ({where})")
    if not asked:
        raise InvalidInput(
            "a bound must apply to at least one case to be checked, got none. Pass cases=[(randomizer, matrix), ...] "
            "and users that meet its conditions."
        )
    return asked


def assert_between(
    lower: ArrayLike, truth: ArrayLike, upper: ArrayLike, where: object = "", *, relative: float = RELATIVE
) -> None:
    """lower <= truth <= upper, number by number, up to the rounding of the truth itself."""
    low, value, high = (np.atleast_1d(np.asarray(side, dtype=np.float64)) for side in (lower, truth, upper))
    room = relative * value + ABSOLUTE
    _demand(bool(np.all((low >= 0.0) & (high <= 1.0))), f"delta must lie in [0, 1], got {low} to {high} ({where})")
    _demand(bool(np.all(low <= value + room)), f"lower ends must be at most {value}, got {low} ({where})")
    _demand(bool(np.all(value - room <= high)), f"upper ends must be at least {value}, got {high} ({where})")


def merged(rows: Floats) -> Floats:
    """The matrix with proportional columns added up: the same randomizer, to any analyst."""
    seen = rows[:, rows.max(axis=0) > 0.0]
    _, label = np.unique(np.round(seen / seen.max(axis=0), 11), axis=1, return_inverse=True)
    columns = np.zeros((rows.shape[0], int(label.max()) + 1))
    np.add.at(columns.T, label.ravel(), seen.T)
    return columns


def _rows(randomizer: Randomizer, rows: ArrayLike | None) -> Floats:
    given = getattr(randomizer, "table", None) if rows is None else rows
    if given is None:
        raise InvalidInput(
            f"rows must be given for {type(randomizer).__name__}, got none. Pass its matrix, rows[x][y] the "
            "probability of report y for input x: the truth is enumerated from it."
        )
    FromMatrix(given)  # which refuses what is no law
    return np.asarray(given, dtype=np.float64)


def _epsilons(randomizer: Randomizer, epsilons: ArrayLike | None) -> Floats:
    if epsilons is not None:
        return np.atleast_1d(np.asarray(epsilons, dtype=np.float64))
    if math.isinf(randomizer.epsilon0):
        return np.array(ENDLESS)
    return np.unique(np.array(SHARES) * randomizer.epsilon0)


def _states(table: Floats, n: int) -> int:
    """How many histograms n reports can have."""
    return math.comb(n + table.shape[1] - 1, n)


def _usual() -> list[tuple[Randomizer, ArrayLike]]:
    from shuffledp.randomizers import KRR

    return [(KRR(k=k, epsilon0=epsilon0), judge.krr(k, epsilon0)) for k in (2, 3, 4) for epsilon0 in (0.5, 2.0, 4.0)]


def _truths(
    cases: Sequence[tuple[Randomizer, ArrayLike]], users: Sequence[int], deltas: Sequence[float]
) -> Iterator[tuple[Setting, float, float]]:
    for randomizer, rows in cases:
        table = merged(np.asarray(rows, dtype=np.float64))
        for n in users:
            if _states(table, n) <= MOST_STATES:
                for delta in deltas:
                    yield Setting(randomizer, n), delta, judge.worst_epsilon(table, n, delta)


def _check_masses(atoms: Atoms, where: str, hay: float) -> None:
    for name, column, total in (
        ("hay", atoms.hay, hay),
        ("needle0", atoms.needle0, 1.0),
        ("needle1", atoms.needle1, 1.0),
    ):
        added = math.fsum(column.tolist())
        _demand(
            bool(np.all(column >= 0.0)) and abs(added - total) <= LAW,
            f"{name} of {atoms.name!r} in {where} must be masses that add up to {total:.12g}, got {added:.12g}",
        )


def _odd(reports: NDArray[Any], outputs: int) -> object:
    wrong = [each for each in reports.tolist() if each not in range(outputs)]
    return wrong[0] if wrong else reports.tolist()[0]


def _demand(right: bool, sentence: str) -> None:
    if not right:
        raise AssertionError(f"{sentence}.")
