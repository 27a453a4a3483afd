"""What is asked of a table: a question, the columns with the answers, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from shuffledp.design import Design
from shuffledp.domain import Missing, Stored, one_name, per_column
from shuffledp.errors import Argument, InvalidInput, Refusal, name_of
from shuffledp.poll import Poll
from shuffledp.questions.question import Question
from shuffledp.record import Context, InSeries
from shuffledp.record.parts import CLIPPED_TO_BOUNDS
from shuffledp.release.arguments import Promise
from shuffledp.release.released import Release
from shuffledp.sampling import Rng
from shuffledp.schema import Keep
from shuffledp.tables.cleaning import AS_WRITTEN, Cleaning
from shuffledp.tables.columns import Column, ColumnName, joined_name, open_column
from shuffledp.tables.formats import Table
from shuffledp.tables.values import Reader, Values, read, reader_of
from shuffledp.wording import exactly, rounded


@dataclass(frozen=True, kw_only=True)
class Request:
    """One question about a column of a table, or about several: which, and how they are read.

    ``missing`` is what missing values count as, and ``clip`` says that numbers outside are moved to
    the nearest bound. ``origins`` says where the categories of each column came from. With ``by``,
    one of the columns, shares within its groups are told beside the counts. A question that is
    read, or whose mechanism is chosen, in a way of its own says so in ``reads`` and ``chooses``.
    """

    question: Question
    source: str | Table  # a path, "-" for standard input, or a table that is open already
    column: ColumnName | None = None
    format: Any = None
    title: str | None = None
    cleaning: Cleaning = AS_WRITTEN
    encoding: str | None = None
    ids: str | None = None
    keep: Keep = "first"
    one_row_per_person: bool = False
    missing: Missing = None
    clip: bool = False
    origins: tuple[str, ...] = ()
    outside: str | None = None  # what becomes of other values, where the domain does not say it
    by: str | None = None
    series: InSeries | None = None
    hiding: Mapping[str, Any] = field(default_factory=dict)  # as a poll takes it
    reads: Callable[[], Reader] | None = None
    chooses: Callable[[dict[str, Any]], Poll] | None = None

    @cached_property
    def domain(self) -> Stored:
        """The places of its answers; a mechanism may choose a finer grid."""
        domain: Stored = self.question.domain(self.question.size or 2)
        return domain

    @property
    def kind(self) -> Any:
        """How the columns are read."""
        return "text" if self.cleaning.reads_numbers else self.domain.kind

    def open(self) -> Column:
        """The column that is asked about, or the columns."""
        return open_column(
            self.source,
            self.column,
            kind=self.kind,
            format=self.format,
            ids=self.ids,
            encoding=self.encoding,
            one_row_per_person=self.one_row_per_person,
        )

    def named(self, column: str | None) -> Self:
        """The same, of a column with that name, if it asks about one."""
        return self if isinstance(self.column, tuple) else replace(self, column=column)

    def reader(self) -> Reader:
        """From what the table holds to what the randomizer takes."""
        if self.reads is not None:
            return self.reads()
        return reader_of(self.domain, missing=self.gaps, clip=self.clip, cleaning=self.cleaning)

    def values(self, column: Column, *, rng: Rng = None, tick: Callable[[int], object] | None = None) -> Values:
        """Read the column once, and keep what the randomizer needs of it; ``rng`` draws one of a
        person's rows.
        """
        return read(column, self.reader(), keep=self.keep, rng=rng, tick=tick)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are asked about, as far as they were named."""
        return (self.column,) if isinstance(self.column, str) else self.column or ()

    @property
    def gaps(self) -> Missing:
        """What missing values count as, if they do; of several columns, by those of the domain."""
        columns = self.domain.column_names
        if columns is None:
            return self.missing
        return {name: gap for name, gap in zip(columns, self._gaps, strict=True) if gap is not None} or None

    @cached_property
    def _gaps(self) -> tuple[str | None, ...]:
        if self.domain.column_names is None:
            return (one_name(Argument("missing"), self.missing),)
        return per_column(Argument("missing"), self.missing, self.names)

    @property
    def leaves_out(self) -> bool:
        """Whether rows without a value may not take part, and are counted in public; else they are
        a category whose count is as private as all others.
        """
        return None in self._gaps

    @property
    def what(self) -> str:
        """The question in a few words: short and printable, whatever the column is called, since
        the ledger keeps them.
        """
        called = joined_name(self.column) if self.column else "a column"
        printable = "".join(letter if letter.isprintable() else " " for letter in called)
        bounds = self.domain.bounds if self.clip else None
        clipped = "" if bounds is None else ", clipped to {:g} to {:g}".format(*bounds)
        return f"{self.question} of {' '.join(printable.split())[:100] or 'a nameless column'}".strip() + clipped

    def design(self, n: int, promise: Promise) -> Design:
        """What ``n`` people are asked such that the promise is kept. Where the noise was given, it
        promises the epsilon that is certified, rounded up.
        """
        terms = promise.terms(n, self.question.size)
        if self.chooses is not None:
            poll = self.chooses(terms)
        else:
            poll = Poll(self.question, **terms, **self.hiding)
        if poll.epsilon is not None:
            return Design.of(poll)
        certified = poll.guarantee.epsilon(delta=promise.delta).upper
        if certified == 0.0:
            got = f"an epsilon of 0 at delta = {exactly(promise.delta)}"
            raising = (" raise ", Argument("epsilon0"), ", or lower ", Argument("delta"), ".")
            remedy = ("Lower ", Argument("gamma"), ",", *raising)
            raise InvalidInput(Refusal("the noise must leave something to promise", got, remedy))
        return Design.of(poll, epsilon=float(rounded(certified, up=True).replace(",", "")))

    def release(self, values: Values, design: Design, folder: Path | None = None, **how: Any) -> Release:
        """Ask it of people who hold these values, and write what comes out into the folder."""
        from shuffledp.release.pipeline import release

        return release(self, values, design, folder, **how)

    def asked(self) -> Context:
        """The question in words, for the record."""
        domain = self.domain
        if domain.bounds is not None:
            outside = CLIPPED_TO_BOUNDS if self.clip else "refused"
        else:
            columns: Any = getattr(domain, "columns", (domain,))
            outside = self._each([_rule("refused", column.rest) for column in columns])
        return Context(
            question=self.question.type,
            what=self.what,
            title=self.title,
            source=self._source,
            column=joined_name(self.column) if self.column else None,
            cleaned=self.cleaning.words() or None,
            categories=None if domain.bounds else self._each(self.origins),
            outside=outside if self.outside is None else self.outside,
            missing=self._each([_rule("left out", gap) for gap in self._gaps]),
            by=self.by,
            series=self.series,
        )

    def _each(self, said: Sequence[str]) -> str:
        """What holds for every column: once if it is the same, else column by column."""
        if len(set(said)) == 1:
            return said[0]
        return "; ".join(f"{column}: {words}" for column, words in zip(self.names, said, strict=True))

    @property
    def _source(self) -> str:
        """Where the values came from, in a word or two."""
        if isinstance(self.source, Table):
            return self.source.title.removeprefix("the ")
        return "standard input" if self.source == "-" else name_of(Path(self.source))


def _rule(usual: str, label: str | None) -> str:
    return usual if label is None else f"counted as {label}"
