"""kill -9 of the database, again and again, while several shufflers add to one collection.

python -m tests.survey.stores.database_kills --rounds 20
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from threading import Thread

from shuffledp.errors import InvalidInput
from shuffledp.survey.collection import Collection
from shuffledp.survey.stores.postgres import PostgresStore
from shuffledp.survey.stores.store import Added, Unavailable
from shuffledp.survey.wire import Delivery, Refused
from tests.survey.stores.running_postgres import RunningPostgres
from tests.survey.studies import designs, study, with_target

CODES = 4000  # that all shufflers draw from, so that they meet


@dataclass
class Told:
    """What one shuffler sent, and what it was told."""

    sent: dict[bytes, bytes] = field(default_factory=dict)  # envelopes, and the codes that came with them
    acknowledged: set[bytes] = field(default_factory=set)
    refused: int = 0
    unavailable: int = 0


def large(question: str) -> Collection:
    """A collection that does not become full."""
    return replace(study(question=question, codes=True), design=with_target(designs()["krr"], n=10**6))


def hash_number(number: int) -> bytes:
    return number.to_bytes(32)


def shuffler(address: str, collection: Collection, seed: int, stop: Path) -> Told:
    """Send until told to stop; what was not answered is sent again, the same bytes."""
    draw, told, store = random.Random(seed), Told(), _started(address, collection)
    waiting: list[list[Delivery]] = []
    while waiting or not stop.exists():
        if not waiting:
            waiting = [
                [
                    Delivery(draw.randbytes(49), hash_number(draw.randrange(CODES)))
                    for _ in range(draw.choice((1, 1, 3)))
                ]
                for _ in range(draw.randrange(1, 5))
            ]
            told.sent |= {each.envelopes: each.code or b"" for upload in waiting for each in upload}
        try:
            answers = store.add(waiting)
        except Unavailable:
            told.unavailable += 1
            time.sleep(0.05)
            continue
        _note(told, waiting, answers)
        waiting = []
    store.stop()
    return told


def _started(address: str, collection: Collection) -> PostgresStore:
    while True:
        try:
            return PostgresStore(address, collection)
        except InvalidInput:  # it begins while the database is down
            time.sleep(0.05)


def _note(told: Told, uploads: list[list[Delivery]], answers: list[Added | Refused]) -> None:
    for upload, answer in zip(uploads, answers, strict=True):
        if isinstance(answer, Refused):
            told.refused += 1
        else:
            told.acknowledged |= {each.envelopes for each in upload}


def kill_under_load(
    database: RunningPostgres, collection: Collection, executor: Executor, *, rounds: int, shufflers: int
) -> dict[str, int]:
    """Kill the database so often, and once more while the collection is closed; every acknowledged
    report must be released, exactly once.
    """
    owner, draw = PostgresStore(database.address(), collection), random.Random()
    owner.invite(map(hash_number, range(CODES)))
    with tempfile.TemporaryDirectory() as folder:
        stop = Path(folder) / "stop"
        running = [
            executor.submit(shuffler, database.address(), collection, draw.getrandbits(64), stop)
            for _ in range(shufflers)
        ]
        try:
            for _ in range(rounds):
                before = _stock(owner)
                while _stock(owner) == before and not any(each.done() for each in running):
                    time.sleep(0.01)  # nothing was added since the last time
                time.sleep(draw.uniform(0, 0.3))
                database.kill()
                database.start()
        finally:
            stop.touch()
        told = [each.result() for each in running]
    closing = Thread(target=_close, args=(owner,))
    closing.start()
    time.sleep(draw.uniform(0, 0.1))
    database.kill()
    database.start()
    closing.join()
    assert owner.close(0).closed
    released = b"".join(owner.sealed())
    owner.stop()
    return _judge(told, [released[start : start + 49] for start in range(0, len(released), 49)])


def _stock(store: PostgresStore) -> int:
    try:
        return store.stock().reports
    except Unavailable:
        return -1


def _close(store: PostgresStore) -> None:
    with suppress(Unavailable):
        store.close(0)


def _judge(told: list[Told], released: list[bytes]) -> dict[str, int]:
    acknowledged = set().union(*(each.acknowledged for each in told))
    codes = {envelope: code for each in told for envelope, code in each.sent.items()}
    assert released == sorted(set(released)), "each once, in order"
    assert acknowledged <= set(released), "acknowledged, and lost"
    assert set(released) <= set(codes), "released, and never sent"
    used = [codes[envelope] for envelope in released]
    assert len(used) == len(set(used)), "a code for two reports"
    return {
        "acknowledged": len(acknowledged),
        "released": len(released),
        "refused": sum(each.refused for each in told),
        "unavailable": sum(each.unavailable for each in told),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--shufflers", type=int, default=3)
    arguments = parser.parse_args()
    database = RunningPostgres()
    try:
        with ProcessPoolExecutor(arguments.shufflers, mp_context=get_context("spawn")) as executor:
            print(kill_under_load(database, large("Killed?"), executor, **vars(arguments)))
    finally:
        database.remove()


if __name__ == "__main__":
    main()
