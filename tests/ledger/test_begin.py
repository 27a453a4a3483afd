"""Releases of which nothing was ever seen: they hold nobody's reports, and are paid once."""

from dataclasses import replace
from pathlib import Path

import pytest

from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.ledger import Ledger, OverLimit
from shuffledp.release.budget import Budget
from shuffledp.storage.files import replace_file
from tests.ledger.made import DESIGN, LIMITS, entry

A, B, C = ("a" * 32, "b" * 32, "c" * 32)


def test_a_release_that_was_never_begun_keeps_its_batches_from_no_one(ledger: Ledger) -> None:
    both, alone = replace(entry(), batches=(A, B)), replace(entry(), batches=(A,))
    ledger.spend("p", both, **LIMITS, held_back=True)
    second = ledger.spend("p", alone, held_back=True)
    assert second.releases == 2, "other reports are another release, and charged"
    ledger.begin(second.id)
    with pytest.raises(InvalidInput, match="some of release 2 with others"):
        ledger.begin(1)
    with pytest.raises(InvalidInput, match="some of release 2 with others"):
        ledger.spend("p", both, held_back=True)
    ledger.publish(second.id, DESIGN)
    assert [each.state for each in ledger.releases()] == ["recorded", "published"]
    assert "p: recorded and never begun: 1. These count" in ledger.check().remarks[0]
    assert ledger.check().faults == ()


def test_what_is_not_held_back_is_begun_when_it_is_recorded(ledger: Ledger) -> None:
    """Who says nothing may have shown something: recorded is spent, and its reports are taken."""
    ledger.spend("p", replace(entry(), batches=(A, B)), **LIMITS)
    with pytest.raises(InvalidInput, match="some of release 1 with others"):
        ledger.spend("p", replace(entry(), batches=(A,)), held_back=True)
    with pytest.raises(InvalidInput, match="must begin once"):
        ledger.begin(1)


def test_the_same_release_again_takes_over_a_record_that_never_began(ledger: Ledger) -> None:
    asked = replace(entry(), batches=(A, B))
    first = ledger.spend("p", asked, **LIMITS, held_back=True)
    for _ in range(10):  # ten tries that fail cost one release
        again = ledger.spend("p", asked, held_back=True)
        assert (again.id, again.record, again.releases, again.total.upper) == (
            first.id,
            first.record,
            1,
            first.total.upper,
        )
    assert ledger.afford("p", asked, held_back=True).releases == 1
    ledger.begin(first.id)
    with pytest.raises(InvalidInput, match="must begin once"):
        ledger.begin(first.id)
    assert ledger.spend("p", asked, held_back=True).id == 2, "what was begun may have been seen: the next one pays"
    assert len(ledger.releases()) == 2


@pytest.mark.parametrize(
    "other",
    [
        lambda asked: replace(asked, batches=(A, C)),
        lambda asked: replace(asked, what="another question"),
        lambda asked: replace(asked, design="cd" * 32),
        lambda asked: replace(asked, parts=(replace(asked.parts[0], n=20_000, honest=10_000),)),
    ],
)
def test_only_the_very_same_release_takes_over(other: object, ledger: Ledger) -> None:
    asked = replace(entry(), batches=(A, B))
    ledger.spend("p", asked, **LIMITS, held_back=True)
    assert ledger.spend("p", other(asked), held_back=True).id == 2  # type: ignore[operator]
    assert ledger.spend("p", asked).id == 3, "nor does one that is not held back"
    assert ledger.spend("q", asked, **LIMITS, held_back=True).id == 4, "nor another population's"


def test_two_runs_that_took_one_record_put_out_one_output(ledger: Ledger) -> None:
    asked = replace(entry(), batches=(A,))
    first, second = (Ledger(ledger.path).spend("p", asked, **LIMITS, held_back=True) for _ in range(2))
    assert first.id == second.id
    Ledger(ledger.path).begin(second.id)
    with pytest.raises(InvalidInput, match="another run has taken it over"):
        Ledger(ledger.path).begin(first.id)


def test_held_back_releases_keep_the_limit_too(ledger: Ledger) -> None:
    for number in range(6):
        ledger.spend("p", entry(what=f"question {number}"), **LIMITS, held_back=True)
    with pytest.raises(OverLimit):
        ledger.spend("p", entry(what="one more"), held_back=True)
    assert ledger.spend("p", entry(what="question 5"), held_back=True).id == 6, "this one is paid for"
    with pytest.raises(OverLimit):
        ledger.spend("p", entry(what="question 3"), held_back=True)


def test_a_record_that_others_followed_is_not_taken_over(ledger: Ledger) -> None:
    """A report states how many releases there were up to its own: what its number says must stay
    true.
    """
    ledger.spend("p", entry(), **LIMITS, held_back=True)
    ledger.spend("q", entry(), **LIMITS)
    assert ledger.spend("p", entry(), held_back=True).id == 1, "another population's releases are not in between"
    ledger.spend("p", entry(what="another"))
    receipt = ledger.spend("p", entry(), held_back=True)
    assert (receipt.id, receipt.releases) == (4, 3)


def test_how_many_more_fit_is_how_many_more_can_be_spent(ledger: Ledger) -> None:
    assert ledger.more("p", entry(), **LIMITS) == 6
    for left in range(5, -1, -1):
        ledger.spend("p", entry(), **LIMITS)
        assert ledger.more("p", entry()) == left
    with pytest.raises(OverLimit):
        ledger.spend("p", entry())
    assert ledger.more("q", entry(n=10**9), limit_epsilon=5.0, limit_delta=1e-6) == 10_000, "more than anybody counts"


@pytest.fixture(scope="module")
def design() -> Design:
    return Design.of(Poll("histogram", categories=["yes", "no"], n=1000, epsilon=0.5, delta=1e-6))


def released(budget: Budget, design: Design, batches: tuple[str, ...], out: Path, *, fails: bool) -> None:
    """As a shuffler does it: spend, write beside, begin, put in place, publish."""
    spent = budget.spend(design, "histogram, shuffled", batches=batches, held_back=True)

    def write(place: Path) -> None:
        place.write_text("reports")
        if fails:
            raise OSError(28, "No space left on device")
        spent.begin()

    replace_file(out, write)
    spent.publish(DESIGN, out)


def test_tries_that_fail_before_anything_is_seen_cost_one_release_and_block_nobody(
    design: Design, tmp_path: Path
) -> None:
    budget, out = Budget(tmp_path / "budget.sqlite", "p", 2.0, 1e-5), tmp_path / "out"
    for _ in range(5):
        with pytest.raises(InvalidInput, match="No space left"):
            released(budget, design, (A, B), out, fails=True)
    ledger = Ledger(budget.path)
    assert [(each.state, each.begun) for each in ledger.releases()] == [("recorded", None)]
    released(budget, design, (A,), out, fails=False)
    assert [each.state for each in ledger.releases()] == ["recorded", "published"]
    with pytest.raises(InvalidInput, match="some of release 2 with others"):
        released(budget, design, (A, B), tmp_path / "other", fails=False)
    assert not (tmp_path / "other").exists()
    assert ledger.check().faults == ()


def test_how_many_more_rounds_fit_is_said_beforehand(design: Design, tmp_path: Path) -> None:
    budget = Budget(tmp_path / "budget.sqlite", "p", 1.2, 1e-5)
    after_this = budget.afford(design, "histogram")["more"]
    assert not budget.path.exists()
    budget.spend(design, "histogram")
    assert budget.more(design) == after_this >= 1
