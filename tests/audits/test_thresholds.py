from fractions import Fraction

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.audits.thresholds import Scripted, integers
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.unary import RAPPOR
from shuffledp.sampling import WORD, Table, bernoulli

RANDOMIZERS = [
    sdp.KRR(k=3, epsilon0=1.3),
    sdp.KRR(k=1000, epsilon0=5.0),
    sdp.KRR(k=4, epsilon0=17.0),
    sdp.Hadamard(k=2, epsilon0=0.3),
    sdp.Hadamard(k=300, epsilon0=3.0),
    sdp.OLH(k=10, epsilon0=2.0),
    sdp.SubsetSelection(k=7, epsilon0=1.0),
    sdp.OUE(k=11, epsilon0=1.0),
    sdp.RAPPOR(k=2, epsilon0=2.0),
    sdp.Unary(k=5, p=0.6, q=0.1),
    sdp.Laplace(epsilon0=2.0),
    sdp.Gaussian(sigma=1.0),
    sdp.FromMatrix([[0.7, 0.3, 0.0], [0.1, 0.8, 0.1]]),
]


def compared(account, sampler):
    return integers(
        account, lambda x, source: sampler.randomize(np.array([x]), rng=source)[0], np.random.default_rng(1)
    )


@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda r: f"{type(r).__name__}-{getattr(r, 'k', '')}")
def test_every_randomizer_runs_on_the_integers_of_its_account(randomizer):
    found = compared(randomizer.realised, randomizer.realised)
    assert found is not None
    assert found[2] == 1.0


def test_many_thresholds_are_exact():
    rng = np.random.default_rng(3)
    for epsilon0, k in zip(10.0 ** rng.uniform(-3, 1.3, 40), rng.integers(2, 500, 40), strict=True):
        law = sdp.KRR(k=int(k), epsilon0=float(epsilon0)).realised
        found = compared(law, law)
        assert found is None or found[2] == 1.0, law


@pytest.mark.parametrize("off", [-1, 1, 1000, -(2**30)])
def test_a_threshold_that_no_sampling_could_tell_is_told(off, monkeypatch):
    right = sdp.KRR(k=4, epsilon0=1.0).realised
    near = right.threshold + off
    monkeypatch.setattr(KRR, "threshold", property(lambda _: near))
    assert compared(right, right)[2] == 0.0


def test_one_of_two_thresholds_is_told(monkeypatch):
    right = sdp.RAPPOR(k=9, epsilon0=1.0).realised
    own, other = right.thresholds
    monkeypatch.setattr(RAPPOR, "thresholds", property(lambda _: (own, other - 1)))
    found = compared(right, right)
    assert found[2] == 0.0
    assert "2 of 4" in found[3]


def test_a_table_that_is_off_by_one_is_told():
    right = sdp.FromMatrix([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]).realised
    ends = [[WORD // 2 + 1, WORD // 4 - 1, WORD // 4], [WORD // 4, WORD // 4, WORD // 2]]
    found = integers(right, lambda x, source: Table(ends[x]).draw(source, 1)[0], np.random.default_rng(1))
    assert found[2] == 0.0
    assert "report 0 of value 0" in found[3]


def test_a_sampler_that_draws_in_a_way_of_its_own_is_not_accused():
    right, own = sdp.KRR(k=4, epsilon0=1.0).realised, np.random.default_rng(5)
    assert integers(right, lambda x, _: right.randomize(np.array([x]), rng=own)[0], np.random.default_rng(1)) is None


@pytest.mark.parametrize("word", [0, 1, WORD // 3, WORD - 1])
def test_a_script_says_the_word_it_was_given(word):
    assert bernoulli(Scripted(word), word, 3).tolist() == [False] * 3
    assert bernoulli(Scripted(word), word + 1, 3).tolist() == [True] * 3
    bits = word << 64 | 12345
    weights = [bits, 1, 2**128 - bits - 1]
    assert Table(weights).draw(Scripted(bits, 128), 1)[0] == 1
    assert Fraction(weights[1], 2**128) < Fraction(1, 10**38)
