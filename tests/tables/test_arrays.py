"""Arrays made and read without Arrow's own functions hold what those would have them hold."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from shuffledp.tables.cleaning import arrow_mask, arrow_texts, numpy_values


@pytest.mark.parametrize("texts", [[], [None], ["", "é", None, "語", "a" * 300], ["x", None] * 9])
def test_texts_are_those_of_arrow(texts: list[str | None]) -> None:
    made = arrow_texts(texts)
    made.validate(full=True)
    assert made.equals(pa.array(texts, pa.string()))
    assert made.null_count == texts.count(None)


@pytest.mark.parametrize("mask", [[], [True], [False, True, True] * 7])
def test_truth_values_are_those_of_arrow(mask: list[bool]) -> None:
    made = arrow_mask(mask)
    made.validate(full=True)
    assert made.equals(pa.array(mask, pa.bool_()))


@pytest.mark.parametrize("start", [0, 3, 11])
@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "int64", "float64", "bool_"])
def test_numbers_are_those_of_arrow_in_any_slice(kind: str, start: int) -> None:
    whole = pa.array([1, 0, None, 1, None, 0, 1, 1, 0, 1, None], pa.int8()).cast(getattr(pa, kind)())
    values = whole.slice(start)
    for each in (values, values.drop_null()):
        found = numpy_values(each, missing=1)
        assert found.tolist() == each.fill_null(True if kind == "bool_" else 1).to_pylist()
        assert found.dtype == each.type.to_pandas_dtype()


def test_a_missing_number_may_become_nan_and_what_it_was_read_from_stays() -> None:
    values = pa.array([1.5, None])
    first, second = numpy_values(values, math.nan).tolist()
    assert first == 1.5
    assert math.isnan(second)
    assert values.to_pylist() == [1.5, None]
    assert np.array_equal(numpy_values(values), [1.5, 0.0])
