"""Limits of the words that were found, though which words are counted depends on the same people."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shuffledp.search.found import _every
from shuffledp.search.planning import planned_search
from tests.mechanisms.simulation import coins, ends


def test_words_that_barely_got_there_lie_within_their_limits() -> None:
    """40 words of 595 holders each, of which two or three get through all 15 levels: whoever helped
    them there is missing where they are counted. Limits for the counted words alone fail in 7 % of
    the searches.
    """
    search = planned_search(people=10**8, epsilon=4.0, delta=1e-6, k=20, longest=16)
    levels, people = len(search.spans), search.people
    first, last = search.group(0), search.group(levels, counting=True)
    law, counting = first.randomizer, last.randomizer
    held, words, runs, rng = 595, 40, 2000, np.random.default_rng(5)
    drawn = rng.multinomial(held, [first.share] * levels + [last.share], size=(runs, words))
    strays = rng.poisson(people * first.share * law.miss, size=(runs, words, levels))
    votes = rng.binomial(drawn[..., :levels], law.hit) + strays
    there: NDArray[np.bool_] = np.all(votes >= search.threshold(first, search.law.values - 1), axis=-1)
    strays = rng.poisson(people * last.share * counting.miss, size=(runs, words))
    counted: NDArray[np.int64] = rng.binomial(drawn[..., levels], counting.hit) + strays
    failed = {"counted": 0, "likely": 0}
    hit, miss, contrast = (last.share * each for each in (counting.hit, counting.miss, counting.contrast))
    for row, chosen in zip(counted, there, strict=True):
        if not chosen.any():
            continue
        rows = coins(row[chosen], people, hit, miss, contrast)
        values = rows.values
        for name, every in (
            ("counted", len(values)),
            ("likely", _every(search, values, tuple(range(len(values))))),
        ):
            failed[name] += bool(np.any(ends(rows, 0.025 / every).upper < held))
    assert failed["counted"] > 0.05 * runs
    assert failed["likely"] < 0.001 * runs
