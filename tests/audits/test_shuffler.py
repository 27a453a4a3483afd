import numpy as np
import pytest

from shuffledp.audits.shuffler import distinct, labels_of, shuffling, unlike

ROWS = [
    np.arange(30) % 3,
    np.arange(30),
    np.arange(60, dtype=np.uint8).reshape(30, 2) % 4,
    np.zeros(5, dtype=np.uint8),
    np.arange(2),
]


def permuting(seed):
    rng = np.random.default_rng(seed)
    return lambda rows: rows[rng.permutation(len(rows))]


@pytest.mark.parametrize("rows", ROWS, ids=["few values", "all different", "pairs", "all equal", "two"])
def test_shufflers_that_sort_or_permute_pass(rows):
    for seed in range(5):
        assert shuffling(rows, permuting(seed), 200, np.random.default_rng(seed))[2] > 1e-4
    assert (
        shuffling(
            rows, lambda given: given[np.argsort(labels_of(given), kind="stable")], 200, np.random.default_rng(1)
        )[2]
        == 1.0
    )


def test_a_shuffler_that_sorts_one_way_or_the_other_at_random_gives_nothing_away():
    rng = np.random.default_rng(1)
    assert (
        shuffling(np.arange(30), lambda rows: np.sort(rows)[:: rng.choice([-1, 1])], 400, np.random.default_rng(2))[2]
        > 1e-4
    )


WRONG = {
    "keeps": lambda _: lambda rows: rows,
    "rotates": lambda rng: lambda rows: np.roll(rows, rng.integers(len(rows))),
    "keeps the last": lambda rng: lambda rows: np.append(rows[:-1][rng.permutation(len(rows) - 1)], rows[-1:]),
    "exchanges two": lambda _: (
        lambda rows: rows[
            np.where(np.isin(np.arange(len(rows)), [3, 4]), 7 - np.arange(len(rows)), np.arange(len(rows)))
        ]
    ),
    "rotates backwards": lambda rng: lambda rows: np.roll(rows, rng.integers(len(rows)))[::-1],
    "cuts once": lambda rng: lambda rows: np.concatenate(np.split(rows, [int(rng.integers(5, 25))])[::-1]),
    "has few orders": lambda rng: lambda rows: rows[np.random.default_rng(rng.integers(1000)).permutation(len(rows))],
    "keeps some": lambda rng: lambda rows: rows if rng.random() < 0.3 else rows[rng.permutation(len(rows))],
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("rows", ROWS[:2], ids=["equal", "different"])
def test_shufflers_that_do_not_shuffle_are_caught(name, rows):
    assert shuffling(rows, WRONG[name](np.random.default_rng(1)), 400, np.random.default_rng(2))[2] < 1e-6


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r[1:],
        lambda r: np.append(r[1:], r[-1]),
        lambda r: np.append(r, r[0]),
        lambda r: r.astype(np.int16),
        lambda r: r + 1,
    ],
)
def test_what_goes_in_must_come_out(change):
    assert shuffling(np.arange(30) % 7, lambda rows: change(np.sort(rows)), 20, np.random.default_rng(1))[2] == 0.0


def test_p_values_of_right_shufflers_are_not_too_small():
    rng, small = np.random.default_rng(1), 0
    for _ in range(150):
        base = np.sort(rng.integers(0, rng.integers(1, 8) + 1, rng.integers(2, 30)))
        labels = labels_of(base)
        given, released = (rng.permuted(np.tile(labels, (100, 1)), axis=1) for _ in range(2))
        small += unlike(given, released, rng)[0] < 0.05
    assert small <= 18  # binomial, mean 7.5 at most


def test_reports_that_nobody_sends_are_used_only_if_the_shuffler_takes_them():
    rows = np.zeros(20, dtype=np.uint8)
    assert len(distinct(rows, np.sort)) == 1
    assert distinct(rows, lambda given: given[given < 4]) == []
    assert distinct(np.zeros(300, dtype=np.uint8), np.sort) == []
