"""From an outbox to a shuffler, in uploads of many: a refused code holds no other report up."""

from __future__ import annotations

import os
from pathlib import Path

import httpx
import pytest

from shuffledp.errors import InvalidInput
from shuffledp.survey.collection import Collection
from shuffledp.survey.courier import Courier, Unsent
from shuffledp.survey.outbox import Outbox
from shuffledp.survey.sender import BATCH, MOST_REFUSED, Round
from shuffledp.survey.wire import Refused, Uploads, hash_of_code
from tests.survey.pretended import HTML, Pretended, later
from tests.survey.studies import study


def filled(folder: Path, collection: Collection, count: int) -> tuple[Outbox, list[bytes]]:
    """An outbox with bytes that look like records, whose codes are 0, 1, 2, ..."""
    uploads = Uploads(collection)
    outbox = Outbox.of(folder, uploads)
    codes = [number.to_bytes(16, "big") for number in range(count)]
    envelopes = [os.urandom(uploads.envelope_bytes) for _ in codes]
    outbox.store([uploads.body(envelopes, codes if collection.codes else None)])
    return outbox, [hash_of_code(collection.digest, code) for code in codes]


def walked(outbox: Outbox, shuffler: Pretended) -> Round:
    stored = outbox.find()
    assert stored is not None
    walk = Round(stored, outbox.uploads.most)
    with Courier.to(shuffler.collection, transport=shuffler.transport) as courier:
        try:
            walk.through(courier)
        finally:
            outbox.forget(stored, walk.acknowledged)
    return walk


def test_many_go_in_uploads_over_several_connections(tmp_path: Path) -> None:
    outbox, _ = filled(tmp_path / "box", study(), 5 * BATCH + 500)
    shuffler, told = Pretended(study()), list[int]()
    stored = outbox.find()
    assert stored is not None
    walk = Round(stored, outbox.uploads.most, lambda done, _: told.append(done))
    with Courier.to(shuffler.collection, transport=shuffler.transport) as courier:
        walk.through(courier)
    assert len(shuffler.envelopes) == walk.new == max(told) == stored.waiting == 5 * BATCH + 500
    assert shuffler.posted == 6
    mark = outbox.forget(stored, walk.acknowledged)
    assert (mark.sent, mark.waiting) == (5 * BATCH + 500, 0)


def test_refused_codes_hold_no_other_up(tmp_path: Path) -> None:
    asked = study(codes=True)
    outbox, hashes = filled(tmp_path / "box", asked, 2500)
    wrong = {0, 1, 2, 700, 999, 1000, 1700, 2499, *range(2100, 2130)}
    shuffler = Pretended(asked, codes=[each for number, each in enumerate(hashes) if number not in wrong])
    shuffler.used = {hashes[700]}
    walk = walked(outbox, shuffler)
    assert {number for number, done in enumerate(walk.acknowledged) if not done} == wrong
    assert dict(walk.refused) == {"this code is unknown.": len(wrong) - 1, "this code is used.": 1}
    assert len(shuffler.envelopes) == 2500 - len(wrong)
    assert shuffler.posted <= 5 * len(wrong), "a refused code costs a few requests, not an upload each"
    left = outbox.find()
    assert left is not None
    assert (left.sent, left.waiting) == (2500 - len(wrong), len(wrong))
    shuffler.unused = {hashes[number] for number in wrong}
    assert walked(outbox, shuffler).new == len(wrong)
    assert shuffler.seen == shuffler.envelopes
    assert len(shuffler.envelopes) == 2500


def test_a_wrong_list_of_codes_ends_it(tmp_path: Path) -> None:
    asked = study(codes=True)
    outbox, hashes = filled(tmp_path / "box", asked, MOST_REFUSED + 500)
    with pytest.raises(InvalidInput, match="has their hashes"):
        walked(outbox, Pretended(asked))
    shuffler = Pretended(asked, codes=hashes)
    assert walked(outbox, shuffler).new == MOST_REFUSED + 500


@pytest.mark.parametrize(
    "answer, error", [(HTML, Unsent), (httpx.Response(409, json={"error": "the collection is full."}), Refused)]
)
def test_what_ends_it_midway_loses_nothing(tmp_path: Path, answer: httpx.Response, error: type[Exception]) -> None:
    outbox, _ = filled(tmp_path / "box", study(), 8 * BATCH)
    shuffler = Pretended(study())
    shuffler.first = [shuffler.honest, shuffler.honest, answer]
    with pytest.raises(error):
        walked(outbox, shuffler)
    left = outbox.find()
    assert left is not None
    assert left.sent == len(shuffler.envelopes) >= 2 * BATCH
    assert left.sent + left.waiting == 8 * BATCH
    walked(outbox, shuffler)
    assert len(shuffler.envelopes) == 8 * BATCH


def test_what_ends_one_connection_keeps_no_other_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real pause of a minute would outlast any test."""
    outbox, _ = filled(tmp_path / "box", study(), 3 * BATCH)
    monkeypatch.setattr("shuffledp.survey.courier.FIRST_WAIT", 60.0)
    shuffler = Pretended(study(), later(503), later(503), HTML)
    with pytest.raises(Unsent, match="no shuffler"):
        walked(outbox, shuffler)
