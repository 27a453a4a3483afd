"""What an analyst gets: estimates, their standard errors, and intervals that cover as often as they
say.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput, check_probability
from shuffledp.protocols.exact_limits import Law

if TYPE_CHECKING:
    from shuffledp.page.svg_file import SvgFigure

__all__ = ["NOT_FOR_RELEASE", "Estimate", "Interval", "Noise", "check_estimates", "check_level", "combine"]

NOT_FOR_RELEASE = "not for release: a seeded generator was used, so whoever knows the seed knows the noise"
SHOWN, BRIEF = 20, 3  # rows of the table, and of the line


class Interval(NamedTuple):
    """Confidence limits, one pair per estimate."""

    lower: Floats
    upper: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """The law of an unbiased estimate around a true value c: variance ``base + slope * c``, and
    third moment over variance ``skew``.

    ``unit`` is how much one report moves the estimate, at most, and ``law`` the exact law of the
    votes, or a bound on it, for where they are too few for a normal one. Votes are whole numbers:
    ``grain`` is how far apart two neighboring estimates are. ``freedom`` counts the reports that a
    variance was estimated from, less one, where it was.
    """

    base: Floats
    slope: Floats
    skew: Floats
    unit: float | Floats = 0.0
    law: Law | None = None
    grain: float | Floats = 0.0
    freedom: float = math.inf

    @classmethod
    def constant(cls, variance: Floats) -> Noise:
        """Noise that does not depend on the true value."""
        return cls(variance, np.zeros_like(variance), np.zeros_like(variance))

    def stderr(self, values: Floats) -> Floats:
        """The standard deviation at the given true values."""
        deviation: Floats = np.sqrt(np.maximum(self.base + self.slope * values, 0.0))
        return deviation

    def interval(self, values: Floats, tail: float) -> Interval:
        """The true values c with |values - c - shift| <= z * (standard deviation at c) + half a
        grain: a score interval, missed on each side with probability at most ``tail``, but for what
        a normal law lacks.

        The shift is the first Cornish-Fisher term, so that both tails are right for rare values
        too, where reports are few and skewed. The grain makes up for votes being whole numbers
        (Yates 1934): without it, few votes are missed far more often. Where they vary so little
        that no normal law will do, the exact one is inverted instead; where their variance is an
        estimate, z is Student's. Every interval contains its estimate.
        """
        z = -float(ndtri(tail) if math.isinf(self.freedom) else stdtrit(self.freedom, tail))
        centre, half = values - (z * z - 1.0) / 6.0 * self.skew, self.grain / 2.0
        low, high = self._end(centre - half, -z), self._end(centre + half, z)
        if self.law is not None and np.any(few := self.few(values)):
            low[few], high[few] = self.law.limits(few, tail)
        return Interval(np.minimum(low, values), np.maximum(high, values))

    def _end(self, centre: Floats, z: float) -> Floats:
        """The c that is z of its own standard deviations above ``centre``: a root of a parabola."""
        end: Floats = centre + z * z * self.slope / 2.0
        end += z * np.sqrt(np.maximum(self.base + self.slope * centre + (z * self.slope) ** 2 / 4.0, 0.0))
        return end

    @property
    def throughout(self) -> bool:
        """Whether no votes are so many that a normal law would do."""
        return self.law is not None and self.law.throughout

    def few(self, values: Floats) -> NDArray[np.bool_]:
        """Where the votes vary too little for a normal law."""
        if self.law is None or self.throughout:
            return np.full(len(values), self.throughout)
        held = np.clip(values, 0.0, self.law.n)
        there, nobody = (self.stderr(each) ** 2 / self.unit**2 for each in (held, np.zeros_like(held)))
        return self.law.few(there, nobody)

    def at(self, chosen: Any) -> Noise:
        """The same for some of the values."""
        return Noise(
            self.base[chosen],
            self.slope[chosen],
            self.skew[chosen],
            self.unit if isinstance(self.unit, float) else self.unit[chosen],
            None if self.law is None else self.law.at(chosen),
            self.grain if isinstance(self.grain, float) else self.grain[chosen],
            self.freedom,
        )

    def averaged(self, others: Sequence[Noise]) -> Noise | None:
        """The noise of the mean of independent estimates with this noise and ``others``; none if
        their exact laws differ in kind.
        """
        every = [self, *others]
        law = self.law
        for other in others:
            if type(law) is not type(other.law):
                return None
            if law is not None and other.law is not None and (law := law.add(other.law)) is None:
                return None
        base, slope, skew = (
            np.mean([getattr(each, part) for each in every], axis=0) / len(every) for part in ("base", "slope", "skew")
        )
        unit, grain = self.unit / len(every), self.grain / len(every)
        return Noise(base, slope, skew, unit, law, grain, sum(each.freedom for each in every))


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Estimates from ``n`` reports, one per label.

    ``stderr`` is the standard deviation of the *unbiased* estimate, over the randomness of the
    protocol, for the data as they are: nothing is assumed of where they come from. ``unbiased``
    differs from ``values`` only if another estimator was asked for; intervals are about
    ``unbiased`` always. They are not cut off at 0 or n: cut them as you like; it costs no
    coverage.
    """

    labels: tuple[Hashable, ...]
    values: Floats
    stderr: Floats
    n: int
    unbiased: Floats
    noise: Noise
    secure: bool = True
    notes: tuple[str, ...] = ()
    of: int | None = None  # how many were estimated in all, if these are the ones that are listed

    def __post_init__(self) -> None:
        for name in ("values", "stderr", "unbiased"):
            column = getattr(self, name).view()
            column.setflags(write=False)  # what is shown and what is saved stay the same
            object.__setattr__(self, name, column)

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
        return self.noise.interval(self.unbiased, (1.0 - check_level(level)) / 2.0)

    def simultaneous(self, level: float = 0.95) -> Interval:
        """All intervals together cover all true values with probability ``level`` (Bonferroni), up
        to the normal approximation.
        """
        every = len(self.values) if self.of is None else self.of
        return self.noise.interval(self.unbiased, (1.0 - check_level(level)) / (2.0 * max(1, every)))

    def plot(self, level: float = 0.95) -> SvgFigure:
        """The estimates as bars with their intervals, which a notebook shows; ``.save("x.svg")``
        writes them.
        """
        from shuffledp.page.svg_file import estimates_svg  # loaded when called
        from shuffledp.record import Estimates

        columns = (self.values, self.stderr, *self.interval(level), *self.simultaneous(level))
        value, stderr, lower, upper, all_lower, all_upper = (tuple(column.tolist()) for column in columns)
        found = Estimates(
            unit="",
            level=level,
            of=len(self.labels) if self.of is None else self.of,
            label=tuple(map(str, self.labels)),
            value=value,
            stderr=stderr,
            lower=lower,
            upper=upper,
            all_lower=all_lower,
            all_upper=all_upper,
            together=True,
        )
        return estimates_svg(found, self.n, secure=self.secure)

    @property
    def _seeded(self) -> str:
        return "" if self.secure else ", not for release"

    def __repr__(self) -> str:
        """In a line: the first estimates, and how far off they may be."""
        pairs = zip(self.labels[:BRIEF], self.values[:BRIEF].tolist(), strict=True)
        first = ", ".join(f"{label}: {value:.6g}" for label, value in pairs)
        more = f", and {len(self.labels) - BRIEF:,} more" if len(self.labels) > BRIEF else ""
        error = float(np.max(self.stderr))
        return f"<Estimate from {self.n:,} reports: {first}{more}; standard error at most {error:.3g}{self._seeded}>"

    def __str__(self) -> str:
        """A table."""
        low, high = self.interval()
        width = max(len(str(label)) for label in self.labels[:SHOWN])
        lines = [f"{self.n} reports", f"{'':<{width}} {'estimate':>14} {'std. error':>12}   95 % interval"]
        for row in range(min(SHOWN, len(self.labels))):
            numbers = f"{self.values[row]:>14.6g} {self.stderr[row]:>12.4g}   [{low[row]:.6g}, {high[row]:.6g}]"
            lines.append(f"{self.labels[row]!s:<{width}} {numbers}")
        if len(self.labels) > SHOWN:
            lines.append(f"... and {len(self.labels) - SHOWN} more")
        return "\n".join([*lines, *self.notes])


def combine(estimates: Sequence[Estimate]) -> Estimate:
    """The average of several rounds' estimates of the same thing, each with fresh randomness."""
    check_estimates(estimates)
    first, many = estimates[0], len(estimates)
    noise = None
    if all(each.labels == first.labels and each.n == first.n for each in estimates):
        noise = first.noise.averaged([each.noise for each in estimates[1:]])
    if noise is None:
        raise InvalidInput(
            "estimates must be of one protocol, with the same labels and the same number of reports, got different "
            "ones. "
            "Average the shares, values / n, of those that agree."
        )

    def mean(columns: list[Floats]) -> Floats:
        average: Floats = np.mean(columns, axis=0)
        return average

    stderr = np.sqrt(mean([each.stderr**2 for each in estimates]) / many)
    notes = tuple(dict.fromkeys(note for each in estimates for note in each.notes))
    values, unbiased = mean([each.values for each in estimates]), mean([each.unbiased for each in estimates])
    return Estimate(
        first.labels, values, stderr, first.n, unbiased, noise, all(each.secure for each in estimates), notes
    )


def check_estimates(estimates: object) -> None:
    """Refuse what is not a list of estimates."""
    remedy = "Analyse one bag per round and pass the list."
    if not isinstance(estimates, (list, tuple)) or not all(isinstance(each, Estimate) for each in estimates):
        raise InvalidInput(f"estimates must be a list of what analyse(...) returns, got {estimates!r}. {remedy}")
    if not estimates:
        raise InvalidInput(f"estimates must hold at least one estimate, got none. {remedy}")


def check_level(level: float) -> float:
    """Refuse a level that is no probability."""
    return check_probability("level", level, remedy="It is the probability that an interval covers; 0.95 is usual.")
