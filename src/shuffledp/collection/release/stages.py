"""From a table to a folder with a defended answer: in one process, or stage by stage as in a
deployment.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from shuffledp.collection.client import Encoder, read_design
from shuffledp.collection.record import Asked
from shuffledp.collection.release.budget import Budget, Spent, Unnoted
from shuffledp.collection.release.facts import check_reports, check_sayable, estimate_of, record_of
from shuffledp.collection.release.question import Question
from shuffledp.collection.release.released import Release
from shuffledp.collection.release.terms import check_words, name_of
from shuffledp.collection.release.write import check_folder, holds_release, write_release
from shuffledp.collection.tables import (
    ReportsFile,
    Tally,
    Values,
    open_reports,
    shuffle_files,
    tally,
    tally_file,
)
from shuffledp.collection.tables.shuffle import differences
from shuffledp.errors import CertificateError, InvalidInput
from shuffledp.protocols.design import Design
from shuffledp.protocols.settling import certify
from shuffledp.sampling import Rng, source_of
from shuffledp.storage.canonical import digest_of
from shuffledp.storage.files import check_apart, check_new_file

__all__ = ["Mixed", "Release", "analyse", "read_design", "release", "shuffle"]

Tick = Callable[[int], object] | None
REPLACED = (
    "an earlier release stood in this folder and was replaced, which does not undo it: the noise was drawn afresh, so "
    "if both are about the same people they "
    "are two releases, and what they cost adds up"
)
LEDGER = "; the ledger was charged for each"


def release(
    question: Question,
    values: Values,
    design: Design,
    folder: Path | None = None,
    *,
    budget: Budget | None = None,
    force: bool = False,
    rng: Rng = None,
    tick: Tick = None,
) -> Release:
    """Randomize, count and analyze ``values``, and write the result into ``folder``, if there is
    one. The budget is spent before anything is written or returned.

    In one process the shuffler is the counting: a multiset of reports is how often each occurs, and
    nothing else of them is kept.
    """
    check_sayable(design)
    check_reports(design, values.count)
    notes: tuple[str, ...] = ()
    if folder is not None:
        check_folder(folder, replace=force)
        check_apart(folder, *(() if budget is None else (budget.path,)))
        notes = (REPLACED + LEDGER * (budget is not None),) if holds_release(folder) else ()
    encoder, source = Encoder(design, design.protocol.randomizer), None if rng is None else source_of(rng)
    spent = None if budget is None else budget.spend(design, question.what)
    with _charged(spent):
        counted = tally(
            values.chunks(),
            lambda chunk, words: encoder.encode(chunk, rng=words),
            design.protocol.tally,
            row_bytes=encoder.randomizer.report_bytes,
            source=source,
            tick=tick,
        )
        missing = values.missing if question.leaves_out else None
        asked = question.asked()
        return _written(
            design,
            counted,
            folder,
            asked=asked,
            missing=missing,
            repeated=values.repeated,
            spent=spent,
            force=force,
            notes=notes,
        )


@contextmanager
def _charged(spent: Spent | None) -> Iterator[None]:
    """Whatever goes wrong after the budget was spent says that it was, Ctrl-C too; it stays the
    error that it is.
    """
    try:
        yield
    except (InvalidInput, CertificateError, KeyboardInterrupt) as error:
        if spent is not None:
            error.args = (f"{error} The ledger was charged before that: release {spent.receipt.id}.".strip(),)
        raise


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """What a shuffler wrote, what it dropped of each file, and what it spent."""

    file: ReportsFile
    dropped: Mapping[Path, int]
    spent: Spent | None


def shuffle(
    paths: Sequence[Path],
    out: Path,
    *,
    design: Design | None = None,
    budget: Budget | None = None,
    drop: bool = False,
    force: bool = False,
    rng: Rng = None,
    tick: Tick = None,
) -> Mixed:
    """Between clients and analyst: all reports in a uniformly random order, without ids; fewer than
    were promised are refused.

    Whatever can be wrong is looked for first: only when every report has been read and kept is the
    budget spent, and only then is anything written. Should the writing fail nevertheless, nothing
    has been seen: the same files may be shuffled again, and are not paid for twice. With a
    ``design``, every file must be of that one; else of the one that they name themselves.
    """
    if not paths:
        raise InvalidInput("reports must come in at least one file, got none. Give what `shuffledp encode` wrote.")
    check_apart(check_new_file(out, replace=force), *paths, *(() if budget is None else (budget.path,)))
    files = [open_reports(path, stage="encoded") for path in paths]
    if design is not None:
        for file in files:
            check_design(file, design)
    settled, spent = certify(design or Design.from_json(files[0].header.design)).design, None

    def spend() -> None:
        nonlocal spent
        batches = tuple(str(file.header.batch) for file in files)
        spent = (
            None
            if budget is None
            else budget.spend(settled, f"{settled.task}, shuffled", batches=batches, held_back=True)
        )

    def begin() -> None:
        check_new_file(out, replace=force)  # another run may have put its own answer there meanwhile
        if spent is not None:
            spent.begin()

    source, check = None if rng is None else source_of(rng), settled.protocol.randomizer.check_reports
    least, most = settled.least, settled.n
    done = shuffle_files(
        files, out, least=least, most=most, check=check, drop=drop, source=source, before=spend, last=begin, tick=tick
    )
    if spent is not None:
        spent.publish(digest_of({"reports": done.file.count, "design": settled.digest}), out)
    return Mixed(done.file, done.dropped, spent)


def analyse(
    path: Path,
    folder: Path,
    *,
    design: Design | None = None,
    title: str | None = None,
    force: bool = False,
    tick: Tick = None,
) -> Release:
    """For the analyst: from shuffled reports to estimates; with a ``design``, of no other one."""
    check_folder(folder, replace=force)
    check_words("--title", title)
    file = open_reports(path, stage="shuffled")
    if design is not None:
        check_design(file, design)
    settled = certify(design or Design.from_json(file.header.design)).design
    check_sayable(settled)
    counted = tally_file(file, settled.protocol.tally, check=settled.protocol.randomizer.check_reports, tick=tick)
    asked = Asked(
        task=settled.task.name,
        what=f"{settled.task} of shuffled reports",
        title=title,
        source=name_of(path),
        learned=settled.learned,
    )
    return _written(settled, counted, folder, asked=asked, missing=None, repeated=None, spent=None, force=force)


def check_design(file: ReportsFile, design: Design) -> None:
    """Refuse reports of another design than the one that was settled."""
    if digest_of(dict(file.header.design)) != design.digest:
        wrong = ", ".join(differences(design.as_json(), file.header.design))
        raise InvalidInput(
            f"{str(file.path)!r} must be of the design in --design, got another, with a difference in {wrong}. Leave "
            f"it out, or encode again."
        )


def _written(
    design: Design,
    counted: Tally,
    folder: Path | None,
    *,
    asked: Asked,
    missing: int | None,
    repeated: int | None,
    spent: Spent | None,
    force: bool,
    notes: tuple[str, ...] = (),
) -> Release:
    estimate = estimate_of(design, counted.votes, secure=counted.secure, clipped=asked.clips)
    estimate = replace(estimate, notes=(*estimate.notes, *notes))
    record = record_of(
        design,
        counted.votes,
        estimate,
        asked=asked,
        missing=missing,
        repeated=repeated,
        ledger=None if spent is None else spent.entry(),
    )
    if folder is not None:
        write_release(folder, record, estimate, replace=force)
    if spent is not None:
        _publish(spent, digest_of(record.as_json()), folder)
    return Release(record, estimate, folder)


def _publish(spent: Spent, digest: str, folder: Path | None) -> None:
    """Note in the ledger that a release stands. One in memory was paid for, and an error would lose
    it.
    """
    try:
        spent.publish(digest, folder)
    except Unnoted as error:
        if folder is not None:
            raise
        warnings.warn(str(error), stacklevel=2)
