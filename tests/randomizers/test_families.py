"""What families declare is true and declared once; one from outside works like ours."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll, testing
from shuffledp.design import Design, Law
from shuffledp.errors import InvalidInput
from shuffledp.ledger import Entry, Ledger
from shuffledp.ledger.total import corner, grouped
from shuffledp.randomizers import (
    AnyDeletionLDP,
    CheckIn,
    Randomizer,
    ShufflerDummies,
    SignedUnits,
    SplitShares,
    TreeDummies,
    UserFakes,
    VotingRandomizer,
    family,
)
from shuffledp.randomizers.family import FAMILIES, Family, family_of, register
from shuffledp.randomizers.law_file import from_law, law_of
from shuffledp.randomizers.names import NAMES, over_domain

CONCRETE = (
    *(sdp.KRR, sdp.Hadamard, sdp.LocalHash, sdp.SubsetSelection, sdp.OUE, sdp.RAPPOR, sdp.Unary),
    *(sdp.Laplace, sdp.Gaussian, sdp.AnyLDP, AnyDeletionLDP, sdp.FromMatrix, CheckIn),
    *(UserFakes, ShufflerDummies, TreeDummies),
    *(SignedUnits, SplitShares),
)
VALUES = {
    "k": 8,
    "epsilon0": 1.0,
    "gamma": 0.4,
    "sigma": 1.0,
    "scale": 0.5,
    "flip": 0.2,
    "g": 3,
    "p": 0.5,
    "q": 0.1,
    "probability": 0.25,
}


@pytest.fixture
def toy() -> type[VotingRandomizer]:
    """The family from outside, registered for one test."""
    from tests.randomizers import toy_family

    if family_of(toy_family.NegativeSurvey(k=2, epsilon0=1.0)) is None:
        register(toy_family.FAMILY)
    return toy_family.NegativeSurvey


# What is declared


def test_every_class_that_can_be_built_has_a_family() -> None:
    assert {each.make for each in family._families.values()} == set(CONCRETE)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_way_builds_the_same_randomizer(name: str) -> None:
    kind = NAMES[name]
    if name == "matrix":  # its only way is a file
        return
    first, *others = kind.ways
    built = first.build(**{each.name: VALUES[each.name] for each in first.parameters})
    assert isinstance(built, Randomizer)
    for way in others:
        assert way.value is not None
        last = way.parameters[-1].name
        given = {each.name: VALUES[each.name] for each in way.parameters[:-1]}
        again = way.build(**given, **{last: getattr(built, way.value)})
        assert again.epsilon0 == pytest.approx(built.epsilon0, rel=1e-12)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_calibration_solves_for_what_the_family_says(name: str) -> None:
    kind = NAMES[name]
    if not kind.solvable:
        return
    first = kind.ways[0]
    strength = first.build(**{each.name: VALUES[each.name] for each in first.parameters}).strength
    assert strength.name == first.parameters[-1].name
    places = np.geomspace(strength.safe, strength.risky, 5).tolist()
    losses = [strength.loss(place) for place in places]
    assert losses == sorted(losses)
    assert [strength.value(loss) for loss in losses] == pytest.approx(places, rel=1e-6)


def test_names_are_taken_once() -> None:
    @dataclasses.dataclass(frozen=True)
    class Mine(Randomizer):
        pass

    with pytest.raises(InvalidInput, match="must be new, got krr"):
        register(Family(make=Mine, names=(over_domain("krr", "mine", Mine),)))
    with pytest.raises(InvalidInput, match="must report and have epsilon0"):
        register(Family(make=Mine, law="mine"))
    assert family_of(sdp.KRR(k=2, epsilon0=1.0)).make is sdp.KRR


@pytest.mark.parametrize("base", CONCRETE, ids=lambda base: base.__name__)
def test_what_is_finished_cannot_be_overridden(base: type) -> None:
    with pytest.raises(InvalidInput, match=f"{base.__name__} must stay as it is, got a subclass Mine.*Implement"):
        type("Mine", (base,), {})


def test_a_matrix_has_a_short_repr() -> None:
    assert repr(sdp.FromMatrix(np.full((50, 50), 0.02))) == "FromMatrix(50 inputs, 50 outputs, epsilon0=0)"


# One from outside


def test_a_family_from_outside_is_one_file_of_few_lines() -> None:
    text = (Path(__file__).parent / "toy_family.py").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) <= 60


def test_it_is_accounted_and_drawn_as_it_says(toy: type[VotingRandomizer]) -> None:
    for k, epsilon0 in ((2, 1.0), (3, 0.5), (4, 2.0)):
        survey = toy(k=k, epsilon0=epsilon0)
        chance = 1.0 / ((k - 1) * np.exp(epsilon0) + 1.0)  # of naming the own value
        rows = np.full((k, k), (1.0 - chance) / (k - 1))
        np.fill_diagonal(rows, chance)
        testing.check_randomizer(survey, rows=rows, users=(1, 2, 3), rounds=(1,), draws=20_000)


def test_it_is_estimated_without_bias(toy: type[VotingRandomizer]) -> None:
    survey, held = toy(k=4, epsilon0=3.0), np.array([3000, 0, 5000, 12_000])
    reports = survey.randomize(np.repeat(np.arange(4), held), rng=np.random.default_rng(3))
    assert np.all(np.abs(survey.debias(reports) - held) < 5.0 * np.sqrt(survey.count_variance(held)))


def test_it_is_calibrated_and_compared(toy: type[VotingRandomizer]) -> None:
    plan = sdp.calibrate(toy, k=5, n=10_000, epsilon=0.5, delta=1e-6)
    assert plan.unknown == "epsilon0"
    assert plan.epsilon <= 0.5
    table = sdp.compare(plan.guarantee, delta=1e-6)
    assert table.best.name == "shuffledp"
    assert len(table.rows) > 3


def test_it_is_audited(toy: type[VotingRandomizer]) -> None:
    found = sdp.audit(toy(k=5, epsilon0=1.0), n=20, runs=500, delta=1e-3, rng=np.random.default_rng(1))
    assert found.verdict == "consistent"
    assert {"format", "law", "integers"} <= {check.name for check in found.checks}


def test_a_sampler_that_strays_is_caught(toy: type[VotingRandomizer], monkeypatch: pytest.MonkeyPatch) -> None:
    right = toy(k=5, epsilon0=1.0).realised
    near = right.threshold - (1 << 60)
    monkeypatch.setattr(toy, "threshold", property(lambda _: near))
    found = sdp.audit(right, n=20, runs=500, delta=1e-3, rng=np.random.default_rng(1))
    assert {"law", "integers"} <= set(found.failed)


def test_its_law_is_written_and_read(toy: type[VotingRandomizer]) -> None:
    survey = toy(k=5, epsilon0=1.0).realised
    law = law_of(survey)
    assert law["type"] == "negative"
    assert from_law(law) == survey
    assert Law.from_json(law).as_json() == law
    with pytest.raises(InvalidInput, match="the integers of negative must be"):
        from_law(law | {"integers": ["1"]})


def test_it_answers_a_histogram(toy: type[VotingRandomizer]) -> None:
    poll = Poll("histogram", categories=["a", "b", "c"], n=6000, randomizer=toy(k=3, epsilon0=2.0))
    people = ["a"] * 1000 + ["b"] * 5000
    bag = poll.shuffle(poll.encode(people, rng=np.random.default_rng(5)))
    for estimator in ("inversion", "simplex"):
        estimate = poll.analyse(bag, estimator=estimator)  # type: ignore[arg-type]
        assert np.all(np.abs(estimate.values - [1000, 5000, 0]) < 5.0 * estimate.stderr)
    assert poll.predicted_stderrs([1000, 5000, 0]) == pytest.approx(estimate.stderr, rel=0.1)
    assert poll.guarantee.epsilon(delta=1e-6).upper < 0.5
    with pytest.raises(InvalidInput, match="estimator must be one of inversion, simplex"):
        poll.analyse(bag, estimator="likelihood")


@pytest.mark.parametrize("family_name", ["oue", "hadamard", "subset", "hash"])
def test_any_of_ours_that_votes_answers_a_histogram(family_name: str) -> None:
    given = {name: VALUES[name] for name in FAMILIES[family_name].parameters if name != "size"} | {"k": 3}
    poll = Poll("histogram", categories=["a", "b", "c"], n=6000, randomizer=FAMILIES[family_name].make(**given))
    estimate = poll.analyse(poll.shuffle(poll.encode(["a"] * 1000 + ["b"] * 5000, rng=np.random.default_rng(5))))
    assert np.all(np.abs(estimate.values - [1000, 5000, 0]) < 5.0 * estimate.stderr)


def test_a_histogram_refuses_a_randomizer_that_does_not_fit() -> None:
    fitting = sdp.OUE(k=2, epsilon0=1.0)
    for options, message in (
        ({"randomizer": sdp.OUE(k=3, epsilon0=1.0)}, "must have k = 2"),
        ({"randomizer": sdp.Laplace(epsilon0=1.0)}, "whose reports vote"),
        ({"randomizer": sdp.OUE}, "whose reports vote"),
        ({"randomizer": fitting, "epsilon0": 1.0}, "neither epsilon nor epsilon0"),
        ({"randomizer": fitting, "epsilon": 1.0, "delta": 1e-6}, "neither epsilon nor epsilon0"),
    ):
        with pytest.raises(InvalidInput, match=message):
            Poll("histogram", categories=["a", "b"], n=10, **options)


def test_a_mean_refuses_reports_that_do_not_name_one_point() -> None:
    """The votes of unary encoding would be taken for reports."""
    with pytest.raises(InvalidInput, match="each report must name one point, got oue"):
        Poll("mean", lower=0.0, upper=1.0, n=100, randomizer=sdp.OUE(k=5, epsilon0=2.0))
    poll = Poll("mean", lower=0.0, upper=1.0, n=4000, randomizer=sdp.KRR(k=5, epsilon0=2.0))
    estimate = poll.analyse(poll.shuffle(poll.encode(np.full(4000, 0.5), rng=np.random.default_rng(5))))
    assert abs(estimate.value - 0.5) < 5.0 * estimate.stderr[0]


def test_a_design_is_of_a_mechanism() -> None:
    fits = Poll("histogram", categories=9, n=100, delta=1e-6, randomizer=sdp.Hadamard(k=9, epsilon0=1.0))
    assert Design.from_json(Design.of(fits).as_json()) == Design.of(fits)
    other = Poll("histogram", categories=9, n=100, delta=1e-6, randomizer=sdp.RAPPOR(k=9, epsilon0=1.0))
    with pytest.raises(InvalidInput, match=r"must be one of krr, fakes, dummies, .* to be written down, got rappor"):
        Design.of(other)


def test_it_is_recorded_in_a_ledger(toy: type[VotingRandomizer], tmp_path: Path) -> None:
    mechanism = sdp.shuffle(toy(k=5, epsilon0=1.0).realised, n=1000)
    entry = Entry.of(mechanism, what="survey", design="0" * 64, epsilon=1.0, delta=1e-6)
    assert Entry.from_json(entry.as_json()) == entry
    receipt = Ledger(tmp_path / "budget.sqlite").spend("people", entry, limit_epsilon=2.0, limit_delta=1e-6)
    assert receipt.total.upper == pytest.approx(mechanism.epsilon(delta=1e-6).upper, rel=1e-9)
    receipt = Ledger(tmp_path / "budget.sqlite").spend("people", entry)
    assert receipt.total.upper == pytest.approx(mechanism.compose(2).epsilon(delta=1e-6).upper, rel=1e-9)


def test_alike_ones_are_merged_where_that_is_proven(toy: type[VotingRandomizer]) -> None:
    def group(*randomizers: Randomizer) -> list[list[tuple[object, int]]]:
        return grouped([(sdp.shuffle(each, n=1000), 1) for each in randomizers])

    near = [toy(k=5, epsilon0=epsilon0) for epsilon0 in (1.0, 1.01)]
    (merged,) = group(*near)
    assert corner(merged, harsh=True)[0].randomizer == near[1]
    assert corner(merged, harsh=False)[0].randomizer == near[0]
    assert len(group(toy(k=5, epsilon0=1.0), toy(k=6, epsilon0=1.01))) == 2
    assert len(group(sdp.Unary(k=5, p=0.5, q=0.2), sdp.Unary(k=5, p=0.5, q=0.201))) == 2
    assert len(group(sdp.FromMatrix([[0.6, 0.4], [0.4, 0.6]]), sdp.FromMatrix([[0.4, 0.6], [0.6, 0.4]]))) == 2


def ran(program: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False, cwd=root
    )


def test_it_is_known_on_the_command_line() -> None:
    program = (
        "from tests.randomizers import toy_family; from shuffledp.cli import main; "
        "raise SystemExit(main('epsilon --randomizer negative --k 5 --epsilon0 1 --n 1000 --delta 1e-6'.split()))"
    )
    run = ran(program)
    assert (run.returncode, run.stderr) == (0, "")
    assert "negative" in run.stdout


def test_a_name_is_taken_before_its_module_is_loaded() -> None:
    program = (
        "from tests.randomizers.toy_family import NegativeSurvey; from shuffledp.randomizers.family import *; "
        "register(Family(make=NegativeSurvey, law='hadamard', parameters=('epsilon0',)))"
    )
    run = ran(program)
    assert "must be new, got hadamard" in run.stderr


def test_a_refused_family_leaves_the_earlier_one(toy: type[VotingRandomizer]) -> None:
    before = dict(NAMES), dict(FAMILIES), family.family_of(sdp.KRR(k=2, epsilon0=1.0))
    with pytest.raises(InvalidInput, match="names of a family must be new"):
        register(Family(make=toy, names=(over_domain("krr", "taken", toy),)))
    with pytest.raises(InvalidInput, match="names of a family must be new, got twice"):
        register(Family(make=toy, names=(over_domain("twice", "one", toy), over_domain("twice", "another", toy))))
    assert (dict(NAMES), dict(FAMILIES), family.family_of(sdp.KRR(k=2, epsilon0=1.0))) == before
