"""Envelopes in one SQLite file, for one shuffler.

While the collection is open, each commit appends blocks of new envelopes, and is on the disk
before anybody is told; which envelopes are there is known by their fingerprints, in memory. (A
table keyed by the envelopes themselves costs twenty times as much: every one of them changes
another page.) The close writes a new file in the order of the envelopes' bytes, puts it in the
place of the old one, and overwrites that: the bytes that stay are a function of the collection and
of the set of envelopes that it releases. Invitations are forgotten then; where the shuffler drops
and adds messages, also which. Whenever the program ends in between, the
collection is open with everything in it, or closed with everything in it, and the next start
finishes the rest.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import chain, pairwise
from operator import itemgetter
from pathlib import Path
from zlib import crc32

import numpy as np

from shuffledp.errors import InvalidInput
from shuffledp.storage.files import check_file, flush, unwritable
from shuffledp.survey.collection import Collection
from shuffledp.survey.stores.fingerprints import Fingerprints, Marks
from shuffledp.survey.stores.store import Added, Admission, SealedDummies, Stocked, Store, Unavailable
from shuffledp.survey.wire import Records, Refused, Uploads, joined

APPLICATION, VERSION = 0x73686466, 1
MAGIC, APPLICATION_AT = b"SQLite format 3\0", 68  # of the file's first hundred bytes
PAGE = 4096
CACHE, LOGGED = -65536, 4096  # 64 MiB of pages in memory, 16 MiB in the log: fewer of them are written twice
TABLES = (
    "CREATE TABLE collection(digest TEXT PRIMARY KEY, closed INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE blocks(number INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, envelopes BLOB NOT NULL)",
    "CREATE TABLE codes(hash BLOB PRIMARY KEY, used INTEGER NOT NULL) WITHOUT ROWID",
)
PEOPLE = "CREATE TABLE people(count INTEGER NOT NULL)"  # of a closed file, where envelopes do not say it
ASKED = 256  # values that one query asks for
BLOCK = 1 << 16  # bytes of a block, at most: to compare one envelope, all of its block is read
AT_ONCE = 1 << 28  # bytes that are put in order at a time
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
        uploads = Uploads(collection)
        self._length, self._messages = uploads.envelope_bytes, uploads.messages
        self._dummies = SealedDummies.of(collection)
        self._closed = False
        self._forget()
        self._connection: sqlite3.Connection | None = None
        with unwritable(self.path):
            self._lock = self._locked()
            try:
                if not self.path.exists():
                    self._create()
                self._open()
            except BaseException as error:
                os.close(self._lock)
                if isinstance(error, sqlite3.Error):
                    raise self._unusable(error) from None
                raise

    def _forget(self) -> None:
        """Know of no envelope."""
        self._seen = Fingerprints(self._length)
        self._ends: list[int] = []  # of the blocks, in envelopes
        self._told: int | None = None  # how many people there were, where envelopes no longer say it

    @property
    def _envelopes(self) -> int:
        return self._ends[-1] if self._ends else 0

    @property
    def _people(self) -> int:
        return self._envelopes // self._messages if self._told is None else self._told

    @property
    def _many(self) -> int:
        """Envelopes of a block, at most."""
        return max(1, BLOCK // self._length)

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
        for left in (self._old, self._log):
            if left.exists():
                raise InvalidInput(
                    f"{str(self.path)!r} must be there, got only {str(left)!r}, from a shuffler that did not end well. "
                    f"Restore the file that was removed; if nothing in it counts, remove this one, too."
                )
        self._write_anew(closed=False, blocks=())
        os.rename(self._new, self.path)
        flush(self.path.parent)

    def _write_anew(self, *, closed: bool, blocks: Iterable[bytes]) -> None:
        """A whole store in a file beside, whose bytes depend on nothing but what it holds."""
        self._discard()
        try:
            self._fill(closed=closed, blocks=blocks)
        except BaseException:
            self._discard()  # on a full disk it would be in the way
            raise
        flush(self._new)

    def _fill(self, *, closed: bool, blocks: Iterable[bytes]) -> None:
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
            if closed and self._dummies is not None:
                connection.execute(PEOPLE)
                connection.execute("INSERT INTO people VALUES (?)", (self._people,))
            _append(connection, 0, blocks)
            connection.execute("COMMIT")

    def _discard(self) -> None:
        """Forget a file beside that nobody has seen. Two that have other dummies among the same
        envelopes would show them, so nothing of it stays.
        """
        if self._new.exists():
            _overwrite(self._new)
            self._new.unlink()

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
        except sqlite3.OperationalError as error:  # the disk is full, or the file another program's
            connection.close()
            raise self._unusable(error) from None
        except sqlite3.Error as error:
            connection.close()
            raise InvalidInput(f"{title} must be a sound store, got: {error}. Restore it from a copy.") from None
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _unusable(self, error: sqlite3.Error) -> InvalidInput:
        return InvalidInput(f"{str(self.path)!r} must be usable, got: {error}. Mend that, and start again.")

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
        self._closed = bool(closed)
        self._read(connection)
        if self._closed and self._dummies is not None:
            (self._told,) = connection.execute("SELECT count FROM people").fetchone()

    def _read(self, connection: sqlite3.Connection) -> None:
        """Know every envelope in the file."""
        self._forget()
        query = "SELECT number, checksum, envelopes FROM blocks ORDER BY number"
        for number, checksum, block in connection.execute(query):
            whole = isinstance(block, bytes) and block and len(block) % self._length == 0
            if number != len(self._ends) or not whole or checksum != crc32(block):
                raise sqlite3.DatabaseError("a block of envelopes is damaged")
            self._note(self._seen.marks(block))

    def _note(self, marks: Marks, blocks: int = 1) -> None:
        """Know some more blocks, all but the last of them full, by the fingerprints in them."""
        begin = self._envelopes
        self._seen.add(marks)
        self._ends += [begin + number * self._many for number in range(1, blocks)]
        self._ends.append(self._seen.count)

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
        self._discard()
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
        except BaseException as error:
            if not (isinstance(error, sqlite3.Error | OSError) and self._undone()):
                self._lose()
            if not isinstance(error, sqlite3.Error | OSError | InvalidInput | MemoryError):
                raise
            raise Unavailable(
                f"the shuffler's store cannot be used now ({_cause(error)}). Send the same bytes again later."
            ) from error

    def _undone(self) -> bool:
        """Whether, after a failure, nothing is half done, and the file holds what is known of it. A
        commit that failed may stand for all that.
        """
        if (connection := self._connection) is None:
            return True
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            (blocks,) = connection.execute("SELECT count(*) FROM blocks").fetchone()
        except (sqlite3.Error, MemoryError):
            return False
        return bool(blocks == len(self._ends))

    def _lose(self) -> None:
        """Close the file, whatever state it is in: whoever needs it next opens it, and reads all of
        it again. Where memory ran out, a block may be in the file whose fingerprints are not in the
        index.
        """
        with suppress(sqlite3.Error, OSError, MemoryError):
            self._let_go()
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error, MemoryError):
                connection.close()

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

    def add(self, uploads: Sequence[Records]) -> list[Added | Refused]:
        with self._connected() as connection:
            brought = joined(uploads)
            marks = self._seen.marks(brought)
            if brought and self._all_new(marks):
                self._write(connection, brought, marks)
                return [Added(len(upload), len(upload)) for upload in uploads]
            silent = self._closed and self._dummies is not None and self._dummies.drops
            stored = set() if silent else self._stored(connection, brought, marks)
            codes = [each.code for upload in uploads for each in upload if each.code is not None]
            rows = _those(connection, "SELECT hash, used FROM codes WHERE hash", codes)
            known = {code: bool(used) for code, used in rows} if self.collection.codes else None
            most = self.collection.design.n
            admission = Admission(stored, known, self._people, most, self._closed, self._messages)
            answers = [admission.decide(upload) for upload in uploads]
            if new := b"".join(admission.new):
                self._write(connection, new, self._seen.marks(new), admission.spent)
            return answers

    def _all_new(self, marks: Marks) -> bool:
        """Whether all envelopes can be taken without a look at any of them: nothing is asked of
        them, there is room, and none looks familiar.
        """
        people = self._people + len(marks) // self._messages
        if self.collection.codes or self._closed or people > self.collection.design.n:
            return False
        return not self._seen.familiar(marks)

    def _write(self, connection: sqlite3.Connection, new: bytes, marks: Marks, spent: Iterable[bytes] = ()) -> None:
        """New envelopes and the codes that were spent on them, on the disk when this returns."""
        size = self._many * self._length
        blocks = [new[start : start + size] for start in range(0, len(new), size)]
        connection.execute("BEGIN IMMEDIATE")
        _append(connection, len(self._ends), blocks)
        connection.executemany("UPDATE codes SET used = 1 WHERE hash = ?", zip(spent))
        connection.execute("COMMIT")
        self._note(marks, len(blocks))

    def _stored(self, connection: sqlite3.Connection, brought: bytes, marks: Marks) -> set[bytes]:
        """Those of some envelopes that are in the file, byte by byte; each block is read once."""
        stored: set[bytes] = set()
        number, block, query = -1, b"", "SELECT envelopes FROM blocks WHERE number = ?"
        for asked, place in sorted(self._seen.places(marks), key=itemgetter(1)):
            if number != (number := bisect_right(self._ends, place)):
                ((block,),) = connection.execute(query, (number,))
            at = (place - (self._ends[number - 1] if number else 0)) * self._length
            envelope = block[at : at + self._length]
            if envelope == brought[asked * self._length : (asked + 1) * self._length]:
                stored.add(envelope)
        return stored

    def stock(self) -> Stocked:
        with self._connected():
            return self._state

    def close(self, least: int) -> Stocked:
        with self._connected() as connection:
            if not self._closed and self._people >= least:
                self._write_anew(closed=True, blocks=self._handed_on(connection))
                self._let_go()
                os.link(self.path, self._old)
                flush(self.path.parent)
                os.replace(self._new, self.path)
                flush(self.path.parent)
                self._open()
            return self._state

    @property
    def _state(self) -> Stocked:
        return Stocked(self._people, self._closed, None if self._told is None else self._envelopes)

    def _handed_on(self, connection: sqlite3.Connection) -> Iterator[bytes]:
        """What is released, in the order of its bytes. Dummies wait for that in a transaction that
        does not stand: of its log, zeros remain.
        """
        if self._dummies is None:
            yield from self._in_order(connection, self._envelopes)
            return
        numbers, many = self._dummies.numbers(), self._many
        parts = (part[at : at + many] for part in self._dummies.sealed(numbers) for at in range(0, len(part), many))
        connection.execute("BEGIN IMMEDIATE")
        _append(connection, len(self._ends), map(b"".join, parts))
        yield from self._in_order(connection, self._envelopes + int(numbers.sum()))
        connection.execute("ROLLBACK")

    def _in_order(self, connection: sqlite3.Connection, count: int) -> Iterator[bytes]:
        """So many envelopes, which are all, in the order of their bytes, in blocks. Where they do
        not fit into memory at once, those with a first byte from one range follow those from
        another. Of people's, those that are dropped are left out.
        """
        many = self._many
        parts = min(256, 1 + count * self._length // AT_ONCE)
        ends, left = np.linspace(0, 256, parts + 1).astype(int).tolist(), np.empty(0, dtype=f"S{self._length}")
        for low, high in pairwise(ends):
            found = [left]
            for number, block in connection.execute("SELECT number, envelopes FROM blocks"):
                rows = np.frombuffer(block, dtype=np.uint8).reshape(-1, self._length)
                mine = rows[(rows[:, 0] >= low) & (rows[:, 0] < high)]
                if self._dummies is not None and number < len(self._ends):
                    mine = mine[self._dummies.kept(len(mine))]
                found.append(mine.view(f"S{self._length}").ravel())
            ordered = np.concatenate(found)
            ordered.sort()
            whole = len(ordered) if high == 256 else len(ordered) // many * many
            yield from (ordered[start : start + many].tobytes() for start in range(0, whole, many))
            left = ordered[whole:]

    def sealed(self) -> Iterator[bytes]:
        number = 0
        while True:
            with self._connected() as connection:
                row = connection.execute("SELECT envelopes FROM blocks WHERE number = ?", (number,)).fetchone()
            if row is None:
                return
            number += 1
            yield row[0]

    def stop(self) -> None:
        with suppress(sqlite3.Error, OSError):
            self._let_go()
        if self._connection is not None:
            self._connection.close()
        os.close(self._lock)

    def _let_go(self) -> None:
        """Close the file, with all of the log in it; of the log, zeros remain on the disk. If it
        stayed, it would be applied to the next file of this name; so would be the journal that a
        change of ``journal_mode`` takes, if an error left it there.
        """
        if (connection := self._connection) is None:
            return
        if not self._closed:
            connection.rollback()
            busy, logged, done = connection.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
            if busy or logged != done:
                raise sqlite3.OperationalError("the log is in use")
            if self._log.exists():
                _overwrite(self._log)
        self._connection = None
        connection.close()
        self._log.unlink(missing_ok=True)
        flush(self.path.parent)


def _those(connection: sqlite3.Connection, query: str, values: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
    """The rows that have one of these values."""
    parts = (values[start : start + ASKED] for start in range(0, len(values), ASKED))
    return chain.from_iterable(
        connection.execute(f"{query} IN ({','.join('?' * len(part))})", part).fetchall() for part in parts
    )


def _append(connection: sqlite3.Connection, number: int, blocks: Iterable[bytes]) -> None:
    """Write blocks, the first of which has that number."""
    rows = ((at, crc32(block), block) for at, block in enumerate(blocks, number))
    connection.executemany("INSERT INTO blocks VALUES (?, ?, ?)", rows)


def _overwrite(path: Path) -> None:
    """Zeros in place of what a file held, as long as it was: the head first, and on the disk before
    the rest. The beginning of a log whose end a power cut took would be applied to the file, which
    has all of it, and take back the rest.
    """
    with path.open("r+b", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        for end in (min(PAGE, size), size):
            while (at := file.tell()) < end:
                file.write(ZEROS[: end - at])
            os.fsync(file.fileno())


def _cause(error: Exception) -> str:
    """What the system said, without names of files."""
    if isinstance(error, OSError):
        return error.strerror or "an error of the disk"
    if isinstance(error, MemoryError):
        return "not enough memory"
    return str(error) if isinstance(error, sqlite3.Error) else "it is not sound"
