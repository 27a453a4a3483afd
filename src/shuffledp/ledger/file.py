"""The SQLite file of a ledger: opened to be read without a trace, or to be written in one
transaction that is read back before anybody is told.

Locks. Whoever writes holds a lock on the file itself (``flock``), whatever name it was reached by,
beside SQLite's own locks, which belong to a name. Closing any handle of a file gives up all of
SQLite's locks that this process has on it, so its threads take turns. A child that was forked
meanwhile inherits neither: it gets a turn of its own, and closes its copy of the handle, which
would otherwise keep the lock when we let go.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from shuffledp.errors import InvalidInput, Refusal
from shuffledp.ledger.schema import APPLICATION, FORMAT, SCHEMA, TRUST, check_schema, damaged
from shuffledp.storage.files import check_file, starved, unwritable

T = TypeVar("T")
OLDEST = (3, 38, 0)  # strict tables, generated columns from JSON
WAIT = 60.0  # seconds for another process to finish its transaction
ATTEMPTS = 50  # to read while others write
PAUSE = 0.01  # seconds between two looks at a lock
MOUNTS = Path("/proc/self/mountinfo")
LOGS = ("-wal", "-shm", "-journal")
PRAGMAS = (
    "synchronous = FULL",
    "foreign_keys = ON",
    "recursive_triggers = ON",  # else INSERT OR REPLACE removes rows behind the guards' back
    "trusted_schema = OFF",  # until ``check_schema`` has found it to be ours
    "cell_size_check = ON",
    "mmap_size = 0",
)

_turn = threading.RLock()
_handles: set[int] = set()


def _forget() -> None:
    """In a forked child: what other threads of the parent held is not ours."""
    global _turn
    _turn = threading.RLock()
    while _handles:
        os.close(_handles.pop())


os.register_at_fork(after_in_child=_forget)


def check_place(path: Path) -> Path:
    """Return ``path`` if a ledger stands there or could; nothing is created."""
    if path.is_dir():
        remedy = f"Add a file name, such as {str(path / 'budget.sqlite')!r}."
        raise InvalidInput(Refusal(f"{str(path)!r} must be a file", "a folder", remedy))
    check_file(path)
    if sqlite3.sqlite_version_info < OLDEST:
        rule, remedy = f"SQLite must be at least {'.'.join(map(str, OLDEST))}", "Use a newer Python, which brings one."
        raise InvalidInput(Refusal(rule, sqlite3.sqlite_version, remedy))
    folder = path.absolute().parent
    if not path.exists() and not os.access(folder, os.W_OK | os.X_OK):
        rule, remedy = f"the folder of {str(path)!r} must be writable", "Choose another place for the ledger."
        raise InvalidInput(Refusal(rule, "one that is not", remedy))
    place = path.resolve()  # SQLite keeps its log beside the file itself, not beside a link to it
    if place.exists():
        _one_name(place, place.stat())
    return place


def _one_name(path: Path, status: os.stat_result) -> None:
    """Refuse a file with two names: SQLite keeps log and locks beside the name that it was given,
    and one name would not see what the other spent.
    """
    if status.st_nlink > 1:
        remedy = "Keep one and remove the others, or make a copy to look at."
        raise _refused(path, "have one name", f"{status.st_nlink} hard links", remedy)
    if os.fsencode(path) in _mounted():
        raise _refused(path, "have one name", "a file mounted from elsewhere", "Mount its folder instead.")


def _mounted() -> set[bytes]:
    """Where something is mounted, if the system says so; blanks and the like are written as
    \\040.
    """
    try:
        return {line.split()[4].decode("unicode_escape").encode("latin-1") for line in MOUNTS.read_bytes().splitlines()}
    except (OSError, ValueError, IndexError):
        return set()


def _check_logs(path: Path) -> None:
    """Refuse a log that is not ours: SQLite would write what it says into the ledger before we
    could look at either.

    A ledger has a log of one kind only (WAL). One that belongs to somebody who may not write the
    ledger was planted.
    """
    ledger = path.stat()
    for end in LOGS:
        log = path.with_name(path.name + end)
        try:
            status = log.lstat()
        except FileNotFoundError:
            continue
        shared = ledger.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if not stat.S_ISREG(status.st_mode):
            what = "something that is not an ordinary file"
        elif end == "-journal" and status.st_size:
            what = "a journal, which no ledger has"
        elif status.st_uid not in (0, ledger.st_uid) and not shared:
            what = "a log of somebody who may not write the ledger"
        else:
            continue
        remedy = "SQLite would believe it; find out who put it there, and move it away."
        raise InvalidInput(Refusal(f"{str(log)!r} must not lie beside the ledger", what, remedy))


def reading(path: Path, read: Callable[[sqlite3.Connection], T]) -> T:
    """What ``read`` finds, at one moment, without a trace.

    A reader of a WAL database creates helper files beside it, and fails in a folder where it must
    not. A ledger that nobody is writing has no log, so it is opened as immutable, and read again if
    a writer came in meanwhile. If there is a log, its helper files exist.
    """
    with _turn, sqlite_refusals(path), unwritable(path):
        for _ in range(ATTEMPTS):
            before = _stamp(path)
            try:
                _check_logs(path)
                answer = _read(path, read, idle=before[-1] == 0)
                if before[-1] or before == _stamp(path):
                    return answer
            except (InvalidInput, sqlite3.Error):
                if before == _stamp(path):
                    raise
            time.sleep(0.02)
    raise _refused(path, "be at rest for a moment", "others that keep writing", "Try again.")


def _read(path: Path, read: Callable[[sqlite3.Connection], T], *, idle: bool) -> T:
    connection = _connect(path, "mode=ro&immutable=1" if idle else "mode=ro")
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        check_schema(connection, path)
        return read(connection)
    finally:
        connection.close()


class Held:
    """A ledger that is ours alone for the moment."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path, self._handle = path, handle

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection inside BEGIN IMMEDIATE: committed and on the disk at the end, or, after an
        exception, as if it had never been.
        """
        with sqlite_refusals(self._path), unwritable(self._path):
            _check_logs(self._path)
            connection = _connect(self._path, "mode=rw")
            try:
                check_schema(connection, self._path)
                # Somebody may have changed it, or made a copy by another way.
                if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                    connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("BEGIN IMMEDIATE")
                check_schema(connection, self._path)
                yield connection
                connection.execute("COMMIT")
            finally:  # what was not committed is rolled back
                connection.close()

    def confirm(self, read: Callable[[sqlite3.Connection], bool]) -> None:
        """Refuse to acknowledge what another connection does not find in the file that stands at
        the path, which must be the one that we hold.
        """
        just = "what was just recorded"
        try:
            found = _is_at(self._path, self._handle) and reading(self._path, read)
        except (InvalidInput, OSError) as error:
            reason = (getattr(error, "fault", "") or str(error)).rstrip(".")
            raise damaged(self._path, f"{just} could not be read back ({reason}); it counts as spent") from None
        if not found:
            raise damaged(self._path, f"{just} is not there; another file took its place, or somebody removed it")


@contextmanager
def held(path: Path, *, create: bool = False) -> Iterator[Held]:
    """Hold the ledger at ``path``; with ``create``, where there is none, or an empty file, one is
    made first.
    """
    check_place(path)
    with _turn, sqlite_refusals(path), unwritable(path):
        if not _size(path):
            if not create:
                remedy = "If it was moved, move it back: a new one would forget what was spent."
                raise _refused(path, "be there", "none", remedy)
            _create(path)
        handle = _patiently(path, lambda: _lock(path))
        _handles.add(handle)
        try:
            _one_name(path, os.fstat(handle))  # it may have got another name while we waited
            yield Held(path, handle)
        finally:
            if handle in _handles:  # a forked child has closed its copy
                _handles.remove(handle)
                _let_go(handle)


def _lock(path: Path) -> int | None:
    """The open file at ``path`` with its lock, unless another holds it, or another file has taken
    its place.
    """
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if _try_lock(handle) is not None and _is_at(path, handle):
            return handle
    except OSError:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _let_go(handle: int) -> None:
    """Unlocked by name: closing alone would leave the lock with whoever inherited a copy of the
    handle.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)


def _patiently(path: Path, take: Callable[[], int | None]) -> int:
    """What ``take`` gets as soon as nobody else has it."""
    deadline = time.monotonic() + WAIT
    while (taken := take()) is None:
        if time.monotonic() > deadline:
            raise _refused(path, *_busy())
        time.sleep(PAUSE)
    return taken


def _is_at(path: Path, handle: int) -> bool:
    """Whether ``path`` names, without a link, the ordinary file that was opened."""
    there = os.lstat(path)
    return stat.S_ISREG(there.st_mode) and os.path.samestat(there, os.fstat(handle))


def _busy() -> tuple[str, str, str]:
    return f"be free within {WAIT:g} s", "another process that holds it", "Let it finish, and try again."


def _create(path: Path) -> None:
    """Put an empty ledger at ``path``, whole, unless one is there. Whoever creates one holds the
    folder's lock; a kill leaves no ledger or a whole one.
    """
    temporary = path.with_name(f".{path.name}.part")
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        _patiently(path, lambda: _try_lock(folder))
        if _size(path):
            return
        _clear(temporary)  # what a killed creation left
        # Who was asked what is nobody else's business.
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        connection = _connect(temporary, "mode=rw")
        try:
            identity = (f"PRAGMA application_id = {APPLICATION}", f"PRAGMA user_version = {FORMAT}")
            for statement in (TRUST, "BEGIN", *SCHEMA.values(), *identity, "COMMIT", "PRAGMA journal_mode = WAL"):
                connection.execute(statement)
        finally:
            connection.close()
        os.replace(temporary, path)
        os.fsync(folder)
    except (OSError, sqlite3.Error):
        _clear(temporary)
        raise
    finally:
        _let_go(folder)


def _try_lock(handle: int) -> int | None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    return handle


def _clear(temporary: Path) -> None:
    for end in ("", *LOGS):
        temporary.with_name(temporary.name + end).unlink(missing_ok=True)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    name = f"file:{quote(str(path.absolute()))}?{mode}"
    connection = sqlite3.connect(name, uri=True, timeout=WAIT, isolation_level=None)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _stamp(path: Path) -> tuple[int, int, int, int]:
    """Changes with the file; the last number is how many bytes wait in a log beside it."""
    file = path.stat()
    waiting = sum(_size(path.with_name(f"{path.name}{end}")) for end in ("-wal", "-journal"))
    return file.st_ino, file.st_mtime_ns, file.st_size, waiting


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


@contextmanager
def sqlite_refusals(path: Path) -> Iterator[None]:
    """What SQLite says, as one sentence with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        refused: tuple[str, str, str] | None = None
        if code == sqlite3.SQLITE_NOTADB:
            rule, got = f"{str(path)!r} must be a ledger of shuffledp", "a file that is not an SQLite database"
            raise InvalidInput(Refusal(rule, got, "Choose another file.")) from None
        if code == sqlite3.SQLITE_BUSY:
            refused = _busy()
        elif code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM) and (limit := starved()):
            many = f"{os.strerror(errno.EMFILE)} ({limit})"
            refused = "be opened with its log", many, "Nothing was recorded; try again with more."
        elif code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
            remedy = "Nothing was recorded; change the permissions."
            refused = "be writable, together with its folder", str(error), remedy
        elif code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            remedy = "Nothing was recorded; make room on the disk, and try again."
            refused = "have room to grow", str(error), remedy
        raise damaged(path, str(error)) if refused is None else _refused(path, *refused) from None


def _refused(path: Path, rule: str, got: str, remedy: str) -> InvalidInput:
    return InvalidInput(Refusal(f"the ledger {str(path)!r} must {rule}", got, remedy))
