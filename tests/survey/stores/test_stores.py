"""What every store promises, on each of them."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.survey.stores import fingerprints
from shuffledp.survey.stores.fingerprints import Fingerprints
from shuffledp.survey.stores.store import Added, Stocked
from shuffledp.survey.wire import Delivery
from tests.survey.several import AmongBlanks, delivery, messages_of
from tests.survey.stores.conftest import Places
from tests.survey.stores.places import LEAST, MOST, code, envelope, told, upload


def test_what_was_added_is_there_once(place: Places) -> None:
    at = place()
    store = at.open()
    assert store.stock() == Stocked(0, closed=False)
    assert store.add([upload(1, 2), upload(3)]) == [Added(2, 2), Added(1, 1)]
    assert store.add([upload(2), upload(4, 4, 1), upload(5), upload(5)]) == [
        Added(1, 0),
        Added(3, 1),
        Added(1, 1),
        Added(1, 0),
    ]
    assert store.add([]) == []
    assert store.stock() == Stocked(5, closed=False)
    store = at.reopen()
    assert store.stock() == Stocked(5, closed=False)
    assert store.add([upload(1, 2, 3, 4, 5, 6)]) == [Added(6, 1)]


def test_the_close_is_final_and_releases_everything_once_in_order(place: Places) -> None:
    at = place()
    store = at.open()
    people = range(LEAST)
    store.add([upload(*people[1:])])
    assert store.close(LEAST) == Stocked(LEAST - 1, closed=False), "one too few"
    assert store.add([upload(*people)]) == [Added(LEAST, 1)], "it is still open"
    assert store.close(LEAST) == Stocked(LEAST, closed=True)
    released = b"".join(store.sealed())
    assert released == b"".join(sorted(map(envelope, people)))
    for _ in range(2):
        assert store.close(LEAST) == store.close(MOST) == store.stock() == Stocked(LEAST, closed=True)
        assert [told(each) for each in store.add([upload(7), upload(LEAST), upload(7, LEAST)])] == [
            Added(1, 0),
            (410, None),
            (410, None),
        ]
        assert told(store.add([upload(LEAST)])[0]) == (410, None), "also where nothing is familiar"
        assert b"".join(store.sealed()) == released
        store = at.reopen()


def test_envelopes_leave_the_store_in_blocks(place: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.survey.stores.postgres.PAGE", 7)
    monkeypatch.setattr("shuffledp.survey.stores.sqlite.BLOCK", 7 * 49)
    store = place().open()
    store.add([upload(*range(50))])
    store.close(50)
    blocks = list(store.sealed())
    assert len(blocks) == 8
    assert b"".join(blocks) == b"".join(sorted(map(envelope, range(50))))


def test_no_more_than_the_design_has_people(place: Places) -> None:
    store = place().open()
    store.add([upload(*range(MOST - 1))])
    assert told(store.add([upload(MOST, MOST + 1)])[0]) == (409, None), "also where nothing is familiar"
    answers = store.add([upload(MOST, MOST + 1), upload(0, MOST), upload(MOST + 1), upload(MOST, 5)])
    assert [told(each) for each in answers] == [(409, None), Added(2, 1), (409, None), Added(2, 0)]
    assert store.stock() == Stocked(MOST, closed=False)


def test_a_code_is_good_for_one_report(place: Places) -> None:
    at = place(codes=True)
    store = at.open()
    assert store.invite(map(code, range(10))) == 10
    assert store.invite(map(code, range(5, 12))) == 2

    def sent(number: int, by: int) -> list[Delivery]:
        return [Delivery(envelope(number), code(by))]

    answers = store.add(
        [
            sent(1, by=1),
            sent(2, by=1),  # used, by the upload before
            sent(1, by=1),  # the same again
            sent(1, by=99),  # stored: whatever comes with it
            sent(3, by=99),
            sent(4, by=2) + sent(5, by=2),
            sent(4, by=2) + sent(1, by=3) + sent(6, by=99),  # refused whole
            sent(4, by=2) + sent(1, by=3) + sent(4, by=4),
        ]
    )
    told_so = [Added(1, 1), (409, 0), Added(1, 0), Added(1, 0), (403, 0), (409, 1), (403, 2), Added(3, 1)]
    assert [told(each) for each in answers] == told_so
    for _ in range(2):
        assert store.invite(map(code, range(12))) == 0, "they stay as they are"
        assert [told(each) for each in store.add([sent(7, by=1), sent(7, by=2)])] == [(409, 0), (409, 0)]
        store = at.reopen()
    assert store.add([sent(7, by=3), sent(8, by=4)]) == [Added(1, 1), Added(1, 1)], "codes that nobody used up"
    assert store.close(4) == Stocked(4, closed=True)
    assert store.invite(map(code, range(20))) == 0, "too late"
    assert [told(each) for each in store.add([sent(9, by=5), sent(7, by=77)])] == [(410, None), Added(1, 0)]


@dataclass
class Shelf:
    """What a store should do, in as few words as possible."""

    codes: bool
    held: set[bytes] = field(default_factory=set)
    free: set[bytes] = field(default_factory=set)
    used: set[bytes] = field(default_factory=set)
    closed: bool = False

    def add(self, deliveries: Sequence[Delivery]) -> Added | tuple[int, int | None]:
        held, free, used = set(self.held), set(self.free), set(self.used)
        for at, (sealed, by) in enumerate(deliveries):
            if sealed in held:
                continue
            if self.closed:
                return 410, None
            if self.codes and by not in free:
                return (409 if by in used else 403), at
            held.add(sealed)
            if by in free:
                free.remove(by)
                used.add(by)
        if len(held) > MOST:
            return 409, None
        new = len(held) - len(self.held)
        self.held, self.free, self.used = held, free, used
        return Added(len(deliveries), new)


@pytest.mark.parametrize("codes", [False, True])
def test_any_sequence_of_uploads_comes_out_as_it_should(place: Places, codes: bool) -> None:
    """Therefore both stores do the same."""
    draw, at, shelf = random.Random(14), place(codes=codes), Shelf(codes)
    store = at.open()
    seen: set[object] = set()
    for step in range(120):
        if codes and step % 20 == 0:
            hashes = {code(draw.randrange(1500)) for _ in range(300)}
            fresh = hashes - shelf.free - shelf.used
            shelf.free |= fresh
            assert store.invite(hashes) == len(fresh)
        uploads = [
            [
                Delivery(envelope(draw.randrange(1300)), code(draw.randrange(1500)) if codes else None)
                for _ in range(size)
            ]
            for size in draw.choices((1, 2, 40), k=draw.randrange(1, 5))
        ]
        expected = [shelf.add(each) for each in uploads]
        assert [told(each) for each in store.add(uploads)] == expected
        seen |= {each[0] if type(each) is tuple else min(each.new, 1) for each in expected}
        assert store.stock() == Stocked(len(shelf.held), closed=False)
        if step % 40 == 39:
            store = at.reopen()
    assert seen == ({0, 1, 403, 409} if codes else {0, 1, 409})
    store.close(0)
    assert b"".join(store.sealed()) == b"".join(sorted(shelf.held))


def test_an_empty_collection_closes_too(place: Places) -> None:
    store = place().open()
    assert store.close(0) == Stocked(0, closed=True)
    assert list(store.sealed()) == []


def test_the_messages_of_a_person_are_stored_together_or_not_at_all(place: Places) -> None:
    at = place(law=AmongBlanks())
    store = at.open()
    one, two, three = (messages_of(person) for person in (1, 2, 3))
    assert store.add([[delivery(*one), delivery(*two)], [delivery(*one)]]) == [Added(2, 2), Added(1, 0)]
    assert store.add([[delivery(*reversed(one))]]) == [Added(1, 0)], "they have no order"
    wrong = [
        [delivery(*three[:2], one[0])],
        [delivery(*three), delivery(three[0], two[0], messages_of(4)[0])],
        [delivery(*3 * three[:1])],
    ]
    for _ in range(2):
        assert [told(each) for each in store.add(wrong)] == 3 * [(409, None)]
        assert store.stock() == Stocked(2, closed=False), "refused whole"
        store = at.reopen()
    assert store.add([[delivery(*three), delivery(*three)]]) == [Added(2, 1)]
    assert store.close(4) == Stocked(3, closed=False)
    assert store.close(3) == Stocked(3, closed=True)
    assert b"".join(store.sealed()) == b"".join(sorted(one + two + three))
    answers = store.add([[delivery(*two)], [delivery(*messages_of(4))], [delivery(*two[:2], one[0])]])
    assert [told(each) for each in answers] == [Added(1, 0), (410, None), Added(1, 0)]


def test_a_collection_of_several_messages_is_full_of_people(place: Places) -> None:
    store = place(law=AmongBlanks()).open()
    everybody = [delivery(*messages_of(person)) for person in range(MOST + 1)]
    assert store.add([everybody[:-1]]) == [Added(MOST, MOST)]
    assert [told(each) for each in store.add([everybody[-1:], everybody[:5]])] == [(409, None), Added(5, 0)]


def test_one_code_is_for_all_messages_of_a_person(place: Places) -> None:
    store = place(law=AmongBlanks(), codes=True).open()
    store.invite([code(1), code(2)])
    answers = store.add([[delivery(*messages_of(1), code=code(1))], [delivery(*messages_of(2), code=code(1))]])
    assert [told(each) for each in answers] == [Added(1, 1), (409, 0)]
    assert store.add([[delivery(*messages_of(2), code=code(2))]]) == [Added(1, 1)]


BATCHES = st.integers(1, 70).flatmap(
    lambda length: st.lists(
        st.lists(st.binary(min_size=length, max_size=length), min_size=1, max_size=20), min_size=1, max_size=8
    )
)


@pytest.mark.parametrize("few", [1, 5, 4096])
@given(batches=BATCHES)
def test_every_envelope_is_found_at_all_its_places(few: int, batches: list[list[bytes]]) -> None:
    known, kept = Fingerprints(len(batches[0][0])), list[bytes]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprints, "FEW", few)
        for batch in batches:
            marks = known.marks(b"".join(batch))
            assert known.familiar(marks) == (len({*batch, *kept}) < len(batch) + len(set(kept)))
            known.add(marks)
            kept += batch
    asked = sorted(set(kept))
    found = {
        (number, place) for number, place in known.places(known.marks(b"".join(asked))) if kept[place] == asked[number]
    }
    assert found == {(asked.index(envelope), place) for place, envelope in enumerate(kept)}
    assert known.count == len(kept)


def test_others_are_not_found() -> None:
    """Neither random ones nor those that differ in one bit: of 200,000 comparisons with 64 bits, none meets."""
    known, kept = Fingerprints(49), [os.urandom(49) for _ in range(500)]
    known.add(known.marks(b"".join(kept)))
    near = [bytes(49 * [0])] + [
        bytes([*envelope[:at], envelope[at] ^ 0x80, *envelope[at + 1 :]]) for envelope in kept[:8] for at in range(49)
    ]
    marks = known.marks(b"".join(near))
    assert not known.familiar(marks)
    assert known.places(marks) == known.places(known.marks(b"")) == []


def test_runs_stay_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "FEW", 1)
    known = Fingerprints(3)
    for number in range(1000):
        known.add(known.marks(number.to_bytes(3)))
    assert len(known._runs) <= 10
