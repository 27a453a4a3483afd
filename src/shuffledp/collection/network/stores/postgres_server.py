"""A PostgreSQL server that keeps what it acknowledged, and does not write down when it came.

What a server is asked before reports are given to it, and what is done to its files afterwards:

- ``fsync`` and ``synchronous_commit`` are on, or what was acknowledged could be lost.
- ``track_commit_timestamp`` is off, and the server's own log shows no statements: they would say
  when reports came, and which.
- After the close, its log of writes (``pg_wal``) still has every report in the order of arrival.
  Segments that are no longer needed are renamed and wait to be written again, so what they hold
  is written over, segment by segment. This takes the roles pg_checkpoint and pg_monitor.

What remains, and nobody but the administrator can change: archived segments (``archive_mode``),
standbys and replication slots, ``wal_keep_size``, base backups, and the blocks of deleted files,
which a file system frees without erasing them: the first tables, and what a large sort wrote to
``pgsql_tmp``. For those, an encrypted disk whose key is destroyed afterwards is the only remedy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from shuffledp.errors import InvalidInput

if TYPE_CHECKING:
    import psycopg

__all__ = ["SCHEMES", "cautions", "check_driver", "check_server", "connect", "reason", "write_over_log"]

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


SETTINGS = (
    Setting("fsync", ("on",), LOST),
    Setting("synchronous_commit", ("on", "remote_apply"), LOST),
    Setting("track_commit_timestamp", ("off",), SEEN),
    Setting("log_statement", ("none", "ddl"), SEEN),
    Setting("log_duration", ("off",), SEEN),
    Setting("log_min_duration_statement", ("-1",), SEEN),
    Setting("log_min_duration_sample", ("-1",), SEEN),
    Setting("log_transaction_sample_rate", ("0",), SEEN),
    Setting("log_parameter_max_length_on_error", ("0",), SEEN),
    Setting("debug_print_parse", ("off",), SEEN),
    Setting("debug_print_rewritten", ("off",), SEEN),
    Setting("debug_print_plan", ("off",), SEEN),
    Setting("auto_explain.log_min_duration", ("-1",), SEEN),  # of extensions, where they are loaded
    Setting("pgaudit.log", ("none", "ddl"), SEEN),
)


def check_driver() -> None:
    """Refuse to begin without psycopg."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise InvalidInput(
            "psycopg must be installed for a store in PostgreSQL, got no module named psycopg. pip install "
            "'shuffledp[postgres]'"
        ) from None


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
