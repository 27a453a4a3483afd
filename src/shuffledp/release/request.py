"""What is asked of a table: a column, the answers that it admits, and what happens to the
others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shuffledp.design import Design
from shuffledp.domain import check_bounds
from shuffledp.errors import Argument, InvalidInput, Refusal
from shuffledp.poll import Poll
from shuffledp.questions import kind_of
from shuffledp.questions.question import Question
from shuffledp.record import Asked, InSeries
from shuffledp.record.asked_about import CLIPPED_TO_BOUNDS
from shuffledp.release.arguments import BY_NOISE, Bins, Categories, Hiding, Promise, check_labels, check_words, name_of
from shuffledp.sampling import Rng
from shuffledp.tables import AS_WRITTEN, Cleaning, Column, Keep, Numbers, Places, Values, open_column, read
from shuffledp.tables.formats import Kind, Table
from shuffledp.tables.readers import Missing
from shuffledp.tables.values import Reader
from shuffledp.wording import exactly, rounded

__all__ = ["Request"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question about one column of a table."""

    question: str
    source: str | Table  # a path, "-" for standard input, or a table that is open already
    column: str | None = None
    format: Any = None
    title: str | None = None
    categories: Categories | None = None
    lower: float = 0.0
    upper: float = 1.0
    bins: Bins | None = None
    clip: bool = False
    cleaning: Cleaning = AS_WRITTEN
    encoding: str | None = None
    ids: str | None = None
    keep: Keep = "first"
    one_row_per_person: bool = False
    series: InSeries | None = None
    hiding: Hiding = BY_NOISE

    def settled(self) -> Request:
        """The same, checked, with a category for the rest where one is named."""
        check_words(Argument("title"), self.title)
        if self.bins is not None:
            self.bins.question()
            return replace(self, lower=self.bins.cuts[0], upper=self.bins.cuts[-1])
        if self.categories is None:
            check_bounds(self.lower, self.upper)
            return self
        given = self.categories
        return replace(self, categories=replace(given, labels=check_labels(given.of(given.labels))))

    def open(self) -> Column:
        """The column that is asked about."""
        kind: Kind = "number" if self.categories is None and not self.cleaning.reads_numbers else "text"
        return open_column(
            self.source,
            self.column,
            kind=kind,
            format=self.format,
            ids=self.ids,
            encoding=self.encoding,
            one_row_per_person=self.one_row_per_person,
        )

    def values(self, column: Column, *, rng: Rng = None, tick: Callable[[int], object] | None = None) -> Values:
        """Read the column once, and keep what the randomizer needs of it; ``rng`` draws one of a
        person's rows.
        """
        return read(column, self.reader(), keep=self.keep, rng=rng, tick=tick)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are asked about, as far as they were named."""
        return () if self.column is None else (self.column,)

    @property
    def gaps(self) -> Missing:
        """What missing values count as, if they do."""
        return None if self.categories is None else self.categories.missing

    @property
    def leaves_out(self) -> bool:
        """Whether rows without a value do not take part, and are counted in public; else they are a
        category whose count is as private as all others.
        """
        return self.categories is None or self.categories.missing is None

    @property
    def what(self) -> str:
        """The question in a few words: short and printable, whatever the column is called, since
        the ledger keeps them.
        """
        printable = "".join(letter if letter.isprintable() else " " for letter in self.column or "a column")
        clipped = f", clipped to {self.lower:g} to {self.upper:g}" if self.clip else ""
        return f"{self.question} of {' '.join(printable.split())[:100] or 'a nameless column'}".strip() + clipped

    def reader(self) -> Reader:
        """From what the table holds to what the randomizer takes."""
        if self.categories is None:
            return Numbers(self.lower, self.upper, clip=self.clip, cleaning=self.cleaning)
        return Places(
            self.categories.labels, other=self.categories.other, missing=self.categories.missing, cleaning=self.cleaning
        )

    def check(self, promise: Promise) -> None:
        """Refuse noise that is given in place of epsilon where the reports take other noise."""
        if promise.epsilon is None and (self.question != "histogram" or not self.hiding.by_noise):
            got = f"a {self.question}" if self.hiding.by_noise else Argument("mechanism", self.hiding.mechanism)
            work = " work for histograms by krr, and for sums and means of one message"
            rule = (Argument("gamma"), " and ", Argument("epsilon0"), work)
            raise InvalidInput(Refusal(rule, got, ("Use ", Argument("epsilon"), ".")))
        if promise.k is not None:
            raise InvalidInput(
                Refusal((Argument("k"), " must be of a mean or a sum"), f"a {self.question}", "Leave it out.")
            )

    def poll(self, n: int, promise: Promise) -> Poll:
        """The poll of ``n`` people that keeps the promise."""
        question = self._question()
        return Poll(question, **promise.terms(n, question.size), **self.hiding.terms())

    def _question(self) -> Question:
        """What is asked, without the table."""
        if self.bins is not None:
            return self.bins.question()
        own: dict[str, Any] = {"lower": self.lower, "upper": self.upper}
        if self.categories is not None:
            own |= {"categories": self.categories.labels, "other": self.categories.other}
        kind = kind_of(self.question)
        return kind(**{name: own[name] for name in kind.field_names()})

    def design(self, n: int, promise: Promise) -> Design:
        """The poll, written down. Where the noise was given, it promises the epsilon that is
        certified, rounded up.
        """
        self.check(promise)
        poll = self.poll(n, promise)
        if poll.epsilon is not None:
            return Design.of(poll)
        certified = poll.guarantee.epsilon(delta=promise.delta).upper
        if certified == 0.0:
            got = f"an epsilon of 0 at delta = {exactly(promise.delta)}"
            remedy = (
                "Lower ",
                Argument("gamma"),
                ", raise ",
                Argument("epsilon0"),
                ", or lower ",
                Argument("delta"),
                ".",
            )
            raise InvalidInput(Refusal("the noise must leave something to promise", got, remedy))
        return Design.of(poll, epsilon=float(rounded(certified, up=True)))

    def asked(self) -> Asked:
        """The question in words, for the record."""
        common = Asked(
            question=self.question,
            what=self.what,
            title=self.title,
            source=self._source,
            column=self.column,
            cleaned=self.cleaning.words() or None,
            missing="left out",
            series=self.series,
        )
        if self.categories is None:
            return replace(common, outside=CLIPPED_TO_BOUNDS if self.clip else "refused")
        other, missing = self.categories.other, self.categories.missing
        return replace(
            common,
            categories=self.categories.origin,
            outside="refused" if other is None else f"counted as {other}",
            missing="left out" if missing is None else f"counted as {missing}",
        )

    @property
    def _source(self) -> str:
        """Where the values came from, in a word or two."""
        if isinstance(self.source, Table):
            return self.source.title.removeprefix("the ")
        return "standard input" if self.source == "-" else name_of(Path(self.source))
