"""Dummies in all levels of a tree: what people send, how it is counted, what the shuffler adds, and
what is no tree.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.law_file import from_law, law_of
from shuffledp.randomizers.messages import ShufflerDummies, TreeDummies

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
    assert law.opened(tally).people == 3
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


def test_it_is_written_down_and_read_again() -> None:
    for law in (tree(16, 2, 4), TreeDummies(k=9, levels=3, branches=2, kind="poisson", rate=12.5)):
        written = json.loads(json.dumps(law_of(law)))
        assert written["type"] == "tree"
        assert written["epsilon0"] is None
        assert from_law(written) == law
        level, rounds = law.seen_as
        assert (type(level), rounds, level.integers) == (ShufflerDummies, law.levels, law.integers)
    with pytest.raises(InvalidInput, match="tree"):
        from_law({**law_of(tree(16, 2, 4)), "integers": ["0", "1"]})


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"levels": 0}, "levels must be"),
        ({"levels": 17}, "levels must be at most 16"),
        ({"branches": 1}, "branches must be"),
        ({"levels": 3, "branches": 4}, "two nodes or more"),
        ({"epsilon0": 1.0}, "epsilon0 must be left out"),
        ({"rate": 2.0}, "rate must be left out"),
        ({"center": 0, "right": 0.0}, "must be some"),
    ],
)
def test_what_is_no_tree_is_refused(wrong: dict[str, float], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        TreeDummies(**{"k": 16, "levels": 2, "branches": 4, **NUMBERS, **wrong})


def test_messages_that_stayed_together_would_give_everybody_away() -> None:
    """The positive control: dummies come alone, so whoever sees which messages came together counts
    people exactly. After the shuffler nothing is together.
    """
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
