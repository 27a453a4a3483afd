"""A shuffler that drops messages and adds dummies at the close: once, as the law says, and so that
neither the analyst nor the disk can tell which.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from shuffledp.randomizers.messages import ShufflerDummies
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import KEY_BYTES, Envelopes
from shuffledp.survey.stores import sqlite
from shuffledp.survey.stores.sqlite import SQLiteStore
from shuffledp.survey.stores.store import Added, SealedDummies, Stocked, Store
from shuffledp.survey.wire import Delivery
from tests.survey.memory_folder import memory_folder
from tests.survey.several import with_law
from tests.survey.stores.conftest import Places
from tests.survey.stores.places import told
from tests.survey.stores.test_sqlite import LEFT, killed_while_closing
from tests.survey.studies import KEY

HALF = ShufflerDummies(k=3, keep=0.5, center=40, left=0.6, right=0.6)
ALL = ShufflerDummies(k=3, keep=1.0, kind="poisson", rate=40.0)
VALUES = np.repeat([0, 1, 2], [300, 200, 100])


def sent(collection: Collection) -> list[bytes]:
    return Envelopes(collection).seal(VALUES)


def filled(store: Store, envelopes: list[bytes]) -> None:
    people = [Delivery(each, None) for each in envelopes]
    assert store.add([people]) == [Added(len(people), len(people))]


def cut(content: bytes, length: int = 49) -> list[bytes]:
    return [content[start : start + length] for start in range(0, len(content), length)]


@pytest.mark.parametrize("law", [HALF, ALL], ids=["half", "all"])
def test_the_close_drops_and_adds_as_the_law_says(place: Places, law: ShufflerDummies) -> None:
    at = place(law=law)
    store, people = at.open(), sent(at.collection)
    filled(store, people)
    assert store.stock() == Stocked(600, closed=False)
    closed = store.close(500)
    released = cut(b"".join(store.sealed()))
    assert closed == Stocked(600, closed=True, released=len(released))
    assert released == sorted(set(released))
    kept, dummies = set(released) & set(people), set(released) - set(people)
    assert abs(len(kept) - 600 * law.keep) <= 6.0 * np.sqrt(600 * law.keep * (1 - law.keep))
    opened = Envelopes(at.collection).opened(sorted(dummies), KEY)
    counts = np.bincount(opened, minlength=3)
    assert counts.sum() == len(dummies), "each opens, to one of the values"
    assert law.numbers.first <= counts.min() <= counts.max() <= law.numbers.last
    assert np.all(abs(counts - float(law.numbers.mean)) <= 9.0 * np.sqrt(float(law.numbers.variance)))
    for _ in range(2):
        again = [told(each) for each in store.add([[Delivery(each, None)] for each in people[:20]])]
        assert again == [(410, None) if law is HALF else Added(1, 0)] * 20, "kept or dropped: nobody is told"
        assert told(store.add([[Delivery(bytes(49), None)]])[0]) == (410, None)
        assert store.close(500) == store.stock() == closed, "nothing is drawn again"
        assert cut(b"".join(store.sealed())) == released
        store = at.reopen()


def test_many_dummies_leave_in_blocks_and_parts(place: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.survey.stores.store.CHUNK", 50)  # sealed by processes
    monkeypatch.setattr(sqlite, "BLOCK", 7 * 49)
    monkeypatch.setattr(sqlite, "AT_ONCE", 100 * 49)  # several passes, each with coins of its own
    at = place(law=HALF)
    store, people = at.open(), sent(at.collection)
    filled(store, people)
    closed = store.close(500)
    released = cut(b"".join(store.sealed()))
    assert released == sorted(set(released))
    assert len(released) == closed.released
    assert abs(len(set(released) & set(people)) - 300) <= 6.0 * np.sqrt(150)


@pytest.fixture
def folder() -> Iterator[Path]:
    with memory_folder() as made:
        yield made


def test_a_killed_close_draws_again_and_leaves_nothing_of_the_first_draw(
    folder: Path, record_property: pytest.RecordProperty
) -> None:
    """Two draws of one close would show the dummies: what is in both is people's. So nothing of the
    first may stay.
    """
    collection = with_law(HALF)
    people, begun = sent(collection), folder / "begun"
    begun.mkdir()
    store = SQLiteStore(begun / "reports.sqlite", collection)
    filled(store, people)
    store.stop()
    closes, shown = 0, 0
    for line in range(1, 500, 6):
        own = folder / str(line)
        shutil.copytree(begun, own)
        killed = killed_while_closing(own, [], line, collection)
        beside, mirror = own / ".reports.sqlite.new", own / "seen"
        first = set()
        if beside.exists():
            os.link(beside, mirror)
            first = found_in(mirror.read_bytes(), people)
        store = SQLiteStore(own / "reports.sqlite", collection)
        assert store.stock().reports == 600
        store.close(500)
        released = cut(b"".join(store.sealed()))
        assert abs(len(set(released) & set(people)) - 300) <= 6.0 * np.sqrt(150)
        store.stop()
        if first:
            shown += 1
            assert first - set(released), "the positive control: what was drawn first, and dropped now, was there"
            assert set(mirror.read_bytes()) == {0}
        mirror.unlink(missing_ok=True)
        assert set(os.listdir(own)) == LEFT
        dropped = set(people) - set(released)
        assert not found_in((own / "reports.sqlite").read_bytes(), sorted(dropped))
        shutil.rmtree(own)
        closes += killed
        if not killed:
            break
    assert shown > 0
    record_property("fault: closes with dummies that were killed", closes)


def found_in(content: bytes, envelopes: list[bytes]) -> set[bytes]:
    return {each for each in envelopes if each in content}


def tells(dummies: list[bytes], people: list[bytes]) -> float:
    """How far from each other the two are, byte by byte, in standard deviations; the same bytes in
    several of one kind tell at once.
    """
    if any(len({each[:KEY_BYTES] for each in some}) < len(some) for some in (dummies, people)):
        return np.inf
    one, two = (np.array([list(each) for each in some], dtype=float) for some in (dummies, people))
    if one.shape[1] != two.shape[1]:
        return np.inf
    spread = np.sqrt(one.var(axis=0) / len(one) + two.var(axis=0) / len(two)) + 1e-9
    return float(np.max(np.abs(one.mean(axis=0) - two.mean(axis=0)) / spread))


def test_sealed_dummies_look_like_everybodys_messages() -> None:
    collection = with_law(ShufflerDummies(k=3, center=400, left=0.6, right=0.6))
    people, ways = sent(collection), SealedDummies.of(collection)
    assert ways is not None
    dummies = [each for part in ways.sealed(ways.numbers()) for each in part]
    assert tells(dummies, people) < 6.5
    padded = [each + b"\0" for each in dummies]
    reused = [dummies[0][:KEY_BYTES] + each[KEY_BYTES:] for each in dummies]
    marked = [bytes([each[0] & 0x7F]) + each[1:] for each in dummies]
    assert min(tells(careless, people) for careless in (padded, reused, marked)) > 6.5, "the positive control"
