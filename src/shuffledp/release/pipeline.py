"""From a request to a release that stands: its column is read, reports are drawn and counted, and
the tally is estimated, recorded, written, and noted in the ledger.

Nothing in a record is computed from the private values except through the shuffled reports, and the
two counts that are public. In particular there is no hash and no size of the input: whoever knows
all rows but one could test guesses of the last one against it.
"""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp import __version__
from shuffledp.client import Reporter
from shuffledp.design import Design
from shuffledp.errors import CertificateError, InvalidInput, ShuffledpError, spelled
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.mechanisms.results import Tally
from shuffledp.questions import options_module
from shuffledp.questions.table import ESTIMATES
from shuffledp.record import Collected, Context, Counted, Made, Record, Table
from shuffledp.record import Tally as TallyPart
from shuffledp.release.arguments import Promise, budget_of, promise_of, reading
from shuffledp.release.budget import Budget, Spent, Unnoted
from shuffledp.release.certificate import certificate, comparison
from shuffledp.release.files import LEVEL, check_folder, holds_release, write_release
from shuffledp.release.released import Release
from shuffledp.release.request import Request
from shuffledp.sampling import Rng, source_of
from shuffledp.search.terms import Searched
from shuffledp.storage.canonical import digest_of, digest_of_votes
from shuffledp.storage.files import check_apart
from shuffledp.tables.memory import VALUES
from shuffledp.tables.tallying import tally
from shuffledp.tables.values import Values

LISTED = 10_000  # rows in the JSON and on the page; the CSV has all
REPLACED = (
    "an earlier release stood in this folder and was replaced, which does not undo it: the noise was drawn afresh, so "
    "if both are about the same people they "
    "are two releases, and what they cost adds up"
)
REPLACED_UNDRAWN = (
    "an earlier release stood in this folder and was replaced, which does not undo it: if it was of other reports of "
    "the same people, they are two releases, and what they cost adds up"
)
LEDGER = "; the ledger was charged for each"


def estimate_of(design: Design, tally: Tally, *, clipped: bool = False, invalid: bool = False) -> Estimate:
    """What the analyst concludes from the tally of all reports; ``clipped`` says that values
    outside the range were moved to its ends, ``invalid`` that reports were left out.
    """
    came = "arrived and were valid" if invalid else "arrived"
    reports, n = check_reports(design, tally.people), design.n
    notes = (
        ()
        if reports == n
        else (f"{reports} of {n} reports {came}; the certificate holds for any {design.honest} or more honest ones",)
    )
    said = design.cautions(design.poll.predicted_stderr(), design.resolved.scale(design.n))
    estimate = design.poll.analyse_counts(tally, notes=(*notes, *said))
    moved = design.resolved.clipped
    return replace(estimate, labels=(moved,)) if clipped and moved is not None else estimate


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
    if not design.resolved.alone:
        raise InvalidInput(
            "a level of a search must be opened with the others, got it alone. Go on with `shuffledp survey next`."
        )
    if (law := design.mechanism) is not law.inside:
        raise InvalidInput(
            f"a release must be of a law that its page can state and `verify` can count again, got a {law.type}. "
            f"Analyze the shuffled reports in Python: poll = design.poll; poll.analyse(poll.shuffle(reports))."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is known of a release beside its reports: what was ``asked`` in the user's words, what
    is public, what was paid for it, and where it goes.

    ``missing`` counts the rows without a value that were left out, if that is public; ``repeated``
    those whose person has another one, and is None if every row was taken for a person. What is
    ``held_back`` is begun in the ledger just before it can be seen, and ``last`` is called before.
    """

    asked: Context
    folder: Path | None = None
    missing: int | None = None
    repeated: int | None = None
    collected: Collected | None = None
    spent: Spent | None = None
    held_back: bool = False
    force: bool = False
    notes: tuple[str, ...] = ()
    last: Callable[[], object] | None = None

    def record(self, design: Design, reports: int, *, search: Searched | None = None, **found: Any) -> Record:
        """The record of what was ``found`` in so many reports."""
        counted = Counted(
            reports=reports, missing=self.missing, repeated=self.repeated, collected=self.collected, search=search
        )
        made = Made(
            when=datetime.now(UTC).isoformat(timespec="seconds"),
            shuffledp=__version__,
            python=platform.python_version(),
            numpy=version("numpy"),
            scipy=version("scipy"),
            cryptography=version("cryptography"),
            pyarrow=version("pyarrow"),
        )
        ledger = None if self.spent is None else self.spent.entry()
        record = Record(made=made, asked=self.asked, design=design, counted=counted, ledger=ledger, **found)
        return replace(record, notes=(*record.notes, *record.question.remarks(record))).sealed()

    def published(self, record: Record, estimate: Estimate) -> Release:
        """Write a release into its folder, if it has one, and note in the ledger that it stands.
        One in memory was paid for, and an error would lose it.
        """
        if self.folder is None:
            self._before_seen()
        else:
            write_release(self.folder, record, estimate, replace=self.force, last=self._before_seen)
        if self.spent is not None:
            try:
                self.spent.publish(digest_of(record.as_json()), self.folder)
            except Unnoted as error:
                if self.folder is not None:
                    raise
                warnings.warn(str(error), stacklevel=2)
        return Release(record, estimate, self.folder)

    def _before_seen(self) -> None:
        if self.last is not None:
            self.last()
        if self.spent is not None and self.held_back:
            self.spent.begin()


def record_of(design: Design, tally: Tally, estimate: Estimate, run: Run) -> Record:
    """The record of one release."""
    certified, kept = certificate(design, collected=run.collected is not None), _largest(estimate)
    return run.record(
        design,
        estimate.n,
        certificate=certified,
        comparison=comparison(design, certified),
        tally=_tally(design, tally, kept),
        tables=_tables(design, tally, estimate, kept, run.asked, LEVEL),
        secure=estimate.secure,
        notes=tuple(estimate.notes),
    )


def tables_again(record: Record) -> Callable[[float], tuple[Table, ...]] | None:
    """The tables of a record at any level, made again of its votes; None where it does not hold all
    of them, or where this version would conclude something else from them.
    """
    design, law, counted = record.design, record.design.poll.randomizer, record.tally
    if counted.digest is not None:
        return None
    head = (counted.reports * law.messages, *(counted.blocks or ())) if len(counted.votes) < law.tally_size else ()
    tally = Tally.handed_on(law, np.array((*head, *counted.votes), dtype=np.int64))
    estimate = replace(design.poll.analyse_counts(tally), labels=record.estimates.label)
    same = np.asarray(record.estimates.value)
    if estimate.values.shape != same.shape or not np.allclose(estimate.values, same, rtol=1e-9, atol=1e-9):
        return None
    every = np.arange(len(same))
    return lambda level: _tables(design, tally, estimate, every, record.asked, level)


def _largest(estimate: Estimate) -> NDArray[np.intp]:
    """The places of the estimates that are listed: all in their order, or the largest."""
    if len(estimate.values) <= LISTED:
        return np.arange(len(estimate.values))
    return np.sort(np.argpartition(-estimate.values, LISTED - 1)[:LISTED])


def _tally(design: Design, tally: Tally, kept: NDArray[np.intp]) -> TallyPart:
    """What the shuffler released, as far as the listed estimates depend on it."""
    reports, votes = tally.people, tally.votes
    if not design.resolved.counts:
        return TallyPart(reports=reports, votes=tuple(votes.tolist()))
    cut = LISTED <= len(kept) < len(votes)
    return TallyPart(
        reports=reports,
        blocks=tuple(tally.blocks.tolist()),
        votes=tuple((votes[kept] if cut else votes).tolist()),
        digest=digest_of_votes(votes) if cut else None,
    )


def _tables(
    design: Design,
    tally: Tally,
    estimate: Estimate,
    kept: NDArray[np.intp],
    asked: Context,
    level: float,
) -> tuple[Table, ...]:
    """What is estimated, as far as it is listed, and what else the question answers with."""
    question, poll = design.resolved, design.poll
    moved, of = poll.influence(estimate)[kept], len(estimate.values)
    limited = {"influence": moved} if np.isfinite(moved).all() else {}
    first = Table.estimated(ESTIMATES, estimate, kept.tolist(), unit=question.unit, level=level, of=of, **limited)
    return (first, *question.tables(poll, tally, estimate, clips=asked.may_be_clipped, by=asked.by, level=level))


def standing(folder: Path | None, budget: Budget | None, *, force: bool, drawn: bool = True) -> tuple[str, ...]:
    """What is to be said where an earlier release stands in the folder of a new one, whose reports
    were ``drawn`` for it, or came from elsewhere; a folder that cannot be written is refused.
    """
    if folder is None:
        return ()
    check_folder(folder, replace=force)
    check_apart(folder, *(() if budget is None else (budget.path,)))
    if not holds_release(folder):
        return ()
    return (REPLACED + LEDGER * (budget is not None) if drawn else REPLACED_UNDRAWN,)


@contextmanager
def charged(spent: Spent | None) -> Iterator[None]:
    """Whatever goes wrong after the budget was spent says that it was, Ctrl-C too; it stays the
    error that it is.
    """
    try:
        yield
    except (InvalidInput, CertificateError, KeyboardInterrupt) as error:
        if spent is not None:
            said = f"The ledger was charged before that: release {spent.receipt.id}."
            known = isinstance(error, ShuffledpError)
            error.args = (*error.args, f" {said}") if known else (f"{error} {said}".strip(),)
        raise


def finished(design: Design, counted: Tally, run: Run) -> Release:
    """Estimate, record and write a tally, and note in the ledger that it stands."""
    invalid = run.collected is not None and run.collected.people < run.collected.arrived
    estimate = estimate_of(design, counted, clipped=run.asked.clips, invalid=invalid)
    estimate = replace(estimate, notes=(*estimate.notes, *run.notes))
    return run.published(record_of(design, counted, estimate, run), estimate)


@contextmanager
def opened(question: Any, rng: Rng) -> Iterator[tuple[Any, Values]]:
    """The values of the column that is asked about, and the question with its name, if it has
    one.
    """
    column = question.open()
    named = None if column.table.bare and column.name == VALUES else column.name
    request = question.named(named)
    with request.values(column, rng=rng) as values:
        for each in values.remarks:
            warnings.warn(spelled((each, ".")), stacklevel=6)  # where somebody calls sdp.count
        yield request, values


def described(name: str, data: object, column: object, given: Mapping[str, Any]) -> tuple[Any, Promise, Budget | None]:
    """The request of the question of that name, what is promised, and whose budget it takes."""
    request = options_module(name).request(reading(data, given), column, given)
    return request, promise_of(given), budget_of(given)


def answered(name: str, data: object, column: object, given: Mapping[str, Any], rng: Rng) -> Release:
    """The release that answers the question of that name with the options that were ``given``."""
    request, promise, budget = described(name, data, column, given)
    with opened(request, rng) as (named, values):
        design = named.design(values.count, promise)
        made: Release = named.release(values, design, budget=budget, rng=rng)
        return made


def release(
    question: Request,
    values: Values,
    design: Design,
    folder: Path | None = None,
    *,
    budget: Budget | None = None,
    force: bool = False,
    rng: Rng = None,
    tick: Callable[[int], object] | None = None,
) -> Release:
    """Randomize, count and analyze ``values``, and write the result into ``folder``, if there is
    one. The budget is spent before anything is written or returned.

    In one process the shuffler is the counting: a multiset of reports is how often each occurs, and
    nothing else of them is kept.
    """
    check_sayable(design)
    check_reports(design, values.count)
    notes = standing(folder, budget, force=force)
    reporter, source = Reporter(design, design.poll.randomizer), None if rng is None else source_of(rng)
    # The week of a series is held back until its folder stands, so that a killed run loses no week.
    held_back = budget is not None and budget.turn is not None and folder is not None
    spent = None if budget is None else budget.spend(design, question.what, held_back=held_back)
    with charged(spent):
        counted = tally(
            values.chunks(),
            lambda chunk, words: reporter.encode(chunk, rng=words),
            reporter.randomizer,
            row_bytes=reporter.randomizer.report_bytes,
            source=source,
            tick=tick,
        ).mixed(rng=source)
        run = Run(
            asked=question.asked(),
            folder=folder,
            missing=values.missing if question.leaves_out else None,
            repeated=values.repeated,
            spent=spent,
            held_back=held_back,
            force=force,
            notes=notes,
        )
        return finished(design, counted, run)
