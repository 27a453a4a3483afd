"""Every protocol that fits a task, side by side: what one report gives away, the error to expect,
the bits to send.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from shuffledp._types import Task
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import InvalidInput, check_count
from shuffledp.protocols.baselines.curator import CentralHistogram, CentralMean, CentralQuantiles, CentralSum
from shuffledp.protocols.categories import Categories
from shuffledp.protocols.count import SignedCount
from shuffledp.protocols.crosstab import Crosstab
from shuffledp.protocols.dummy_histogram import DummyHistogram, FakesHistogram
from shuffledp.protocols.faked_protocol import FakedProtocol
from shuffledp.protocols.faked_tables import DummyCrosstab, DummyQuantiles, FakesCrosstab, FakesQuantiles
from shuffledp.protocols.frequency import METHODS, Frequency
from shuffledp.protocols.histogram import Histogram, LocalHistogram, RandomizedResponse
from shuffledp.protocols.levels import level_sizes
from shuffledp.protocols.protocol import Protocol, ReportingProtocol
from shuffledp.protocols.quantiles import Distribution, LocalQuantiles, Quantiles
from shuffledp.protocols.split_and_mix import SplitMean, SplitSum
from shuffledp.protocols.sums import LocalMean, LocalSum, Mean, Sum
from shuffledp.protocols.tasks import CrosstabTask
from shuffledp.randomizers.messages import ShufflerDummies

__all__ = [
    "ADDING",
    "COUNT_ERROR",
    "ERRORS",
    "PLANNED",
    "SEALED",
    "SUMMING",
    "WORST_ERROR",
    "Option",
    "Plan",
    "Task",
    "error_of",
    "named",
    "plan",
    "worst_error",
    "worst_of",
]

# Those whose protocols are compared here.
PLANNED = ("histogram", "frequency", "mean", "sum", "count", "crosstab", "quantile")
SUMMING = "shuffler, sums"  # one that adds the bits of reports up, and hands on nothing else
SEALED = "shuffler, sealed"  # messages are the truth, so that nobody but the analyst may read them
ADDING = "shuffler adds noise"
FAKES = "fakes by users (sealed)"
DUMMIES = "shuffler's dummies (sealed)"  # geometric ones
POISSON = "shuffler's Poisson dummies (sealed)"  # which err less over many rounds
SIGNED = "Count, +1 and -1 messages (sealed)"
SPLIT = "split and mix (sealed; anybody can move it)"
MOST_BITS = 1 << 20  # longer reports are not proposed
ERRORS = {
    "mean": "standard error of the mean, worst data",
    "sum": "standard error of the sum, worst data",
    "count": "standard error of the count, worst data",
}
BELOW_ERROR = "largest standard error of the count below any cut point, with people spread evenly over the bins"
COUNT_ERROR = "standard error of a value's count, root mean square over values"
WORST_ERROR = "largest standard error that the count of any one value can have, whatever the data"
WORST_BELOW = "largest standard error that the count below any cut point can have, whatever the data"
CELLS = {"quantile": "bins", "crosstab": "cells"}


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """One protocol that fits: ``error`` is predicted for one round, ``bits`` is what each user
    sends per round, in so many ``messages``. ``trust`` says whom to trust, and what must be sealed;
    an infinite ``epsilon0`` is that of messages which are the truth.

    The error of a count depends on how many users hold the value, so ``error`` is what to expect
    where they are spread evenly, and ``worst`` what no value's error exceeds. For a mean both are
    that of the worst data.
    """

    name: str
    trust: str
    epsilon0: float | None
    error: float
    worst: float
    bits: int
    protocol: Protocol
    messages: int = 1

    @property
    def guarantee(self) -> Guarantee:
        """What is certified for all rounds."""
        return self.protocol.guarantee


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The options, smallest predicted error first; ``refused`` says what does not fit, and why.
    ``print`` it.
    """

    task: Task
    n: int
    domain: int
    epsilon: float
    delta: float
    rounds: int
    options: tuple[Option, ...]
    refused: tuple[tuple[str, str], ...] = ()
    least: int | None = None

    @property
    def best(self) -> Protocol:
        """The shuffled protocol with the smallest predicted error."""
        return next(option.protocol for option in self.options if option.trust == "shuffler")

    def __str__(self) -> str:
        """A table."""
        size = f" of {self.domain} {CELLS.get(self.task, 'values')}" if self.domain else ""
        again = f", {self.rounds} rounds" if self.rounds > 1 else ""
        honest = "" if self.least in (None, self.n) else f", at least {self.least} of them honest"
        title = f"{self.task}{size}: {self.n} users{honest}, epsilon = {self.epsilon:g}, delta = {self.delta:g}{again}"
        names = [*(each.name for each in self.options), *(name for name, _ in self.refused)]
        wide = max(22, *map(len, names))
        trust = max(14, *(len(each.trust) for each in self.options))
        heads = f"{'epsilon0':>9} {'error':>12} {'worst':>12} {'messages':>8} {'bits':>9}"
        lines = [title, f"{'protocol':<{wide}} {'whom to trust':<{trust}} {heads}"]
        for each in self.options:
            local = "-" if each.epsilon0 is None else f"{each.epsilon0:.4f}"
            numbers = f"{local:>9} {each.error:>12.5g} {each.worst:>12.5g} {each.messages:>8} {each.bits:>9}"
            lines.append(f"{each.name:<{wide}} {each.trust:<{trust}} {numbers}")
        lines += [f"{name:<{wide}} refused: {why}" for name, why in self.refused]
        worst = [] if self.task in ERRORS else [f"worst: {worst_of(self.task)}"]
        return "\n".join([*lines, f"error: {error_of(self.task)}", *worst])


def error_of(task: Task) -> str:
    """What the error of a plan is the error of."""
    return BELOW_ERROR if task == "quantile" else ERRORS.get(task, COUNT_ERROR)


def worst_of(task: Task) -> str:
    """What the worst error of a plan is the error of."""
    return WORST_BELOW if task == "quantile" else WORST_ERROR


def _summed(
    task: Task, labels: Sequence[Hashable], promise: dict[str, Any]
) -> dict[str, tuple[str, Callable[[], Protocol]]]:
    """Unary encodings of which the shuffler hands on the sums, where the question is how frequent
    many values are.
    """
    if task != "frequency" or len(labels) < 3:
        return {}
    return {
        "Frequency, unary sums": (
            SUMMING,
            lambda: Frequency(domain=labels, method="unary", view="sums", **promise),
        )
    }


def _single(task: Task, promise: dict[str, Any]) -> dict[str, tuple[str, Callable[[], Protocol]]]:
    """The protocols of one number: a mean, a sum, or the count of one value."""
    if task == "count":
        return {
            SIGNED: (SEALED, lambda: SignedCount(value=1, other=0, **promise)),
            "Histogram": ("shuffler", lambda: Histogram(categories=range(2), **promise)),
            "LocalHistogram": ("nobody", lambda: LocalHistogram(categories=range(2), **promise)),
            "CentralSum": ("curator", lambda: CentralSum(**promise)),
        }
    kinds: tuple[type[Protocol], ...] = (Mean, SplitMean, LocalMean, CentralMean)
    if task == "sum":
        kinds = (Sum, SplitSum, LocalSum, CentralSum)
    one, split, local, central = kinds
    return {
        one.__name__: ("shuffler", lambda: one(**promise)),
        f"{one.__name__}, {SPLIT}": (SEALED, lambda: split(**promise)),
        local.__name__: ("nobody", lambda: local(**promise)),
        central.__name__: ("curator", lambda: central(**promise)),
    }


def plan(
    task: Task,
    *,
    n: int,
    epsilon: float,
    delta: float,
    domain: int | str | Iterable[Hashable] | None = None,
    rounds: int = 1,
    least: int | None = None,
) -> Plan:
    """Every protocol for ``task`` that promises (epsilon, delta) over all rounds, with its
    predicted error.

    ``domain`` is the number of categories, or a list of them; of a crosstab, how many each column
    has, such as "4x3"; a mean has none, and is of numbers in [0, 1]. The promise holds as long as
    ``least`` of the n users are honest; if left out, all
    (``--honest`` on the command line).

    >>> table = plan("mean", n=1000, epsilon=1.0, delta=1e-6)
    >>> [(option.name, option.trust) for option in table.options]
    [('Mean, split and mix (sealed; anybody can move it)', 'shuffler, sealed'),
     ('CentralMean', 'curator'), ('Mean', 'shuffler'), ('LocalMean', 'nobody')]
    """
    if task not in PLANNED:
        raise InvalidInput(f"task must be one of {', '.join(PLANNED)}, got {task!r}. Others have one protocol.")
    counting = task not in ("mean", "sum", "count")
    if (domain is None) == counting:
        raise InvalidInput(
            f"domain must be given for counts and left out for a {'mean' if counting else task}, got {domain!r}. It is "
            f"the number of categories, or their list; of quantiles, the number of bins."
        )
    if isinstance(domain, str) and task != "crosstab":
        raise InvalidInput(f"domain of a {task} must be a number, got {domain!r}. Only a crosstab has several columns.")
    promise: dict[str, Any] = {"n": n, "least": least, "epsilon": epsilon, "delta": delta, "rounds": rounds}
    builders: dict[str, tuple[str, Callable[[], Protocol]]]
    if not counting:
        size, builders = 0, _single(task, promise)
    elif task == "quantile":
        cuts = tuple(map(float, range(check_count("domain", domain, least=2, remedy="It counts the bins.") + 1)))
        size = len(cuts) - 1
        builders = {
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
            "LocalQuantiles": ("nobody", lambda: LocalQuantiles(cuts=cuts, levels=(), **promise)),
            "CentralQuantiles": ("curator", lambda: CentralQuantiles(cuts=cuts, **promise)),
        }
    elif task == "crosstab":
        sizes = column_sizes(domain)
        size = prod(sizes)
        crossed: dict[str, Any] = {"columns": _numbered(len(sizes)), "categories": sizes}
        builders = {
            "Crosstab": ("shuffler", lambda: Crosstab(**crossed, **promise)),
            f"Crosstab, {FAKES}": (SEALED, lambda: FakesCrosstab(**crossed, **promise)),
            f"Crosstab, {DUMMIES}": (ADDING, lambda: DummyCrosstab(**crossed, **promise)),
            "LocalHistogram": ("nobody", lambda: LocalHistogram(categories=range(size), **promise)),
            "CentralHistogram": ("curator", lambda: CentralHistogram(categories=range(size), **promise)),
        }
    else:
        known = Categories.of(domain)
        size, labels = len(known), known.labels
        builders = {
            "Histogram": ("shuffler", lambda: Histogram(categories=labels, **promise)),
            **{
                f"Frequency, {name}": ("shuffler", lambda name=name: Frequency(domain=labels, method=name, **promise))  # type: ignore[misc]
                for name in METHODS
            },
            **_summed(task, labels, promise),
            f"Histogram, {FAKES}": (SEALED, lambda: FakesHistogram(categories=labels, **promise)),
            f"Histogram, {DUMMIES}": (ADDING, lambda: DummyHistogram(categories=labels, **promise)),
            "LocalHistogram": ("nobody", lambda: LocalHistogram(categories=labels, **promise)),
            "CentralHistogram": ("curator", lambda: CentralHistogram(categories=labels, **promise)),
        }
    options, refused = [], []
    for name, (trust, build) in builders.items():
        try:
            protocol = build().settle()
        except InvalidInput as error:
            refused.append((name, str(error)))
            continue
        if protocol.bits > MOST_BITS:
            refused.append((name, f"a report of {protocol.bits} bits"))
            continue
        options.append(
            Option(
                named(name, protocol),
                trust,
                protocol.epsilon0,
                protocol.predicted_stderr(),
                worst_error(protocol),
                protocol.bits,
                protocol,
                protocol.messages if isinstance(protocol, ReportingProtocol) else 1,
            )
        )
    if not any(option.trust == "shuffler" for option in options):
        raise InvalidInput(refused[0][1])
    options.sort(key=lambda option: (option.error, option.bits))
    return Plan(task, n, size, epsilon, delta, rounds, tuple(options), tuple(refused), least)


def named(name: str, protocol: Protocol) -> str:
    """The name of an option, with the kind of dummies that its protocol chose."""
    law = protocol.randomizer if isinstance(protocol, FakedProtocol) else None
    chose_poisson = isinstance(law, ShufflerDummies) and law.kind == "poisson"
    return name.replace(DUMMIES, POISSON) if chose_poisson else name


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
    CrosstabTask(_numbered(len(whole)), tuple(whole), (None,) * len(whole)).checked()
    return whole


def _numbered(many: int) -> tuple[str, ...]:
    """Names for columns that have none yet."""
    return tuple(f"column {place + 1}" for place in range(many))


def worst_error(protocol: Protocol) -> float:
    """The largest standard error that any single number which the protocol estimates can have,
    whatever the data.

    A count's variance is linear in how many users hold each value, and so is largest where all hold
    the same one: for that one, or for another.
    """
    if isinstance(protocol, Distribution):
        return protocol.worst_stderr()
    if not isinstance(protocol, (RandomizedResponse, Frequency, FakedProtocol)):
        return protocol.predicted_stderr()  # the same for all data, or already that of the worst
    together = np.zeros(protocol._size)
    together[0] = protocol.n
    return float(protocol.predicted_stderrs(together).max())
