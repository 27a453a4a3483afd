"""After the close, whoever has the shuffler's disk and all that was released finds no order, address,
time or code. Before it, or on the disk of a careless shuffler, the same program finds them.
"""

from __future__ import annotations

import http.client
import os
import random
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import numpy as np
import pytest

from shuffledp.randomizers.messages import ShufflerDummies
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import Envelopes, SealedHeader
from shuffledp.survey.stores import postgres
from shuffledp.survey.stores.postgres import PostgresStore
from shuffledp.survey.stores.sqlite import SQLiteStore
from shuffledp.survey.stores.store import Added, Store
from shuffledp.survey.wire import MEDIA_TYPE, Address, Delivery, Uploads, hash_of_code
from tests.survey.linking import Disk, Truth, findings
from tests.survey.several import delivery, messages_of, several, with_law
from tests.survey.shufflers import process, trial
from tests.survey.stores.running_postgres import RunningPostgres
from tests.survey.studies import study

PEOPLE = 600
TOGETHER = 10  # reports of one upload
ADDRESSES = [f"127.{number}.{200 - number}.77" for number in range(60, 60 + PEOPLE // TOGETHER)]
Uploaded = Sequence[Sequence[Delivery]]


def people(collection: Collection) -> tuple[list[bytes], list[bytes]]:
    """Fresh envelopes and codes, in the order in which they will arrive."""
    length = Uploads(collection).envelope_bytes
    return [os.urandom(length) for _ in range(PEOPLE)], [os.urandom(16) for _ in range(PEOPLE)]


def uploads(collection: Collection, envelopes: list[bytes], codes: list[bytes]) -> list[list[Delivery]]:
    each = [
        Delivery(envelope, hash_of_code(collection.digest, code))
        for envelope, code in zip(envelopes, codes, strict=True)
    ]
    return [each[start : start + TOGETHER] for start in range(0, PEOPLE, TOGETHER)]


def filled(store: Store, collection: Collection, halfway: Callable[[], None]) -> Truth:
    """Let everybody report; a second before and after it is not the time of any report."""
    envelopes, codes = people(collection)
    store.invite([hash_of_code(collection.digest, code) for code in codes])
    time.sleep(1.1)
    first = time.time()
    for number, upload in enumerate(uploads(collection, envelopes, codes)):
        assert store.add([upload]) == [Added(TOGETHER, TOGETHER)]
        if number == PEOPLE // TOGETHER // 2:
            halfway()
    last = time.time()
    time.sleep(1.1)
    return Truth(collection.digest, envelopes, codes, times=(first, last))


# ---- a shuffler as it runs, with SQLite


def test_a_closed_shuffler_has_forgotten_who_when_and_in_which_order(tmp_path: Path) -> None:
    collection, place = study(codes=True), tmp_path / "shuffler"
    envelopes, codes = people(collection)
    hashes = tmp_path / "hashes.txt"
    hashes.write_text("".join(f"{hash_of_code(collection.digest, code).hex()}\n" for code in codes))
    place.mkdir()
    with process(place, collection, "--codes", str(hashes)) as shuffler:
        ways, at = Uploads(collection), Address(collection.digest)
        time.sleep(0.1)
        first = time.time()
        for number, address in enumerate(ADDRESSES):
            these = slice(number * TOGETHER, (number + 1) * TOGETHER)
            assert (
                ask(shuffler.url, at.reports, address, ways.body(envelopes[these], codes[these]))
                == b'{"reports":10,"new":10}'
            )
        truth = Truth(collection.digest, envelopes, codes, ADDRESSES, (first, time.time()))
        time.sleep(1.1)
        assert set(findings(Disk.of(place), truth)) == {"order", "code", "time"}, "the positive control: it is open"
        ask(shuffler.url, at.close, "127.0.0.1", b"", shuffler.token)
        sealed = ask(shuffler.url, at.sealed, "127.0.0.1", None, shuffler.token)
        assert findings(Disk.of(place), truth) == {}, "while it runs"
        assert shuffler.stop() == 0
    assert findings(Disk.of(place), truth) == {}
    (place / "fetched").write_bytes(sealed)
    assert findings(Disk.of(place), truth) == {}, "with the analyst's view"
    assert sealed == SealedHeader.of(collection.digest, PEOPLE, ways.envelope_bytes).content + b"".join(
        sorted(envelopes)
    )
    log = (place / "log.txt").read_text()
    assert "the collection is closed" in log, "it was read"


def ask(url: str, path: str, source: str, body: bytes | None, token: str = "") -> bytes:
    """One request, from an address of its own."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, source_address=(source, 0), timeout=60)
    with closing(connection):
        headers = {"content-type": MEDIA_TYPE} | ({"authorization": f"Bearer {token}"} if token else {})
        connection.request("GET" if body is None else "POST", path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status in (200, 201), content
        return content


def test_a_closed_file_is_a_function_of_its_envelopes(tmp_path: Path) -> None:
    collection = study(codes=True)
    envelopes, codes = people(collection)
    hashes = [hash_of_code(collection.digest, code) for code in codes]
    orders: list[Uploaded] = [uploads(collection, envelopes, codes), uploads(collection, envelopes[::-1], codes)]
    mixed = random.Random(1).sample(envelopes, PEOPLE)
    orders.append([[each] for upload in uploads(collection, mixed, codes[::-1]) for each in upload])
    disks = []
    for number, order in enumerate(orders):
        place = tmp_path / str(number)
        place.mkdir()
        store = SQLiteStore(place / "reports.sqlite", collection)
        store.invite(hashes if number else hashes[:PEOPLE])
        for at in range(0, len(order), 7 * number + 1):
            store.add(order[at : at + 7 * number + 1])
            if number == 1 and at == 8:
                store.stop()  # and begun again
                store = SQLiteStore(place / "reports.sqlite", collection)
        store.close(PEOPLE)
        disks.append({path.name: path.read_bytes() for path in place.iterdir()})
        store.stop()
        assert {path.name: path.read_bytes() for path in place.iterdir()} == disks[-1]
    assert disks[0] == disks[1] == disks[2]


# ---- careless shufflers


def test_a_careless_shuffler_is_found_out(tmp_path: Path) -> None:
    collection = study(codes=True)
    envelopes, codes = people(collection)
    now = time.time()
    moments = [now + number / 100 for number in range(PEOPLE)]
    sources = [ADDRESSES[number // TOGETHER] for number in range(PEOPLE)]
    truth = Truth(collection.digest, envelopes, codes, ADDRESSES, (moments[0], moments[-1]))

    def table(name: str, columns: Sequence[Sequence[object]]) -> None:
        (tmp_path / name).mkdir()
        with closing(sqlite3.connect(tmp_path / name / "reports.sqlite", isolation_level=None)) as connection:
            connection.execute(f"CREATE TABLE reports({', '.join(f'c{number}' for number in range(len(columns)))})")
            marks = ", ".join("?" * len(columns))
            connection.execute("BEGIN")
            connection.executemany(f"INSERT INTO reports VALUES ({marks})", zip(*columns, strict=True))
            connection.execute("COMMIT")
        os.utime(tmp_path / name / "reports.sqlite", (1, 1))

    hashes = [hash_of_code(collection.digest, code) for code in codes]
    table("numbered", [envelopes])
    table("keyed", [sorted(envelopes)])
    table("timed", [sorted(envelopes), sorted(moments)])
    table("in seconds", [sorted(envelopes), [int(moment) for moment in moments]])
    table("in microseconds", [sorted(envelopes), [int(moment * 1e6) for moment in moments]])
    table("coded", [sorted(envelopes), hashes])
    table("text", [sorted(envelopes), [code.hex() for code in codes]])
    table("sourced", [sorted(envelopes), [bytes(map(int, source.split("."))) for source in sources]])
    (tmp_path / "stated").mkdir()
    statements = "".join(f"DETAIL:  parameters: $1 = '{{\"\\\\x{each.hex()}\"}}'\n" for each in envelopes)
    (tmp_path / "stated" / "postgres.log").write_text(statements)
    os.utime(tmp_path / "stated" / "postgres.log", (1, 1))
    (tmp_path / "logged").mkdir()
    with (tmp_path / "logged" / "access.log").open("w") as log:
        for moment, source in zip(moments, sources, strict=True):
            log.write(f"{source} - [{datetime.fromtimestamp(moment, UTC):%d/%b/%Y:%H:%M:%S}] POST 201\n")
    os.utime(tmp_path / "logged" / "access.log", (1, 1))
    found = {place.name: set(findings(Disk.of(place), truth)) for place in tmp_path.iterdir()}
    assert found == {
        "numbered": {"order"},
        "keyed": set(),
        "timed": {"time"},
        "in seconds": {"time"},
        "in microseconds": {"time"},
        "coded": {"code"},
        "text": {"code"},
        "sourced": {"address"},
        "stated": {"order"},
        "logged": {"address", "time"},
    }


# ---- PostgreSQL


def server_disk(database: RunningPostgres, before: Disk) -> Disk:
    """What has changed on the server's disk, after everything that it holds in memory was written."""
    with database.owner() as connection:
        connection.execute("CHECKPOINT")
    return Disk.of(database.folder, but=before)


@pytest.mark.parametrize("careful", [True, False])
def test_a_closed_database_has_forgotten_too(
    database: RunningPostgres, careful: bool, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    collection = study(codes=True, question=f"Careful: {careful}?")
    before = Disk.of(database.folder)
    request.addfinalizer((store := PostgresStore(database.address(), collection)).stop)
    with database.owner() as connection:
        connection.execute(f"SET search_path TO shuffledp_{collection.digest[:40]}")
        if not careful:
            monkeypatch.setattr(postgres, "write_over_log", lambda _: True)
            connection.execute("ALTER TABLE reports ALTER COLUMN envelope SET STATISTICS 100")

        def analyze() -> None:
            connection.execute("ANALYZE reports, codes")  # as the server does by itself, now and then

        truth = filled(store, collection, analyze)
        found = findings(server_disk(database, before), truth)
        assert set(found) >= {"order", "code", "time"}, "the positive control: it is open"
        assert store.close(PEOPLE).closed
        rows = connection.execute("SELECT envelope, xmin::text::bigint, ctid FROM reports ORDER BY ctid").fetchall()
    assert [row[0] for row in rows] == sorted(truth.arrived), "the places of rows are the order of their bytes"
    assert len({row[1] for row in rows}) == 1, "one transaction"
    found = findings(server_disk(database, before), truth)
    if careful:
        assert found == {}
        return
    assert set(found) >= {"order", "code", "time"}, "the positive control: the log of writes tells all"
    assert any("pg_wal" in place for place in found["order"])
    assert any("pg_wal" not in place for place in found["order"]), "a sample of those that came early"


# ---- dummies of the shuffler


def told_apart(disk: Disk, collection: Collection, people: list[bytes], released: bytes) -> set[str]:
    """What the attacker finds of what the shuffler drew: messages that it dropped, or anything that
    depends on which are dummies.
    """
    handed = {released[start : start + 49] for start in range(0, len(released), 49)}
    kept, dropped = [each for each in people if each in handed], [each for each in people if each not in handed]
    dummies = list(handed - set(people))
    found = {"dropped"} if any(each[:16] in content for content in disk.files.values() for each in dropped) else set()
    return found | set(findings(disk, Truth(collection.digest, [*kept, *dummies])))


@pytest.mark.parametrize("careful", [True, False])
@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.fleet)])
def test_a_closed_store_has_forgotten_what_was_dropped_and_which_are_dummies(
    kind: str, careful: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    law = ShufflerDummies(k=3, keep=0.5, center=100, left=0.6, right=0.6)
    collection = with_law(law, question=f"Dummies, careful: {careful}?")
    people = Envelopes(collection).seal(np.repeat([0, 1, 2], PEOPLE // 3))
    before, store = Disk(), cast(Store, None)
    if kind == "sqlite":
        store = SQLiteStore(tmp_path / "reports.sqlite", collection)
        if not careful:
            monkeypatch.setattr("shuffledp.survey.stores.sqlite._overwrite", lambda _: None)
            monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
    else:
        database = request.getfixturevalue("database")
        before = Disk.of(database.folder)
        request.addfinalizer((store := PostgresStore(database.address(), collection)).stop)
        if not careful:
            monkeypatch.setattr(postgres, "write_over_log", lambda _: True)
    store.add([[Delivery(each, None)] for each in people])
    assert store.close(PEOPLE).closed
    released = b"".join(store.sealed())
    disk = Disk.of(tmp_path) if kind == "sqlite" else server_disk(request.getfixturevalue("database"), before)
    store.stop()
    found = told_apart(disk, collection, people, released)
    assert found == (set() if careful else {"dropped", "order"}), "and the positive control, a careless shuffler"


# ---- several messages of one person


def together(disk: Disk) -> float:
    """By how many standard errors two messages of one person lie nearer to each other than two of
    different people, in the file that tells most.
    """
    told = [0.0]
    for content in disk.files.values():
        found = [[content.find(each[:16]) for each in messages_of(person)[:2]] for person in range(PEOPLE)]
        places = np.array([pair for pair in found if min(pair) >= 0], dtype=float)
        if len(places) > PEOPLE // 2:
            own = np.abs(places[:, 0] - places[:, 1])
            others = np.abs(places[:, 0] - np.random.default_rng(1).permutation(places[:, 1]))
            told.append(float((others.mean() - own.mean()) / np.sqrt((own.var() + others.var()) / len(own))))
    return max(told)


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.fleet)])
def test_a_closed_store_has_forgotten_which_messages_came_together(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    collection, before = several(question="Together?"), Disk()
    if kind == "sqlite":
        store: Store = SQLiteStore(tmp_path / "reports.sqlite", collection)
    else:
        database = request.getfixturevalue("database")
        before = Disk.of(database.folder)
        store = PostgresStore(database.address(), collection)
    request.addfinalizer(store.stop)

    def disk() -> Disk:
        return Disk.of(tmp_path) if kind == "sqlite" else server_disk(database, before)

    for person in range(PEOPLE):
        store.add([[delivery(*messages_of(person))]])
    assert together(disk()) > 20.0, "the positive control: it is open"
    assert store.close(PEOPLE).closed
    assert together(disk()) < 6.0


# ---- what is fetched


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_is_fetched_does_not_depend_on_the_order(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    fetched = []
    envelopes, _ = people(study())
    for number in range(2):
        collection, place = study(question=f"Of {kind}?"), tmp_path / str(number)
        place.mkdir()
        store: Store = SQLiteStore(place / "reports.sqlite", collection)
        if kind == "postgres":
            store.stop()
            database = request.getfixturevalue("database")
            store = PostgresStore(database.address(), collection)
        with trial(place, collection, store=store) as running:
            for start in range(0, PEOPLE, 150 + 50 * number):
                assert running.send(envelopes[start : start + 150 + 50 * number]).status_code == 201
            assert running.close().status_code == 200
            fetched += [running.fetch().content, running.fetch().content]
        if kind == "postgres":
            with database.owner() as connection:
                connection.execute(f"DROP SCHEMA shuffledp_{collection.digest[:40]} CASCADE")
        random.Random(number).shuffle(envelopes)
    header = SealedHeader.of(collection.digest, PEOPLE, Uploads(collection).envelope_bytes)
    assert set(fetched) == {header.content + b"".join(sorted(envelopes))}
