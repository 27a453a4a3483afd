"""Ledgers that were prepared by somebody else: what is planted in the file, or beside it, neither
runs nor passes.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.ledger import Ledger, OverLimit, book, spending
from shuffledp.ledger import file as store
from shuffledp.ledger.schema import SCHEMA, TRUST, Population, begun_seal, output_seal, seal_of
from shuffledp.storage.canonical import digest_of
from tests.ledger.made import DESIGN, LIMITS, entry
from tests.ledger.test_damage import unguarded

BURN = "CREATE TRIGGER sqlitezburn AFTER INSERT ON releases BEGIN DELETE FROM releases WHERE id = NEW.id; END"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Ledger(tmp_path_factory.mktemp("ledger") / "budget.sqlite")
    for _ in range(2):
        made.publish(made.spend("p", entry(), **LIMITS).id, DESIGN)
    return made.path


@pytest.fixture
def ledger(kept: Path, tmp_path: Path) -> Ledger:
    return Ledger(shutil.copy(kept, tmp_path))


def sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def plant(path: Path, *things: tuple[str, str, str, str | None]) -> None:
    """Write to the schema itself, which takes names that CREATE would refuse."""
    sql(
        path,
        "PRAGMA writable_schema = ON",
        *(
            f"INSERT INTO sqlite_master VALUES ('{kind}', '{name}', '{table}', 0, '{text}')"
            for kind, name, table, text in things
        ),
        f"PRAGMA schema_version = {7 + os.getpid() % 1000}",
    )


def refused(ledger: Ledger, words: str) -> None:
    """Found by ``check``, and an obstacle to everything else."""
    faults = ledger.check().faults
    assert any(words in fault for fault in faults), faults
    before = ledger.path.read_bytes()
    for act in (
        lambda: ledger.spend("p", entry()),
        lambda: ledger.afford("p", entry()),
        lambda: ledger.begin(1),
        lambda: ledger.export(),
    ):
        with pytest.raises(InvalidInput, match="must be intact") as said:
            act()
        assert "\n" not in str(said.value)
    assert ledger.path.read_bytes() == before


def test_the_trojan_that_removes_every_new_release_works_where_nobody_looks(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The positive control: without the comparison of the schema, and without reading back, the
    trigger burns what is recorded.
    """
    sql(ledger.path, *(f"DROP TRIGGER {name}" for name in ("releases_delete", "begun_delete")), BURN)
    for module in (store, book):
        monkeypatch.setattr(module, "check_schema", lambda connection, _: 2 if connection.execute(TRUST) else 0)
    monkeypatch.setattr(spending.Ledger, "_sound", lambda _, book: book)
    monkeypatch.setattr(spending, "_note_begun", lambda *_: None)
    with pytest.raises(InvalidInput, match="what was just recorded is not there"):
        ledger.spend("p", entry())
    monkeypatch.setattr(store.Held, "confirm", lambda *_: None)
    with closing(sqlite3.connect(ledger.path)) as connection:
        assert connection.execute("SELECT count(*) FROM releases").fetchone() == (2,)
    sql(ledger.path, "UPDATE sqlite_sequence SET seq = 2")
    assert ledger.spend("p", entry()).id == 3, "acknowledged ..."
    with closing(sqlite3.connect(ledger.path)) as connection:
        assert connection.execute("SELECT count(*) FROM releases").fetchone() == (2,), "... and gone"


@pytest.mark.parametrize(
    "statements",
    [
        (BURN,),
        ("CREATE TRIGGER sqlitexx BEFORE INSERT ON releases WHEN NEW.id > 2 BEGIN SELECT RAISE(IGNORE); END",),
        ("CREATE VIEW sqlite1 AS SELECT 1",),
        ("CREATE INDEX sqliteindex ON releases (record)",),
        ("CREATE TABLE more (x)",),
        ("ANALYZE",),
        ("DROP TRIGGER releases_insert",),
        ("DROP TRIGGER releases_insert", SCHEMA["releases_insert"].replace("only grows", "also shrinks")),
        ("DROP TRIGGER releases_delete", SCHEMA["releases_delete"].replace("BEFORE", "before")),
        ("ALTER TABLE releases ADD COLUMN more TEXT",),
        ("CREATE VIRTUAL TABLE words USING fts5(x)",),
    ],
)
def test_anything_planted_in_the_schema_is_refused_before_it_can_run(
    statements: tuple[str, ...], ledger: Ledger
) -> None:
    sql(ledger.path, *statements)
    refused(ledger, "the tables or their guards were changed: ")
    with pytest.raises(InvalidInput, match="must be intact"):
        ledger.publish(1, DESIGN)


def test_a_trigger_with_a_reserved_name_is_refused_too(ledger: Ledger) -> None:
    plant(ledger.path, ("trigger", "sqlite_guard", "releases", BURN.replace("sqlitezburn", "sqlite_guard")))
    refused(ledger, "sqlite_guard")


def test_tables_that_changed_their_pages_are_refused(ledger: Ledger) -> None:
    one, other = "sqlite_autoindex_releases_1", "sqlite_autoindex_releases_2"
    sql(
        ledger.path,
        "CREATE TEMP TABLE kept AS SELECT name, rootpage FROM sqlite_master",
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM kept WHERE name = '{other}') WHERE name = '{one}'",
        f"UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM kept WHERE name = '{one}') WHERE name = '{other}'",
    )
    refused(ledger, "SQLite finds the file damaged")


def test_two_guards_of_one_name_are_refused(ledger: Ledger) -> None:
    plant(ledger.path, ("trigger", "releases_delete", "releases", SCHEMA["releases_delete"].replace("'", "''")))
    assert ledger.check().faults


def test_insert_or_replace_meets_a_guard_in_any_shell(ledger: Ledger) -> None:
    for table in ("populations", "releases", "published", "begun"):
        columns = "id, population, recorded, entry, version, previous, record" if table == "releases" else "*"
        names = f" ({columns})" if table == "releases" else ""
        with pytest.raises(sqlite3.IntegrityError, match="only grows"):
            sql(ledger.path, f"INSERT OR REPLACE INTO {table}{names} SELECT {columns} FROM {table}")
    assert ledger.check().faults == ()
    # The positive control: without the guards it passes, and the seal does not match.
    unguarded(
        ledger.path,
        "INSERT OR REPLACE INTO releases (id, population, recorded, entry, version, previous, record)"
        " SELECT id, population, recorded, entry || ' ', version, previous, record FROM releases WHERE id = 1",
    )
    refused(ledger, "the seal does not match")


def test_the_texts_of_the_schema_never_change() -> None:
    assert digest_of(SCHEMA) == "efec34a2db2aa6b138f0abc6c18e2eb6d50bfc1836620a9522bafd5ce6c09c3d"


def test_a_seal_is_the_digest_of_what_it_seals() -> None:
    people = Population('caf\u00e9 "\\ \u2028', 0.1 + 0.2, 1e-300, "then")
    row = {"id": 7, "recorded": "now", "entry": '{"a":"\u00e4\\n\x7f"}', "version": "0", "previous": "1" * 64}
    limits = {
        "population": people.name,
        "limit_epsilon": people.limit_epsilon,
        "limit_delta": people.limit_delta,
        "created": "then",
    }
    assert seal_of(people, **row) == digest_of(limits | row)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "statement, fault",
    [
        ("UPDATE sqlite_sequence SET seq = 1", "1 release was recorded, and 2 are left"),
        ("UPDATE sqlite_sequence SET seq = 'two'", "are left"),
        ("DELETE FROM sqlite_sequence", "0 releases were recorded"),
        ("INSERT INTO sqlite_sequence VALUES ('releases', 2)", "are left"),
        ("UPDATE populations SET limit_epsilon = 9e999", "the seal does not match"),
        ("UPDATE populations SET limit_delta = 0.5", "the seal does not match"),
        ("UPDATE populations SET name = 'p' || char(0)", "the seal does not match"),
        ("UPDATE releases SET entry = entry || char(0)", "the seal does not match"),
        ("UPDATE releases SET version = CAST(x'ff' AS TEXT) WHERE id = 2", "decode"),
        ("UPDATE releases SET id = -1 WHERE id = 1", "missing or out of order"),
        ("UPDATE releases SET id = 5 WHERE id = 2", "missing or out of order"),
        ("INSERT INTO published VALUES (3, 'soon', 'x', 'y')", "release 3 was published, and there is no such release"),
        ("INSERT INTO begun VALUES (3, 'soon', 'y')", "release 3 was begun, and there is no such release"),
        ("UPDATE begun SET begun = 'never'", "the note that release 1 was begun was changed"),
        ("DELETE FROM begun WHERE release = 2", "the note that release 2 was begun is missing: it was published"),
        (
            "INSERT INTO releases (id, population, recorded, entry, version, previous, record) VALUES "
            "(-9223372036854775808, 'p', '', '{}', '', 'x', 'y')",
            "missing or out of order before release -9223372036854775808",
        ),
        ("UPDATE published SET output = seal", "the note that release 1 was published was changed"),
        ("UPDATE releases SET population = 'q'", "the seal does not match"),
        ("PRAGMA user_version = 1", "the number of its format was changed to 1"),
        ("PRAGMA user_version = 0", "the number of its format was changed"),
    ],
)
def test_every_edit_is_found_and_stops_all_spending(statement: str, fault: str, ledger: Ledger) -> None:
    unguarded(ledger.path, statement)
    refused(ledger, fault)


def test_a_ledger_of_an_earlier_version_is_not_taken_for_a_damaged_one(ledger: Ledger) -> None:
    newer = ["populations_insert", "releases_insert", "published_insert"]  # and all of begun: format 1 had none
    sql(ledger.path, "DROP TABLE begun", *(f"DROP TRIGGER {each}" for each in newer), "PRAGMA user_version = 1")
    assert ledger.check().faults == ("it has format 1; the earlier version of shuffledp that wrote it can open it",)
    for act in (lambda: ledger.spend("p", entry()), ledger.releases, ledger.export):
        with pytest.raises(InvalidInput, match=r"must have format 2, got 1, which an earlier version") as said:
            act()
        assert "Open it with that version, or start a new ledger" in str(said.value)
        assert "Restore" not in str(said.value)


def test_an_entry_nested_without_end_is_a_sentence(ledger: Ledger) -> None:
    deep = '{"parts":' + "[" * 1_500 + "]" * 1_500 + "}"
    with closing(sqlite3.connect(ledger.path)) as connection:
        (previous,) = connection.execute("SELECT record FROM releases WHERE id = 2").fetchone()
        people = Population(*connection.execute("SELECT * FROM populations").fetchone())
        seal = seal_of(people, id=3, recorded="now", entry=deep, version="0", previous=previous)
        connection.execute(
            "INSERT INTO releases (id, population, recorded, entry, version, previous, record) VALUES (3, 'p', 'now', "
            "?, '0', ?, ?)",
            (deep, previous, seal),
        )
        connection.execute("INSERT INTO begun VALUES (3, 'now', ?)", (begun_seal(seal, "now"),))
        connection.execute("INSERT INTO published VALUES (3, 'now', ?, ?)", (DESIGN, output_seal(seal, "now", DESIGN)))
        connection.commit()
    assert any("release 3 must be readable" in fault for fault in ledger.check().faults)
    with pytest.raises(InvalidInput, match="release 3 must be readable"):
        ledger.spend("p", entry())


def test_whoever_seals_the_whole_file_anew_is_found_by_a_seal_kept_elsewhere(ledger: Ledger) -> None:
    last = ledger.releases()[-1].record
    kept = ledger.check(last=last)
    assert kept.faults == ()
    assert "release 2; no more were recorded after it" in kept.remarks[0]
    ledger.spend("p", entry())
    assert "release 2; 1 more was recorded after it" in ledger.check(last=last).remarks[0]
    unguarded(
        ledger.path,
        "DELETE FROM releases WHERE id > 1",
        "DELETE FROM published WHERE release > 1",
        "DELETE FROM begun WHERE release > 1",
        "UPDATE sqlite_sequence SET seq = 1",
    )
    assert Ledger(ledger.path).check().faults == (), "the positive control: by itself the file looks whole"
    (fault,) = Ledger(ledger.path).check(last=last).faults
    assert f"the record with the seal {last} is not there: the ledger was cut short" in fault
    with pytest.raises(InvalidInput, match="last must be a SHA-256 digest"):
        ledger.check(last="5e")


def test_an_older_copy_put_back_while_we_run_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    copy = Path(shutil.copy(ledger.path, tmp_path / "copy"))
    ledger.spend("p", entry())
    os.replace(copy, ledger.path)
    for act in (lambda: ledger.spend("p", entry()), ledger.releases):
        with pytest.raises(InvalidInput, match="records that were there a moment ago are gone"):
            act()
    assert "a moment ago" in ledger.check().faults[0]
    assert len(Ledger(ledger.path).releases()) == 2, "who comes anew cannot know, but for a seal kept elsewhere"


def test_a_ledger_that_vanishes_while_we_run_is_not_made_anew(ledger: Ledger, tmp_path: Path) -> None:
    assert len(ledger.releases()) == 2
    ledger.path.rename(tmp_path / "away")
    for act in (
        lambda: ledger.spend("p", entry(), **LIMITS),
        lambda: ledger.publish(1, DESIGN),
        lambda: ledger.begin(1),
    ):
        with pytest.raises(InvalidInput, match=r"must be there, got none|a moment ago are gone"):
            act()
    assert not ledger.path.exists()


def swapping(monkeypatch: pytest.MonkeyPatch, swap: Callable[[], object], *, when: str) -> None:
    """Do something to the file while a spender holds it: before its connection is opened, or after
    its commit.
    """
    transaction = store.Held.transaction

    @contextmanager
    def swapped(self: store.Held):  # type: ignore[no-untyped-def]
        if when == "before":
            swap()
        with transaction(self) as connection:
            yield connection
        if when == "after":
            swap()

    monkeypatch.setattr(store.Held, "transaction", swapped)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("how", ["copy", "link"])
def test_a_file_that_changes_places_under_our_hands_acknowledges_nothing(
    how: str, when: str, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Path(shutil.copy(ledger.path, tmp_path / "other.sqlite"))

    def swap() -> None:
        if how == "copy":
            os.replace(other, ledger.path)
        else:
            ledger.path.rename(tmp_path / "away")
            ledger.path.symlink_to(other)

    swapping(monkeypatch, swap, when=when)
    with pytest.raises(InvalidInput, match="what was just recorded is not there"):
        ledger.spend("p", entry())


def hot_journal(path: Path) -> bytes:
    """A journal that would undo the last change of a database: what a crash leaves behind, or an
    enemy.
    """
    script = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA cache_size = 1'); c.execute('PRAGMA cache_spill = 1'); c.execute('BEGIN')\n"
        "c.execute('DELETE FROM t'); c.execute('INSERT INTO t VALUES (zeroblob(100000))')\n"
        "os._exit(0)\n"
    )
    sql(path, "CREATE TABLE t (x)", "INSERT INTO t VALUES ('as it was')")
    subprocess.run([sys.executable, "-c", script, path], check=True)
    return path.with_name(path.name + "-journal").read_bytes()


def test_a_journal_planted_beside_a_ledger_is_not_believed(ledger: Ledger, tmp_path: Path) -> None:
    other = tmp_path / "any.sqlite"
    assert hot_journal(other)
    with closing(sqlite3.connect(other)) as connection:
        assert connection.execute("SELECT x FROM t").fetchall() == [("as it was",)], (
            "the positive control: SQLite plays it back"
        )
    content = ledger.path.read_bytes()
    planted = ledger.path.with_name("budget.sqlite-journal")
    planted.write_bytes(hot_journal(tmp_path / "third.sqlite"))
    for act in (lambda: ledger.spend("p", entry()), ledger.releases):
        with pytest.raises(InvalidInput, match="must not lie beside the ledger, got a journal"):
            act()
    assert (ledger.path.read_bytes(), planted.exists()) == (content, True)
    planted.unlink()
    assert ledger.spend("p", entry()).id == 3


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_a_pipe_or_a_link_in_the_place_of_a_log_is_refused_at_once(end: str, ledger: Ledger) -> None:
    log = ledger.path.with_name(ledger.path.name + end)
    for make in (lambda: os.mkfifo(log), lambda: log.symlink_to("elsewhere")):
        make()
        with pytest.raises(InvalidInput, match="got something that is not an ordinary file"):
            ledger.spend("p", entry())
        log.unlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file that belongs to somebody else")
def test_a_log_of_somebody_who_may_not_write_the_ledger_is_refused(ledger: Ledger) -> None:
    os.chown(ledger.path, 1234, 1234)
    log = ledger.path.with_name("budget.sqlite-wal")
    log.write_bytes(b"x")
    os.chown(log, 4321, 4321)
    with pytest.raises(InvalidInput, match="somebody who may not write the ledger"):
        ledger.spend("p", entry())
    log.unlink()
    assert ledger.spend("p", entry()).id == 3


def test_a_ledger_that_left_its_mode_goes_back_to_it(ledger: Ledger) -> None:
    sql(ledger.path, "PRAGMA journal_mode = DELETE")
    assert ledger.spend("p", entry()).id == 3
    with closing(sqlite3.connect(ledger.path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_the_limit_holds_after_every_attack_that_was_undone(ledger: Ledger) -> None:
    sql(ledger.path, BURN)
    for _ in range(3):
        with pytest.raises(InvalidInput, match="must be intact"):
            ledger.spend("p", entry())
    sql(ledger.path, "DROP TRIGGER sqlitezburn")
    for _ in range(4):
        ledger.spend("p", entry())
    with pytest.raises(OverLimit):
        ledger.spend("p", entry())
