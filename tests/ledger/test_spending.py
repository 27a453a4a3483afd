"""Spending: the limit, the composed total against the accountant and against enumeration, and what
would still fit.
"""

import json
import threading
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp import KRR, OUE, RAPPOR, Accountant, Hadamard, LocalHash, SubsetSelection, judge, shuffle
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import InvalidInput
from shuffledp.ledger import Entry, Ledger, OverLimit, Part
from shuffledp.ledger.book import read
from shuffledp.ledger.file import held
from shuffledp.ledger.total import EXACT, MOST, Grouped, composed, corner, grouped
from shuffledp.randomizers import UserFakes
from shuffledp.randomizers.law_file import law_of
from shuffledp.randomizers.randomizer import Randomizer
from shuffledp.storage.canonical import canonical
from tests.ledger.made import DESIGN, LIMITS, SURVEY, entry

FAMILIES: list[Callable[[float], Randomizer]] = [
    lambda e: KRR(k=16, epsilon0=e),
    lambda e: Hadamard(k=16, epsilon0=e),
    lambda e: LocalHash(k=100, g=8, epsilon0=e),
    lambda e: SubsetSelection(k=16, epsilon0=e, size=3),
    lambda e: OUE(k=16, epsilon0=e),
    lambda e: RAPPOR(k=16, epsilon0=e),
]


def test_the_total_is_what_the_accountant_says(ledger: Ledger) -> None:
    survey, vote = shuffle(KRR(k=16, epsilon0=4.0), n=10_000), shuffle(OUE(k=8, epsilon0=2.0), n=20_000)
    ledger.spend("p", entry(), limit_epsilon=3.0, limit_delta=1e-6)
    ledger.spend("q", entry(rounds=40), limit_epsilon=5.0, limit_delta=1e-6)
    receipt = ledger.spend("p", entry(OUE(k=8, epsilon0=2.0), n=20_000, rounds=5))
    expected = Accountant().add(survey).add(vote, rounds=5).epsilon(delta=1e-6)
    assert (receipt.total.lower, receipt.total.upper) == pytest.approx((expected.lower, expected.upper), rel=1e-9)
    assert receipt.releases == 2, "another population is another budget"
    assert ledger.total("p").epsilon(delta=1e-6).upper == receipt.total.upper
    assert ledger.total("p", adding=entry()).epsilon(delta=1e-6).upper > receipt.total.upper


def test_the_total_contains_the_exact_two_rounds_of_a_handful_of_users(ledger: Ledger) -> None:
    rows, epsilons = judge.krr(3, 1.0), np.array([0.2, 0.5, 1.0])
    for _ in range(2):
        ledger.spend("p", entry(KRR(k=3, epsilon0=1.0), n=4), limit_epsilon=2.0, limit_delta=0.5)
    total = ledger.total("p")
    for epsilon, truth in zip(epsilons, judge.rounds_delta([rows, rows], 4, epsilons), strict=True):
        bound = total.delta(epsilon=float(epsilon))
        assert bound.lower <= truth * (1.0 + 1e-9)
        assert truth <= bound.upper * (1.0 + 1e-9)


def test_the_quick_sum_of_all_records_is_the_slow_one(ledger: Ledger) -> None:
    for number, rounds in enumerate((1, 2, 1, 3)):
        asked = replace(entry(rounds=rounds), batches=(f"{number:032x}", "f" * 31 + str(number)) if number else ())
        ledger.spend("p", asked, limit_epsilon=5.0, limit_delta=1e-6)
    ledger.spend("p", entry(OUE(k=8, epsilon0=2.0)))
    ledger.spend("q", entry(n=20_000), **LIMITS)
    quick = {(repr(each.randomizer), each.n, each.honest): rounds for each, rounds in read(ledger.path).mechanisms("p")}
    slow: dict[tuple[str, int, int], int] = {}
    for each, rounds in (part for release in ledger.releases("p") for part in release.entry.mechanisms):
        key = (repr(each.randomizer), each.n, each.honest)
        slow[key] = slow.get(key, 0) + rounds
    assert quick == slow
    assert sum(slow.values()) == 8


def test_a_release_that_reaches_the_limit_exactly_is_allowed(ledger: Ledger) -> None:
    delta = entry().guarantee.delta(epsilon=0.3).upper
    with pytest.raises(OverLimit):
        ledger.spend("p", entry(), limit_epsilon=0.3, limit_delta=float(np.nextafter(delta, 0.0)))
    receipt = ledger.spend("p", entry(), limit_epsilon=0.3, limit_delta=delta)
    assert (receipt.id, receipt.total.upper) == (1, 0.3)


@pytest.mark.parametrize("family", FAMILIES[:2], ids=lambda family: type(family(1.0)).__name__)
def test_what_is_said_to_fit_does_and_two_per_cent_more_does_not(
    family: Callable[[float], Randomizer], ledger: Ledger
) -> None:
    ledger.spend("p", entry(family(3.0)), limit_epsilon=0.3, limit_delta=1e-6)
    asked = entry(family(5.0), rounds=2)
    with pytest.raises(OverLimit, match="would still fit") as refused:
        ledger.spend("p", asked)
    fitting = refused.value.fitting
    assert fitting is not None
    assert fitting.epsilon < asked.guarantee.epsilon(delta=1e-6).upper

    def larger(share: float) -> Entry:
        law = law_of(family(fitting.parts[0].law["epsilon0"] * share))
        return replace(fitting, parts=(replace(fitting.parts[0], law=law),))

    def is_stretched(share: float) -> bool:
        return larger(share).guarantee.epsilon_at_most(delta=1e-6) > 1.02 * fitting.epsilon

    shares = np.arange(1.0, 1.064, 0.001)
    stretched = larger(shares[bisect_left(shares, True, key=is_stretched)])
    with pytest.raises(OverLimit):
        ledger.afford("p", stretched)
    assert ledger.spend("p", fitting).total.upper <= 0.3


def test_a_limit_that_leaves_room_for_nothing_says_so(ledger: Ledger) -> None:
    with pytest.raises(OverLimit, match="Nothing of this kind fits any more") as refused:
        ledger.spend("p", entry(), limit_epsilon=1e-9, limit_delta=1e-200)
    assert refused.value.fitting is None


def test_asking_records_nothing_and_creates_nothing(ledger: Ledger) -> None:
    receipt = ledger.afford("p", entry(), **LIMITS)
    assert (receipt.id, receipt.releases) == (None, 1)
    assert not ledger.path.exists()
    assert receipt.total.upper == ledger.spend("p", entry(), **LIMITS).total.upper


@pytest.mark.parametrize("family", FAMILIES[:2], ids=lambda family: type(family(1.0)).__name__)
def test_the_short_cut_for_many_mechanisms_is_above_the_upper_end_of_all_of_them(
    family: Callable[[float], Randomizer],
) -> None:
    draw = np.random.default_rng(5)
    many = [
        (shuffle(family(2.0 + 0.1 * draw.random()), n=int(5_000 * (1.0 + 0.1 * draw.random()))), 1)
        for _ in range(EXACT + 1)
    ]
    accountant = Accountant()
    for mechanism, _ in many:
        accountant = accountant.add(mechanism)
    short, whole = composed(many), accountant.total
    assert isinstance(short, Grouped)
    assert len(grouped(many)) < EXACT
    for delta in (1e-4, 1e-8):
        upper = whole.epsilon(delta=delta).upper
        assert upper <= short.epsilon(delta=delta).upper <= 1.06 * upper
        assert short.epsilon(delta=delta).lower <= upper
    assert whole.delta(epsilon=0.1).upper <= short.delta(epsilon=0.1).upper


@pytest.mark.parametrize(
    "matrix",
    [
        lambda e: judge.krr(3, e),
        lambda e: judge.subset(4, 2, e),
        lambda e: judge.unary(3, 0.5, 1.0 / (np.exp(e) + 1.0)),
    ],
    ids=["krr", "subset", "oue"],
)
def test_a_smaller_epsilon0_and_more_users_leak_less_by_enumeration(matrix: Callable[[float], np.ndarray]) -> None:
    epsilons = np.array([0.0, 0.1, 0.3, 0.6])
    harsh = judge.worst_delta(matrix(1.05), 3, epsilons)
    assert np.all(judge.worst_delta(matrix(1.0), 3, epsilons) <= harsh + 1e-12)
    assert np.all(judge.worst_delta(matrix(1.05), 4, epsilons) <= harsh + 1e-12)


@pytest.mark.parametrize(
    "limits, reason",
    [
        ({}, "must have a limit, got none yet"),
        ({"limit_epsilon": 1.0}, "must have a limit, got none yet"),
        ({"limit_epsilon": 0.0, "limit_delta": 1e-6}, "limit_epsilon must be positive"),
        ({"limit_epsilon": float("nan"), "limit_delta": 1e-6}, "limit_epsilon must be finite"),
        ({"limit_epsilon": 1.0, "limit_delta": 2.0}, "delta must lie in"),
    ],
)
def test_a_first_release_needs_a_limit_that_makes_sense(limits: dict[str, float], reason: str, ledger: Ledger) -> None:
    with pytest.raises(InvalidInput, match=reason):
        ledger.spend("p", entry(), **limits)
    assert ledger.populations() == ()


@pytest.mark.parametrize(
    "limits", [{"limit_epsilon": 2.0}, {"limit_delta": 1e-5}, {"limit_epsilon": 1.0, "limit_delta": 1e-7}]
)
def test_a_limit_does_not_move(limits: dict[str, float], ledger: Ledger) -> None:
    ledger.spend("p", entry(), **LIMITS)
    with pytest.raises(InvalidInput, match="must stay"):
        ledger.spend("p", entry(), **limits)
    assert ledger.spend("p", entry(), **LIMITS).releases == 2
    assert ledger.spend("p", entry()).releases == 3


def test_a_population_that_is_not_there_is_named_with_those_that_are(ledger: Ledger) -> None:
    ledger.spend("app-users", entry(), **LIMITS)
    for ask in (ledger.total, ledger.releases):
        with pytest.raises(InvalidInput, match=r"one of those in the ledger \(app-users\), got 'app-user'"):
            ask("app-user")
    for name in ("", " p", "a\nb", "\ud800", "x" * 1000, 5):
        with pytest.raises(InvalidInput, match="population must be"):
            ledger.spend(name, entry(), **LIMITS)  # type: ignore[arg-type]


def test_a_name_is_the_same_however_it_was_typed(ledger: Ledger) -> None:
    ledger.spend("caf\u00e9", entry(), **LIMITS)
    assert ledger.spend("cafe\u0301", entry()).releases == 2
    assert len(ledger.releases("cafe\u0301")) == 2
    assert ledger.total("cafe\u0301").epsilon(delta=1e-6).upper == ledger.total("caf\u00e9").epsilon(delta=1e-6).upper
    assert [each.name for each in ledger.populations()] == ["caf\u00e9"]


@pytest.mark.parametrize("name", ["app users", "APP USERS", "AppUsers", "App  Users", "App Us\uff45rs"])
def test_a_new_name_that_differs_only_by_case_or_blanks_is_refused(name: str, ledger: Ledger) -> None:
    ledger.spend("App Users", entry(), **LIMITS)
    with pytest.raises(InvalidInput, match="Did you mean 'App Users'"):
        ledger.spend(name, entry(), **LIMITS)
    assert ledger.spend("App Users 2", entry(), **LIMITS).releases == 1


@pytest.mark.parametrize(
    "limits", [{"limit_epsilon": 0.01, "limit_delta": 1e-9}, {"limit_epsilon": -1.0, "limit_delta": 1e-6}, {}]
)
def test_a_refused_first_release_leaves_no_ledger(limits: dict[str, float], ledger: Ledger) -> None:
    with pytest.raises(InvalidInput):
        ledger.spend("p", entry(), **limits)
    assert list(ledger.path.parent.iterdir()) == []


def test_many_kinds_are_joined_to_a_few_that_are_harsher() -> None:
    draw = np.random.default_rng(7)
    many = [
        (
            shuffle(
                KRR(k=int(draw.integers(3, 6)), epsilon0=0.2 + 4.0 * draw.random()), n=int(10 ** draw.uniform(3.0, 6.0))
            ),
            1,
        )
        for _ in range(150)
    ]
    groups = grouped(many)
    assert len(groups) == MOST
    assert sorted(id(each) for group in groups for each, _ in group) == sorted(id(each) for each, _ in many), (
        "every mechanism is in one group"
    )
    for group in groups:
        harsh, rounds = corner(group, harsh=True)
        mild, _ = corner(group, harsh=False)
        assert rounds == len(group)
        for each, _ in group:
            assert each.randomizer.k == harsh.randomizer.k  # type: ignore[attr-defined]
            assert mild.randomizer.epsilon0 <= each.randomizer.epsilon0 <= harsh.randomizer.epsilon0
            assert harsh.honest <= each.honest <= mild.honest
    lone = [(shuffle(KRR(k=k, epsilon0=1.0), n=1000), 1) for k in range(3, MOST + 9)]
    assert len(grouped(lone)) == len(lone), "different families of laws are never joined"


def test_a_thousand_kinds_are_joined_too() -> None:
    draw = np.random.default_rng(8)
    many = [
        (
            shuffle(
                OUE(k=int(draw.integers(3, 6)), epsilon0=0.2 + 4.0 * draw.random()), n=int(10 ** draw.uniform(3.0, 6.0))
            ),
            1,
        )
        for _ in range(1000)
    ]
    groups = grouped(many)
    assert len(groups) == MOST
    assert sum(map(len, groups)) == 1000


def test_days_of_fakes_differ_by_who_came_and_are_alike() -> None:
    law = UserFakes(k=3, slots=1, chance=0.5)
    many = [(shuffle(law, n=10_000 + day), 1) for day in range(30)]
    assert len(grouped(many)) == 1
    lower, upper = composed(many).epsilon(delta=1e-6)
    exact_lower, exact_upper = Accountant().add(many[0][0], rounds=30).total.epsilon(delta=1e-6)
    assert upper == exact_upper
    assert 0.99 * exact_lower < lower <= exact_lower
    others = [(shuffle(UserFakes(k=3, slots=1, chance=0.5 + day / 1e6), n=10_000), 1) for day in range(3)]
    assert len(grouped(others)) == 3, "an infinite epsilon0 does not make other fakes alike"


def test_a_release_is_published_once(ledger: Ledger) -> None:
    id = ledger.spend("p", entry(), **LIMITS).id
    assert [each.state for each in ledger.releases()] == ["recorded"]
    ledger.publish(id, DESIGN)
    ledger.publish(id, DESIGN)
    with pytest.raises(InvalidInput, match="published once"):
        ledger.publish(id, "cd" * 32)
    with pytest.raises(InvalidInput, match="must be that of a recorded release, got 9"):
        ledger.publish(9, DESIGN)
    with pytest.raises(InvalidInput, match="SHA-256"):
        ledger.publish(id, "digest")
    (release,) = ledger.releases("p")
    assert (release.state, release.output) == ("published", DESIGN)
    assert ledger.check().faults == ()


@given(
    family=st.sampled_from(FAMILIES),
    epsilon0=st.floats(0.01, 8.0),
    n=st.integers(1, 10**9),
    share=st.floats(0.0, 1.0),
    rounds=st.integers(1, 1000),
    what=st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=40),
)
def test_an_entry_survives_json_to_the_last_digit(
    family: Callable[[float], Randomizer], epsilon0: float, n: int, share: float, rounds: int, what: str
) -> None:
    honest = max(1, int(n * share))
    part = Part(law=law_of(family(epsilon0)), n=n, honest=honest, rounds=rounds)
    one = Entry(parts=(part,), what=what, design=DESIGN, epsilon=1.0, delta=1e-6)
    again = Entry.from_json(json.loads(canonical(one.as_json())))
    assert again == one
    assert canonical(again.as_json()) == canonical(one.as_json())
    ((mechanism, times),) = again.mechanisms
    assert (mechanism.n, mechanism.honest, times, mechanism.randomizer) == (n, honest, rounds, family(epsilon0))


def part(law: dict[str, Any], *, honest: int = 10, rounds: int = 1) -> Part:
    return Part(law=law, n=10, honest=honest, rounds=rounds)


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"parts": ()}, "at least one part"),
        ({"what": ""}, "what must be text"),
        ({"what": "a\nb"}, "what must be printable"),
        ({"design": "ab"}, "design must be a SHA-256"),
        ({"epsilon": -1.0}, "epsilon must be positive"),
        ({"delta": 0.0}, "delta must lie in"),
        ({"parts": (part({"type": "krr"}),)}, "the law of krr must have"),
        ({"parts": (part(law_of(SURVEY), honest=11),)}, "honest must be at most"),
        ({"parts": (part(law_of(SURVEY), rounds=0),)}, "rounds must be at least 1"),
        ({"parts": (part(law_of(SURVEY) | {"integers": ["1"]}),)}, "the integers of krr must be"),
    ],
)
def test_a_wrong_entry_is_refused_in_one_sentence(change: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        replace(entry(), **change)  # type: ignore[arg-type]


@pytest.mark.parametrize("guarantee", [shuffle(KRR(k=4, epsilon0=1.0), n=10, adversary="strong"), "KRR"])
def test_only_shuffled_reports_of_known_randomizers_are_recorded(guarantee: Guarantee) -> None:
    with pytest.raises(InvalidInput, match=r"shuffle\(\.\.\.\)|adversary"):
        Entry.of(guarantee, what="x", design=DESIGN, epsilon=1.0, delta=1e-6)


def test_threads_of_one_process_take_turns_at_the_file(tmp_path: Path) -> None:
    """Closing a handle of the file drops all locks of the process on it: while one thread writes,
    no other may open it.
    """
    path = tmp_path / "budget.sqlite"
    Ledger(path).spend("people", entry(), limit_epsilon=50.0, limit_delta=1e-6)
    seen: list[int] = []
    with held(path):
        thread = threading.Thread(target=lambda: seen.append(len(Ledger(path).releases())))
        thread.start()
        thread.join(0.3)
        assert seen == [], "it waits"
    thread.join()
    assert seen == [1]


def test_a_refusal_counts_what_another_process_has_just_spent(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.spend("p", entry(), limit_epsilon=1.0, limit_delta=1e-6)
    single = ledger.total("p").epsilon(delta=1e-6).upper
    most = next(
        many for many in range(1, 200) if ledger.total("p", adding=entry(rounds=many)).epsilon(delta=1e-6).upper > 1
    )
    other, usual = Ledger(ledger.path), held

    def later(*given: object, **named: object) -> object:
        monkeypatch.setattr("shuffledp.ledger.spending.held", usual)
        other.spend("p", entry(rounds=most - 1))  # between the sum and the lock
        return usual(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("shuffledp.ledger.spending.held", later)
    with pytest.raises(OverLimit, match=r"must keep epsilon = 1 .* with this one \(([0-9.]+) without\)") as refused:
        ledger.spend("p", entry())
    without = float(str(refused.value).partition(" without)")[0].rpartition("(")[2])
    assert without == pytest.approx(ledger.total("p").epsilon(delta=1e-6).upper, rel=1e-3)
    assert without > 1.5 * single
