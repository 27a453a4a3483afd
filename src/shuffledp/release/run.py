"""From a table to a folder with a defended answer: in one process, or stage by stage as in a deployment."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from shuffledp.canonical import digest_of
from shuffledp.errors import InvalidInput
from shuffledp.files import check_new_file
from shuffledp.pipeline import (
    Column,
    Header,
    Numbers,
    Places,
    ReportsFile,
    Tally,
    Values,
    batch_rows,
    open_reports,
    prepared,
    shuffle_files,
    tally,
    tally_file,
    write_reports,
)
from shuffledp.protocols.design import Design
from shuffledp.protocols.estimate import Estimate
from shuffledp.release.budget import Budget, Spent
from shuffledp.release.facts import check_reports, estimate_of, facts_of
from shuffledp.release.question import Question
from shuffledp.release.terms import CLIPPED_TO_BOUNDS, check_words, name_of
from shuffledp.release.write import check_folder, holds_release, write_release
from shuffledp.sampling import Rng, source_of

__all__ = ["Release", "analyse", "check_apart", "encode", "read_design", "release", "shuffle"]

Tick = Callable[[int], object] | None
REPLACED = (
    "an earlier release stood in this folder and was replaced, which does not undo it: the noise was drawn afresh, so if both are about the same people they "
    "are two releases, and what they cost adds up"
)
LEDGER = "; the ledger was charged for each"


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """What was written: the facts, and the estimate with all its rows."""

    facts: Mapping[str, Any]
    estimate: Estimate
    folder: Path


def release(
    question: Question,
    values: Values,
    design: Design,
    folder: Path,
    *,
    budget: Budget | None = None,
    force: bool = False,
    rng: Rng = None,
    tick: Tick = None,
) -> Release:
    """Randomise, count and analyse ``values``, and write the result. The budget is spent before anything is written.

    In one process the shuffler is the counting: a multiset of reports is how often each occurs, and nothing else of them is kept.
    """
    check_reports(design, values.count)
    check_folder(folder, replace=force)
    check_apart(folder, *(() if budget is None else (budget.path,)))
    notes = (REPLACED + LEDGER * (budget is not None),) if holds_release(folder) else ()
    spent = None if budget is None else budget.spend(design, question.what)
    source, size = None if rng is None else source_of(rng), design.protocol.randomizer.report_bytes
    counted = tally(values.chunks(), design.encode, design.protocol.tally, row_bytes=size, source=source, tick=tick)
    missing = values.missing if question.leaves_out else None
    return _written(design, counted, folder, asked=question.asked(), missing=missing, spent=spent, force=force, notes=notes)


def encode(
    design: Design, column: Column, out: Path, *, missing: str | None = None, clip: bool = False, force: bool = False, rng: Rng = None, tick: Tick = None
) -> ReportsFile:
    """On the clients' side: values to reports. The ids that ``column`` may carry go along; the shuffler drops them."""
    check_new_file(out, replace=force)
    reader: Places | Numbers
    if design.task == "mean":
        reader = Numbers(design.facts["lower"], design.facts["upper"], clip=clip)
    else:
        reader = Places(design.labels, other=design.facts["other"], missing=missing)
    source, step = source_of(rng), batch_rows(design.protocol.randomizer.report_bytes)

    def chunks() -> Iterator[tuple[NDArray[Any], Any]]:
        for batch in prepared(column, reader, tick=tick):
            for start in range(0, len(batch.values), step):
                ids = None if batch.ids is None else batch.ids.slice(start, step)
                yield design.encode(batch.values[start : start + step], source), ids

    return write_reports(out, Header.encoded(design.as_json(), secure=source.secure), chunks())


def shuffle(
    paths: Sequence[Path], out: Path, *, budget: Budget | None = None, force: bool = False, rng: Rng = None, tick: Tick = None
) -> tuple[ReportsFile, Spent | None]:
    """Between clients and analyst: all reports in a uniformly random order, without ids; fewer than were promised are refused."""
    if not paths:
        raise InvalidInput("reports must come in at least one file, got none. Give what `shuffledp encode` wrote.")
    check_apart(check_new_file(out, replace=force), *paths, *(() if budget is None else (budget.path,)))
    headers = [open_reports(path, stage="encoded").header for path in paths]
    design, batches = Design.from_json(headers[0].design), tuple(str(header.batch) for header in headers)
    facts, spent = design.facts, None

    def spend() -> None:
        nonlocal spent
        spent = None if budget is None else budget.spend(design, f"{design.task}, shuffled", batches=batches)

    source, check = None if rng is None else source_of(rng), design.protocol.randomizer.check_reports
    done = shuffle_files(paths, out, least=facts["least"], most=facts["n"], check=check, source=source, before=spend, tick=tick)
    if spent is not None:
        spent.publish(digest_of({"reports": done.count, "design": design.digest}))
    return done, spent


def analyse(path: Path, folder: Path, *, title: str | None = None, force: bool = False, tick: Tick = None) -> Release:
    """At the analyst: shuffled reports to estimates."""
    check_folder(folder, replace=force)
    check_words("--title", title)
    file = open_reports(path, stage="shuffled")
    design = Design.from_json(file.header.design)
    counted = tally_file(file, design.protocol.tally, check=design.protocol.randomizer.check_reports, tick=tick)
    asked = {"what": f"{design.task} of shuffled reports", "title": title, "source": name_of(path), "column": None, "learned": design.facts["learned"]}
    return _written(design, counted, folder, asked=asked, missing=None, spent=None, force=force)


def check_apart(out: Path, *others: Path) -> None:
    """Refuse to write over what is read, or over the ledger: neither could be had again."""
    for other in others:
        if out.resolve() == other.resolve() or (out.exists() and os.path.exists(other) and out.samefile(other)):
            raise InvalidInput(f"--out must be another file than {str(other)!r}, got the same, which would be lost. Choose another name.")


def read_design(path: Path) -> Design:
    """The design in a file."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except OSError as error:
        raise InvalidInput(f"--design must name a file that `shuffledp design` wrote, got {str(path)!r}: {error.strerror}. Check the name.") from None
    except (ValueError, RecursionError):
        raise InvalidInput(f"{str(path)!r} must be a design in JSON, got something else. Make it with `shuffledp design`.") from None
    return Design.from_json(facts)


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
    folder: Path,
    *,
    asked: Mapping[str, object],
    missing: int | None,
    spent: Spent | None,
    force: bool,
    notes: tuple[str, ...] = (),
) -> Release:
    estimate = estimate_of(design, counted.votes, secure=counted.secure, clipped=asked.get("outside") == CLIPPED_TO_BOUNDS)
    estimate = replace(estimate, notes=(*estimate.notes, *notes))
    facts = facts_of(design, counted.votes, estimate, asked=asked, missing=missing, ledger=None if spent is None else spent.facts())
    write_release(folder, facts, estimate, replace=force)
    if spent is not None:
        spent.publish(digest_of(facts))
    return Release(facts, estimate, folder)
