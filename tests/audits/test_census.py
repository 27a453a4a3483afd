import numpy as np
import pytest
from scipy.stats import binom

import shuffledp as sdp
from shuffledp.audits.census import Census, binomial, least, multinomial, together
from shuffledp.audits.reports import Tabled, Voted, gaussian_noise, joint_of

RANDOMIZERS = [
    sdp.KRR(k=5, epsilon0=1.3),
    sdp.KRR(k=300, epsilon0=5.0),
    sdp.Hadamard(k=20, epsilon0=2.0),
    sdp.Hadamard(k=900, epsilon0=3.0),
    sdp.OUE(k=11, epsilon0=1.0),
    sdp.RAPPOR(k=2, epsilon0=2.0),
    sdp.OLH(k=10, epsilon0=2.0),
    sdp.SubsetSelection(k=7, epsilon0=1.0),
    sdp.Gaussian(sigma=1.0),
    sdp.FromMatrix([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]),
]


@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda r: f"{type(r).__name__}-{getattr(r, 'k', '')}")
def test_a_joint_law_is_the_law_of_what_runs(randomizer):
    realised, rng = randomizer.realised, np.random.default_rng(3)
    joint = joint_of(realised)
    for law in (joint.cell_law, joint.mark_law):
        assert law.sum() == pytest.approx(1.0, rel=1e-12)
    drawn = rng.integers(0, len(joint.inputs), 40_000)
    seen = joint.read(drawn, realised.randomize(joint.inputs[drawn], rng=rng), rng)
    assert multinomial(np.bincount(seen.cells, minlength=len(joint.cell_law)), joint.cell_law)[0] > 1e-4
    assert multinomial(np.bincount(seen.marks, minlength=len(joint.mark_law)), joint.mark_law)[0] > 1e-4
    strata = joint.strata(drawn)
    each = binomial(
        np.bincount(strata[seen.hits], minlength=len(joint.hit_law)),
        np.bincount(strata, minlength=len(joint.hit_law)),
        joint.hit_law,
    )
    assert together(each) > 1e-4


def test_small_domains_are_read_whole_and_large_ones_by_votes():
    assert isinstance(joint_of(sdp.KRR(k=100, epsilon0=1.0).realised), Tabled)
    assert isinstance(joint_of(sdp.KRR(k=200, epsilon0=1.0).realised), Voted)
    halves = joint_of(sdp.KRR(k=3, epsilon0=1.0).realised, halves=True)
    assert halves.inputs.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]


@pytest.mark.parametrize("steps", [None, 256])
def test_gaussian_cells_have_the_law_of_the_noise(steps):
    joint, noise = gaussian_noise(steps), np.random.default_rng(1).normal(size=200_000)
    seen = joint.read(
        np.zeros(200_000, dtype=np.intp),
        noise if steps is None else np.rint(noise * steps) / steps,
        np.random.default_rng(2),
    )
    assert multinomial(np.bincount(seen.cells, minlength=64), joint.cell_law)[0] > 1e-4


def test_p_values_of_an_honest_census_are_not_too_small():
    law, rng, small = sdp.KRR(k=3, epsilon0=2.0).realised, np.random.default_rng(1), {}
    joint = joint_of(law)
    for _ in range(150):
        census = Census(joint, 6)
        for _ in range(2):
            drawn = rng.integers(0, 3, 300)
            census.add(drawn, joint.read(drawn, law.randomize(drawn, rng=rng), rng))
        for name, _, p, _ in census.findings():
            small[name] = small.get(name, 0) + (p < 0.05)
    assert set(small) == {"law", "places", "lags"}
    assert max(small.values()) <= 18  # binomial, mean 7.5 at most


def test_binomial_tails_are_exact_and_never_too_small():
    for share in (1e-6, 0.3, 1.0 - 1e-6):
        counts = np.arange(51)
        mass, p = binom.pmf(counts, 50, share), binomial(counts, 50, share)
        for level in (1e-3, 0.01, 0.1):
            assert mass[p <= level].sum() <= level * (1.0 + 1e-6)
    assert binomial(0, 0, 0.5) == 1.0
    assert binomial(10, 10, 1.0) == 1.0


def test_many_small_excesses_add_up_and_one_large_one_stands_out():
    law = np.full(20, 0.05)
    assert multinomial(np.full(20, 1000), law)[0] == 1.0
    assert multinomial(np.tile([1060, 940], 10), law)[0] < 1e-4
    one = np.full(20, 1000)
    one[7] = 1300
    assert multinomial(one, law) == (pytest.approx(0.0, abs=1e-10), 7)
    assert least([0.5, 1e-6, 0.1]) == (pytest.approx(3e-6), 1)
    assert together(np.array([0.04] * 10)) < 1e-4 < together(np.array([0.6] * 10))
