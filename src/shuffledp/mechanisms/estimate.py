"""What an analyst gets: estimates, their standard errors, and intervals that cover as often as they
say.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput, check_probability
from shuffledp.mechanisms.rows import Rows

if TYPE_CHECKING:
    from shuffledp.page.svg import SvgFigure

NOT_FOR_RELEASE = "not for release: a seeded generator was used, so whoever knows the seed knows the noise"
SHOWN, BRIEF = 20, 3  # rows of the table, and of the line


class Interval(NamedTuple):
    """Confidence limits, one pair per estimate."""

    lower: Floats
    upper: Floats


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimates from ``n`` reports, one per label.

    ``stderr`` is the standard deviation of the *unbiased* estimate, over the randomness of the
    protocol, for the data as they are: nothing is assumed of where they come from. ``values``
    differ from ``unbiased`` only if another estimator was asked for; intervals are about
    ``unbiased`` always. They are not cut off at 0 or n: cut them as you like; it costs no
    coverage.
    """

    labels: tuple[Hashable, ...]
    n: int
    rows: Rows
    secure: bool = True
    notes: tuple[str, ...] = ()
    of: int | None = None  # how many were estimated in all, if these are the ones that are listed
    estimated: Floats | None = None  # by another estimator

    @cached_property
    def unbiased(self) -> Floats:
        """The unbiased estimates."""
        return _read_only(self.rows.values)

    @cached_property
    def values(self) -> Floats:
        """The estimates."""
        return self.unbiased if self.estimated is None else _read_only(self.estimated)

    @cached_property
    def stderr(self) -> Floats:
        """The standard errors of the unbiased estimates."""
        return _read_only(self.rows.stderr)

    @property
    def value(self) -> float:
        """The estimate, where there is only one."""
        if len(self.values) != 1:
            raise InvalidInput(
                f"value must be asked of a single estimate, got {len(self.values)}. Use values, or estimate[label]."
            )
        return float(self.values[0])

    def __getitem__(self, label: Hashable) -> float:
        """The estimate of one label."""
        try:
            return float(self.values[self.labels.index(label)])
        except ValueError:
            raise InvalidInput(
                f"label must be one of the {len(self.labels)} that were estimated, got {label!r}. See labels."
            ) from None

    def interval(self, level: float = 0.95) -> Interval:
        """Each interval by itself covers its true value with probability ``level``, up to the
        normal approximation, or more often where noise is rare.
        """
        return self.limits((1.0 - check_level(level)) / 2.0)

    def simultaneous(self, level: float = 0.95) -> Interval:
        """All intervals together cover all true values with probability ``level`` (Bonferroni), up
        to the normal approximation.
        """
        every = len(self.values) if self.of is None else self.of
        return self.limits((1.0 - check_level(level)) / (2.0 * max(1, every)))

    def limits(self, tail: float) -> Interval:
        """Limits that are each missed with probability ``tail``, or less. Between them is the
        estimate, always.
        """
        low, high = self.rows.limits(tail)
        return Interval(np.minimum(low, self.unbiased), np.maximum(high, self.unbiased))

    def at(self, places: Sequence[int] | NDArray[np.intp]) -> Estimate:
        """Some of the estimates."""
        labels = tuple(self.labels[place] for place in places)
        estimated = None if self.estimated is None else self.estimated[places]
        return replace(self, labels=labels, rows=self.rows.at(places), estimated=estimated)

    def plot(self, level: float = 0.95) -> SvgFigure:
        """The estimates as bars with their intervals, which a notebook shows; ``.save("x.svg")``
        writes them.
        """
        from shuffledp.page.page import estimates_svg  # loaded when called
        from shuffledp.record import Table

        found = Table.estimated("", self, unit="", level=level, of=self.of)
        return estimates_svg(found, self.n, secure=self.secure)

    @property
    def _seeded(self) -> str:
        return "" if self.secure else ", not for release"

    def __repr__(self) -> str:
        """In a line: the first estimates, and how far off they may be."""
        pairs = zip(self.labels[:BRIEF], self.values[:BRIEF].tolist(), strict=True)
        first = ", ".join(f"{label}: {value:.6g}" for label, value in pairs)
        more = f", and {len(self.labels) - BRIEF:,} more" if len(self.labels) > BRIEF else ""
        error = float(np.max(self.stderr, initial=0.0))
        return f"<Estimate from {self.n:,} reports: {first}{more}; standard error at most {error:.3g}{self._seeded}>"

    def __str__(self) -> str:
        """A table."""
        low, high = self.interval()
        width = max((len(str(label)) for label in self.labels[:SHOWN]), default=0)
        lines = [f"{self.n} reports", f"{'':<{width}} {'estimate':>14} {'std. error':>12}   95 % interval"]
        for row in range(min(SHOWN, len(self.labels))):
            numbers = f"{self.values[row]:>14.6g} {self.stderr[row]:>12.4g}   [{low[row]:.6g}, {high[row]:.6g}]"
            lines.append(f"{self.labels[row]!s:<{width}} {numbers}")
        if len(self.labels) > SHOWN:
            lines.append(f"... and {len(self.labels) - SHOWN} more")
        return "\n".join([*lines, *self.notes])


def _read_only(column: Floats) -> Floats:
    """What is shown and what is saved stay the same."""
    view = column.view()
    view.setflags(write=False)
    return view


def check_level(level: float) -> float:
    """Refuse a level that is no probability."""
    return check_probability("level", level, remedy="It is the probability that an interval covers; 0.95 is usual.")


def simplex(values: Floats, total: float) -> Floats:
    """The nearest point, in Euclidean distance, with entries of at least 0 that sum to ``total``.

    It is max(values - t, 0) for the one t that gives the sum (Held, Wolfe and Crowder 1974). It
    never increases the squared error.

    >>> simplex(np.array([6.0, 5.0, -1.0]), 10.0).tolist()
    [5.5, 4.5, 0.0]
    """
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    kept = int(np.flatnonzero(falling > excess)[-1])
    projected: Floats = np.maximum(values - excess[kept], 0.0)
    return projected


def likelihood(counts: NDArray[Any], hit: float, miss: float) -> Floats:
    """The maximum-likelihood counts for k-ary randomized response: where EM (iterative Bayesian
    updating) converges to.

    The log-likelihood sum of counts log(miss + (hit - miss) share) is concave in the shares; its
    maximum over the simplex is share = max(counts / t - miss / (hit - miss), 0) for the one t that
    makes them sum to 1. Sorting finds t exactly, so there is no stopping rule to trust.

    >>> likelihood(np.array([70, 25, 5]), hit=0.8, miss=0.1).round(3).tolist()
    [80.451, 19.549, 0.0]
    """
    offset, total = miss / (hit - miss), float(counts.sum())
    falling = np.sort(counts)[::-1].astype(np.float64)
    scale = np.cumsum(falling) / (1.0 + offset * np.arange(1, len(counts) + 1))
    kept = int(np.flatnonzero(falling > offset * scale)[-1])
    shares = np.maximum(counts / scale[kept] - offset, 0.0)
    estimated: Floats = total * shares / shares.sum()
    return estimated
