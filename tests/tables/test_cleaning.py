"""Messy texts and numbers are the same by a rule that was given, and by nothing else; what fits no
rule is refused.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.errors import InvalidInput
from shuffledp.tables.cleaning import Cleaning
from shuffledp.tables.columns import open_column
from shuffledp.tables.values import Numbers, Places, read
from tests.tables.tables import FORMATS, Write

SPELLINGS = [
    "São Paulo",
    " São Paulo",
    "são paulo",
    "SÃO PAULO\t",
    unicodedata.normalize("NFD", "São Paulo"),
    "Straße",
    "STRASSE",
]


def places(values: list[str | None], **rules: object) -> list[int]:
    return (
        Places(("São Paulo", "Strasse"), cleaning=Cleaning(**rules))
        .prepare(pa.array(values, pa.string()), "column 'x'")[0]
        .tolist()
    )  # type: ignore[arg-type]


def test_spellings_are_the_same_only_by_the_rules_that_were_given() -> None:
    assert places(SPELLINGS, strip=True, ignore_case=True) == [0, 0, 0, 0, 0, 1, 1]
    for spelling, rules in (
        (" São Paulo", {"ignore_case": True}),
        ("são paulo", {"strip": True}),
        (SPELLINGS[4], {"strip": True}),
    ):
        with pytest.raises(InvalidInput, match="must hold only the 2 categories"):
            places([spelling], **rules)


@given(st.text(max_size=20))
def test_a_key_is_the_same_for_all_ways_to_compose_a_text(text: str) -> None:
    rules = Cleaning(strip=True, ignore_case=True)
    forms = {rules.key(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
    assert forms == {rules.key(text)}
    assert rules.key(rules.key(text)) == rules.key(text)


def test_words_for_a_missing_value_are_missing_and_blanks_too() -> None:
    values = pa.array(["tea", "NA", "n/a ", None, "  ", "coffee"])
    reader = Places(("tea", "coffee"), cleaning=Cleaning(strip=True, ignore_case=True, na=("na", "N/A")))
    codes, present, _ = reader.prepare(values.dictionary_encode(), "column 'x'")
    assert (codes.tolist(), present is not None and present.tolist()) == (
        [0, 1],
        [True, False, False, False, False, True],
    )
    counted = Places(("tea", "coffee", "none"), missing="none", cleaning=Cleaning(na=("NA",)))
    assert counted.prepare(pa.array(["NA", "tea", None]), "column 'x'")[0].tolist() == [2, 0, 2]


def test_categories_that_the_rules_take_for_one_or_for_none_are_refused() -> None:
    with pytest.raises(
        InvalidInput,
        match="categories must differ in more than strip and ignore_case ignore, got 'Rio' and 'RIO'",
    ):
        Places(("Rio", "RIO"), cleaning=Cleaning(ignore_case=True))
    with pytest.raises(InvalidInput, match="must not be a word for a missing value, got 'NA'"):
        Places(("NA", "EU"), cleaning=Cleaning(na=("NA",)))


@pytest.mark.parametrize(
    "text, rules, number",
    [
        ("1,5", {"decimal": ","}, 1.5),
        ("-,5", {"decimal": ","}, -0.5),
        ("1.234,5", {"decimal": ",", "thousands": "."}, 1234.5),
        ("1.234.567", {"decimal": ",", "thousands": "."}, 1234567.0),
        ("12,345.5", {"thousands": ","}, 12345.5),
        ("1 234,5", {"decimal": ",", "thousands": " "}, 1234.5),
        ("1234,5", {"decimal": ",", "thousands": "."}, 1234.5),
        (" 2e3 ", {"decimal": ","}, 2000.0),
        ("NA", {"decimal": ","}, None),
        ("-9", {"na": ("-9",)}, None),
        ("Keine", {"na": ("keine",), "ignore_case": True}, None),
    ],
)
def test_numbers_are_read_by_the_rules(text: str, rules: dict[str, str], number: float | None) -> None:
    values, present, _ = Numbers(-1e9, 1e9, cleaning=Cleaning(**rules)).prepare(pa.array([text, "7"]), "column 'x'")  # type: ignore[arg-type]
    assert values.tolist() == ([7.0] if number is None else [number, 7.0])
    assert (present is None) == (number is not None)


@pytest.mark.parametrize(
    "text, rules",
    [
        ("1.23", {"decimal": ",", "thousands": "."}),  # not 123
        ("1.2345", {"decimal": ",", "thousands": "."}),
        ("1.5", {"decimal": ","}),
        ("1,5", {"thousands": ","}),
        ("1,234,56", {"thousands": ","}),
        ("12 EUR", {"decimal": ","}),
        ("inf", {"decimal": ","}),
    ],
)
def test_a_number_that_does_not_fit_the_rules_is_refused_and_never_guessed(text: str, rules: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match="must hold numbers with the decimal mark"):
        Numbers(-1e9, 1e9, cleaning=Cleaning(**rules)).prepare(pa.array([text]), "column 'x'")  # type: ignore[arg-type]


@given(st.floats(-1e12, 1e12).map(lambda x: round(x, 3)))
def test_every_number_survives_being_written_the_other_way(number: float) -> None:
    text = f"{number:,.3f}".translate(str.maketrans(",.", ".,"))
    assert Cleaning(decimal=",", thousands=".").numbers(pa.array([text]), "x").tolist() == [number]


@pytest.mark.parametrize(
    "wrong",
    [
        {"decimal": ";"},
        {"thousands": "."},
        {"thousands": "1"},
        {"thousands": ""},
        {"na": ("",)},
        {"decimal": ",", "thousands": ","},
    ],
)
def test_rules_that_are_none_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=r"^(decimal|thousands|na) must"):
        Cleaning(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8-sig", "utf-32"])
@pytest.mark.parametrize("rows", [3, 50_000])
def test_a_csv_file_is_read_in_its_encoding(tmp_path: Path, encoding: str, rows: int) -> None:
    (tmp_path / "t").write_bytes(("stadt;wert\n" + "Zürich;1,5\n" * rows).encode(encoding))
    with read(
        open_column(str(tmp_path / "t"), "stadt", kind="text", encoding=encoding), Places(("Zürich", "Bern"))
    ) as values:
        assert values.count == rows
    with read(
        open_column(str(tmp_path / "t"), "wert", kind="text", encoding=encoding),
        Numbers(0.0, 2.0, cleaning=Cleaning(decimal=",")),
    ) as values:
        assert np.concatenate(list(values.chunks())).tolist() == [1.5] * rows


def test_other_bytes_and_other_names_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes("stadt\nZürich\n".encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"must be text in UTF-8, got other bytes.*encoding=\"latin-1\""):
        read(open_column(str(tmp_path / "t"), "stadt", kind="text"), Places(("Zürich", "Bern")))
    with pytest.raises(InvalidInput, match="must be text in ascii, got other bytes"):
        read(open_column(str(tmp_path / "t"), "stadt", kind="text", encoding="ascii"), Places(("Zürich", "Bern")))
    (tmp_path / "t").write_bytes("stadt\nZürich\n".encode("utf-16"))
    with pytest.raises(InvalidInput, match=r"names no columns.*encoding=\"utf-16\""):
        open_column(str(tmp_path / "t"), kind="text")
    for name in ("base64", "rot13", "utf-9", ""):
        with pytest.raises(InvalidInput, match="encoding must be an encoding of text"):
            open_column(str(tmp_path / "t"), kind="text", encoding=name)


@pytest.mark.parametrize("write", FORMATS[2:])
def test_an_encoding_is_for_csv(tmp_path: Path, write: Write) -> None:
    write(tmp_path / "t", pa.table({"x": ["a"]}))
    with pytest.raises(InvalidInput, match="encoding must be left out for Parquet and Arrow"):
        open_column(str(tmp_path / "t"), kind="text", encoding="latin-1")


def test_a_decimal_comma_that_nobody_announced_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("x;y\n1,5;2\n")
    with pytest.raises(
        InvalidInput, match=r"must hold numbers, got '1,5'\. Where the decimal mark is a comma, add decimal=\",\""
    ):
        read(open_column(str(tmp_path / "t"), "x", kind="number"), Numbers(0.0, 9.0))
