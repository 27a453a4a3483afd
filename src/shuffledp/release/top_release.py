"""A search for frequent words, carried out on a table in one process: level after level, each with
the people who drew it; and the record that such a search leaves, wherever it ran.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.design import Design
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.mechanisms.rows import Parts
from shuffledp.record import (
    Asked,
    Certificate,
    Collected,
    Counted,
    Estimates,
    Record,
    Searched,
    SearchLevel,
)
from shuffledp.record import Tally as TallyPart
from shuffledp.release.budget import Budget, Spent
from shuffledp.release.certificate import certificate
from shuffledp.release.facts import LEVEL, made_now
from shuffledp.release.finishing import charged, publish, standing
from shuffledp.release.released import Release
from shuffledp.release.write import check_folder, write_release
from shuffledp.sampling import Rng, source_of
from shuffledp.search.progress import AskedLevel, NextLevel, TopWords, found_words, progress_of
from shuffledp.search.search import MISS, TopSearch
from shuffledp.storage.canonical import digest_of, digest_of_votes
from shuffledp.storage.files import check_apart
from shuffledp.tables import Tally, Values, tally
from shuffledp.wording import statement

__all__ = ["TopRelease", "ask_level", "drawn_levels", "finished_search", "paying", "release_search"]

Tick = Callable[[int], object] | None


@dataclass(frozen=True, eq=False, repr=False)
class TopRelease(Release):
    """The words that were found, as a release. ``found`` says what they mean, and what may have
    been missed.
    """

    found: TopWords | None = None


def release_search(
    search: TopSearch,
    values: Values,
    asked: Asked,
    folder: Path | None = None,
    *,
    budget: Budget | None = None,
    force: bool = False,
    rng: Rng = None,
    tick: Tick = None,
) -> TopRelease:
    """Ask all levels of a search, one after the other, and write what was found into ``folder``, if
    there is one. The budget is spent once, before the first level is asked.
    """
    notes: tuple[str, ...] = ()
    if folder is not None:
        check_folder(folder, replace=force)
        check_apart(folder, *(() if budget is None else (budget.path,)))
        notes = standing(folder, charging=budget is not None)
    progress = progress_of(search, [])
    paid = paying(budget, search)
    spent = None if paid is None else paid.spend(search.first_design(), asked.what or "top words")
    with charged(spent):
        levels, tallies = drawn_levels(search, values.count, rng=rng), list[NDArray[np.int64]]()
        secure = True
        while progress.next is not None:
            counted = ask_level(progress.next, values, levels, len(tallies), rng=rng, tick=tick)
            tallies.append(counted.votes)
            secure = secure and counted.secure
            progress = progress_of(search, tallies)
        found = found_words(progress, secure=secure)
        return finished_search(
            found,
            asked,
            folder,
            missing=values.missing,
            repeated=values.repeated,
            spent=spent,
            force=force,
            notes=notes,
        )


def paying(budget: Budget | None, search: TopSearch) -> Budget | None:
    """The budget for a search: charged for its first level, and for what others may show beside
    it.
    """
    return None if budget is None else replace(budget, besides=search.besides)


def drawn_levels(search: TopSearch, people: int, *, rng: Rng = None) -> NDArray[np.uint8]:
    """The level of each person, drawn person by person; drawn again, for everybody, in the rare
    case that a group has a size that no level was made for. No word is looked at for that.
    """
    source = source_of(rng)
    while True:
        levels = search.levels_of(source.words(people, np.uint32)).astype(np.uint8)
        sizes = np.bincount(levels, minlength=len(search.spans) + 1)
        if all(_fits(search, sizes, asked) for asked in range(len(search.spans) + 1)):
            return levels


def _fits(search: TopSearch, sizes: NDArray[np.intp], asked: int) -> bool:
    """Whether the next level has its people, and those who are left would be enough to count."""
    rest = search.group(asked, counting=True)
    if not rest.honest <= sizes[asked:].sum() <= rest.most:
        return False
    group = search.group(asked)
    return asked == len(search.spans) or bool(group.honest <= sizes[asked] <= group.most)


def ask_level(
    level: NextLevel,
    values: Values,
    levels: NDArray[np.uint8],
    asked: int,
    *,
    rng: Rng = None,
    tick: Tick = None,
) -> Tally:
    """The tally of one level: of those who drew it, or, at the last one, of all who are left."""

    def mine() -> Iterator[NDArray[Any]]:
        start = 0
        for chunk in values.chunks():
            drawn = levels[start : start + len(chunk)]
            start += len(chunk)
            rows = chunk[drawn >= asked if level.counting else drawn == asked]
            if len(rows):
                yield level.places.places(rows)

    law = level.group.randomizer
    source = None if rng is None else source_of(rng)
    return tally(
        mine(), lambda places, words: law.randomize(places, rng=words), law.tally, row_bytes=8, source=source, tick=tick
    )


def finished_search(
    found: TopWords,
    asked: Asked,
    folder: Path | None,
    *,
    missing: int | None,
    repeated: int | None,
    spent: Spent | None,
    force: bool,
    notes: tuple[str, ...] = (),
    collected: Collected | None = None,
    held_back: bool = False,
) -> TopRelease:
    """Record and write what was found, and note in the ledger that it stands; what was
    ``held_back`` is begun just before it can be seen.
    """
    record = _record(
        found, asked, missing, repeated, spent, (*(each.rstrip(".") for each in found.missed()), *notes), collected
    )
    estimate = _listed(found)
    begin = spent.begin if spent is not None and held_back else (lambda: None)
    if folder is None:
        begin()
    else:
        write_release(folder, record, estimate, replace=force, last=begin)
    if spent is not None:
        publish(spent, digest_of(record.as_json()), folder)
    return TopRelease(record, estimate, folder, found)


def _record(
    found: TopWords,
    asked: Asked,
    missing: int | None,
    repeated: int | None,
    spent: Spent | None,
    notes: tuple[str, ...],
    collected: Collected | None,
) -> Record:
    first, search = found.progress.asked[0], found.search
    design = search.first_design()
    certified = _certified(search, design, collected=collected is not None)
    return Record(
        made=made_now(),
        asked=asked,
        design=design,
        counted=Counted(
            reports=first.reports,
            missing=missing,
            repeated=repeated,
            collected=collected,
            search=_searched(found),
        ),
        certificate=certified,
        comparison=(),  # the first level alone could be compared, and its error is not that of the words
        tally=TallyPart(reports=first.reports, blocks=(), votes=tuple(first.votes[list(first.passed)].tolist())),
        estimates=_estimates(found),
        secure=found.secure,
        notes=notes,
        ledger=None if spent is None else spent.entry(),
    ).sealed()


def _certified(search: TopSearch, design: Design, *, collected: bool) -> Certificate:
    """Of the whole search: the first level, and what is shown besides. All ends are upper ones: of
    what runs nothing is known from below, and 0 stands there.
    """
    besides = search.delta - search.level_delta
    level = certificate(design, collected=collected, last=search.epsilon if besides else None)

    def whole(delta: float) -> float:
        return math.nextafter(delta + besides, 1.0) if besides else delta

    assert level.delta is not None
    return replace(
        level,
        epsilon=replace(level.epsilon, delta=search.delta, lower=0.0),
        delta=replace(level.delta, lower=0.0, upper=whole(level.delta.upper)),
        curve=replace(level.curve, lower=(0.0,) * len(level.curve.upper), upper=tuple(map(whole, level.curve.upper))),
        assumptions=(*level.assumptions, statement("levels")),
        assumption_ids=(*level.assumption_ids, "levels"),
        users=search.people,
        honest=search.honest,
    )


def _searched(found: TopWords) -> Searched:
    search = found.search
    return Searched(
        people=search.people,
        honest=search.honest,
        delta=search.delta,
        k=search.k,
        candidates=search.candidates,
        least_holders=search.least_holders,
        error=search.error,
        spans=search.spans,
        share=search.share,
        found_from=found.found_from,
        miss=MISS,
        faked_from=found.faked_from,
        counting_law=search.counting,
        levels=tuple(_level(search, level) for level in found.progress.asked),
    )


def _level(search: TopSearch, level: AskedLevel) -> SearchLevel:
    beginnings = level.went_on
    return SearchLevel(
        share=level.group.share,
        reports=level.reports,
        words=level.question.words,
        prefixes=level.question.prefixes,
        span=level.question.span,
        threshold=level.threshold,
        passed=tuple(search.alphabet.text(each.codes) for each in beginnings),
        whole=tuple(each.whole for each in beginnings),
        votes=tuple(level.votes[list(level.passed)].tolist()),
        fell_out=level.fell_out,
        fell_votes=level.fell_votes,
        digest=digest_of_votes(level.votes),
    )


def _listed(found: TopWords) -> Estimate:
    """The listed words alone. Their limits still hold for all that were counted."""
    whole = found.estimate
    if whole is None:
        return Estimate((), found.search.people, Parts((), 0, found.search.people), found.secure, of=0)
    return replace(whole.at(list(found.listed)), secure=found.secure, notes=())


def _estimates(found: TopWords) -> Estimates:
    whole, places = found.estimate, list(found.listed)
    columns: list[NDArray[np.float64]] = [np.zeros(0)] * 6
    if whole is not None:
        columns = [whole.values, whole.stderr, *whole.interval(LEVEL), *whole.simultaneous(LEVEL)]
        columns = [column[places] for column in columns]
    value, stderr, lower, upper, all_lower, all_upper = (tuple(column.tolist()) for column in columns)
    counting = found.progress.counted
    sway = 0.0 if counting is None else counting.group.randomizer.sway / counting.group.share
    return Estimates(
        unit="people",
        level=LEVEL,
        of=len(places),
        label=tuple(each.word for each in found.words),
        value=value,
        stderr=stderr,
        lower=lower,
        upper=upper,
        all_lower=all_lower,
        all_upper=all_upper,
        sway=(sway,) * len(places),
    )
