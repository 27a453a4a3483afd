"""A file that holds every envelope once, whatever ends the program, and no order after the close."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from shuffledp.errors import InvalidInput
from shuffledp.survey.collection import Collection
from shuffledp.survey.stores import sqlite
from shuffledp.survey.stores.fingerprints import Fingerprints
from shuffledp.survey.stores.sqlite import SQLiteStore
from shuffledp.survey.stores.store import Added, Stocked, Unavailable
from shuffledp.survey.wire import Delivery, hash_of_code, new_codes
from tests.survey.memory_folder import memory_folder, small_files
from tests.survey.shufflers import envelopes
from tests.survey.studies import study

LEFT = {"reports.sqlite", ".reports.sqlite.lock"}


@pytest.fixture
def folder() -> Iterator[Path]:
    with memory_folder() as made:
        yield made


@contextmanager
def stored(folder: Path, **changed: Any) -> Iterator[SQLiteStore]:
    store = SQLiteStore(folder / "reports.sqlite", study(**changed))
    try:
        yield store
    finally:
        store.stop()


def upload(some: list[bytes]) -> list[Delivery]:
    return [Delivery(each, None) for each in some]


def test_the_bytes_that_stay_say_nothing_about_order_batches_or_codes(folder: Path) -> None:
    collection = study(codes=True)
    some, codes = envelopes(collection, 700), [hash_of_code(collection.digest, code) for code in new_codes(900)]
    left = []
    for number, size in enumerate((7, 50, 700)):
        own = folder / str(number)
        own.mkdir()
        random.Random(number).shuffle(some)
        random.Random(-number).shuffle(codes)
        with stored(own, codes=True) as store:
            store.invite(codes)
            pairs = [Delivery(envelope, code) for envelope, code in zip(some, codes, strict=False)]
            for start in range(0, 700, size):
                assert store.add([pairs[start : start + size]]) == [Added(size, size)]
            assert store.close(500) == Stocked(700, True)
            left.append((b"".join(store.sealed()), (own / "reports.sqlite").read_bytes()))
            assert set(os.listdir(own)) == LEFT
    assert left[0] == left[1] == left[2]
    assert left[0][0] == b"".join(sorted(some))
    assert not any(code in left[0][1] for code in codes), "invitations are forgotten"
    with stored(folder / "0", codes=True) as store:
        assert store.invite(codes) == 0
        assert store.stock() == Stocked(700, True)
    assert (folder / "0" / "reports.sqlite").read_bytes() == left[0][1], "nobody writes to it any more"


def test_what_is_let_go_of_is_zeros(folder: Path) -> None:
    """Seen through other names of the same files."""
    some = envelopes(study(), 600)
    with stored(folder) as store:
        store.add([upload(some[:300])])
        os.link(folder / "reports.sqlite-wal", folder / "log")
        assert some[0] in (folder / "log").read_bytes(), "the log has what arrived, in its order"
    assert set((folder / "log").read_bytes()) == {0}
    with stored(folder) as store:
        store.add([upload(some[300:])])
        os.link(folder / "reports.sqlite", folder / "old")
        store.close(500)
    assert set((folder / "old").read_bytes()) == {0}


def test_a_log_loses_its_head_before_the_rest(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two writes, a power cut may keep the second: the first half of a log, applied to a file that
    has all of it, would take acknowledged reports back.
    """
    log, kept, sync = folder / "reports.sqlite-wal", [], os.fsync

    def watched(handle: int) -> None:
        if log.exists() and os.path.samestat(log.stat(), os.fstat(handle)):
            kept.append(log.read_bytes())
        sync(handle)

    with stored(folder) as store:
        for each in envelopes(study(), 9):
            store.add([upload([each])])
        whole = log.read_bytes()
        monkeypatch.setattr("os.fsync", watched)
    head = min(4096, len(whole))
    assert kept == [bytes(head) + whole[head:], bytes(len(whole))]


def killed_while_closing(folder: Path, more: list[bytes], line: int, collection: Collection | None = None) -> bool:
    """Add and close in a process that kills itself when it first comes to some line of the store's
    code; return whether it did.
    """
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    passed: set[int] = set()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename != sqlite.__file__:
            return None
        if event == "line":
            passed.add(frame.f_lineno)
        if len(passed) == line:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    store = SQLiteStore(folder / "reports.sqlite", collection or study())
    store.add([upload(more)] if more else [])
    sys.settrace(trace)
    store.close(500)
    os._exit(0)


@pytest.mark.long
def test_a_close_that_is_killed_at_any_line_loses_nothing(folder: Path, record_property: pytest.RecordProperty) -> None:
    some, begun = envelopes(study(), 600), folder / "begun"
    begun.mkdir()
    with stored(begun) as store:
        store.add([upload(some[:500])])
    closed, lines, ends = None, 0, set()
    while True:
        lines += 1
        own = folder / str(lines)
        shutil.copytree(begun, own)
        killed = killed_while_closing(own, some[500:], lines)
        with stored(own) as store:
            ends.add(store.stock())
            assert store.stock().reports == 600
            assert store.add([upload(some)]) == [Added(600, 0)]
            store.close(500)
            assert b"".join(store.sealed()) == b"".join(sorted(some))
        assert set(os.listdir(own)) == LEFT
        closed = closed or (own / "reports.sqlite").read_bytes()
        assert (own / "reports.sqlite").read_bytes() == closed
        shutil.rmtree(own)
        if not killed:
            break
    assert ends == {Stocked(600, False), Stocked(600, True)}
    assert lines > 50
    record_property("fault: closes of a store that were killed", lines - 1)


def test_a_full_disk_acknowledges_nothing_and_ends_well(folder: Path) -> None:
    some = envelopes(study(), 900)
    with small_files(4096):
        for _ in range(2):  # a first start leaves nothing that the next one stumbles over
            with pytest.raises(InvalidInput, match=r"must be usable, got: .*disk"):
                SQLiteStore(folder / "reports.sqlite", study())
    with stored(folder) as store:
        store.add([upload(some[:500])])
        with small_files(16384):
            with pytest.raises(Unavailable, match="Send the same bytes again later") as refused:
                store.add([upload(some[500:700]), upload(some[700:])])
            assert (refused.value.status, refused.value.wait) == (503, 30)
            with pytest.raises(Unavailable):
                store.close(500)
            assert set(os.listdir(folder)) <= LEFT | {"reports.sqlite-wal"}
            assert store.stock() == Stocked(500, False)
            assert store.add([upload(some[:500])]) == [Added(500, 0)], "what is there is acknowledged again"
        assert store.add([upload(some[500:])]) == [Added(400, 400)], "there is room again"
        assert store._connection is not None
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(Unavailable, match="full"):
            store.add([upload(envelopes(study(), 100, seed=1))])
        assert store.close(500) == Stocked(900, True)


def test_one_shuffler_at_a_time(folder: Path) -> None:
    with stored(folder), pytest.raises(InvalidInput, match="one shuffler at a time"):
        SQLiteStore(folder / "reports.sqlite", study())
    with stored(folder) as store:
        assert store.stock() == Stocked(0, False)
        assert (folder / "reports.sqlite").stat().st_mode & 0o077 == 0


def test_another_file_is_refused_and_left_as_it_is(folder: Path) -> None:
    path = folder / "reports.sqlite"
    with stored(folder) as store:
        store.add([upload(envelopes(study(), 500))])
    sound = path.read_bytes()
    foreign = folder / "foreign"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE envelopes(envelope BLOB PRIMARY KEY)")
    connection.close()
    half = len(sound) // 2
    for content, words in [
        (b"", "got another file"),
        (b"a diary", "got another file"),
        (foreign.read_bytes(), "got another file"),
        (sound[:half], "must be a sound store"),
        (sound[:100] + bytes(len(sound) - 100), "must be a sound store"),
        (sound[:half] + bytes(2000) + sound[half + 2000 :], "must be a sound store"),
        (sound[:60] + (2).to_bytes(4) + sound[64:], "version 1, got 2"),
    ]:
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match=words):
            SQLiteStore(path, study())
        assert path.read_bytes() == content
    path.write_bytes(sound)
    with pytest.raises(InvalidInput, match="must be the store of collection"):
        SQLiteStore(path, study(question="Another?"))
    with pytest.raises(InvalidInput, match="got a folder"):
        SQLiteStore(folder, study())
    with stored(folder) as store:
        assert store.stock() == Stocked(500, False)


def test_an_old_file_that_is_nobodys_is_left_alone(folder: Path) -> None:
    aside = folder / ".reports.sqlite.old"
    aside.write_bytes(b"precious")
    with pytest.raises(InvalidInput, match="Restore the file"):
        SQLiteStore(folder / "reports.sqlite", study())
    aside.unlink()
    with stored(folder):
        pass
    aside.write_bytes(b"precious")
    with pytest.raises(InvalidInput, match="must not be beside an open store"):
        SQLiteStore(folder / "reports.sqlite", study())
    assert aside.read_bytes() == b"precious"


def test_a_log_without_its_file_is_not_applied_to_a_new_one(folder: Path) -> None:
    """It may hold what was acknowledged: nobody but the operator can say whether that counts."""
    path, aside = folder / "reports.sqlite", folder / "aside"
    with stored(folder) as store:
        store.add([upload(envelopes(study(), 3))])
        shutil.copy(folder / "reports.sqlite-wal", aside)
    path.unlink()
    log = aside.rename(folder / "reports.sqlite-wal")
    content = log.read_bytes()
    for collection in (study(), study(question="Another?")):
        with pytest.raises(InvalidInput, match="Restore the file that was removed"):
            SQLiteStore(path, collection)
    assert log.read_bytes() == content
    assert not path.exists()


def test_no_rollback_journal_is_there_when_files_change_places(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the disk can leave one, hot, and it would be played back into the new file: to go
    back from the log to a journal before the close is one write too many.
    """
    said = []

    class Overheard(sqlite3.Connection):
        def execute(self, statement: str, *given: Any) -> sqlite3.Cursor:
            said.append(statement)
            return super().execute(statement, *given)

    connect = sqlite3.connect
    monkeypatch.setattr("sqlite3.connect", lambda *given, **named: connect(*given, factory=Overheard, **named))
    with stored(folder) as store:
        store.add([upload(envelopes(study(), 3))])
        said.clear()
        assert store.close(1) == Stocked(3, True)
    assert [statement for statement in said if "journal_mode" in statement] == ["PRAGMA journal_mode=OFF"]
    assert set(os.listdir(folder)) == LEFT


@pytest.mark.parametrize(("at_once", "few"), [(1 << 28, 1 << 12), (1000, 1 << 12), (1, 7)])
def test_blocks_are_put_in_order_however_little_fits_into_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, few: int
) -> None:
    monkeypatch.setattr("shuffledp.survey.stores.sqlite.AT_ONCE", at_once)
    monkeypatch.setattr("shuffledp.survey.stores.fingerprints.FEW", few)
    monkeypatch.setattr("shuffledp.survey.stores.sqlite.BLOCK", 495)
    some = [*envelopes(study(), 300), bytes(49), bytes(48) + b"\1", b"\1" + bytes(48), b"\xff" * 49]
    with stored(folder) as store:
        for start in range(0, len(some), 19):
            assert store.add([upload(some[start : start + 19])] * 2) == [
                Added(len(some[start : start + 19]), len(some[start : start + 19])),
                Added(len(some[start : start + 19]), 0),
            ]
        assert store.add([upload(some)]) == [Added(len(some), 0)], "all are known"
        store.close(1)
        blocks = list(store.sealed())
        assert b"".join(blocks) == b"".join(sorted(some))
        assert {len(block) for block in blocks[:-1]} == {490}
        assert store.add([upload(some)]) == [Added(len(some), 0)], "after the close, too"
    with stored(folder) as again:
        assert b"".join(again.sealed()) == b"".join(sorted(some))


def test_what_is_sent_again_is_compared_block_by_block(folder: Path) -> None:
    """With one query for each, an upload of 10,000 long reports that was sent again took half a minute."""
    some, asked = envelopes(study("oue"), 900), list[str]()
    length = len(some[0])
    with stored(folder, name="oue") as store:
        store.add([upload(some)])
        assert store._connection is not None
        store._connection.set_trace_callback(asked.append)
        assert store.add([upload(some)]) == [Added(900, 0)]
        assert len(asked) == len(store._ends) == -(-900 // (sqlite.BLOCK // length))
        sizes = [len(block) for (block,) in store._connection.execute("SELECT envelopes FROM blocks")]
        assert max(sizes) <= sqlite.BLOCK


def test_a_file_that_another_program_uses_is_not_called_broken(folder: Path) -> None:
    with stored(folder):
        pass
    with sqlite3.connect(folder / "reports.sqlite", isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.MonkeyPatch.context() as patch:
            connect = sqlite3.connect
            patch.setattr("sqlite3.connect", lambda *given, **named: connect(*given, timeout=0, **named))
            with pytest.raises(InvalidInput, match="must be usable, got: database is locked"):
                SQLiteStore(folder / "reports.sqlite", study())
        other.execute("ROLLBACK")
    other.close()


def test_a_commit_that_stands_though_it_failed_is_known(folder: Path) -> None:
    """The disk may have it when the answer is lost: then the same bytes are acknowledged, and counted once."""

    class Lost(sqlite3.Connection):
        def execute(self, statement: str, *given: Any) -> sqlite3.Cursor:
            done = super().execute(statement, *given)
            if statement == "COMMIT" and lose:
                lose.clear()
                raise sqlite3.OperationalError("disk I/O error")
            return done

    lose: list[bool] = []
    with pytest.MonkeyPatch.context() as patch:
        connect = sqlite3.connect
        patch.setattr("sqlite3.connect", lambda *given, **named: connect(*given, factory=Lost, **named))
        with stored(folder) as store:
            some = envelopes(study(), 3)
            store.add([upload(some[:1])])
            lose.append(True)
            with pytest.raises(Unavailable):
                store.add([upload(some[1:])])
            assert store.add([upload(some[1:])]) == [Added(2, 0)]
            assert store.stock() == Stocked(3, False)
            store.close(1)
            assert b"".join(store.sealed()) == b"".join(sorted(some))


def test_envelopes_with_one_fingerprint_are_told_apart(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if all fingerprints met, which keys that nobody knows make all but impossible."""
    monkeypatch.setattr(Fingerprints, "marks", lambda _, joined: np.zeros(len(joined) // 49, dtype=np.uint64))
    some = envelopes(study(), 40)
    with stored(folder) as store:
        for start in range(0, 40, 8):
            answer = store.add([upload(some[start : start + 8]), upload(some[: start + 4])])
            assert answer == [Added(8, 8), Added(start + 4, 0)]
        assert store.add([upload(some)]) == [Added(40, 0)]
        store.close(1)
        assert b"".join(store.sealed()) == b"".join(sorted(some))


@pytest.mark.parametrize("step", ["marks", "add", "_merge"])
def test_memory_that_runs_out_after_a_commit_doubles_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The block is in the file, and the index knows half of it: all is read again before the next
    answer; and of the log nothing is left behind where a file was.
    """
    monkeypatch.setattr("shuffledp.survey.stores.fingerprints.FEW", 2)

    def exhausted(*_: object) -> None:
        raise MemoryError

    some = envelopes(study(), 12)
    with stored(folder) as store:
        store.add([upload(some[:4])])
        os.link(folder / "reports.sqlite-wal", folder / "log")
        with monkeypatch.context() as patch:
            patch.setattr(Fingerprints, step, exhausted)
            with pytest.raises(Unavailable, match="not enough memory"):
                store.add([upload(some[4:])])
        assert set((folder / "log").read_bytes()) == {0}
        added = store.add([upload(some)])
        assert added in ([Added(12, 0)], [Added(12, 8)])
        store.close(1)
        assert b"".join(store.sealed()) == b"".join(sorted(some))
