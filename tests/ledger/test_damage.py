"""Files that are no ledger, or are one no more: every one is refused or reported, in one
sentence."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.ledger import Ledger, OverLimit, file, spending
from tests.ledger.made import DESIGN, LIMITS, entry


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Ledger(tmp_path_factory.mktemp("ledger") / "budget.sqlite")
    for _ in range(2):
        made.publish(made.spend("p", entry(), **LIMITS).id, DESIGN)
    made.spend("p", entry())
    return made.path


@pytest.fixture
def ledger(kept: Path, tmp_path: Path) -> Ledger:
    return Ledger(shutil.copy(kept, tmp_path))


def unguarded(path: Path, *statements: str) -> None:
    """What somebody with an SQL shell could do, the guards removed and put back."""
    connection = sqlite3.connect(path)
    guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for statement in [*(f"DROP TRIGGER {name}" for name, _ in guards), *statements, *(sql for _, sql in guards)]:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_healthy_ledger_has_no_faults_and_mentions_what_was_never_published(ledger: Ledger) -> None:
    found = ledger.check()
    assert found.faults == ()
    assert len(found.remarks) == 1
    assert "never published: 3." in found.remarks[0]


@pytest.mark.parametrize("table", ["populations", "releases", "published"])
def test_the_tables_only_grow(table: str, ledger: Ledger) -> None:
    column = {"populations": "limit_epsilon = 9", "releases": "entry = '{}'", "published": "output = ''"}[table]
    connection = sqlite3.connect(ledger.path)
    for statement in (f"UPDATE {table} SET {column}", f"DELETE FROM {table}"):
        with pytest.raises(sqlite3.IntegrityError, match="only grows"):
            connection.execute(statement)
    connection.close()
    assert ledger.check().faults == ()


@pytest.mark.parametrize(
    "statement, fault",
    [
        (
            "UPDATE releases SET entry = replace(entry, '\"rounds\":1', '\"rounds\":2') WHERE id = 2",
            "release 2, or the limits",
        ),
        ("UPDATE releases SET recorded = '2001-01-01' WHERE id = 1", "release 1, or the limits"),
        ("UPDATE populations SET limit_epsilon = 9", "release 1, or the limits"),
        ("DELETE FROM releases WHERE id = 1", "missing or out of order before release 2"),
        ("DELETE FROM releases WHERE id = 3", "3 releases were recorded, and 2 are left"),
        ("UPDATE published SET output = replace(output, 'a', 'c')", "published was changed"),
        ("INSERT INTO populations VALUES ('q', 9, 0.5, 'now')", "without a single release: q"),
        ("CREATE TABLE more (x)", "the tables or their guards were changed: more"),
    ],
)
def test_a_tampered_row_is_reported_and_nothing_more_is_spent(statement: str, fault: str, ledger: Ledger) -> None:
    unguarded(ledger.path, statement)
    assert any(fault in each for each in ledger.check().faults)
    with pytest.raises(InvalidInput, match="must be intact"):
        ledger.spend("p", entry())


def test_missing_guards_are_reported(ledger: Ledger) -> None:
    connection = sqlite3.connect(ledger.path)
    connection.execute("DROP TRIGGER releases_delete")
    connection.close()
    assert ledger.check().faults == ("the tables or their guards were changed: releases_delete",)


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.95])
def test_a_truncated_file_is_a_fault_and_is_not_spent_from(keep: float, ledger: Ledger) -> None:
    content = ledger.path.read_bytes()
    ledger.path.write_bytes(content[: int(len(content) * keep)])
    assert Ledger(ledger.path).check().faults
    with pytest.raises(InvalidInput, match="must be"):
        Ledger(ledger.path).spend("p", entry())


def test_every_overwritten_page_is_noticed(ledger: Ledger) -> None:
    content = ledger.path.read_bytes()
    for start in range(4096, len(content), 4096):
        ledger.path.write_bytes(content[:start] + b"\x5a" * 4096 + content[start + 4096 :])
        assert Ledger(ledger.path).check().faults, f"page {start // 4096 + 1}"
        with pytest.raises(InvalidInput, match="must be"):
            Ledger(ledger.path).spend("p", entry())


def test_what_is_no_ledger_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    text, other, newer = tmp_path / "notes.txt", tmp_path / "other.sqlite", tmp_path / "newer.sqlite"
    text.write_text(
        "not a database, but long enough to be taken for one, were it not for its first sixteen bytes\n" * 9
    )
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE songs (title)")
    connection.close()
    Ledger(newer).spend("p", entry(), **LIMITS)
    connection = sqlite3.connect(newer)
    connection.execute("PRAGMA user_version = 3")
    connection.close()
    for path, reason in (
        (text, "not an SQLite database"),
        (other, "another program's"),
        (newer, "a newer shuffledp wrote it"),
        (tmp_path, "got a folder"),
    ):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(InvalidInput, match=reason):
            Ledger(path)
        assert before == (path.read_bytes() if path.is_file() else b"")
    with pytest.raises(InvalidInput, match=r"the folder of .* must exist"):
        Ledger(tmp_path / "nowhere" / "budget.sqlite")


def test_an_empty_file_becomes_a_ledger_with_the_first_release(tmp_path: Path) -> None:
    path = tmp_path / "budget.sqlite"
    path.touch()
    assert Ledger(path).populations() == ()
    assert Ledger(path).spend("p", entry(), **LIMITS).id == 1
    assert [each.name for each in tmp_path.iterdir()] == ["budget.sqlite"], "nothing is left beside it"


def test_questions_leave_no_trace_while_others_write(ledger: Ledger) -> None:
    folder, before = ledger.path.parent, ledger.path.stat().st_mtime_ns
    assert len(ledger.export()["populations"]) == 1
    assert ledger.check().faults == ()
    assert ([each.name for each in folder.iterdir()], ledger.path.stat().st_mtime_ns) == (["budget.sqlite"], before)
    writer = sqlite3.connect(ledger.path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    assert len(ledger.releases()) == 3, "a reader does not wait for a writer"
    writer.execute("ROLLBACK")
    writer.close()


def test_a_link_to_a_ledger_is_the_same_ledger(ledger: Ledger, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(ledger.path)
    assert Ledger(link).spend("p", entry()).id == 4
    assert len(ledger.releases()) == 4
    assert link.is_symlink()


def test_a_ledger_with_two_names_is_refused_until_it_has_one(ledger: Ledger, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    other.hardlink_to(ledger.path)
    for name in (ledger.path, other):
        with pytest.raises(InvalidInput, match="must have one name, got 2 hard links"):
            Ledger(name)
    with pytest.raises(InvalidInput, match="must have one name"):
        ledger.spend("p", entry())
    other.unlink()
    assert ledger.spend("p", entry()).id == 4


def test_a_ledger_mounted_as_a_single_file_is_refused(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "my ledger \u00e9"
    place.mkdir()
    moved = ledger.path.rename(place / "budget.sqlite")
    table = tmp_path / "mountinfo"
    monkeypatch.setattr(file, "MOUNTS", table)
    line = "36 35 98:0 /mnt1 {} rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
    table.write_text(line.format(str(place).replace(" ", "\\040")))
    assert len(Ledger(moved).releases()) == 3, "a mounted folder is fine"
    table.write_text(line.format(str(moved).replace(" ", "\\040")))
    with pytest.raises(InvalidInput, match="Mount its folder instead"):
        Ledger(moved)


def test_a_new_ledger_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "budget.sqlite"
    before = os.umask(0)
    try:
        Ledger(path).spend("p", entry(), **LIMITS)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600


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

    asked = spending.terms_asked
    monkeypatch.setattr(spending, "terms_asked", lambda *rest: sums.append(rest) or asked(*rest))
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
