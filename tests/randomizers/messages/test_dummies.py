"""The shuffler's dummies: a tally that is mixed and messages that are mixed have one law, which is
the one that is written down."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from shuffledp.randomizers.law_file import law_of
from shuffledp.randomizers.messages import ShufflerDummies, TreeDummies
from shuffledp.sampling import WORD

LAWS = {
    "geometric": lambda: ShufflerDummies(k=2, center=2, left=0.5, right=0.4),
    "kept at times": lambda: ShufflerDummies(k=3, center=1, left=0.5, right=0.6, keep=0.7),
    "poisson": lambda: ShufflerDummies(k=2, kind="poisson", rate=4.0, keep=0.5),
    "lightly randomized": lambda: ShufflerDummies(k=3, center=1, left=0.3, right=0.5, epsilon0=1.0).realised,
}


def handed_on(law: ShufflerDummies, votes: int) -> NDArray[np.float64]:
    """The law of the messages for a value that so many sent, from the integers, by hand."""
    _, keep, first, *weights = law.integers
    kept = stats.binom.pmf(np.arange(votes + 1), votes, keep / WORD)
    dummies = np.concatenate([np.zeros(first), np.array([weight / WORD for weight in weights])])
    return np.convolve(kept, dummies)


def agrees(law: ShufflerDummies, votes: int, drawn: NDArray[np.int64]) -> bool:
    expected = len(drawn) * handed_on(law, votes)
    seen = np.bincount(drawn, minlength=len(expected))
    assert len(seen) == len(expected)
    often = expected >= 5.0
    distance = float(((seen - expected)[often] ** 2 / expected[often]).sum())
    return bool(stats.chi2.sf(distance, int(often.sum()) - 1) > 1e-6)


@pytest.mark.parametrize("name", LAWS)
def test_tallies_and_messages_are_mixed_by_one_law(name: str) -> None:
    law, rng = LAWS[name](), np.random.default_rng(9)
    messages = np.array([0, 0, 0, 1], dtype=law.message.dtype)
    tally = law.tally(messages)
    by_tally = np.array([law.mixed(tally, rng=rng) for _ in range(4000)])
    assert set(by_tally[:, 0].tolist()) == {4}
    by_message = np.array([law.tally(law.mixed_messages(messages, rng=rng)) for _ in range(4000)])
    for value, votes in ((0, 3), (1, 1)):
        assert agrees(law, votes, by_tally[:, 1 + value])
        assert agrees(law, votes, by_message[:, 1 + value])
    for mixed in (by_tally, by_message):  # values are independent of each other
        assert abs(np.corrcoef(mixed[:, 1], mixed[:, 2])[0, 1]) < 6.0 / math.sqrt(len(mixed))


@pytest.mark.parametrize("name", LAWS)
def test_the_law_of_a_group_is_exact(name: str) -> None:
    law = LAWS[name]()
    light = law.light
    for size in range(1, law.k + 1):
        group = law.group_law(size, 5)
        for held in (0, 2, 5):
            hit = 1.0 if light is None else light.hit + (size - 1) * light.miss
            miss = 0.0 if light is None else size * light.miss
            votes = np.ones(1)
            for chance in [hit] * held + [miss] * (5 - held):
                votes = np.convolve(votes, [1.0 - chance, chance])
            pmf = sum(weight * np.pad(handed_on(law, each), (0, 5 - each)) for each, weight in enumerate(votes))
            dummies = handed_on(law, 0)
            for _ in range(size - 1):
                pmf = np.convolve(pmf, dummies)
            counts = np.arange(len(pmf))
            mean = float(pmf @ counts)
            assert group.estimate(mean, 5) == pytest.approx(held, abs=1e-9)
            variance = float(pmf @ (counts - mean) ** 2) / group.contrast**2
            assert group.variance(held, 5) == pytest.approx(variance, rel=1e-9)


def test_the_published_case_is_the_laplace_noise_of_a_curator() -> None:
    """beta = 1 at (1, 1e-6): sd 2.80."""
    factor = math.exp(-0.5)
    law = ShufflerDummies(k=16, center=28, left=factor, right=factor)
    assert law.expected_stderr(10_000) == pytest.approx(2.80, abs=0.005)


@pytest.mark.parametrize("name", LAWS)
def test_what_adds_up(name: str) -> None:
    law = LAWS[name]()
    tally = law.tally(law.randomize([0, 1, 1], rng=np.random.default_rng(3)))
    assert tally.tolist() == [3, *np.bincount(law.randomize([0, 1, 1], rng=np.random.default_rng(3)), minlength=law.k)]
    for seed in range(20):
        assert law.adds_up(law.mixed(tally, rng=np.random.default_rng(seed)), 3)
    assert law.adds_up(tally, 3)
    assert law.opened(tally)[0] == 3
    assert not law.adds_up(tally, 4)
    assert not law.adds_up(np.array([3, -1, *tally[2:]]), 3)
    assert not law.adds_up(np.array([3, 10**6, *tally[2:]]), 3)
    assert tally.shape == (law.tally_size,)


NUMBERS = {"center": 3, "left": 0.5, "right": 0.4}


def tree(k: int, levels: int, branches: int) -> TreeDummies:
    return TreeDummies(k=k, levels=levels, branches=branches, **NUMBERS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("k", "levels", "branches", "sizes"),
    [(16, 2, 4, (4, 16)), (10, 2, 4, (3, 10)), (121, 2, 11, (11, 121)), (9, 3, 2, (3, 5, 9)), (7, 1, 4, (7,))],
)
def test_people_name_a_node_of_every_level(k: int, levels: int, branches: int, sizes: tuple[int, ...]) -> None:
    law = tree(k, levels, branches)
    assert law.sizes == sizes
    assert (law.messages, law.places, law.tally_size) == (levels, sum(sizes), 1 + sum(sizes))
    rows = law.randomize(np.arange(k)).reshape(k, levels)
    ends = np.cumsum(sizes)
    for level, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        nodes = rows[:, level] - (end - size)
        assert nodes.tolist() == [value // branches ** (levels - 1 - level) for value in range(k)]
        assert set(nodes.tolist()) == set(range(size))
    tally = law.tally(law.randomize([0, 0, k - 1]))
    assert tally[0] == 3 * levels
    assert law.opened(tally)[0] == 3
    assert tally[1] == 2
    assert tally[-1] == 1
    assert law.adds_up(tally, 3)
    assert not law.adds_up(tally, 4)


def test_every_node_of_every_level_gets_dummies_by_the_table() -> None:
    law, rng = tree(5, 2, 3), np.random.default_rng(4)
    sent = law.tally(law.randomize([0, 4]))
    runs = np.array([law.mixed(sent, rng=rng) for _ in range(3000)])
    messages = law.randomize([0, 4]).ravel()
    mixed = np.array([law.tally(law.mixed_messages(messages, rng=rng)) for _ in range(3000)])
    deviation = float(law.numbers.variance) ** 0.5
    for seen in (runs[:, 1:], mixed[:, 1:]):
        dummies = seen - sent[1:]
        assert np.abs(dummies.mean(axis=0) - float(law.numbers.mean)).max() < 6.0 * deviation / np.sqrt(3000)
        correlations = np.corrcoef(dummies.T) - np.eye(law.places)
        assert np.abs(correlations).max() < 6.0 / np.sqrt(3000)
    assert law.most_messages(2) == 4 + law.places * law.numbers.last


def test_a_tree_is_seen_as_rounds_of_one_of_its_levels() -> None:
    for law in (tree(16, 2, 4), TreeDummies(k=9, levels=3, branches=2, kind="poisson", rate=12.5)):
        assert law_of(law)["type"] == "tree"
        level, rounds = law.seen_as
        assert (type(level), rounds, level.integers) == (ShufflerDummies, law.levels, law.integers)


def test_messages_that_stayed_together_would_give_everybody_away() -> None:
    """The positive control: who sees messages together counts exactly; the shuffler parts them."""
    law = tree(9, 2, 3)
    people = np.arange(50) % 9
    rows = law.randomize(people)
    dummies = np.repeat(np.arange(law.places), law.dummies(rng=np.random.default_rng(1)))[:, None]
    together = [*rows.tolist(), *dummies.tolist()]
    pairs = [pair[1] - law.firsts[1] for pair in together if len(pair) == 2]
    assert np.bincount(pairs).tolist() == np.bincount(people).tolist()
    mixed = [np.sort(law.mixed_messages(each.ravel(), rng=np.random.default_rng(1))) for each in (rows, rows[:, ::-1])]
    assert mixed[0].ndim == 1
    assert np.array_equal(*mixed)  # whichever came with which
