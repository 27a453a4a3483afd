"""On the clients' side: a design is read, what it asks of people is said to them, and their values
become reports.

Law and sampler are all that is needed for that. No accountant is loaded here: that the noise of a
design keeps its promise is certified where it was made, and again by shuffler and analyst
(``poll.certify``). A client checks that the integers are those of the law, and how much one
report says by itself, which needs nobody's word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shuffledp.design import SEARCH, Design
from shuffledp.errors import Argument, InvalidInput, Refusal, check_positive
from shuffledp.mechanisms import mechanism_of
from shuffledp.randomizers.law_file import from_law
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.randomizers.support import VotingRandomizer
from shuffledp.sampling import Rng, source_of
from shuffledp.storage.canonical import parsed
from shuffledp.wording import exactly, rounded

if TYPE_CHECKING:
    from shuffledp.schema import Keep
    from shuffledp.tables.cleaning import Cleaning
    from shuffledp.tables.columns import Column, ColumnName
    from shuffledp.tables.people import Chosen
    from shuffledp.tables.reports import ReportsFile

MUCH = 8.0  # an epsilon0 above which one report is nearly the truth


@dataclass(frozen=True, slots=True)
class Reporter:
    """The law of a design, ready to draw from.

    >>> from shuffledp import Poll
    >>> poll = Poll("histogram", categories=["bus", "car"], n=1000, epsilon=1.0, delta=1e-6)
    >>> phone = Reporter.of(Design.from_json(Design.of(poll).as_json()))
    >>> phone.encode([0, 1, 1]).shape
    (3,)
    """

    design: Design
    randomizer: VotingRandomizer | MessageLaw

    @classmethod
    def of(cls, design: Design) -> Reporter:
        """Refuse a design whose law answers another question, or would run with other integers."""
        return cls(design, from_law(design.checked().mechanism.as_json()))

    def encode(self, values: Any, *, rng: Rng = None) -> NDArray[Any]:
        """A report for each value: a place in the list of categories, or a number; ``rng`` left out
        is cryptographic.
        """
        source = source_of(rng)
        return self.randomizer.randomize(self.design.domain.places(values, source), rng=source)

    def expected_stderr(self) -> float:
        """The standard error to expect if all n people report: of a mean for the worst data, of
        counts the root mean square over values that are held equally often, of a distribution
        function that at the median.
        """
        return self.design.domain.expected_stderr(mechanism_of(self.randomizer), self.design.n)


def read_design(path: Path) -> Design:
    """The design in a file, if it is one that runs; it is not certified here."""
    if read_search(path) is not None:
        raise InvalidInput(
            f"{str(path)!r} must be the design of a question that one report of each person answers, got a search for "
            f"top words. Announce it: shuffledp survey new --design FILE."
        )
    return Reporter.of(Design.from_json(read_written(path))).design


def read_search(path: Path) -> object | None:
    """The search for top words in a file, as JSON; None if it holds the design of a question."""
    written = read_written(path)
    return written if isinstance(written, dict) and written.get("format") == SEARCH else None


def read_written(path: Path) -> Any:
    """What `shuffledp stage design` wrote, as JSON."""
    try:
        written = parsed(path.read_bytes())
    except OSError as error:
        raise InvalidInput(
            f"--design must name a file that `shuffledp stage design` wrote, got {str(path)!r}: {error.strerror}. "
            f"Check the name."
        ) from None
    if written is None:
        raise InvalidInput(
            f"{str(path)!r} must be a design in JSON, got something else. Make it with `shuffledp stage design`."
        )
    return written


def check_client(design: Design, most_epsilon0: float | None = None) -> None:
    """Refuse, on the client's side, a design without a promise, and one whose single report says
    more than the client allows.
    """
    epsilon0 = design.mechanism.alone
    if design.epsilon is None:
        raise InvalidInput(
            f"a design must promise an epsilon to those who report, got none: nothing but epsilon0 = "
            f"{_worth(epsilon0)} would protect them. Ask for a design that `shuffledp stage design` wrote."
        )
    if most_epsilon0 is None:
        return
    most = check_positive(
        "--most-epsilon0", most_epsilon0, remedy="It is what one report may say by itself; 0.5 to 8 is usual."
    )
    if epsilon0 > most:
        raise InvalidInput(
            f"epsilon0 of the design must be at most the {most:g} of --most-epsilon0, got {_worth(epsilon0)}. Ask for "
            f"a design with more noise, or do not report."
        )


def exposure(design: Design, *, certified: bool = False) -> list[str]:
    """What is promised to anyone who reports, what holds if the shuffler shares what it sees, and
    what to think of that. A promise that nobody has ``certified`` here is the word of whoever made
    the design, and is called that.
    """
    epsilon0 = design.mechanism.alone
    assert design.epsilon is not None
    promised = (
        "Promised to you, and checked" if certified else "Promised by the design, not checked here (see --certify)"
    )
    rounds = "" if design.rounds == 1 else f", in each of {design.rounds:,} rounds"
    said = [
        f"{promised}: epsilon at most {exactly(design.epsilon)} at delta = {exactly(design.delta)}, if "
        f"{design.honest:,} honest reports are shuffled together.",
        _alone(epsilon0, rounds, design.reveals),
    ]
    if MUCH < epsilon0 < math.inf:
        said.append(
            f"Warning: an epsilon0 above {MUCH:g} leaves a report close to the truth, and all protection to the "
            f"shuffler. "
            f"--most-epsilon0 {MUCH:g} refuses such designs."
        )
    cautions = design.cautions(Reporter.of(design).expected_stderr(), design.domain.scale(design.n))
    return said + [f"Warning: {each}." for each in cautions]


def _alone(epsilon0: float, rounds: str, shown: str) -> str:
    """What holds without the shuffler."""
    if epsilon0 == math.inf:
        return (
            f"Without that: nothing, as {shown}. Only the analyst can open them; if shuffler and analyst work "
            f"together, they know your answer{rounds}."
        )
    return (
        f"Without that: epsilon0 = {epsilon0:.4g}. If the shuffler shares what it sees, your report multiplies the "
        f"odds of any guess about you"
        f" by up to e^epsilon0 = {rounded(math.exp(epsilon0), up=True)}{rounds}: {shown}."
    )


def check_sealed(design: Design) -> None:
    """Refuse to write reports that are the truth where anybody could read them."""
    if design.mechanism.alone == math.inf:
        raise InvalidInput(
            f"reports without noise of their own must be sealed to the analyst, got a design of "
            f"{design.mechanism.type} for a plain file. Collect them over the network (shuffledp survey new), or "
            f"ask of the table itself (shuffledp {design.question.type})."
        )


def _worth(epsilon0: float) -> str:
    return "infinity (a report is the truth)" if epsilon0 == math.inf else f"{epsilon0:.4g}"


def column_for(design: Design, given: Sequence[str]) -> ColumnName | None:
    """The column of a table to read for a design: the one that was named, or none; where values
    have several columns, as many, or those of the same names.
    """
    names = design.domain.column_names
    wanted = 1 if names is None else len(names)
    if given and len(given) != wanted:
        rule = f"a {design.question.type} must be asked of {wanted} {'columns' if wanted > 1 else 'column'}"
        remedy = ("Repeat ", Argument("column"), " once for each, in the order of the question.")
        raise InvalidInput(Refusal(rule, f"{len(given)}: {', '.join(given)}", remedy))
    if names is not None:
        return tuple(given) or names
    return given[0] if given else None


class Drawn(NamedTuple):
    """Some reports, the ids of their people, if the table has any, and their rows in the table."""

    reports: NDArray[Any]
    ids: Any
    rows: NDArray[np.int64]


class Drawing:
    """A column on its way to reports: one for each person, drawn as they are asked for, once.

    When all are drawn, ``missing`` says how many people had no value, and ``repeated`` how many
    rows were left out since their person has another, if that was looked at.
    """

    def __init__(
        self,
        reporter: Reporter,
        column: Column,
        *,
        missing: str | None = None,
        clip: bool = False,
        cleaning: Cleaning | None = None,
        keep: Keep = "first",
        rng: Rng = None,
        tick: Callable[[int], object] | None = None,
    ) -> None:
        from shuffledp.tables.cleaning import AS_WRITTEN
        from shuffledp.tables.values import reader_of

        if column.ids is not None and column.table.once:
            rule = ("a table with ", Argument("id"), " must be a file, which is read twice to find each person's rows")
            raise InvalidInput(Refusal(rule, "standard input", "Save it first."))
        cleaning = AS_WRITTEN if cleaning is None else cleaning
        self.source, self.rows, self._absent = source_of(rng), 0, 0
        self._encoder, self._column, self._keep, self._rng, self._tick = reporter, column, keep, rng, tick
        self._reader = reader_of(reporter.design.domain, missing=missing, clip=clip, cleaning=cleaning)
        self._chosen: Chosen | None = None

    def __iter__(self) -> Iterator[Drawn]:
        from shuffledp.tables.spool import batch_rows
        from shuffledp.tables.values import prepared

        self._choose()
        chosen, step = self._chosen, batch_rows(self._encoder.randomizer.report_bytes)
        for batch in prepared(self._column, self._reader, tick=self._tick):
            values, ids, rows = batch.values, batch.ids, len(batch.values) + batch.missing
            places = np.arange(rows) if batch.present is None else np.flatnonzero(batch.present)
            if chosen is not None:
                mine = chosen.kept[self.rows : self.rows + rows]
                mine = mine if batch.present is None else mine[batch.present[: len(mine)]]
                if self.rows + rows > len(chosen.kept) or len(mine) != len(values):
                    raise _changed(self._column)
                values, places, ids = values[mine], places[mine], None if ids is None else ids.filter(mine)
            places += self.rows
            self.rows, self._absent = self.rows + rows, self._absent + batch.missing
            for start in range(0, len(values), step):
                reports = self._encoder.encode(values[start : start + step], rng=self.source)
                yield Drawn(reports, None if ids is None else ids.slice(start, step), places[start : start + step])
        if chosen is not None and self.rows != len(chosen.kept):
            raise _changed(self._column)

    def look(self) -> None:
        """Read all rows, and refuse what can not be reported; nothing is drawn."""
        from shuffledp.tables.values import prepared

        self._choose()
        for batch in prepared(self._column, self._reader, tick=self._tick):
            self.rows, self._absent = self.rows + len(batch.values) + batch.missing, self._absent + batch.missing

    def _choose(self) -> None:
        """Of each person, a row: the table is read for that."""
        from shuffledp.tables.values import choose_rows

        if self._column.ids is not None:
            self._chosen = choose_rows(self._column, self._reader, keep=self._keep, rng=self._rng)

    @property
    def missing(self) -> int:
        """How many people had no value."""
        return self._absent if self._chosen is None else self._chosen.absent

    @property
    def repeated(self) -> int | None:
        """How many rows were left out since their person has another."""
        return None if self._chosen is None else self.rows - self._chosen.people


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
    most_epsilon0: float | None = None,
    force: bool = False,
    **reading: Any,
) -> Encoded:
    """A column of a table to a file of reports. A design without a promise, or whose epsilon0
    exceeds ``most_epsilon0``, is refused; ``reading`` is as of ``Drawing``.

    The ids that ``column`` may carry go along, one row of each person; the shuffler drops them.
    """
    from shuffledp.storage.files import check_new_file
    from shuffledp.tables.reports import Header, write_reports

    check_client(design, most_epsilon0)
    check_sealed(design)
    if Reporter.of(design).randomizer.mixes:
        raise InvalidInput(
            f"the shuffler of plain files must have nothing to add, got a design of {design.mechanism.type}. Collect "
            f"over the network (shuffledp survey new), ask of the table itself (shuffledp {design.question.type}), "
            f"or let people send fakes."
        )
    check_new_file(out, replace=force)
    drawing = Drawing(Reporter.of(design), column, **reading)
    chunks = ((drawn.reports, drawn.ids) for drawn in drawing)
    file = write_reports(out, Header.encoded(design.as_json(), secure=drawing.source.secure), chunks)
    return Encoded(file, drawing.missing, drawing.repeated)


def _changed(column: Column) -> InvalidInput:
    return InvalidInput(
        f"{column.table.title} must not change while it is read, got different rows at the second reading. Run it "
        f"again "
        f"when nobody is writing to it."
    )
