"""From a table to a folder with a defended answer: in one process, or stage by stage as in a
deployment.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from shuffledp.collection.record import Asked
from shuffledp.collection.release.budget import Budget, Spent, Unnoted
from shuffledp.collection.release.clients import check_client
from shuffledp.collection.release.facts import check_reports, estimate_of, record_of
from shuffledp.collection.release.question import Question
from shuffledp.collection.release.released import Release
from shuffledp.collection.release.terms import check_words, name_of
from shuffledp.collection.release.write import check_folder, holds_release, write_release
from shuffledp.collection.tables import (
    AS_WRITTEN,
    Cleaning,
    Column,
    Header,
    Keep,
    Numbers,
    Places,
    ReportsFile,
    Tally,
    Values,
    batch_rows,
    choose_rows,
    open_reports,
    prepared,
    shuffle_files,
    tally,
    tally_file,
    write_reports,
)
from shuffledp.collection.tables.shuffle import differences
from shuffledp.errors import CertificateError, InvalidInput
from shuffledp.protocols.design import Design
from shuffledp.protocols.settling import certify
from shuffledp.sampling import Rng, source_of
from shuffledp.storage.canonical import digest_of
from shuffledp.storage.files import check_new_file

__all__ = ["Encoded", "Mixed", "Release", "analyse", "check_apart", "encode", "read_design", "release", "shuffle"]

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
    """Randomise, count and analyse ``values``, and write the result into ``folder``, if there is
    one. The budget is spent before anything is written or returned.

    In one process the shuffler is the counting: a multiset of reports is how often each occurs, and
    nothing else of them is kept.
    """
    check_reports(design, values.count)
    notes: tuple[str, ...] = ()
    if folder is not None:
        check_folder(folder, replace=force)
        check_apart(folder, *(() if budget is None else (budget.path,)))
        notes = (REPLACED + LEDGER * (budget is not None),) if holds_release(folder) else ()
    spent = None if budget is None else budget.spend(design, question.what)
    source, size = None if rng is None else source_of(rng), design.protocol.randomizer.report_bytes
    with _charged(spent):
        counted = tally(values.chunks(), design.encode, design.protocol.tally, row_bytes=size, source=source, tick=tick)
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
class Encoded:
    """What clients wrote, and how many people had no value; ``repeated`` rows were left out since
    their person has another, if that was looked at.
    """

    file: ReportsFile
    missing: int
    repeated: int | None


def encode(
    design: Design,
    column: Column,
    out: Path,
    *,
    missing: str | None = None,
    clip: bool = False,
    cleaning: Cleaning = AS_WRITTEN,
    keep: Keep = "first",
    most_epsilon0: float | None = None,
    force: bool = False,
    rng: Rng = None,
    tick: Tick = None,
) -> Encoded:
    """On the clients' side: values to reports. A design without a promise, or whose epsilon0
    exceeds ``most_epsilon0``, is refused.

    The ids that ``column`` may carry go along, one row of each person; the shuffler drops them.
    """
    check_client(design, most_epsilon0)
    check_new_file(out, replace=force)
    reader: Places | Numbers
    if design.task.bounds is not None:
        reader = Numbers(*design.task.bounds, clip=clip, cleaning=cleaning)
    else:
        reader = Places(design.task.labels, other=design.task.rest, missing=missing, cleaning=cleaning)
    if column.ids is not None and column.once:
        raise InvalidInput(
            "a table with --id must be a file, which is read twice to find each person's rows, got standard input. "
            "Save it first."
        )
    chosen = None if column.ids is None else choose_rows(column, reader, keep=keep, rng=rng)
    source, step = source_of(rng), batch_rows(design.protocol.randomizer.report_bytes)
    seen = absent = 0

    def chunks() -> Iterator[tuple[NDArray[Any], Any]]:
        nonlocal seen, absent
        for batch in prepared(column, reader, tick=tick):
            values, ids, rows = batch.values, batch.ids, len(batch.values) + batch.missing
            if chosen is not None:
                mine = chosen.kept[seen : seen + rows]
                mine = mine if batch.present is None else mine[batch.present[: len(mine)]]
                if seen + rows > len(chosen.kept) or len(mine) != len(values):
                    raise _changed(column)
                values, ids = values[mine], None if ids is None else ids.filter(mine)
            seen, absent = seen + rows, absent + batch.missing
            for start in range(0, len(values), step):
                yield (
                    design.encode(values[start : start + step], source),
                    None if ids is None else ids.slice(start, step),
                )
        if chosen is not None and seen != len(chosen.kept):
            raise _changed(column)

    file = write_reports(out, Header.encoded(design.as_json(), secure=source.secure), chunks())
    return Encoded(file, absent, None) if chosen is None else Encoded(file, chosen.absent, seen - chosen.people)


def _changed(column: Column) -> InvalidInput:
    return InvalidInput(
        f"{column.table_title} must stay as it is while it is read, got other rows at the second reading. Run it again "
        f"when nobody writes to it."
    )


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
    settled, spent = design or certify(Design.from_json(files[0].header.design)).design, None

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
    """At the analyst: shuffled reports to estimates; with a ``design``, of no other one."""
    check_folder(folder, replace=force)
    check_words("--title", title)
    file = open_reports(path, stage="shuffled")
    if design is not None:
        check_design(file, design)
    settled = design or certify(Design.from_json(file.header.design)).design
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
            f"it out, or encode anew."
        )


def check_apart(out: Path, *others: Path) -> None:
    """Refuse to write over what is read, or over the ledger: neither could be had again."""
    for other in others:
        if out.resolve() == other.resolve() or (out.exists() and os.path.exists(other) and out.samefile(other)):
            raise InvalidInput(
                f"--out must be another file than {str(other)!r}, got the same, which would be lost. Choose another "
                f"name."
            )


def read_design(path: Path) -> Design:
    """The design in a file."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except OSError as error:
        raise InvalidInput(
            f"--design must name a file that `shuffledp design` wrote, got {str(path)!r}: {error.strerror}. Check the "
            f"name."
        ) from None
    except (ValueError, RecursionError):
        raise InvalidInput(
            f"{str(path)!r} must be a design in JSON, got something else. Make it with `shuffledp design`."
        ) from None
    return certify(Design.from_json(facts)).design


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Every name once: readers of JSON differ in which of two they take."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name twice")
    return dict(pairs)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


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
