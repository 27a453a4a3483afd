"""Sums are kept between tests: a changed report asks for most of them again."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest

from shuffledp.collection.verify import oracle
from shuffledp.literature.exact import datasets, summation
from shuffledp.literature.exact.composition import rounds_at_least, rounds_at_most

interval = cache(lambda hay, there, back, n, eps, gap: summation.haystack_interval(hay, there, back, n, eps, gap=gap))
KEPT: dict[Any, Any] = {}


@pytest.fixture(autouse=True)
def _kept_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        oracle, "haystack_interval", lambda hay, there, back, n, eps, *, gap: interval(hay, there, back, n, eps, gap)
    )
    for name, slow in (
        ("binary_datasets", datasets.binary_datasets),
        ("rounds_at_least", rounds_at_least),
        ("rounds_at_most", rounds_at_most),
    ):
        monkeypatch.setattr(oracle, name, partial(_kept, slow))


def _kept(slow: Callable[..., Any], *arguments: Any) -> Any:
    key = (slow, pickle.dumps(arguments))
    if key not in KEPT:
        KEPT[key] = slow(*arguments)
    return KEPT[key]
