"""Check-in, one of several questions, all of several: enumerated, and as they run."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import shuffledp as sdp
from shuffledp.randomizers import BLH, KRR, OUE, RR, AllOf, CheckIn, FromMatrix, Gaussian, Hadamard, Laplace, OneOf
from shuffledp.randomizers.wrappers.wrapper import reports_of, words_of
from shuffledp.testing import check_ends, check_law, check_sampler
from tests.randomizers.wrappers.matrices_of import matrix_of


def uneven() -> FromMatrix:
    return FromMatrix([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])


def with_zeros() -> FromMatrix:
    return FromMatrix([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])


SMALL: dict[str, Callable[[], Any]] = {
    "check-in": lambda: CheckIn(KRR(k=3, epsilon0=2.0), probability=0.3),
    "seldom": lambda: CheckIn(RR(epsilon0=1.0), probability=0.01),
    "check-in of one's own": lambda: CheckIn(uneven(), probability=0.5),
    "one of": lambda: OneOf([RR(epsilon0=2.0), RR(epsilon0=0.5)], weights=[0.75, 0.25]),
    "one of two alike": lambda: OneOf([KRR(k=3, epsilon0=1.0)] * 2),
    "one of one's own": lambda: OneOf([uneven(), RR(epsilon0=1.0)], weights=[0.2, 0.8]),
    "one of some with zeros": lambda: OneOf([with_zeros(), uneven()]),
    "all of": lambda: AllOf([RR(epsilon0=1.0), RR(epsilon0=0.3)]),
    "all of two alike": lambda: AllOf([KRR(k=3, epsilon0=0.7)] * 2),
    "all of one's own": lambda: AllOf([uneven(), RR(epsilon0=1.0)]),
    "all of some with zeros": lambda: AllOf([with_zeros(), uneven()]),
    "all of one": lambda: AllOf([OUE(k=2, epsilon0=1.0)]),
    "nested in all of": lambda: AllOf([CheckIn(RR(epsilon0=2.0), probability=0.5), RR(epsilon0=0.5)]),
    "nested in one of": lambda: OneOf([AllOf([RR(epsilon0=1.0)] * 2), KRR(k=3, epsilon0=2.0)], weights=[0.4, 0.6]),
    "nested twice": lambda: CheckIn(OneOf([CheckIn(RR(epsilon0=2.0), probability=0.9), uneven()]), probability=0.6),
    "nested twice in all of": lambda: AllOf([OneOf([RR(epsilon0=1.0), CheckIn(uneven(), probability=0.3)])]),
}

# Two rounds of others that are accounted as their matrix are quicker.
SLOW_TWICE = {"one of one's own", "nested twice in all of"}


@pytest.mark.parametrize("name", SMALL)
def test_ends_hold_the_enumerated_truth(name: str) -> None:
    wrapper = SMALL[name]()
    rows = matrix_of(wrapper)
    check_law(wrapper, rows=rows)
    at = np.array([0.0, 0.05, 0.9]) * min(wrapper.epsilon0, 4.0)
    check_ends(wrapper, rows=rows, users=(1, 3) if len(rows) > 4 else (1, 3, 5), rounds=(1,), epsilons=at)
    twice = len(rows) < 5 and name not in SLOW_TWICE
    check_ends(wrapper, rows=rows, users=(2,), rounds=(1, 2) if twice else (1,), epsilons=at)


@pytest.mark.parametrize("name", [each for each in SMALL if each != "all of one"])  # whose reports are rows
def test_reports_have_the_law_that_is_accounted(name: str) -> None:
    wrapper = SMALL[name]().realised
    check_sampler(wrapper, rows=matrix_of(wrapper), draws=4_000, rng=np.random.default_rng(12))
    assert wrapper.realised == wrapper


@pytest.mark.parametrize("name", ["check-in", "one of", "all of", "nested in all of", "nested twice"])
def test_the_same_in_classes_and_as_a_matrix(name: str) -> None:
    """The blanket of a wrapper is that of its matrix, class by class or not."""
    wrapper = SMALL[name]()
    at = np.array([0.0, 0.3]) * wrapper.epsilon0
    whole = sdp.shuffle(FromMatrix(matrix_of(wrapper)), n=40, adversary="weak").profile(at)
    parts = sdp.shuffle(wrapper, n=40, adversary="weak").profile(at)
    assert np.all(parts.upper >= whole.lower)
    assert np.allclose(parts.upper, whole.upper, rtol=1e-3, atol=1e-14)


@given(
    st.floats(0.01, 4.0),
    st.floats(0.01, 4.0),
    st.floats(0.001, 0.999),
    st.integers(1, 4),
    st.sampled_from(["check-in", "one of", "all of", "check-in of all of"]),
)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_any_strengths(first: float, second: float, share: float, n: int, kind: str) -> None:
    one, two = RR(epsilon0=first), RR(epsilon0=second)
    wrapper: Any = {
        "check-in": lambda: CheckIn(one, probability=share),
        "one of": lambda: OneOf([one, two], weights=[share, 1.0 - share]),
        "all of": lambda: AllOf([one, two]),
        "check-in of all of": lambda: CheckIn(AllOf([one, two]), probability=share),
    }[kind]()
    at = np.array([0.0, 0.1, 0.8]) * wrapper.epsilon0
    check_ends(wrapper, rows=matrix_of(wrapper), users=(n,), rounds=(1,), adversaries=(), epsilons=at)


def test_few_answers_have_a_matrix() -> None:
    """A matrix is searched for the worst pair, and bounded more closely than classes."""
    three, mixed = AllOf([RR(epsilon0=1.0)] * 3), OneOf([KRR(k=3, epsilon0=2.0), uneven()])
    for each in (three, mixed):
        assert each.table is not None
        assert np.allclose(each.table, matrix_of(each), rtol=1e-14)
    assert AllOf([RR(epsilon0=1.0)] * 4).table is None
    assert CheckIn(KRR(k=4, epsilon0=1.0), probability=0.5).table is None


def test_check_in_at_the_size_of_a_survey() -> None:
    """The number that the matrix of 16 x 17 gave."""
    bound = sdp.shuffle(CheckIn(KRR(k=16, epsilon0=4.0), probability=0.1), n=100_000).epsilon(delta=1e-6)
    assert bound.lower <= 0.0303711
    assert bound.upper >= 0.0303710
    assert bound.upper <= bound.lower * (1.0 + 1e-5)


def test_questions_that_are_alike_are_one_question() -> None:
    """Which of fifty questions is answered says nothing if all are alike."""
    alone = sdp.shuffle(KRR(k=16, epsilon0=4.0), n=10_000).epsilon(delta=1e-6)
    fifty = sdp.shuffle(OneOf([KRR(k=16, epsilon0=4.0)] * 50), n=10_000).epsilon(delta=1e-6)
    assert fifty.lower == pytest.approx(alone.lower, rel=1e-5)
    assert fifty.upper == pytest.approx(alone.upper, rel=1e-5)


def test_fifty_questions_in_one_message() -> None:
    diary = AllOf([KRR(k=8, epsilon0=0.1)] * 50)
    (blanket,) = diary.blankets("upper")
    assert blanket.hay.size == 51 * 52 // 2
    assert math.fsum(blanket.hay) == pytest.approx(diary.gamma, rel=1e-9)
    assert 0.0 < sdp.shuffle(diary, n=10_000).delta_at_most(epsilon=0.1) < 1.0


@pytest.mark.parametrize("probability", [1e-300, 1e-17, 1.0 - 2.0**-53])
def test_far_corners_of_a_check_in(probability: float) -> None:
    wrapper = CheckIn(KRR(k=4, epsilon0=3.0), probability=probability)
    bound = sdp.shuffle(wrapper, n=1000).delta(epsilon=0.5)
    alone = sdp.shuffle(KRR(k=4, epsilon0=3.0), n=1000).delta(epsilon=0.5)
    assert 0.0 <= bound.lower <= bound.upper <= max(alone.upper * 1.001, 1e-280)
    nested = CheckIn(AllOf([wrapper, wrapper]), probability=0.5)
    assert sdp.shuffle(nested, n=1000).delta(epsilon=0.5).upper <= 1.0


def test_far_corners_of_weights() -> None:
    rare = OneOf([RR(epsilon0=50.0), RR(epsilon0=1e-12)], weights=[1e-300, 1.0])
    bound = sdp.shuffle(rare, n=1000).delta(epsilon=1.0)
    assert bound.lower <= bound.upper <= 1e-280
    assert rare.realised.shares == (2.0**-53, 1.0 - 2.0**-53)
    strong = AllOf([RR(epsilon0=50.0), RR(epsilon0=49.0)])
    assert sdp.shuffle(strong, n=100).delta_at_least(epsilon=60.0) > 0.0


def test_numbers_that_are_drawn_from_infinitely_many() -> None:
    noisy = OneOf([Laplace(epsilon0=1.0), CheckIn(Gaussian(sigma=1.0), probability=0.5)], weights=[0.7, 0.3])
    bound = sdp.shuffle(noisy, n=10_000).epsilon(delta=1e-6)
    assert 0.0 < bound.lower <= bound.upper < sdp.shuffle(Laplace(epsilon0=1.0), n=3_000).epsilon_at_most(delta=1e-6)
    assert any("worst" in each for each in bound.assumptions)
    reports = noisy.randomize(np.full((500, 2), 0.5), rng=np.random.default_rng(3))
    assert reports.shape == (500, 3)
    first, second = noisy.split(reports)
    assert set(first[:, 0].tolist()) == {0, 1}
    assert np.all((first[:, 0] == 1) != (reports[:, 0] == 1))
    assert np.all(second[reports[:, 0] == 0] == 0)
    with pytest.raises(sdp.InvalidInput, match="finitely many reports"):
        AllOf([Laplace(epsilon0=1.0), RR(epsilon0=1.0)])


def test_coins_are_drawn_as_integers() -> None:
    """The question and the check-in by chi-square, with the integers' own probabilities."""
    survey = OneOf([RR(epsilon0=1.0), KRR(k=3, epsilon0=1.0), OUE(k=9, epsilon0=1.0)], weights=[0.5, 0.3, 0.2])
    reports = survey.randomize(np.zeros((30_000, 3), dtype=int), rng=np.random.default_rng(5))
    assert sum(survey.integers) == 2**64
    seen = np.bincount(reports[:, 0], minlength=3)
    assert chisquare(seen, [30_000 * each / 2**64 for each in survey.integers]).pvalue > 1e-6
    check_in = CheckIn(BLH(k=5, epsilon0=1.0), probability=0.15)
    sent = check_in.randomize(np.zeros(30_000, dtype=int), rng=np.random.default_rng(6))
    assert check_in.realised.probability == check_in.threshold / 2**64
    assert chisquare(np.bincount(sent[:, 0].astype(int)), [30_000 * 0.85, 30_000 * 0.15]).pvalue > 1e-6
    assert np.all(sent[sent[:, 0] == 0] == 0)


def test_reports_are_taken_apart() -> None:
    parts = [OUE(k=9, epsilon0=2.0), BLH(k=5, epsilon0=1.0), Hadamard(k=6, epsilon0=1.0)]
    answers = np.array([[8, 4, 5]] * 400)
    whole = AllOf(parts)
    split = whole.split(whole.randomize(answers, rng=np.random.default_rng(1)))
    for part, reports in zip(parts, split, strict=True):
        part.check_reports(reports)
        assert np.argmax(part.supports(reports)) == answers[0, parts.index(part)] or part is parts[1]
        assert np.array_equal(reports_of(part, words_of(reports)), reports)
    one = OneOf(parts)
    for number, reports in enumerate(one.split(one.randomize(answers, rng=np.random.default_rng(2)))):
        assert len(reports) == 400
        assert reports.shape[1:] == (
            () if one.question(number).form.width is None else (one.question(number).form.width,)
        )


def test_answers_in_a_row_and_by_number_are_the_same() -> None:
    survey = AllOf([KRR(k=3, epsilon0=9.0), OneOf([RR(epsilon0=9.0), KRR(k=4, epsilon0=9.0)])])
    rows = np.array([[2, 1, 3], [0, 0, 2]])
    numbers = np.ravel_multi_index(tuple(rows.T), (3, 2, 4))
    first, second = (survey.randomize(each, rng=np.random.default_rng(4)) for each in (rows, numbers))
    assert np.array_equal(first, second)
    assert survey.worst_pair == ((0, 0, 0), (1, 1, 1))


def test_descriptions() -> None:
    survey = sdp.shuffle(OneOf([RR(epsilon0=1.0)] * 3), n=10)
    assert survey.describe() == (
        "one of, weights = [3 x 0.333333], questions = [3 x (rr, k = 2, epsilon0 = 1)]; 10 people"
    )
    assert repr(CheckIn(RR(epsilon0=1.0), probability=0.5)) == (
        "CheckIn(randomizer=KRR(k=2, epsilon0=1.0), probability=0.5)"
    )


def test_local_losses() -> None:
    check_in = CheckIn(Gaussian(sigma=1.0), probability=0.25)
    alone = Gaussian(sigma=1.0)
    assert check_in.local_delta(epsilon=1.0) == pytest.approx(0.25 * alone.local_delta(epsilon=1.0))
    assert 0.0 < check_in.local_rdp(order=2.0) < alone.local_rdp(order=2.0)
    both = OneOf([alone, alone])
    assert both.local_delta(epsilon=0.3) == pytest.approx(alone.local_delta(epsilon=0.3))
    assert both.local_rdp(order=3.0) == pytest.approx(alone.local_rdp(order=3.0))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: CheckIn(3, probability=0.5), "must be a randomizer such as"),
        (lambda: CheckIn(sdp.AnyLDP(epsilon0=1.0), probability=0.5), "whose law is known"),
        (lambda: CheckIn(RR(epsilon0=1.0), probability=0.0), "probability must lie in"),
        (lambda: CheckIn(RR(epsilon0=1.0), probability=1.0), "needs no check-in"),
        (lambda: CheckIn(RR(epsilon0=1.0), probability=1e-30).realised, "2\\*\\*-64"),
        (lambda: OneOf([]), "at least one"),
        (lambda: OneOf(RR(epsilon0=1.0)), "must be a list"),
        (lambda: OneOf([RR(epsilon0=1.0)], weights=[0.5, 0.5]), "must number 1"),
        (lambda: OneOf([RR(epsilon0=1.0)] * 2, weights=[0.5, 0.6]), "sum to 1"),
        (lambda: OneOf([RR(epsilon0=1.0)] * 2, weights=[1.5, -0.5]), "positive"),
        (lambda: OneOf([RR(epsilon0=1.0)] * 2, weights="ab"), "list of numbers"),
        (lambda: AllOf([RR(epsilon0=40.0)] * 3), "at most 100"),
        (
            lambda: AllOf([OUE(k=4, epsilon0=0.1 * math.sqrt(j)) for j in range(1, 12)]).blankets("upper"),
            "classes of reports",
        ),
        (lambda: AllOf([uneven(), with_zeros()] * 6).blankets("upper"), "kinds of pairs"),
        (lambda: AllOf([RR(epsilon0=1.0)] * 2).randomize([[0, 1, 1]]), "table of 2 columns"),
        (lambda: AllOf([RR(epsilon0=1.0)] * 2).randomize([0, 4]), "from 0 to 3"),
        (lambda: OneOf([RR(epsilon0=1.0)] * 2).randomize([[0, 7]] * 9), "values must be from 0 to 1"),
        (lambda: OneOf([RR(epsilon0=1.0)] * 2).split([[0, 1]]), "reports must be whole numbers"),
        (lambda: OneOf([RR(epsilon0=1.0)] * 2).split([4]), "from 0 to 3"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(make: Any, words: str) -> None:
    with pytest.raises(sdp.InvalidInput, match=words):
        make()
