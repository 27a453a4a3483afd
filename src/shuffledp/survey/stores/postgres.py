"""Envelopes in PostgreSQL, for several shufflers on one collection, and the server's own settings,
which must keep what it acknowledged and not write down when it came.

Every collection has a schema of its own in the database. Whoever adds or closes holds one lock of
the collection until the commit, so that shufflers on several machines come one after the other, as
in a file: no code is used twice, no report is one too many, and nothing is added after the close.

Closing writes the envelopes into a new table, in the order of their bytes, in one transaction, and
drops the table in which they arrived, with the codes.

What a server is asked before reports are given to it, and what is done to its files afterwards:

- ``fsync`` and ``synchronous_commit`` are on, or what was acknowledged could be lost.
- ``track_commit_timestamp`` is off, and the server's own log shows no statements: they would say
  when reports came, and which.
- After the close, its log of writes (``pg_wal``) still has every report in the order of arrival.
  Segments that are no longer needed are renamed and wait to be written again, so what they hold
  is written over, segment by segment. This takes the roles pg_checkpoint and pg_monitor.

What remains, and only the administrator can change: archived segments (``archive_mode``), standbys
and replication slots, ``wal_keep_size``, base backups, and the blocks of deleted files, which a
file system frees without erasing them: the first tables, and what a large sort wrote to
``pgsql_tmp``. For those, an encrypted disk whose key is destroyed afterwards is the only remedy.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple, TypeVar

import numpy as np

from shuffledp.errors import InvalidInput
from shuffledp.survey.collection import Collection
from shuffledp.survey.stores.store import Added, Admission, SealedDummies, Stocked, Store, Unavailable
from shuffledp.survey.wire import Records, Refused, Uploads

if TYPE_CHECKING:
    import psycopg

    Result = TypeVar("Result")

SCHEMES = ("postgresql://", "postgres://")
OLDEST = 130_000  # the first version of PostgreSQL that is still used somewhere
LOST, SEEN = "reports that were acknowledged could be lost", "it would write down when reports came, or which"
# A server that went away is noticed within half a minute, and a shuffler that hangs blocks others
# no longer than that.
CONNECTION: dict[str, Any] = {
    "application_name": "shuffledp",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
PATIENCE = {"lock_timeout": "20s", "idle_in_transaction_session_timeout": "30s"}


class Setting(NamedTuple):
    """A setting of the server, what it may be (the first is set where the role may), and why."""

    name: str
    allowed: tuple[str, ...]
    otherwise: str


OFF = ("track_commit_timestamp", "log_duration", "debug_print_parse", "debug_print_rewritten", "debug_print_plan")
NEVER = ("log_min_duration_statement", "log_min_duration_sample", "auto_explain.log_min_duration")
FEW = ("log_transaction_sample_rate", "log_parameter_max_length_on_error")
SETTINGS = (
    Setting("fsync", ("on",), LOST),
    Setting("synchronous_commit", ("on", "remote_apply"), LOST),
    *(Setting(name, ("off",), SEEN) for name in OFF),
    *(Setting(name, ("-1",), SEEN) for name in NEVER),
    *(Setting(name, ("0",), SEEN) for name in FEW),
    *(Setting(name, ("none", "ddl"), SEEN) for name in ("log_statement", "pgaudit.log")),
)


def connect(address: str) -> psycopg.Connection[Any]:
    """A connection whose transactions are as this package needs them; errors are psycopg's."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    try:
        given = conninfo_to_dict(address)
    except psycopg.ProgrammingError:  # its message may repeat a part of the password
        raise InvalidInput(
            "the address of a database must read postgresql://user@host:port/name, got one that does not. Write signs "
            "such as @ or % in a password as %40 or %25, or leave the password to ~/.pgpass."
        ) from None
    connection = psycopg.connect(make_conninfo("", **CONNECTION | given), autocommit=True)
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
    for name, value in PATIENCE.items():
        connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    return connection


def check_server(connection: psycopg.Connection[Any]) -> None:
    """Refuse a server that forgets what it acknowledged, or remembers when it came."""
    import psycopg

    if (version := connection.info.server_version) < OLDEST:
        raise InvalidInput(
            f"PostgreSQL must be of version {OLDEST // 10_000} or later, got {version // 10_000}. Upgrade the server."
        )
    names = [setting.name for setting in SETTINGS]
    found = dict(connection.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", (names,)).fetchall())
    for name, allowed, otherwise in SETTINGS:
        if (value := found.get(name, allowed[0])) in allowed:
            continue
        try:
            connection.execute("SELECT set_config(%s, %s, false)", (name, allowed[0]))
        except psycopg.errors.InsufficientPrivilege:
            remedy = f"As a superuser: ALTER ROLE \"{connection.info.user}\" SET {name} = '{allowed[0]}'."
        except psycopg.errors.CantChangeRuntimeParam:
            remedy = "Change it in postgresql.conf, and restart the server."
        else:
            continue
        raise InvalidInput(
            f"{name} of the database's server must be {allowed[0]}, got {value}: {otherwise}. {remedy}"
        ) from None


def cautions(connection: psycopg.Connection[Any]) -> list[str]:
    """What will say after the close in which order reports came, and how to prevent it."""
    archive, kept, slots, standbys = (
        connection.execute(
            """SELECT current_setting('archive_mode') <> 'off', current_setting('wal_keep_size') <> '0',
                  EXISTS (SELECT FROM pg_replication_slots), EXISTS (SELECT FROM pg_stat_replication)"""
        ).fetchone()
        or (False,) * 4
    )
    facts = {
        "archives its log of writes (archive_mode)": archive,
        "keeps its log of writes (wal_keep_size)": kept,
        "has replication slots": slots,
        "has standbys": standbys,
    }
    found = [
        f"the database's server {fact}: in which order reports came can be read there after the close. Use a server "
        f"without, or delete those copies after the close."
        for fact, holds in facts.items()
        if holds
    ]
    if not _may_write_over_log(connection):
        found.append(
            f"the role {connection.info.user!r} may not write over the log of writes (pg_wal): in which order reports "
            f"came can be read there until the server needs the space. As a superuser: GRANT pg_checkpoint, pg_monitor "
            f'TO "{connection.info.user}" (before PostgreSQL 15: run CHECKPOINT after the close, with wal_recycle off).'
        )
    return found


def _may_write_over_log(connection: psycopg.Connection[Any]) -> bool:
    (may,) = connection.execute(
        """SELECT has_function_privilege('pg_ls_waldir()', 'EXECUTE') AND (
               (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
               OR COALESCE(pg_has_role(to_regrole('pg_checkpoint'), 'USAGE'), false))"""
    ).fetchone() or (False,)
    return bool(may)


def write_over_log(connection: psycopg.Connection[Any]) -> bool:
    """Fill the server's log of writes with spaces, from here to the end of every segment that it
    keeps for later; say whether the role may.
    """
    if not _may_write_over_log(connection):
        return False
    _fill_up_to(connection, "SELECT pg_walfile_name(pg_current_wal_insert_lsn())")
    connection.execute("CHECKPOINT")  # the segments before are now removed, or renamed to be used again
    _fill_up_to(connection, "SELECT max(name) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'")
    connection.execute("CHECKPOINT")
    return True


def _fill_up_to(connection: psycopg.Connection[Any], last_segment: Any) -> None:
    """Write until that segment, too, is full."""
    (last,) = connection.execute(last_segment).fetchone() or ("",)
    fill = """
        SELECT pg_walfile_name(pg_logical_emit_message(false, 'shuffledp', repeat(' ', setting::int / 4)))
        FROM pg_settings WHERE name = 'wal_segment_size'"""
    while True:
        (now,) = connection.execute(fill).fetchone() or ("",)
        if now > last:
            return


def reason(error: psycopg.Error) -> str:
    """What the operator is told of an error, in one line without the data it concerned."""
    first, *_ = (error.diag.message_primary or str(error) or type(error).__name__).strip().splitlines()
    return first.rstrip(".")


LOG = logging.getLogger(__name__)
VERSION = 1
PAGE = 5_000  # envelopes that are read at once

# A B-tree takes keys of 2,700 bytes, and a report may be longer: its SHA-256 is the key. The server
# collects no statistics of envelopes and codes: they would be a sample of those that came early.
TABLES = """
CREATE TABLE collection (digest text PRIMARY KEY, version int, reports bigint, closed bool, swept bool);
CREATE TABLE reports (envelope bytea NOT NULL);
CREATE UNIQUE INDEX reports_key ON reports (sha256(envelope));
CREATE TABLE codes (hash bytea PRIMARY KEY, used bool NOT NULL DEFAULT false);
ALTER TABLE reports ALTER COLUMN envelope SET STORAGE EXTERNAL, ALTER COLUMN envelope SET STATISTICS 0;
ALTER INDEX reports_key ALTER COLUMN 1 SET STATISTICS 0;
ALTER TABLE codes ALTER COLUMN hash SET STATISTICS 0;
"""
PREPARING = """
SET LOCAL statement_timeout = 0;
SET LOCAL work_mem = '256MB';
CREATE TABLE sealed (place bigint PRIMARY KEY, envelope bytea NOT NULL);
ALTER TABLE sealed ALTER COLUMN envelope SET STORAGE EXTERNAL;
"""
SORTING = "INSERT INTO sealed SELECT row_number() OVER (ORDER BY envelope), envelope FROM reports ORDER BY envelope"
# Dummies wait in a table that the log of writes does not know.
ADDING_DUMMIES = """
CREATE UNLOGGED TABLE dummies (envelope bytea NOT NULL);
ALTER TABLE dummies ALTER COLUMN envelope SET STORAGE EXTERNAL, ALTER COLUMN envelope SET STATISTICS 0;
"""
MIXING = """
INSERT INTO sealed SELECT row_number() OVER (ORDER BY envelope), envelope FROM (
    SELECT envelope FROM (SELECT envelope, row_number() OVER () - 1 AS number FROM reports) AS numbered
    WHERE get_bit(%(kept)b::bytea, number::int) = 1
    UNION ALL SELECT envelope FROM dummies
) AS handed_on ORDER BY envelope
"""
ENDING = """
DROP TABLE reports;
ALTER TABLE sealed RENAME TO reports;
CREATE UNIQUE INDEX reports_key ON reports (sha256(envelope));
TRUNCATE codes;
UPDATE collection SET closed = true;
"""
STATE = "SELECT reports, closed FROM collection WHERE digest = %(digest)s AND version = %(version)s"
FOUND = """
SELECT reports, closed, ARRAY(SELECT sha256(envelope) FROM reports WHERE sha256(envelope) = ANY(%(keys)b)), hashes, used
FROM collection, (SELECT array_agg(hash) AS hashes, array_agg(used) AS used FROM codes WHERE hash = ANY(%(codes)b)) AS c
WHERE digest = %(digest)s AND version = %(version)s
"""
ADDING = """
WITH added AS (INSERT INTO reports (envelope) SELECT unnest(%(new)b::bytea[])),
     used AS (UPDATE codes SET used = true WHERE hash = ANY(%(spent)b::bytea[]))
UPDATE collection SET reports = reports + %(people)s
"""
OWNER = """
SELECT owner.rolname, owner.oid = own.oid OR NOT own.rolsuper AND pg_has_role(owner.oid, 'USAGE')
FROM pg_namespace JOIN pg_roles owner ON owner.oid = nspowner, pg_roles own
WHERE nspname = %s AND own.rolname = current_user
"""
INVITING = "INSERT INTO codes (hash) SELECT unnest(%b::bytea[]) ON CONFLICT DO NOTHING"
PAGING = "SELECT envelope FROM reports WHERE place > %s AND place <= %s ORDER BY place"
HAPPENED = {"53100": "its disk is full", "55P03": "it is busy", "57014": "it is busy", "25006": "it is a standby"}


class PostgresStore(Store):
    """The envelopes of a collection in the database at an ``address`` (postgresql://...).

    It connects when it is made, and again by itself whenever the connection was lost. What the
    server will still know after the close is said in the log at the start.
    """

    def __init__(self, address: str, collection: Collection) -> None:
        self._address, self._digest = address, collection.digest
        self._codes, self._most, self._messages = collection.codes, collection.design.n, Uploads(collection).messages
        self._dummies = SealedDummies.of(collection)
        self._schema, self._named = f"shuffledp_{self._digest[:40]}", {"digest": self._digest, "version": VERSION}
        self._lock = int.from_bytes(bytes.fromhex(self._digest)[:8], signed=True)
        self._said: set[str] = set()
        self._connection: psycopg.Connection[Any] | None = None
        try:
            self._begin()
        except BaseException:
            self.stop()
            raise

    def _begin(self) -> None:
        try:
            import psycopg
        except ImportError:
            raise InvalidInput(
                "psycopg must be installed for a store in PostgreSQL, got no module named psycopg. pip install "
                "'shuffledp[postgres]'"
            ) from None
        try:
            self._connection = self._connected()
            self._make(self._connection)
            stocked = self._state(self._connection)
            for caution in cautions(self._connection):
                LOG.warning("warning: %s", caution)
        except psycopg.Error as error:
            raise InvalidInput(
                f"the database of a store must be there, and let its role make a schema, got: "
                f"{reason(error)}. Check the address, the password, and that the server runs; or as "
                f"its owner: GRANT CREATE ON DATABASE name TO role."
            ) from None
        if stocked.closed:
            self._sweep()  # whoever closed it may have been killed before the end

    def invite(self, hashes: Iterable[bytes]) -> int:
        new = sorted(set(hashes))

        def inviting(connection: psycopg.Connection[Any]) -> int:
            self._take_lock(connection)
            if self._state(connection).closed:
                return 0  # codes are forgotten, and no longer of use
            return connection.execute(INVITING, (new,)).rowcount

        return self._transact(inviting)

    def add(self, uploads: Sequence[Records]) -> list[Added | Refused]:
        messages = self._messages
        envelopes = (each for upload in uploads for person in upload for each in person.apart(messages))
        keys = {hashlib.sha256(each).digest(): each for each in envelopes}
        codes = {each.code for upload in uploads for each in upload if each.code is not None}
        sought = self._named | {"keys": sorted(keys), "codes": sorted(codes)}

        def adding(connection: psycopg.Connection[Any]) -> list[Added | Refused]:
            self._take_lock(connection)
            reports, closed, stored, hashes, used = self._row(connection, FOUND, sought)
            known = dict(zip(hashes or (), used or (), strict=True)) if self._codes else None
            silent = closed and self._dummies is not None and self._dummies.drops
            there = set() if silent else {keys[key] for key in stored}
            admission = Admission(there, known, reports, self._most, closed, messages)
            answers = [admission.decide(upload) for upload in uploads]
            if new := admission.new:
                connection.execute(ADDING, {"new": new, "spent": admission.spent, "people": len(new) // messages})
            return answers

        return self._transact(adding)

    def stock(self) -> Stocked:
        return self._transact(self._state)

    def close(self, least: int) -> Stocked:
        def closing(connection: psycopg.Connection[Any]) -> Stocked:
            self._take_lock(connection)
            stocked = self._state(connection)
            if stocked.closed or stocked.reports < least:
                return stocked
            connection.execute(PREPARING)
            self._hand_on(connection)
            connection.execute(ENDING)
            return self._state(connection)

        stocked = self._transact(closing)
        if stocked.closed:
            self._sweep()
        return stocked

    def _hand_on(self, connection: psycopg.Connection[Any]) -> None:
        """All that is released, in the order of its bytes, to a table of its own."""
        if (dummies := self._dummies) is None:
            connection.execute(SORTING)
            return
        connection.execute(ADDING_DUMMIES)
        with connection.cursor() as cursor, cursor.copy("COPY dummies FROM STDIN (FORMAT binary)") as copy:
            for part in dummies.sealed(dummies.numbers()):
                for envelope in part:
                    copy.write_row([envelope])
        (count,) = connection.execute("SELECT count(*) FROM reports").fetchone() or (0,)
        coins = np.packbits(dummies.kept(count), bitorder="little").tobytes()
        connection.execute(MIXING, {"kept": coins})
        connection.execute("DROP TABLE dummies")

    def _sweep(self) -> None:
        """Wipe what is left of the order of arrival, unless that was done."""

        def sweeping(connection: psycopg.Connection[Any]) -> None:
            if connection.execute("SELECT swept FROM collection").fetchone() == (True,):
                return
            connection.execute("SET statement_timeout = 0")
            connection.execute("VACUUM (FULL) collection")
            connection.execute("VACUUM (FREEZE) collection, reports")
            if write_over_log(connection):
                connection.execute("UPDATE collection SET swept = true")
            connection.execute("RESET statement_timeout")

        self._tried(sweeping)

    def sealed(self) -> Iterator[bytes]:
        start = 0
        while page := self._tried(partial(_page, start=start)):
            yield page
            start += PAGE

    def stop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _take_lock(self, connection: psycopg.Connection[Any]) -> None:
        """Wait until nobody else adds or closes; what follows sees what they did."""
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (self._lock,))

    def _state(self, connection: psycopg.Connection[Any]) -> Stocked:
        reports, closed = self._row(connection, STATE, self._named)
        if not closed or self._dummies is None:
            return Stocked(reports, closed)
        (released,) = connection.execute("SELECT coalesce(max(place), 0) FROM reports").fetchone() or (0,)
        return Stocked(reports, closed, released)

    def _row(self, connection: psycopg.Connection[Any], query: LiteralString, sought: dict[str, Any]) -> Any:
        """What a query finds about the collection, if it is this one."""
        row = connection.execute(query, sought, binary=True).fetchone()
        if row is None:
            raise InvalidInput(
                f"schema {self._schema} of the database must hold collection {self._digest} as this version of "
                f"shuffledp writes it, got something else. Use the shuffledp that made it, or another database."
            )
        return row

    def _transact(self, work: Callable[[psycopg.Connection[Any]], Result]) -> Result:
        def in_transaction(connection: psycopg.Connection[Any]) -> Result:
            with connection.transaction():
                return work(connection)

        return self._tried(in_transaction)

    def _tried(self, work: Callable[[psycopg.Connection[Any]], Result]) -> Result:
        """Do some work; if the connection was lost meanwhile, once more over a new one. Whether a
        commit that was under way happened, nobody knows: done twice, it comes out the same.
        """
        import psycopg

        new = self._connection is None
        try:
            if self._connection is None:
                self._connection = self._connected()
            return work(self._connection)
        except (psycopg.Error, InvalidInput) as error:
            lost = self._connection is None or self._connection.broken
            if lost:
                self.stop()
            if new or not lost:
                raise self._unavailable(error) from error
        return self._tried(work)

    def _connected(self) -> psycopg.Connection[Any]:
        """A new connection, in which tables of this collection need not be called by full names."""
        connection = connect(self._address)
        try:
            check_server(connection)
            connection.execute("SELECT set_config('search_path', %s, false)", (self._schema,))
        except BaseException:
            connection.close()
            raise
        return connection

    def _unavailable(self, error: psycopg.Error | InvalidInput) -> Unavailable:
        """What clients are told. The error, which may name machines, is for the operator; once, for
        how often it happened would say when reports came.
        """
        import psycopg

        said = reason(error) if isinstance(error, psycopg.Error) else str(error)
        if said not in self._said:
            self._said.add(said)
            LOG.error("the database: %s", said)
        happened = HAPPENED.get(getattr(error, "sqlstate", None) or "", "it does not answer as it should")
        return Unavailable(f"the shuffler's database cannot be used now ({happened}). Send the same bytes again later.")

    def _make(self, connection: psycopg.Connection[Any]) -> None:
        """Make the tables, unless another shuffler did."""
        from psycopg import sql

        with connection.transaction():
            self._take_lock(connection)
            schema, table = "SELECT to_regnamespace(%s)", "SELECT to_regclass('collection')"
            if connection.execute(schema, (self._schema,)).fetchone() == (None,):
                connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(self._schema)))
            self._check_owner(connection)
            if connection.execute(table).fetchone() == (None,):
                connection.execute(TABLES)
                first = "INSERT INTO collection VALUES (%s, %s, 0, false, false)"
                connection.execute(first, (self._digest, VERSION))

    def _check_owner(self, connection: psycopg.Connection[Any]) -> None:
        """Refuse a schema that somebody else made: its name is public, and its owner would see
        every report arrive, by a trigger that runs with our rights.
        """
        owner, ours = connection.execute(OWNER, (self._schema,)).fetchone() or ("nobody", False)
        if not ours:
            raise InvalidInput(
                f"schema {self._schema} of the database must belong to the shuffler's role {connection.info.user!r}, "
                f"got one of {owner!r}, who would see when reports come. Connect as the role that made it, or use "
                f"another database."
            )


def _page(connection: psycopg.Connection[Any], start: int) -> bytes:
    """Envelopes after the first ``start``."""
    return b"".join(envelope for (envelope,) in connection.execute(PAGING, (start, start + PAGE), binary=True))
