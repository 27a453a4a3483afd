"""What earlier versions wrote is read, and written again byte by byte."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from shuffledp.collection.record import Record, data_block, read_record

DATA = Path(__file__).parents[2] / "data"
RECORDS = sorted(DATA.glob("v*/*/estimates.json*"))
PAGES = sorted([*DATA.glob("v*/*/report.html*"), *DATA.glob("v*/*/page.html*")])


def text(path: Path) -> str:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()


def named(path: Path) -> str:
    return f"{path.parent.parent.name} {path.parent.name}"


@pytest.mark.parametrize("path", RECORDS, ids=named)
def test_the_json_of_a_release_is_written_again_byte_by_byte(path: Path) -> None:
    written = text(path)
    record = Record.from_json(json.loads(written))
    assert json.dumps(record.as_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n" == written
    assert record.hashes.as_json() == record.digests()


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_the_record_inside_a_page_is_written_again_byte_by_byte(path: Path) -> None:
    page = text(path)
    assert page.count(data_block(read_record(page).as_json())) == 1


def test_there_is_something_to_read() -> None:
    assert len(RECORDS) >= 17
    assert len(PAGES) >= 17
