"""From reports to a folder with a defended answer, stage by stage as in a deployment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shuffledp.client import read_design
from shuffledp.design import Design
from shuffledp.errors import Argument, InvalidInput, Refusal, check_words, name_of
from shuffledp.mechanisms.results import Tally
from shuffledp.poll import certify
from shuffledp.record import Collected, Context
from shuffledp.release.budget import Budget, Spent
from shuffledp.release.files import check_folder
from shuffledp.release.pipeline import Run, charged, check_sayable, finished, standing
from shuffledp.release.released import Release
from shuffledp.sampling import Rng, source_of
from shuffledp.storage.canonical import digest_of
from shuffledp.storage.files import check_apart, check_new_file
from shuffledp.tables.counted_reports import CountedReports, holds_counts, read_counted, write_counted
from shuffledp.tables.permutation import check_crowd, differences, shuffle_files
from shuffledp.tables.reports import ReportsFile, open_reports
from shuffledp.tables.tallying import tally_file

__all__ = [
    "Mixed",
    "analyse",
    "read_design",
    "release_counts",
    "seal_counts",
    "shuffle",
]

Tick = Callable[[int], object] | None


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """What a shuffler wrote, of how many people, what it dropped of each file, and what it
    spent.
    """

    file: ReportsFile
    people: int
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
        raise InvalidInput(
            "reports must come in at least one file, got none. Give what `shuffledp stage encode` wrote."
        )
    check_apart(check_new_file(out, replace=force), *paths, *(() if budget is None else (budget.path,)))
    files = [open_reports(path, stage="encoded") for path in paths]
    if design is not None:
        for file in files:
            check_design(repr(str(file.path)), file.header.design, design)
    certified, spent = certify(design or Design.from_json(files[0].header.design)), None

    def spend() -> None:
        nonlocal spent
        if budget is not None:
            what, batches = f"{certified.question.type}, shuffled", tuple(str(file.header.batch) for file in files)
            spent = budget.spend(certified, what, batches=batches, held_back=True)

    source, law = None if rng is None else source_of(rng), certified.poll.randomizer
    for file in files:
        if file.header.width != law.form.width:
            raise InvalidInput(
                f"{str(file.path)!r} must hold the {law.messages} messages of each person in a row, got others. Leave "
                f"the file out."
            )
    done = shuffle_files(
        files,
        out,
        least=certified.honest,
        most=certified.n,
        check=law.check_reports,
        apart=law.messages > 1,
        drop=drop,
        source=source,
        before=spend,
        last=lambda: _begin(out, spent, force=force),
        tick=tick,
    )
    if spent is not None:
        spent.publish(digest_of({"reports": done.file.count, "design": certified.digest}), out)
    return Mixed(done.file, done.file.count // law.messages, done.dropped, spent)


def _begin(out: Path, spent: Spent | None, *, force: bool) -> None:
    check_new_file(out, replace=force)  # another run may have put its own answer there meanwhile
    if spent is not None:
        spent.begin()


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
    check_words(Argument("title"), title)
    if holds_counts(path):
        return _analyse_counts(path, folder, design=design, title=title, force=force)
    file = open_reports(path, stage="shuffled")
    if design is not None:
        check_design(repr(str(path)), file.header.design, design)
    certified = certify(design or Design.from_json(file.header.design))
    check_sayable(certified)
    counted = tally_file(file, certified.poll.randomizer, tick=tick)
    asked = _asked(certified, "shuffled", path, title)
    return finished(certified, counted, Run(asked=asked, folder=folder, force=force))


def _analyse_counts(path: Path, folder: Path, *, design: Design | None, title: str | None, force: bool) -> Release:
    """The same from a file of counted reports."""
    counted = read_counted(path)
    certified = check_counts(counted, repr(str(path)), design)
    check_sayable(certified)
    asked = _asked(certified, "counted", path, title)
    known: dict[str, Any] = {"missing": counted.missing, "repeated": counted.repeated, "notes": operated(counted)}
    return finished(certified, _tally(certified, counted), Run(asked=asked, folder=folder, force=force, **known))


def _tally(design: Design, counted: CountedReports) -> Tally:
    return Tally.handed_on(design.poll.randomizer, counted.votes, secure=counted.secure)


def _asked(design: Design, made: str, path: Path, title: str | None) -> Context:
    """What is known of a question whose reports came in a file."""
    what = f"{design.question.type} of {made} reports"
    return Context(question=design.question.type, what=what, title=title, source=name_of(path))


def seal_counts(
    counted: CountedReports,
    out: Path,
    *,
    design: Design | None = None,
    budget: Budget | None = None,
    force: bool = False,
) -> Spent | None:
    """Between an engine and the analyst: what the engine counted, in a file for ``analyse``. As in
    ``shuffle``, all is checked before the budget is spent, and only then is anything written. The
    ledger notes the seal of the file, by which it can be known from another.
    """
    check_apart(check_new_file(out, replace=force), *(() if budget is None else (budget.path,)))
    certified, spent = check_counts(counted, "what was counted", design), None
    if budget is not None:
        spent = budget.spend(certified, f"{certified.question.type}, counted", batches=counted.batches, held_back=True)
    write_counted(out, counted, last=lambda: _begin(out, spent, force=force))
    if spent is not None:
        spent.publish(counted.as_json()["sha256"], out)
    return spent


def release_counts(
    counted: CountedReports,
    design: Design,
    asked: Context,
    folder: Path | None = None,
    *,
    budget: Budget | None = None,
    force: bool = False,
    collected: Collected | None = None,
    notes: tuple[str, ...] = (),
    last: Callable[[], object] | None = None,
) -> Release:
    """``release`` of what an engine counted, or of what was ``collected`` over the network. The
    budget is spent once for its batches: a run that is killed before anything can be seen, and
    started again, takes its record over. ``last`` is called when nothing but that is left.
    """
    check_sayable(check_counts(counted, "what was counted", design))
    notes += operated(counted)
    notes += standing(folder, budget, force=force, drawn=collected is None)
    spent = None
    if budget is not None:
        what = asked.what or asked.question
        spent = budget.spend(design, what, batches=counted.batches, held_back=True)
    with charged(spent):
        run = Run(
            asked=asked,
            folder=folder,
            missing=counted.missing,
            repeated=counted.repeated,
            collected=collected,
            spent=spent,
            held_back=True,
            force=force,
            notes=notes,
            last=last,
        )
        return finished(design, _tally(design, counted), run)


def check_counts(counted: CountedReports, title: str, design: Design | None) -> Design:
    """The design of counted reports, certified; counts of another one, too few for its promise, or
    that its reports cannot add up to, are refused.
    """
    if design is not None:
        check_design(title, counted.design, design)
    certified = certify(design or Design.from_json(counted.design))
    check_crowd(counted.reports, certified.honest, certified.n)
    law = certified.poll.randomizer
    if len(counted.votes) != law.tally_size or not law.adds_up(counted.votes, counted.reports):
        raise InvalidInput(
            f"the votes of {title} must be what {counted.reports:,} reports of its design add up to, got others. Count "
            f"the reports again."
        )
    certified.poll.check_noise(counted.votes)
    return certified


def operated(counted: CountedReports) -> tuple[str, ...]:
    """What a reader must know of reports that an engine drew."""
    if counted.engine is None:
        return ()
    return (
        f"the reports were drawn and counted by {counted.engine}, where the values lay: whoever operates it could see "
        f"them, and is trusted as a curator is",
    )


def check_design(title: str, written: Mapping[str, Any], design: Design) -> None:
    """Refuse reports of another design than the one that was given."""
    if digest_of(dict(written)) != design.digest:
        wrong = ", ".join(differences(design.as_json(), written))
        rule = (f"{title} must be of the design in ", Argument("design"))
        raise InvalidInput(Refusal(rule, f"another, with a difference in {wrong}", "Leave it out, or encode again."))
