"""Keyed noise on an engine's batches: whoever runs a task again gets the same reports, whatever the
batches, and nobody reports twice.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp.collection.client import Encoder
from shuffledp.collection.engines.batch import BatchEncoder, ReportTally, added_up
from shuffledp.collection.tables.persons import keyed_noise
from shuffledp.errors import InvalidInput
from shuffledp.protocols.design import Design
from tests.sampling.keyed_rows import SECRET

PEOPLE = 40
WAYS = ("bus", "car", "walk")
CHECK_IN = sdp.CheckIn(sdp.KRR(k=3, epsilon0=1.0), probability=0.5)
PROMISE = {"n": PEOPLE, "epsilon": 2.0, "delta": 0.01}
ASKED: dict[str, Callable[[], Any]] = {
    "histogram": lambda: sdp.Histogram(categories=WAYS, **PROMISE),
    "check-in": lambda: replace(
        Design.of(sdp.Histogram(categories=WAYS, n=PEOPLE, delta=0.01, randomizer=CHECK_IN)), epsilon=2.0
    ),
    "mean": lambda: sdp.Mean(lower=0.0, upper=5.0, k=7, **PROMISE),
    **{
        method: lambda method=method: sdp.Frequency(domain=WAYS, method=method, **PROMISE)
        for method in ("hadamard", "hashing", "subset", "unary")
    },
}


def table(name: str, rows: Sequence[int] = range(PEOPLE)) -> pa.RecordBatch:
    values = [row % 11 / 2 if name == "mean" else WAYS[row % 3] for row in rows]
    return pa.record_batch({"who": [f"p{row}" for row in rows], "what": values})


@cache
def asked(name: str) -> Any:
    return ASKED[name]()


def encoder(name: str = "histogram", **rules: Any) -> BatchEncoder:
    return BatchEncoder.of(asked(name), column="what", **({"ids": "who", "secret": SECRET} | rules))


def reports(phones: BatchEncoder, *batches: pa.RecordBatch) -> list[Any]:
    return [report for batch in phones.encode(batches) for report in batch.column("report").to_pylist()]


@pytest.mark.parametrize("name", ASKED)
def test_a_task_that_runs_again_in_other_batches_and_another_order_reports_the_same(name: str) -> None:
    phones = encoder(name)
    whole = reports(phones, table(name))
    assert len(whole) == PEOPLE

    @settings(max_examples=5)
    @given(order=st.permutations(range(PEOPLE)), cuts=st.sets(st.integers(1, PEOPLE - 1), max_size=3))
    def again(order: list[int], cuts: set[int]) -> None:
        parts = [table(name, rows.tolist()) for rows in np.split(np.array(order), sorted(cuts))]
        assert reports(pickle.loads(pickle.dumps(phones)), *parts) == [whole[row] for row in order]
        assert added_up(phones.tally(parts)).votes.tolist() == votes

    votes = added_up(phones.tally([table(name)])).votes.tolist()
    assert votes == added_up(ReportTally.of(phones.design).tally(phones.encode([table(name)]))).votes.tolist()
    again()


def test_without_a_secret_a_task_that_runs_again_reports_something_else() -> None:
    """The control: with 40 people, two drawings are alike with probability below 1e-9."""
    phones = encoder(secret=None, ids=None)
    assert reports(phones, table("histogram")) != reports(phones, table("histogram"))


def test_the_reports_are_those_of_the_encoder_with_noise_for_these_people() -> None:
    design, people = Design.of(asked("histogram")), table("histogram")
    places = np.arange(PEOPLE) % 3
    noise = keyed_noise(SECRET, design, people.column("who"), places)
    assert Encoder.of(design).encode(places, rng=noise).tolist() == reports(encoder(), people)


def test_round_secret_design_and_value_each_give_other_reports() -> None:
    people = table("histogram")
    other_design = BatchEncoder.of(
        sdp.Histogram(categories=WAYS, n=PEOPLE, epsilon=2.0, delta=0.02), column="what", ids="who", secret=SECRET
    )
    drawn = [reports(each, people) for each in (encoder(), encoder(round=2), encoder(secret=bytes(32)), other_design)]
    assert len({tuple(each) for each in drawn}) == 4


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.int64(), pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
)
def test_an_id_is_its_text(kind: pa.DataType) -> None:
    numbers = pa.array(range(PEOPLE)).cast(pa.string())
    ids = numbers.dictionary_encode() if pa.types.is_dictionary(kind) else numbers.cast(kind)
    people = table("histogram")
    stored = people.set_column(0, "who", ids)
    assert reports(encoder(), stored) == reports(encoder(), people.set_column(0, "who", numbers))


def test_equal_numbers_report_the_same_however_they_are_stored() -> None:
    people = [f"p{i}" for i in range(PEOPLE)]
    numbers = [i % 6 for i in range(PEOPLE)]
    stored = [pa.array(numbers, kind) for kind in (pa.int16(), pa.int64(), pa.float32(), pa.float64())]
    stored.append(pa.array([-0.0 if each == 0 else float(each) for each in numbers]))
    drawn = [reports(encoder("mean"), pa.record_batch({"who": people, "what": each})) for each in stored]
    assert all(each == drawn[0] for each in drawn)


def test_missing_values_take_no_noise_from_others() -> None:
    whole, gaps = table("histogram"), np.arange(PEOPLE) % 4 == 0
    values = pa.array([None if gap else each for gap, each in zip(gaps, whole.column("what").to_pylist(), strict=True)])
    some = whole.set_column(1, "what", values)
    expected = [each for gap, each in zip(gaps, reports(encoder(), whole), strict=True) if not gap]
    assert reports(encoder(), some) == expected
    assert added_up(encoder().tally([some])).missing == 10


@pytest.mark.parametrize("secret", [None, SECRET])
def test_a_batch_without_any_value_is_no_report(secret: bytes | None) -> None:
    phones = encoder(secret=secret, ids=secret and "who")
    nobody = pa.record_batch({"who": ["x", "y"], "what": pa.array([None, None], pa.string())})
    assert reports(phones, nobody, nobody.slice(0, 0)) == []
    assert len(reports(phones, nobody.slice(0, 1), table("histogram"))) == PEOPLE
    sums = added_up(phones.tally([nobody, nobody.slice(0, 0)]))
    assert (sums.reports, sums.missing, sums.votes.tolist()) == (0, 2, [0, 0, 0])


@pytest.mark.parametrize(
    "run", [lambda phones, parts: list(phones.encode(parts)), lambda phones, parts: list(phones.tally(parts))]
)
@pytest.mark.parametrize("parts", [[[0, 1, 2, 1]], [[0, 1], [2, 3], [4, 1]]], ids=["in a batch", "in two batches"])
def test_an_id_that_comes_twice_is_refused(run: Callable[..., Any], parts: list[list[int]]) -> None:
    with pytest.raises(InvalidInput, match=r"ids in column 'who' must name everybody once, got 1 rows of people who"):
        run(encoder(), [table("histogram", rows) for rows in parts])


def test_an_id_whose_other_row_has_no_value_reports_once() -> None:
    people = pa.record_batch({"who": ["a", "b", "a"], "what": ["bus", "car", None]})
    assert len(reports(encoder(), people)) == 2


@pytest.mark.parametrize(
    "rules, message",
    [
        ({"secret": None}, r"secret and ids must be given together, got ids alone"),
        ({"ids": None}, r"secret and ids must be given together, got secret alone"),
        ({"secret": "0123456789" * 4}, r"secret must be bytes, got str"),
        ({"secret": b"short"}, r"secret must have at least 32 bytes, got 5"),
        ({"round": 0}, r"round must be .*at least 1, got 0"),
    ],
)
def test_bad_keys_are_refused_before_anything_is_drawn(rules: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        encoder(**rules)


@pytest.mark.parametrize(
    "ids, message",
    [
        (["a", None], r"ids in column 'who' must name everybody, got 1 rows without one"),
        (["a", ""], r"ids in column 'who' must name everybody, got 1 rows without one"),
        (["a", "b" * 1025], r"ids in column 'who' must have at most 1,024 bytes"),
        ([[1], [2]], r"ids must be numbers or text in UTF-8"),
    ],
)
def test_bad_ids_are_refused(ids: list[Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        reports(encoder(), pa.record_batch({"who": ids, "what": ["bus", "car"]}))


def test_an_absent_column_of_ids_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"ids must name a column of the table, got 'whom'.*'who'"):
        reports(encoder(ids="whom"), table("histogram"))


def test_a_secret_is_not_shown() -> None:
    assert "secret" not in repr(encoder())
    assert repr(SECRET)[2:20] not in repr(encoder())


def test_keyed_counts_are_known_by_the_secret_and_by_what_was_counted() -> None:
    """So a ledger tells counts of a table that has changed from the same counts again. The control:
    fresh counts have a new name each time.
    """
    design = Design.of(sdp.Histogram(categories=["a", "b"], n=400, least=300, epsilon=2.0, delta=1e-3))
    table = pa.record_batch({"id": pa.array(range(400)), "v": ["a", "b"] * 200})

    def names(rows: pa.RecordBatch, secret: bytes | None, round: int = 1) -> tuple[str, ...]:
        ids = None if secret is None else "id"
        phones = BatchEncoder.of(design, column="v", ids=ids, secret=secret, round=round)
        counted = phones.counted(added_up(phones.tally([rows])), engine="test")
        assert (counted.keyed, counted.secure, counted.missing) == (secret is not None, True, 0)
        return counted.batches

    once = names(table, bytes(32))
    assert names(table, bytes(32)) == once
    assert [each == other for each, other in zip(names(table.slice(1), bytes(32)), once, strict=True)] == [True, False]
    for other in (names(table, bytes(31) + b"1"), names(table, bytes(32), 2)):
        assert not set(other) & set(once)
    assert len({*names(table, None), *names(table, None)}) == 2
