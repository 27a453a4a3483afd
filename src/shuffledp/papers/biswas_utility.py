"""Tables 4 and 5 and Figures 1 to 3 of Biswas, Jung and Palamidessi 2023: how well shuffled k-RR
estimates a histogram, next to a central mechanism.

The paper compares both at epsilon = epsilon0. There delta is 0: one report alone is epsilon0-DP,
and its Theorem 1 has no term left, misprinted or not. No Gaussian mechanism is (epsilon, 0)-DP;
two-sided geometric noise is (Ghosh, Roughgarden and Sundararajan 2012). So there are two fair
comparisons, and both are drawn: with geometric noise at (epsilon0, 0), and with the Gaussian at the
(epsilon, delta) that shuffling certainly gives, for a delta of our choice. Estimates are left as
they are, also below 0, as in the paper. Everything runs on counts: the law of the reports is that
of k-RR, user by user.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri, ndtr

from shuffledp._types import Floats
from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.shuffled import shuffle
from shuffledp.errors import LEAST_DELTA, InvalidInput
from shuffledp.literature import biswas
from shuffledp.papers.charts import figure, heat_maps
from shuffledp.papers.cities import CITIES, City, described
from shuffledp.papers.experiment import Axis, Experiment, Kind, Line, arranged, by_panel, find
from shuffledp.poll import check_held
from shuffledp.randomizers import KRR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = "Biswas et al. 2023"
DELTA, DELTA_WORD = 1e-6, "1e-6"  # ours
SENSITIVITY = math.sqrt(2.0)  # one user moves from one bin to another
RUNS = 400  # of the tables; Figure 3 has the paper's 10
SHUFFLE, INVERTED, TRUE, PURE = "shuffle", "shuffle+INV", "true", "central geometric noise, (epsilon0, 0)-DP"
PRINTED = "central Gaussian"
EQUAL, MISPRINT = f"{PRINTED}, same certified guarantee", f"{PRINTED}, delta as misprinted"
ENDS: tuple[Kind, Kind] = ("upper", "lower")
Counts = NDArray[np.int64]

# Table 4: x0, and for each n the Gaussian and shuffle+INV. Table 5: the same for each city.
X0 = (1, 3, 5, 7)
TABLE_4 = {
    1_000: ([3e-3, 6e-4, 12e-4, 1e-4], [1e-3, 2e-4, 11e-4, 4e-3]),
    100_000: ([6e-6, 1e-5, 1e-5, 8e-6], [3e-3, 5e-4, 5e-4, 3e-5]),
}
TABLE_5 = {
    "San Francisco": ((40, 80, 120, 160, 200), [4e-6, 3e-5, 9e-6, 4e-5, 2e-5], [1e-3, 5e-4, 1e-3, 2e-4, 2e-4]),
    "Paris": ((20, 40, 60, 80, 100), [2e-6, 3e-5, 4e-5, 5e-5, 7e-5], [3e-4, 2e-3, 2e-3, 4e-4, 1e-4]),
}
USERS = {"San Francisco": 100_000, "Paris": 10_000}  # the most in Figure 3
EPSILON, BINS = 4.0, 15
CELL = Axis("cell, from the south-west, row after row")
_figure = partial(Experiment, paper=PAPER, x=CELL, y=Axis("share of the check-ins in a cell"))
EDGES = np.linspace(-6.0, 6.0, BINS + 1)[1:-1]


def individual_utility(truth: ArrayLike, estimate: ArrayLike) -> Floats:
    """The paper's individual specific utility of every value: |estimate - truth|, in users, so that
    0 is best. ``estimate`` is one histogram, or one in each row.

    >>> individual_utility([70, 20, 10], [64.5, 22.0, 13.5]).tolist()
    [5.5, 2.0, 3.5]
    """
    counts, found = check_held(truth), check_held(estimate)
    if not counts.ndim or counts.shape not in (found.shape, found.shape[1:]):
        raise InvalidInput(
            f"truth and estimate must have one count for every value, got shapes {counts.shape} and {found.shape}. "
            "Pass the counts of the same values in the same order."
        )
    if np.any(counts < 0):
        raise InvalidInput(f"truth must count users, got {counts.min():g}. Only an estimate may be below 0.")
    return np.abs(found - counts)


def community_utility(truth: ArrayLike, estimate: ArrayLike) -> Floats:
    """Equations (13) and (14), the community level utility: the total variation distance between
    two histograms, half the sum of |estimate - truth| / n, also where an estimate is below 0. Of
    one estimate it is one number, of several rows one of each; 0 is best.

    >>> print(community_utility([70, 20, 10], [64.5, 22.0, 13.5]))
    0.055
    """
    errors, n = individual_utility(truth, estimate).sum(axis=-1), np.sum(truth, axis=-1)
    if not np.all(n > 0):
        raise InvalidInput(f"truth must count at least one user, got {n} in all. Pass the counts of all values.")
    found: Floats = errors / (2.0 * n)
    return found


def reports(truth: Counts, krr: KRR, rng: np.random.Generator, runs: int) -> Counts:
    """Counts of the shuffled reports when ``truth`` counts the inputs, one row per run: most tell
    the truth, the others anything.
    """
    kept = rng.binomial(truth, krr.hit - krr.miss, size=(runs, truth.size))
    return np.asarray(kept + rng.multinomial(truth.sum() - kept.sum(axis=1), np.full(krr.k, 1.0 / krr.k)))


def inverted(seen: Counts, krr: KRR) -> Floats:
    """Unbiased counts from those of the reports, in every row of equally many: the paper's
    shuffle+INV.
    """
    counts: Floats = krr.group_law(1, 0).estimate(seen.astype(np.float64), int(seen.sum(axis=-1).flat[0]))
    return counts


def _gaussian(sigma: float) -> float:
    """The mean absolute error of one bin."""
    return sigma * math.sqrt(2.0 / math.pi)


def _geometric(epsilon: float) -> float:
    """The mean absolute error of one bin with P(z) proportional to a^|z|, a = e^(-epsilon/2), as
    one user changes two bins by 1.
    """
    return 1.0 / math.sinh(epsilon / 2.0)


def _equal(krr: KRR, n: int) -> tuple[Bound, tuple[float, float]]:
    """The certified epsilon at DELTA, and the noise of the Gaussian with the same: most first, for
    the lower end of epsilon.
    """
    bound = shuffle(krr, n=n).epsilon(delta=DELTA)
    most, least = (gaussian.sigma(epsilon=e, delta=DELTA, sensitivity=SENSITIVITY) for e in (bound.lower, bound.upper))
    return bound, (most, least)


def _errors(panel: str, truth: Counts, epsilon0: float, at: Sequence[int], rng: np.random.Generator) -> Iterator[Line]:
    """Individual-specific utility: the mean of |estimate - truth| / n at some values, five lines;
    values are numbered from 1.
    """
    krr, n = KRR(k=truth.size, epsilon0=epsilon0), int(truth.sum())
    x, chosen = np.array(at, dtype=np.float64), np.array(at) - 1
    bound, noise = _equal(krr, n)
    panel = f"{panel}, epsilon({DELTA_WORD}) = {bound.upper:.3g}"
    seen = reports(truth, krr, rng, RUNS)
    for label, estimate in ((SHUFFLE, seen), (INVERTED, inverted(seen, krr))):
        yield Line(label, "law", x, individual_utility(truth, estimate)[:, chosen].mean(axis=0) / n, panel)
    yield Line(PURE, "law", x, np.full(x.size, _geometric(epsilon0) / n), panel)
    for kind, sigma in zip(ENDS, noise, strict=True):
        yield Line(EQUAL, kind, x, np.full(x.size, _gaussian(sigma) / n), panel)


def _printed(panel: str, at: Sequence[int], central: Sequence[float], shuffled: Sequence[float]) -> Iterator[Line]:
    for label, values in ((PRINTED, central), (INVERTED, shuffled)):
        yield Line(label, "printed", np.array(at, dtype=np.float64), np.array(values), panel)


def _table_4() -> Iterator[Line]:
    cumulative = np.concatenate([[0.0], ndtr(EDGES / 2.0), [1.0]])
    for n, columns in TABLE_4.items():
        rng = np.random.default_rng([2023, 4, n])
        truth = rng.multinomial(n, np.diff(cumulative))
        lines = list(_errors(f"n = {n}", truth, EPSILON, X0, rng))
        yield from lines
        panel, epsilon = lines[0].panel, shuffle(KRR(k=BINS, epsilon0=EPSILON), n=n).epsilon_at_most(delta=DELTA)
        deltas = [biswas.delta_printed(n, BINS, EPSILON, max(0, int(truth[x - 1]) - 1), epsilon) for x in X0]
        deltas = [max(delta, LEAST_DELTA) for delta in deltas]  # no Gaussian has 0; a larger delta needs less noise
        noise = [gaussian.sigma(epsilon=epsilon, delta=delta, sensitivity=SENSITIVITY) for delta in deltas]
        yield Line(MISPRINT, "invalid", lines[0].x, np.array([_gaussian(sigma) / n for sigma in noise]), panel)
        yield from _printed(panel, X0, *columns)


def _table_5(gowalla: str | None) -> Iterator[Line]:
    for city in CITIES:
        at, *columns = TABLE_5[city.name]
        n = USERS[city.name]
        rng = np.random.default_rng([2023, 5, n])
        lines = list(_errors(_named(city, gowalla, n), rng.multinomial(n, city.shares(gowalla)), EPSILON, at, rng))
        yield from lines
        yield from _printed(lines[0].panel, at, *columns)


def _figure_3(gowalla: str | None) -> Iterator[Line]:
    """Community-level utility: the total variation distance, of 10 runs with shuffling and in the
    mean for central noise.
    """
    for city in CITIES:
        k = city.box.cells
        users = np.array([0.1, 0.2, 0.4, 0.6, 0.8, 1.0]) * USERS[city.name]
        for epsilon0 in (4.0, 6.0):
            panel, krr = f"{_named(city, gowalla)}, epsilon0 = {epsilon0:g}", KRR(k=k, epsilon0=epsilon0)
            rng = np.random.default_rng([2023, 3, k, int(epsilon0)])
            counts = [round(n) for n in users.tolist()]
            found: dict[str, list[Floats]] = {SHUFFLE: [], INVERTED: []}
            for n in counts:
                truth = rng.multinomial(n, city.shares(gowalla), size=10)
                seen = np.concatenate([reports(each, krr, rng, 1) for each in truth])
                for label, estimate in ((SHUFFLE, seen), (INVERTED, inverted(seen, krr))):
                    found[label].append(community_utility(truth, estimate))
            for label, distances in found.items():
                yield Line(label, "law", np.repeat(users, 10), np.concatenate(distances), panel)
            yield Line(PURE, "law", users, k * _geometric(epsilon0) / (2.0 * users), panel)
            for kind, sigma in zip(ENDS, np.array([_equal(krr, n)[1] for n in counts]).T, strict=True):
                yield Line(EQUAL, kind, users, k * _gaussian(1.0) * sigma / (2.0 * users), panel)


def _check_ins(gowalla: str | None) -> Iterator[Line]:
    for city in CITIES:
        shares, n = city.shares(gowalla), int(city.check_ins(gowalla).sum()) if gowalla else None
        yield Line(TRUE, "law", np.arange(1.0, shares.size + 1.0), shares, _named(city, gowalla, n))


def _map(gowalla: str | None) -> Iterator[Line]:
    for city in CITIES:
        n, krr = USERS[city.name], KRR(k=city.box.cells, epsilon0=EPSILON)
        rng = np.random.default_rng([2023, 2, n])
        truth = rng.multinomial(n, city.shares(gowalla))
        seen = reports(truth, krr, rng, 1)[0]
        bound, (_, sigma) = _equal(krr, n)
        central = truth + rng.normal(0.0, sigma, size=truth.size)
        panel = f"{_named(city, gowalla, n)}, epsilon({DELTA_WORD}) = {bound.upper:.3g}"
        for label, counts in ((TRUE, truth), (SHUFFLE, seen), (INVERTED, inverted(seen, krr)), (EQUAL, central)):
            yield Line(label, "law", np.arange(1.0, truth.size + 1.0), counts / n, panel)


def _plain(value: float, digits: str) -> str:
    return f"{value:{digits}}".replace("e-0", "e-")


def _named(city: City, gowalla: str | None, n: int | None = None) -> str:
    return f"{city.name}{'' if gowalla else ' (synthetic)'}{f', n = {n}' if n else ''}"


# What the lines say


def _panels(lines: Sequence[Line]) -> dict[str, int]:
    """The panels with their n, as their titles say it."""
    return {panel: int(panel.partition("n = ")[2].partition(",")[0]) for panel in by_panel(lines)}


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 10.0 else f"{value:.2g}"


def _span(values: Sequence[float] | Floats) -> str:
    low, high = (_number(float(value)) for value in (np.min(values), np.max(values)))
    return low if low == high else f"{low} to {high}"


def _ratio(lines: Sequence[Line], panel: str, over: str, kind: Kind) -> Floats:
    """shuffle+INV against another curve, at every point of a panel."""
    return find(lines, INVERTED, "law", panel).y / find(lines, over, kind, panel).y


def _at_both(lines: Sequence[Line], multiple: str) -> str:
    """How far shuffle+INV is from central noise, at the paper's guarantee and the certified one."""
    panels = _panels(lines)
    pure = "; ".join(f"{_span(_ratio(lines, panel, PURE, 'law'))} at n = {n}" for panel, n in panels.items())
    ratios = {panel.rpartition(" = ")[2]: _span(_ratio(lines, panel, EQUAL, "upper")) for panel in panels}
    equal = "; ".join(f"{ratio} at ({epsilon}, {DELTA_WORD})" for epsilon, ratio in ratios.items())
    return (
        f"But at epsilon = epsilon0 = {EPSILON:g} delta is 0, and no Gaussian mechanism has that guarantee "
        f"(erratum 14). Geometric noise has, and the error of shuffle+INV over its error {multiple} {pure}. The "
        "two are comparable at the guarantee that shuffling certainly gives: there the error of shuffle+INV over that "
        f"of the central Gaussian is {equal}."
    )


def _verdict_4(lines: Sequence[Line]) -> str:
    panels = _panels(lines)
    counts = np.concatenate([n * find(lines, PRINTED, "printed", panel).y for panel, n in panels.items()])
    low, high = (math.sqrt(float(np.sum(counts**2) / chdtri(counts.size, tail))) for tail in (0.025, 0.975))
    delta = gaussian.delta(sigma=high, epsilon=EPSILON, sensitivity=SENSITIVITY)
    worse = np.concatenate([1.0 / _ratio(lines, panel, MISPRINT, "invalid") for panel in panels])
    return (
        'The paper: "When n = 1,000, shuffle+INV is comparable with the Gaussian mechanism"; "even for a large value '
        "of n, the utility of shuffle+INV, "
        f'although slightly worse than the Gaussian mechanism, is quite good". {_at_both(lines, "grows with n:")} The '
        f"Gaussian errors that the paper prints are of the size of noise with sigma between {low:.2g} and {high:.2g} "
        f"counts (95 % range from {counts.size} numbers of one or two digits, if each is one draw). At epsilon = "
        f"{EPSILON:g} such noise has a delta of at least {_plain(delta, '.1g')}, and not 0 as the reports have. With "
        f"the misprinted delta at the certified epsilons, the Gaussian would come out at least {_span(worse)} times "
        "worse than shuffle+INV."
    )


def _verdict_5(lines: Sequence[Line]) -> str:
    printed = [line for line in lines if line.kind == "printed"]
    own = np.concatenate([find(mine, INVERTED).y / find(mine, PRINTED).y for mine in by_panel(printed).values()])
    return (
        'The paper: "the Gaussian mechanism approximates the original distributions slightly better than the '
        'shuffle+INV, but they are comparable". '
        f"In its own table the errors of shuffle+INV are {_span(own)} times as large. "
        f"{_at_both(lines, 'is large in both cities:')} Each check-in counts as one user, as in the paper."
    )


def _verdict_3(lines: Sequence[Line]) -> str:
    rows, spreads, bias = [], [], []
    gaps: dict[str, list[Floats]] = {}
    for panel, mine in by_panel(lines).items():
        runs, pure, central = find(mine, INVERTED), find(mine, PURE), find(mine, EQUAL, "upper")
        users = central.x
        each = runs.y.reshape(users.size, -1)
        gap, multiple = each.mean(axis=1) / central.y, each.mean(axis=1) / pure.y
        few, many = (f"{gap[i]:.2f} and {_number(multiple[i])} at n = {users[i]:.0f}" for i in (0, -1))
        rows.append(f"{panel}: {few}, {many}")
        gaps.setdefault(panel.partition(",")[0], []).append(gap)
        spreads.append(float((np.ptp(each, axis=1) / each.mean(axis=1)).max()))
        bias.append(float(find(mine, SHUFFLE).y.reshape(each.shape)[-1].mean() / each[-1].mean()))
    wider = sum(low[-1] > high[-1] for high, low in gaps.values())
    return (
        'The paper: "the gap between their statistical utilities is very small and tends to vanish as the number of '
        'samples is small", most of all where '
        '"the privacy level is low (epsilon = 6)". But no Gaussian is (epsilon0, 0)-DP (erratum 14). '
        f"Distance of shuffle+INV over that of the central Gaussian with the same certified epsilon({DELTA_WORD}), "
        f"and over that of geometric noise with the same (epsilon0, 0): {'; '.join(rows)}. The gap is small at the "
        f"guarantee that shuffling gives, and for the most users it is wider at epsilon0 = 6 than at 4 in {wider} of "
        f"{len(gaps)} cities. At the guarantee that the paper names it is large, and grows with n. Without INV the "
        f"bias stays, and the distance for the most users is {_span(bias)} times as large. The ten runs of a point "
        f"differ by at most {100.0 * max(spreads):.0f} %."
    )


def _verdict_1(lines: Sequence[Line]) -> str:
    busiest = "{}: the busiest of the {} cells has {:.1f} % of them, and {} cells have none"
    cells = [busiest.format(each.panel, each.y.size, 100.0 * each.y.max(), np.sum(each.y == 0.0)) for each in lines]
    return (
        'The paper: "Location data from Gowalla check-ins from a northern part of San Francisco and a part of Paris". '
        f"Check-ins are counted in cells, so the points of its panels (a) and (b) are not drawn. {'; '.join(cells)}."
    )


def _verdict_map(lines: Sequence[Line]) -> str:
    rows = []
    for panel, n in _panels(lines).items():
        truth, *found = (find(lines, label, "law", panel).y for label in (TRUE, SHUFFLE, INVERTED, EQUAL))
        raw, inverse, central = (0.5 * float(np.abs(values - truth).sum()) for values in found)
        below = [f"{100.0 * np.mean(values < 0.0):.0f} %" for values in found[1:]]
        ours = f"{inverse:.3f} and {central:.3f}, with {below[0]} and {below[1]} of the cells below 0"
        rows.append(f"{panel.partition(',')[0]}, n = {n}: {ours}, and {raw:.3f} without INV")
    return (
        'The paper: "when the value of epsilon is 4, both the Gaussian mechanism and shuffle+INV generate results very '
        'close to the original distribution". '
        f"Total variation distance of shuffle+INV and of the central Gaussian at the same certified guarantee: "
        f"{'; '.join(rows)}. "
        "A Gaussian map that looks like the original is one with a weaker guarantee than that of the shuffled reports."
    )


def experiments(gowalla: str | os.PathLike[str] | None) -> tuple[Experiment, ...]:
    """Both tables, the box plots and the maps: of the check-ins in the file ``gowalla``, or of
    synthetic cities.
    """
    file = None if gowalla is None else os.fspath(gowalla)
    whose = "Gowalla check-ins" if file else "synthetic cities"
    source = described(file) if file is not None else "synthetic cities, not the paper's Gowalla check-ins"
    grids = " and ".join(f"{city.box.rows} x {city.box.columns}" for city in CITIES)
    ours = f"{source}; {grids} cells, ours, as the text of the paper gives none; seeded, not for release"
    n = f"n = {USERS['San Francisco']} and {USERS['Paris']}"
    table = partial(_figure, x=Axis("x0"), y=Axis("mean of |estimate - truth| / n", log=True))
    return (
        table(
            name="biswas-table4",
            title="Table 4: error at one value, shuffled k-RR next to central noise",
            parameters=(
                f"epsilon0 = 4, k = {BINS}, x0 = 1, 3, 5, 7 (the paper's); N(0, 2) with standard deviation 2 in bins "
                f"of [-6, 6], mean of {RUNS} runs, delta = {DELTA_WORD} (ours); seeded, not for release"
            ),
            count=16,
            compute=_table_4,
            verdict=_verdict_4,
        ),
        _figure(
            name="biswas-fig1",
            title=f"Figure 1: where the check-ins are, {whose}",
            parameters=ours,
            count=2,
            compute=lambda: _check_ins(file),
            verdict=_verdict_1,
            figure=heat_maps,
        ),
        table(
            name="biswas-table5",
            title=f"Table 5: error at one cell of the map, {whose}",
            parameters=f"epsilon0 = 4 and x0 (the paper's); {n}, mean of {RUNS} runs, delta = {DELTA_WORD}; {ours}",
            count=14,
            compute=lambda: _table_5(file),
            verdict=_verdict_5,
        ),
        _figure(
            name="biswas-fig3",
            title=f"Figure 3: total variation distance against n, {whose}",
            parameters=(
                f"epsilon0 = 4, 6, boxes of 10 runs, n (the paper's); central noise in the mean, delta = {DELTA_WORD}; "
                f"{ours}"
            ),
            x=Axis("n"),
            y=Axis("total variation distance", own=True),
            count=20,
            compute=lambda: _figure_3(file),
            verdict=_verdict_3,
            figure=box_plots,
        ),
        _figure(
            name="biswas-map",
            title=f"Figure 2: the map and three estimates of it, {whose}",
            parameters=f"epsilon0 = 4 (the paper's); {n}, delta = {DELTA_WORD}; {ours}",
            count=8,
            compute=lambda: _map(file),
            verdict=_verdict_map,
            figure=heat_maps,
        ),
    )


WIDTH = 0.05  # of a box, as a share of the axis


def box_plots(experiment: Experiment, lines: Sequence[Line]) -> Figure:
    """The usual figure, with a line through the medians and a box in place of each marker: the
    middle half of the runs, whiskers at most 1.5 times as long, and dots for runs farther out.
    """
    runs = [(line, {x: line.y[line.x == x] for x in np.unique(line.x).tolist()}) for line in arranged(lines)]
    medians = [replace(line, x=np.array([*at]), y=np.array([*map(np.median, at.values())])) for line, at in runs]
    drawn = figure(experiment, medians)
    for axes, panel in zip(drawn.axes, by_panel(medians), strict=False):
        mine = [(line, at) for line, at in runs if line.panel == panel]
        for curve, (line, at) in zip(list(axes.lines), mine, strict=True):
            if len(at) < line.x.size:
                curve.set_marker("")
                ink = {"color": curve.get_color(), "linewidth": 0.9}
                parts: dict[str, Any] = {f"{part}props": ink for part in ("box", "whisker", "cap", "median")}
                parts["flierprops"] = {"marker": ".", "markersize": 3.0, "markeredgecolor": curve.get_color()}
                width = WIDTH * (max(at) - min(at))
                axes.boxplot([*at.values()], positions=[*at], widths=width, manage_ticks=False, **parts)
        axes.autoscale(axis="y")
    return drawn


EXPERIMENTS: tuple[Experiment, ...] = experiments(None)
