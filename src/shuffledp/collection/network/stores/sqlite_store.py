"""Envelopes in one SQLite file, for one shuffler.

While the collection is open, they are rows of a table without numbers, and a commit is on the disk
before anybody is told. The close writes a new file in the order of the envelopes' bytes, puts it in
the place of the old one, and overwrites that: the bytes that stay are a function of the collection
and of its set of envelopes. Invitations are forgotten then. Whenever the program ends in between,
the collection is open with everything in it, or closed with everything in it, and the next start
finishes the rest.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain
from pathlib import Path

from shuffledp.collection.network.collection_file import Collection
from shuffledp.collection.network.stores.admission import Admission
from shuffledp.collection.network.stores.interface import Added, Stocked, Store, Unavailable
from shuffledp.collection.network.wire import Delivery, Refused, Uploads
from shuffledp.errors import InvalidInput
from shuffledp.storage.files import check_file, flush, unwritable

__all__ = ["SQLiteStore"]

APPLICATION, VERSION = 0x73686466, 1
MAGIC, APPLICATION_AT = b"SQLite format 3\0", 68  # of the file's first hundred bytes
PAGE = 4096
CACHE, LOGGED = -65536, 4096  # 64 MiB of pages in memory, 16 MiB in the log: fewer of them are written twice
TABLES = (
    "CREATE TABLE collection(digest TEXT PRIMARY KEY, closed INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE envelopes(envelope BLOB PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE codes(hash BLOB PRIMARY KEY, used INTEGER NOT NULL) WITHOUT ROWID",
)
ASKED = 256  # values that one query asks for
BLOCK = 4096  # envelopes that are released at a time
ZEROS = bytes(1 << 20)


class SQLiteStore(Store):
    """The store at ``path``, which is created if nothing is there; it must be of ``collection``."""

    def __init__(self, path: Path, collection: Collection) -> None:
        self.path = check_file(path).resolve()
        self.collection = collection
        self._new, self._old, self._log = (
            self.path.with_name(name)
            for name in (f".{self.path.name}.new", f".{self.path.name}.old", f"{self.path.name}-wal")
        )
        self._reports, self._closed = 0, False
        self._connection: sqlite3.Connection | None = None
        with unwritable(self.path):
            self._lock = self._locked()
            try:
                if not self.path.exists():
                    self._create()
                self._open()
            except BaseException:
                os.close(self._lock)
                raise

    # ---- opening

    def _locked(self) -> int:
        """Hold the lock that says that a shuffler runs on this store; it stays when files change
        places, and ends with the process.
        """
        lock = os.open(self.path.with_name(f".{self.path.name}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise InvalidInput(
                f"{str(self.path)!r} must be used by one shuffler at a time, got one that runs. Stop it first; several "
                f"can share a PostgreSQL store."
            ) from None
        return lock

    def _create(self) -> None:
        if self._old.exists():
            raise InvalidInput(
                f"{str(self.path)!r} must be there, got only {str(self._old)!r}, from a close that did not end. "
                f"Restore the file that was removed."
            )
        self._write_anew(closed=False, envelopes=())
        os.rename(self._new, self.path)
        flush(self.path.parent)

    def _write_anew(self, *, closed: bool, envelopes: Iterable[tuple[bytes]]) -> None:
        """A whole store in a file beside, whose bytes depend on nothing but what it holds."""
        self._new.unlink(missing_ok=True)
        try:
            self._fill(closed=closed, envelopes=envelopes)
        except BaseException:
            self._new.unlink(missing_ok=True)  # on a full disk it would be in the way
            raise
        flush(self._new)

    def _fill(self, *, closed: bool, envelopes: Iterable[tuple[bytes]]) -> None:
        os.close(os.open(self._new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(self._new, isolation_level=None)) as connection:
            for setting in (
                f"page_size={PAGE}",
                "journal_mode=OFF",
                "synchronous=OFF",
                f"application_id={APPLICATION}",
                f"user_version={VERSION}",
            ):
                connection.execute(f"PRAGMA {setting}")
            connection.execute("BEGIN")
            for table in TABLES:
                connection.execute(table)
            connection.execute("INSERT INTO collection VALUES (?, ?)", (self.collection.digest, closed))
            connection.executemany("INSERT INTO envelopes VALUES (?)", envelopes)
            connection.execute("COMMIT")

    def _open(self) -> None:
        """Open the file, refuse one that is not ours or not sound, and finish a close that did not
        end.
        """
        title = repr(str(self.path))
        with self.path.open("rb") as file:
            head = file.read(APPLICATION_AT + 4)
        if not head.startswith(MAGIC) or int.from_bytes(head[APPLICATION_AT:]) != APPLICATION:
            raise InvalidInput(f"{title} must be a store of reports, got another file. Name a new one.")
        connection = sqlite3.connect(
            self.path, isolation_level=None, check_same_thread=False, cached_statements=2 * ASKED
        )
        try:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._check(connection)
            for setting in self._settings():
                connection.execute(f"PRAGMA {setting}")
            self._tidy()
        except sqlite3.Error as error:
            connection.close()
            raise InvalidInput(f"{title} must be a sound store, got: {error}. Restore it from a copy.") from None
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _check(self, connection: sqlite3.Connection) -> None:
        title = repr(str(self.path))
        if (version := connection.execute("PRAGMA user_version").fetchone()[0]) != VERSION:
            raise InvalidInput(
                f"{title} must be a store of version {VERSION}, got {version}. Use the shuffledp that wrote it."
            )
        if (found := connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise sqlite3.DatabaseError(" ".join(str(found).split()))
        ((digest, closed),) = connection.execute("SELECT digest, closed FROM collection").fetchall()
        if digest != self.collection.digest:
            raise InvalidInput(
                f"{title} must be the store of collection {self.collection.digest}, got that of {digest}. Name another "
                f"file for this collection."
            )
        length = Uploads(self.collection).envelope_bytes
        query = "SELECT count(*), total(typeof(envelope) <> 'blob' OR length(envelope) <> ?) FROM envelopes"
        count, wrong = connection.execute(query, (length,)).fetchone()
        if wrong:
            raise sqlite3.DatabaseError("envelopes of a wrong length")
        self._reports, self._closed = count, bool(closed)

    def _settings(self) -> tuple[str, ...]:
        if self._closed:
            return ("query_only=ON",)  # not a byte changes any more
        return (
            "journal_mode=WAL",
            "synchronous=FULL",
            "secure_delete=ON",
            "temp_store=MEMORY",
            f"cache_size={CACHE}",
            f"wal_autocheckpoint={LOGGED}",
        )

    def _tidy(self) -> None:
        """What a close that did not end has left."""
        self._new.unlink(missing_ok=True)
        if not self._old.exists():
            return
        if self._old.samefile(self.path):
            self._old.unlink()
        elif self._closed:
            _overwrite(self._old)
            self._old.unlink()
        else:
            raise InvalidInput(
                f"{str(self._old)!r} must not be beside an open store, got one. Move it away if it is yours."
            )
        flush(self.path.parent)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """The open file; what goes wrong with it is told to clients as a reason to come again."""
        try:
            if self._connection is None:
                self._open()
            assert self._connection is not None
            yield self._connection
        except (sqlite3.Error, OSError, InvalidInput) as error:
            if self._connection is not None and self._connection.in_transaction:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
            raise Unavailable(
                f"the shuffler's store cannot be used now ({_cause(error)}). Send the same bytes again later."
            ) from error

    # ---- what a shuffler asks

    def invite(self, hashes: Iterable[bytes]) -> int:
        with self._connected() as connection:
            if self._closed:
                return 0
            before = connection.total_changes
            connection.execute("BEGIN IMMEDIATE")
            rows = ((each,) for each in sorted(hashes))
            connection.executemany("INSERT OR IGNORE INTO codes VALUES (?, 0)", rows)
            connection.execute("COMMIT")
            return connection.total_changes - before

    def add(self, uploads: Sequence[Sequence[Delivery]]) -> list[Added | Refused]:
        with self._connected() as connection:
            admission = self._admission(connection, uploads)
            answers = [admission.decide(upload) for upload in uploads]
            if new := admission.new:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany("INSERT INTO envelopes VALUES (?)", zip(new))
                connection.executemany("UPDATE codes SET used = 1 WHERE hash = ?", zip(admission.spent))
                connection.execute("COMMIT")
                self._reports += len(new)
            return answers

    def _admission(self, connection: sqlite3.Connection, uploads: Sequence[Sequence[Delivery]]) -> Admission:
        brought = [delivery.envelope for upload in uploads for delivery in upload]
        stored = {row[0] for row in _those(connection, "SELECT envelope FROM envelopes WHERE envelope", brought)}
        known = None
        if self.collection.codes:
            codes = [delivery.code for upload in uploads for delivery in upload if delivery.code is not None]
            rows = _those(connection, "SELECT hash, used FROM codes WHERE hash", codes)
            known = {code: bool(used) for code, used in rows}
        return Admission(stored, known, self._reports, self.collection.design.n, self._closed)

    def stock(self) -> Stocked:
        with self._connected():
            return Stocked(self._reports, self._closed)

    def close(self, least: int) -> Stocked:
        with self._connected() as connection:
            if not self._closed and self._reports >= least:
                envelopes = connection.execute("SELECT envelope FROM envelopes ORDER BY envelope")
                self._write_anew(closed=True, envelopes=envelopes)
                self._let_go()
                os.link(self.path, self._old)
                flush(self.path.parent)
                os.replace(self._new, self.path)
                flush(self.path.parent)
                self._open()
            return Stocked(self._reports, self._closed)

    def sealed(self) -> Iterator[bytes]:
        last, query = b"", "SELECT envelope FROM envelopes WHERE envelope > ? ORDER BY envelope LIMIT ?"
        while True:
            with self._connected() as connection:
                block = [row[0] for row in connection.execute(query, (last, BLOCK))]
            if not block:
                return
            last = block[-1]
            yield b"".join(block)

    def stop(self) -> None:
        with suppress(sqlite3.Error, OSError):
            self._let_go()
        if self._connection is not None:
            self._connection.close()
        os.close(self._lock)

    def _let_go(self) -> None:
        """Close the file, with all of the log in it; of the log, zeros remain on the disk. If it
        stayed, it would be applied to the next file of this name.
        """
        if (connection := self._connection) is None:
            return
        if not self._closed:
            busy, logged, done = connection.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
            if busy or logged != done:
                raise sqlite3.OperationalError("the log is in use")
            if self._log.exists():
                _overwrite(self._log)
            connection.execute("PRAGMA journal_mode=DELETE")
        self._connection = None
        connection.close()
        flush(self.path.parent)


def _those(connection: sqlite3.Connection, query: str, values: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
    """The rows that have one of these values."""
    parts = (values[start : start + ASKED] for start in range(0, len(values), ASKED))
    return chain.from_iterable(
        connection.execute(f"{query} IN ({','.join('?' * len(part))})", part).fetchall() for part in parts
    )


def _overwrite(path: Path) -> None:
    """Zeros in place of what a file held, as long as it was."""
    with path.open("r+b", buffering=0) as file:
        left = os.fstat(file.fileno()).st_size
        while left > 0:
            left -= file.write(ZEROS[:left])
        os.fsync(file.fileno())


def _cause(error: Exception) -> str:
    """What the system said, without names of files."""
    if isinstance(error, OSError):
        return error.strerror or "an error of the disk"
    return str(error) if isinstance(error, sqlite3.Error) else "it is not sound"
