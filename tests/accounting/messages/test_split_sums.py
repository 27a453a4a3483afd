"""Mixed shares: against all that a handful of people may send, and against all permutations."""

from itertools import permutations, product

import numpy as np
import pytest

from shuffledp import InvalidInput
from shuffledp.accounting.messages.sums import _log_excess, _small, least_messages, mixing_distance
from shuffledp.judge import hockey_stick
from tests.oracle.views import shares_view, vectors_with_sum


@pytest.mark.parametrize(
    ("people", "modulus", "messages"),
    [(2, 2, 3), (2, 3, 3), (2, 5, 3), (2, 5, 4), (3, 2, 3), (3, 3, 3), (3, 2, 4), (3, 3, 4), (3, 4, 3), (3, 5, 3)],
)
def test_values_with_one_sum_look_alike(people: int, modulus: int, messages: int) -> None:
    """Two of them are each within tau of one law, so within 2 tau of each other."""
    apart = 0.0
    for total in range(modulus):
        views = [shares_view(values, modulus, messages) for values in vectors_with_sum(people, modulus, total)]
        apart = max([apart, *(hockey_stick(views[0], view, 0.0) for view in views)])
    assert 0.0 < apart <= 2.0 * mixing_distance(people, messages, modulus)


def components(people: int, chosen: tuple[tuple[int, ...], ...]) -> int:
    """Of the graph that some permutations draw."""
    root = list(range(people))
    for permutation in chosen:
        for start, end in enumerate(permutation):
            old, new = root[start], root[end]
            root = [new if each == old else each for each in root]
    return len(set(root))


@pytest.mark.parametrize(("people", "number"), [(2, 2), (2, 4), (3, 2), (3, 3), (4, 2), (5, 2)])
def test_the_recursion_covers_all_permutations(people: int, number: int) -> None:
    chosen = list(product(permutations(range(people)), repeat=number))
    counts = [components(people, each) for each in chosen]
    for modulus in (2, 5, 1000):
        exact = sum(modulus ** (count - 1) for count in counts) / len(chosen) - 1.0
        assert exact <= np.exp(_log_excess(people, number, modulus)) <= 6.0 * exact


def test_many_people_are_a_few_points_more() -> None:
    """Where the recursion ends and the constant takes over, nothing jumps up."""
    excess = [_log_excess(people, 4, 1 << 16) for people in (500, 510, 512, 513, 514, 520, 5000, 10**12)]
    assert np.all(np.diff(excess) < 0.0)
    assert excess[-1] == pytest.approx(16 * np.log(2.0) - 3 * np.log(1e12), abs=1e-3)
    assert _small(4, 16 * np.log(2.0)).shape == (512,)


def test_how_many_messages() -> None:
    """The published formula asks for 12."""
    assert least_messages(10_000, 1 << 32, 2.0**-40) == 11
    assert mixing_distance(10_000, 12, 1 << 32) < 2.0**-51


@pytest.mark.parametrize(("people", "messages"), [(1, 9), (100, 2)])
def test_too_few_hide_nothing(people: int, messages: int) -> None:
    assert mixing_distance(people, messages, 1 << 16) == 1.0


def test_what_no_number_of_messages_hides_is_refused() -> None:
    with pytest.raises(InvalidInput, match="so many that"):
        least_messages(2, 1 << 32, 2.0**-40)
