"""One pair of inputs: against enumeration, against the worst pair, and what is refused."""

import itertools
import json

import numpy as np
import pytest

from shuffledp import KRR, OLH, RR, AnyLDP, FromMatrix, Gaussian, Hadamard, InvalidInput, Laplace, shuffle
from shuffledp.cli import main
from shuffledp.judge import hockey_stick, shuffled_law
from tests.contracts.enclosure import COARSE

ROWS = ((0.6, 0.2, 0.2), (0.5, 0.3, 0.2), (0.1, 0.2, 0.7), (0.6, 0.2, 0.2))


@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (2, 1)])
def test_every_dataset_of_a_pair_lies_between_its_ends(pair: tuple[int, int]) -> None:
    survey = shuffle(FromMatrix(ROWS), n=4).between(*pair)
    for epsilon in (0.05, 0.4):
        deltas = [
            hockey_stick(*(shuffled_law(ROWS, [x, *others]) for x in order), epsilon)
            for others in itertools.combinations_with_replacement(range(4), 3)
            for order in (pair, pair[::-1])
        ]
        bound = survey.delta(epsilon=epsilon)
        assert bound.lower <= max(deltas) * (1.0 + 1e-12) <= bound.upper * (1.0 + 2e-12)
        assert bound.upper <= shuffle(FromMatrix(ROWS), n=4).delta_at_most(epsilon=epsilon) * (1.0 + 1e-9)


def test_equal_rows_cannot_be_told_apart() -> None:
    assert shuffle(FromMatrix(ROWS), n=4).epsilon(delta=1e-6, between=(0, 3)).upper == 0.0


@pytest.mark.parametrize("randomizer", [Laplace(epsilon0=2.0), Gaussian(sigma=1.0)])
def test_nearer_values_are_harder_to_tell_apart(randomizer: Laplace | Gaussian) -> None:
    survey = shuffle(randomizer, n=1000)
    at = np.array([0.02])
    ends = [
        [float(survey.between(0.0, b).deltas(at, end=end, gap=COARSE)[0]) for end in ("lower", "upper")]
        for b in (0.2, 0.6, 1.0)
    ]
    assert ends[0] < ends[1] < ends[2]
    assert all(lower <= upper for lower, upper in ends)
    (worst,) = survey.deltas(at, end="upper", gap=COARSE)
    assert ends[2][1] == pytest.approx(worst, rel=1e-3)


@pytest.mark.parametrize("randomizer", [Laplace(epsilon0=1.5), Gaussian(sigma=0.8)])
def test_two_users_of_a_location_randomizer(randomizer: Laplace | Gaussian) -> None:
    """Outputs merged on a grid are a post-processing: what they leak bounds the upper end."""
    a, b, epsilon = 0.3, 0.7, 0.1
    borders = np.concatenate([[-np.inf], np.linspace(-3.0, 4.0, 29), [np.inf]])
    laws = {x: randomizer.mass(borders[:-1] - x, borders[1:] - x) for x in (0.0, a, 0.5, b, 1.0)}
    survey = shuffle(randomizer, n=2).between(a, b)
    upper = survey.delta_at_most(epsilon=epsilon, gap=COARSE)
    for other in laws.values():
        first, second = (np.add(np.outer(laws[x], other), np.outer(other, laws[x])) / 2.0 for x in (a, b))
        assert hockey_stick(first.ravel(), second.ravel(), epsilon) <= upper
    assert survey.delta_at_least(epsilon=epsilon, gap=COARSE) <= upper <= randomizer_alone(randomizer, a, b, epsilon)


def randomizer_alone(randomizer: Laplace | Gaussian, a: float, b: float, epsilon: float) -> float:
    return shuffle(randomizer, n=1).between(a, b).delta_at_most(epsilon=epsilon, gap=COARSE)


def test_rows_of_one_block_overlap() -> None:
    survey = shuffle(Hadamard(k=16, epsilon0=1.5), n=1000)
    size = Hadamard(k=16, epsilon0=1.5).block_size - 1
    near, far = survey.epsilon(delta=1e-6, between=(0, 1)), survey.epsilon(delta=1e-6, between=(0, size))
    assert near.upper < far.lower
    assert survey.epsilon_at_most(delta=1e-6) <= far.upper * (1.0 + 1e-9)


def test_where_all_pairs_are_alike_any_is_the_worst() -> None:
    for randomizer in (OLH(k=5, epsilon0=1.0), RR(epsilon0=1.0)):
        survey = shuffle(randomizer, n=100)
        assert tuple(survey.delta(epsilon=0.2, between=(1, 0))) == pytest.approx(
            tuple(survey.delta(epsilon=0.2)), rel=1e-6
        )


@pytest.mark.parametrize(
    ("randomizer", "pair"),
    [
        (OLH(k=16, epsilon0=4.0), (0, 1)),
        (KRR(k=3, epsilon0=1.0), (0, 1)),
        (Hadamard(k=16, epsilon0=2.0), (0, 15)),
        (Laplace(epsilon0=2.0), (0.1, 1.0)),
        (Gaussian(sigma=1.0), (1.0, 0.0)),
        (FromMatrix(ROWS), (0, 2)),
    ],
)
def test_no_pair_is_said_to_leak_more_than_the_worst(randomizer: FromMatrix, pair: tuple[float, float]) -> None:
    survey = shuffle(randomizer, n=10_000)
    worst, own = survey.epsilon(delta=1e-6), survey.epsilon(delta=1e-6, between=pair)
    assert own.upper <= worst.upper * (1.0 + 1e-6)


def test_a_pair_has_a_swap_of_its_own() -> None:
    """No input's law is near the blanket of all, which is 20 % away."""
    rows = ((0.4, 0.4, 0.1, 0.1), (0.4, 0.1, 0.4, 0.1), (0.1, 0.1, 0.4, 0.4), (0.1, 0.4, 0.1, 0.4))
    bound = shuffle(FromMatrix(rows), n=10_000).epsilon(delta=1e-6, between=(0, 1))
    assert "first-clone swap" in bound.method
    assert bound.upper < 1.005 * bound.lower


def test_rounds_of_a_pair_add_up() -> None:
    pair = shuffle(FromMatrix(ROWS), n=100).between(0, 1)
    one, two = pair.epsilon(delta=1e-3), pair.compose(2).epsilon(delta=1e-3)
    assert one.upper < two.upper < 2.0 * one.upper
    assert "holds 0 or 1" in str(pair.compose(2))


@pytest.mark.parametrize(
    ("randomizer", "between", "said"),
    [
        (FromMatrix(ROWS), (0, 4), "must be at most 3"),
        (FromMatrix(ROWS), (1, 1), "two different inputs"),
        (FromMatrix(ROWS), 3, "must be two inputs"),
        (Laplace(epsilon0=1.0), (0.0, 1.5), "an input"),
        (AnyLDP(epsilon0=1.0), (0, 1), "known input by input"),
    ],
)
def test_what_is_no_pair_is_refused(randomizer: FromMatrix, between: tuple[int, int], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        shuffle(randomizer, n=10).epsilon(delta=1e-6, between=between)


def test_other_views_have_no_pairs() -> None:
    with pytest.raises(InvalidInput, match="adversary"):
        shuffle(FromMatrix(ROWS), n=10, adversary="weak").between(0, 1)


def test_the_command_asks_for_a_pair(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["delta", "--randomizer", "krr", "--k", "4", "--epsilon0", "2", "--n", "20", "--epsilon", "0.1", "--json"]
    assert main([*asked, "--between", "0", "3"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["between"] == [0.0, 3.0]
    assert said["upper"] == shuffle(KRR(k=4, epsilon0=2.0), n=20).delta(epsilon=0.1, between=(0, 3)).upper
    assert main([*asked, "--between", "0", "0.5"]) == 2
