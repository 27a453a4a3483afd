"""The ledger among crashes, full disks and other processes: nothing lost, nothing overspent,
nothing half.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shuffledp.ledger import Ledger, OverLimit, charge, spending
from tests.ledger.made import LIMITS, entry

ROOT = Path(__file__).parents[2]
FIT = 6  # releases of ``entry()`` that fit into LIMITS, one after the other


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.ledger.spender", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> Any:
    out, error = process.communicate()
    assert process.returncode == 0, error
    return json.loads(out.splitlines()[-1])


def test_six_releases_fit_one_after_the_other_and_a_seventh_does_not(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.sqlite")
    receipts = [ledger.spend("p", entry(), **LIMITS) for _ in range(FIT)]
    with pytest.raises(OverLimit):
        ledger.spend("p", entry())
    assert [each.id for each in receipts] == list(range(1, FIT + 1))
    assert all(each.total.upper <= LIMITS["limit_epsilon"] for each in receipts)
    assert len(ledger.releases("p")) == FIT, "the refused one is not recorded"


def test_four_processes_at_once_spend_exactly_what_one_could(tmp_path: Path) -> None:
    path = tmp_path / "budget.sqlite"  # it does not exist: they also race to create it
    told = finish(start("race", *[path] * 4, 2))
    accepted = sorted(id for each in told for id in each["accepted"])
    assert accepted == list(range(1, FIT + 1)), "every id was acknowledged once"
    assert sum(each["refused"] for each in told) == 8 - FIT
    ledger = Ledger(path)
    assert ledger.total("p").delta(epsilon=LIMITS["limit_epsilon"]).upper <= LIMITS["limit_delta"]
    assert ledger.check().faults == ()


def test_two_names_of_one_ledger_spend_exactly_what_one_could_even_if_nobody_notices_them(tmp_path: Path) -> None:
    path, other = tmp_path / "budget.sqlite", tmp_path / "elsewhere" / "other.sqlite"
    Ledger(path).spend("p", entry(), **LIMITS)
    other.parent.mkdir()
    other.hardlink_to(path)
    told = finish(start("blind", path, other, path, other, 2))
    assert sum(len(each["accepted"]) for each in told) == FIT - 1
    other.unlink()
    assert [release.id for release in Ledger(path).releases("p")] == list(range(1, FIT + 1))
    assert Ledger(path).check().faults == ()


def test_a_release_that_somebody_overtook_is_added_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, sums, holding = tmp_path / "budget.sqlite", [], spending.held
    for _ in range(FIT - 1):
        Ledger(path).spend("p", entry(), **LIMITS)

    def overtaken(whose: str) -> None:
        def late(place: Path, **options: bool) -> object:
            monkeypatch.setattr(spending, "held", holding)
            Ledger(path).spend(whose, entry(), **LIMITS)
            sums.clear()
            return holding(place, **options)

        monkeypatch.setattr(spending, "held", late)

    within = charge._within
    monkeypatch.setattr(charge, "_within", lambda *rest: sums.append(rest) or within(*rest))
    overtaken("q")
    assert Ledger(path).spend("r", entry(), **LIMITS).id == FIT + 1
    assert sums == [], "what others spend elsewhere changes nothing"
    overtaken("p")
    with pytest.raises(OverLimit):
        Ledger(path).spend("p", entry())
    assert len(sums) == 1
    assert len(Ledger(path).releases("p")) == FIT
    assert Ledger(path).check().faults == ()


@pytest.mark.long
@pytest.mark.parametrize("deaths, quick", [(12, []), (20, ["quick"])], ids=["accounting", "writing"])
def test_a_kill_loses_no_acknowledged_record_and_leaves_nothing_half(
    tmp_path: Path, deaths: int, quick: list[str]
) -> None:
    path = tmp_path / "budget.sqlite"
    acknowledged = finish(start("kill", path, deaths, *quick))["acknowledged"]
    ledger = Ledger(path)
    recorded = [release.id for release in ledger.releases("p")]
    assert len(acknowledged) >= deaths
    assert acknowledged == sorted(set(acknowledged))
    assert set(acknowledged) <= set(recorded)
    assert recorded == list(range(1, len(recorded) + 1))
    assert len(recorded) <= len(acknowledged) + deaths, "a death leaves at most one record whose receipt was not seen"
    assert ledger.check().faults == ()


def test_a_kill_while_a_ledger_is_created_leaves_none_or_one_that_works(tmp_path: Path) -> None:
    told = finish(start("kill-fresh", tmp_path, 20, "quick"))["acknowledged"]
    for name, acknowledged in told.items():
        ledger = Ledger(tmp_path / name)
        before = len(ledger.releases())
        assert acknowledged <= before <= 1
        assert ledger.spend("q", entry(), **LIMITS).id == before + 1
        assert ledger.check().faults == ()


def test_a_full_disk_is_one_sentence_and_the_ledger_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "budget.sqlite"
    Ledger(path).spend("p", entry(), **LIMITS)
    told = finish(start("starve", path, 0, 1, 4096, 16384, 30000, 40000, 60000))
    assert told["sentences"], "some sizes are too small to write anything"
    for sentence in told["sentences"]:
        assert "Nothing was recorded; " in sentence
        assert "\n" not in sentence
    ledger = Ledger(path)
    assert {int(each) for each in told["accepted"]} <= {each.id for each in ledger.releases("p")}
    assert len(ledger.releases("p")) <= FIT
    assert ledger.check().faults == ()
    assert Ledger(path).spend("p", entry()).id == len(ledger.releases("p")), "with room again, it goes on"
