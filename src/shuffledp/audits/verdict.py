"""``audit``: run the real code many times on two neighboring datasets, attack it, and hold the
result against the promise.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shuffledp.accounting.accuracy import RUNS, SECONDS
from shuffledp.accounting.guarantee import check_delta
from shuffledp.audits.attack import BAG, SIGNIFICANCE, Check, Tally, bag_score, chosen, judged, proven
from shuffledp.audits.reports import Misread
from shuffledp.audits.subject import subject_of
from shuffledp.audits.trial import Play, Subject, misread, tried
from shuffledp.errors import InvalidInput, Refusal, check_count, check_positive, check_probability
from shuffledp.poll import Poll
from shuffledp.randomizers.randomizer import Randomizer
from shuffledp.sampling import Rng, Source, source_of
from shuffledp.training.descent import ShuffledSGD

LEAST_RUNS = 200
ITEMS = 1 << 18  # reports drawn at once
MOST_ITEMS = 1 << 22  # reports kept to choose the attack by
MOST_USERS = 1_000_000
ALONE = 0.4  # the share of the time in which the parts are tried alone
SURE = 1.0 - SIGNIFICANCE  # the least confidence of a verdict
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Audit:
    """What the attack proved. ``epsilon_lower`` <= epsilon of the running code, with probability at
    least ``confidence``.

    ``epsilon_sure`` is the same with probability at least 0.9999, or ``confidence`` if that is
    more: only this one can accuse, as honest code would otherwise be accused as often as
    ``confidence`` allows. ``certified`` is what was promised at ``delta``; ``attainable`` what a
    perfect attack with unlimited runs could prove on these two datasets, if known. ``runs`` counts
    those made, on each dataset; fewer than asked for if time ran out.
    """

    subject: str
    n: int
    delta: float
    confidence: float
    runs: int
    epsilon_lower: float
    epsilon_sure: float
    attainable: float | None
    certified: float
    attack: str
    checks: tuple[Check, ...]
    seconds: float

    @property
    def failed(self) -> tuple[str, ...]:
        """What went wrong: "epsilon" if more is leaked than promised, and the names of failed
        checks.

        "order" stands for "epsilon" if the attack looked at a position and all checks of reports
        passed: then these are right, and the shuffler is not.
        """
        checks = tuple(check.name for check in self.checks if check.failed)
        if self.epsilon_sure <= self.certified:
            return checks
        return ("epsilon" if self.attack == BAG or {*checks} - {"shuffling"} else "order", *checks)

    @property
    def verdict(self) -> Literal["consistent", "violated"]:
        """Whether what was seen is consistent with what was promised. "consistent" is not a proof
        of privacy: the account is.
        """
        return "violated" if self.failed else "consistent"

    def reasons(self) -> list[str]:
        """One sentence for each thing that went wrong."""
        seen = {check.name: ", ".join(filter(None, (check.evidence, check.where))) for check in self.checks}
        words = {check.name: f"{check.meaning} ({seen[check.name]})" for check in self.checks}
        proof = f"epsilon >= {self.epsilon_sure:.4g} at delta = {self.delta:g}"
        sure = f"with confidence {max(self.confidence, SURE):g}"
        leak = f"the attack proves {proof} {sure}, and at most {self.certified:.4g} was promised"
        order = f"{leak}; it looked at the position of a report, so the order is not hidden"
        words |= {"epsilon": leak, "order": order}
        return [words[name] for name in self.failed]


def audit(
    what: Poll | Randomizer | ShuffledSGD | Subject,
    *,
    delta: float | None = None,
    n: int | None = None,
    runs: int = RUNS,
    confidence: float = 0.95,
    rng: Rng = None,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> Audit:
    """Attack a poll, or a randomizer with ``n`` users behind a shuffler, ``runs`` times on each
    of two datasets.

    The target holds one of two values and all others the value that gives it away most. Half of the
    runs choose the attack, the other half measure it. ``progress`` is called with the runs done and
    the runs in all. A seeded ``rng`` repeats an audit.

    >>> from shuffledp import KRR
    >>> answer = audit(
    ...     KRR(k=4, epsilon0=2.0), n=20, delta=0.01, runs=5000, rng=np.random.default_rng(7)
    ... )
    >>> answer.verdict, 0.0 < answer.epsilon_lower < answer.certified
    ('consistent', True)
    """
    started = time.monotonic()
    subject, source = subject_of(what, n), source_of(rng)
    delta = check_delta(_default_delta(what) if delta is None else delta)
    runs = check_count("runs", runs, least=LEAST_RUNS, remedy="Half of them choose the attack; 100,000 is usual.")
    alpha = 1.0 - check_probability("confidence", confidence, remedy="0.95 is usual.")
    budget = check_positive("seconds", seconds, remedy="It bounds how long an audit may run.")
    if subject.n > MOST_USERS:
        remedy = "Audit fewer users with the same noise: the code is the same."
        raise InvalidInput(Refusal(f"n must be at most {MOST_USERS:,} to be audited", f"{subject.n:,}", remedy))
    certified, attainable = subject.certified(delta), subject.choose(delta)
    bench = subject.bench()
    alone = 0 if bench is None else bench.runs(runs)
    watch = _Watch(started, budget, alone + 2 * runs, progress)
    findings = [] if bench is None else tried(bench, runs, source, watch.alone)
    watch = replace(watch, before=alone)
    tally = Tally(subject.n, subject.hay, subject.needles)
    made, lower, sure, name = 0, 0.0, 0.0, BAG
    if all(p > 0.0 for name, _, p, _ in findings if name == "format"):
        try:
            made, lower, sure, name = _attacked(subject, source, tally, watch, runs, delta, alpha)
            findings += tally.findings()
        except Misread as error:
            findings.append(misread(error))
    took = time.monotonic() - started
    proved, promised = (made, lower, sure), (attainable, certified)
    return Audit(subject.name, subject.n, delta, confidence, *proved, *promised, name, judged(findings), took)


def _attacked(
    subject: Subject, source: Source, tally: Tally, watch: _Watch, runs: int, delta: float, alpha: float
) -> tuple[int, float, float, str]:
    """Choose the attack on some of the runs, and measure it on the others: how many there were,
    what was proven, also with the confidence of a verdict, and what the attack looks at.
    """
    half = min(runs // 2, max(MOST_ITEMS // subject.n, LEAST_RUNS // 2))
    first: tuple[list[Play], list[Play]] = ([], [])

    def keep(which: int, play: Play) -> None:
        first[which].append(play)

    done = _play(subject, source, half, tally, watch, keep, share=(1.0 + ALONE) / 2.0)
    if done < LEAST_RUNS // 2:
        remedy = "Allow more, or audit fewer users or a smaller domain k."
        rule = f"seconds must allow for {LEAST_RUNS} runs"
        raise InvalidInput(Refusal(rule, f"time for {2 * done}", remedy))
    attack = chosen((_joined(first[0]), _joined(first[1])), delta, alpha)
    hits = [0, 0]

    def measure(which: int, play: Play) -> None:
        hits[which] += attack.hits(attack.score(play))

    measured = _play(subject, source, runs - half, tally, watch, measure, share=1.0)
    lower = sure = 0.0
    if measured:
        told, of = (hits[0], hits[1]), (measured, measured)
        lower, sure = (proven(attack, told, of, delta, level) for level in (alpha, min(alpha, SIGNIFICANCE)))
    return done + measured, lower, sure, attack.name


@dataclass(frozen=True, slots=True)
class _Watch:
    """The clock, and whom to tell."""

    started: float
    budget: float
    total: int
    progress: Progress | None
    before: int = 0

    def over(self, share: float) -> bool:
        return time.monotonic() - self.started > share * self.budget

    def alone(self, done: int) -> bool:
        """Tell, and say whether the attack must begin."""
        self.tell(done)
        return self.over(ALONE)

    def tell(self, done: int) -> None:
        if self.progress is not None:
            self.progress(min(self.before + done, self.total), self.total)


def _play(
    subject: Subject,
    source: Source,
    runs: int,
    tally: Tally,
    watch: _Watch,
    use: Callable[[int, Play], None],
    *,
    share: float,
) -> int:
    """Runs on both datasets in turn, until there are ``runs`` of each or this ``share`` of the time
    is gone; how many of each.
    """
    chunk, done = max(1, min(ITEMS // subject.n, math.ceil(runs / 8))), 0
    while done < runs and not (done and watch.over(share)):
        size = min(chunk, runs - done)
        for which in (0, 1):
            play = subject.play(which, size, source)
            tally.add(which, bag_score(play), play.classes)
            use(which, play)
        done += size
        watch.tell(sum(tally.runs))
    return done


def _joined(plays: list[Play]) -> Play:
    """All in one; the parts are let go."""
    if parts := [play.classes for play in plays if play.classes is not None]:
        whole = Play(plays[0].u, plays[0].v, np.concatenate(parts))
    else:
        whole = Play(*(np.concatenate(each) for each in zip(*(play[:2] for play in plays), strict=True)))
    plays.clear()
    return whole


def _default_delta(what: object) -> object:
    return getattr(what, "delta", None) or 1e-3
