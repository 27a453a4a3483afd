"""Sums are kept between tests: a changed report asks for most of them again."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from shuffledp.judge import oracle

SLOW = (
    "haystack_interval",
    "swap_at_most",
    "binary_datasets",
    "rounds_at_least",
    "rounds_at_most",
    "rounds_delta",
    "_in_balls",
    "_swap_in_balls",
)
KEPT: dict[Any, Any] = {}


@pytest.fixture(autouse=True)
def _kept_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SLOW:
        monkeypatch.setattr(oracle, name, partial(_kept, getattr(oracle, name)))


def _kept(slow: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    asked = tuple(each for each in arguments if not callable(each))  # without what may stop a sum
    key = (slow, pickle.dumps((asked, named)))
    if key not in KEPT:
        KEPT[key] = slow(*arguments, **named)
    return KEPT[key]
