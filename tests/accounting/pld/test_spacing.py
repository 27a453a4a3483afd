"""One grid for mechanisms of different strength: valid, close to a fine one, and never evaluated
more finely than needed.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp import KRR, OUE, judge, shuffle
from shuffledp.accounting.pld import Composition, Spread, common_spacing, own_multiple
from shuffledp.accounting.rounds import Rounds
from shuffledp.accounting.shuffled import Shuffled

YES_NO, WEAK = (KRR(k=2, epsilon0=4.0), 1000), (KRR(k=256, epsilon0=1.0), 10**6)
MIXED = {
    "yes or no, and a weak one": [(*YES_NO, 1), (*WEAK, 1)],
    "strong once, weak often": [(KRR(k=4, epsilon0=4.0), 1000, 1), (*WEAK, 3000)],
    "almost local, and weak ones beyond its ceiling": [
        (KRR(k=16, epsilon0=6.0), 100, 1),
        (KRR(k=16, epsilon0=1.0), 10**6, 50),
    ],
    "three sizes": [
        (OUE(k=16, epsilon0=3.0), 2000, 2),
        (KRR(k=64, epsilon0=2.0), 10**5, 30),
        (KRR(k=5, epsilon0=0.5), 10**6, 300),
    ],
}


def parts(*rows: tuple[KRR | OUE, int, int]) -> tuple[tuple[Shuffled, int], ...]:
    return tuple((shuffle(randomizer, n=n), rounds) for randomizer, n, rounds in rows)


@pytest.mark.parametrize("rows", MIXED.values(), ids=MIXED)
def test_the_upper_end_on_the_common_grid_is_within_two_thousandths_of_a_fine_one(
    rows: list[tuple[KRR | OUE, int, int]],
) -> None:
    mixed = parts(*rows)
    finest = min(part.spacing() for part, _ in mixed)
    times = [own_multiple(part.spacing() / 2.0, finest) for part, _ in mixed]
    fine = Composition(
        [
            (part.pessimistic_loss(spacing=each * finest).on_finer(each), rounds)
            for (part, rounds), each in zip(mixed, times, strict=True)
        ]
    )
    assert Rounds(mixed).epsilon(delta=1e-8).upper <= 1.002 * fine.epsilon(1e-8, "upper")


@pytest.mark.parametrize("rows", MIXED.values(), ids=MIXED)
def test_no_curve_is_evaluated_more_finely_than_its_own_mechanism_needs(
    rows: list[tuple[KRR | OUE, int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[Shuffled, int] = {}
    end = Shuffled._end

    def counted(self: Shuffled, side: str, epsilons: np.ndarray, *gap: float) -> np.ndarray:
        asked[self] = asked.get(self, 0) + epsilons.size
        return end(self, side, epsilons, *gap)  # type: ignore[arg-type]

    monkeypatch.setattr(Shuffled, "_end", counted)
    total = Rounds(parts(*rows))
    assert 0.0 < total.delta(epsilon=1.0).upper < 1.0
    assert max(asked.values()) < 2500, (
        "on the finest mechanism's own grid, the yes or no question is asked at half a million points"
    )


def test_a_strong_and_a_weak_mechanism_contain_the_exact_answer() -> None:
    strong, weak, epsilons = judge.krr(3, 2.0), judge.krr(3, 0.02), np.array([0.1, 0.5, 1.0, 1.9])
    total = Rounds(parts((KRR(k=3, epsilon0=2.0), 4, 1), (KRR(k=3, epsilon0=0.02), 4, 2)))
    for epsilon, truth in zip(epsilons, judge.rounds_delta([strong, weak, weak], 4, epsilons), strict=True):
        bound = total.delta(epsilon=float(epsilon))
        assert bound.lower <= truth * (1.0 + 1e-9)
        assert truth <= bound.upper * (1.0 + 1e-9)


sizes = st.tuples(st.floats(-5.0, 0.0), st.floats(40.0, 500.0), st.integers(1, 1000)).map(
    lambda s: Spread(10.0 ** s[0], 10.0 ** s[0] / s[1], s[2])
)


@given(st.lists(sizes, min_size=1, max_size=6))
def test_the_common_spacing_lies_between_the_finest_and_the_coarsest_of_its_mechanisms(spreads: list[Spread]) -> None:
    total = np.sqrt(sum(rounds * typical**2 for typical, _, rounds in spreads))
    spacing = common_spacing(spreads)
    assert (
        min(own for _, own, _ in spreads) <= spacing <= max(*(own for _, own, _ in spreads), 16.0 * total / (1 << 21))
    )
    assert total / spacing <= 1 << 17, "the sum fits into the largest transform"


@given(st.floats(1e-6, 1.0), st.integers(1, 12))
def test_equal_mechanisms_keep_their_own_grid(own: float, rounds: int) -> None:
    assert common_spacing([Spread(40.0 * own, own, rounds)] * 2) == pytest.approx(own, rel=1e-12)


def test_the_same_losses_on_a_finer_grid_are_the_same_to_the_last_bit() -> None:
    law = shuffle(KRR(k=16, epsilon0=4.0), n=1000).pessimistic_loss(spacing=0.013)
    fine = law.on_finer(own_multiple(0.013, 0.013 / 9.0))
    assert fine.spacing == 0.013 / 8.0
    assert np.array_equal(fine.losses, law.losses)
    assert (fine.infinite, fine.mass.sum()) == (law.infinite, law.mass.sum())
