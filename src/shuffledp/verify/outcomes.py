"""One line of a verification: what was claimed, what came out when it was computed again, and
how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.errors import printable

Outcome = Literal["pass", "FAIL", "not checked"]
PAGE = "the page"


@dataclass(frozen=True, slots=True)
class Check:
    """``what`` is one number, or a column of them, of which the one that differs most is shown;
    without a ``vital`` check nothing is verified.
    """

    what: str
    claimed: str
    found: str
    how: str
    outcome: Outcome
    vital: bool = False


def parting(one: Sequence[object], other: Sequence[object]) -> int:
    """The first place where two differ, or the end of the shorter one."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))


def wrong(checks: Sequence[Check]) -> bool:
    """Whether something is wrong already, so that what reads it need not be computed."""
    return any(check.outcome == "FAIL" for check in checks)


def vital(check: Check) -> Check:
    """The same, as one that a verification cannot do without."""
    return replace(check, vital=True)


def holds(what: str, claimed: object, found: object, how: str, right: bool) -> Check:
    """A claim that is right or wrong."""
    return Check(what, _shown(claimed), _shown(found), how, "pass" if right else "FAIL")


def equal(what: str, claimed: object, found: object, how: str) -> Check:
    """A claim that must be met exactly; True is not 1, and 1.0 is 1."""
    same = claimed == found and isinstance(claimed, bool) == isinstance(found, bool)
    return holds(what, claimed, found, how, same)


def agree(what: str, claimed: Sequence[float] | float, found: ArrayLike, how: str, *, within: ArrayLike) -> Check:
    """Numbers that must come within an absolute tolerance, one by one."""
    mine, theirs = np.atleast_1d(np.asarray(found, dtype=np.float64)), _numbers(claimed)
    if theirs.shape != mine.shape:
        return Check(what, f"{theirs.size} numbers", f"{mine.size} numbers", how, "FAIL")
    if not mine.size:
        return Check(what, "none", "none", how, "pass")
    excess = np.where(np.isfinite(theirs), np.abs(theirs - mine) - np.asarray(within), np.inf)
    worst = int(np.argmax(excess))
    return holds(what, float(theirs[worst]), float(mine[worst]), how, bool(excess[worst] <= 0.0))


def unchecked(what: str, claimed: object, why: str) -> Check:
    """A claim that cannot be checked, and why."""
    return Check(what, _shown(claimed), "", why, "not checked")


def _numbers(claimed: Sequence[float] | float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    listed = list(claimed) if isinstance(claimed, (list, tuple)) else [claimed]
    if not all(type(each) in (int, float) for each in listed):
        raise TypeError(f"numbers are expected, not {claimed!r}")
    return np.array(listed, dtype=np.float64)


def _shown(value: object) -> str:
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    return printable(text if len(text) <= 40 else text[:37] + "...")
