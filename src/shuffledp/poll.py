"""A poll: people's values go in, randomized reports are shuffled, an analyst gets estimates, and
the accountant says what that gives away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from shuffledp._types import Floats, View
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.views import VIEWS
from shuffledp.design import Design, Law
from shuffledp.domain import REMEDY
from shuffledp.errors import (
    Argument,
    CertificateError,
    InvalidInput,
    Refusal,
    check_count,
    check_delta,
    check_epsilon,
    check_needed,
    check_promised,
    check_rounds,
    check_taken,
    check_users,
    shown,
)
from shuffledp.mechanisms import calibrate, mechanism_of
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.mechanisms.mechanism import Mechanism, Target
from shuffledp.mechanisms.results import Tally
from shuffledp.mechanisms.shuffler import Bag, Reports, check_most, check_same, gathered, notes_of
from shuffledp.questions import kind_of
from shuffledp.questions.question import Question
from shuffledp.randomizers.law_file import from_law, law_of
from shuffledp.sampling import Rng, source_of
from shuffledp.wording import brief


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Poll:
    """A question to ``n`` people, asked ``rounds`` times, and the mechanism that hides their
    answers. ``encode`` runs on people's devices, ``shuffle`` between them and the analyst,
    ``analyse`` at the analyst.

    The question is a name with its fields, such as "histogram" with ``categories``, or a
    ``Question``. With ``epsilon`` and ``delta`` the poll promises that much for all rounds
    together, as long as at least ``honest`` of the n people (by default all; ``--honest`` on the
    command line) send honest reports; the mechanism of that name, or the usual one, is calibrated
    to it, and takes what else is given. With ``epsilon0`` the noise of one message is given, with
    ``randomizer`` how reports are drawn, and ``guarantee`` says what that is worth. In the view
    "sums" the shuffler adds up reports that are bits, and hands on no report.

    >>> poll = Poll("histogram", categories=["tea", "coffee", "water"], n=1000, epsilon0=3.0)
    >>> bag = poll.shuffle(
    ...     poll.encode(["tea"] * 600 + ["coffee"] * 400, rng=np.random.default_rng(7))
    ... )
    >>> estimate = poll.analyse(bag)
    >>> bool(abs(estimate["tea"] - 600) < 4 * estimate.stderr[0]), estimate.secure
    (True, False)
    >>> round(poll.guarantee.epsilon(delta=1e-6).upper, 2)
    0.8
    >>> Poll("count", value="yes", n=10_000, epsilon=1.0, delta=1e-6).messages
    21
    """

    question: Question
    mechanism: Mechanism
    randomizer: Any  # how a report is drawn
    epsilon0: float  # what one message by itself gives away, at most: ``math.inf`` where it is the truth
    n: int
    honest: int
    rounds: int
    epsilon: float | None
    delta: float | None
    given: tuple[tuple[str, object], ...]  # what was asked for, by name

    def __init__(
        self,
        question: str | Question,
        *,
        n: int | None = None,
        mechanism: str | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        epsilon0: float | None = None,
        randomizer: Any = None,
        honest: int | None = None,
        rounds: int = 1,
        view: View = "reports",
        **terms: Any,
    ) -> None:
        if isinstance(question, Question):
            kind = type(question)
            own = {name: terms.pop(name, getattr(question, name)) for name in kind.field_names()}
        else:
            kind = kind_of(question)
            own = {name: terms.pop(name) for name in kind.field_names() if name in terms}
            check_needed(kind.of, own)
        asked, choices = kind.of(**own), {name: value for name, value in terms.items() if value is not None}
        if n is None:
            raise InvalidInput(Refusal("n must be given", "none", "It is how many people report, such as n=10_000."))
        n, honest = check_users(n, n if honest is None else honest, name=Argument("honest"))
        _check_noise_given(epsilon, epsilon0, randomizer, delta)
        if delta is not None:
            delta = (check_delta if epsilon is None else check_promised)(delta)
        epsilon = None if epsilon is None else check_epsilon(epsilon)
        target = {"n": n, "epsilon": epsilon, "delta": delta, "honest": honest, "rounds": check_rounds(rounds)}
        more = {"epsilon0": epsilon0, "randomizer": randomizer, "mechanism": mechanism, **choices, "view": view}
        vars(self).update(target, question=asked, given=tuple({**own, **target, **more}.items()))
        hiding = self._hiding(mechanism, epsilon0, randomizer, view, choices)
        vars(self).update(mechanism=hiding, randomizer=hiding.law, epsilon0=hiding.law.epsilon0)
        if epsilon is not None and not self._keeps_promise(self.guarantee):
            raise CertificateError("A poll misses its own promise. This is a bug in shuffledp; please report the call.")

    def _hiding(
        self, name: str | None, epsilon0: float | None, randomizer: Any, view: View, choices: dict[str, Any]
    ) -> Mechanism:
        """The mechanism that is asked for."""
        if str(view) not in VIEWS:
            raise InvalidInput(
                f'view must be one of {", ".join(VIEWS)}, got {view!r}. "reports" are whole reports, shuffled.'
            )
        if randomizer is not None:
            if wrong := [*choices] if name is None else ["mechanism"]:
                raise InvalidInput(
                    f"{wrong[0]} must be left out with a randomizer, got both. It says how a report hides its sender."
                )
            return mechanism_of(randomizer, view).answering(self.question, self.n)
        if view != "reports":
            choices = {**choices, "view": view}
        target = Target(self.n, self.epsilon, self.delta, self.honest, self.rounds, epsilon0)
        return calibrate(self.question, target, name, **choices)

    def __repr__(self) -> str:
        """What was asked for, without what follows from it, such as the noise."""
        usual = {"honest": self.n, "rounds": 1, "view": "reports"}
        told = [repr(str(self.question))]
        for name, given in self.given:
            value = getattr(self.question, name, given)
            if value is not None and not (name in usual and value == usual[name]):
                told.append(f"{name}={brief(value)}")
        return f"Poll({', '.join(told)})"

    @property
    def view(self) -> View:
        """What the shuffler hands on."""
        return self.mechanism.view

    @property
    def messages(self) -> int:
        """How many messages a person sends in a round."""
        return int(self.randomizer.messages)

    @property
    def bits(self) -> int:
        """What a person sends, in all messages."""
        return int(self.randomizer.bits)

    @property
    def law(self) -> Law:
        """The randomizer as a design says it."""
        if self.view != "reports":
            raise InvalidInput(
                f'a {self.question} must be of the view "reports" to be written down, got {self.view!r}. Files hold '
                f"whole reports; leave view out."
            )
        return Law.from_json(law_of(self.randomizer))

    @cached_property
    def guarantee(self) -> Guarantee:
        """What is certified of the code that runs, for all rounds, with the fewest reports that are
        promised (``honest``).
        """
        return self.guarantee_for(self.honest)

    def guarantee_for(self, arrived: int, *, colluding: int = 0) -> Guarantee:
        """What is certified, for all rounds, if only ``arrived`` reports come and ``colluding`` of
        those hide nobody.
        """
        crowd = self._honest(arrived, colluding)
        return self.mechanism.guarantee(crowd, rounds=self.rounds, colluding=colluding)

    def describe(self) -> dict[str, object]:
        """What reports must agree in to be analyzed together."""
        question, view = self.question, {} if self.view == "reports" else {"view": self.view}
        names = question.field_names() if question.compared is None else question.compared
        asked = {name: getattr(question, name) for name in names}
        return {"question": str(question), "n": self.n, **asked, **self.randomizer.describe(), **view}

    def encode(self, values: Any, *, rng: Rng = None) -> Reports:
        """One report per value, for one round; ``rng`` left out is cryptographic. Any number of
        people may be encoded at once, one included.
        """
        source = source_of(rng)
        places = self.question.places(values, self.mechanism.size, source)
        return Reports(self.describe(), self.randomizer.randomize(places, rng=source), source.secure)

    def shuffle(self, reports: Reports | Iterable[Reports] | ArrayLike, *, colluding: int = 0, rng: Rng = None) -> Bag:
        """Forget who sent what. Takes what ``encode`` made, a list of such, or bare rows that
        arrived over a network, whose randomness is taken on trust.

        Refuses more reports than n, and so few that ``guarantee`` would no longer hold.
        """
        sent, secure = gathered(reports, mine := self.describe())
        rows = self.randomizer.check_reports(sent)
        self._check_arrived(len(rows), colluding)
        return self.mechanism.bag(mine, rows, secure=secure, rng=rng)

    def analyse(self, bag: Bag, *later: Bag, **reading: Any) -> Estimate:
        """Estimates from the reports in ``bag``, about the people who sent them. With the bags of
        ``later`` rounds, whose reports are added up, the error falls with the square root of the
        number of rounds. The question's ``estimate`` says in which ways they can be read.
        """
        bags = (bag, *later)
        if len(set(map(id, bags))) < len(bags):
            raise InvalidInput("bags must be of different rounds, got one of them twice. List each round once.")
        for each in bags:
            if not isinstance(each, Bag):
                raise InvalidInput(
                    f"bag must come from shuffle(...), got {type(each).__name__}. Shuffle the reports first."
                )
            check_same(each, self.describe())
            check_most(len(each), self.n)
        counts = [self.mechanism.counted(each) for each in bags]
        notes = tuple(dict.fromkeys(note for each in bags for note in notes_of(each, self.n)))
        return self.analyse_counts(*counts, notes=notes, **reading)

    def analyse_counts(
        self, counts: Tally | ArrayLike, *later: Tally | ArrayLike, notes: tuple[str, ...] = (), **reading: Any
    ) -> Estimate:
        """Unbiased estimates from the tally of a whole bag, or the numbers of one that was mixed,
        and from those of ``later`` rounds; counts may be negative.
        """
        if reading:
            check_taken(self.question.estimate, reading, f"the reading of a {self.question}")
        tally = self._pooled((counts, *later))
        return self.question.estimate(self.mechanism, tally, notes=notes, **reading)

    def derive(self, counts: Tally | ArrayLike, *later: Tally | ArrayLike, by: str | None = None) -> dict[str, Any]:
        """What else the same ``tally`` says, by name; see ``Question.derive``. It costs no more
        privacy.
        """
        tally = self._pooled((counts, *later))
        return self.question.derive(self.mechanism, tally, self.question.estimate(self.mechanism, tally), by)

    def _pooled(self, rounds: Sequence[Tally | ArrayLike]) -> Tally:
        """The tally of all rounds: votes add up."""
        if len(rounds) > self.rounds:
            raise InvalidInput(
                f"tallies must number at most rounds = {self.rounds}, got {len(rounds)}. Build the poll with more "
                f"rounds."
            )
        return reduce(Tally.again, [self.mechanism.received(counts, self.n, self.honest) for counts in rounds])

    def check_noise(self, counts: ArrayLike) -> None:
        """Refuse a ``tally`` that cannot hold the noise that others were to add, where the law lets
        that be seen.
        """
        self.mechanism.check(np.asarray(counts), self.honest)

    def influence(self, estimate: Estimate) -> Floats:
        """How far one malicious person could have moved each estimate, at most: whoever sends
        another report than the law draws. ``math.inf`` where there is no limit.
        """
        if not isinstance(estimate, Estimate):
            raise InvalidInput(
                f"estimate must be what analyse(...) returns, got {shown(estimate)}. Analyse a bag first."
            )
        rows = self.question.workload(self.mechanism.size)
        return self.mechanism.influence(rows) * self.question.scaling(estimate.n)[0]

    def predicted_stderrs(self, counts: ArrayLike) -> Floats:
        """The standard error of each estimated count if ``counts`` people hold each value."""
        held, size = check_held(counts), self.mechanism.size
        if held.shape != (size,) or held.min() < 0.0:
            got = f"{held.min():g}" if held.shape == (size,) else f"shape {held.shape}"
            raise InvalidInput(
                f"counts must be {size} numbers of at least 0, got {got}. Give how many people hold each value."
            )
        return self.mechanism.predicted(self.question.weighed(size), held)

    def predicted_stderr(self, values: Any = None) -> float:
        """The standard error to expect with all n people, or with those who hold ``values``; see
        ``Question.expected_stderr``.
        """
        return self.question.expected_stderr(self.mechanism, self.n, values)

    def worst_stderr(self) -> float:
        """The largest standard error of any single number, whatever the data."""
        rows = self.question.weighed(self.mechanism.size)
        return self.mechanism.worst(rows, self.n) * self.question.scaling(self.n)[0]

    def _check_arrived(self, arrived: int, colluding: int) -> None:
        check_most(arrived, self.n)
        honest = self._honest(arrived, colluding)
        if honest >= self.honest:
            return
        if self.epsilon is None:
            raise InvalidInput(
                f"honest reports must number at least {self.honest}, as guarantee assumes, got {honest}. Wait for more "
                f"reports, or build the poll with honest={honest}; guarantee_for says what that is worth."
            )
        if not self._keeps_promise(restated := self.guarantee_for(arrived, colluding=colluding)):
            assert self.delta is not None
            now = restated.epsilon_at_most(delta=self.delta)
            raise InvalidInput(
                f"honest reports must number at least {self.honest} for the promised epsilon = {self.epsilon:g}, got "
                f"{honest}, which gives {now:.4g}. Wait for more reports, or build the poll with honest={honest} "
                f"before anybody reports."
            )

    def _honest(self, arrived: int, colluding: int) -> int:
        remedy = "It counts the reports that came; with none there is nothing to analyse."
        arrived = check_count("arrived", arrived, least=1, remedy=remedy)
        remedy = "It counts the people whose reports hide nobody."
        colluding = check_count("colluding", colluding, least=0, remedy=remedy)
        if arrived > self.n:
            raise InvalidInput(
                f"arrived must be at most n = {self.n}, got {arrived}. Each person sends one report per round."
            )
        if colluding >= arrived:
            raise InvalidInput(
                f"colluding must be below the {arrived} reports that arrived, got {colluding}. Nobody is left to "
                f"protect; wait for more."
            )
        return arrived - colluding

    def _keeps_promise(self, guarantee: Guarantee) -> bool:
        assert self.epsilon is not None
        assert self.delta is not None
        return guarantee.delta_at_most(epsilon=self.epsilon) <= self.delta


def poll_of(design: Design) -> Poll:
    """The poll of a design, with the very randomizer that was written down: hashing and subsets
    choose a size by epsilon0, and that one is in use. Nothing is calibrated.
    """
    terms: dict[str, Any] = {"n": design.n, "honest": design.honest, "rounds": design.rounds, "delta": design.delta}
    return Poll(design.resolved, randomizer=from_law(design.mechanism.as_json()), **terms)


def certify(design: Design) -> Design:
    """The same, if its noise keeps its promise. What is computed for that is kept by its poll, and
    not computed again.
    """
    guarantee, delta = design.poll.guarantee, check_delta(design.delta)
    if design.epsilon is not None and not guarantee.delta_at_most(epsilon=check_epsilon(design.epsilon)) <= delta:
        raise InvalidInput(
            f"a design must keep its promise of epsilon = {design.epsilon!r} at delta = {delta!r}, got one whose noise "
            f"does not. {REMEDY}"
        )
    return design


def _check_noise_given(epsilon: Any, epsilon0: Any, randomizer: Any, delta: Any) -> None:
    """Exactly one of them says how much noise there is."""
    if randomizer is not None and (epsilon is not None or epsilon0 is not None):
        raise InvalidInput(
            f"neither epsilon nor epsilon0 must be given with a randomizer, got {randomizer!r} beside one. Its noise "
            f"is fixed; leave them out."
        )
    if randomizer is None and (epsilon is None) == (epsilon0 is None):
        raise InvalidInput(
            f"exactly one of epsilon and epsilon0 must be given, got {'neither' if epsilon is None else 'both'}. "
            f"epsilon is a promise, epsilon0 is one report's."
        )
    if epsilon is not None and delta is None:
        remedy = "Choose a small probability, such as 1e-6, well below 1/n."
        raise InvalidInput(Refusal("delta must be given with epsilon", "none", remedy))
    if epsilon is not None and check_epsilon(epsilon) == 0.0:
        remedy = "No useful report has epsilon = 0; allow a little."
        raise InvalidInput(Refusal("epsilon must be positive to be promised", "0.0", remedy))


def check_held(counts: ArrayLike) -> Floats:
    """Return ``counts`` as finite numbers of people."""
    try:
        held = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        held = np.array([np.nan])
    if not np.all(np.isfinite(held)):
        raise InvalidInput(f"counts must be finite numbers, got {shown(counts)}. Give how many people hold each value.")
    return held
