import math
from importlib import import_module
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import shuffledp as sdp
from shuffledp.audits.attack import Attack, Tally, at_least, at_most, bag_score, proven
from shuffledp.audits.reports import reading_of
from shuffledp.audits.subject import subject_of
from shuffledp.audits.trial import Play
from shuffledp.judge import shuffled_law
from shuffledp.sampling import source_of

FINITE = [
    sdp.KRR(k=5, epsilon0=1.3),
    sdp.RR(epsilon0=2.0),
    sdp.Hadamard(k=6, epsilon0=1.0),
    sdp.Hadamard(k=2, epsilon0=3.0),
    sdp.OUE(k=11, epsilon0=1.0),
    sdp.RAPPOR(k=2, epsilon0=2.0),
    sdp.OLH(k=10, epsilon0=2.0),
    sdp.BLH(k=4, epsilon0=1.0),
    sdp.SubsetSelection(k=7, epsilon0=1.0),
    sdp.Laplace(epsilon0=2.0),
    sdp.Gaussian(sigma=1.0),
    sdp.FromMatrix([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]),
]


@pytest.mark.parametrize("randomizer", FINITE, ids=lambda r: f"{r.describe()['randomizer']}-{getattr(r, 'k', '')}")
def test_a_reading_knows_the_law_of_what_runs(randomizer):
    realised = randomizer.realised
    reading = reading_of(realised)
    assert np.allclose(reading.laws.sum(axis=1), 1.0, rtol=1e-12)
    for value, law in zip(reading.inputs, reading.laws, strict=True):
        classes = reading.classify(realised.randomize(np.full(100_000, value), rng=np.random.default_rng(3)))
        seen = np.bincount(classes, minlength=len(law))
        common = law > 1e-3
        assert np.all(np.abs(seen - 1e5 * law)[common] < 5.5 * np.sqrt(1e5 * law[common]))


def test_the_score_of_a_bag_is_its_exact_log_likelihood_ratio():
    subject = subject_of(sdp.KRR(k=3, epsilon0=1.0), 4)
    subject._hold(2)
    rows = reading_of(subject.randomizer).laws
    laws = [shuffled_law(np.array(rows), [first, 2, 2, 2]) for first in (0, 1)]
    for bag in product(range(3), repeat=4):
        play = Play(subject._u[np.array([bag])], subject._v[np.array([bag])])
        key = tuple(np.bincount(bag, minlength=3).tolist())
        assert float(bag_score(play)[0]) == pytest.approx(math.log(laws[0][key] / laws[1][key]), abs=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.003, 0.3, 1.0])
def test_clopper_pearson_covers(share):
    runs, alpha = 300, 0.025
    counts = np.arange(runs + 1)
    mass = binom.pmf(counts, runs, share)
    assert mass[at_least(counts, runs, alpha) > share].sum() <= alpha
    assert mass[at_most(counts, runs, alpha) < share].sum() <= alpha


def test_the_proven_epsilon_is_the_formula_and_never_negative():
    claim = Attack(None, 0, 0.0)
    low, high = float(at_least(80, 100, 0.025)), float(at_most(10, 100, 0.025))
    assert proven(claim, (80, 10), (100, 100), 0.01, 0.05) == pytest.approx(math.log((low - 0.01) / high))
    assert proven(claim, (10, 80), (100, 100), 0.01, 0.05) == 0.0
    assert proven(Attack(None, 1, 0.0), (10, 80), (100, 100), 0.01, 0.05) == pytest.approx(
        math.log((low - 0.01) / high)
    )
    assert proven(claim, (0, 0), (100, 100), 0.01, 0.05) == 0.0


def test_p_values_of_honest_runs_are_not_too_small():
    subject = subject_of(sdp.KRR(k=3, epsilon0=2.0), 6)
    small: dict[str, int] = {}
    for seed in range(200):
        source, tally = source_of(np.random.default_rng(seed)), Tally(6, subject.hay, subject.needles)
        for which in (0, 1):
            play = subject.play(which, 300, source)
            tally.add(which, bag_score(play), play.classes)
        for name, _, p_value, _ in tally.findings():
            small[name] = small.get(name, 0) + (p_value < 0.05)
    assert set(small) == {"law", "independence", "repetition"}
    assert max(small.values()) <= 20  # binomial, mean 10 at most


def test_a_tally_in_parts_is_the_tally_of_all(monkeypatch):
    subject = subject_of(sdp.KRR(k=3, epsilon0=2.0), 6)
    plays = [subject.play(which, 100, source_of(np.random.default_rng(which))) for which in (0, 1)]
    answers = []
    for cells in (1 << 21, 10):
        monkeypatch.setattr(import_module("shuffledp.audits.attack"), "CELLS", cells)  # sdp.audit is the function
        tally = Tally(6, subject.hay, subject.needles)
        for which, play in enumerate(plays):
            tally.add(which, bag_score(play), play.classes)
        answers.append(tally.findings())
    assert answers[0] == answers[1]
