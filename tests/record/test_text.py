"""The record comes out of a page exactly as it went in, or not at all."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp.errors import InvalidInput
from shuffledp.page import html, unchanged
from shuffledp.record import Record, embedded_json, read_record
from tests.page.releases import facts, record

NAMES = ("survey", "mean", "rounds", "many", "tiny", "hostile")
FLOATS = st.floats(-1e299, 1e299)


def bits(value: Any) -> Any:
    """The same with every float as its bits: 0.0 differs from -0.0, and 1.0 from 1."""
    if isinstance(value, dict):
        return {key: bits(each) for key, each in value.items()}
    if isinstance(value, list):
        return [bits(each) for each in value]
    return value.hex() if isinstance(value, float) else value


@pytest.mark.parametrize("name", NAMES)
def test_the_facts_come_back_bit_by_bit_and_in_their_order(name: str) -> None:
    made = facts(name)
    back = read_record(html(record(name))).as_json()
    assert bits(back) == bits(made)
    assert json.dumps(back) == json.dumps(made)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_a_function_of_the_facts_inside_it(name: str) -> None:
    page = html(record(name))
    assert unchanged(page)
    assert not unchanged(page.replace("shuffledp computed that", "shuffledp computed, that"))


@settings(max_examples=30)
@given(st.lists(FLOATS, min_size=6, max_size=6), st.lists(st.text(), min_size=6, max_size=6))
def test_any_float_and_any_text_come_back(numbers: list[float], labels: list[str]) -> None:
    made = facts("rounds")
    made["tables"][0]["stderr"], made["notes"], made["asked"]["title"] = numbers, labels, labels[0]
    page = html(Record.from_json(made))
    assert bits(embedded_json(page)) == bits(made)
    assert embedded_json(page.encode("utf-8").decode("utf-8")) == made


def test_the_json_beside_the_page_is_read_as_well() -> None:
    made = facts("tiny")
    assert read_record("\ufeff\n" + json.dumps(made, indent=1, ensure_ascii=False)).as_json() == made


def test_a_page_cut_off_anywhere_is_refused() -> None:
    page = html(record("tiny")).rstrip()
    for end in [*range(0, len(page), 97), len(page) - 1]:
        with pytest.raises(InvalidInput, match=r"^a page must .*\. Pass the page\.html"):
            read_record(page[:end])


def changed(**changes: object) -> str:
    return json.dumps(facts("tiny") | changes)


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "must hold the record of one release, got none"),
        ("a,b\n1,2\n", "must hold the record of one release, got none"),
        ("{", "strict JSON, got a fault at character"),
        ('{"format": NaN}', "strict JSON, got NaN"),
        ('{"a": 1, "a": 2}', "strict JSON, got a name twice"),
        ("{}", "must have the format 'shuffledp-release', got 'None'"),
        ('{"format": ' + "[" * 100_000, "strict JSON, got"),
    ],
)
def test_what_is_no_page_is_refused_in_a_sentence(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        read_record(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("version", [0, 2, "1", 1.0, True, None, [1]])
def test_another_version_is_refused(version: object) -> None:
    with pytest.raises(InvalidInput, match="the record of a release must have version 1, got"):
        read_record(changed(version=version))


def test_another_format_and_missing_parts_are_refused() -> None:
    with pytest.raises(InvalidInput, match="must have the format"):
        read_record(changed(format="shuffledp-reports"))
    made = facts("tiny")
    del made["certificate"], made["tally"]
    with pytest.raises(InvalidInput, match="got none about certificate, tally"):
        read_record(json.dumps(made))


def test_two_releases_on_one_page_are_refused() -> None:
    page = html(record("tiny"))
    with pytest.raises(InvalidInput, match="record of one release, got 2"):
        read_record(page + page)


def test_a_number_that_is_none_never_reaches_a_page() -> None:
    made = record("tiny")
    with pytest.raises(ValueError, match=r"nan|not JSON compliant"):
        html(replace(made, certificate=replace(made.certificate, alone=math.nan)))
