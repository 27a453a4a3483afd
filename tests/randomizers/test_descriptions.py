"""Randomizers are values with a name, and refuse what they cannot describe."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.errors import InvalidInput
from shuffledp.randomizers import (
    BLH,
    KRR,
    OLH,
    OUE,
    RAPPOR,
    RR,
    AnyDeletionLDP,
    AnyLDP,
    FromMatrix,
    Gaussian,
    Hadamard,
    Laplace,
    LocalHash,
    Randomizer,
    SubsetSelection,
    Unary,
)
from shuffledp.randomizers.law_file import from_law, law_of

EVERY: list[Randomizer] = [
    *(make(k=16, epsilon0=2.0) for make in (KRR, RAPPOR, OUE, OLH, BLH, SubsetSelection, Hadamard)),
    RR(epsilon0=2.0),
    Unary(k=16, p=0.5, q=0.25),
    LocalHash(k=16, g=5, epsilon0=2.0),
    Laplace(epsilon0=2.0),
    Gaussian(sigma=2.0),
    AnyLDP(epsilon0=2.0),
    AnyDeletionLDP(epsilon0=2.0),
    FromMatrix([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]),
]
NAMES = [
    "krr",
    "rappor",
    "oue",
    "olh",
    "blh",
    "subset",
    "hadamard",
    "rr",
    "unary",
    "local_hash",
    "laplace",
    "gaussian",
    "any",
    "deletion",
    "matrix",
]


@pytest.mark.parametrize("randomizer, name", list(zip(EVERY, NAMES, strict=True)), ids=NAMES)
def test_descriptions(randomizer: Randomizer, name: str) -> None:
    assert randomizer.describe()["randomizer"] == name
    assert not hasattr(randomizer, "__dict__")
    assert hash(randomizer) == hash(dataclasses.replace(randomizer))
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(randomizer, dataclasses.fields(randomizer)[0].name, 1.0)
    assert bool(randomizer.assumptions) == isinstance(randomizer, (LocalHash, Gaussian))
    assert len(randomizer.worst_pair) == 2


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: KRR(k=3, epsilon0=-1.0), "epsilon0 must be positive, got -1.0. "),
        (lambda: KRR(k=3, epsilon0=700.0), "epsilon0 must lie in [1e-12, 50], got 700.0. "),
        (lambda: KRR(k=1, epsilon0=1.0), "k must be at least 2, got 1. "),
        (lambda: KRR(k=2.5, epsilon0=1.0), "k must be a whole number, got 2.5. "),
        (lambda: KRR.from_gamma(k=3, gamma=1.0), r"gamma must lie in (0, 1), got 1.0. "),
        (lambda: Hadamard(k=3, epsilon0=math.nan), "epsilon0 must be finite, got nan. "),
        (lambda: RAPPOR(k=3, epsilon0="1"), "epsilon0 must be a number, got '1'. "),
        (lambda: RAPPOR.from_flip(k=3, flip=0.5), "flip must be below 1/2, got 0.5. "),
        (lambda: OUE(k=0, epsilon0=1.0), "k must be at least 2, got 0. "),
        (lambda: Unary(k=3, p=0.2, q=0.5), "q must be below p = 0.2, got 0.5. Swap p and q"),
        (lambda: Unary(k=3, p=1.0, q=0.5), "p must lie in (0, 1), got 1.0. "),
        (lambda: LocalHash(k=3, g=1, epsilon0=1.0), "g must be at least 2, got 1. "),
        (lambda: OLH(k=3, epsilon0=800.0), "epsilon0 must lie in [1e-12, 50], got 800.0. "),
        (lambda: SubsetSelection(k=3, epsilon0=1.0, size=3), "size must be below k = 3, got 3. "),
        (lambda: SubsetSelection(k=3, epsilon0=1.0, size=0), "size must be at least 1, got 0. "),
        (lambda: Laplace(epsilon0=0.0), "epsilon0 must be positive, got 0.0. "),
        (lambda: Laplace.from_scale(scale=-1.0), "scale must be positive, got -1.0. "),
        (lambda: Gaussian(sigma=0.0), "sigma must be positive, got 0.0. "),
        (lambda: Gaussian(sigma=0.01), "sigma must lie in [0.05, 1e+09], got 0.01. "),
        (lambda: Gaussian(sigma=1.0).local_delta(epsilon=math.inf), "epsilon must be finite, got inf. "),
        (lambda: AnyLDP(epsilon0=1.0, delta0=1.0), "delta0 must lie in [0, 1), got 1.0. "),
        (
            lambda: FromMatrix([[0.5, 0.5]]),
            "rows must be a table of at least 2 inputs and 1 output, got shape (1, 2). ",
        ),
        (lambda: FromMatrix([[0.5, 0.5], [1.0]]), "rows must be a rectangular table of numbers"),
        (
            lambda: FromMatrix([[0.5, 0.5], [0.5, 0.49]]),
            "row 1 must sum to 1, got 0.99. Divide the row by its sum, or add the missing output.",
        ),
        (lambda: FromMatrix([[1.5, -0.5], [0.5, 0.5]]), "row 0 must hold probabilities, got -0.5. "),
        (lambda: FromMatrix([[0.5, 0.5], [math.nan, 0.5]]), "row 1 must hold probabilities, got nan. "),
    ],
)
def test_refusals_name_the_rule_the_value_and_a_remedy(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        make()
    assert str(refusal.value).startswith(message)
    assert len(str(refusal.value)) > len(message) or message.endswith("output.")


def test_other_spellings_of_a_number_are_stored_as_the_number() -> None:
    """A field is replaced by what its check makes of it; what is right already stays as it is."""
    spelt, plain = KRR(k=16.0, epsilon0=4), KRR(k=16, epsilon0=4.0)  # type: ignore[arg-type]
    assert spelt == plain
    assert [type(each) for each in (spelt.k, spelt.epsilon0)] == [int, float]
    strength = 4.0
    assert KRR(k=16, epsilon0=strength).epsilon0 is strength


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
