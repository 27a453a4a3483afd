"""A search for frequent words, carried out on a table in one process: level after level, each with
the people who drew it; and the record that such a search leaves, wherever it ran.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.design import Design
from shuffledp.errors import Argument, InvalidInput, Refusal
from shuffledp.mechanisms.results import Tally
from shuffledp.questions.table import ESTIMATES
from shuffledp.record import Certificate, Context, Table
from shuffledp.record import Tally as TallyPart
from shuffledp.release.arguments import Promise
from shuffledp.release.budget import Budget
from shuffledp.release.certificate import certificate
from shuffledp.release.files import LEVEL
from shuffledp.release.pipeline import Run, charged, standing
from shuffledp.release.released import Release
from shuffledp.release.request import Request
from shuffledp.sampling import Rng, source_of
from shuffledp.search.alphabet import Alphabet
from shuffledp.search.found import Found
from shuffledp.search.planning import planned_search
from shuffledp.search.search import Search
from shuffledp.tables.spelled import Spelled
from shuffledp.tables.tallying import tally
from shuffledp.tables.values import Values
from shuffledp.wording import statement

Tick = Callable[[int], object] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest(Request):
    """Which words of a column are most frequent: how many, and how far they are followed, say the
    ``terms``.
    """

    terms: Mapping[str, Any]

    def reader(self) -> Spelled:
        return Spelled(Alphabet(self.terms["tokens"]), self.terms["longest"], self.cleaning)

    def design(self, n: int, promise: Promise) -> Search:  # type: ignore[override]
        """The search among so many people that keeps the promise."""
        if promise.rounds != 1:
            remedy = "Each person is asked once; search again later, as another release."
            raise InvalidInput(Refusal((Argument("rounds"), " must be 1 for top words"), str(promise.rounds), remedy))
        promised = promise.terms(n)
        own = {name: promised[name] for name in ("honest", "epsilon", "delta")}
        return planned_search(people=promised["n"], **own, **self.terms)

    @property
    def what(self) -> str:
        return f"top words{super(SearchRequest, self).what.removeprefix(str(self.question))}"

    def asked(self) -> Context:
        return replace(super(SearchRequest, self).asked(), categories=None, outside=None)

    def release(  # type: ignore[override]
        self,
        values: Values,
        design: Any,
        folder: Path | None = None,
        *,
        budget: Budget | None = None,
        force: bool = False,
        rng: Rng = None,
        tick: Tick = None,
    ) -> Release:
        """Ask all levels of a search, one after the other, and write what was found into
        ``folder``, if there is one. The budget is spent once, before the first level is asked.
        """
        notes = standing(folder, budget, force=force)
        spent = None if budget is None else budget.spend(design, self.what)
        with charged(spent):
            levels, tallies, secure = drawn_levels(design, values.count, rng=rng), list[NDArray[np.int64]](), True
            while not isinstance(step := design.next(tallies), Found):
                counted = _ask(step, values, levels, len(tallies), rng=rng, tick=tick)
                tallies.append(counted.votes)
                secure = secure and counted.secure
            run = Run(
                asked=self.asked(),
                folder=folder,
                missing=values.missing,
                repeated=values.repeated,
                spent=spent,
                force=force,
                notes=notes,
            )
            return finished_search(step, run, secure=secure)


def drawn_levels(search: Search, people: int, *, rng: Rng = None) -> NDArray[np.uint8]:
    """The level of each person, drawn person by person; drawn again, for everybody, in the rare
    case that a group has a size that no level was made for. No word is looked at for that.
    """
    source = source_of(rng)
    while True:
        levels = search.levels_of(source.words(people, np.uint32)).astype(np.uint8)
        sizes = np.bincount(levels, minlength=len(search.spans) + 1)
        if all(_fits(search, sizes, asked) for asked in range(len(search.spans) + 1)):
            return levels


def _fits(search: Search, sizes: NDArray[np.intp], asked: int) -> bool:
    """Whether the next level has its people, and those who are left would be enough to count."""
    rest = search.group(asked, counting=True)
    if not rest.honest <= sizes[asked:].sum() <= rest.most:
        return False
    group = search.group(asked)
    return asked == len(search.spans) or bool(group.honest <= sizes[asked] <= group.most)


def _ask(design: Design, values: Values, levels: NDArray[np.uint8], asked: int, *, rng: Rng, tick: Tick) -> Tally:
    """The tally of one level: of those who drew it, or, at the last one, of all who are left."""
    level, law = design.resolved, design.poll.randomizer

    def mine() -> Iterator[NDArray[Any]]:
        start = 0
        for chunk in values.chunks():
            drawn = levels[start : start + len(chunk)]
            start += len(chunk)
            rows = chunk[drawn >= asked if level.counting else drawn == asked]
            if len(rows):
                yield level.level.places(rows)

    source = None if rng is None else source_of(rng)
    return tally(
        mine(), lambda places, words: law.randomize(places, rng=words), law, row_bytes=8, source=source, tick=tick
    ).mixed(rng=source)


def finished_search(found: Found, run: Run, *, secure: bool = True) -> Release:
    """Record and write what was found, and note in the ledger that it stands."""
    first, design, moved = found.levels[0], found.search.first_design, [found.influence] * len(found.listed.labels)
    record = run.record(
        design,
        first.reports,
        search=found.searched(),
        certificate=_certified(found.search, collected=run.collected is not None),
        comparison=(),  # the first level alone could be compared, and its error is not that of the words
        tally=TallyPart(reports=first.reports, blocks=(), votes=first.votes),
        tables=(Table.estimated(ESTIMATES, found.listed, unit=design.resolved.unit, level=LEVEL, influence=moved),),
        secure=secure,
        notes=(*(each.rstrip(".") for each in found.missed()), *run.notes),
    )
    return run.published(record, replace(found.listed, secure=secure))


def _certified(search: Search, *, collected: bool) -> Certificate:
    """Of the whole search: the first level, and what is shown besides. All ends are upper ones: of
    what runs nothing is known from below, and 0 stands there.
    """
    besides = search.delta - search.level_delta
    level = certificate(search.first_design, collected=collected, last=search.epsilon if besides else None)

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
