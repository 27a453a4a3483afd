"""Tables 1 and 3 of Biswas, Jung and Palamidessi 2023: what was printed, the misprint recomputed,
the correction, and the certified truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.shuffled import shuffle
from shuffledp.literature.biswas import delta_corrected, delta_printed
from shuffledp.papers.experiment import Axis, Experiment, Kind, Line, by_panel, find
from shuffledp.randomizers import KRR

PAPER = "Biswas et al. 2023"
THEOREM, TRUTH = "Theorem 1 as printed", "certified: the histogram, worst dataset"
CORRECTED, WORST = "Theorem 1 corrected: one bin, one dataset", "Theorem 1 corrected: one bin, worst n0"
KINDS: tuple[Kind, Kind] = ("printed", "invalid")
Formula = Callable[[int, int, float, int, float], float]

# Table 1: n = 100, eps0 = 0.5; the columns are named by the paper's references.
EPSILONS_1 = np.array([0.1, 0.2, 0.3, 0.4])
COLUMNS = {
    "[10] Erlingsson et al. 2019": [0.97, 0.89, 0.77, 0.64],
    "[3] Balle et al. 2019": [0.229, 0.002, 1.77e-6, 5.95e-11],
    "[11] Feldman et al. 2020": [0.066, 1.91e-5, 2.43e-11, 1.35e-19],
    "[14] Koskela et al. 2021": [9.01e-4, 1.89e-6, 2.19e-10, 3.14e-16],
}
TIGHT = [2.38e-28, 1.61e-42, 5.22e-57, 5.14e-72]

# Table 3, row by row: n, k, eps0, and what is printed. The text fixes n0 = 80, but the rows for
# other n are those of n0 = 0.8 n.
EPSILONS_3 = np.array([0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
BASE = [2.49e-15, 3.25e-22, 2.20e-30, 1.57e-40, 0.0, 0.0, 0.0]
ROWS: dict[str, tuple[int, int, float, list[float]]] = {
    "epsilon0 = 1": (100, 10, 1.0, [2.08e-20, 3.42e-43, 0.0, 0.0, 0.0, 0.0, 0.0]),
    "epsilon0 = 2": (100, 10, 2.0, BASE),
    "epsilon0 = 3": (100, 10, 3.0, [8.79e-11, 5.73e-13, 3.52e-16, 4.49e-20, 1.09e-25, 4.52e-33, 0.0]),
    "n = 50": (50, 10, 2.0, [1.91e-8, 5.02e-12, 2.40e-15, 4.49e-21, 0.0, 0.0, 0.0]),
    "n = 100": (100, 10, 2.0, BASE),
    "n = 150": (150, 10, 2.0, [6.58e-22, 7.83e-32, 2.75e-44, 6.99e-59, 0.0, 0.0, 0.0]),
    "k = 5": (100, 5, 2.0, [1.96e-10, 2.51e-14, 1.08e-19, 2.02e-27, 0.0, 0.0, 0.0]),
    "k = 10": (100, 10, 2.0, BASE),
    "k = 15": (100, 15, 2.0, [1.66e-18, 7.13e-28, 1.49e-38, 7.35e-50, 0.0, 0.0, 0.0]),
}
GAPS = {
    "Table 1: n = 100, k = 10, epsilon0 = 0.5": (100, 10, 0.5, EPSILONS_1, TIGHT),
    "Table 3: n = 100, k = 10, epsilon0 = 2": (100, 10, 2.0, EPSILONS_3, BASE),
}


def _values(formula: Formula, n: int, k: int, epsilon0: float, epsilons: Floats) -> Floats:
    return np.array([formula(n, k, epsilon0, 4 * n // 5, epsilon) for epsilon in epsilons.tolist()])


def _row(n: int, k: int, epsilon0: float, at: Floats, printed: Sequence[float], panel: str = "") -> Iterator[Line]:
    """One row of a table: five lines."""
    band = shuffle(KRR(k=k, epsilon0=epsilon0), n=n).profile(at)
    yield Line(TRUTH, "upper", at, band.upper, panel)
    yield Line(TRUTH, "lower", at, band.lower, panel)
    yield Line(CORRECTED, "law", at, _values(delta_corrected, n, k, epsilon0, at), panel)
    yield Line(THEOREM, "invalid", at, _values(delta_printed, n, k, epsilon0, at), panel)
    yield Line(THEOREM, "printed", at, np.array(printed), panel)


def _table_1() -> Iterator[Line]:
    n, epsilon0, e = 100, 0.5, EPSILONS_1
    yield from _row(n, 10, epsilon0, e, TIGHT)
    # identified by fitting: a theorem below its n, and two O() with the constant 1, the second with
    # the logarithm to base 2
    recomputed = {
        "[10] Erlingsson et al. 2019": np.exp(-n * (e / (12.0 * epsilon0)) ** 2),
        "[3] Balle et al. 2019": np.exp(-n * (e / (epsilon0 * math.exp(epsilon0))) ** 2),
        "[11] Feldman et al. 2020": np.exp2(-n * (e / -math.expm1(-epsilon0)) ** 2 / math.exp(epsilon0)),
    }
    for label, values in COLUMNS.items():
        yield Line(label, "printed", e, np.array(values))
        if label in recomputed:
            yield Line(label, "outside", e, recomputed[label])


def _table_3() -> Iterator[Line]:
    for panel, (n, k, epsilon0, printed) in ROWS.items():
        yield from _row(n, k, epsilon0, EPSILONS_3, printed, panel)


def _gap() -> Iterator[Line]:
    """How many orders of magnitude each number lies below the certified lower end."""
    for panel, (n, k, epsilon0, at, printed) in GAPS.items():
        e = np.linspace(0.02, 0.98, 49) * epsilon0
        mechanism = shuffle(KRR(k=k, epsilon0=epsilon0), n=n)
        truth = mechanism.profile(e).lower
        yield Line(THEOREM, "invalid", e, _orders(truth, _values(delta_printed, n, k, epsilon0, e)), panel)
        yield Line(THEOREM, "printed", at, _orders(mechanism.profile(at).lower, np.array(printed)), panel)
        corrected = _values(delta_corrected, n, k, epsilon0, e)
        yield Line("Theorem 1 corrected: one bin, n0 = 80", "law", e, _orders(truth, corrected), panel)
        worst = np.max([[delta_corrected(n, k, epsilon0, n0, x) for x in e.tolist()] for n0 in range(n)], axis=0)
        yield Line(WORST, "law", e, _orders(truth, worst), panel)


def _orders(truth: Floats, found: Floats) -> Floats:
    known = (truth > 0.0) & (found > 0.0)
    return np.where(known, np.log10(np.where(known, truth, 1.0)) - np.log10(np.where(known, found, 1.0)), np.nan)


def _compared(lines: Sequence[Line]) -> str:
    """What the printed column is, and how far it is from the truth."""
    off, gaps, narrow = [], list[float](), list[float]()
    for panel, mine in by_panel(lines).items():
        printed, misprint = (find(mine, THEOREM, kind).y for kind in KINDS)
        corrected, truth = find(mine, CORRECTED).y, find(mine, TRUTH, "lower")
        known = (printed > 0.0) & (misprint > 0.0)
        for e, p, m in zip(truth.x[known], printed[known], misprint[known], strict=True):
            if abs(math.log(p / m)) > 0.02:
                off.append(f"{panel + ', ' if panel else ''}epsilon = {e:g}: {p:.2e} for {m:.2e}")
        gaps += np.log10(truth.y[known] / printed[known]).tolist()
        narrow += np.log10(truth.y[known] / corrected[known]).tolist()
    agreeing = f"{len(gaps) - len(off)} of the {len(gaps)} positive numbers printed agree within 2 % with Theorem 1"
    exceptions = f" (the others: {'; '.join(off)})" if off else ""
    return (
        f"{agreeing} *as printed*{exceptions}, which is a misprint (erratum 1): it averages the square of a share "
        "where the share itself belongs.\n\n"
        f"They lie {min(gaps):.0f} to {max(gaps):.0f} orders of magnitude below the certified delta of the released "
        "histogram. Corrected, the theorem is the exact delta of one bin on one dataset in one order, still "
        f"{min(narrow):.1f} to {max(narrow):.1f} orders of magnitude too small for a guarantee (erratum 2)."
    )


def _verdict_1(lines: Sequence[Line]) -> str:
    ratios = [find(lines, label, "outside").y[0] / find(lines, label, "printed").y[0] for label in list(COLUMNS)[:3]]
    off = float(np.abs(np.log(ratios)).max())
    upper = find(lines, TRUTH, "upper").y
    least = float(np.log10(np.min([find(lines, label, "printed").y for label in COLUMNS], axis=0) / upper).min())
    both = find(lines, THEOREM, "invalid"), find(lines, CORRECTED)
    printed, corrected = (", ".join(f"{y:.3e}" for y in line.y) for line in both)
    return (
        f"Theorem 1 gives {printed} as printed, and {corrected} corrected. {_compared(lines)}\n\n"
        "The other columns are not those papers' bounds either: [10] is a theorem that needs n >= 1000, [3] and [11] "
        f"recompute as asymptotic forms with the constant 1 (within {100 * off:.1f} % at epsilon = 0.1), and how the "
        f"column of [14] was computed is not known. Here they happen to lie at least {least:.1f} orders of magnitude "
        "above the certified upper end."
    )


def _verdict_3(lines: Sequence[Line]) -> str:
    return (
        f"{_compared(lines)}\n\nThe rows for n = 50 and n = 150 recompute with n0 = 0.8 n, not with the 80 that the "
        f"text says; 80 of 49 others is impossible."
    )


def _verdict_gap(lines: Sequence[Line]) -> str:
    worst = {panel: float(np.nanmax(find(lines, THEOREM, "invalid", panel).y)) for panel in GAPS}
    kinder = {panel: float(np.nanmax(find(lines, WORST, "law", panel).y)) for panel in GAPS}
    first, second = GAPS
    return (
        f"The theorem as printed understates delta by up to {worst[first]:.0f} orders of magnitude in the setting of "
        f"Table 1 and {worst[second]:.0f} in that of Table 3. Corrected, and for the worst n0 among all, one bin "
        f"alone still misses up to {kinder[first]:.1f} and {kinder[second]:.1f} orders."
    )


_table = partial(Experiment, paper=PAPER, x=Axis("epsilon"), y=Axis("delta", log=True))
TABLE_1 = _table(
    name="biswas-table1",
    title="Table 1: delta of shuffled k-RR, a misprint next to the certified delta",
    parameters=(
        "n = 100, epsilon0 = 0.5, epsilon = 0.1 to 0.4 (the paper's); k = 10, n0 = 80 (found by fitting, the "
        "paper does not say)"
    ),
    count=12,
    compute=_table_1,
    verdict=_verdict_1,
)
TABLE_3 = _table(
    name="biswas-table3",
    title="Table 3: delta of shuffled k-RR while epsilon0, n and k vary",
    parameters=(
        "n = 100, k = 10, epsilon0 = 2 where not varied (the paper's); n0 = 0.8 n (the paper says 80, which "
        "does not give its numbers for other n)"
    ),
    count=5 * len(ROWS),
    compute=_table_3,
    verdict=_verdict_3,
)
GAP = _table(
    name="biswas-gap",
    title="Theorem 1 against the truth: orders of magnitude that delta is too small",
    parameters=(
        "the settings of Tables 1 and 3, n0 = 80; the truth is the certified lower end for the released histogram"
    ),
    y=Axis("orders of magnitude below the certified delta"),
    count=4 * len(GAPS),
    compute=_gap,
    verdict=_verdict_gap,
)
EXPERIMENTS: tuple[Experiment, ...] = (TABLE_1, TABLE_3, GAP)
