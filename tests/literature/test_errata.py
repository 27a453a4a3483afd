"""Each erratum of docs/errata.md: the printed formula fails, and what replaces it holds, with the
numbers that were found by enumeration.
"""

import code
import math
import re
from pathlib import Path

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.errors import DoesNotApply
from shuffledp.judge import hockey_stick, krr, shuffled_law, strong_delta, weak_delta, worst_delta
from shuffledp.literature import balle, biswas, feldman
from shuffledp.literature.bounds import LITERATURE, Setting
from tests.literature.cases import adaptive, binary, views
from tests.literature.truth import binomial

BOUND = {bound.name: bound for bound in LITERATURE}
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
SETUP, *BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
NUMBERS = list(range(1, len(BLOCKS) + 1))
SMALL = Setting(sdp.KRR(k=3, epsilon0=2.0), n=8)  # of errata 3 and 4


def test_errata_are_numbered_and_short_enough_to_paste() -> None:
    assert [int(number) for number in re.findall(r"^## (\d+)\. ", PAGE, flags=re.MULTILINE)] == NUMBERS
    for block in BLOCKS:
        assert 2 <= sum(not line.startswith("# ") for line in block.splitlines()) <= 4, block
        assert re.fullmatch(r"# \d.*", block.splitlines()[-1]), "a block ends in a number"


def pasted(capsys: pytest.CaptureFixture[str], *blocks: str) -> None:
    """What a terminal prints is what the comments say."""
    terminal = code.InteractiveConsole()
    lines = [line for block in blocks for line in [*block.splitlines(), ""]]
    for line in lines:
        terminal.push(line)
    printed, complaints = capsys.readouterr()
    assert complaints == ""
    assert printed.splitlines() == [line.removeprefix("# ") for line in lines if line.startswith("# ")]


@pytest.mark.parametrize("block", BLOCKS, ids=map(str, NUMBERS))
def test_a_block_prints_what_it_says_after_the_first(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    pasted(capsys, SETUP, block)


def test_the_page_can_be_pasted_into_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    pasted(capsys, SETUP, *BLOCKS)


def test_every_bound_that_an_erratum_names_exists() -> None:
    words = [word for block in BLOCKS for word in block.split('"')]
    quoted = {name for name in words if "-" in name and " " not in name and name.islower()}
    assert quoted
    assert quoted <= BOUND.keys()


def test_1_biswas_theorem_1_as_printed_is_far_below_the_count_it_is_about() -> None:
    truth, lie = krr(10, 2.0)[0, :2]
    laws = [shuffled_law([[truth, 1 - truth], [lie, 1 - lie]], [x] + 80 * [0] + 19 * [1]) for x in (0, 1)]
    exact = [6.1467e-3, 2.6062e-8, 2.6981e-18, 9.6681e-32]
    printed = [2.49e-15, 3.25e-22, 2.20e-30, 1.57e-40]  # Table 3 of the paper
    for epsilon, value, table in zip((0.1, 0.5, 1.0, 1.5), exact, printed, strict=True):
        assert hockey_stick(*laws, epsilon) == pytest.approx(value, rel=1e-4)
        assert biswas.delta_corrected(100, 10, 2.0, 80, epsilon) == pytest.approx(value, rel=1e-4)
        assert biswas.delta_printed(100, 10, 2.0, 80, epsilon) == pytest.approx(table, rel=5e-3)


def test_2_biswas_corrected_is_no_guarantee_of_the_histogram_and_a_lower_bound() -> None:
    for epsilon in (0.1, 0.5, 0.9):
        exact = worst_delta(krr(3, 1.0), 6, [epsilon])[0]
        one_bin = max(biswas.delta_corrected(6, 3, 1.0, n0, epsilon) for n0 in range(6))
        if epsilon == 0.5:
            assert (exact, one_bin) == pytest.approx((0.038770, 0.020110), rel=1e-4)
        if epsilon < 0.9:
            assert one_bin < 0.9 * exact
        else:  # only the histogram with all reports in one bin counts, which one bin shows
            assert one_bin == pytest.approx(exact, rel=1e-12)
        assert BOUND["biswas-2023-one-bin"].delta(Setting(sdp.KRR(k=3, epsilon0=1.0), 6), epsilon=epsilon) <= exact


def test_3_koskela_first_version_is_below_what_the_shuffler_leaks() -> None:
    one_order = BOUND["koskela-2021-krr-strong-first-printed-order"]
    for epsilon, printed, exact in ((0.6, 0.2428, 0.2552), (0.9, 0.1370, 0.1977)):
        assert one_order.delta(SMALL, epsilon=epsilon) == pytest.approx(printed, abs=5e-5)
        assert worst_delta(krr(3, 2.0), 8, [epsilon])[0] == pytest.approx(exact, abs=5e-5)
        assert BOUND["shuffledp-strong"].delta(SMALL, epsilon=epsilon) >= exact
    survey = Setting(sdp.KRR.from_gamma(k=2, gamma=0.2), 20, adversary="strong")
    both, exact = (BOUND[f"koskela-2021-krr-strong-{end}"].delta(survey, epsilon=0.8) for end in ("first", "exact"))
    truth = strong_delta(krr(2, survey.epsilon0), 20, (0, 1), 0.8)
    assert both < truth <= exact
    assert (both, truth) == pytest.approx((0.1351, 0.1661), abs=5e-5)


def test_4_koskela_revised_is_loose_in_one_place_and_no_bound_in_another() -> None:
    survey = Setting(SMALL.randomizer, 8, adversary="strong")
    for epsilon, printed, exact in ((0.6, 0.6656, 0.334851), (0.9, 0.5181, 0.317948)):
        assert BOUND["koskela-2021-krr-strong"].delta(survey, epsilon=epsilon) == pytest.approx(printed, abs=5e-5)
        assert strong_delta(krr(3, 2.0), 8, (0, 1), epsilon) == pytest.approx(exact, abs=5e-7)
        assert exact - 5e-7 <= BOUND["shuffledp-strong"].delta(survey, epsilon=epsilon) <= exact * (1 + 1e-3)
    survey = Setting(sdp.KRR.from_gamma(k=2, gamma=0.9), 100, adversary="strong")
    truth = views(2, 100, survey.epsilon0)[1].truth
    assert truth.low(np.array([BOUND["koskela-2021-krr-strong"].epsilon(survey, delta=1e-9)]))[0] > 2e-9
    assert truth.high(np.array([BOUND["koskela-2021-krr-strong-exact"].epsilon(survey, delta=1e-9)]))[0] <= 1e-9


def test_5_koskelas_clones_pair_is_not_feldmans_and_looser() -> None:
    anything = Setting(sdp.AnyLDP(epsilon0=2.0), 50)
    koskela, feldmans, clones = (
        BOUND[name].delta(anything, epsilon=0.6)
        for name in ("koskela-2021-clones", "koskela-2021-feldman", "feldman-2020-clones-exact")
    )
    assert koskela == pytest.approx(0.1008, abs=5e-5)
    assert feldmans == pytest.approx(clones, rel=1e-3)
    assert clones == pytest.approx(0.0700, abs=5e-5)


def test_6_all_zeros_is_not_the_worst_dataset_of_binary_randomized_response() -> None:
    zeros, one = ([shuffled_law(krr(2, 1.0), [x] + ones * [1] + (19 - ones) * [0]) for x in (0, 1)] for ones in (0, 1))
    assert hockey_stick(*zeros, 0.5) == pytest.approx(3.833e-3, rel=1e-4)
    assert hockey_stick(*one, 0.5) == pytest.approx(4.235e-3, rel=2e-4)
    survey = Setting(sdp.RR(epsilon0=1.0), 20)
    names = "koskela-2021-2rr", "shuffledp-binary", "koskela-2021-2rr-lower"
    printed, ours, lower = (BOUND[name].delta(survey, epsilon=0.5) for name in names)
    assert printed < worst_delta(krr(2, 1.0), 20, [0.5])[0] <= ours
    assert (printed, lower) == pytest.approx((3.833e-3, 3.833e-3), rel=1e-3)


def test_7_balle_lemma_11_fails_as_printed_and_holds_corrected() -> None:
    m, k, epsilon0, epsilon = 200, 10, 2.0, 0.3
    loss = balle.krr(epsilon, epsilon0, k)
    factor, rate = balle.bennett(loss)
    corrected = factor * math.exp(-rate * m)
    x, e = math.exp(epsilon), math.exp(epsilon0)
    values = loss.gamma * np.array([e - x, 1.0 - x * e, 1.0 - x])
    ups, exact = binomial(m, 1 / k), 0.0
    for up in range(m + 1):
        downs = np.arange(m - up + 1)
        total = values[0] * up + values[1] * downs + values[2] * (m - up - downs)
        exact += ups[up] * float(binomial(m - up, 1 / (k - 1)) @ np.maximum(total, 0.0))
    assert exact == pytest.approx(0.0679, abs=5e-5)
    assert corrected == pytest.approx(1.120, abs=5e-4)
    assert corrected / (loss.a * m) == pytest.approx(0.0160, abs=5e-5)
    assert corrected / (loss.a * m) < exact < corrected


def test_8_variation_ratio_for_k_rr_is_below_the_truth() -> None:
    survey = Setting(sdp.KRR(k=3, epsilon0=1.0), 6)
    exact = worst_delta(krr(3, 1.0), 6, [0.9])[0]
    assert exact == pytest.approx(3.480e-3, rel=1e-3)
    assert BOUND["wang-2023-variation-ratio-krr"].delta(survey, epsilon=0.9) == pytest.approx(2.10e-4, rel=2e-3)
    assert BOUND["balle-2019-blanket-exact"].delta(survey, epsilon=0.9) >= exact


def test_9_stronger_clones_hold_also_for_adaptive_randomizers() -> None:
    shares = np.array([0.1, 0.5, 0.9])
    for case in [*adaptive(3, 1.0, 4, seed=9), binary(3, 1.0)]:
        bound = [BOUND["shuffledp-any"].delta(Setting(sdp.AnyLDP(epsilon0=1.0), 3), epsilon=share) for share in shares]
        assert np.all(case.truth.low(shares) <= np.array(bound) * (1 + 1e-9))


def test_10_koskelas_weak_adversary_with_independent_counts_is_no_bound() -> None:
    survey = Setting(sdp.KRR.from_gamma(k=2, gamma=0.5), 20, adversary="weak")
    exact = weak_delta(krr(2, survey.epsilon0), 20, (0, 1), 1.0)
    names = (f"koskela-2021-krr-weak{reading}" for reading in ("", "-exact", "-multinomial"))
    independent, exactly, multinomial = (BOUND[name].delta(survey, epsilon=1.0) for name in names)
    assert independent < 0.5 * exact
    assert exact <= exactly <= multinomial
    rounds = Setting(sdp.KRR.from_gamma(k=3, gamma=0.4), 30, rounds=2, adversary="weak")
    names = (*(f"koskela-2021-krr-weak{reading}" for reading in ("", "-exact", "-multinomial")), "shuffledp-lower")
    independent, exactly, multinomial, below = (BOUND[name].epsilon(rounds, delta=1e-6) for name in names)
    assert multinomial > exactly
    assert independent == pytest.approx(2.775, abs=5e-4)
    assert exactly == pytest.approx(2.869, abs=5e-4)
    assert independent < below <= exactly


def eq_1(n: int, epsilon0: float, delta: float) -> float:
    """Equation (1) without its condition."""
    e = math.exp(epsilon0)
    return math.log1p((e - 1) / (e + 1) * (8 * math.sqrt(e * math.log(4 / delta) / n) + 8 * e / n))


@pytest.mark.parametrize("delta", [1e-4, 1e-10])
@pytest.mark.parametrize("n", [10**3, 10**5])
def test_11_feldmans_condition_has_a_factor_four_of_slack_and_not_eight(n: int, delta: float) -> None:
    clones = BOUND["feldman-2020-clones-exact"]

    def ratio(constant: float) -> float:
        """The pair's delta over the delta asked for, at the largest epsilon0 that this constant
        allows.
        """
        epsilon0 = math.log(n / (constant * math.log(2 / delta))) * (1 - 1e-9)
        return clones.delta(Setting(sdp.AnyLDP(epsilon0=epsilon0), n), epsilon=eq_1(n, epsilon0, delta)) / delta

    assert ratio(16.0) < 1e-2
    assert ratio(4.0) <= 1.0
    with pytest.raises(DoesNotApply, match="number of clones must be at least"):
        feldman.closed_form(n, math.log(n / (4.0 * math.log(2 / delta))), delta)


def test_11_feldmans_equation_fails_for_the_pair_but_not_for_any_randomizer_with_a_constant_of_two() -> None:
    anything, epsilon = Setting(sdp.AnyLDP(epsilon0=7.65), 10**5), eq_1(10**5, 7.65, 1e-10)
    assert math.log(10**5 / (2 * math.log(2e10))) >= 7.65
    assert 400e-10 < BOUND["feldman-2020-clones-exact"].delta(anything, epsilon=epsilon) < 500e-10
    assert BOUND["shuffledp-any"].delta(anything, epsilon=epsilon) < 1e-13


def test_12_balles_bennett_curves_allow_more_than_there_is() -> None:
    survey = Setting(sdp.KRR(k=100, epsilon0=5.2), 100_000)
    printed, corrected = (
        BOUND[name].epsilon(survey, delta=1e-6) for name in ("balle-2019-bennett-krr-printed", "balle-2019-bennett-krr")
    )
    truth = sdp.shuffle(survey.randomizer, n=survey.n).epsilon(delta=1e-6)
    assert printed < 0.1 < truth.lower <= truth.upper <= corrected


def test_13_koskelas_first_weak_formula_is_below_what_the_shuffler_alone_leaks() -> None:
    for epsilon in (0.3, 0.6, 0.9):
        exact, weak = worst_delta(krr(3, 2.0), 8, [epsilon])[0], weak_delta(krr(3, 2.0), 8, (0, 1), epsilon)
        printed, larger = (
            BOUND[f"koskela-2021-krr-weak-first{order}"].delta(SMALL, epsilon=epsilon)
            for order in ("-printed-order", "")
        )
        assert printed < larger < exact <= weak
        assert epsilon != 0.6 or (larger, weak) == pytest.approx((0.2298, 0.2552), abs=5e-5)
        assert weak * (1 - 1e-9) <= BOUND["balle-2019-blanket-exact"].delta(SMALL, epsilon=epsilon)


def test_14_at_the_local_epsilon_nothing_is_left_for_a_gaussian_to_match() -> None:
    survey = sdp.shuffle(sdp.KRR(k=15, epsilon0=4.0), n=1000)
    assert survey.delta(epsilon=4.0).upper == 0.0 == biswas.delta_printed(1000, 15, 4.0, 50, 4.0)
    certified = survey.epsilon(delta=1e-6)
    assert certified.upper < 0.5 * 4.0
    sigma = gaussian.sigma(epsilon=certified.upper, delta=1e-6, sensitivity=math.sqrt(2.0))
    assert gaussian.epsilon(sigma=sigma, delta=1e-6, sensitivity=math.sqrt(2.0)) <= certified.upper * (1 + 1e-9)
