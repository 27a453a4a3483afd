"""A release that is held back until its file is in place: what fails before that costs once, and
blocks nobody.
"""

from pathlib import Path

import pytest

from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.ledger import Ledger
from shuffledp.release.budget import Budget
from shuffledp.storage.files import replace_file
from tests.ledger.made import DESIGN

A, B = "a" * 32, "b" * 32


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
