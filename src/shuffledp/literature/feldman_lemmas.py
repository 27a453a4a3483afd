"""Feldman, McMillan and Talwar 2020: Lemmas 3.3 and 3.5 and Theorem 4.1, where reports are clones
with any probability, and rounds through the Renyi divergence of the clones pair (section 6.1).

Our copy has lost equations (7) and (10). Both follow from Lemma A.1: if C ~ Bin(n-1, p), A ~ Bin(C,
1/2) and pn >= 16 log(2/delta), then (A+1, C-A) and (A, C-A+1) are close with log(1 + 8
sqrt(log(4/delta)/(pn)) + 8/(pn)). Their likelihood ratio is (A+1)/(C-A), and one Chernoff and one
Hoeffding tail of delta/2 each bound it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from shuffledp.accounting import renyi
from shuffledp.accounting.accuracy import CURVE_GAP
from shuffledp.accounting.guarantee import Guarantee, check_order
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.reductions import MODEL, Reduction, Theorem
from shuffledp.accounting.rounds import Round
from shuffledp.errors import check_probability, check_users
from shuffledp.literature.bound import Published, Setting, require
from shuffledp.literature.own_bounds import ADAPTIVE, FELDMAN, clones_curve, cost, declared
from shuffledp.randomizers import Atoms, Randomizer
from shuffledp.randomizers.support import SupportRandomizer

REMEDY = "It is the probability of a part of a report."
ROUNDING = 1e-12  # of the number of clones: their condition has slack (erratum 11)
LEAST_Q, SLIP = 1e-7, 1e-8  # a larger q is valid, and a difference of probabilities needs one


def bracket(trials: float, delta: float) -> float:
    """8 sqrt(log(4/delta) / trials) + 8 / trials: Lemma A.1's e^epsilon - 1."""
    return 8.0 * math.sqrt(math.log(4.0 / delta) / trials) + 8.0 / trials


def lemma_3_3(p: float, q: float = 1.0) -> Atoms:
    """The pair of Lemma 3.3, where every other user makes a clone of either of the target's two
    reports with probability p/2 each; and, for q < 1, that of Lemma 3.5, where the target's report
    is as good as a fair coin with probability 1 - q.

    Theorem 3.2 is p = e^-epsilon0 and q = (E-1)/(E+1).

    >>> lower, upper = Haystack.of(lemma_3_3(0.1), 10_000).bounds(np.array([0.2]))
    >>> f"{upper[0]:.3e}"
    '1.560e-05'
    """
    for name, value in (("p", p), ("q", q)):
        check_probability(name, value, one=True, remedy=REMEDY)
    return Atoms("clones", np.full(2, 0.5 * p), 0.5 * np.array([1.0 + q, 1.0 - q]), 0.5 * np.array([1.0 - q, 1.0 + q]))


def lemma_3_5(n: int, p: float, delta: float, q: float = 1.0) -> float:
    """Eq (7), for the pair of ``lemma_3_3``: log(1 + q (8 sqrt(log(4/delta)/(pn)) + 8/(pn))), as
    advanced joint convexity (Lemma 2.3) puts q in front.

    >>> round(lemma_3_5(10_000, 0.1, 1e-6), 4)
    0.6903
    """
    n, _ = check_users(n)
    for name, value in (("p", p), ("q", q)):
        check_probability(name, value, zero=True, one=True, remedy=REMEDY)
    check_probability("delta", delta, one=True, remedy="It is a small probability, such as 1e-6.")
    least = 16.0 * math.log(2.0 / delta)
    enough = p * n >= least * (1.0 - ROUNDING)
    require(enough, f"the mean number of clones must be at least 16 log(2/delta) = {least:.4g}", f"{p * n:.4g}")
    return math.log1p(q * bracket(p * n, delta))


def three_symbols(q: float, p: float) -> Atoms:
    """The pair of Theorem 4.1: the target's report has the distribution q Q_b + (1-q) Q, and every
    other one has p (Q_0 + Q_1 + Q) as a part.
    """
    p = check_probability("p", p, one=True, remedy=REMEDY)
    for name, value in (("q", q), ("3 p", 3.0 * p)):
        check_probability(name, value, one=True, remedy=REMEDY)
    return Atoms("three symbols", np.full(3, p), np.array([q, 0.0, 1.0 - q]), np.array([0.0, q, 1.0 - q]))


def theorem_4_1(n: int, q: float, p: float, delta: float) -> float:
    """Eq (10): log(1 + q (4 sqrt(2 log(4/delta)/(pn)) + 4/(pn))) if pn >= 8 log(2/delta). Any two
    of the three symbols hide one among Bin(n-1, 2p) clones.
    """
    return lemma_3_5(n, 2.0 * check_probability("p", p, one=True, remedy=REMEDY), delta, q)


def decomposition(randomizer: Randomizer) -> tuple[float, float]:
    """q and p of Theorem 4.1 for the target's worst pair of inputs.

    Of a known randomizer Q is the blanket, of mass gamma = 1-q, and Q_b is what the target's report
    has beyond it; the blanket covers p (Q_0 + Q_1 + Q). Of any epsilon0-LDP randomizer q is
    (E-1)/(E+1) and p is 1/(3E), with Q = (Q_0 + Q_1)/2.

    >>> from shuffledp import AnyLDP
    >>> q, p = decomposition(AnyLDP(epsilon0=math.log(3.0)))
    >>> round(q, 6), round(p, 6)
    (0.5, 0.111111)
    """
    if not randomizer.known:
        epsilon0 = Setting(randomizer, 1).epsilon0
        return math.tanh(0.5 * epsilon0), math.exp(-epsilon0) / 3.0
    if isinstance(randomizer, SupportRandomizer):
        pairs = [(atoms.hay, atoms.needle0 + atoms.needle1) for atoms in randomizer.blankets("upper")]
    else:
        table = randomizer.table
        require(table is not None, "it is about randomizers with finitely many reports, and AnyLDP", randomizer)
        assert table is not None
        pairs = [(table.min(axis=0), np.sort(table, axis=0)[-2:].sum(axis=0))]
    gamma = float(pairs[0][0].sum())
    q = min(max(1.0 - gamma, LEAST_Q) * (1.0 + SLIP), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = max(float(np.nanmax(both / hay)) for hay, both in pairs)
    require(most < math.inf, "the blanket must cover every report", randomizer)
    return q, (1.0 - SLIP) / ((most - 2.0 * (1.0 - q) / gamma) / q + 1.0 / gamma)


@dataclass(frozen=True, eq=False, repr=False)
class Bounded(Round):
    """One round, as a theorem of the literature bounds it."""

    theorem: Theorem
    local: float

    @property
    def reduction(self) -> Reduction:
        """The theorem, and no lower end."""
        return Reduction((self.theorem,), MODEL, (), self.local)

    @property
    def key(self) -> int:
        return id(self)

    def describe(self) -> str:
        return self.theorem.method


def _symbols(setting: Setting) -> Guarantee:
    pair = Haystack.of(three_symbols(*decomposition(setting.randomizer)), setting.n)
    return Bounded(Theorem("Theorem 4.1", (pair,)), setting.epsilon0).compose(setting.rounds)


def divergence(n: int, epsilon0: float, order: float) -> float:
    """An upper end of the Renyi divergence of the clones pair, for any real order above 1; the pair
    is symmetric, so in both directions.

    The paper sums over all (C, A). Here it comes from certified upper ends of the pair's delta(eps)
    curve (``accounting.renyi``), so nothing is truncated and the cost does not grow with n.
    """
    curve, order = clones_curve(check_users(n)[0], epsilon0), check_order(order)
    return renyi.divergence_at_most(lambda epsilons: curve(epsilons, CURVE_GAP), epsilon0, order)


@lru_cache(maxsize=64)
def any_divergence(n: int, epsilon0: float) -> Callable[[float], float]:
    """The same for many orders."""
    curve = clones_curve(n, epsilon0)
    return renyi.any_order(lambda epsilons: curve(epsilons, CURVE_GAP), epsilon0)


def _of_rounds(setting: Setting) -> Callable[[float], float]:
    """Divergences add up over rounds, adaptive ones too (Mironov 2017)."""
    once = any_divergence(setting.n, setting.epsilon0)
    return lambda order: setting.rounds * once(order)


CLONES_RENYI = Published(
    "feldman-2020-clones-renyi",
    "Thm 3.2 and section 6.1; Canonne, Kamath and Steinke 2020, Prop. 12",
    ADAPTIVE,
    paper=FELDMAN,
    status="proven",
    rounds="any",
    epsilon_at=lambda setting, delta: renyi.best_epsilon(_of_rounds(setting), delta, between=float),
    delta_at=lambda setting, epsilon: renyi.best_delta(_of_rounds(setting), epsilon, between=float),
    cost=cost(lambda setting: setting.epsilon0, 0.25, 0.25),
)
FINITE = "randomizers with finitely many reports, at their worst pair of inputs; any epsilon0-LDP randomizers"
BOUNDS = (
    Published(
        "feldman-2020-thm-4.1-reconstructed",
        "Thm 4.1, eq (10)",
        FINITE,
        paper=FELDMAN,
        conditions="p n >= 8 log(2/delta), with the p of the theorem",
        status="proven",
        remark=(
            "our copy has lost formula and condition; both are derived again from Lemma A.1, so the printed ones may "
            "differ; for k-RR it is Cor 4.2, and for any randomizer it exceeds Thm 3.1"
        ),
        epsilon_at=lambda setting, delta: theorem_4_1(setting.n, *decomposition(setting.randomizer), delta),
    ),
    declared(
        "feldman-2020-thm-4.1-exact",
        "Thm 4.1, evaluated by this package; rounds as privacy loss distributions",
        FINITE,
        _symbols,
        paper=FELDMAN,
    ),
)
