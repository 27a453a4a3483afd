"""A randomizer written as JSON is read back as the same law, and a changed one is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp import BLH, KRR, OLH, OUE, RAPPOR, FromMatrix, Hadamard, SubsetSelection
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.law_file import from_law, law_of

FAMILIES = (KRR, Hadamard, OLH, BLH, SubsetSelection, OUE, RAPPOR)


@given(st.sampled_from(FAMILIES), st.integers(2, 500), st.floats(1e-3, 12.0))
def test_json_and_back_gives_the_same_integers(family: object, k: int, epsilon0: float) -> None:
    randomizer = family(k=k, epsilon0=epsilon0).realised  # type: ignore[operator]
    law = json.loads(json.dumps(law_of(randomizer)))
    again = from_law(law)
    assert law_of(again) == law
    assert again.epsilon0 == randomizer.epsilon0
    assert (again.hit, again.miss, again.contrast) == (randomizer.hit, randomizer.miss, randomizer.contrast)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "change",
    [
        {"epsilon0": 2.0001},
        {"integers": ["1"]},
        {"integers": None},
        {"type": "other"},
        {"type": ["krr"]},
        {"more": 1},
        {"epsilon0": "2.0"},
        {"k": None},
        {"k": 1},
    ],
)
def test_a_law_that_was_changed_is_refused(family: object, change: dict[str, object]) -> None:
    law = law_of(family(k=10, epsilon0=2.0).realised)  # type: ignore[operator]
    with pytest.raises(InvalidInput):
        from_law(law | change)


def test_a_law_without_a_field_is_refused() -> None:
    law = law_of(KRR(k=10, epsilon0=2.0))
    for name in law:
        with pytest.raises(InvalidInput):
            from_law({key: value for key, value in law.items() if key != name})
    with pytest.raises(InvalidInput):
        from_law(None)


def test_a_matrix_is_not_written_down() -> None:
    with pytest.raises(InvalidInput, match="must be one of dummies, fakes, hadamard, hash, krr"):
        law_of(FromMatrix([[0.6, 0.4], [0.4, 0.6]]))  # type: ignore[arg-type]
