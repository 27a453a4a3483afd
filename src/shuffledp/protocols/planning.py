"""Every protocol that fits a task, side by side: what one report gives away, the error to expect,
the bits to send.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from shuffledp._types import Task
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import Argument, InvalidInput, check_epsilon, check_promised, check_rounds, check_users
from shuffledp.mechanisms.best_curator import Baseline
from shuffledp.protocols.plan_options import ADDING, DUMMIES, FAKES, PLANNED, POISSON, SEALED
from shuffledp.protocols.protocol import Protocol
from shuffledp.randomizers.messages import ShufflerDummies
from shuffledp.wording import reserved, right

__all__ = [
    "ADDING",
    "DUMMIES",
    "FAKES",
    "PLANNED",
    "SEALED",
    "Option",
    "Plan",
    "Task",
    "error_of",
    "named",
    "plan",
    "worst_of",
]

MOST_BITS = 1 << 20  # longer reports are not proposed


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """One protocol that fits: ``error`` is predicted for one round, ``bits`` is what each user
    sends per round, in so many ``messages``. ``trust`` says whom to trust, and what must be sealed;
    an infinite ``epsilon0`` is that of messages which are the truth. Where nobody or a curator is
    trusted, it is the best of the known mechanisms, by its name, and has no ``protocol``.

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
    protocol: Protocol | None
    messages: int = 1

    @property
    def guarantee(self) -> Guarantee | None:
        """What is certified for all rounds."""
        return None if self.protocol is None else self.protocol.guarantee

    @property
    def right(self) -> float | None:
        """The probability that the best guess from one report is right, at most, if all answers
        seemed equally likely; None where a curator is told the truth.
        """
        if self.epsilon0 is None or self.protocol is None:
            return None
        return right(self.epsilon0, self.protocol.randomizer.k)

    @property
    def rests(self) -> str:
        """What its promise rests on that is not proven; empty where all of it is."""
        return reserved(self.protocol.randomizer.assumptions) if self.protocol is not None else ""

    @property
    def title(self) -> str:
        """Its name, and what its promise rests on."""
        return f"{self.name}, {self.rests}" if self.rests else self.name


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
    honest: int | None = None

    @property
    def best(self) -> Protocol:
        """The shuffled protocol with the smallest predicted error."""
        return next(each.protocol for each in self.options if each.trust == "shuffler" and each.protocol is not None)

    def __str__(self) -> str:
        """A table."""
        size = f" of {self.domain} {PLANNED[self.task].told_apart}" if self.domain else ""
        again = f", {self.rounds} rounds" if self.rounds > 1 else ""
        honest = "" if self.honest in (None, self.n) else f", at least {self.honest} of them honest"
        title = f"{self.task}{size}: {self.n} users{honest}, epsilon = {self.epsilon:g}, delta = {self.delta:g}{again}"
        names = [*(each.title for each in self.options), *(name for name, _ in self.refused)]
        wide = max(22, *map(len, names))
        trust = max(14, *(len(each.trust) for each in self.options))
        heads = f"{'epsilon0':>9} {'error':>12} {'worst':>12} {'messages':>8} {'bits':>9}"
        lines = [title, f"{'mechanism':<{wide}} {'whom to trust':<{trust}} {heads}"]
        for each in self.options:
            local = "-" if each.epsilon0 is None else f"{each.epsilon0:.4f}"
            numbers = f"{local:>9} {each.error:>12.5g} {each.worst:>12.5g} {each.messages:>8} {each.bits:>9}"
            lines.append(f"{each.title:<{wide}} {each.trust:<{trust}} {numbers}")
        lines += [f"{name:<{wide}} refused: {why}" for name, why in self.refused]
        worst = [] if worst_of(self.task) is None else [f"worst: {worst_of(self.task)}"]
        return "\n".join([*lines, f"error: {error_of(self.task)}", *worst])


def error_of(task: str) -> str:
    """What the error of a plan is the error of."""
    return PLANNED[task].error


def worst_of(task: str) -> str | None:
    """What the worst error of a plan is the error of; None where the error is the worst already."""
    return PLANNED[task].worst


def plan(
    task: Task,
    *,
    n: int,
    epsilon: float,
    delta: float,
    domain: int | str | Iterable[Hashable] | None = None,
    rounds: int = 1,
    honest: int | None = None,
) -> Plan:
    """Every protocol for ``task`` that promises (epsilon, delta) over all rounds, with its
    predicted error.

    ``domain`` is the number of categories, or a list of them; of a crosstab, how many each column
    has, such as "4x3"; a mean has none, and is of numbers in [0, 1]. The promise holds as long as
    ``honest`` of the n users are honest; if left out, all
    (``--honest`` on the command line).

    >>> table = plan("mean", n=1000, epsilon=1.0, delta=1e-6)
    >>> [(option.name, option.trust) for option in table.options]
    [('staircase noise', 'curator'),
     ('Mean, split and mix (sealed; anybody can move it)', 'shuffler, sealed'),
     ('Mean', 'shuffler'), ('hybrid mechanism', 'nobody')]
    """
    if task not in PLANNED:
        raise InvalidInput(f"task must be one of {', '.join(PLANNED)}, got {task!r}. Others have one protocol.")
    planned = PLANNED[task]
    counting = planned.told_apart is not None
    if (domain is None) == counting:
        raise InvalidInput(
            f"domain must be given for counts and left out for a {'mean' if counting else task}, got {domain!r}. It is "
            f"the number of categories, or their list; of quantiles, the number of bins."
        )
    if isinstance(domain, str) and not planned.columns:
        raise InvalidInput(f"domain of a {task} must be a number, got {domain!r}. Only a crosstab has several columns.")
    check_promised(delta)
    check_epsilon(epsilon)
    check_users(n, honest, name=Argument("honest"))
    check_rounds(rounds)
    promise: dict[str, Any] = {"n": n, "honest": honest, "epsilon": epsilon, "delta": delta, "rounds": rounds}
    size, builders = planned.options(domain, promise)
    options, refused = [], []
    first: InvalidInput | None = None
    for name, (trust, build) in builders.items():
        try:
            protocol = build()
        except InvalidInput as error:
            refused.append((name, str(error)))
            first = first or error
            continue
        if isinstance(protocol, Baseline):
            numbers = (protocol.epsilon0, protocol.error, protocol.worst, protocol.bits)
            options.append(Option(protocol.name, trust, *numbers, None))
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
                protocol.worst_stderr(),
                protocol.bits,
                protocol,
                protocol.messages,
            )
        )
    if not any(option.trust == "shuffler" for option in options):
        raise first or InvalidInput(refused[0][1])
    options.sort(key=lambda option: (option.error, option.bits))
    return Plan(task, n, size, epsilon, delta, rounds, tuple(options), tuple(refused), honest)


def named(name: str, protocol: Protocol) -> str:
    """The name of an option, with the kind of dummies that its protocol chose."""
    law = protocol.randomizer
    chose_poisson = isinstance(law, ShufflerDummies) and law.kind == "poisson"
    return name.replace(DUMMIES, POISSON) if chose_poisson else name
