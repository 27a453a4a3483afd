"""Feldman, McMillan and Talwar 2020, arXiv 2012.12803: hiding among the clones. Closed forms, the
numerical algorithm, and a lower bound.

The pair (Thm 3.2): C ~ Bin(n-1, e^-eps0), A ~ Bin(C, 1/2), D ~ Bern(E/(E+1)) with E = e^eps0; the
number of ones is A+1-D under P and A+D under Q, and C is public. The formulas of our copy are lost,
so each closed form was derived again; the derivation is in its docstring.

Algorithms 4, 5 and 6 (Appendix F) are kept as published: one block of C after the other in a Python
loop, scalar calls of ``scipy.stats.binom.cdf``, both orders of the pair although they are mirror
images, and the rule that adds the unused mass, which may double delta. B(c) was derived from the
prose of Lemma F.1; the two rules that end Algorithm 6 are those of the authors' released code
(github.com/apple/ml-shuffling-amplification), whose digits this reproduces. That code also
evaluates B at each block's larger end, which its maximum never takes; that is left out.
"""

import math
from functools import partial

from shuffledp.accounting.curves import Envelope
from shuffledp.accounting.haystack import BinaryDataset
from shuffledp.accounting.inversion import halve, mean
from shuffledp.errors import LARGEST_EPSILON, DoesNotApply
from shuffledp.literature.bound import Published, Setting, enveloped, require
from shuffledp.literature.feldman_lemmas import bracket, decomposition, lemma_3_5, theorem_4_1
from shuffledp.literature.own_bounds import ADAPTIVE, FELDMAN
from shuffledp.randomizers import AnyLDP, Gaussian

MANY_CLONES = 1000.0  # from this mean of C on a block spans two standard deviations, below it a quarter
ITERATIONS = 14  # T
SECONDS_PER_BLOCK = 4.5e-4
PATIENCE = 600.0
ROUNDING = 1e-13  # of a binomial tail, relative; it grows slowly with the number of trials
LEAST_DELTA = 1e-12  # Algorithm 5 subtracts probabilities: below this, rounding decides


def closed_form(n: int, epsilon0: float, delta: float) -> float:
    """Theorem 3.1, eq (1): log(1 + (E-1)/(E+1) (8 sqrt(E log(4/delta)/n) + 8 E/n)), for any
    eps0-LDP randomizers, also adaptive ones.

    Lemma 3.5 with p = 1/E and q = (E-1)/(E+1), with which binary randomized response tells the
    truth; so epsilon0 must be at most log(n / (16 log(2/delta))).
    """
    return lemma_3_5(n, math.exp(-epsilon0), delta, math.tanh(epsilon0 / 2.0))


def equation_1(n: int, epsilon0: float, delta: float) -> float:
    """Eq (1) whether or not its condition holds: to draw it, never to rely on it."""
    return math.log1p(math.tanh(epsilon0 / 2.0) * bracket(n * math.exp(-epsilon0), delta))


def approximate_delta(n: int, epsilon0: float, delta0: float, epsilon: float) -> float:
    """Theorem 3.8: delta at epsilon for (eps0, delta0)-LDP randomizers: that of eq (1), plus
    (e^epsilon + 1)(1 + 1/(2E)) n delta0.

    Appendix C: within delta0/2 of the target's two laws there are purely private ones, and within
    (1 + 1/(2E)) delta0 of every other law one that holds clones of those with mass 1/E; n reports,
    in total variation. Eq (1) is solved for its delta, as far as its condition allows.
    """
    trials = n * math.exp(-epsilon0)
    # sqrt(log(4/delta))
    root = (math.expm1(epsilon) / math.tanh(epsilon0 / 2.0) - 8.0 / trials) * math.sqrt(trials) / 8.0
    asked = f"{epsilon:g} with n = {n}, epsilon0 = {epsilon0:g}"
    require(root > 0.0, "epsilon must exceed what eq (1) gives at delta = 1", asked)
    pure = max(4.0 * math.exp(-min(root * root, LARGEST_EPSILON)), 2.0 * math.exp(-min(trials / 16.0, LARGEST_EPSILON)))
    leak = (math.exp(min(epsilon, LARGEST_EPSILON)) + 1.0) * (1.0 + 0.5 * math.exp(-epsilon0)) * n * delta0
    total = pure + leak
    require(total < 1.0, "(e^epsilon + 1)(1 + 1/(2E)) n delta0 must stay below delta", f"n delta0 = {n * delta0:g}")
    return total


def divergence_given_count(
    c: int, epsilon: float, epsilon0: float, *, reverse: bool = False, rounded: bool = True
) -> float:
    """Algorithm 5, B(c): the hockey-stick divergence of P from Q (of Q from P if ``reverse``) given
    C = c, by Lemma F.1.

    With a = E/(E+1), P has a Bin(c) + (1-a) (Bin(c)+1) ones. P(x) > e^eps Q(x) exactly below the
    cutoff b (c+1), b = u/(u+v), u = a - e^eps (1-a), v = e^eps a - (1-a); Q(x) > e^eps P(x) exactly
    above (1-b)(c+1). Needs 0 <= epsilon < epsilon0. Rounded up, as the two terms nearly cancel; or,
    if not ``rounded``, computed as in the released code, and then it may be too small, 0 or
    negative.
    """
    from scipy.stats import binom

    total = math.exp(epsilon0) + 1.0
    u, v = math.exp(epsilon) * math.expm1(epsilon0 - epsilon) / total, math.expm1(epsilon0 + epsilon) / total
    if reverse:
        cutoff = v / (u + v) * (c + 1)
        near, far = float(binom.sf(cutoff - 1.0, c, 0.5)), float(binom.sf(cutoff, c, 0.5))
    else:
        cutoff = u / (u + v) * (c + 1)
        near, far = float(binom.cdf(cutoff, c, 0.5)), float(binom.cdf(cutoff - 1.0, c, 0.5))
    if not rounded:
        a, e = 1.0 / (1.0 + math.exp(-epsilon0)), math.exp(epsilon)
        return (1.0 - a) * far + a * near - e * (a * far + (1.0 - a) * near)
    return u * near - v * far + ROUNDING * math.pow(max(c, 1), 0.3) * (u * near + v * far)


def delta_upper(
    n: int,
    epsilon: float,
    epsilon0: float,
    *,
    step: int,
    enough: float = 1.0,
    centre: int | None = None,
    rounded: bool = True,
) -> float:
    """Algorithm 6: an upper bound on delta(epsilon) of the pair; ``enough`` is returned as soon as
    delta is seen to exceed it.

    Blocks of ``step`` values of C, from the mean outwards, above and below in turn. B falls as c
    grows (Lemma F.2), so a block adds at most P(C in block) B(its smallest c). When the mass not
    yet used is below both sums, it is added whole and the loop ends. ``centre`` is where the blocks
    begin, the mean of C unless told; the authors' first release began at n/2, and its README's
    digits need that.
    """
    from scipy.stats import binom

    p = math.exp(-epsilon0)
    centre = math.ceil((n - 1) * p) if centre is None else centre
    forward = backward = used = 0.0
    slip = 4.0 * math.ulp(1.0) * rounded  # what rounding may take from a difference of two probabilities
    for turn in range(math.ceil(n / step) + 1):
        for first in (centre + turn * step, centre - (turn + 1) * step):
            low, high = max(first, 0), min(first + step, n) - 1
            if low > high:
                continue
            if max(forward, backward) > enough:
                return enough
            if 1.0 - used < min(forward, backward):
                return max(forward, backward) + max(1.0 - used, 0.0) + slip
            mass = float(binom.cdf(high, n - 1, p)) - float(binom.cdf(low - 1, n - 1, p))
            forward += (mass + slip) * divergence_given_count(low, epsilon, epsilon0, rounded=rounded)
            backward += (mass + slip) * divergence_given_count(low, epsilon, epsilon0, reverse=True, rounded=rounded)
            used += mass
    return max(forward, backward)


def epsilon(
    n: int,
    epsilon0: float,
    delta: float,
    *,
    iterations: int,
    step: int,
    start: float | None = None,
    centre: int | None = None,
    rounded: bool = True,
) -> float:
    """Algorithm 4: bisection for the smallest epsilon whose Algorithm 6 value is below ``delta``;
    the upper end is returned.

    ``iterations`` is the paper's T, ``step`` its S. The bracket is [0, epsilon0] as in the paper;
    where delta(epsilon) is nearly 0, as it is for the first guesses there, no rule ends Algorithm 6
    before all n/S blocks are done. The authors' code starts from their closed form instead, which
    is far quicker: pass ``start=closed_form_start(...)`` for that.
    """

    def fits(epsilon: float) -> bool:
        return delta_upper(n, epsilon, epsilon0, step=step, enough=delta, centre=centre, rounded=rounded) < delta

    highest = epsilon0 if start is None else min(start, epsilon0)
    upper, _ = halve(fits, highest, 0.0, middle=mean, steps=iterations)
    return upper


def closed_form_start(n: int, epsilon0: float, delta: float) -> float:
    """The upper end from which the authors' released code starts its bisection (theirs, not eq (1)
    of the paper; formulas.md section 1).

    epsilon0 itself outside eps0 < log(n / (16 log(4/delta))), as in their code.
    """
    if epsilon0 >= math.log(n / (16.0 * math.log(4.0 / delta))):
        return epsilon0
    x = 8.0 * math.sqrt(math.exp(epsilon0) * math.log(4.0 / delta) / n) + 8.0 * math.exp(epsilon0) / n
    return math.log1p((1.0 - math.exp(-epsilon0)) / (1.0 + math.exp(-epsilon0) / (1.0 + x)) * x)


def _numerical_epsilon(setting: Setting, delta: float) -> float:
    require(delta >= LEAST_DELTA, f"delta must be at least {LEAST_DELTA:g}", f"{delta:g}")
    _cost(setting)
    asked, step = (setting.n, setting.epsilon0, delta), _step(setting.n, setting.epsilon0)
    return epsilon(*asked, iterations=ITERATIONS, step=step, start=closed_form_start(*asked))


def _numerical_delta(setting: Setting, epsilon: float) -> float:
    _cost(setting)
    n, epsilon0 = setting.n, setting.epsilon0
    if epsilon >= epsilon0:
        return 0.0
    return min(max(delta_upper(n, epsilon, epsilon0, step=_step(n, epsilon0)), LEAST_DELTA), 1.0)


def _step(n: int, epsilon0: float) -> int:
    """Neither paper nor code gives a rule. Small blocks cost more and, as the unused mass may then
    double delta, are no closer.
    """
    mean = n * math.exp(-epsilon0)
    deviation = math.sqrt(-mean * math.expm1(-epsilon0))
    return max(1, round(deviation * (2.0 if mean >= MANY_CLONES else 0.25)))


def _cost(setting: Setting) -> float:
    """About one guess in every search lies where delta is nearly 0, and there all n/S blocks are
    done.
    """
    require(setting.n <= 10**12, "n must be at most 1e12", setting.n)
    seconds = (setting.n / _step(setting.n, setting.epsilon0) + 100.0) * SECONDS_PER_BLOCK
    require(seconds <= PATIENCE, f"it must take at most {PATIENCE:g} s", f"about {seconds:.0f} s")
    return seconds


def _local_pairs(setting: Setting) -> list[tuple[float, float]]:
    """Every (epsilon0, delta0) that one report is known to satisfy."""
    randomizer = setting.randomizer
    if isinstance(randomizer, Gaussian):
        largest = math.log(max(setting.n, 2))
        return [(e, randomizer.local_delta(epsilon=e)) for e in (largest * i / 64.0 for i in range(1, 65))]
    require(randomizer.delta0 > 0.0, "it is about AnyLDP with delta0 > 0, and Gaussian", randomizer)
    return [randomizer.replaced]


def _approximate(setting: Setting, epsilon: float) -> float:
    """Thm 3.8 at the best local pair; if none applies, the reason for the last."""
    best, reason = math.inf, DoesNotApply("")
    for epsilon0, delta0 in _local_pairs(setting):
        try:
            best = min(best, approximate_delta(setting.n, epsilon0, delta0, epsilon))
        except DoesNotApply as refused:
            reason = refused
    if math.isinf(best):
        raise reason
    return best


def _one_value(setting: Setting) -> Envelope:
    randomizer = setting.randomizer
    known = randomizer.binary or isinstance(randomizer, AnyLDP)
    require(known, "it is about binary randomized response, and AnyLDP, which must allow for it", randomizer)
    dataset = BinaryDataset(randomizer.epsilon0, setting.n - 1, 0)
    return Envelope([dataset, dataset.swapped()], "lower", randomizer.epsilon0)


_proven = partial(Published, paper=FELDMAN, status="proven")

THM_3_1 = _proven(
    "feldman-2020-thm-3.1",
    "Thm 3.1, eq (1)",
    ADAPTIVE,
    conditions="epsilon0 <= log(n / (16 log(2/delta)))",
    remark=(
        "the released code asks for log(4/delta) instead; both hold; for the clones pair 4 log(2/delta) would do, "
        "and 2 log(2/delta) would not"
    ),
    epsilon_at=lambda setting, delta: closed_form(setting.n, setting.epsilon0, delta),
)
THM_3_8 = _proven(
    "feldman-2020-thm-3.8",
    "Thm 3.8",
    "any (epsilon0, delta0)-LDP randomizers with delta0 > 0, also adaptive in a secret random order; Gaussian "
    "noise, at its best epsilon0",
    conditions="as Thm 3.1, and delta above about 2 n delta0",
    remark=(
        "our copy has lost the addition to delta, derived again from Appendix C; the constants are the published ones, "
        "as Tsoy et al. (AISTATS 2024, Theorem A.2) restate them"
    ),
    delta_at=_approximate,
)
COR_4_2 = _proven(
    "feldman-2020-cor-4.2",
    "Cor 4.2, eq (11)",
    "k-ary randomized response",
    conditions="(k+1)(e^epsilon0 + k - 1)/k <= n / (8 log(2/delta))",
    remark=(
        "our copy has lost formula and condition; both are derived again from Thm 4.1, the formula is also that of "
        "public code, and the printed condition may differ"
    ),
    epsilon_at=lambda setting, delta: theorem_4_1(setting.n, *decomposition(setting.krr), delta),
)
NUMERICAL = _proven(
    "feldman-2020-numerical",
    "Appendix F, Algorithms 4-6",
    ADAPTIVE,
    conditions="delta >= 1e-12 and n <= 1e12, for rounding; at most 600 s",
    remark=(
        "S = 2 standard deviations of C (1/4 if its mean is below 1000), T = 14, and the released code's bracket: "
        "about 1 % (8 %) above the pair's own"
    ),
    epsilon_at=_numerical_epsilon,
    delta_at=_numerical_delta,
    cost=_cost,
)
LOWER_2RR = _proven(
    "feldman-2020-2rr-lower",
    "Appendix G",
    "binary randomized response; any randomizer, which must allow for it",
    remark="all others hold one value; not the worst dataset (erratum 6), and evaluated by our certified kernel",
    side="lower",
    **enveloped(_one_value),
)
BOUNDS = (THM_3_1, THM_3_8, COR_4_2, NUMERICAL, LOWER_2RR)
