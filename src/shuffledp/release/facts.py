"""The record of a new release: written beside the estimates, embedded in the page, and checked by
``shuffledp verify``.

Nothing in here is computed from the private values except through the shuffled reports, and the two
counts that are public. In particular there is no hash and no size of the input: whoever knows all
rows but one could test guesses of the last one against it.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from shuffledp import __version__
from shuffledp.client import cautions
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.page.sentences import perhaps_clipped
from shuffledp.record import Asked, Collected, Counted, Estimates, LedgerEntry, Made, Record, Tally
from shuffledp.record.question_kinds import TOP
from shuffledp.release.by_task import LEVEL, released_by
from shuffledp.release.certificate import certificate, comparison
from shuffledp.storage.canonical import digest_of_votes

__all__ = [
    "LEVEL",
    "LISTED",
    "check_reports",
    "check_sayable",
    "estimate_of",
    "estimates_again",
    "made_now",
    "record_of",
]

LISTED = 10_000  # rows in the JSON and on the page; the CSV has all
SHORT = 20  # rows of a list that is shown whole and in its own order, wherever it is shown


def estimate_of(
    design: Design, tally: NDArray[np.int64], *, secure: bool = True, clipped: bool = False, invalid: bool = False
) -> Estimate:
    """What the analyst concludes from the tally of all reports; ``clipped`` says that values
    outside the range were moved to its ends, ``invalid`` that reports were left out.
    """
    came = "arrived and were valid" if invalid else "arrived"
    reports, n = check_reports(design, _reports(design, tally)), design.n
    notes = (
        ()
        if reports == n
        else (f"{reports} of {n} reports {came}; the certificate holds for any {design.honest} or more honest ones",)
    )
    said = cautions(design, design.poll.predicted_stderr(), design.resolved.scale(design.n))
    estimate = design.poll.analyse_counts(tally, secure=secure, notes=(*notes, *said))
    labels = released_by(design.question.type).labels(estimate, clipped=clipped)
    return replace(estimate, labels=labels)


def check_reports(design: Design, reports: int) -> int:
    """Refuse to certify fewer reports than the certificate is about."""
    if reports < design.honest:
        raise InvalidInput(
            f"reports must number at least the {design.honest} that the design promises, got {reports}. Wait for "
            f"more, or design for fewer."
        )
    return reports


def check_sayable(design: Design) -> None:
    """Refuse a design whose law has no place in a record: nobody could verify its page; and one
    level of a search, which says nothing by itself.
    """
    if design.question.type in TOP:
        raise InvalidInput(
            "a level of a search must be opened with the others, got it alone. Go on with `shuffledp collection next`."
        )
    if (law := design.mechanism) is not law.inside:
        raise InvalidInput(
            f"a release must be of a law that its page can state and `verify` can count again, got a {law.type}. "
            f"Analyze the shuffled reports in Python: poll = design.poll; poll.analyse(poll.shuffle(reports))."
        )


def record_of(
    design: Design,
    tally: NDArray[np.int64],
    estimate: Estimate,
    *,
    asked: Asked,
    missing: int | None,
    repeated: int | None = None,
    collected: Collected | None = None,
    ledger: LedgerEntry | None = None,
) -> Record:
    """The record of one release. ``asked`` says what was asked in the user's words; ``missing``
    counts the rows that were left out, if that is public.

    ``repeated`` counts the rows that were left out since their person has another one; it is None,
    and stands nowhere, if every row was taken for a person.
    """
    certified = certificate(design, collected=collected is not None)
    kept = _largest(estimate)
    record = Record(
        made=made_now(),
        asked=asked,
        design=design,
        counted=Counted(reports=estimate.n, missing=missing, repeated=repeated, collected=collected),
        certificate=certified,
        comparison=comparison(design, certified),
        tally=_tally(design, tally, kept),
        estimates=_estimates(design, tally, estimate, kept, asked, LEVEL),
        secure=estimate.secure,
        notes=tuple(estimate.notes),
        ledger=ledger,
    )
    return replace(record, notes=(*record.notes, *perhaps_clipped(record))).sealed()


def estimates_again(record: Record) -> Callable[[float], Estimates] | None:
    """The tables of a record at any level, made again of its votes; None where it does not hold all
    of them, or where this version would conclude something else from them.
    """
    design, law, counted = record.design, record.design.poll.randomizer, record.tally
    if counted.digest is not None:
        return None
    head = (counted.reports * law.messages, *(counted.blocks or ())) if len(counted.votes) < law.tally_size else ()
    tally = np.asarray((*head, *counted.votes), dtype=np.int64)
    estimate = replace(design.poll.analyse_counts(tally), labels=record.estimates.label)
    same = np.asarray(record.estimates.value)
    if estimate.values.shape != same.shape or not np.allclose(estimate.values, same, rtol=1e-9, atol=1e-9):
        return None
    every = np.arange(len(same))
    return lambda level: _estimates(design, tally, estimate, every, record.asked, level)


def made_now() -> Made:
    """When, and with which versions."""
    return Made(
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        shuffledp=__version__,
        python=platform.python_version(),
        numpy=version("numpy"),
        scipy=version("scipy"),
        cryptography=version("cryptography"),
        pyarrow=version("pyarrow"),
    )


def _reports(design: Design, tally: NDArray[np.int64]) -> int:
    people: int = design.poll.randomizer.opened(tally).people
    return people


def _largest(estimate: Estimate) -> NDArray[np.intp]:
    """The places of the estimates that are listed: all in their order, or the largest."""
    if len(estimate.values) <= LISTED:
        return np.arange(len(estimate.values))
    return np.sort(np.argpartition(-estimate.values, LISTED - 1)[:LISTED])


def _tally(design: Design, tally: NDArray[np.int64], kept: NDArray[np.intp]) -> Tally:
    """What the shuffler released, as far as the listed estimates depend on it."""
    reports, blocks, votes, _ = design.poll.randomizer.opened(tally)
    if not design.resolved.counts:
        return Tally(reports=reports, votes=tuple(votes.tolist()))
    cut = LISTED <= len(kept) < len(votes)
    return Tally(
        reports=reports,
        blocks=tuple(blocks.tolist()),
        votes=tuple((votes[kept] if cut else votes).tolist()),
        digest=digest_of_votes(votes) if cut else None,
    )


def _estimates(
    design: Design,
    tally: NDArray[np.int64],
    estimate: Estimate,
    kept: NDArray[np.intp],
    asked: Asked,
    level: float,
) -> Estimates:
    columns = (estimate.values, estimate.stderr, *estimate.interval(level), *estimate.simultaneous(level))
    value, stderr, lower, upper, all_lower, all_upper = (tuple(column[kept].tolist()) for column in columns)
    return Estimates(
        unit=design.resolved.unit,
        level=level,
        of=len(estimate.values),
        label=tuple(str(estimate.labels[place]) for place in kept.tolist()),
        value=value,
        stderr=stderr,
        lower=lower,
        upper=upper,
        all_lower=all_lower,
        all_upper=all_upper,
        # A long list is shown with the largest first, and cut. Those are large by luck as well, so
        # that intervals for each by itself would miss them.
        together=design.resolved.counts and len(estimate.values) > SHORT,
        sway=tuple(each if each < math.inf else None for each in design.poll.sway(estimate)[kept].tolist()),
        **released_by(design.question.type).beside(design, tally, estimate, asked, level),
    )
