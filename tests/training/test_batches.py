"""Balls and bins: every record in its own steps, exactly as accounted for."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from shuffledp.errors import InvalidInput
from shuffledp.training.descent import BallsAndBins


@given(st.integers(1, 60), st.integers(1, 12), st.data())
def test_every_record_is_in_exactly_its_batches(records: int, steps: int, data: st.DataObject) -> None:
    times = data.draw(st.integers(1, steps))
    epoch = BallsAndBins(records=records, steps=steps, participations=times).epoch()
    assert len(epoch) == steps
    assert all(len(set(batch.tolist())) == len(batch) for batch in epoch)
    assert np.bincount(np.concatenate(epoch), minlength=records).tolist() == [times] * records


@pytest.mark.parametrize("steps, times", [(5, 1), (5, 2), (6, 3)])
def test_every_set_of_steps_is_equally_likely(steps: int, times: int) -> None:
    records = 60_000
    sampler = BallsAndBins(records=records, steps=steps, participations=times, rng=np.random.default_rng(7))
    mine: list[list[int]] = [[] for _ in range(records)]
    for step, batch in enumerate(sampler):
        for record in batch:
            mine[record].append(step)
    sets = list(combinations(range(steps), times))
    seen = dict.fromkeys(sets, 0)
    for each in mine:
        seen[tuple(each)] += 1
    assert chisquare(list(seen.values())).pvalue > 1e-6


def test_records_choose_independently_of_each_other() -> None:
    rng = np.random.default_rng(3)
    pairs = np.zeros((3, 3))
    for _ in range(3_000):
        epoch = BallsAndBins(records=2, steps=3, rng=rng).epoch()
        first, second = (next(step for step, batch in enumerate(epoch) if record in batch) for record in (0, 1))
        pairs[first, second] += 1
    assert chisquare(pairs.ravel()).pvalue > 1e-6


def test_every_iteration_is_a_fresh_epoch() -> None:
    sampler = BallsAndBins(records=500, steps=50)
    assert list(sampler) != list(sampler)


def test_an_empty_batch_is_still_a_step() -> None:
    epoch = list(BallsAndBins(records=1, steps=4))
    assert sorted(len(batch) for batch in epoch) == [0, 0, 0, 1]


def test_it_is_what_pytorch_asks_of_a_batch_sampler() -> None:
    batch = next(iter(BallsAndBins(records=9, steps=1)))
    assert batch == list(range(9))
    assert all(type(index) is int for index in batch)


@pytest.mark.parametrize(
    "given, rule",
    [
        ({"records": 0, "steps": 3}, "records must"),
        ({"records": 10, "steps": 0}, "steps must"),
        ({"records": 10, "steps": 1 << 40}, "steps must be at most"),
        ({"records": 10, "steps": 3, "participations": 4}, "participations must be at most steps = 3, got 4"),
        ({"records": 10, "steps": 3, "participations": 0}, "participations must"),
        ({"records": 2.5, "steps": 3}, "records must"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given: dict[str, object], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        BallsAndBins(**given)  # type: ignore[arg-type]
