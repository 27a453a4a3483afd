"""The SQLite file: tables that only grow, opened to be read without a trace or to be written in one transaction."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from shuffledp.errors import InvalidInput
from shuffledp.files import check_file, unwritable

__all__ = ["FORMAT", "SCHEMA", "Damaged", "check_place", "identified", "reading", "spoken", "writing"]

T = TypeVar("T")
APPLICATION = 0x53447031  # "SDp1", in the header of the file
FORMAT = 1
OLDEST = (3, 38, 0)  # strict tables, generated columns from JSON
WAIT = 60.0  # seconds for another process to finish its transaction
ATTEMPTS = 50  # to read while others write
# Closing any handle of a file gives up all locks that this process has on it, so its threads take turns.
ONE_AT_A_TIME = threading.RLock()
PAUSE = 0.01  # seconds between two looks at a lock
MOUNTS = Path("/proc/self/mountinfo")

_TABLES = {
    "populations": """CREATE TABLE populations (
        name TEXT PRIMARY KEY NOT NULL, limit_epsilon REAL NOT NULL, limit_delta REAL NOT NULL, created TEXT NOT NULL) STRICT""",
    "releases": """CREATE TABLE releases (
        id INTEGER PRIMARY KEY AUTOINCREMENT, population TEXT NOT NULL REFERENCES populations(name), recorded TEXT NOT NULL, entry TEXT NOT NULL,
        version TEXT NOT NULL, previous TEXT NOT NULL UNIQUE, record TEXT NOT NULL UNIQUE,
        what TEXT GENERATED ALWAYS AS (json_extract(entry, '$.what')) VIRTUAL,
        design TEXT GENERATED ALWAYS AS (json_extract(entry, '$.design')) VIRTUAL) STRICT""",
    "published": """CREATE TABLE published (
        release INTEGER PRIMARY KEY NOT NULL REFERENCES releases(id), published TEXT NOT NULL, output TEXT NOT NULL, seal TEXT NOT NULL) STRICT""",
}
SCHEMA = _TABLES | {
    f"{table}_{change.lower()}": f"CREATE TRIGGER {table}_{change.lower()} BEFORE {change} ON {table} BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END"
    for table in _TABLES
    for change in ("UPDATE", "DELETE")
}


class Damaged(InvalidInput):
    """The file was a ledger, and SQLite cannot read it any more."""


def check_place(path: Path) -> Path:
    """Return ``path`` if a ledger stands there or could; nothing is created."""
    if path.is_dir():
        raise InvalidInput(f"{str(path)!r} must be a file, got a folder. Add a file name, such as {str(path / 'budget.sqlite')!r}.")
    check_file(path)
    if sqlite3.sqlite_version_info < OLDEST:
        raise InvalidInput(f"SQLite must be at least {'.'.join(map(str, OLDEST))}, got {sqlite3.sqlite_version}. Use a newer Python, which brings one.")
    folder = path.absolute().parent
    if not path.exists() and not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidInput(f"the folder of {str(path)!r} must be writable, got one that is not. Choose another place for the ledger.")
    place = path.resolve()  # SQLite keeps its log beside the file itself, not beside a link to it
    if place.exists():
        _one_name(place, place.stat())
    return place


def _one_name(path: Path, status: os.stat_result) -> None:
    """Refuse a file with two names: SQLite keeps log and locks beside the name that it was given, and one name would not see what the other spent."""
    if status.st_nlink > 1:
        raise InvalidInput(
            f"the ledger {str(path)!r} must have one name, got {status.st_nlink} hard links. Keep one and remove the others, or make a copy to look at."
        )
    if os.fsencode(path) in _mounted():
        raise InvalidInput(f"the ledger {str(path)!r} must have one name, got a file mounted from elsewhere. Mount its folder instead.")


def _mounted() -> set[bytes]:
    """Where something is mounted, if the system says so; blanks and the like are written as \\040."""
    try:
        return {line.split()[4].decode("unicode_escape").encode("latin-1") for line in MOUNTS.read_bytes().splitlines()}
    except (OSError, ValueError, IndexError):
        return set()


def reading(path: Path, read: Callable[[sqlite3.Connection], T]) -> T:
    """What ``read`` finds, at one moment, without a trace.

    A reader of a WAL database creates helper files beside it, and fails in a folder where it must not. A ledger that nobody is writing has no
    log, so it is opened as immutable, and read again if a writer came in meanwhile. If there is a log, its helper files exist.
    """
    with ONE_AT_A_TIME:
        return _reading(path, read)


def _reading(path: Path, read: Callable[[sqlite3.Connection], T]) -> T:
    for _ in range(ATTEMPTS):
        before = _stamp(path)
        try:
            answer = _read(path, read, idle=before[-1] == 0)
            if before[-1] or before == _stamp(path):
                return answer
        except InvalidInput:
            if before == _stamp(path):
                raise
        time.sleep(0.02)
    raise InvalidInput(f"the ledger {str(path)!r} must be at rest for a moment, got others writing all the time. Try again.")


def _read(path: Path, read: Callable[[sqlite3.Connection], T], *, idle: bool) -> T:
    with spoken(path):
        connection = _connect(path, "mode=ro&immutable=1" if idle else "mode=ro")
        try:
            connection.execute("BEGIN")
            return read(connection)
        finally:
            connection.close()


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection inside BEGIN IMMEDIATE: committed and on the disk at the end, or, after an exception, as if it had never been.

    A file that does not exist, or is empty, becomes a ledger first. Whoever writes holds the file itself, whatever name it was reached by.
    """
    check_place(path)
    with ONE_AT_A_TIME, spoken(path), unwritable(path):
        if not _size(path):
            _create(path)
        with _held(path):
            connection = _connect(path, "mode=rw")
            try:
                connection.execute("BEGIN IMMEDIATE")
                identified(connection, path)
                yield connection
                connection.execute("COMMIT")
            finally:  # what was not committed is rolled back
                connection.close()


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Hold the lock of the file itself: another kind than SQLite's, which belong to a name. It is let go after the connection is closed."""
    deadline = time.monotonic() + WAIT
    handle = _lock(path)
    while handle is None:
        if time.monotonic() > deadline:
            raise InvalidInput(_busy(path))
        time.sleep(PAUSE)
        handle = _lock(path)
    try:
        _one_name(path, os.fstat(handle))  # it may have got another name while we waited
        yield
    finally:
        os.close(handle)


def _lock(path: Path) -> int | None:
    """The open file at ``path`` with its lock, unless another holds it, or another file has taken its place."""
    handle = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), path.stat()):
            return handle
    except BlockingIOError:
        pass
    except OSError:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _busy(path: Path) -> str:
    return f"the ledger {str(path)!r} must be free within {WAIT:g} s, got another process that holds it. Let it finish, and try again."


def identified(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what is not a ledger that we can read."""
    application, version = (int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("application_id", "user_version"))
    if application != APPLICATION:
        raise InvalidInput(f"{str(path)!r} must be a ledger of shuffledp, got another program's database. Choose another file.")
    if version != FORMAT:
        raise InvalidInput(f"the ledger {str(path)!r} must have format {FORMAT}, got {version}: a newer shuffledp wrote it. Upgrade shuffledp.")


def _create(path: Path) -> None:
    """Put an empty ledger at ``path``, whole, unless one is there. Whoever creates one holds the folder's lock; a kill leaves no ledger or a whole one."""
    folder, temporary = os.open(path.parent, os.O_RDONLY), path.with_name(f".{path.name}.part")
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if _size(path):
            return
        _clear(temporary)  # what a killed creation left
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # who was asked what is nobody else's business
        connection = _connect(temporary, "mode=rwc")
        try:
            identity = (f"PRAGMA application_id = {APPLICATION}", f"PRAGMA user_version = {FORMAT}")
            for statement in ("BEGIN", *SCHEMA.values(), *identity, "COMMIT", "PRAGMA journal_mode = WAL"):
                connection.execute(statement)
        finally:
            connection.close()
        os.replace(temporary, path)
        os.fsync(folder)
    except (OSError, sqlite3.Error):
        _clear(temporary)
        raise
    finally:
        os.close(folder)


def _clear(temporary: Path) -> None:
    for end in ("", "-journal", "-wal", "-shm"):
        temporary.with_name(temporary.name + end).unlink(missing_ok=True)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True, timeout=WAIT, isolation_level=None)
    for pragma in ("synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _stamp(path: Path) -> tuple[int, int, int]:
    """Changes with the file; the last number is how many bytes wait in a log beside it."""
    logs = [path.with_name(f"{path.name}{end}") for end in ("-wal", "-journal")]
    file = path.stat()
    return file.st_mtime_ns, file.st_size, sum(_size(log) for log in logs)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


@contextmanager
def spoken(path: Path) -> Iterator[None]:
    """What SQLite says, as one sentence with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        name = f"the ledger {str(path)!r}"
        if code == sqlite3.SQLITE_NOTADB:
            raise InvalidInput(f"{str(path)!r} must be a ledger of shuffledp, got a file that is no SQLite database. Choose another file.") from None
        if code == sqlite3.SQLITE_BUSY:
            raise InvalidInput(_busy(path)) from None
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
            raise InvalidInput(f"{name} must be writable, together with its folder, got: {error}. Nothing was released; change the permissions.") from None
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise InvalidInput(f"{name} must have room to grow, got: {error}. Nothing was released; make room on the disk, and try again.") from None
        raise Damaged(f"{name} must be intact, got: {error}. Restore it from a copy; `shuffledp ledger check` says more.") from None
