"""Koskela et al. 2021, figures 1, 3, 4 and 10: k-ary randomized response against the strong and the
weak adversary.

Figure 1 is in both versions of the paper, with different formulas; the others are in the first
version only. Its "P_s and Q_s" are (5.1), the distribution of one count, where the revision has Thm
8. All of them are drawn, (5.1) and (5.2) in both orders: P/Q, as printed, and Q/P.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Literal

import numpy as np

import shuffledp as sdp
from shuffledp._types import Floats
from shuffledp.literature.koskela import balle_epsilon
from shuffledp.literature.koskela_pairs import clones_pair, krr_strong_pair, krr_weak_pair, one_count_pair
from shuffledp.papers.experiment import Axis, Experiment, Kind, Line, find
from shuffledp.papers.koskela_curves import GRID, PAPER, below, certified, epsilons_of, parted, value

DELTA, EPSILON = "delta", "epsilon"
THM_8, FIRST_STRONG = "FA strong, Thm 8 of the revision", "FA strong, (5.1) of the first version"
THM_10, PROOF, FIRST_WEAK = (
    "FA weak, Thm 10 of the revision, counts independent",
    "FA weak, Thm 10 of the revision, counts as in its proof",
    "FA weak, (5.2) of the first version",
)
PRINTED, SWAPPED = ORDERS = ("P/Q", "Q/P")
BALLE = "Balle et al. 2019, Thm 3.1"
BASIC = f"{BALLE} and basic composition"
STRONG, WEAK = "strong view, exact", "weak view, exact"
ENDS: tuple[Kind, Kind] = ("upper", "lower")


_figure = partial(Experiment, paper=PAPER, x=Axis(DELTA, log=True, limits=(1e-7, 1e-2)), y=Axis(EPSILON))


def _deltas(low: int, high: int) -> Floats:
    """Five points for every power of ten."""
    return np.logspace(low, high, 5 * (high - low) + 1)


def _first(
    n: int, k: int, gamma: float, rounds: Sequence[int], deltas: Floats, adversary: Literal["weak", "strong"] = "strong"
) -> dict[str, dict[int, Floats]]:
    """(5.1) or (5.2) of the first version, in each of its orders."""
    pairs = {order: one_count_pair(n, k, gamma, adversary=adversary, reverse=order == SWAPPED) for order in ORDERS}
    return {order: epsilons_of(pair, rounds, deltas) for order, pair in pairs.items()}


def _balle(
    label: str, n: int, k: int, gamma: float, deltas: Floats, rounds: int = 1, panel: str = ""
) -> Iterator[Line]:
    """(C.1) of the first version at delta/rounds, times ``rounds``: basic composition."""
    one = np.array([balle_epsilon(n, k, gamma, delta / rounds, checked=False) for delta in deltas])
    yield from parted(label, deltas, rounds * one, one <= 1.0, panel)


def _percent(claimed: float, exact: float) -> str:
    return f"{100.0 * (claimed / exact - 1.0):+.0f} %"


def _listed(values: Sequence[float], digits: int = 3) -> str:
    return ", ".join(f"{x:.{digits}f}" for x in values)


# Figure 1

N1, K1, GAMMA1, ROUNDS1 = 1000, 4, 0.25, (1, 4, 16)


def _compute_1() -> Iterator[Line]:
    deltas, parameters = _deltas(-7, -3), (N1, K1, GAMMA1)
    randomizer = sdp.KRR.from_gamma(k=K1, gamma=GAMMA1)
    first = {FIRST_STRONG: _first(*parameters, ROUNDS1, deltas)}
    first[FIRST_WEAK] = _first(*parameters, ROUNDS1, deltas, "weak")
    published: list[tuple[str, Kind, dict[int, Floats]]] = [
        (THM_8, "invalid", epsilons_of(krr_strong_pair(*parameters), ROUNDS1, deltas)),
        (THM_10, "invalid", epsilons_of(krr_weak_pair(*parameters), ROUNDS1, deltas)),
        (PROOF, "published", epsilons_of(krr_weak_pair(*parameters, reading="multinomial"), ROUNDS1, deltas)),
        *((f"{name}, {order}", "invalid", curves[order]) for name, curves in first.items() for order in ORDERS),
    ]
    for rounds in ROUNDS1:
        panel = f"nc = {rounds}"
        for label, kind, curves in published:
            yield Line(label, kind, deltas, curves[rounds], panel)
        if rounds == 1:
            yield from _balle(BALLE, *parameters, deltas, panel=panel)
        yield from certified(sdp.shuffle(randomizer, n=N1, adversary="strong").compose(rounds), STRONG, deltas, panel)
        yield from certified(sdp.shuffle(randomizer, n=N1, adversary="weak").compose(rounds), WEAK, deltas, panel)


def _verdict_1(lines: Sequence[Line]) -> str:
    def at(label: str, kind: Kind, rounds: int, delta: float = 1e-6) -> float:
        return value(lines, label, kind, delta, f"nc = {rounds}")

    balle = find(lines, BALLE, "outside", "nc = 1").y
    both = [(at(THM_8, "invalid", r), at(STRONG, "upper", r)) for r in ROUNDS1]
    loose = [f"{claimed:.3f} for {exact:.3f} ({_percent(claimed, exact)})" for claimed, exact in both]
    where = []
    for r in ROUNDS1:
        points = below(find(lines, THM_10, "invalid", f"nc = {r}"), find(lines, WEAK, "lower", f"nc = {r}"))
        where += [f"up to delta = {points.max():.1e} with {r} rounds"] if points.size else []

    def first(family: str, order: str) -> str:
        view = STRONG if family == FIRST_STRONG else WEAK
        found = [(at(f"{family}, {order}", "invalid", r), at(view, "lower", r)) for r in ROUNDS1]
        values = ", ".join(f"{x:.3f} ({_percent(x, truth)})" for x, truth in found)
        return f"{'(5.1)' if view == STRONG else '(5.2)'} {order} {values}"

    firsts = "; ".join(first(*each) for each in product((FIRST_STRONG, FIRST_WEAK), ORDERS))
    return (
        "**Agrees**: one round of the exact strong and weak views, at delta = 1e-6, gives "
        f"{at(STRONG, 'upper', 1):.3f} and {at(WEAK, 'upper', 1):.3f}: a clear difference, and both are far below the "
        f"analytic bound, as the paper says. The analytic curve runs from {np.nanmin(balle):.2f} to "
        f"{np.nanmax(balle):.2f}, all of it outside the theorem's condition epsilon <= 1.\n\n"
        "**Does not**: the curves are called tight, and are not.\n\n"
        f"- For the strong adversary Thm 8 of the revision gives, at 1e-6 and 1, 4, 16 rounds, {'; '.join(loose)}: "
        "loose here, and not a bound in general (erratum 4).\n"
        "- For the weak adversary Thm 10 of the revision with independent counts lies *below* the certified lower end "
        f"{' and '.join(where) or 'nowhere'}: at delta = 1e-6 and 16 rounds {at(THM_10, 'invalid', 16):.3f}, where "
        f"the truth is at least {at(WEAK, 'lower', 16):.3f}. With the counts of its own proof it is a bound, "
        f"{at(PROOF, 'published', 16):.3f}, and loose "
        f"({_percent(at(PROOF, 'published', 16), at(WEAK, 'upper', 16))}).\n"
        "- (5.1) and (5.2) of the first version (errata 3 and 13), at delta = 1e-6 and 1, 4, 16 rounds, with the "
        f"distance from the certified lower end: {firsts}.\n"
        "- The axis of the first version is labelled up to 2.5. With 16 rounds and delta = 1e-7, (5.1) is at "
        f"{at(f'{FIRST_STRONG}, {PRINTED}', 'invalid', 16, 1e-7):.2f} (P/Q) and "
        f"{at(f'{FIRST_STRONG}, {SWAPPED}', 'invalid', 16, 1e-7):.2f} (Q/P), and Thm 8 of the revision at "
        f"{at(THM_8, 'invalid', 16, 1e-7):.2f}."
    )


FIG1 = _figure(
    name="koskela-fig1",
    title="Figure 1: k-RR in one and several rounds, against the strong and the weak adversary",
    parameters=f"n = 1000, gamma = 0.25, k = 4 (the paper's). {GRID}.",
    x=Axis(DELTA, log=True, limits=(1e-7, 1e-3)),
    count=34,
    compute=_compute_1,
    verdict=_verdict_1,
)

# Figure 3

K3, GAMMA3, PANELS3 = 5, 0.1, {"(a) n = 1e3": 10**3, "(b) n = 1e4": 10**4}
LABELLED3 = {"(a) n = 1e3": 3.5, "(b) n = 1e4": 1.0}  # the largest number at the paper's axis


def _compute_3() -> Iterator[Line]:
    deltas = _deltas(-7, -2)
    for panel, n in PANELS3.items():
        for order, curves in _first(n, K3, GAMMA3, [1], deltas).items():
            yield Line(f"{FIRST_STRONG}, {order}", "invalid", deltas, curves[1], panel)
        yield Line(THM_8, "invalid", deltas, epsilons_of(krr_strong_pair(n, K3, GAMMA3), [1], deltas)[1], panel)
        yield from _balle(BALLE, n, K3, GAMMA3, deltas, panel=panel)
        strong = sdp.shuffle(sdp.KRR.from_gamma(k=K3, gamma=GAMMA3), n=n, adversary="strong")
        yield from certified(strong, STRONG, deltas, panel)


def _verdict_3(lines: Sequence[Line]) -> str:
    a, b = PANELS3
    outside = find(lines, BALLE, "outside", b)
    limit = float(np.max(outside.x[outside.y > 1.0]))
    upper, lower = ([value(lines, STRONG, end, 1e-5, panel) for panel in (a, b)] for end in ENDS)
    drawn: tuple[Kind, Kind] = ("outside", "published")
    ratio = [value(lines, BALLE, kind, 1e-5, panel) / x for kind, panel, x in zip(drawn, (a, b), upper, strict=True)]
    first = []
    for order in ORDERS:
        found = [value(lines, f"{FIRST_STRONG}, {order}", "invalid", 1e-5, panel) for panel in (a, b)]
        off = list(map(_percent, found, lower))
        first.append(f"{order} gives {found[0]:.3f} ({off[0]}) and {found[1]:.3f} ({off[1]})")
    highest = [float(np.nanmax(find(lines, BALLE, "outside", panel).y)) for panel in (a, b)]
    eight = list(map(_percent, [value(lines, THM_8, "invalid", 1e-5, panel) for panel in (a, b)], upper))
    return (
        f"**Agrees**: the analytic bound is far from tight: at delta = 1e-5 it is {ratio[0]:.1f} (a) and "
        f"{ratio[1]:.1f} (b) times the exact strong view. Its highest points are {highest[0]:.2f} and "
        f"{highest[1]:.2f}, and the last labels of the paper's axes {LABELLED3[a]:.1f} and {LABELLED3[b]:.1f}.\n\n"
        f"**Does not**: its condition epsilon <= 1 fails everywhere in (a) and up to delta = {limit:.1e} in (b), "
        "where the paper draws it all the same. The curve of (5.1) of the first version is not the strong view: at "
        f"delta = 1e-5, with the distance from the certified lower end, {'; '.join(first)} (erratum 3); the "
        f"revision's Thm 8 would be {eight[0]} and {eight[1]} from the upper one (erratum 4)."
    )


FIG3 = _figure(
    name="koskela-fig3",
    title="Figure 3: one round of k-RR, the strong adversary and the analytic bound",
    parameters=f"gamma = 0.1, k = 5 (the paper's). {GRID}.",
    y=Axis(EPSILON, own=True),
    count=13,
    compute=_compute_3,
    verdict=_verdict_3,
)

# Figure 4

N4, ROUNDS4 = 10**4, (1, 2, 4)


def _compute_4() -> Iterator[Line]:
    deltas, strong = _deltas(-7, -2), sdp.shuffle(sdp.KRR.from_gamma(k=K3, gamma=GAMMA3), n=N4, adversary="strong")
    first = _first(N4, K3, GAMMA3, ROUNDS4, deltas)
    published = {f"{FIRST_STRONG}, {order}": curves for order, curves in first.items()}
    published[THM_8] = epsilons_of(krr_strong_pair(N4, K3, GAMMA3), ROUNDS4, deltas)
    for rounds in ROUNDS4:
        panel = f"nc = {rounds}"
        for label, curves in published.items():
            yield Line(label, "invalid", deltas, curves[rounds], panel)
        yield from _balle(BASIC, N4, K3, GAMMA3, deltas, rounds, panel)
        yield from certified(strong.compose(rounds), STRONG, deltas, panel)


def _verdict_4(lines: Sequence[Line]) -> str:
    rows = []
    for rounds in ROUNDS4:
        panel = f"nc = {rounds}"
        exact = value(lines, STRONG, "upper", 1e-4, panel)
        balle = value(lines, BASIC, "published", 1e-4, panel)
        found = {order: value(lines, f"{FIRST_STRONG}, {order}", "invalid", 1e-4, panel) for order in ORDERS}
        first = " and ".join(f"{order} {x:.3f} ({_percent(x, exact)})" for order, x in found.items())
        analytic = f"{balle:.3f} ({balle / exact:.1f} times)"
        rows.append(f"- nc = {rounds}: exact {exact:.3f}, analytic {analytic}, (5.1) of the first version {first}.")
    return (
        "At delta = 1e-4:\n\n"
        + "\n".join(rows)
        + "\n\n**Agrees**: composing losses beats basic composition, more so for more rounds.\n\n"
        "**Does not**: (5.1) of the first version is below the strong view that it claims to bound, in either order "
        "(erratum 3)."
    )


FIG4 = _figure(
    name="koskela-fig4",
    title="Figure 4: several rounds of k-RR, the strong adversary and basic composition",
    parameters=f"n = 1e4, gamma = 0.1, k = 5 (the paper's). {GRID}.",
    count=21,
    compute=_compute_4,
    verdict=_verdict_4,
)

# Figure 10

KS = (2, 3, 4, 8, 16)
PANELS10 = {"(a) n = 1e3, epsilon0 = 1": (10**3, 1.0), "(b) n = 1e4, epsilon0 = 4": (10**4, 4.0)}
LABELLED10 = 0.5  # the largest number at the paper's axis, in both panels
BLANKET, CLONES = "FA blanket, (5.1) of the first version", "FA clones, (6.1) of the first version"
SHUFFLED, ANY = "k-RR, shuffled", "any randomizer"


def _compute_10() -> Iterator[Line]:
    deltas = _deltas(-7, -2)
    for panel, (n, epsilon0) in PANELS10.items():
        gammas = {k: k / (math.exp(epsilon0) + k - 1.0) for k in KS}
        blanket = {k: _first(n, k, gamma, [1], deltas) for k, gamma in gammas.items()}
        clones = epsilons_of(clones_pair(n, epsilon0), [1], deltas)[1]
        for order in ORDERS:
            for k, curves in blanket.items():
                yield Line(f"{BLANKET}, k = {k}", "invalid", deltas, curves[order][1], f"{panel}, {order}")
            yield Line(CLONES, "published", deltas, clones, f"{panel}, {order}")
        for k in KS:
            randomizer, ours = sdp.KRR(k=k, epsilon0=epsilon0), f"{panel}, certified"
            strong = sdp.shuffle(randomizer, n=n, adversary="strong")
            yield from certified(sdp.shuffle(randomizer, n=n), f"{SHUFFLED}, k = {k}", deltas, ours)
            yield from certified(strong, f"{STRONG}, k = {k}", deltas, ours)
        yield from certified(sdp.shuffle(sdp.AnyLDP(epsilon0=epsilon0), n=n), ANY, deltas, ours)


def _which(curve: Sequence[float], clones: float) -> str:
    ks = [k for k, x in zip(KS, curve, strict=True) if x < clones]
    return "every k" if len(ks) == len(KS) else f"k = {_listed(ks, 0)}" if ks else "no k"


def _verdict_10(lines: Sequence[Line]) -> str:
    parts = []
    for panel in PANELS10:
        ours = f"{panel}, certified"
        clones = value(lines, CLONES, "published", 1e-5, f"{panel}, {PRINTED}")
        strong, shuffled = (
            [value(lines, f"{name}, k = {k}", "upper", 1e-5, ours) for k in KS] for name in (STRONG, SHUFFLED)
        )
        rows = []
        for order in ORDERS:
            found = [value(lines, f"{BLANKET}, k = {k}", "invalid", 1e-5, f"{panel}, {order}") for k in KS]
            off = [100.0 * (x / s - 1.0) for x, s in zip(found, strong, strict=True)]
            tall = max(value(lines, f"{BLANKET}, k = {k}", "invalid", 1e-7, f"{panel}, {order}") for k in KS)
            rows.append(
                f"- (5.1) of the first version, {order}: {_listed(found)}, {min(off):+.0f} to {max(off):+.0f} % from "
                f"that (erratum 3). The clones curve is above it for {_which(found, clones)}. Its highest point is "
                f"{tall:.2f}.\n"
            )
        highest = value(lines, CLONES, "published", 1e-7, f"{panel}, {PRINTED}")
        parts.append(
            f"{panel}, at delta = 1e-5 and for k = {_listed(KS, 0)}:\n\n"
            f"- The exact strong view is {_listed(strong)}.\n"
            + "".join(rows)
            + f"- What the shuffler alone leaks is at most {_listed(shuffled)}; for any randomizer it is at most "
            f"{value(lines, ANY, 'upper', 1e-5, ours):.3f}.\n"
            f"- The paper's clones curve is at {clones:.3f}: above the strong view for {_which(strong, clones)}, and "
            f"above what is leaked for {_which(shuffled, clones)}. Its highest point is {highest:.2f}; the paper's "
            f"axis is labelled up to {LABELLED10:g}.\n"
        )
    return (
        "\n".join(parts)
        + "\n**Agrees**: the blanket's guarantee weakens as k grows, and compared with the clones' it is "
        "better for larger epsilon0 and n.\n\n"
        "**Does not**: it is the strong adversary, who removes the target's own noise, that makes it weaken. Without "
        "it, amplification *improves* with k from k = 3 on, so the paper's observation that amplification is weaker "
        "for larger k is about its adversary, not about the shuffler."
    )


FIG10 = _figure(
    name="koskela-fig10",
    title="Figure 10: Blanket and clones for k-RR",
    parameters=f"gamma = k / (e^epsilon0 + k - 1) (the paper's). {GRID}.",
    y=Axis(EPSILON, own=True),
    count=68,
    compute=_compute_10,
    verdict=_verdict_10,
)
