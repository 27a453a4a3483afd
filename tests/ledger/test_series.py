"""Series that were paid for in advance: every week is released once, and costs nothing more."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.ledger import Entry, Ledger, OverLimit, Turn, charge, write_csv
from tests.ledger.made import DESIGN, LIMITS, entry

SERIES = Turn(name="cities", weeks=4)


def payment(series: Turn = SERIES) -> Entry:
    return replace(entry(rounds=4, what="4 weeks"), series=series)


def week(number: int, **changed: object) -> Entry:
    return replace(entry(what=f"week {number}"), series=replace(SERIES, week=number), **changed)  # type: ignore[arg-type]


@pytest.fixture
def paid(ledger: Ledger) -> Ledger:
    ledger.spend("p", payment(), **LIMITS)
    return ledger


def test_all_weeks_are_paid_for_at_once_and_cost_nothing_more(paid: Ledger) -> None:
    before = paid.total("p").epsilon(delta=1e-6).upper
    assert before == entry(rounds=4).guarantee.epsilon(delta=1e-6).upper
    for number in (1, 2, 3, 4):
        receipt = paid.spend("p", week(number), held_back=True)
        paid.begin(receipt.id)
        paid.publish(receipt.id, DESIGN)
        assert receipt.total.upper == before
        assert receipt.releases == number + 1
    assert paid.total("p").epsilon(delta=1e-6).upper == before
    assert paid.spent_at_least(5, delta=1e-6) == paid.spent_at_least(1, delta=1e-6)
    assert (paid.check().faults, paid.check().remarks[0]) == ((), "p: 4 of the 4 weeks of series cities were released")
    with pytest.raises(InvalidInput, match="at most the 4 that series 'cities' has, got 5"):
        week(5)


def test_a_week_begins_once_and_any_other_release_twice(paid: Ledger) -> None:
    """Two machines at once: both have recorded the week before either shows it."""
    other = Ledger(paid.path)
    mine, theirs = (
        each.spend("p", replace(week(1), what=name), held_back=True) for each, name in ((paid, "a"), (other, "b"))
    )
    other.begin(theirs.id)
    with pytest.raises(InvalidInput, match="week 1 of 4 of series cities must be released once"):
        paid.begin(mine.id)
    with pytest.raises(InvalidInput, match="must be released once, got it again: release 3"):
        paid.spend("p", week(1), held_back=True)
    with pytest.raises(InvalidInput, match="must be begun before it is published"):
        paid.publish(mine.id, DESIGN)
    # The control: without a series, nobody minds.
    for _ in range(2):
        paid.begin(paid.spend("p", entry(), held_back=True).id)


def test_a_killed_run_uses_up_no_week(paid: Ledger) -> None:
    ids = {paid.spend("p", week(1, batches=(digit * 32,)), held_back=True).id for digit in "abc"}
    assert len(ids) == 3, "each has reports of its own"
    paid.begin(max(ids))
    assert paid.series("p")["cities"].as_json() == {
        "name": "cities",
        "weeks": 4,
        "payment": 1,
        "released": [{"week": 1, "release": 4}],
        "left": 3,
    }
    assert paid.check().faults == ()


def test_a_series_is_paid_for_once_and_a_changed_design_is_another(paid: Ledger) -> None:
    for held_back in (False, False, True, True):
        assert paid.spend("p", payment(), held_back=held_back).id == 1
    longer = replace(entry(rounds=5), series=Turn(name="cities", weeks=5))
    for changed in (longer, replace(payment(), design="cd" * 32)):
        with pytest.raises(InvalidInput, match="a changed design is another series"):
            paid.spend("p", changed)
    with pytest.raises(InvalidInput, match="of the design that release 1 paid for"):
        paid.spend("p", week(1, design="cd" * 32))
    with pytest.raises(InvalidInput, match="must have been paid for in this ledger"):
        paid.spend("q", week(1), **LIMITS)
    with pytest.raises(OverLimit):
        paid.spend("p", payment(Turn(name="towns", weeks=4)))
    with pytest.raises(InvalidInput, match="got the payment for a series"):
        Ledger(paid.path).begin(paid.spend("q", payment(), **LIMITS, held_back=True).id)


def test_a_week_that_nobody_paid_for_is_counted_and_found(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who may write the file: the chain holds, and the rules of series do not."""
    monkeypatch.setattr(charge, "check_turn", lambda *_, **__: None)
    ledger.spend("p", entry(), **LIMITS)
    ledger.spend("p", week(1))
    assert ledger.total("p").epsilon(delta=1e-6).upper == entry(rounds=2).guarantee.epsilon(delta=1e-6).upper
    assert "which was not paid for as this release" in ledger.check().faults[0]
    ledger.spend("q", payment(), **LIMITS)
    for _ in range(2):
        ledger.spend("q", week(1))
    assert "q: release 5 is recorded as week 1" in ledger.check().faults[1]
    assert ledger.total("q").epsilon(delta=1e-6).upper == entry(rounds=5).guarantee.epsilon(delta=1e-6).upper


def test_entries_without_a_series_are_written_as_before() -> None:
    assert "series" not in entry().as_json()
    assert Entry.from_json(json.loads(json.dumps(week(3).as_json()))) == week(3)
    for wrong in ({"name": "a", "weeks": 1, "week": None}, {"name": " ", "weeks": 4, "week": 1}, {"name": "a"}, 7):
        with pytest.raises(InvalidInput):
            Entry.from_json(week(3).as_json() | {"series": wrong})


def test_show_and_export_know_series(paid: Ledger, tmp_path: Path) -> None:
    paid.spend("p", week(2))
    facts = paid.export()
    (population,) = facts["populations"]
    assert [each["state"] for each in population["releases"]] == ["paid in advance", "recorded"]
    assert population["series"][0]["released"] == [{"week": 2, "release": 2}]
    write_csv(facts, tmp_path / "budget.csv")
    lines = (tmp_path / "budget.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith('"series","week"')
    assert [line.split(",")[-2:] for line in lines[1:]] == [['"cities"', '""'], ['"cities"', "2"]]
