"""Polls among fakes: they keep their promise with the least noise, are honest about their errors,
of groups of values too, and refuse what does not fit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.dummies import Dummies
from shuffledp.mechanisms.fakes import Fakes
from shuffledp.mechanisms.mechanism import ADDING, SEALED
from shuffledp.poll import certify
from shuffledp.randomizers import ShufflerDummies, UserFakes

FAKES, DUMMIES, POISSON = Fakes.title, Dummies.title, Dummies.poisson
TERMS: dict[str, Any] = {"categories": 16, "n": 10_000, "epsilon": 1.0, "delta": 1e-6}
KINDS: dict[str, Any] = {
    "fakes": lambda **more: Poll("histogram", mechanism="fakes", **TERMS | more),
    "fakes, poisson": lambda **more: Poll("histogram", mechanism="fakes", **TERMS | {"kind": "poisson"} | more),
    "fakes, lightly": lambda **more: Poll("histogram", mechanism="fakes", **TERMS | {"light_epsilon0": 6.0} | more),
    "fakes, poisson, lightly": lambda **more: KINDS["fakes, lightly"](**{"kind": "poisson"} | more),
    "dummies": lambda **more: Poll("histogram", mechanism="dummies", **TERMS | more),
    "dummies, poisson": lambda **more: Poll("histogram", mechanism="dummies", **TERMS | {"kind": "poisson"} | more),
    "dummies, some kept": lambda **more: Poll("histogram", mechanism="dummies", **TERMS | {"keep": 0.8} | more),
    "dummies, lightly": lambda **more: Poll("histogram", mechanism="dummies", **TERMS | {"light_epsilon0": 8.0} | more),
}


def test_goldens() -> None:
    """Of the published searches and closed forms, what is certified (frontier, section 4)."""
    poisson = KINDS["dummies, poisson"]().randomizer
    assert poisson.rate == pytest.approx(42.7, rel=2e-3)
    assert KINDS["dummies, poisson"](delta=1e-10).randomizer.rate == pytest.approx(82.1, rel=2e-3)
    fakes = KINDS["fakes, poisson"]().randomizer
    assert fakes.slots * fakes.chance * 10_000 / 16 == pytest.approx(42.7, rel=2e-3)
    assert KINDS["dummies"]().predicted_stderr() == pytest.approx(2.80, abs=0.005)
    assert KINDS["dummies"]().randomizer.center == 25


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("rounds", [1, 3])
def test_the_promise_is_kept_and_nearly_spent(name: str, rounds: int) -> None:
    poll = KINDS[name](rounds=rounds)
    bound = poll.guarantee.epsilon(delta=1e-6)
    assert bound.upper <= 1.0
    assert bound.upper > 0.99
    certified = certify(Design.from_json(Design.of(poll).as_json()))
    assert certified.poll.randomizer == poll.randomizer
    assert certified.poll.question == poll.question


def test_the_kind_of_dummies_that_errs_less_is_taken() -> None:
    """Geometric ones for two rounds, Poisson ones for ten; also where tables of geometric ones
    would be too long.
    """
    for rounds, kind in ((2, "geometric"), (10, "poisson")):
        errors = {
            each: KINDS["dummies"](rounds=rounds, kind=each).predicted_stderr() for each in ("geometric", "poisson")
        }
        poll = KINDS["dummies"](rounds=rounds)
        assert poll.randomizer.kind == kind == min(errors, key=errors.__getitem__)
        assert poll.predicted_stderr() == errors[kind]
        assert poll.guarantee.delta_at_most(epsilon=4.0) <= 1e-6
    with pytest.raises(InvalidInput, match="at most 8,192 counts"):
        KINDS["dummies"](rounds=365, kind="geometric")
    assert KINDS["dummies"](rounds=365).randomizer.kind == "poisson"


def test_a_plan_says_which_dummies() -> None:
    assert KINDS["dummies, poisson"]().mechanism.named(f"histogram, {DUMMIES}") == f"histogram, {POISSON}"
    for other in ("dummies", "fakes, poisson"):
        assert KINDS[other]().mechanism.named(f"histogram, {DUMMIES}") == f"histogram, {DUMMIES}"


@pytest.mark.parametrize("name", KINDS)
def test_estimates_are_as_far_off_as_predicted(name: str) -> None:
    poll, rng = KINDS[name](n=4000), np.random.default_rng(3)
    values = rng.permutation(np.repeat(np.arange(16), [2000, 1000, *[72] * 13, 64]))
    found = [poll.analyse(poll.shuffle(poll.encode(values, rng=rng), rng=rng)) for _ in range(60)]
    errors = np.array([each.unbiased for each in found]) - np.bincount(values, minlength=16)
    expected = poll.predicted_stderrs(np.bincount(values, minlength=16))
    squares = (errors / expected) ** 2
    assert abs(float(squares.mean()) - 1.0) < 6.0 * math.sqrt(6.0 / squares.size)
    assert not found[0].secure
    assert np.all(found[0].stderr > 0.9 * expected)


def test_least_people_are_enough_and_colluders_add_nothing() -> None:
    poll = KINDS["fakes"](n=10_000, honest=5_000)
    assert poll.guarantee.epsilon(delta=1e-6).upper <= 1.0
    assert poll.randomizer.chance == pytest.approx(2 * KINDS["fakes"]().randomizer.chance, rel=0.01)
    assert poll.guarantee_for(4_000).epsilon(delta=1e-6).upper > 1.0
    with pytest.raises(InvalidInput, match="honest reports must number at least 5000"):
        poll.shuffle(poll.encode([0] * 4_000))


def test_several_messages_where_values_are_many() -> None:
    poll = KINDS["fakes"](categories=1000, n=5_000)
    assert poll.messages == 1 + math.ceil(42.7 * 1000 / 5000)
    assert KINDS["fakes"](slots=3).messages == 4


def test_rounds_are_combined_by_their_exact_law() -> None:
    poll, rng = KINDS["dummies"](rounds=2), np.random.default_rng(8)
    values = np.arange(10_000) % 16
    bags = [poll.shuffle(poll.encode(values, rng=rng), rng=rng) for _ in range(2)]
    once, both = poll.analyse(bags[0]), poll.analyse(*bags)
    assert float(both.stderr[0]) == pytest.approx(float(once.stderr[0]) / math.sqrt(2.0), rel=1e-6)
    low, high = both.interval()
    assert np.all((low <= both.values) & (both.values <= high))


def test_the_plan_names_the_trust_and_compares_honestly() -> None:
    """For rare values k-ary randomized response has sd 6.5 already; dummies win for frequent ones,
    fakes where values are many or frequent.
    """
    table = sdp.plan("histogram", categories=16, n=10_000, epsilon=1.0, delta=1e-6)
    options = {option.name.removeprefix("histogram, "): option for option in table.options}
    assert options[FAKES].trust == SEALED
    assert options[DUMMIES].trust == ADDING
    assert "sealed" in FAKES
    assert "sealed" in DUMMIES
    assert ADDING == "shuffler adds noise"
    assert (
        options[FAKES].messages,
        options[DUMMIES].messages,
        options["krr"].messages,
    ) == (2, 1, 1)
    assert math.isinf(options[FAKES].epsilon0 or 0.0)
    plain = options["krr"].poll
    assert isinstance(plain.randomizer, sdp.KRR)
    rare = float(plain.predicted_stderrs([0.0, *[10_000 / 15] * 15])[0])
    assert rare == pytest.approx(6.5, abs=0.1)
    assert options[FAKES].error == pytest.approx(rare, rel=0.01)
    frequent = float(plain.predicted_stderrs([5_000.0, *[5_000 / 15] * 15])[0])
    assert frequent > 2.5 * options[FAKES].error > 5.0 * options[DUMMIES].error
    assert options[FAKES].worst == options[FAKES].error
    assert isinstance(table.best.randomizer, sdp.KRR)  # which asks for the least trust
    assert FAKES in str(table)
    assert "messages" in str(table)


@pytest.mark.parametrize("name", ["fakes", "dummies"])
def test_bad_terms_are_refused(name: str) -> None:
    make = KINDS[name]
    for wrong, message in (
        ({"epsilon": None}, "exactly one of epsilon and epsilon0"),
        ({"epsilon": None, "epsilon0": 1.0}, "must be the noise of one message"),
        ({"kind": "uniform"}, "kind of (fakes|dummies) must be"),
        ({"light_epsilon0": -1.0}, "epsilon0 must"),
        ({"light_epsilon0": 1.0}, "fakes must be needed"),
        ({"epsilon": None, "randomizer": sdp.KRR(k=16, epsilon0=1.0)}, "must be left out with a randomizer"),
    ):
        with pytest.raises(InvalidInput, match=message):
            make(**wrong)
    with pytest.raises(InvalidInput, match="must be a law that answers a histogram"):
        Poll("histogram", **TERMS | {"epsilon": None, "randomizer": UserFakes(k=3, slots=1, chance=0.5)})
    with pytest.raises(InvalidInput, match="counts must be the 17 whole numbers"):
        make().analyse_counts([1, 2, 3])


def test_too_few_people_for_so_many_fakes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="Ask more people, or about fewer values, or have the shuffler add dummies"):
        KINDS["fakes"](categories=2000, n=20)
    with pytest.raises(InvalidInput, match="in 1 slots"):
        KINDS["fakes"](categories=1000, n=5_000, slots=1)
    with pytest.raises(InvalidInput, match="Allow a larger epsilon"):
        KINDS["dummies"](epsilon=1e-3)
    with pytest.raises(InvalidInput, match="keep must"):
        KINDS["dummies"](keep=0.0)
    with pytest.raises(InvalidInput, match="slots must be"):
        KINDS["fakes"](slots=0)


@pytest.mark.parametrize("name", ["fakes", "dummies"])
def test_a_shuffler_or_people_who_add_nothing_are_noticed(name: str) -> None:
    poll = KINDS[name]()
    values = np.arange(10_000) % 16
    bare = np.array([10_000 * poll.messages, *np.bincount(values, minlength=16)])
    with pytest.raises(InvalidInput, match="got too few: 10,000 that name a value"):
        poll.analyse_counts(bare)
    honest = poll.randomizer.mixed(poll.randomizer.tally(poll.encode(values).rows))
    assert poll.analyse_counts(honest).n == 10_000  # fresh noise fails once in 10^9


def test_a_tally_below_zero_is_refused() -> None:
    poll = Poll(
        "histogram",
        categories=["tea", "coffee", "water"],
        n=1000,
        randomizer=UserFakes(k=3, slots=1, chance=0.25),
    )
    with pytest.raises(InvalidInput, match="none below 0, got"):
        poll.analyse_counts([2000, 1180, -5, 91])


PEOPLE = 600
HELD = np.array([310, 0, 25, 200, 64, 1])  # of six cells, or bins
TABLE: dict[str, Any] = {"columns": ["region", "smoker"], "categories": [["a", "b", "c"], ["yes", "no"]]}
BINS: dict[str, Any] = {"cuts": range(7), "ranges": [(1, 4)]}


@pytest.mark.parametrize("question", ["crosstab", "quantile"])
def test_dummies_that_are_not_there_are_noticed(question: str) -> None:
    law = ShufflerDummies(k=6, center=20, left=0.6, right=0.6)
    own = TABLE if question == "crosstab" else BINS
    protocol = Poll(question, **own, n=PEOPLE, randomizer=law, delta=1e-6)
    plain = protocol.randomizer.tally(np.repeat(np.arange(6), HELD))
    with pytest.raises(InvalidInput, match="messages must hold the dummies that hide people's values, got too few"):
        protocol.analyse_counts(plain)


@pytest.mark.parametrize("task, domain", [("crosstab", "3x4"), ("quantile", 24)])
def test_plans_compare_them(task: Any, domain: Any) -> None:
    table = sdp.plan(task, categories=domain, n=20_000, epsilon=1.0, delta=1e-6)
    trust = {option.name: option.trust for option in table.options}
    errors = {option.name: option.error for option in table.options}
    (fakes,) = (name for name in trust if name.endswith(FAKES))
    (dummies,) = (name for name in trust if name.endswith(DUMMIES))
    assert (trust[fakes], trust[dummies]) == (SEALED, ADDING)
    assert errors[dummies] < errors[fakes]
    usual = min(errors[option.name] for option in table.options if option.trust == "shuffler")
    assert errors[dummies] < 0.6 * usual


def test_dummies_keep_a_promise_that_is_next_to_what_rounding_costs() -> None:
    terms = {"n": 469, "honest": 4, "epsilon": 0.18791551951240065, "delta": 2.8878598991019844e-15}
    poll = Poll("histogram", categories=6, mechanism="dummies", keep=0.7394814492825768, **terms)
    assert poll.guarantee.delta_at_most(epsilon=terms["epsilon"]) <= terms["delta"]
