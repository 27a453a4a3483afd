"""A poll taken apart: the sampler on values that the auditor draws, the words it draws with,
the shuffler on known reports, the analyst on a known bag.

What is attacked: code that runs, on two datasets that differ in the target's value, with the law
and the guarantee that were promised for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.audits.census import Census, Finding
from shuffledp.audits.reports import Joint, Misread
from shuffledp.audits.shuffler import distinct, shuffling
from shuffledp.audits.thresholds import integers
from shuffledp.randomizers.randomizer import Randomizer
from shuffledp.sampling import Source

ITEMS = 1 << 18  # reports at once
MOST_REPORTS = 40_000_000  # at epsilon0 = 1 these show one truthful report in a thousand
LEAST_TRIALS, MOST_TRIALS = 400, 4000
MOST_SHUFFLED = 1 << 24  # reports handed to the shuffler in all
AGREES = 1e-6
Told = Callable[[int], bool]  # how many runs were made; whether time is up


@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """The parts, each to be tried alone: ``users`` of one run hold inputs of ``joint``, and
    ``encode`` returns their reports in order.

    ``tokens`` are what to hand to the shuffler, by default reports of users. What is None is not
    there, or cannot be tried. ``most`` bounds the reports. ``more`` is whatever else must be tried,
    so many times.
    """

    users: int
    joint: Joint
    encode: Callable[[NDArray[Any], Source], NDArray[Any]]
    randomizer: Randomizer | None = None
    shuffle: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    decode: Callable[[NDArray[Any]], tuple[Floats, Floats]] | None = None
    tokens: NDArray[Any] | None = None
    most: int = MOST_REPORTS
    more: Callable[[int, Source, np.random.Generator], list[Finding]] | None = None

    def runs(self, asked: int) -> int:
        """How many runs the sampler is tried in, if ``asked`` are attacked on each dataset."""
        return max(1, min(4 * asked, self.most // self.users))


def tried(bench: Bench, asked: int, source: Source, told: Told) -> list[Finding]:
    """Everything that was found; "format" alone if reports cannot be read."""
    # The auditor's own: it must not share words with what is audited.
    generator = np.random.default_rng(source.words(4, np.uint64).tolist())
    try:
        found = _sampled(bench, bench.runs(asked), source, generator, told)
        if bench.randomizer is not None:
            exact = integers(bench.randomizer, lambda x, script: _one(bench, x, script), generator)
            found += [] if exact is None else [exact]
        _, rows = _drawn(bench, bench.users, source, generator)
        if bench.shuffle is not None:
            tokens = rows if bench.tokens is None else bench.tokens
            trials = max(50, min(max(LEAST_TRIALS, asked // 5), MOST_TRIALS, MOST_SHUFFLED // len(tokens)))
            handed = (tokens, *distinct(tokens, bench.shuffle))
            found += [shuffling(each, bench.shuffle, trials, generator) for each in handed]
        if bench.more is not None:
            found += bench.more(max(LEAST_TRIALS, min(asked, MOST_TRIALS)), source, generator)
        if bench.decode is not None:
            (said, right), off = bench.decode(rows), np.inf
            if said.shape == right.shape:
                off = float(np.max(np.abs(said - right))) / (float(np.max(np.abs(right))) + len(rows))
            meaning = "the analyst's estimates are not those of the accounted law"
            found.append(("estimate", meaning, float(off < AGREES), f"off by a share of {off:.1g}"))
    except Misread as error:
        return [misread(error)]
    return [("format", MISREAD, 1.0, ""), *found]


MISREAD = "reports are not of the documented form"


def misread(error: Misread) -> Finding:
    """What to say of reports that cannot be read."""
    return "format", MISREAD, 0.0, str(error)


def _sampled(bench: Bench, runs: int, source: Source, generator: np.random.Generator, told: Told) -> list[Finding]:
    census, done, chunk = Census(bench.joint, bench.users), 0, max(1, ITEMS // bench.users)
    while done < runs:
        size = min(chunk, runs - done)
        drawn, rows = _drawn(bench, size * bench.users, source, generator)
        census.add(drawn, bench.joint.read(drawn, rows, generator))
        done += size
        if told(done):
            break
    return census.findings()


def _one(bench: Bench, x: Any, source: Source) -> Any:
    rows = bench.encode(np.array([x]), source)
    if len(rows) != 1:
        raise Misread(f"one user must send one report, got {len(rows)}")
    return rows[0]


def _drawn(
    bench: Bench, count: int, source: Source, generator: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Values at random, and what their holders send."""
    drawn = generator.integers(0, len(bench.joint.inputs), count)
    rows = bench.encode(bench.joint.inputs[drawn], source)
    if len(rows) != count:
        raise Misread(f"there must be one report per user, {count} in all, got {len(rows)}")
    return drawn, rows


AT_ONCE = 1 << 20  # items looked up at once


class Play(NamedTuple):
    """Many runs on one dataset, item by item in the order of release.

    ``u`` and ``v`` are the likelihood ratios of the target's two inputs to what the others hold: of
    each item, or, if there are finitely many ``classes`` of items, of each class, to be looked up;
    classes are kept in few bytes.
    """

    u: Floats
    v: Floats
    classes: NDArray[np.integer] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs, and items in each."""
        return self.u.shape if self.classes is None else self.classes.shape

    def totals(self) -> tuple[Floats, Floats]:
        """The sums of u and of v over each run, a bounded number of items at a time."""
        runs, items = self.shape
        step = max(1, AT_ONCE // items)
        parts = [slice(start, start + step) for start in range(0, runs, step)]
        u, v = (np.concatenate([self._at(each, part).sum(axis=1) for part in parts]) for each in (self.u, self.v))
        return u, v

    def ratios(self, places: int | slice) -> Floats:
        """The log of u over v in some places of every run."""
        where = (slice(None), places)
        if self.classes is None:
            return np.asarray(np.log(self.u[where]) - np.log(self.v[where]))
        return self._at(np.log(self.u) - np.log(self.v), where)

    def _at(self, ratios: Floats, where: Any) -> Floats:
        return np.asarray(ratios[where] if self.classes is None else ratios[self.classes[where]])


class Subject(ABC):
    """A poll under attack, with ``n`` users."""

    name: str
    n: int
    hay: Floats | None = None
    needles: tuple[Floats, Floats] | None = None

    @abstractmethod
    def certified(self, delta: float) -> float:
        """The epsilon that was promised at ``delta``."""

    @abstractmethod
    def play(self, which: int, runs: int, source: Source) -> Play:
        """Run the code ``runs`` times on dataset 0 or 1."""

    def choose(self, delta: float) -> float | None:
        """Settle what the other users hold, and return the epsilon of that pair of datasets if it
        is known: no attack on them can do better.
        """
        return None

    def bench(self) -> Bench | None:
        """What can be tested apart from the attack: the sampler, the shuffler and the analyst, one
        by one; None if they cannot be told apart.
        """
        return None
