"""Feldman et al. 2020, Lemmas 3.3, 3.5 and 3.7 and Theorem 4.1: for any decomposition, against
enumeration.
"""

import math
from itertools import permutations

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import judge
from shuffledp.accounting.haystack import Haystack
from shuffledp.errors import DoesNotApply, InvalidInput
from shuffledp.judge import enumeration
from shuffledp.literature import feldman_lemmas as lemmas
from shuffledp.literature.bounds import LITERATURE, Setting
from shuffledp.randomizers import Atoms, Floats, Randomizer
from tests.oracle import adaptive

BOUND = {bound.name: bound for bound in LITERATURE}
EPSILONS = (0.0, 0.2, 0.7, 1.5)


def clipped(reports: Floats, reference: Floats, epsilon: float) -> Floats:
    """Lemma 3.7: cut off what exceeds e^epsilon times the reference, fill up to e^-epsilon times it, and move mass
    between these bounds until the total is 1.
    """
    least, most = reference * math.exp(-epsilon), reference * math.exp(epsilon)
    new = np.clip(reports, least, most)
    missing = 1.0 - new.sum()
    room = most - new if missing > 0.0 else new - least
    return np.asarray(new + room * (missing / room.sum()) if abs(missing) > 1e-15 else new)


def at(atoms: Atoms, n: int, epsilon: float) -> tuple[float, float]:
    lower, upper = Haystack.of(atoms, n).bounds(np.array([epsilon]), 1e-6)
    return float(lower[0]), float(upper[0])


@pytest.mark.parametrize("seed", range(8))
def test_clones_of_any_probability_hide_the_target(seed: int) -> None:
    """Lemma 3.3, and Lemma 3.5's pair: others send one of the target's two distributions with
    probability p/2 each, and anything else otherwise.
    """
    rng = np.random.default_rng(seed)
    n, outputs, p, q = int(rng.integers(1, 7)), int(rng.integers(2, 5)), rng.uniform(0.05, 1.0), rng.uniform(0.1, 1.0)
    a, b, rest = rng.dirichlet(np.full(outputs, 0.4), size=3)
    first, second = (1.0 + q) * a + (1.0 - q) * b, (1.0 - q) * a + (1.0 + q) * b
    rows = np.array([first, second, p * (a + b) + 2.0 * (1.0 - p) * rest])
    laws = [judge.shuffled_law(rows / 2.0, [x] + [2] * (n - 1)) for x in (0, 1)]
    for epsilon in EPSILONS:
        true = max(judge.hockey_stick(P, Q, epsilon) for P, Q in permutations(laws))
        pair = lemmas.lemma_3_3(p, q)
        assert true <= at(pair, n, epsilon)[1] + 1e-14
        direct = judge.haystack_delta(pair.hay, pair.needle0, pair.needle1, n, epsilon)
        assert at(pair, n, epsilon)[0] - 1e-14 <= direct <= at(pair, n, epsilon)[1] + 1e-14


def test_theorem_3_2_is_the_case_of_local_privacy() -> None:
    for epsilon0 in (0.1, 1.0, 4.0):
        pair = lemmas.lemma_3_3(math.exp(-epsilon0), math.tanh(epsilon0 / 2.0))
        clones = sdp.AnyLDP(epsilon0=epsilon0).clones()
        for name in ("hay", "needle0", "needle1"):
            assert getattr(pair, name).tolist() == pytest.approx(getattr(clones, name).tolist(), rel=1e-12)


@pytest.mark.parametrize("delta", [0.3, 1e-4, 1e-9])
@pytest.mark.parametrize("p", [1.0, 0.2, 0.01])
def test_the_closed_forms_hold_wherever_their_conditions_do(p: float, delta: float) -> None:
    for factor in (1.0, 3.0, 100.0):
        users = math.ceil(16.0 * math.log(2.0 / delta) / p * factor)
        for q in (1.0, 0.3):
            epsilon = lemmas.lemma_3_5(users, p, delta, q)
            excess = 8.0 * math.sqrt(math.log(4.0 / delta) / (p * users)) + 8.0 / (p * users)
            assert epsilon == pytest.approx(math.log1p(q * excess))
            assert at(lemmas.lemma_3_3(p, q), users, epsilon)[1] <= delta
            if p < 0.5:  # two of three symbols with p/2 each are as many
                assert lemmas.theorem_4_1(users, q, p / 2.0, delta) == pytest.approx(epsilon, rel=1e-12)
                assert at(lemmas.three_symbols(q, p / 2.0), users, epsilon)[1] <= delta
        with pytest.raises(DoesNotApply, match="number of clones must be at least 16"):
            lemmas.lemma_3_5(math.floor(users / factor * 0.9), p, delta)
    with pytest.raises(DoesNotApply, match="number of clones must be at least 16"):
        lemmas.theorem_4_1(10, 0.5, 0.1, delta)


@pytest.mark.parametrize("seed", range(8))
def test_three_symbols_of_any_probability_hide_the_target(seed: int) -> None:
    """Theorem 4.1: the target sends q Q_b + (1-q) Q, others have p (Q_0 + Q_1 + Q) as a part."""
    rng = np.random.default_rng(seed)
    n, outputs = int(rng.integers(1, 6)), int(rng.integers(2, 5))
    p, q = rng.uniform(0.02, 1.0 / 3.0), rng.uniform(0.1, 1.0)
    a, b, c, rest = rng.dirichlet(np.full(outputs, 0.4), size=4)
    rows = np.array([q * a + (1.0 - q) * c, q * b + (1.0 - q) * c, p * (a + b + c) + (1.0 - 3.0 * p) * rest])
    laws = [judge.shuffled_law(rows, [x] + [2] * (n - 1)) for x in (0, 1)]
    for epsilon in EPSILONS:
        true = max(judge.hockey_stick(P, Q, epsilon) for P, Q in permutations(laws))
        assert true <= at(lemmas.three_symbols(q, p), n, epsilon)[1] + 1e-14


def matrix(name: str) -> tuple[Randomizer, Floats]:
    if name.startswith("random"):
        rows = adaptive.bad_ldp_matrix(np.random.default_rng(int(name[-1])), 4, 5, 1.5)
        return sdp.FromMatrix(rows.tolist()), rows
    return {
        "krr": (sdp.KRR(k=5, epsilon0=2.0), enumeration.krr(5, 2.0)),
        "binary": (sdp.RR(epsilon0=0.3), enumeration.krr(2, 0.3)),
        "hadamard": (sdp.Hadamard(k=6, epsilon0=1.0), enumeration.hadamard(6, 1.0)),
        "subset": (sdp.SubsetSelection(k=4, epsilon0=1.0, size=2), enumeration.subset(4, 2, 1.0)),
    }[name]


@pytest.mark.parametrize("name", ["krr", "binary", "hadamard", "subset", "random1", "random2", "random3"])
def test_the_decomposition_is_one_for_every_pair_and_the_largest(name: str) -> None:
    """p (Q_0 + Q_1 + Q) is below the distribution of every input, for every pair of the target's;
    and for one pair it touches it.
    """
    randomizer, rows = matrix(name)
    q, p = lemmas.decomposition(randomizer)
    gamma, omega, nu = judge.blanket(rows)
    assert q == pytest.approx(1.0 - gamma, rel=1e-6)
    touched = [np.min(gamma * omega / (nu[i] + nu[j] + omega)) for i, j in permutations(range(len(rows)), 2)]
    assert p <= min(touched)
    assert p == pytest.approx(min(touched), rel=1e-6)


def test_of_krr_it_is_what_corollary_4_2_takes() -> None:
    for k, epsilon0 in ((2, 1.0), (3, 0.01), (16, 4.0), (1000, 8.0)):
        total = math.exp(epsilon0) + k - 1.0
        found = lemmas.decomposition(sdp.KRR(k=k, epsilon0=epsilon0))
        assert found == pytest.approx((math.expm1(epsilon0) / total, k / ((k + 1.0) * total)), rel=1e-6)


def test_where_the_corollary_refuses_the_numerical_theorem_is_near_the_blanket() -> None:
    setting = Setting(sdp.KRR(k=16, epsilon0=3.0), 2000)
    for refused in ("feldman-2020-cor-4.2", "feldman-2020-thm-4.1-reconstructed"):
        with pytest.raises(DoesNotApply):
            BOUND[refused].epsilon(setting, delta=1e-5)
    names = "balle-2019-blanket-exact", "feldman-2020-thm-4.1-exact", "feldman-2020-clones-exact"
    found = [BOUND[name].epsilon(setting, delta=1e-5) for name in names]
    assert found == pytest.approx([0.3486, 0.3691, 0.6840], abs=1e-4)


@pytest.mark.parametrize("name", ["krr", "hadamard", "random1"])
def test_rounds_of_three_symbols_bound_enumeration(name: str) -> None:
    randomizer, rows = matrix(name)
    bound, n = BOUND["feldman-2020-thm-4.1-exact"], 2
    for epsilon in (0.3, 1.0, 1.7):
        true = judge.rounds_delta([rows] * 2, n, [epsilon])[0]
        assert bound.delta(Setting(randomizer, n, 2), epsilon=epsilon) >= true


def test_what_has_no_decomposition_is_refused() -> None:
    for randomizer, match in (
        (sdp.Laplace(epsilon0=1.0), "finitely many reports"),
        (sdp.FromMatrix([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]), "blanket must cover"),
        (sdp.AnyLDP(epsilon0=1.0, delta0=1e-9), "delta0 = 0"),
    ):
        with pytest.raises(DoesNotApply, match=match):
            lemmas.decomposition(randomizer)
    with pytest.raises(InvalidInput, match=r"3 p must lie in \(0, 1\], got"):
        lemmas.three_symbols(0.5, 0.4)
    with pytest.raises(InvalidInput, match=r"p must lie in \(0, 1\], got 1.5"):
        lemmas.lemma_3_3(1.5)


@pytest.mark.parametrize("seed", range(20))
def test_a_clipped_distribution_is_close_and_near(seed: int) -> None:
    """Lemma 3.7: purely deletion private, and no farther than delta; and the others' share of it."""
    rng = np.random.default_rng(seed)
    reports, reference = rng.dirichlet(np.full(6, 0.5), size=2)
    for epsilon in (0.05, 0.5, 2.0):
        growth = math.exp(epsilon)
        above, below = (
            np.maximum(reports - growth * reference, 0.0).sum(),
            np.maximum(reference - growth * reports, 0.0).sum(),
        )
        new = clipped(reports, reference, epsilon)
        assert new.sum() == pytest.approx(1.0)
        assert np.all(new <= growth * reference * (1.0 + 1e-12))
        assert np.all(new >= reference / growth * (1.0 - 1e-12))
        assert 0.5 * np.abs(new - reports).sum() == pytest.approx(max(above, below / growth))
        assert max(above, below / growth) <= max(above, below)


@pytest.mark.parametrize(
    "given, rule",
    [
        ({"n": 0}, "n must be at least 1"),
        ({"p": 2.0}, "p must lie in"),
        ({"q": math.nan}, "q must be finite"),
        ({"delta": 0.0}, "delta must lie in"),
        ({"delta": "1e-6"}, "delta must be a number"),
    ],
)
def test_the_closed_form_refuses_what_is_no_probability(given: dict[str, float], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        lemmas.lemma_3_5(**({"n": 10_000, "p": 0.1, "delta": 1e-6, "q": 0.5} | given))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "p, rule", [("0.1", "p must be a number"), (None, "p must be a number"), (0.4, "3 p must lie")]
)
def test_three_symbols_have_a_probability_each(p: float, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        lemmas.three_symbols(0.5, p)
    with pytest.raises(InvalidInput, match="p must be a number"):
        lemmas.theorem_4_1(10_000, 0.5, "0.1", 1e-6)  # type: ignore[arg-type]
