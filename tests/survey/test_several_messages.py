"""People who send several messages each: stored all or none, counted as people, released one by one."""

from __future__ import annotations

from pathlib import Path

import httpx
import numpy as np
import pytest

from shuffledp.errors import InvalidInput
from shuffledp.survey import Client
from shuffledp.survey.all_cores import sealed
from shuffledp.survey.envelopes import OVERHEAD, Envelopes, SealedHeader
from shuffledp.survey.outbox import Outbox
from shuffledp.survey.wire import Refused, Uploads, code_text, hash_of_code
from tests.survey.pretended import Pretended
from tests.survey.several import MESSAGES, messages_of, several
from tests.survey.shufflers import trial
from tests.survey.studies import KEY, study

PEOPLE = range(500)
EACH = OVERHEAD + 1


def test_a_record_is_a_code_and_the_envelopes_of_one_person() -> None:
    plain, coded = Uploads(several()), Uploads(several(codes=True))
    assert (plain.length, coded.length, plain.most) == (MESSAGES * EACH, 16 + MESSAGES * EACH, 10_000 // MESSAGES)
    two = [*messages_of(1), *messages_of(2)]
    assert [each.envelopes for each in plain.read(plain.body(two))] == [b"".join(two[:3]), b"".join(two[3:])]
    codes = [bytes([number]) * 16 for number in range(2)]
    body = coded.body(two, codes)
    assert body == codes[0] + b"".join(two[:3]) + codes[1] + b"".join(two[3:])
    assert [each.code for each in coded.read(body)] == [hash_of_code(coded.collection.digest, code) for code in codes]
    assert Uploads(study()).most == 10_000, "as before, where a person sends one"


@pytest.mark.parametrize("size", [MESSAGES - 1, MESSAGES + 1, 2 * MESSAGES - 1])
def test_a_message_too_few_or_too_many_is_refused(size: int) -> None:
    with pytest.raises(Refused, match=rf"records of {MESSAGES * EACH} bytes, {MESSAGES} messages of a person, got"):
        Uploads(several()).read(bytes(size * EACH))
    with pytest.raises(Refused, match="records of"):
        Uploads(several()).read(bytes(MESSAGES * EACH - 1))


def test_more_messages_than_an_upload_holds_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"must fit into an upload of 16,777,216 bytes, got 400,000 of 49 bytes"):
        Uploads(several(400_000))
    assert Uploads(several(300_000)).most == 1


def test_messages_are_sealed_one_by_one_and_follow_each_other() -> None:
    collection = several(2)
    reports = collection.reporter.encode([2, 0, 1])
    chunks = list(sealed(collection, [reports[:1], reports[1:]]))
    assert [len(each) for each in chunks] == [2, 4]
    envelopes = [envelope for chunk in chunks for envelope in chunk]
    assert {len(each) for each in envelopes} == {EACH}
    assert Envelopes(collection).opened(envelopes, KEY).tolist() == [2, 3, 0, 3, 1, 3]


@pytest.mark.parametrize("codes", [False, True])
def test_a_device_keeps_and_sends_all_its_messages_and_again_the_same_bytes(tmp_path: Path, codes: bool) -> None:
    code = bytes(range(16))
    collection = several(codes=codes)
    known = [hash_of_code(collection.digest, code)] if codes else None
    shuffler = Pretended(collection, httpx.ReadError("broken"), codes=known)
    shuffler.first = [shuffler.lose_answer]
    client = Client(collection, outbox=tmp_path / "outbox", transport=shuffler.transport)
    receipt = client.send("no", code=code_text(code) if codes else None)
    assert (receipt.acknowledged, receipt.drawn) == (1, True)
    (record,) = shuffler.seen
    envelopes = [record[start : start + EACH] for start in range(0, len(record), EACH)]
    assert Envelopes(collection).opened(envelopes, KEY).tolist() == [1, 3, 3]
    stored = Outbox.of(tmp_path / "outbox", Uploads(collection)).find()
    assert stored is not None
    assert (stored.sent, stored.waiting) == (1, 0)


def test_people_are_counted_and_messages_released_in_the_order_of_their_bytes(tmp_path: Path) -> None:
    collection = several()
    with trial(tmp_path, collection) as running:
        for start in range(0, 499, 100):
            people = PEOPLE[start : min(start + 100, 499)]
            answer = running.send([each for person in people for each in messages_of(person)])
            assert answer.json() == {"reports": len(people), "new": len(people)}
        again = running.send([*messages_of(7), *messages_of(499)])
        assert (again.status_code, again.json()) == (201, {"reports": 2, "new": 1})
        assert running.send(messages_of(7)).json() == {"reports": 1, "new": 0}
        status = running.request("GET", running.address.status).json()
        assert (status["promise"], status["most"]) == (500, 1000)
        assert status["reports"] <= 500, "people"
        assert "shuffledp_reports" in running.request("GET", "/metrics").text
        mixed = running.send([*messages_of(7)[:2], messages_of(1000)[0]])
        twice = running.send([messages_of(1001)[0]] * MESSAGES)
        assert (mixed.status_code, twice.status_code) == (409, 409)
        assert "all new, or all stored already" in mixed.json()["error"]
        assert running.close().json() == {"state": "closed", "reports": 500}
        assert running.send(messages_of(7)).json() == {"reports": 1, "new": 0}, "what is stored is acknowledged"
        assert running.send(messages_of(1000)).status_code == 410
        released = running.fetch().content
    everything = sorted(each for person in PEOPLE for each in messages_of(person))
    assert released == SealedHeader.of(collection.digest, 1500, EACH).content + b"".join(everything)


def test_a_released_file_does_not_show_which_messages_came_together(tmp_path: Path) -> None:
    """The bytes that stay are a function of the set of envelopes: dealt to people in another way, they
    are the same. While it is open, they are not: that is the positive control.
    """
    everything = [each for person in PEOPLE for each in messages_of(person)]
    dealt = np.random.default_rng(15).permutation(len(everything))
    left = []
    for number, order in enumerate((np.arange(len(everything)), dealt)):
        (place := tmp_path / str(number)).mkdir()
        with trial(place, several()) as running:
            assert running.send([everything[each] for each in order]).status_code == 201
            opened = (place / "reports.sqlite-wal").read_bytes()
            running.close()
            left.append((opened, (place / "reports.sqlite").read_bytes(), running.fetch().content))
    assert left[0][0] != left[1][0]
    assert left[0][1:] == left[1][1:]
