"""One of several levels of bins: the law that runs is the one that is accounted, and its ends hold
the truth.
"""

from __future__ import annotations

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInput
from shuffledp.judge import worst_delta
from shuffledp.randomizers import KRR, OneOf
from shuffledp.randomizers.law_file import from_law, law_of
from shuffledp.randomizers.wrappers import OneLevel

EPSILONS = np.array([0.0, 0.2, 0.5, 1.0, 1.5])


@pytest.mark.parametrize("sizes", [(3, 4), (3, 6), (4, 5), (3, 4, 5)])
@pytest.mark.parametrize("epsilon0", [1.0, 2.5])
def test_both_ends_hold_the_truth(sizes: tuple[int, ...], epsilon0: float) -> None:
    """Enumeration of every dataset of two and three people, and of every view."""
    law = OneLevel.of_sizes(sizes=sizes, epsilon0=epsilon0).realised
    for n in (2, 3):
        exact = np.asarray(worst_delta(law.rows.tolist(), n=n, epsilons=EPSILONS.tolist()))
        bounds = [sdp.shuffle(law, n=n).delta(epsilon=each) for each in EPSILONS.tolist()]
        assert np.all(np.array([each.lower for each in bounds]) <= exact + 1e-12)
        assert np.all(np.array([each.upper for each in bounds]) >= exact - 1e-12)


def test_what_is_drawn_is_the_law() -> None:
    law = OneLevel.of_sizes(sizes=(3, 6), epsilon0=2.0).realised
    rng, many = np.random.default_rng(5), 20_000
    for value in range(6):
        seen = law.tally(law.randomize(np.full(many, value), rng=rng))
        mean = many * law.rows[value]
        assert np.all(np.abs(seen - mean) < 6.0 * np.sqrt(mean) + 6.0)
        assert law.adds_up(seen, many)
    assert law.rows.sum(axis=1) == pytest.approx(1.0, abs=1e-15)
    assert not law.adds_up(seen, many + 1)


def test_a_report_names_a_node_of_one_level() -> None:
    law = OneLevel.of_sizes(sizes=(4, 16), epsilon0=30.0)
    reports = law.randomize(np.arange(16).repeat(100), rng=np.random.default_rng(5))
    values = np.arange(16).repeat(100)
    coarse = reports < 4
    assert np.array_equal(reports[coarse], values[coarse] // 4)
    assert np.array_equal(reports[~coarse] - 4, values[~coarse])
    assert law.favours(reports, values).all()


def test_it_is_written_down_and_read() -> None:
    law = OneLevel.of_sizes(sizes=(4, 16, 64), epsilon0=3.0).realised
    again = from_law(law_of(law))
    assert again == law
    assert again.k == 64
    with pytest.raises(InvalidInput, match="each level finer than the one before"):
        from_law(law_of(OneOf([KRR(k=8, epsilon0=1.0), KRR(k=4, epsilon0=1.0)])))
    with pytest.raises(InvalidInput, match="at least 3 nodes"):
        OneLevel.of_sizes(sizes=(2, 4), epsilon0=1.0)
