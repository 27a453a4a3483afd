"""Several at once, and a budget for some of them: exactly what fits is released, and the others are
told what would.
"""

import json
from collections.abc import Callable
from pathlib import Path

from shuffledp.design import Design
from shuffledp.ledger import Ledger, OverLimit
from shuffledp.release.budget import entry_of
from tests.cli.people import FILES
from tests.faults.conftest import Made
from tests.faults.runner import Runner

LIMIT = {"limit_epsilon": 1.5, "limit_delta": 1e-6}
Record = Callable[[str, object], None]


def fitting(place: Path, design: Design) -> int:
    """How many releases of a design fit, one after the other."""
    ledger, count = Ledger(place / "alone.sqlite"), 0
    try:
        while True:
            ledger.spend("p", entry_of(design, "alone"), **LIMIT)
            count += 1
    except OverLimit:
        return count


def test_spenders_at_once_release_exactly_what_fits(
    runner: Runner, made: Made, tmp_path: Path, record_property: Record
) -> None:
    arguments = (*made.histogram, "--population", "p", "--limit-epsilon", 1.5, "--limit-delta", 1e-6)
    runner.warm(*arguments, "--ledger", tmp_path / "other.sqlite", "--out", tmp_path / "first")
    design = Design.from_json(json.loads((tmp_path / "first" / "design.json").read_text(encoding="utf-8")))
    fit = fitting(tmp_path, design)
    assert 1 <= fit <= 3
    ledger, places = (
        tmp_path / "budget.sqlite",
        [tmp_path / f"result-{i}" for i in range(4)],
    )  # no ledger yet: they also race to create it
    answers = runner.together(*((*arguments, "--ledger", ledger, "--out", place) for place in places))
    accepted = [place for place, (code, _, _) in zip(places, answers, strict=True) if code == 0]
    assert len(accepted) == fit, answers
    for place, (code, said, _) in zip(places, answers, strict=True):
        assert place.exists() == (code == 0)
        if code:
            assert code == 2
            assert said.count("\n") == 1
            assert said.startswith("error: the releases of 'p' together must keep epsilon = 1.5 at delta = 1e-06, got ")
            assert "would still fit." in said
    book = Ledger(ledger)
    written = [json.loads((place / "estimates.json").read_text(encoding="utf-8"))["ledger"]["id"] for place in accepted]
    assert sorted(written) == [each.id for each in book.releases()] == list(range(1, fit + 1))
    assert all({each.name for each in place.iterdir()} == FILES for place in accepted)
    assert book.check().faults == ()
    assert book.total("p").delta(epsilon=1.5).upper <= 1e-6
    assert not list(tmp_path.glob(".*")), "no remains"
    record_property(
        "fault: four spenders at once", f"{fit} released and recorded, {4 - fit} refused; limit kept, ledger clean"
    )


def test_what_would_still_fit_does_fit(runner: Runner, made: Made, tmp_path: Path) -> None:
    arguments = (
        "--ledger",
        tmp_path / "budget.sqlite",
        "--population",
        "p",
        "--limit-epsilon",
        1.1,
        "--limit-delta",
        1e-6,
    )
    runner.warm(*made.histogram, *arguments, "--out", tmp_path / "first")
    code, said, _ = runner.run(*made.histogram, *arguments, "--out", tmp_path / "second")
    assert code == 2
    fits = float(said.split("By itself, epsilon = ")[1].split()[0])
    promised = list(made.histogram)
    promised[promised.index("--epsilon") + 1] = fits
    code, said, _ = runner.run(*promised, *arguments, "--out", tmp_path / "second")
    assert code == 0, said
    assert Ledger(tmp_path / "budget.sqlite").total("p").delta(epsilon=1.1).upper <= 1e-6
