"""Every bound beside the truth: only proven ones win, contradictions are found, and what has no
number says why.
"""

import dataclasses
import math
from collections.abc import Callable
from itertools import cycle

import pytest

import shuffledp as sdp
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import CertificateError
from shuffledp.literature import comparison
from shuffledp.literature.bound import require
from shuffledp.literature.bounds import LITERATURE, Published, Setting, find, for_rounds
from shuffledp.randomizers import AnyDeletionLDP

SURVEY = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000)


def toy(epsilon: float, **changes: object) -> Published:
    fields = {"name": "toy", "paper": "Nobody", "where": "Thm 1", "covers": "anything", "status": "proven"}
    return Published(**(fields | {"epsilon_at": lambda *_: epsilon} | changes))  # type: ignore[arg-type]


def only(monkeypatch: pytest.MonkeyPatch, *bounds: Published) -> None:
    monkeypatch.setattr(comparison, "LITERATURE", bounds)


def test_a_bound_that_is_not_proven_cannot_win(monkeypatch: pytest.MonkeyPatch) -> None:
    lucky = toy(0.3616, status="unproven", name="lucky")
    only(monkeypatch, toy(0.01, status="invalid", name="wrong"), lucky, toy(3.0, name="loose"))
    table = sdp.compare(SURVEY, delta=1e-6)
    assert [row.name for row in table.rows] == ["wrong", "shuffledp", "shuffledp", "lucky", "loose"]
    assert table.best.name == "shuffledp"
    assert [row.name for row in table.rows if row.refuted] == ["wrong"]
    assert [row.ratio for row in table.rows] == pytest.approx([row.value / table.certified.lower for row in table.rows])


@pytest.mark.parametrize("side, epsilon", [("upper", 0.36), ("lower", 0.37)])
def test_a_proven_bound_that_contradicts_the_interval_is_a_bug_and_said_to_be(
    monkeypatch: pytest.MonkeyPatch, side: str, epsilon: float
) -> None:
    only(monkeypatch, toy(epsilon, side=side))
    with pytest.raises(CertificateError, match="Nobody, Thm 1"):
        sdp.compare(SURVEY, delta=1e-6)


def test_what_has_no_number_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def few(setting: Setting, _delta: float) -> float:
        require(setting.n < 10, "n must be below 10", setting.n)
        return 1.0

    only(monkeypatch, toy(1.0, name="few", epsilon_at=few), toy(1.0, name="slow", cost=lambda _: 7.0))
    table = sdp.compare(SURVEY, delta=1e-6)
    refused, skipped = ([(left.name, left.reason) for left in lefts] for lefts in (table.refused, table.skipped))
    assert refused == [("few", "does not apply here: n must be below 10, got 10000.")]
    assert skipped == [("slow", "takes about 7 s, and each bound is given 0.5 s")]
    assert "slow" in [row.name for row in sdp.compare(SURVEY, delta=1e-6, patience=math.inf).rows]


def test_bounds_about_one_round_are_composed_and_lower_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, toy(0.5, name="once"), toy(0.1, name="least", side="lower"), toy(9.0, name="often", rounds="any"))
    table = sdp.compare(SURVEY.compose(4), delta=1e-6)
    assert [row.value for row in table.rows if row.name.startswith("once+")] == [2.0]
    assert [left.name for left in table.refused] == ["least"]
    assert "often" in [row.name for row in table.rows]


def test_a_bound_on_less_than_the_adversary_sees_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    strong, lower = toy(5.0, name="strong", adversary="strong"), toy(0.1, name="lower", side="lower")
    only(monkeypatch, toy(5.0, name="shuffled"), strong, lower)
    weak = sdp.compare(sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000, adversary="weak"), delta=1e-6)
    assert [left.name for left in weak.refused] == ["shuffled"]
    assert {"strong", "lower"} <= {row.name for row in weak.rows}


def test_deltas_are_compared_at_an_epsilon() -> None:
    table, setting = sdp.compare(SURVEY, epsilon=0.5), Setting.of(SURVEY)
    certified = SURVEY.delta(epsilon=0.5)
    assert (table.goal.asked, table.goal.given, table.goal.at) == ("delta", "epsilon", 0.5)
    assert (table.certified.lower, table.certified.upper) == (certified.lower, certified.upper)
    assert table.best.value == certified.upper
    asked = {row.name: row for row in table.rows if row.name != "shuffledp"}
    assert {"feldman-2020-cor-4.2", "balle-2019-hoeffding-krr", "balle-2019-blanket-exact"} < set(asked)
    for name, row in asked.items():
        assert row.value == find(name).delta(setting, epsilon=0.5)
        assert row.ratio == row.value / certified.lower
    refuted = {row.name for row in table.rows if row.refuted}
    assert {"balle-2019-bennett-krr-printed", "wang-2023-variation-ratio-krr"} <= refuted
    assert all(asked[name].status == "invalid" for name in refuted)
    assert str(table).startswith("delta at epsilon = 0.5 lies in [6.365")


def test_where_nothing_leaks_every_delta_is_right() -> None:
    table = sdp.compare(SURVEY, epsilon=4.5)
    assert (table.certified.upper, table.best.value) == (0.0, 0.0)
    assert all(math.isnan(row.ratio) and not row.refuted for row in table.rows)


def test_reports_that_say_nothing_are_compared_too() -> None:
    # no bound about epsilon0-LDP reports may stop the table, as epsilon0 = 0 did
    table = sdp.compare(sdp.shuffle(sdp.FromMatrix([[0.3, 0.7], [0.3, 0.7]]), n=1000), delta=1e-6)
    assert (table.certified.upper, table.best.value) == (0.0, 0.0)
    assert {"girgis-2021", "feldman-2020-clones-exact"} <= {left.name for left in table.refused}


@pytest.mark.parametrize(
    ("given", "named"), [(None, "None"), (sdp.KRR(k=3, epsilon0=1.0), "a KRR"), (10**50, "an int")]
)
def test_what_is_no_mechanism_is_not_compared(given: object, named: str) -> None:
    with pytest.raises(sdp.InvalidInput, match=rf"a mechanism must be given, got {named}\. Pass shuffle\("):
        sdp.compare(given, delta=1e-6)  # type: ignore[arg-type]


@pytest.mark.parametrize(("at", "got"), [({}, "neither"), ({"delta": 1e-6, "epsilon": 1.0}, "both")])
def test_exactly_one_question_is_asked(at: dict[str, float], got: str) -> None:
    with pytest.raises(sdp.InvalidInput, match=f"exactly one of delta and epsilon must be given, got {got}"):
        sdp.compare(SURVEY, **at)


@pytest.mark.parametrize(("side", "delta"), [("upper", 6e-10), ("lower", 7e-10)])
def test_a_proven_delta_that_contradicts_the_interval_is_a_bug(
    monkeypatch: pytest.MonkeyPatch, side: str, delta: float
) -> None:
    only(monkeypatch, toy(0.0, side=side, epsilon_at=None, delta_at=lambda *_: delta))
    with pytest.raises(CertificateError, match=r"Nobody, Thm 1 says .* but delta at epsilon = 0.5 is certified"):
        sdp.compare(SURVEY, epsilon=0.5)


def alone(setting: Setting, epsilon: float) -> float:
    """delta of one report, without care for what subtraction loses close to epsilon0."""
    truth = math.exp(setting.epsilon0) / (1.0 + math.exp(setting.epsilon0))
    return max(truth - math.exp(epsilon) * (1.0 - truth), 0.0)


@pytest.mark.parametrize("share", [1e-15, 1e-13, 1e-11, 3e-10])
@pytest.mark.parametrize("side", ["upper", "lower"])
def test_rounding_contradicts_nothing(monkeypatch: pytest.MonkeyPatch, side: str, share: float) -> None:
    only(monkeypatch, toy(0.0, side=side, epsilon_at=None, delta_at=alone))
    for epsilon0 in (0.3, 1.0, 2.1, 3.3, 4.4):
        one = sdp.shuffle(sdp.RR(epsilon0=epsilon0), n=1)
        sdp.compare(one, epsilon=epsilon0 * (1.0 - share))
        sdp.compare(one, delta=one.delta(epsilon=0.0).lower * (1.0 - share))


def test_a_lower_bound_on_epsilon_claims_no_delta_where_it_is_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, toy(0.1, name="least", side="lower"))
    assert [row.value for row in sdp.compare(SURVEY, epsilon=4.0).rows if row.name == "least"] == [0.0]


def test_a_ratio_to_nothing_is_not_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, toy(1.0))
    table = sdp.compare(sdp.shuffle(sdp.RR(epsilon0=1e-6), n=1000), delta=0.5)
    assert table.certified.lower == 0.0
    assert all(math.isnan(row.ratio) and not row.refuted for row in table.rows)


MECHANISMS: dict[str, Callable[[], Guarantee]] = {
    "krr": lambda: SURVEY,
    "krr, 8 rounds": lambda: SURVEY.compose(8),
    "rr": lambda: sdp.shuffle(sdp.RR(epsilon0=0.3), n=5000),
    "any, 3 rounds": lambda: sdp.shuffle(sdp.AnyLDP(epsilon0=2.0), n=100_000).compose(3),
    "any, leaky": lambda: sdp.shuffle(sdp.AnyLDP(epsilon0=2.0, delta0=1e-12), n=100_000),
    "laplace": lambda: sdp.shuffle(sdp.Laplace(epsilon0=1.0), n=20_000),
    "gaussian": lambda: sdp.shuffle(sdp.Gaussian(sigma=2.0), n=1000),
    "oue, many users": lambda: sdp.shuffle(sdp.OUE(k=100, epsilon0=3.0), n=10**9),
    "two users": lambda: sdp.shuffle(sdp.KRR(k=3, epsilon0=1e-6), n=2),
    "one user": lambda: sdp.shuffle(sdp.KRR(k=10**6, epsilon0=30.0), n=1),
    "matrix": lambda: sdp.shuffle(sdp.FromMatrix([[0.7, 0.3, 0.0], [0.2, 0.3, 0.5]]), n=50),
    "strong": lambda: sdp.shuffle(sdp.KRR(k=4, epsilon0=2.0), n=500, adversary="strong"),
    "weak, 2 rounds": lambda: sdp.shuffle(sdp.KRR(k=4, epsilon0=2.0), n=500, adversary="weak").compose(2),
    "colluders": lambda: sdp.shuffle(sdp.RR(epsilon0=1.0), n=10**12, honest=10**11),
}


# Each at the usual delta, and by turns at an extreme delta or epsilon, which the tests in bounds/ try one by one.
EXTREMES: list[dict[str, float]] = [{"delta": 1e-50}, {"epsilon": 0.3}, {"delta": 0.5}, {"epsilon": 0.0}]
ASKED = [(name, at) for name, far in zip(MECHANISMS, cycle(EXTREMES)) for at in ({"delta": 1e-6}, far)]


@pytest.mark.parametrize(("name", "at"), ASKED)
def test_every_bound_has_a_number_or_a_reason(name: str, at: dict[str, float]) -> None:
    table = sdp.compare(MECHANISMS[name](), **at)
    said = len(table.rows) + len(table.refused) + len(table.skipped)
    assert said == len(LITERATURE) + 1  # the certified lower end is in both
    assert all(row.value >= 0.0 for row in table.rows)
    assert all(left.reason.startswith("does not apply here: ") and left.reason.endswith(".") for left in table.refused)
    assert [row.value for row in table.rows] == sorted(row.value for row in table.rows)
    assert str(table).count("\n") >= len(table.rows)


def test_a_bound_of_ones_own_stands_among_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, toy(3.0, name="known"))
    mine = toy(0.5, name="mine", epsilon_at=lambda setting, _delta: 50.0 / math.sqrt(setting.n))
    table = sdp.compare(SURVEY, delta=1e-6, also=[mine, toy(1.0, name="slow", cost=lambda _: 7.0)])
    assert [row.name for row in table.rows] == ["shuffledp", "shuffledp", "mine", "known"]
    assert [left.name for left in table.skipped] == ["slow"]


@pytest.mark.parametrize("side, epsilon", [("upper", 0.36), ("lower", 0.37)])
def test_a_bound_of_ones_own_that_contradicts_the_interval_is_reported_and_cannot_win(
    monkeypatch: pytest.MonkeyPatch, side: str, epsilon: float
) -> None:
    only(monkeypatch, toy(3.0, name="known"))
    table = sdp.compare(SURVEY, delta=1e-6, also=[toy(epsilon, side=side)])
    assert [row.name for row in table.contradictions] == ["toy"]
    assert table.best.name == "shuffledp"
    assert "Nobody, Thm 1 contradicts the certified interval." in str(table)
    honest = sdp.compare(SURVEY, delta=1e-6, also=[toy(epsilon, side=side, status="unproven")])
    assert honest.contradictions == ()
    assert [row.name for row in honest.rows if row.refuted] == ["toy"]


def divided(_setting: Setting, _delta: float) -> float:
    return 1 / 0


@pytest.mark.parametrize(
    "also, words",
    [
        (toy(1.0), "also must be a list of bounds, got toy itself"),
        ([0.5], "also must hold bounds, each a shuffledp.literature.bounds.Published, got 0.5"),
        ([toy(1.0), toy(2.0)], "a bound's name must be its own, got 'toy' again"),
        ([toy(1.0, name="shuffledp")], "a bound's name must be its own, got 'shuffledp' again"),
        ([toy(-1.0)], "the bound toy must be 0 or more, got -1.0"),
        ([toy(math.nan)], "the bound toy must be 0 or more, got nan"),
        ([toy(None)], "the bound toy must be 0 or more, got None"),
        ([toy("1")], "the bound toy must be 0 or more, got '1'"),
        ([toy(1.0, cost=lambda _: 1 / 0)], "the bound toy must answer or raise DoesNotApply, got ZeroDivision"),
        ([toy(1.0, epsilon_at=divided)], "the bound toy must answer or raise DoesNotApply, got ZeroDivisionError"),
        ([toy(1.0, epsilon_at=None, delta_at=divided)], "got ZeroDivisionError: division by zero. Correct the bound."),
    ],
)
def test_a_bound_of_ones_own_is_checked(also: object, words: str) -> None:
    with pytest.raises(sdp.InvalidInput) as caught:
        sdp.compare(SURVEY, delta=1e-6, patience=0.0, also=also)  # type: ignore[arg-type]
    assert words in str(caught.value)


@pytest.mark.parametrize("changes", [{"status": "true"}, {"side": "left"}, {"rounds": 3}, {"epsilon_at": None}])
def test_a_bound_that_describes_nothing_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(sdp.InvalidInput, match=r"must (be one of|compute something)"):
        toy(1.0, **changes)


def test_the_literature_is_described_in_full() -> None:
    names = [bound.name for bound in LITERATURE]
    assert len(names) == len(set(names))
    for bound in LITERATURE:
        empty = [field.name for field in dataclasses.fields(bound) if getattr(bound, field.name) == ""]
        assert set(empty) <= {"remark"}, bound.name
        assert bound.remark or bound.status == "proven", f"{bound.name} must say why it is {bound.status}"


@pytest.mark.parametrize(
    ("randomizer", "n", "rounds"),
    [
        (sdp.Gaussian(sigma=2.0), 10_000, 1),
        (sdp.AnyLDP(epsilon0=2.0, delta0=1e-12), 10_000, 1),
        (AnyDeletionLDP(epsilon0=1.0), 10_000, 1),
        (sdp.KRR(k=3, epsilon0=1.0), 10**9, 2),
    ],
)
def test_no_wait_is_offered_for_a_bound_that_would_refuse(randomizer: sdp.Randomizer, n: int, rounds: int) -> None:
    once = sdp.shuffle(randomizer, n=n)
    mechanism = once if rounds == 1 else once.compose(rounds)
    setting = Setting.of(mechanism)
    later = {each.name for each in sdp.compare(mechanism, delta=1e-6, patience=0.0).skipped}
    assert not later & {each.name for each in LITERATURE if each.name.startswith(("biswas", "koskela-2021-krr"))}
    for bound in (for_rounds(find(name), setting) for name in later):
        if bound.seconds(setting) < 2.0:
            assert bound.epsilon(setting, delta=1e-6) >= 0.0


def test_the_strong_view_of_reports_that_are_rarely_the_truth_is_known_to_be_slow() -> None:
    rare, usual = (Setting(sdp.RR(epsilon0=each), n=10**6, rounds=3) for each in (0.001, 1.0))
    assert find("shuffledp-strong").seconds(rare) > 1.0 > find("shuffledp-strong").seconds(usual)


def test_reports_that_say_almost_nothing_are_compared() -> None:
    """The bounds on any randomizer once ended the comparison, as theirs begin at epsilon0 = 1e-12."""
    tiny = sdp.FromMatrix([[0.3, 0.7], [0.3 + 1e-15, 0.7 - 1e-15]])
    comparison = sdp.compare(sdp.shuffle(tiny, n=100), delta=1e-6)
    reason = next(each.reason for each in comparison.refused if each.name == "shuffledp-any")
    assert "epsilon0 must be at least 1e-12" in reason
    assert "local" in {row.name for row in comparison.rows}
