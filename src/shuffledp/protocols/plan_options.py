"""Which protocols are compared for a task, and what their errors are errors of: a plan's choices,
task by task.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from shuffledp.domain import MOST_BINS, Labels
from shuffledp.errors import InvalidInput, check_count
from shuffledp.mechanisms.best_curator import Baseline, counts_by_curator, cuts_by_curator, number_by_curator
from shuffledp.mechanisms.best_local import counts_alone, cuts_alone, number_alone
from shuffledp.mechanisms.levels import level_sizes
from shuffledp.protocols.count import SignedCount
from shuffledp.protocols.crosstab import Crosstab, DummyCrosstab, FakesCrosstab
from shuffledp.protocols.histogram import ENCODERS, DummyHistogram, FakesHistogram, Histogram, Mechanism
from shuffledp.protocols.protocol import Protocol
from shuffledp.protocols.quantiles import DummyQuantiles, FakesQuantiles, Quantiles
from shuffledp.protocols.sums import Mean, SplitMean, SplitSum, Sum
from shuffledp.questions.crosstab.question import CrosstabQuestion

__all__ = [
    "ADDING",
    "DUMMIES",
    "FAKES",
    "PLANNED",
    "POISSON",
    "SEALED",
    "Builders",
    "PlannedTask",
    "column_sizes",
]

SEALED = "shuffler, sealed"  # messages are the truth, so that nobody but the analyst may read them
ADDING = "shuffler adds noise"
FAKES = "fakes by users (sealed)"
DUMMIES = "shuffler's dummies (sealed)"  # geometric ones
POISSON = "shuffler's Poisson dummies (sealed)"  # which err less over many rounds
SIGNED = "Count, +1 and -1 messages (sealed)"
SPLIT = "split and mix (sealed; anybody can move it)"
COUNT_ERROR = "standard error of a value's count, root mean square over values"
WORST_ERROR = "largest standard error that the count of any one value can have, whatever the data"
BELOW_ERROR = "largest standard error of the count below any cut point, with people spread evenly over the bins"
WORST_BELOW = "largest standard error that the count below any cut point can have, whatever the data"

Promised = dict[str, Any]
# By an option's name: whom it trusts, how it is made.
Builders = dict[str, tuple[str, Callable[[], Protocol | Baseline]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """What is compared for a task. ``options`` are the protocols for a domain and a promise, and
    how many values the domain has; ``told_apart`` says what those are, and is None where there is
    no domain. ``worst`` is None where the ``error`` is that of the worst data already.
    """

    options: Callable[[Any, Promised], tuple[int, Builders]]
    error: str = COUNT_ERROR
    worst: str | None = WORST_ERROR
    crowded: str = "a value that everybody holds"  # data for which it is the worst
    told_apart: str | None = "values"
    columns: bool = False  # whether the domain has several


def _values(domain: Any, promise: Promised) -> tuple[int, Builders]:
    """How many people hold each value."""
    known = Labels.of(domain)
    size, labels = known.size, known.listed

    def noisy(name: Mechanism | None) -> Callable[[], Protocol]:
        return lambda: Histogram(categories=labels, mechanism=name, **promise)

    return size, {
        "Histogram": ("shuffler", noisy(None)),
        **{f"Histogram, {name}": ("shuffler", noisy(name)) for name in ENCODERS if name != "krr"},
        f"Histogram, {FAKES}": (SEALED, lambda: FakesHistogram(categories=labels, **promise)),
        f"Histogram, {DUMMIES}": (ADDING, lambda: DummyHistogram(categories=labels, **promise)),
        **_elsewhere(size, counts_alone, counts_by_curator, promise),
    }


def _cells(domain: Any, promise: Promised) -> tuple[int, Builders]:
    """How many people hold each combination of several columns."""
    sizes = column_sizes(domain)
    size = prod(sizes)
    crossed: dict[str, Any] = {"columns": _numbered(len(sizes)), "categories": sizes}
    return size, {
        "Crosstab": ("shuffler", lambda: Crosstab(**crossed, **promise)),
        f"Crosstab, {FAKES}": (SEALED, lambda: FakesCrosstab(**crossed, **promise)),
        f"Crosstab, {DUMMIES}": (ADDING, lambda: DummyCrosstab(**crossed, **promise)),
        **_elsewhere(size, counts_alone, counts_by_curator, promise),
    }


def _cuts(domain: Any, promise: Promised) -> tuple[int, Builders]:
    """How many people are below each cut point."""
    size = check_count("domain", domain, least=2, remedy="It counts the bins.")
    if size > MOST_BINS:
        raise InvalidInput(f"domain must be at most {MOST_BINS:,} bins, got {size:,}. Choose wider ones.")
    cuts = tuple(map(float, range(size + 1)))
    return size, {
        "Quantiles, all bins": ("shuffler", lambda: Quantiles(cuts=cuts, levels=(), **promise)),
        **{
            f"Quantiles, {len(sizes)} levels": (
                "shuffler",
                lambda sizes=sizes: Quantiles(cuts=cuts, levels=sizes, **promise),  # type: ignore[misc]
            )
            for sizes in level_sizes(size)
        },
        f"Quantiles, {FAKES}": (SEALED, lambda: FakesQuantiles(cuts=cuts, **promise)),
        f"Quantiles, {DUMMIES}": (ADDING, lambda: DummyQuantiles(cuts=cuts, **promise)),
        **_elsewhere(size, cuts_alone, cuts_by_curator, promise),
    }


def _one_value(_: None, promise: Promised) -> tuple[int, Builders]:
    """How many people hold one value."""
    return 0, {
        SIGNED: (SEALED, lambda: SignedCount(value=1, other=0, **promise)),
        "Histogram": ("shuffler", lambda: Histogram(categories=range(2), **promise)),
        **_elsewhere(2, counts_alone, counts_by_curator, promise),
    }


def _number(
    one: type[Protocol], split: type[Protocol], *, mean: bool
) -> Callable[[None, Promised], tuple[int, Builders]]:
    """A mean or a sum."""

    def options(_: None, promise: Promised) -> tuple[int, Builders]:
        return 0, {
            one.__name__: ("shuffler", lambda: one(**promise)),
            f"{one.__name__}, {SPLIT}": (SEALED, lambda: split(**promise)),
            **_elsewhere(1.0 / promise["n"] if mean else 1.0, number_alone, number_by_curator, promise),
        }

    return options


def _elsewhere(
    asked: Any, alone: Callable[..., Baseline], curator: Callable[..., Baseline], promise: Promised
) -> Builders:
    """The best mechanisms known here under other trust; once made, they have names of their own."""
    terms = {name: promise[name] for name in ("epsilon", "delta", "rounds")}
    return {
        "no shuffler": ("nobody", lambda: alone(asked, n=promise["n"], **terms)),
        "a curator": ("curator", lambda: curator(asked, **terms)),
    }


def column_sizes(domain: object) -> list[int]:
    """How many categories each column of a crosstab has.

    >>> column_sizes("4x3"), column_sizes([4, 3])
    ([4, 3], [4, 3])
    """
    listed = domain.lower().split("x") if isinstance(domain, str) else domain
    numbers = list(listed) if isinstance(listed, (list, tuple)) else []
    whole = [int(each) for each in numbers if str(each).strip().isdecimal() and len(str(each)) < 10]
    if len(numbers) < 2 or len(whole) < len(numbers):
        raise InvalidInput(
            f"domain of a crosstab must be how many categories each of its columns has, got {domain!r}. Write it as "
            f"4x3."
        )
    CrosstabQuestion(columns=_numbered(len(whole)), categories=tuple(whole), other=(None,) * len(whole)).checked()
    return whole


def _numbered(many: int) -> tuple[str, ...]:
    """Names for columns that have none yet."""
    return tuple(f"column {place + 1}" for place in range(many))


PLANNED = {
    "histogram": PlannedTask(options=_values),
    "mean": PlannedTask(
        options=_number(Mean, SplitMean, mean=True),
        error="standard error of the mean, worst data",
        worst=None,
        told_apart=None,
    ),
    "sum": PlannedTask(
        options=_number(Sum, SplitSum, mean=False),
        error="standard error of the sum, worst data",
        worst=None,
        told_apart=None,
    ),
    "count": PlannedTask(
        options=_one_value, error="standard error of the count, worst data", worst=None, told_apart=None
    ),
    "crosstab": PlannedTask(options=_cells, told_apart="cells", columns=True),
    "quantile": PlannedTask(
        options=_cuts,
        error=BELOW_ERROR,
        worst=WORST_BELOW,
        crowded="people crowded in few bins",
        told_apart="bins",
    ),
}
