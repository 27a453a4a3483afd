"""Only sums of bits are released: against enumeration, and numbers others published."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp.accounting import views
from shuffledp.accounting.shuffled import Shuffled
from shuffledp.accounting.views import SumsCurve
from shuffledp.ledger.entry import Entry
from shuffledp.randomizers.unary import UnaryEncoding
from shuffledp.testing import assert_between
from tests.oracle.bit_sums import sums_delta

Encoding = sdp.OUE | sdp.RAPPOR | sdp.Unary

LAWS: list[Encoding] = [
    sdp.OUE(k=3, epsilon0=2.0),
    sdp.OUE(k=2, epsilon0=0.5),
    sdp.RAPPOR(k=3, epsilon0=4.0),
    sdp.RAPPOR(k=2, epsilon0=1.0),
    sdp.Unary(k=3, p=0.95, q=0.3),
    sdp.Unary(k=3, p=0.2, q=0.01),
]


def sums(randomizer: Encoding, n: int) -> Shuffled:
    return sdp.shuffle(randomizer, n=n, view="sums")


@pytest.mark.parametrize("randomizer", LAWS[:1] + LAWS[3:], ids=repr)
@pytest.mark.parametrize("few", [views.FEW_USERS, 0], ids=["every dataset", "cells"])
def test_it_encloses_the_enumeration(randomizer: Encoding, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "FEW_USERS", few)
    at = randomizer.epsilon0 * np.array([0.0, 0.1, 0.3, 0.6, 0.95])
    for n in (1, 4):
        truth = sums_delta(randomizer.p, randomizer.q, randomizer.k, n, at)
        survey = sums(randomizer, n)
        assert_between(survey.deltas(at, end="lower"), truth, survey.deltas(at, end="upper"), f"{n} users")


@pytest.mark.parametrize("randomizer", LAWS[1:4], ids=repr)
def test_two_rounds_enclose_the_enumeration(randomizer: Encoding) -> None:
    at = randomizer.epsilon0 * np.array([0.0, 0.2, 0.5, 1.3])
    for n in (1, 2):
        truth = sums_delta(randomizer.p, randomizer.q, randomizer.k, n, at, rounds=2)
        survey = sums(randomizer, n).compose(2)
        assert_between(survey.deltas(at, end="lower"), truth, survey.deltas(at, end="upper"), f"{n} users")


@settings(max_examples=4)
@given(
    p=st.floats(0.02, 0.98), share=st.floats(0.02, 0.98), k=st.integers(2, 3), n=st.integers(1, 4), cells=st.booleans()
)
def test_any_chances(p: float, share: float, k: int, n: int, cells: bool) -> None:
    randomizer = sdp.Unary(k=k, p=p, q=p * share)
    at = randomizer.epsilon0 * np.array([0.0, 0.15, 0.5])
    truth = sums_delta(p, p * share, k, n, at)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views, "FEW_USERS", 0 if cells else views.FEW_USERS)
        survey = sums(randomizer, n)
        assert_between(survey.deltas(at, end="lower"), truth, survey.deltas(at, end="upper"), f"{n} users")


# draft-wang-ppm-differential-privacy: n = 1e5, delta = 1e-9, every bit flipped with odds e^epsilon_bit.
DRAFT = [(5.0, 0.317, 0.2991), (6.5, 0.906, 0.7045), (7.0, 1.528, 0.9566)]


@pytest.mark.parametrize(("bit", "claimed", "composed"), DRAFT)
def test_the_numbers_of_the_draft(bit: float, claimed: float, composed: float) -> None:
    """``composed`` is what two composed rounds of binary randomized response say."""
    bound = sums(sdp.RAPPOR(k=16, epsilon0=2.0 * bit), 10**5).epsilon(delta=1e-9)
    assert bound.upper <= composed < claimed
    assert bound.lower <= bound.upper <= bound.lower * 1.002


@pytest.mark.parametrize("randomizer", [sdp.OUE(k=16, epsilon0=4.0), sdp.OUE(k=2, epsilon0=4.0)], ids=repr)
def test_the_ends_are_close(randomizer: Encoding) -> None:
    bound = sums(randomizer, 10_000).epsilon(delta=1e-6)
    assert bound.upper <= bound.lower * 1.002
    assert "sums of bits" in bound.method
    assert any("only how often each bit was set" in each for each in bound.assumptions)


def test_sums_give_away_less_than_reports() -> None:
    randomizer = sdp.RAPPOR(k=16, epsilon0=6.0)
    reports, several = sdp.shuffle(randomizer, n=3000), sums(randomizer, 3000).compose(3)
    assert several.epsilon_at_most(delta=1e-6) < reports.epsilon_at_least(delta=1e-6)


def test_the_domain_does_not_matter_from_three_values_on() -> None:
    """Only two sums change, whatever k; of two values the others hold either, and hide more."""
    small, large, two = (sums(sdp.OUE(k=k, epsilon0=3.0), 60).reduction for k in (3, 10**6, 2))
    assert small.theorems == large.theorems != two.theorems
    assert small.lowers == large.lowers


def test_it_falls_about_with_the_root_of_n() -> None:
    few, many = (sums(sdp.OUE(k=9, epsilon0=3.0), n).epsilon_at_most(delta=1e-9) for n in (10**6, 10**12))
    assert 1000.0 < few / many < 2000.0


def test_a_dataset_and_its_mirror_image() -> None:
    law, epsilons = sdp.OUE(k=3, epsilon0=2.0).bit, np.array([0.0, 0.1, 0.4])
    dataset = SumsCurve.of(law, 50, (0, 20))
    lower, upper = dataset.bounds(epsilons)
    assert np.all(lower <= upper)
    assert dataset.swapped().example == (20, 0)
    scan = SumsCurve(law, 50, (0, 10), (5, 49), (0, 20))
    assert scan.swapped() == SumsCurve(law, 50, (5, 49), (0, 10), (20, 0))
    assert np.all(scan.bounds(epsilons)[1] >= lower)


def test_what_is_refused() -> None:
    oue = sdp.OUE(k=16, epsilon0=4.0)
    with pytest.raises(sdp.InvalidInput, match="view must be one of reports, sums, got 'counts'"):
        sdp.shuffle(oue, n=100, view="counts")  # type: ignore[arg-type]
    with pytest.raises(sdp.InvalidInput, match="must be of reports that are bits, got KRR"):
        sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=100, view="sums")
    with pytest.raises(sdp.InvalidInput, match='must face the adversary "shuffled"'):
        sdp.shuffle(oue, n=100, adversary="weak", view="sums")


def test_it_says_what_it_is() -> None:
    survey = sdp.shuffle(sdp.OUE(k=16, epsilon0=4.0), n=100, honest=90, view="sums")
    assert repr(survey) == "shuffle(OUE(k=16, epsilon0=4.0), n=100, honest=90, view='sums')"
    assert survey.describe().endswith("100 people, 90 of them honest; only sums of bits are released")
    assert survey.key != sdp.shuffle(sdp.OUE(k=16, epsilon0=4.0), n=100, honest=90).key
    assert issubclass(sdp.OUE, UnaryEncoding)


def test_what_is_beside_it() -> None:
    survey = sdp.shuffle(sdp.OUE(k=16, epsilon0=4.0), n=30, view="sums")
    shown = survey.explain(delta=1e-6)
    assert "the reports themselves" in str(shown)
    assert "all others hold a third value" in str(shown)
    with pytest.raises(sdp.InvalidInput, match="published bounds are about shuffled reports"):
        sdp.compare(survey, delta=1e-6)
    with pytest.raises(sdp.InvalidInput, match="a recorded release must be of whole reports"):
        Entry.of(survey, what="words", design="", epsilon=1.0, delta=1e-6)


def test_calibration_takes_a_view() -> None:
    found = sdp.calibrate(sdp.OUE, k=16, n=8, epsilon=2.0, delta=1e-3, view="sums")
    assert found.value > sdp.calibrate(sdp.OUE, k=16, n=8, epsilon=2.0, delta=1e-3).value
    assert found.guarantee.epsilon_at_most(delta=1e-3) <= 2.0


def test_sums_are_not_said_to_leak_more_than_the_reports_they_are_sums_of() -> None:
    encoding = sdp.OUE(k=2, epsilon0=8.0)  # 0.76 to 8 by cells alone
    reports = sdp.shuffle(encoding, n=14_267)
    assert sums(encoding, 14_267).epsilon_at_most(delta=1e-6) <= reports.epsilon_at_most(delta=1e-6) * (1.0 + 1e-6)
