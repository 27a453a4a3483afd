"""Table 1 and Figures 2, 3 and 4 of Feldman, McMillan and Talwar 2020, with our certified ends next
to the paper's curves.

The captions of our copy are lost, and n, epsilon0 and delta with them: the curves are those the
text names, at parameters of ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting import renyi
from shuffledp.accounting.accuracy import CURVE_GAP
from shuffledp.accounting.curves import Envelope
from shuffledp.accounting.haystack import BinaryDataset
from shuffledp.accounting.pld import CurveBand
from shuffledp.accounting.reductions import Curve, reduce
from shuffledp.accounting.shuffled import shuffle
from shuffledp.errors import DoesNotApply
from shuffledp.literature import balle, feldman, feldman_lemmas, own_bounds
from shuffledp.literature.bound import Published, Setting
from shuffledp.literature.composition import composed
from shuffledp.literature.other_papers import CHECKINS, CHEU, ERLINGSSON_GENERAL, GIRGIS, girgis
from shuffledp.papers.experiment import Axis, Experiment, Line, curve, ends, kind_of, span
from shuffledp.randomizers import KRR, RR, AnyLDP
from shuffledp.randomizers.randomizer import Randomizer

PAPER = "Feldman, McMillan and Talwar 2020"
DELTA = 1e-6
OURS, LEAST = "ours, any randomizer", "ours, no such bound can be lower"
CLONES, ALGORITHM, CLOSED = "Clones", "Clones, Algorithms 4-6", "Clones, theoretical (eq 1)"
BBGN, LOWER = "BBGN'19 (Bennett, generic)", "2RR, lower bound"
BKMTT, GDDSK = f"BKMTT'20, {CHECKINS.rests}", f"GDDSK'21, {GIRGIS.rests}"
CSUZZ, EFMRTT, BBGN_1 = "CSUZZ'19, 2RR", "EFMRTT'19", "BBGN'19, Thm 1"
BY_DP, BY_RDP = "Clones, via approximate DP", "Clones, via RDP"
NO_CLONES = "probability of no clone"

UPPER, LEAST_1 = "certified, at most", "certified, at least"
USERS_1, LOCALS_1 = 1_000_000, np.array([0.25, 0.45, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
TABLE_1: tuple[tuple[str, Callable[..., Randomizer], tuple[tuple[str, Published], ...]], ...] = (
    ("binary randomized response", RR, ((CSUZZ, CHEU), ("Thm 3.1", feldman.THM_3_1))),
    ("non-adaptive shuffle", partial(AnyLDP, adaptive=False), ((BBGN, balle.BENNETT), ("Thm 3.1", feldman.THM_3_1))),
    ("adaptive shuffle", AnyLDP, ((EFMRTT, ERLINGSSON_GENERAL), (BKMTT, CHECKINS), ("Thm 3.1", feldman.THM_3_1))),
    ("adaptive shuffle, delta0 = 1e-14", partial(AnyLDP, delta0=1e-14), (("Thm 3.8", feldman.THM_3_8),)),
    ("16-ary randomized response", partial(KRR, k=16), ((BBGN_1, balle.THEOREM_1), ("Cor 4.2", feldman.COR_4_2))),
)
USERS_2, LOCALS_2 = (10_000, 100_000, 1_000_000), np.linspace(0.5, 8.0, 11)
USERS_3, LOCAL_3 = 1000, 2.0
ORDERS_3 = np.unique(np.geomspace(2.0, 1024.0, 24).round())
ROUNDS_3 = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
USERS_4, LOCAL_4 = (500, 1000, 2000), 4.0


def amplification() -> Iterator[Line]:
    """Figure 2: epsilon against epsilon0. A curve ends where it leaves its conditions or exceeds
    epsilon0, the guarantee of one report.
    """
    curves: list[tuple[str, Published, Callable[..., Randomizer]]] = [
        (CLONES, own_bounds.CLONES, AnyLDP),
        (ALGORITHM, feldman.NUMERICAL, AnyLDP),
        (CLOSED, feldman.THM_3_1, AnyLDP),
        (BBGN, balle.BENNETT, AnyLDP),
        (BKMTT, CHECKINS, AnyLDP),
        (CSUZZ, CHEU, RR),
        (LOWER, feldman.LOWER_2RR, AnyLDP),
    ]
    for n in USERS_2:
        panel = f"n = {n:,}"
        for label, bound, build in curves:
            yield curve(label, kind_of(bound), LOCALS_2, partial(_amplified, bound, build, n), panel)
        yield curve(CLOSED, "outside", LOCALS_2, lambda e, n=n: _useful(_beyond(n, e), e), panel)  # type: ignore[misc]
        yield from _ends(OURS, LEAST, LOCALS_2, AnyLDP, n, panel)


def settings() -> Iterator[Line]:
    """Table 1: in each of its settings what was known before, and this work's."""
    for panel, build, bounds in TABLE_1:
        for label, bound in bounds:
            yield curve(label, kind_of(bound), LOCALS_1, partial(_amplified, bound, build, USERS_1), panel)
        yield from _ends(UPPER, LEAST_1, LOCALS_1, build, USERS_1, panel)


def _amplified(bound: Published, build: Callable[..., Randomizer], n: int, epsilon0: float) -> float:
    return _useful(bound.epsilon(Setting(build(epsilon0=epsilon0), n), delta=DELTA), epsilon0)


def _ends(above: str, below: str, xs: Floats, build: Callable[..., Randomizer], n: int, panel: str) -> Iterator[Line]:
    return ends(above, below, xs, [shuffle(build(epsilon0=e), n=n).epsilon(delta=DELTA) for e in xs.tolist()], panel)


def _useful(epsilon: float, epsilon0: float) -> float:
    return epsilon if epsilon < epsilon0 else math.nan


def _beyond(n: int, epsilon0: float) -> float:
    """Equation (1) where its condition fails, and at the last point before, so that the curve has
    no gap.
    """
    try:
        feldman.closed_form(n, float(min(epsilon0 + LOCALS_2[1] - LOCALS_2[0], LOCALS_2[-1])), DELTA)
    except DoesNotApply:
        return feldman.equation_1(n, epsilon0, DELTA)
    return math.nan


def divergences() -> Iterator[Line]:
    """Figure 3(a): Renyi divergence against its order."""
    mechanism = shuffle(AnyLDP(epsilon0=LOCAL_3), n=USERS_3)
    yield curve(CLONES, "published", ORDERS_3, lambda order: feldman_lemmas.divergence(USERS_3, LOCAL_3, order))
    theirs, dataset = partial(girgis, USERS_3, LOCAL_3), BinaryDataset(LOCAL_3, USERS_3 - 1, 0)
    yield curve(GDDSK, kind_of(GIRGIS), ORDERS_3, lambda order: _useful(theirs(order), LOCAL_3))
    pair = _band(dataset), _band(dataset.swapped())
    both = [partial(renyi.divergence_at_least, *each, LOCAL_3) for each in (pair, pair[::-1])]
    yield curve(LOWER, "published", ORDERS_3, lambda order: max(each(order) for each in both))
    yield from ends(OURS, LEAST, ORDERS_3, [mechanism.rdp(order=order) for order in ORDERS_3.tolist()])


def _band(curve: Curve) -> CurveBand:
    return lambda e: tuple(np.where(e < LOCAL_3, side, 0.0) for side in curve.bounds(e, CURVE_GAP))  # type: ignore[return-value]


def rounds() -> Iterator[Line]:
    """Figure 3(b): epsilon after many rounds."""
    xs = np.array(ROUNDS_3, dtype=np.float64)
    curves = (BY_RDP, feldman_lemmas.CLONES_RENYI), (BY_DP, composed(own_bounds.CLONES, "advanced")), (GDDSK, GIRGIS)
    law = AnyLDP(epsilon0=LOCAL_3)
    for label, bound in curves:
        after = lambda r, b=bound: b.epsilon(Setting(law, USERS_3, int(r)), delta=DELTA)  # noqa: E731
        yield curve(label, kind_of(bound), xs, after)
    once = shuffle(law, n=USERS_3)
    yield from ends(OURS, LEAST, xs, [once.compose(r).epsilon(delta=DELTA) for r in ROUNDS_3])


def tails() -> Iterator[Line]:
    """Figure 4: delta against epsilon, where amplification ends."""
    xs = np.linspace(0.0, LOCAL_4, 81)[:-1]
    for n in USERS_4:
        panel = f"n = {n:,}"
        binary, general = reduce(RR(epsilon0=LOCAL_4), n, "shuffled"), reduce(AnyLDP(epsilon0=LOCAL_4), n, "shuffled")
        yield Line("2RR", "published", xs, Envelope(binary.lowers, "lower", LOCAL_4)(xs, CURVE_GAP), panel)
        yield Line(CLONES, "published", xs, own_bounds.clones_curve(n, LOCAL_4)(xs, CURVE_GAP), panel)
        yield Line(OURS, "upper", xs, Envelope(general.uppers, "upper", LOCAL_4)(xs, CURVE_GAP), panel)
        yield Line(LEAST, "lower", xs, Envelope(general.lowers, "lower", LOCAL_4)(xs, CURVE_GAP), panel)
        yield Line(NO_CLONES, "law", xs, np.full_like(xs, math.exp((n - 1) * math.log1p(-math.exp(-LOCAL_4)))), panel)


def _by_label(lines: Sequence[Line], panel: str = "") -> dict[str, Floats]:
    return {line.label: line.y for line in lines if line.panel == panel and line.kind != "outside"}


def _both(over: Floats, under: Floats) -> Floats:
    """Ratios where both curves exist."""
    known = np.isfinite(over) & np.isfinite(under)
    return np.asarray(over[known] / under[known])


_span = partial(span, form=".3g")


def _judge_settings(lines: Sequence[Line]) -> str:
    said = []
    for panel, _, bounds in TABLE_1:
        curves = _by_label(lines, panel)
        *older, (work, _) = bounds
        factors = [f"{label} is {_span(_both(curves[label], curves[work]))} times {work}" for label, _ in older]
        factors.append(f"{work} is {_span(_both(curves[work], curves[UPPER]))} times the certified upper end")
        said.append(f"**{panel}**: {', and '.join(factors)}")
    return (
        "The entries of Table 1 are lost in our copy, and were not found. By what others quote of them, BBGN'19 grows "
        "like e^epsilon0 and EFMRTT'19 like e^(3 epsilon0), where this work grows like e^(epsilon0/2). Here are bounds "
        f"that can be evaluated, at n = {USERS_1:,}, wherever they apply and are below epsilon0. {'; '.join(said)}.\n\n"
        "The earlier bound for approximate local privacy, by BKMTT'20, is lost altogether."
    )


def _judge_amplification(lines: Sequence[Line]) -> str:
    panels = [_by_label(lines, f"n = {n:,}") for n in USERS_2]

    def ratios(over: str, under: str, which: Sequence[dict[str, Floats]] = panels) -> Floats:
        return np.concatenate([_both(curves[over], curves[under]) for curves in which])

    tighter = all(bool((ratios(older, CLONES) >= 1.0).all()) for older in (BBGN, BKMTT, CLOSED))
    bumps = sum(int((np.diff(curves[ALGORITHM]) < 0.0).sum()) for curves in panels)
    smooth = all(bool((np.diff(curves[CLONES][np.isfinite(curves[CLONES])]) > 0.0).all()) for curves in panels)
    kept = [int(np.isfinite(curves[BBGN]).sum()) for curves in panels]
    older = f"by factors of {_span(ratios(BBGN, CLONES))} and {_span(ratios(BKMTT, CLONES))}"
    above, off = ratios(CLONES, LOWER), ratios(ALGORITHM, CLONES).max() - 1.0
    return (
        "The paper says that Clones is tighter than BBGN'19 and BKMTT'20 in all regimes tested: "
        f"{'true' if tighter else 'false'} at every point here, {older}; of {LOCALS_2.size} values of epsilon0, "
        f"BBGN'19 says something at {kept[0]}, {kept[1]} and {kept[2]} for the three n. The closed form costs a "
        f"factor of {_span(ratios(CLOSED, CLONES))}. BKMTT'20 is {CHECKINS.rests}.\n\n"
        "It also says that Clones closely tracks the 2RR lower bound: here it is "
        f"{_both(panels[-1][CLONES], panels[-1][LOWER])[0]:.3g} times that at epsilon0 = {LOCALS_2[0]:g} and n = "
        f"{USERS_2[-1]:,}, and up to {above.max():.3g} times elsewhere.\n\n"
        f"The paper's curve is not monotone, which it owes to Algorithms 4-6 (here {bumps} falls, and up to {off:.0%} "
        f"too high); the same pair evaluated exactly {'is' if smooth else 'is not'} monotone.\n\n"
        "Most of the gap above the lower bound belongs to the pair: our theorem divides Clones by "
        f"{_span(ratios(CLONES, OURS))}, and is {_span(ratios(OURS, LEAST))} times what 2RR or 3RR leak on explicit "
        "datasets."
    )


def _judge_divergences(lines: Sequence[Line]) -> str:
    curves = _by_label(lines)
    above, lost = _both(curves[GDDSK], curves[CLONES]), ORDERS_3[np.isnan(curves[GDDSK])]
    end = f"; from order {lost.min():.0f} on it exceeds epsilon0" if lost.size else ""
    return (
        f"As in the paper, amplification is large at small orders ({curves[CLONES][0]:.2g} at order "
        f"{ORDERS_3[0]:.0f}, epsilon0 = {LOCAL_3:g}) and is lost at large ones: at order {ORDERS_3[-1]:.0f} Clones is "
        f"at {curves[CLONES][-1] / LOCAL_3:.0%} of epsilon0 and the 2RR lower bound at "
        f"{curves[LOWER][-1] / LOCAL_3:.0%}. {GDDSK}, is {_span(above)} times Clones{end}. Our theorem divides the "
        f"divergence of Clones by {_span(_both(curves[CLONES], curves[OURS]))}; our upper end is "
        f"{_span(_both(curves[OURS], curves[LEAST]))} times our lower one."
    )


def _judge_rounds(lines: Sequence[Line]) -> str:
    curves = _by_label(lines)
    wins = int(np.argmax(curves[BY_RDP] < curves[BY_DP]))
    gain = curves[BY_DP][-1] / curves[BY_RDP][-1]
    return (
        f"As in the paper, composing through Renyi divergences beats advanced composition: from {ROUNDS_3[wins]} "
        f"rounds on, by a factor of {gain:.3g} at {ROUNDS_3[-1]}; for one round it costs "
        f"{curves[BY_RDP][0] / curves[BY_DP][0] - 1.0:.0%}. {GDDSK}, is {_span(_both(curves[GDDSK], curves[BY_RDP]))} "
        "times as large. Privacy loss distributions over our theorem's pair divide Clones via RDP by "
        f"{_span(_both(curves[BY_RDP], curves[OURS]))}, and lie {_span(_both(curves[OURS], curves[LEAST]))} times "
        "above an explicit dataset."
    )


def _judge_tails(lines: Sequence[Line]) -> str:
    said, halves = [], []
    for n in USERS_4:
        curves = _by_label(lines, f"n = {n:,}")
        xs = next(line.x for line in lines if line.label == CLONES)
        halves.append([float(np.interp(LOCAL_4 / 2.0, xs, np.log(curves[label]))) for label in ("2RR", CLONES)])
        two = " and ".join(f"{math.exp(half):.1e}" for half in halves[-1])
        said.append(f"{n:,} users: {two} (mark {curves[NO_CLONES][0]:.1e})")
    binary, clones = (np.array(halves[0]) - np.array(halves[-1])) / ((USERS_4[-1] - USERS_4[0]) * math.exp(-LOCAL_4))
    return (
        "The paper shows a sharp transition from amplification to none as delta falls, near dotted marks whose "
        "formula our copy has lost. We mark the probability that no other user makes a clone, (1 - "
        "e^-epsilon0)^(n-1). The delta at which epsilon reaches half of epsilon0, for 2RR and for Clones: "
        f"{'; '.join(said)}.\n\n"
        f"From {USERS_4[0]} to {USERS_4[-1]:,} users that delta falls like e^(-c n e^-epsilon0) with c = {binary:.2f} "
        f"and {clones:.2f}. So the transition is real, and it is exponential in n e^-epsilon0 as the paper says, "
        "while the 1/16 = 0.06 in the condition of Thm 3.1 is slack of the proof: amplification lasts to far smaller "
        "delta. The 2RR curve is the worst of the datasets tried."
    )


_figure = partial(
    Experiment, paper=PAPER, x=Axis("epsilon0 of one report"), y=Axis("epsilon after shuffling", log=True)
)
EXPERIMENTS: tuple[Experiment, ...] = (
    _figure(
        name="feldman-table1",
        title="Table 1: what was known before, and this work",
        parameters=f"parameters: ours (the table's entries are lost): n = {USERS_1:,}, delta = {DELTA:g}",
        count=sum(len(bounds) + 2 for _, _, bounds in TABLE_1),
        compute=settings,
        verdict=_judge_settings,
    ),
    _figure(
        name="feldman-fig2",
        title="Figure 2: privacy amplification by shuffling",
        parameters=(
            f"parameters: ours (the paper's are lost): delta = {DELTA:g}; n = 1e4, 1e5 and 1e6; epsilon0 to 8. The "
            "paper's panels (a) and (b) may have another axis: its text speaks of epsilon0 only for (c)"
        ),
        count=10 * len(USERS_2),
        compute=amplification,
        verdict=_judge_amplification,
    ),
    _figure(
        name="feldman-fig3a",
        title="Figure 3(a): Renyi divergence of shuffled reports",
        parameters=f"parameters: ours (the paper's are lost): n = {USERS_3:g}, epsilon0 = {LOCAL_3:g}",
        x=Axis("order", log=True),
        y=Axis("Renyi divergence", log=True),
        count=5,
        compute=divergences,
        verdict=_judge_divergences,
    ),
    _figure(
        name="feldman-fig3b",
        title="Figure 3(b): rounds over the same users",
        parameters=(
            f"parameters: ours (the paper's are lost): n = {USERS_3:g}, epsilon0 = {LOCAL_3:g}, delta = {DELTA:g}"
        ),
        x=Axis("rounds", log=True),
        y=Axis("epsilon", log=True),
        count=5,
        compute=rounds,
        verdict=_judge_rounds,
    ),
    _figure(
        name="feldman-fig4",
        title="Figure 4: where amplification ends",
        parameters=f"parameters: ours (the paper's are lost): epsilon0 = {LOCAL_4:g}; n = 500, 1000 and 2000",
        x=Axis("epsilon"),
        y=Axis("delta", log=True),
        count=5 * len(USERS_4),
        compute=tails,
        verdict=_judge_tails,
    ),
)
