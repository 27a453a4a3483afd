"""Balle et al. 2019 against enumeration, against our certified ends, against the digits of the
authors' two notebooks, and at extreme inputs.
"""

import math
from functools import partial
from itertools import permutations, product

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import DoesNotApply
from shuffledp.judge import hockey_stick, krr, worst_delta
from shuffledp.literature import balle
from shuffledp.literature.bound import Published, Setting
from shuffledp.literature.bounds import LITERATURE
from tests.literature.warner import exact_delta, is_number_or_reason

PROVEN = [bound for bound in balle.BOUNDS if bound.status == "proven"]
LOSSES = {
    "generic": balle.generic,
    "laplace": balle.laplace,
    "rr-2": lambda epsilon, epsilon0: balle.krr(epsilon, epsilon0, 2),
    "rr-100": lambda epsilon, epsilon0: balle.krr(epsilon, epsilon0, 100),
}


def names(bound: Published) -> str:
    return bound.name


@pytest.mark.parametrize(("k", "n"), [(2, 1), (2, 2), (2, 8), (3, 3), (3, 8), (4, 6)])
@pytest.mark.parametrize("epsilon0", [0.2, 1.0, 3.0])
def test_every_proven_bound_is_above_the_enumerated_delta(k: int, n: int, epsilon0: float) -> None:
    epsilons = [epsilon0 * share for share in (0.0, 0.02, 0.2, 0.5, 0.9, 0.999, 1.0)]
    exact = worst_delta(krr(k, epsilon0), n, epsilons)
    setting = Setting(sdp.KRR(k=k, epsilon0=epsilon0), n)
    applicable = [bound for bound in PROVEN if bound.delta_at is not None and "laplace" not in bound.name]
    assert len(applicable) == 5
    for bound in applicable:
        stated = [bound.delta(setting, epsilon=epsilon) for epsilon in epsilons]
        assert all(stated[i] >= exact[i] - 1e-15 for i in range(len(epsilons))), bound.name


@pytest.mark.parametrize("epsilon0", [0.3, 1.0, 2.0])
def test_every_proven_bound_is_above_exact_binary_randomized_response(epsilon0: float) -> None:
    n = 400
    setting = Setting(sdp.RR(epsilon0=epsilon0), n)
    for epsilon in (0.02 * epsilon0, 0.1 * epsilon0, 0.3 * epsilon0):
        exact = exact_delta(n, epsilon0, epsilon, ones=range(0, n, 40))
        for bound in PROVEN:
            if bound.delta_at is not None and "laplace" not in bound.name:
                assert bound.delta(setting, epsilon=epsilon) >= exact, bound.name


def test_theorem_1_is_above_exact_binary_randomized_response() -> None:
    n, epsilon0 = 3000, 0.5
    epsilon = balle.THEOREM_1.epsilon(Setting(sdp.RR(epsilon0=epsilon0), n), delta=1e-6)
    assert 0.3 < epsilon <= 1.0
    assert exact_delta(n, epsilon0, epsilon, ones=(0, 1, 2, n // 2, n - 1)) <= 1e-6


@pytest.mark.parametrize(
    "randomizer",
    [sdp.RR(epsilon0=0.5), sdp.KRR(k=3, epsilon0=2.0), sdp.KRR(k=50, epsilon0=1.0), sdp.Laplace(epsilon0=1.0)],
)
@pytest.mark.parametrize("n", [100, 100_000])
def test_no_proven_bound_is_below_our_certified_lower_end(randomizer: sdp.KRR | sdp.Laplace, n: int) -> None:
    setting = Setting(randomizer, n)
    for delta in (1e-2, 1e-6, 1e-12):
        certified = sdp.shuffle(randomizer, n=n).epsilon(delta=delta)
        answers = 0
        for bound in PROVEN:
            try:
                stated = bound.epsilon(setting, delta=delta)
            except DoesNotApply:
                continue
            answers += 1
            assert stated >= certified.lower, bound.name
            assert stated <= randomizer.epsilon0 or bound is balle.THEOREM_1
        assert answers >= 5


def test_the_weak_and_strong_adversaries_are_covered_where_the_proofs_cover_them() -> None:
    randomizer = sdp.KRR.from_gamma(k=4, gamma=0.25)
    for adversary in ("weak", "strong"):
        certified = sdp.shuffle(randomizer, n=20_000, adversary=adversary).epsilon(delta=1e-6)  # type: ignore[arg-type]
        setting = Setting(randomizer, 20_000, adversary=adversary)  # type: ignore[arg-type]
        assert balle.THEOREM_1.epsilon(setting, delta=1e-6) >= certified.lower
        if adversary == "weak":
            assert balle.BENNETT_KRR.epsilon(setting, delta=1e-6) >= certified.lower
        else:
            with pytest.raises(DoesNotApply, match="weak adversary"):
                balle.BENNETT_KRR.epsilon(setting, delta=1e-6)


@pytest.mark.parametrize(
    ("name", "hoeffding", "bennett", "printed"),
    [
        ("generic", 0.037942471911790294, 0.14009168313254008, 0.008339642506302775),
        ("laplace", 0.005792337614227242, 0.004853541355460176, 0.00023654709022709577),
        ("rr-2", 0.005642546362741425, 0.005686529997978448, 0.0002827071819414499),
        ("rr-100", 0.007445148952583604, 3.360217120217285e-09, 1.3473396238508272e-10),
    ],
)
def test_the_digits_of_both_of_the_authors_notebooks_come_out(
    name: str, hoeffding: float, bennett: float, printed: float
) -> None:
    """n = 5000, eps0 = 0.4, eps = 0.005. The first notebook has the printed Lemma 11, the second
    one the corrected; Hoeffding did not change.
    """
    loss = LOSSES[name](0.005, 0.4)
    assert balle.delta_hoeffding(loss, 5000) == pytest.approx(hoeffding, rel=1e-9)
    assert balle.delta_bennett(loss, 5000) == pytest.approx(bennett, rel=1e-9)
    assert balle.delta_bennett_printed(loss, 5000) == pytest.approx(printed, rel=1e-9)


def test_theorem_1_solved_for_epsilon_gives_back_its_gamma() -> None:
    k, n, delta = 5, 10**6, 1e-6
    for epsilon0 in (1.0, 4.0, 8.0):
        randomizer = sdp.KRR(k=k, epsilon0=epsilon0)
        epsilon = balle.THEOREM_1.epsilon(Setting(randomizer, n), delta=delta)
        assert max(
            14 * k * math.log(2 / delta) / ((n - 1) * epsilon**2), 27 * k / ((n - 1) * epsilon)
        ) == pytest.approx(randomizer.gamma)


def test_the_printed_bound_on_delta_is_refuted_by_an_explicit_dataset() -> None:
    setting = Setting(sdp.RR(epsilon0=1.0), 1000)
    exact = exact_delta(1000, 1.0, 0.05, ones=(0, 1, 2, 250, 500))
    assert balle.BENNETT_PRINTED.delta(setting, epsilon=0.05) == pytest.approx(5.63e-4, abs=5e-7)
    assert exact == pytest.approx(1.025e-3, abs=5e-7)
    assert balle.BENNETT_KRR.delta(setting, epsilon=0.05) > exact


@pytest.mark.parametrize("epsilon0", [0.01, 1.0, 5.0])
def test_the_laplace_range_and_second_moment_hold_for_every_ordered_pair_of_inputs(epsilon0: float) -> None:
    edges = 40.0 / epsilon0
    y = np.concatenate(
        [
            np.linspace(-edges, 0.0, 50_001)[:-1],
            np.linspace(0.0, 1.0, 20_001),
            np.linspace(1.0, 1.0 + edges, 50_001)[1:],
        ]
    )
    laws = {x: epsilon0 / 2.0 * np.exp(-epsilon0 * np.abs(y - x)) for x in (0.0, 0.3, 0.5, 0.8, 1.0)}
    omega = np.minimum(laws[0.0], laws[1.0]) / math.exp(-epsilon0 / 2.0)
    for epsilon in (0.01 * epsilon0, 0.5 * epsilon0):
        loss = balle.laplace(epsilon, epsilon0)
        moments = {}
        for x, x2 in ((x, x2) for x in laws for x2 in laws if x != x2):
            value = (laws[x] - math.exp(epsilon) * laws[x2]) / omega
            moments[x, x2] = float(np.trapezoid(value**2 * omega, y))
            assert value.max() <= loss.high * (1 + 1e-9)
            assert value.max() - value.min() <= loss.width * (1 + 1e-9)
            assert moments[x, x2] <= loss.second * (1 + 1e-5)
        assert moments[0.0, 1.0] == pytest.approx(loss.second, rel=1e-4)
        assert moments[1.0, 0.0] == pytest.approx(loss.second, rel=1e-4)


def test_the_generic_moments_hold_for_randomizers_that_are_not_symmetric() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        rows = rng.uniform(0.2, 1.0, (3, 4))
        rows /= rows.sum(axis=1, keepdims=True)
        epsilon0 = float(np.log((rows.max(axis=0) / rows.min(axis=0)).max()))
        omega, gamma = rows.min(axis=0) / rows.min(axis=0).sum(), rows.min(axis=0).sum()
        loss = balle.generic(0.3 * epsilon0, epsilon0)
        assert loss.gamma <= gamma
        for x, x2 in ((0, 1), (1, 0), (0, 2)):
            value = (rows[x] - math.exp(0.3 * epsilon0) * rows[x2]) / omega
            assert value.max() <= loss.high
            assert value.max() - value.min() <= loss.width
            assert float(np.sum(value**2 * omega)) <= loss.second
        assert hockey_stick(rows[0], rows[1], 0.3 * epsilon0) <= balle.delta_bennett(loss, 1)


@pytest.mark.parametrize("bound", balle.BOUNDS, ids=names)
@pytest.mark.parametrize("n", [1, 2, 1000, 10**6, 10**15])
def test_extreme_inputs_give_a_number_or_a_reason(bound: Published, n: int) -> None:
    for epsilon0 in (1e-12, 1e-6, 1.0, 50.0):
        for randomizer in (
            sdp.KRR(k=2, epsilon0=epsilon0),
            sdp.KRR(k=10**6, epsilon0=epsilon0),
            sdp.Laplace(epsilon0=epsilon0),
        ):
            setting = Setting(randomizer, n)
            for delta in (1e-250, 1e-6, 0.999):
                assert is_number_or_reason(partial(bound.epsilon, setting, delta=delta), most=50.0)
            for epsilon in (0.0, 1e-300, 1e-13, 0.5, 49.999, 700.0):
                assert is_number_or_reason(partial(bound.delta, setting, epsilon=epsilon), most=1.0)


def test_bounds_refuse_other_randomizers_and_more_rounds() -> None:
    with pytest.raises(DoesNotApply, match="Laplace"):
        balle.BENNETT_LAPLACE.delta(Setting(sdp.RR(epsilon0=1.0), 100), epsilon=0.1)
    with pytest.raises(DoesNotApply, match="k-ary randomized response"):
        balle.HOEFFDING_KRR.delta(Setting(sdp.Laplace(epsilon0=1.0), 100), epsilon=2.0)
    with pytest.raises(DoesNotApply, match="one round"):
        balle.THEOREM_6.delta(Setting(sdp.RR(epsilon0=1.0), 100, rounds=2), epsilon=0.1)
    with pytest.raises(DoesNotApply, match="delta0 = 0"):
        balle.BENNETT.delta(Setting(sdp.Gaussian(sigma=1.0), 100), epsilon=0.1)
    with pytest.raises(DoesNotApply, match="epsilon must be at most 1"):
        balle.THEOREM_1.epsilon(Setting(sdp.RR(epsilon0=4.0), 100), delta=1e-6)


def rows_of_a_random_randomizer(seed: int) -> list[list[float]]:
    """A randomizer on a few inputs whose laws have nothing in common but their support."""
    draws = np.random.default_rng(seed)
    rows = draws.uniform(0.1, 1.0, (draws.integers(2, 6), draws.integers(2, 7))) ** draws.uniform(0.5, 3.0)
    return [[each / sum(row) for each in row] for row in rows.tolist()]


@pytest.mark.parametrize("seed", range(20))
def test_lemmas_7_and_9_hold_as_printed(seed: int) -> None:
    rows = rows_of_a_random_randomizer(seed)
    columns = list(zip(*rows, strict=True))
    epsilon0 = max(math.log(max(column) / min(column)) for column in columns)
    gamma = sum(map(min, columns))
    assert gamma == pytest.approx(sdp.FromMatrix(rows).gamma, abs=1e-12)
    assert gamma >= math.exp(-epsilon0), "Lemma 7"
    for epsilon in (0.0, 0.3 * epsilon0, epsilon0):
        x, E = math.exp(epsilon), math.exp(epsilon0)
        for mu, other in permutations(rows, 2):
            loss = [(a - x * b) * gamma / min(column) for a, b, column in zip(mu, other, columns, strict=True)]
            mean, second = (
                sum(each**power * min(column) / gamma for each, column in zip(loss, columns, strict=True))
                for power in (1, 2)
            )
            assert mean == pytest.approx(1.0 - x, abs=1e-12)
            assert (
                gamma / E * (1.0 - x * E**2) - 1e-12 <= min(loss) <= max(loss) <= gamma * E * (1.0 - x / E**2) + 1e-12
            )
            assert second <= gamma * E * (x**2 + 1.0) - 2.0 * gamma**2 * x / E**2 + 1e-12


def test_lemma_7_cannot_be_improved() -> None:
    gammas = [sdp.SubsetSelection(k=k, size=k - 1, epsilon0=1.0).gamma for k in (2, 10, 10_000)]
    assert gammas == sorted(gammas, reverse=True)
    assert math.exp(-1.0) < gammas[-1] < math.exp(-1.0) * 1.0002


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_theorem_5_the_divergence_is_the_largest_gap_over_all_events(epsilon: float) -> None:
    """Every bag of three reports and every event, both counted here."""
    law, n, worst = krr(3, 1.0), 3, 0.0
    for others in product(range(3), repeat=n - 1):
        bags: list[dict[tuple[int, ...], float]] = []
        for mine in range(3):
            bags.append({})
            for reports in product(range(3), repeat=n):
                held = zip((mine, *others), reports, strict=True)
                bag = tuple(sorted(reports))
                bags[-1][bag] = bags[-1].get(bag, 0.0) + math.prod(float(law[x][y]) for x, y in held)
        for P, Q in permutations(bags, 2):
            gaps = np.array([P[bag] - math.exp(epsilon) * Q[bag] for bag in P])
            events = np.arange(2 ** len(gaps))[:, None] >> np.arange(len(gaps)) & 1
            largest = float((events @ gaps).max())
            assert largest == pytest.approx(hockey_stick(P, Q, epsilon), abs=1e-14)
            worst = max(worst, largest)
    assert worst == pytest.approx(worst_delta(law, n, epsilon)[0], abs=1e-14)
    certified = sdp.shuffle(sdp.KRR(k=3, epsilon0=1.0), n=n).delta(epsilon=epsilon)
    assert certified.lower <= worst * (1.0 + 1e-9)
    assert worst <= certified.upper * (1.0 + 1e-9)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_lemma_8_is_what_its_sum_says_with_the_factor_that_is_meant(n: int) -> None:
    law, x = sdp.KRR(k=3, epsilon0=1.0), math.exp(0.5)
    loss = [law.gamma * (math.e - x), law.gamma * (1.0 - x * math.e), law.gamma * (1.0 - x)]
    means = [sum(max(sum(drawn), 0.0) for drawn in product(loss, repeat=m)) / 3**m for m in range(n + 1)]
    total = sum(math.comb(n, m) * law.gamma**m * (1.0 - law.gamma) ** (n - m) * means[m] for m in range(1, n + 1))
    bound = next(each for each in LITERATURE if each.name == "balle-2019-blanket-exact")
    assert bound.delta(Setting(law, n), epsilon=0.5) == pytest.approx(total / (law.gamma * n), rel=1e-9)
    assert n == 1 or total / law.gamma**n > 2.0 * total / (law.gamma * n), "as printed"
