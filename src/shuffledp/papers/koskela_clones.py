"""Koskela et al. 2021, figures 2 and 5 to 9: any epsilon0-LDP randomizer, by the clones pair.

Figure 2 is in both versions of the paper, the others in the first only. The Fourier accountant is
run on the pair that the paper prints, (6.1) of the first version and (5.1) of the revision, which
is looser than Feldman's (erratum 5). Truncation is at 1e-17 instead of the paper's 1e-12, as its
axes go down to 1e-15. Feldman's Thm 3.1 is drawn as (C.2) of Koskela's first version, which
is that of Feldman's first version.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

import shuffledp as sdp
from shuffledp.literature import composition, feldman
from shuffledp.literature.koskela_pairs import clones_pair, feldman_pair
from shuffledp.papers.experiment import Axis, Experiment, Line, curve, find, span
from shuffledp.papers.koskela_curves import GRID, PAPER, certified_profile, deltas_of, keyed, parted, reaches, value

DELTA, EPSILON = "delta", "epsilon"
TAU = 1e-17
FA, INTENDED, ANY = "FA on the paper's pair", "FA on Feldman's own pair, one round", "any randomizer"
NUMERICAL = "Feldman et al. 2020, numerical, S = 1"
CLOSED = "Feldman et al. 2020, Thm 3.1 as (C.2)"

# Figures 2, 5 and 6

ROUNDS2 = (1, 2, 3, 4)


def _compute_numerical(n: int, epsilon0: float) -> Iterator[Line]:
    epsilons = np.linspace(0.1, 1.0, 37)
    yield from keyed(deltas_of(clones_pair(n, epsilon0, tau=TAU), ROUNDS2, epsilons), FA, "published", epsilons)
    yield Line(INTENDED, "published", epsilons, deltas_of(feldman_pair(n, epsilon0, tau=TAU), [1], epsilons)[1])
    yield curve(NUMERICAL, "published", epsilons, lambda epsilon: feldman.delta_upper(n, epsilon, epsilon0, step=1))
    mechanism = sdp.shuffle(sdp.AnyLDP(epsilon0=epsilon0), n=n)
    for rounds in ROUNDS2:
        yield from certified_profile(mechanism.compose(rounds), f"{ANY}, nc = {rounds}", epsilons)


def _verdict_numerical(least: float, lines: Sequence[Line]) -> str:
    numerical, accountant = find(lines, NUMERICAL, "published"), find(lines, f"{FA}, nc = 1", "published")
    intended = find(lines, INTENDED, "published")
    ratio, erratum, apart = numerical.y / intended.y, accountant.y / intended.y, numerical.y / accountant.y
    rows = []
    for rounds in (1, 4):
        printed = value(lines, f"{FA}, nc = {rounds}", "published", 0.5)
        low, high = (value(lines, f"{ANY}, nc = {rounds}", kind, 0.5) for kind in ("lower", "upper"))
        times = f"{printed / high:.1f} times the upper end"
        rows.append(f"- nc = {rounds}: {printed:.2e}, certified {low:.2e} to {high:.2e} ({times}).")
    return (
        "**Agrees**: for one round the numerical method is not far from the accountant: its delta is "
        f"{span(apart)} times as large. Every curve of the figure is an upper bound. The paper's axis is labelled "
        f"down to {least:g}; the lowest point of its curves here is "
        f"{min(np.nanmin(numerical.y), np.nanmin(accountant.y)):.2g}.\n\n"
        "**Does not**: neither is tight even for Feldman's pair. The numerical method with S = 1 gives "
        f"{span(ratio)} times its delta, as the rule that ends it adds all unused mass; the accountant was run on a "
        f"pair of the paper's own, whose delta is {span(erratum)} times Feldman's (erratum 5).\n\nAnd the clones are "
        "far from what any randomizer can leak. At epsilon = 0.5, the paper's pair against that:\n\n"
    ) + "\n".join(rows)


def _parameters(n: int, epsilon0: float) -> str:
    users = f"{n:.0e}".replace("e+0", "e")
    return (
        f"n = {users}, epsilon0 = {epsilon0:g} (the paper's). {GRID}; truncated at {TAU:g}, "
        "and its curves end where rounding begins."
    )


def _numerical_figure(number: int, n: int, epsilon0: float, least: float) -> Experiment:
    return Experiment(
        name=f"koskela-fig{number}",
        paper=PAPER,
        title=f"Figure {number}: any randomizer in one to four rounds, and Feldman's numerical method",
        parameters=_parameters(n, epsilon0),
        x=Axis(EPSILON),
        y=Axis(DELTA, log=True, limits=(least, 0.5)),
        count=14,
        compute=partial(_compute_numerical, n, epsilon0),
        verdict=partial(_verdict_numerical, least),
    )


FIG2 = _numerical_figure(2, 10**4, 4.0, 1e-11)
FIG5 = _numerical_figure(5, 10**5, 7.0, 1e-7)
FIG6 = _numerical_figure(6, 10**6, 9.0, 1e-8)

# Figures 7, 8 and 9


def first_closed_form(n: int, epsilon0: float, delta: float) -> tuple[float, bool]:
    """(C.2) of the first version: log(1 + 8 sqrt(log(4/delta)/(pn)) + 8/(pn)), p = e^-eps0, and
    whether its condition eps0 <= log(n / (16 log(2/delta))) holds.

    The form of Feldman et al.'s first version, which lacks the factor (E-1)/(E+1) of eq (1):
    weaker, so valid under the same condition.
    """
    clones = n * math.exp(-epsilon0)
    holds = clones >= 16.0 * math.log(2.0 / delta)
    return math.log1p(8.0 * math.sqrt(math.log(4.0 / delta) / clones) + 8.0 / clones), holds


def _basic(n: int, epsilon0: float, delta: float, rounds: int) -> tuple[float, bool]:
    """Every round at delta/rounds."""
    one, holds = first_closed_form(n, epsilon0, delta / rounds)
    return composition.basic(one, delta / rounds, rounds)[0], holds


def _advanced(n: int, epsilon0: float, delta: float, rounds: int) -> tuple[float, bool]:
    """Half of delta for the rounds, half for the theorem's delta': the paper does not say."""
    one, holds = first_closed_form(n, epsilon0, 0.5 * delta / rounds)
    return composition.advanced(one, 0.5 * delta / rounds, rounds, 0.5 * delta)[0], holds


def _compute_closed(n: int, epsilon0: float, counts: Sequence[int], highest: float, theorem: str) -> Iterator[Line]:
    epsilons = np.logspace(-1.0, math.log10(min(highest, 19.0)), 57)  # the grid ends at 20
    yield from keyed(deltas_of(clones_pair(n, epsilon0, tau=TAU), counts, epsilons), FA, "published", epsilons)
    deltas = np.logspace(-1.0, -15.0, 71)
    composed = _basic if theorem == "basic" else _advanced
    for rounds in counts:
        answers = [composed(n, epsilon0, delta, rounds) for delta in deltas.tolist()]
        at, holds = map(np.array, zip(*answers, strict=True))
        yield from parted(f"{CLOSED} and {theorem} composition, nc = {rounds}", at, deltas, holds)
    mechanism = sdp.shuffle(sdp.AnyLDP(epsilon0=epsilon0), n=n)
    for rounds in counts:
        yield from certified_profile(mechanism.compose(rounds), f"{ANY}, nc = {rounds}", epsilons)


def _verdict_closed(epsilon0: float, least: float, counts: Sequence[int], theorem: str, lines: Sequence[Line]) -> str:
    rows, shares = [], []
    for rounds in counts:
        low, high = (reaches(lines, f"{ANY}, nc = {rounds}", kind, 1e-6) for kind in ("lower", "upper"))
        accountant = reaches(lines, f"{FA}, nc = {rounds}", "published", 1e-6)
        name = f"{CLOSED} and {theorem} composition, nc = {rounds}"
        closed = reaches(lines, name, "outside", 1e-6)
        alone = f", more than the {rounds * epsilon0:g} of the reports without a shuffler"
        useless = alone if closed > rounds * epsilon0 else ""
        rows.append(f"- nc = {rounds}: {closed:.2f}{useless}; {accountant:.3f}; {low:.3f} to {high:.3f}.")
        drawn = [line for line in lines if line.label == name]
        inside = sum(int(np.isfinite(line.y).sum()) for line in drawn if line.kind == "published")
        shares.append(1.0 - inside / len(drawn[0].y))
    return (
        f"Epsilon at delta = 1e-6 by Thm 3.1 and {theorem} composition; by the accountant; and the certified range for "
        f"any randomizer:\n\n"
        + "\n".join(rows)
        + "\n\n**Agrees**: composing losses is far tighter than composing the closed form.\n\n"
        "**Does not**: with these n and epsilon0 the theorem's condition asks for a delta per round of at least "
        f"{least:.1e}, so {min(shares):.0%} to {max(shares):.0%} of each of its curves, down to delta = 1e-15 in "
        "equal steps of log delta, lies outside it; and the accountant's pair is looser than Feldman's (erratum 5)."
    )


def _closed_figure(
    number: int, n: int, epsilon0: float, counts: Sequence[int], highest: float, theorem: str, count: int
) -> Experiment:
    least = 2.0 * math.exp(-n * math.exp(-epsilon0) / 16.0)
    return Experiment(
        name=f"koskela-fig{number}",
        paper=PAPER,
        title=f"Figure {number}: any randomizer in several rounds, and Feldman's Thm 3.1 with {theorem} composition",
        parameters=_parameters(n, epsilon0),
        x=Axis(EPSILON, log=True, limits=(0.1, highest)),
        y=Axis(DELTA, log=True, limits=(1e-15, 0.5)),
        count=count,
        compute=partial(_compute_closed, n, epsilon0, counts, highest, theorem),
        verdict=partial(_verdict_closed, epsilon0, least, counts, theorem),
    )


FIG7 = _closed_figure(7, 10**4, 4.0, (1, 2, 4), 8.0, "basic", 15)
FIG8 = _closed_figure(8, 10**6, 9.0, (1, 2, 4), 8.0, "basic", 15)
FIG9 = _closed_figure(9, 10**6, 9.0, (1, 8, 64), 500.0, "advanced", 14)
