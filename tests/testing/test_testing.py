"""The public checks find what is wrong with a stranger's class, and leave what is right alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike

import shuffledp as sdp
from shuffledp import judge, testing
from shuffledp.errors import InvalidInput
from shuffledp.literature import feldman, own_bounds
from shuffledp.literature.bound import Published
from shuffledp.randomizers import FiniteRandomizer, Randomizer


@dataclasses.dataclass(frozen=True)
class Hesitant(FiniteRandomizer):
    """Randomized response that may stay silent."""

    silence: float = 0.3
    truth: float = 0.75

    def law(self) -> ArrayLike:
        yes, no = (1.0 - self.silence) * self.truth, (1.0 - self.silence) * (1.0 - self.truth)
        return [[yes, no, self.silence], [no, yes, self.silence]]


class TooPrivate(Hesitant):
    """It claims to tell less than it does."""

    @property
    def epsilon0(self) -> float:
        return 0.5 * super().epsilon0


class TooBlank(Hesitant):
    """It forgets half of what the others contribute."""

    def blankets(self, end: str) -> tuple[object, ...]:  # type: ignore[override]
        return tuple(dataclasses.replace(atoms, hay=0.5 * atoms.hay) for atoms in super().blankets(end))  # type: ignore[arg-type]


class TooVague(Hesitant):
    """Its pairs are easier to hide than they are: an upper end below the truth."""

    def blankets(self, end: str) -> tuple[object, ...]:  # type: ignore[override]
        mixed = []
        for atoms in super().blankets(end):  # type: ignore[arg-type]
            middle = 0.5 * (atoms.needle0 + atoms.needle1)
            mixed.append(dataclasses.replace(atoms, needle0=0.5 * (atoms.needle0 + middle), needle1=middle))
        return tuple(mixed)


class Truthful(Hesitant):
    """It draws the truth more often than it says."""

    def randomize(self, values: ArrayLike, *, rng: object = None) -> np.ndarray:  # type: ignore[type-arg]
        return Hesitant(self.silence, 0.8).randomize(values, rng=rng)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "randomizer, law",
    [
        (Hesitant(), lambda: None),
        (sdp.FromMatrix([[0.6, 0.4, 0.0], [0.1, 0.4, 0.5]]), lambda: None),
        (sdp.KRR(k=3, epsilon0=1.5), lambda: judge.krr(3, 1.5)),
        (sdp.Hadamard(k=3, epsilon0=1.0), lambda: judge.hadamard(3, 1.0)),
    ],
    ids=["own", "matrix", "krr", "hadamard"],
)
def test_what_is_right_passes(randomizer: Randomizer, law: Callable[[], object]) -> None:
    testing.check_randomizer(randomizer, rows=law(), draws=5_000, rng=np.random.default_rng(1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong, words",
    [
        (TooPrivate(), "epsilon0 must be at least 1.09"),
        (TooBlank(), "hay of .* must be masses that add up to"),
        (TooVague(), "upper ends must be at least"),
        (Truthful(), "report . of input . must come with probability"),
    ],
    ids=lambda case: type(case).__name__ if isinstance(case, Hesitant) else "",
)
def test_what_is_wrong_is_said(wrong: Hesitant, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        testing.check_randomizer(wrong, draws=20_000, rng=np.random.default_rng(1))


def test_reports_that_are_no_columns_are_said() -> None:
    with pytest.raises(AssertionError, match="must be whole numbers from 0 to 1"):
        testing.check_sampler(sdp.KRR(k=4, epsilon0=1.0), rows=np.full((4, 2), 0.5), draws=100)


def test_a_law_is_needed_to_enumerate() -> None:
    with pytest.raises(InvalidInput, match="rows must be given for Laplace"):
        testing.check_randomizer(sdp.Laplace(epsilon0=1.0))
    with pytest.raises(InvalidInput, match="small enough to enumerate"):
        testing.check_ends(Hesitant(), users=(10_000,))


def test_proven_bounds_hold_and_a_false_one_is_found() -> None:
    cases = [(sdp.KRR(k=3, epsilon0=2.0), judge.krr(3, 2.0))]
    assert testing.check_bound(own_bounds.ANY_RANDOMIZER, cases, users=(3, 6)) == 6
    with pytest.raises(AssertionError, match="an upper bound must be at least"):
        testing.check_bound(HALVED, cases, users=(3, 6))


HALVED = Published(
    name="halved",
    paper="nobody",
    where="nowhere",
    covers="anything",
    status="proven",
    epsilon_at=lambda setting, delta: 0.5 * own_bounds.ANY_RANDOMIZER.epsilon(setting, delta=delta),
)


def test_a_bound_that_never_applies_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must apply to at least one case"):
        testing.check_bound(feldman.THM_3_1, users=(2,))


def test_a_stranger_is_accounted_compared_and_drawn() -> None:
    survey = sdp.shuffle(Hesitant(), n=1000)
    same = sdp.shuffle(sdp.FromMatrix(Hesitant().law()), n=1000)
    assert survey.epsilon(delta=1e-6) == same.epsilon(delta=1e-6)
    assert sdp.compare(survey, delta=1e-6, patience=0.0).best.name == "shuffledp"
    assert set(Hesitant().randomize([0, 1] * 50, rng=np.random.default_rng(3)).tolist()) == {0, 1, 2}
    assert isinstance(Hesitant().realised, sdp.FromMatrix)
    assert Truthful().realised == Truthful()


@pytest.mark.parametrize("sent", [[0], [float("nan")] * 100, ["yes"] * 100], ids=["too few", "no number", "words"])
def test_reports_of_any_kind_are_judged(sent: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Truthful, "randomize", lambda *_, **__: sent)
    with pytest.raises(AssertionError, match=r"must send one number|must be whole numbers"):
        testing.check_sampler(Truthful(), draws=100)


def test_rows_that_are_no_law_are_refused() -> None:
    with pytest.raises(InvalidInput, match="row 0 must sum to 1, got 10"):
        testing.check_randomizer(Hesitant(), rows=[[7, 3], [3, 7]])


def test_also_that_is_no_list_is_refused() -> None:
    with pytest.raises(InvalidInput, match="also must be a list of bounds, got None"):
        sdp.compare(sdp.shuffle(Hesitant(), n=10), delta=1e-6, also=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("declared", [{}, {"eq": False}, {"unsafe_hash": True}], ids=str)
def test_a_description_that_may_change_is_refused(declared: dict[str, bool]) -> None:
    """What was computed of it once would be answered after it changed."""

    @dataclasses.dataclass(**declared)  # type: ignore[call-overload,misc,unused-ignore]
    class Fickle(FiniteRandomizer):
        share: float

        def law(self) -> ArrayLike:
            return [[self.share, 1.0 - self.share], [1.0 - self.share, self.share]]

    with pytest.raises(InvalidInput, match=r"must not change .* Fickle, .*frozen=True"):
        sdp.shuffle(Fickle(0.7), n=10)


def test_classes_that_are_no_dataclasses_and_heirs_of_frozen_ones_are_taken() -> None:
    class Plain(FiniteRandomizer):
        def law(self) -> ArrayLike:
            return [[0.7, 0.3], [0.3, 0.7]]

    class Heir(Hesitant):
        pass

    assert sdp.shuffle(Plain(), n=10).n == sdp.shuffle(Heir(), n=10).n == 10
