"""What shuffledp writes is read, and written again byte by byte."""

from __future__ import annotations

import json

import pytest

from shuffledp.record import Record, data_block, read_record
from tests.verify.releases import ASKED, NAMES, as_page, facts, told


@pytest.mark.parametrize("name", [*NAMES, *ASKED])
def test_a_record_is_written_again_byte_by_byte(name: str) -> None:
    for made in (facts(name), told(name)):
        record = Record.from_json(made)
        assert json.dumps(record.as_json()) == json.dumps(made)
        assert record.hashes.as_json() == record.digests()
        assert as_page(made).count(data_block(read_record(as_page(made)).as_json())) == 1
