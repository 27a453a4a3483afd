"""The options of a question about a table, sorted into one ``Asking``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from shuffledp.cli.engine_options import ENGINE_OPTIONS, Engine
from shuffledp.cli.options import ANSWER, AS_JSON
from shuffledp.cli.promise_options import BUDGET_OPTIONS, NOISE, OUTPUT_OPTIONS, PROMISE_OPTIONS, Keeping, budget_of
from shuffledp.cli.sharing import option, sharing
from shuffledp.cli.table_options import MESSY_OPTIONS, SOURCES, TABLE_OPTIONS, Reading
from shuffledp.cli.value_options import BIN_OPTIONS, BOUND_OPTIONS, CATEGORY_OPTIONS, HIDING, binned
from shuffledp.errors import InvalidInput
from shuffledp.release.terms import BY_NOISE, Bins, Categories, Hiding, Promise, read_categories

if TYPE_CHECKING:  # pyarrow takes longer to load than most other commands take
    from shuffledp.protocols.design import Design
    from shuffledp.release.budget import Budget
    from shuffledp.release.question import Question
    from shuffledp.release.released import Release

__all__ = ["ASKED", "Asking", "Found", "with_asking", "with_binning", "with_counting", "with_listing"]


@dataclass(frozen=True, slots=True)
class Asking:
    """What the shared options describe."""

    reading: Reading
    title: str | None
    promise: Promise
    budget: "Budget | None"
    keeping: Keeping
    dry_run: bool
    engine: Engine | None = None
    categories: Categories | None = None
    hiding: Hiding = BY_NOISE
    bins: Bins | None = None

    @classmethod
    def counting(
        cls,
        *,
        categories: str | None,
        domain: int | None,
        other: str | None,
        missing: str | None,
        mechanism: str,
        **options: Any,
    ) -> Self:
        """The same for a question whose answers are categories."""
        hiding = Hiding("histogram", mechanism)
        known = read_categories(categories, domain=domain, other=other, missing=missing)
        return replace(cls.of(**options), categories=known, hiding=hiding)

    @classmethod
    def binning(
        cls,
        *,
        lower: float | None,
        upper: float | None,
        bins: int | None,
        scale: str | None,
        cuts: str | None,
        at: str,
        ranges: list[str] | None,
        mechanism: str,
        **options: Any,
    ) -> Self:
        """The same for a question about a number that falls into bins."""
        known = binned(lower=lower, upper=upper, bins=bins, scale=scale, cuts=cuts, at=at, ranges=ranges)
        hiding = Hiding("quantile", mechanism)
        return replace(cls.of(**options), bins=known, hiding=hiding)

    @classmethod
    def listing(cls, *, categories: str | None, other: str | None, **options: Any) -> Self:
        """The same where categories may be listed, and need not."""
        if categories is None and other is not None:
            raise InvalidInput("--other must come with --categories, got none. Without them every other value is else.")
        known = None
        if categories is not None:
            known = read_categories(categories, domain=None, other=other, missing=None)
        return replace(cls.of(**options), categories=known)

    @classmethod
    def of(
        cls,
        *,
        title: str | None,
        epsilon: float | None,
        delta: float,
        honest: int | Fraction | None,
        rounds: int | None,
        ledger: Path | None,
        population: str | None,
        limit_epsilon: float | None,
        limit_delta: float | None,
        out: Path | None,
        force: bool,
        dry_run: bool,
        as_json: bool,
        engine: str | None,
        master: str | None,
        work: str | None,
        **table: Any,
    ) -> Self:
        """Sort the options."""
        noise = {name: table.pop(name) for name in ("gamma", "epsilon0", "k") if name in table}
        runs = Engine.of(engine, master, work, table)
        first, *others = table["source"]
        table["source"] = first if not others else f"{first} and {len(others)} more"
        rounds = 1 if rounds is None else rounds
        promise = Promise(epsilon=epsilon, delta=delta, rounds=rounds, honest=honest, **noise)
        budget = budget_of(ledger, population, limit_epsilon, limit_delta)
        return cls(Reading.taken(table), title, promise, budget, Keeping(out, force, as_json), dry_run, runs)


@dataclass(frozen=True, slots=True)
class Found:
    """A table that was read, wherever it lies: the question as it stands then, how many people have
    a value and how many, in public, have none, and how a design for them is carried out.
    """

    question: "Question"
    people: int
    missing: int | None
    publish: "Callable[[Design], Release]"
    remarks: Sequence[str] = ()


ASKED = [
    SOURCES,
    *TABLE_OPTIONS,
    *MESSY_OPTIONS,
    *PROMISE_OPTIONS,
    *BUDGET_OPTIONS,
    *ENGINE_OPTIONS,
    *OUTPUT_OPTIONS,
    option("title", ANSWER, "A headline for the page.", metavar="TEXT"),
    option("dry_run", ANSWER, "Show the plan and the cost, and write nothing.", default=False),
    AS_JSON,
]
OR_NOISE = [each for one in ASKED for each in (NOISE if one[0] == "epsilon" else [one])]
with_asking = sharing(dict(OR_NOISE), Asking.of)
with_binning = sharing(dict([*BOUND_OPTIONS, *BIN_OPTIONS, HIDING, *ASKED]), Asking.binning)
with_listing = sharing(
    dict([*(each for each in CATEGORY_OPTIONS if each[0] in ("categories", "other")), *ASKED]), Asking.listing
)
with_counting = sharing(
    dict([*CATEGORY_OPTIONS, HIDING, *(each for each in OR_NOISE if each[0] != "k")]), Asking.counting
)
