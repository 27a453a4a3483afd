"""Estimates of reports that an earlier version kept: the same, within limits of the same size."""

from __future__ import annotations

from typing import Any

__all__ = ["assert_same_but_limits"]

LIMITS = ("lower", "upper", "all_lower", "all_upper")


def assert_same_but_limits(now: dict[str, Any], then: dict[str, Any]) -> None:
    """Since the sixth edition, limits know that votes are whole numbers: they are others, and not
    far.
    """
    kept = {name: column for name, column in then.items() if name not in LIMITS}
    assert {name: now[name] for name in kept} == kept
    for name in LIMITS:
        moved = [abs(mine - theirs) for mine, theirs in zip(now[name], then[name], strict=True)]
        assert all(0.0 < by < error for by, error in zip(moved, then["stderr"], strict=True))
