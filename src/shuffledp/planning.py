"""Every mechanism that fits a task, side by side: what one report gives away, the error to expect,
the bits to send.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import (
    Argument,
    InvalidInput,
    Refusal,
    check_epsilon,
    check_promised,
    check_rounds,
    check_users,
    meant,
)
from shuffledp.mechanisms import kind_of as mechanism_named
from shuffledp.mechanisms.baselines import Baseline, best_alone, best_curator
from shuffledp.poll import Poll
from shuffledp.questions import OURS, kind_of, names
from shuffledp.questions.question import Planned, Question
from shuffledp.wording import reserved, right, rounded, short

MOST_BITS = 1 << 20  # longer reports are not proposed


def planned(task: str) -> Planned:
    """What a plan says of the errors of a question; refused if there is nothing to compare."""
    if task not in names() or (found := kind_of(task).planned) is None:
        known = ", ".join(name for name in OURS if kind_of(name).planned)
        rule, remedy = f"task must be one of {known}", f"{meant(task, OURS)}Others have one mechanism."
        raise InvalidInput(Refusal(rule, repr(task), remedy))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """One poll that fits: ``error`` is predicted for one round, ``bits`` is what each user
    sends per round, in so many ``messages``. ``trust`` says whom to trust, and what must be sealed;
    an infinite ``epsilon0`` is that of messages which are the truth. Where nobody or a curator is
    trusted, it is the best of the known mechanisms, by its name, and has no ``poll``.

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
    poll: Poll | None
    messages: int = 1

    @property
    def guarantee(self) -> Guarantee | None:
        """What is certified for all rounds."""
        return None if self.poll is None else self.poll.guarantee

    @property
    def right(self) -> float | None:
        """The probability that the best guess from one report is right, at most, if all answers
        seemed equally likely; None where a curator is told the truth.
        """
        if self.epsilon0 is None or self.poll is None:
            return None
        return right(self.epsilon0, self.poll.randomizer.k)

    @property
    def rests(self) -> str:
        """What its promise rests on that is not proven; empty where all of it is."""
        return reserved(self.poll.randomizer.assumptions) if self.poll is not None else ""

    @property
    def title(self) -> str:
        """Its name, and what its promise rests on."""
        return f"{self.name}, {self.rests}" if self.rests else self.name


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The options, smallest predicted error first; ``refused`` says what does not fit, and why.
    ``print`` it.
    """

    task: str
    n: int
    domain: int
    epsilon: float
    delta: float
    rounds: int
    options: tuple[Option, ...]
    refused: tuple[tuple[str, str], ...] = ()
    honest: int | None = None

    @property
    def best(self) -> Poll:
        """The poll of one message each with the smallest predicted error."""
        return next(each.poll for each in self.options if each.trust == "shuffler" and each.poll is not None)

    def __str__(self) -> str:
        """A table."""
        about = planned(self.task)
        size = f" of {self.domain} {about.places}" if self.domain else ""
        again = f", {self.rounds} rounds" if self.rounds > 1 else ""
        honest = "" if self.honest in (None, self.n) else f", at least {self.honest:,} of them honest"
        promise = f"epsilon = {short(self.epsilon)}, delta = {short(self.delta)}"
        title = f"{self.task}{size}: {self.n:,} people{honest}, {promise}{again}"
        titles = [*(each.title for each in self.options), *(name for name, _ in self.refused)]
        wide = max(22, *map(len, titles))
        trust = max(14, *(len(each.trust) for each in self.options))
        heads = f"{'epsilon0':>9} {'error':>12} {'worst':>12} {'messages':>8} {'bits':>9}"
        lines = [title, f"{'mechanism':<{wide}} {'whom to trust':<{trust}} {heads}"]
        for each in self.options:
            local = "-" if each.epsilon0 is None else f"{each.epsilon0:.4f}"
            numbers = f"{local:>9} {each.error:>12.5g} {each.worst:>12.5g} {each.messages:>8} {each.bits:>9}"
            lines.append(f"{each.title:<{wide}} {each.trust:<{trust}} {numbers}")
        lines += [f"{name:<{wide}} refused: {why}" for name, why in self.refused]
        worst = [] if about.worst is None else [f"worst: {about.worst}"]
        return "\n".join([*lines, f"error: {about.error}", *worst])


def plan(
    task: str,
    *,
    n: int,
    epsilon: float,
    delta: float,
    categories: int | str | Iterable[Hashable] | None = None,
    rounds: int = 1,
    honest: int | None = None,
) -> Plan:
    """Every mechanism for ``task`` that promises (epsilon, delta) over all rounds, with its
    predicted error.

    ``categories`` is the number of categories, or a list of them; of a crosstab, how many each
    column has, such as "4x3"; a mean has none, and is of numbers in [0, 1]. The promise holds as
    long as ``honest`` of the n users are honest; if left out, all
    (``--honest`` on the command line).

    >>> table = plan("mean", n=1000, epsilon=1.0, delta=1e-6)
    >>> [(option.name, option.trust) for option in table.options]
    [('staircase noise', 'curator'),
     ('mean, split and mix (sealed; anybody can move it)', 'shuffler, sealed'),
     ('mean, krr', 'shuffler'), ('hybrid mechanism', 'nobody')]
    """
    about = planned(task)
    counting = about.places is not None
    if (categories is None) == counting:
        rule = (Argument("categories"), f" must be given for counts and left out for a {'mean' if counting else task}")
        remedy = "It is the number of categories, or their list; of quantiles, the number of bins."
        raise InvalidInput(Refusal(rule, "none" if categories is None else repr(categories), remedy))
    if isinstance(categories, str) and not about.columns:
        raise InvalidInput(
            f"categories of a {task} must be a number, got {categories!r}. Only a crosstab has several columns."
        )
    check_promised(delta)
    check_epsilon(epsilon)
    check_users(n, honest, name=Argument("honest"))
    check_rounds(rounds)
    promise: dict[str, Any] = {"n": n, "honest": honest, "epsilon": epsilon, "delta": delta, "rounds": rounds}
    question = kind_of(task).of_domain(categories)
    options, refused = [], []
    first: InvalidInput | None = None
    for name, trust, build in _rivals(question, promise):
        try:
            poll = build()
        except InvalidInput as error:
            refused.append((name, str(error)))
            first = first or error
            continue
        if isinstance(poll, Baseline):
            options.append(Option(poll.name, trust, poll.epsilon0, poll.error, poll.worst, poll.bits, None))
            continue
        if poll.bits > MOST_BITS:
            refused.append((name, f"a report of {poll.bits} bits"))
            continue
        errors = (poll.epsilon0, poll.predicted_stderr(), poll.worst_stderr())
        options.append(Option(poll.mechanism.named(name), trust, *errors, poll.bits, poll, poll.messages))
    if not any(option.trust == "shuffler" for option in options):
        raise first or InvalidInput(refused[0][1])
    options.sort(key=lambda option: (option.error, option.bits))
    size = (question.size or 0) if counting else 0
    return Plan(task, n, size, epsilon, delta, rounds, tuple(options), tuple(refused), honest)


def _rivals(question: Question, promise: dict[str, Any]) -> Iterator[tuple[str, str, Callable[[], Poll | Baseline]]]:
    """What is compared: its name, whom it trusts, how it is made; under other trust the best
    mechanisms known here, which have names of their own once they are made.
    """
    for asked, name in question.rivals:
        kind = mechanism_named(name)
        for suffix, choices in kind.variants(asked, name).items():
            yield f"{asked}, {suffix}", kind.trust, partial(Poll, asked, mechanism=name, **choices, **promise)
    terms = {name: value for name, value in promise.items() if name != "honest"}
    yield "no shuffler", "nobody", partial(best_alone, question, **terms)
    yield "a curator", "curator", partial(best_curator, question, **terms)


def reachable(polls: list[Poll], *, most_messages: int | None, most_error: float | None) -> Poll:
    """Of polls for one question the one with the fewest messages that errs by at most
    ``most_error``, or, where none is asked for, the one that errs least.
    """
    brief = [each for each in polls if most_messages is None or each.messages <= most_messages]
    if not brief:
        few = min(each.messages for each in polls)
        raise InvalidInput(f"messages must be at least {few} here, got {most_messages}. Allow more.")
    best = min(brief, key=lambda each: each.predicted_stderr())
    if most_error is None:
        return best
    sharp = [each for each in brief if each.predicted_stderr() <= most_error]
    if not sharp:
        raise InvalidInput(
            Argument("error"),
            f" must be at least {rounded(best.predicted_stderr(), up=True)}, which {best.messages} message"
            f"{'s' * (best.messages > 1)} of each person reach{'es' * (best.messages == 1)}, got {most_error:g}. Allow "
            f"a larger error or epsilon, more messages, or ask more people.",
        )
    return min(sharp, key=lambda each: each.messages)
