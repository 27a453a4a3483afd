"""Mechanisms that hardly ever show anything: the theorem by enumeration, and what it is worth."""

from __future__ import annotations

import itertools
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp._types import Floats
from shuffledp.accounting.shuffled import Shuffled
from shuffledp.errors import InvalidInput
from shuffledp.judge import hockey_stick
from shuffledp.ledger import Entry, Ledger
from shuffledp.ledger.populations import ALIKE, check_new_name, lookalikes
from shuffledp.ledger.total import RarelySeen, composed
from shuffledp.randomizers import CheckIn
from shuffledp.search.planning import planned_search
from tests.ledger.made import LIMITS, entry


def stick(one: Floats, two: Floats, epsilon: float) -> float:
    return float(np.maximum(one - math.exp(epsilon) * two, 0.0).sum())


def test_the_theorem_for_rounds_that_depend_on_all_that_was_released() -> None:
    """Three rounds with three outputs each, laws drawn at random for every history, where the
    second differs little: the bound of the proof, with its round C that sees no data.
    """
    rng = np.random.default_rng(5)
    for _ in range(200):
        first, third = rng.dirichlet(np.ones(3), 2), rng.dirichlet(np.ones(3), (2, 3, 3))
        share = rng.uniform(0.0, 0.3)
        second = (1.0 - share) * rng.dirichlet(np.ones(3), 3) + share * rng.dirichlet(np.ones(3), (2, 3))
        least = second.min(axis=0)
        tau = float((1.0 - least.sum(axis=1)).max())
        blind = least / least.sum(axis=1, keepdims=True)
        everything, usual = (
            [first[b][:, None, None] * middle[:, :, None] * third[b] for b, middle in enumerate(middles)]
            for middles in (second, (blind, blind))
        )
        for epsilon in (0.0, 0.3, 1.0):
            for one, two in ((0, 1), (1, 0)):
                exact = stick(everything[one], everything[two], epsilon)
                assert exact <= stick(usual[one], usual[two], epsilon) + tau + 1e-12


def seen(law: sdp.KRR, held: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """How many of the users report 1."""
    flip, found = 1.0 / (math.exp(law.epsilon0) + 1.0), {(): 1.0}
    for value in held:
        chances = {value: 1.0 - flip, 1 - value: flip}
        found = {(*sent, bit): p * q for sent, p in found.items() for bit, q in chances.items()}
    counts: dict[tuple[int, ...], float] = {}
    for sent, p in found.items():
        counts[(sum(sent),)] = counts.get((sum(sent),), 0.0) + p
    return counts


@pytest.mark.parametrize("probability", [1e-5, 2e-6])
@pytest.mark.parametrize("rounds", [1, 2])
def test_enumerated_beside_a_report_that_is_rarely_seen(probability: float, rounds: int) -> None:
    """k-RR of three users, and with a small probability a report by itself, once or several times:
    all datasets, both orders of the target's value in each of the two.
    """
    law = sdp.KRR(k=2, epsilon0=1.5)
    rare = sdp.shuffle(CheckIn(law, probability=probability), n=1)
    total = composed([(sdp.shuffle(law, n=3), 1), (rare, rounds)])
    assert isinstance(total, RarelySeen)
    flip = 1.0 / (math.exp(1.5) + 1.0)
    alone = [{0: (1.0 - p) * probability, 1: p * probability, 2: 1.0 - probability} for p in (flip, 1.0 - flip)]
    for epsilon in (0.0, 0.4, 0.9, 1.4):
        worst = 0.0
        for others in itertools.product((0, 1), repeat=2):
            views = [seen(law, (own, *others)) for own in (0, 1)]
            for a, b in itertools.product((0, 1), repeat=2):
                pair = []
                for own, mine in ((a, b), (1 - a, 1 - b)):
                    joint = dict(views[own])
                    for _ in range(rounds):
                        joint = {(*w, c): p * q for w, p in joint.items() for c, q in alone[mine].items()}
                    pair.append(joint)
                worst = max(worst, hockey_stick(*pair, epsilon))
        assert worst <= total.delta_at_most(epsilon=epsilon) * (1.0 + 1e-9) + 1e-15
        assert total.delta_at_least(epsilon=epsilon) <= worst * (1.0 + 1e-9) + 1e-15


def test_a_search_whose_promise_is_the_limit_fits() -> None:
    """What it shows besides a level is composed as a part of its own."""
    search = planned_search(
        people=100_000, honest=90_000, epsilon=1.0, delta=1e-6, k=5, longest=4, tokens=("a", "b", "c")
    )
    group, besides = search.group(0), search.besides
    assert isinstance(besides, Shuffled)
    level = sdp.shuffle(group.randomizer, n=group.most, honest=group.honest)
    total = composed([(level, 1), (besides, 1)])
    assert isinstance(total, RarelySeen)
    assert total.delta_at_most(epsilon=1.0) <= 1e-6
    assert 0.99 < total.epsilon_at_least(delta=1e-6) <= total.epsilon_at_most(delta=1e-6) <= 1.0


def test_what_bounds_a_release_from_above_has_no_lower_end() -> None:
    """Neither alone nor in a total, of which the others are the lower end; the upper one is kept."""
    survey = sdp.shuffle(sdp.KRR(k=4, epsilon0=3.0), n=1000)
    given = {"what": "x", "design": "5e" * 32, "epsilon": 1.0, "delta": 1e-6}
    known, bounded = (Entry.of(survey, at_most=at_most, **given) for at_most in (False, True))  # type: ignore[arg-type]
    assert "at_most" not in known.as_json()["parts"][0]
    read = Entry.from_json(bounded.as_json())
    assert read == bounded != known
    once, total = composed(read.mechanisms), composed([*read.mechanisms, *known.mechanisms])
    both = survey.compose(2)
    for guarantee, least, most in (
        (once, None, survey),
        (total, survey, both),
        (total.compose(2), both, both.compose(2)),
    ):
        bound = guarantee.epsilon(delta=1e-6)
        assert bound.lower == (0.0 if least is None else least.epsilon_at_least(delta=1e-6))
        assert bound.upper == pytest.approx(most.epsilon_at_most(delta=1e-6), rel=1e-3)
        assert bound.upper >= most.epsilon_at_least(delta=1e-6)
        assert guarantee.rdp(order=2.0).upper == pytest.approx(most.rdp(order=2.0).upper, rel=1e-3)
        assert guarantee.explain(delta=1e-6).rows
    assert once.delta(epsilon=0.1).lower == once.rdp(order=2.0).lower == 0.0
    with pytest.raises(InvalidInput, match=r"usual form, got '1' for parts\.at_most"):
        Entry.from_json(known.as_json() | {"parts": [known.as_json()["parts"][0] | {"at_most": 1}]})


def test_what_is_rarely_seen_makes_no_delta_above_1() -> None:
    rare = sdp.shuffle(sdp.AnyLDP(epsilon0=1e-9, delta0=1e-9), n=1)
    total = composed([(sdp.shuffle(sdp.KRR(k=3, epsilon0=30.0), n=1), 1), (rare, 1)])
    assert isinstance(total, RarelySeen)
    assert total.delta_at_most(epsilon=0.0) <= 1.0


INVISIBLE = ["app-users\ufe0f", "app\u3164users", "app-users\u2800", "app\u115f-users", "app-us\u034fers"]
UNPRINTABLE = [
    "app-users\u200b",
    "app\u200d-users",
    "\u202eapp-users",
    "app-users\u2066",
    "app\xadusers",
    "app\xa0users",
    "\ufeffapp-users",
]
TWINS = [
    "\u0430pp-users",
    "app-us\u0435rs",
    "\u0430\u0440\u0440-u\u0455er\u0455",
    "app-users".upper(),
    "\uff41pp-users",
    "\u03b1pp-users",
    "app -users",
    "a\u0440p-\u057dsers",
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "budget.sqlite"
    Ledger(path).spend("app-users", entry(), **LIMITS)
    return path


@pytest.mark.parametrize("name", [*INVISIBLE, *UNPRINTABLE, *TWINS], ids=ascii)
def test_a_name_that_cannot_be_told_from_another_gets_no_budget(name: str, kept: Path) -> None:
    with pytest.raises(InvalidInput, match=r"invisible|Did you mean 'app-users'|printable|blanks around") as said:
        Ledger(kept).spend(name, entry(), **LIMITS)
    assert "\n" not in str(said.value)
    assert len(Ledger(kept).populations()) == 1


@pytest.mark.parametrize("name", ["app_users", "app.users", "app-user5", "\u00e0pp-users", "appusers"])
def test_a_name_that_looks_like_another_at_a_glance_is_named_in_a_warning(
    name: str, kept: Path, tmp_path: Path
) -> None:
    ledger = Ledger(shutil.copy(kept, tmp_path))
    assert ledger.spend(name, entry(), **LIMITS).lookalikes == ("app-users",)
    assert any("looks like" in remark and "should have one budget" in remark for remark in ledger.check().remarks)


@pytest.mark.parametrize(
    "names",
    [
        ("north", "south"),
        ("users-2024", "users-2025"),
        ("\u043c\u0435\u0434", "\u043c\u0435\u043b"),
        ("\u043a\u0456\u0442", "\u043a\u0438\u0442"),
        ("\u6771\u4eac", "\u4eac\u90fd"),
        ("group A", "group B"),
    ],
)
def test_different_names_are_different(names: tuple[str, str]) -> None:
    assert check_new_name(names[1], [names[0]]) == names[1]
    assert lookalikes(names[1], [names[0]]) == ()


def test_within_one_alphabet_no_two_letters_are_the_same() -> None:
    for pairs in ALIKE:
        latin = [pair[1] for pair in pairs.split()]
        assert all(len(pair) == 2 for pair in pairs.split())
        if pairs is not ALIKE[-1]:
            assert len(set(latin)) == len(latin), pairs
