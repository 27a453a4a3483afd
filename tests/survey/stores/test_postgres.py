"""A database that is shared, goes away, fills up, or is not the right one."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from shuffledp.errors import InvalidInput
from shuffledp.survey.collection import Collection
from shuffledp.survey.stores import postgres
from shuffledp.survey.stores.postgres import PostgresStore
from shuffledp.survey.stores.store import Added, Stocked, Unavailable, open_store
from shuffledp.survey.wire import Delivery, Refused
from tests.survey.shufflers import envelopes, trial
from tests.survey.stores.cut_cable import Cable, Cut
from tests.survey.stores.database_kills import kill_under_load, large
from tests.survey.stores.places import LEAST, MOST, code, envelope, told, upload
from tests.survey.stores.running_postgres import PASSWORD, RunningPostgres, unprivileged
from tests.survey.studies import study

Opened = Callable[..., PostgresStore]
SHUFFLERS = 4


@pytest.fixture
def collection(own: str) -> Collection:
    return study(question=own)


@pytest.fixture
def opened(database: RunningPostgres, collection: Collection) -> Iterator[Opened]:
    made: list[PostgresStore] = []

    def at(address: str | None = None, of: Collection = collection) -> PostgresStore:
        made.append(PostgresStore(address or database.address(), of))
        return made[-1]

    yield at
    for each in made:
        each.stop()


@contextmanager
def tables(database: RunningPostgres, collection: Collection) -> Iterator[psycopg.Connection]:
    """The tables of a collection, for whoever breaks into them."""
    with database.owner() as connection:
        connection.execute(f"SET search_path TO shuffledp_{collection.digest[:40]}")  # type: ignore[call-overload]
        yield connection


# ---- several shufflers


def at_once(work: Callable[[int], list[Added | Refused]]) -> list[Added | Refused]:
    with ThreadPoolExecutor(SHUFFLERS) as pool:
        return [answer for answers in pool.map(work, range(SHUFFLERS)) for answer in answers]


@pytest.mark.sample
def test_several_shufflers_begin_at_once(database: RunningPostgres, collection: Collection) -> None:
    with ThreadPoolExecutor(SHUFFLERS) as pool:
        stores = list(pool.map(lambda _: PostgresStore(database.address(), collection), range(SHUFFLERS)))
    for number, store in enumerate(stores):
        assert store.add([upload(number)]) == [Added(1, 1)]
    assert stores[0].stock() == Stocked(SHUFFLERS, closed=False)
    for store in stores:
        store.stop()


def test_several_shufflers_take_each_report_once_and_no_more_than_fit(opened: Opened) -> None:
    stores, people = [opened() for _ in range(SHUFFLERS)], MOST + 100

    def send(shuffler: int) -> list[Added | Refused]:
        turns = (range(start, start + 20) for start in range(0, people, 20))
        return [answer for turn in turns for answer in stores[shuffler].add([upload(each) for each in turn])]

    answers = at_once(send)
    assert sum(each.new for each in answers if isinstance(each, Added)) == MOST
    assert {told(each) for each in answers} == {Added(1, 1), Added(1, 0), (409, None)}
    assert stores[0].stock() == Stocked(MOST, closed=False)


def test_several_shufflers_take_a_code_once(opened: Opened, own: str) -> None:
    stores = [opened(of=study(question=own, codes=True)) for _ in range(SHUFFLERS)]
    stores[0].invite(map(code, range(60)))

    def send(shuffler: int) -> list[Added | Refused]:
        reports = [Delivery(envelope(1000 * shuffler + each), code(each)) for each in range(60)]
        return [answer for report in reports for answer in stores[shuffler].add([[report]])]

    answers = [told(each) for each in at_once(send)]
    assert answers.count(Added(1, 1)) == 60
    assert answers.count((409, 0)) == 60 * (SHUFFLERS - 1)


def test_one_closes_while_others_add(opened: Opened) -> None:
    stores, many = [opened() for _ in range(SHUFFLERS)], threading.Event()

    def send(shuffler: int) -> list[Added | Refused]:
        answers: list[Added | Refused] = []
        for number in range(MOST):
            answers += stores[shuffler].add([upload(1000 * number + shuffler)])
            if number == 20:
                many.set()
            if isinstance(answers[-1], Refused):
                break
        return answers

    closer = opened()
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(at_once, send)
        assert many.wait(60)
        closed = closer.close(20)
        answers = [told(each) for each in sending.result()]
    assert closed.closed
    assert answers.count((410, None)) == SHUFFLERS, "everybody was told"
    assert answers.count(Added(1, 1)) == closed.reports, "nothing was added after the close"
    assert len(b"".join(closer.sealed())) == 49 * closed.reports


def test_two_shufflers_answer_for_one_collection(
    database: RunningPostgres, collection: Collection, tmp_path: Path
) -> None:
    stores = [open_store(database.address(), collection) for _ in range(2)]
    with trial(tmp_path, collection, store=stores[0]) as one, trial(tmp_path, collection, store=stores[1]) as other:
        reports = envelopes(collection, LEAST)
        assert one.send(reports[:300]).json() == {"reports": 300, "new": 300}
        again = other.send(reports[200:400])
        assert (again.status_code, again.json()) == (201, {"reports": 200, "new": 100})
        assert (one.send(reports[200:400]).status_code, other.close().status_code) == (200, 409)
        database.stop()
        lost = one.send(reports[400:])
        assert (lost.status_code, lost.headers["retry-after"]) == (503, "30")
        assert "Send the same bytes again" in lost.json()["error"]
        database.start()
        assert one.send(reports[400:]).status_code == 201
        assert other.close().json()["reports"] == LEAST
        assert (one.send(reports[:1]).status_code, one.send(envelopes(collection, 1, seed=1)).status_code) == (200, 410)
        assert one.fetch().content == other.fetch().content == other.fetch().content


# ---- a database that goes away


def test_the_database_is_killed_under_load(database: RunningPostgres, own: str) -> None:
    with ThreadPoolExecutor(3) as pool:
        found = kill_under_load(database, large(own), pool, rounds=3, shufflers=3)
    assert found["acknowledged"] > 0
    assert found["unavailable"] > 0


def test_a_lost_connection_is_made_again(database: RunningPostgres, opened: Opened) -> None:
    store = opened()
    store.add([upload(1)])
    with database.owner() as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shuffler'")
    assert store.add([upload(1), upload(2)]) == [Added(1, 0), Added(1, 1)]
    database.stop()
    for ask in (lambda: store.add([upload(3)]), store.stock, lambda: store.close(0), lambda: store.invite([])):
        with pytest.raises(Unavailable, match="does not answer"):
            ask()
    database.start()
    assert store.stock() == Stocked(2, closed=False)


@pytest.mark.parametrize("cut", [Cut.BEFORE_COMMIT, Cut.AFTER_COMMIT])
def test_a_commit_whose_outcome_is_unknown(database: RunningPostgres, opened: Opened, cut: Cut) -> None:
    direct = opened()
    with Cable(database.port) as cable:
        store = opened(database.over_tcp(port=cable.port))
        cable.cut = cut
        assert store.add([upload(1)]) == [Added(1, int(cut is Cut.BEFORE_COMMIT))], "asked again, over a new connection"
        cable.cut, cable.then = cut, Cut.AT_ONCE
        with pytest.raises(Unavailable):
            store.add([upload(2)])
        assert cable.cuts == 2
        assert direct.add([upload(2)]) == [Added(1, int(cut is Cut.BEFORE_COMMIT))], "the client sends it again"
        cable.cut = Cut.NEVER
        assert store.stock() == Stocked(2, closed=False)
        store.stop()


def test_a_close_whose_outcome_is_unknown(database: RunningPostgres, opened: Opened) -> None:
    with Cable(database.port) as cable:
        store = opened(database.over_tcp(port=cable.port))
        store.add([upload(*range(LEAST))])
        cable.cut, cable.then = Cut.AFTER_COMMIT, Cut.AT_ONCE
        with pytest.raises(Unavailable):
            store.close(LEAST)
        cable.cut = Cut.NEVER
        assert store.close(LEAST) == Stocked(LEAST, closed=True)
        store.stop()


def test_a_database_that_is_busy(database: RunningPostgres, opened: Opened) -> None:
    store = opened()
    with database.owner() as connection:
        connection.execute("ALTER ROLE shuffler SET statement_timeout = '100ms'")
        hasty = opened()
        connection.execute("ALTER ROLE shuffler RESET statement_timeout")
        connection.execute("SELECT pg_advisory_lock(%s)", (store._lock,))  # a shuffler that hangs
        with pytest.raises(Unavailable, match="busy"):
            hasty.add([upload(1)])
        with pytest.raises(Unavailable, match="busy"):
            hasty.close(0)
    assert hasty.stock() == store.stock() == Stocked(0, closed=False)
    assert hasty.add([upload(1)]) == [Added(1, 1)]


@pytest.fixture
def small_disk(database: RunningPostgres) -> Iterator[Path]:
    place, owner = database.folder / "small", unprivileged()
    place.mkdir()
    mount = shutil.which("mount")
    options = f"size=1m,uid={owner.get('user', 0)},mode=700"
    command = [str(mount), "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small file system can be mounted by root only, and not in every container")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(database: RunningPostgres, opened: Opened, collection: Collection, small_disk: Path) -> None:
    store = opened()
    with database.owner() as connection:
        connection.execute(f"CREATE TABLESPACE small LOCATION '{small_disk}'")  # type: ignore[call-overload]
    with tables(database, collection) as connection:
        connection.execute("ALTER TABLE reports SET TABLESPACE small")
    long = [[Delivery(envelope(number, 20_000), None)] for number in range(100)]
    with pytest.raises(Unavailable, match="disk is full"):
        [store.add([one]) for one in long]
    added = store.stock().reports
    assert 10 < added < 100
    log = database.log.read_text()
    assert "No space left on device" in log, "the server writes down what failed"
    assert not any(one[0].envelopes[:8].hex() in log for one in long), "and not of which report"
    with tables(database, collection) as connection:
        connection.execute("ALTER TABLE reports SET TABLESPACE pg_default")
        connection.execute("DROP TABLESPACE small")
    assert store.add(long[: added + 1])[added - 1 :] == [Added(1, 0), Added(1, 1)]
    assert store.close(0).closed
    assert len(b"".join(store.sealed())) == 20_000 * (added + 1), "longer than a key of an index may be"


# ---- another database than it should be


def refused(address: str, collection: Collection, *words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        PostgresStore(address, collection)
    said = str(caught.value)
    assert "\n" not in said
    assert PASSWORD not in said
    for word in words:
        assert word in said, said


def test_a_database_that_cannot_be_reached(database: RunningPostgres, collection: Collection) -> None:
    refused(database.over_tcp("another"), collection, "password authentication failed", "Check the address")
    refused(database.over_tcp(database="none"), collection, 'database "none" does not exist')
    refused(database.address("nobody"), collection, 'role "nobody" does not exist')
    refused(database.over_tcp(port=1), collection, "Connection refused")
    refused(f"postgresql://shuffler:{PASSWORD}@127.0.0.1/postgres", collection, "user@host:port/name", "%25", ".pgpass")
    refused("postgresql://127.0.0.1:none/", collection, "invalid integer value", "Check the address")
    with database.owner() as connection:
        connection.execute("CREATE ROLE stranger LOGIN")
        refused(database.address("stranger"), collection, "permission denied", "GRANT CREATE ON DATABASE")
        connection.execute("DROP ROLE stranger")


def test_tables_of_another_collection_or_version(
    database: RunningPostgres, opened: Opened, collection: Collection
) -> None:
    store, other = opened(), opened(of=study(question="Another?"))
    store.add([upload(1)])
    assert other.stock() == Stocked(0, closed=False), "several collections share a database"
    changes = ("version = 0", "version = 1, digest = repeat('0', 64)")
    for change in changes:
        with tables(database, collection) as connection:
            connection.execute(f"UPDATE collection SET {change}")  # type: ignore[call-overload]
        refused(database.address(), collection, "Use the shuffledp that made it")
        with pytest.raises(Unavailable):
            store.add([upload(2)])
    with tables(database, collection) as connection:
        connection.execute("DROP TABLE collection, reports, codes")
    with pytest.raises(Unavailable):
        store.add([upload(2)])


def test_tables_that_somebody_else_made(database: RunningPostgres, collection: Collection) -> None:
    """The name of a schema follows from the collection, which is public; who owns it, could see the
    reports arrive.
    """
    PostgresStore(database.address("guest"), collection).stop()
    schema = f"shuffledp_{collection.digest[:40]}"
    with psycopg.connect(database.address("guest"), autocommit=True) as guest:
        for grant in (f"SCHEMA {schema}", f"ALL TABLES IN SCHEMA {schema}"):
            guest.execute(f"GRANT ALL ON {grant} TO PUBLIC")  # type: ignore[call-overload]
    for role in ("shuffler", "owner"):
        refused(database.address(role), collection, f"role '{role}'", "one of 'guest'", "Connect as the role")
    with database.owner() as connection:
        connection.execute("GRANT guest TO shuffler")
        PostgresStore(database.address(), collection).stop()
        connection.execute("REVOKE guest FROM shuffler")


def test_the_log_of_writes_is_written_over_once(monkeypatch: pytest.MonkeyPatch, opened: Opened) -> None:
    calls, written_over = [], postgres.write_over_log
    monkeypatch.setattr(postgres, "write_over_log", lambda each: (calls.append(each), written_over(each))[1])
    store = opened()
    store.add([upload(*range(LEAST))])
    for _ in range(2):
        assert store.close(LEAST) == Stocked(LEAST, closed=True)
        assert opened().stock() == Stocked(LEAST, closed=True)
    assert len(calls) == 1, "whoever comes later finds it done"


def test_a_server_that_forgets_or_remembers_too_much(database: RunningPostgres, collection: Collection) -> None:
    """Settings that a role may change for itself are changed; for the others, it is told who can."""
    with database.owner() as connection:
        settings = {"synchronous_commit": "off", "debug_print_plan": "on"}
        for name, value in settings.items():
            connection.execute(f"ALTER ROLE shuffler SET {name} = '{value}'")  # type: ignore[call-overload]
        store = PostgresStore(database.address(), collection)
        assert store._connection is not None
        assert store._connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
        assert store._connection.execute("SHOW debug_print_plan").fetchone() == ("off",)
        store.stop()
        connection.execute("ALTER ROLE shuffler SET log_statement = 'all'")
        refused(database.address(), collection, "log_statement", "ALTER ROLE \"shuffler\" SET log_statement = 'none'")
        connection.execute("ALTER ROLE shuffler RESET ALL")
        PostgresStore(database.address(), collection).stop()


def test_a_server_without_fsync_or_with_times_of_commits(database: RunningPostgres, collection: Collection) -> None:
    database.stop()
    database.start(fsync="off")
    refused(database.address(), collection, "fsync", "must be on", "could be lost", "restart")
    database.stop()
    database.start(track_commit_timestamp="on", archive_mode="on", archive_command="true", wal_keep_size="1MB")
    refused(database.address(), collection, "track_commit_timestamp", "must be off")
    with database.owner() as connection:
        found = postgres.cautions(connection)
    assert [word for word in ("archive_mode", "wal_keep_size") if not any(word in each for each in found)] == []
    database.stop()
    database.start()


def test_what_a_role_cannot_wipe_is_said_before(
    database: RunningPostgres, opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    opened()
    assert caplog.messages == []
    opened(database.address("guest"), of=study(question="By a guest?"))
    (caution,) = caplog.messages
    assert "GRANT pg_checkpoint, pg_monitor" in caution


def test_the_server_is_too_old(
    monkeypatch: pytest.MonkeyPatch, database: RunningPostgres, collection: Collection
) -> None:
    monkeypatch.setattr("shuffledp.survey.stores.postgres.OLDEST", 990_000)
    refused(database.address(), collection, "version 99 or later", "Upgrade")


def test_without_psycopg(monkeypatch: pytest.MonkeyPatch, collection: Collection) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    refused("postgresql://127.0.0.1/none", collection, "pip install 'shuffledp[postgres]'")
