"""A protocol: people's values go in, randomized reports are shuffled, an analyst gets estimates,
and the accountant says what that gives away.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import Floats, View
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.design import Law
from shuffledp.errors import (
    Argument,
    CertificateError,
    InvalidInput,
    check_count,
    check_delta,
    check_epsilon,
    check_promised,
    check_rounds,
    check_users,
    shown,
)
from shuffledp.mechanisms import mechanism_of
from shuffledp.mechanisms.estimate import Estimate, check_estimates, combine
from shuffledp.mechanisms.mechanism import Mechanism, Target
from shuffledp.mechanisms.one_message import Family, OneMessage
from shuffledp.protocols.bag import Bag, Reports, check_batches, check_tally, notes_of
from shuffledp.questions.question import Question
from shuffledp.randomizers.law_file import law_of
from shuffledp.randomizers.matrix import Unmixed
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.randomizers.parameters import check_epsilon0
from shuffledp.randomizers.randomizer import Opened, Randomizer
from shuffledp.randomizers.support import VotingRandomizer, bits_for
from shuffledp.randomizers.wrappers import OneLevel, VotingCheckIn
from shuffledp.sampling import Rng, Source, source_of
from shuffledp.wording import brief
from shuffledp.workload import Workload

__all__ = ["FOUND", "Family", "Protocol", "ShuffledProtocol", "bits_for", "check_held"]


FOUND: Any = None  # in a field that is left out: what belongs there is worked out when a protocol is built


@dataclass(frozen=True, kw_only=True, eq=False)
class Protocol(ABC):
    """``n`` users, asked ``rounds`` times. ``encode`` runs on users' devices, ``shuffle`` between
    them and the analyst, ``analyse`` at the analyst.

    With ``epsilon`` and ``delta`` the protocol promises that much for all rounds together, as long
    as at least ``honest`` of the n users (by default all; ``--honest`` on the command line) send
    honest reports; it chooses its own noise. With ``epsilon0`` the noise is given, and
    ``guarantee`` says what that is worth.
    """

    n: int
    epsilon: float | None = None
    delta: float | None = None
    epsilon0: float = FOUND
    rounds: int = 1
    honest: int | None = None
    randomizer: VotingRandomizer | MessageLaw = FOUND
    _found: tuple[str, ...] = field(init=False, repr=False, default=())  # fields that were left out

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__repr__ = Protocol.__repr__  # type: ignore[method-assign]  # else every dataclass makes its own

    def __repr__(self) -> str:
        """What was asked for, without what follows from it, such as the noise."""
        return f"{type(self).__name__}({', '.join(f'{name}={brief(value)}' for name, value in self._given())})"

    def _given(self) -> Iterator[tuple[str, object]]:
        """The arguments that say something."""
        own = [each for each in fields(self) if each.init and each.name not in self._found]
        own.sort(key=lambda each: each.default is not MISSING)
        for each in own:
            value = getattr(self, each.name)
            if value != {"honest": self.n}.get(each.name, each.default):
                yield each.name, value

    def __post_init__(self) -> None:
        self._set(_found=tuple(each.name for each in fields(self) if each.init and getattr(self, each.name) is None))
        n, honest = check_users(self.n, self.n if self.honest is None else self.honest, name=Argument("honest"))
        self._set(n=n, honest=honest, rounds=check_rounds(self.rounds))
        self._check_given()
        if self.epsilon is not None:
            if self.delta is None:
                raise InvalidInput(
                    "delta must be given with epsilon, got none. Choose a small probability, such as 1e-6, well below "
                    "1/n."
                )
            self._set(epsilon=check_epsilon(self.epsilon))
            if self.epsilon == 0.0:
                raise InvalidInput(
                    "epsilon must be positive to be promised, got 0.0. No useful report has epsilon = 0; allow a "
                    "little."
                )
        if self.delta is not None:
            self._set(delta=(check_delta if self.epsilon is None else check_promised)(self.delta))
        self._prepare()

    def _check_given(self) -> None:
        if (self.epsilon is None) == ("epsilon0" in self._found):
            given = "neither" if self.epsilon is None else "both"
            raise InvalidInput(
                f"exactly one of epsilon and epsilon0 must be given, got {given}. epsilon is a promise, epsilon0 is "
                f"one report's."
            )

    @abstractmethod
    def analyse(self, bag: Bag) -> Estimate:
        """Estimates from the reports in ``bag``, about the users who sent them."""

    @cached_property
    def guarantee(self) -> Guarantee:
        """What is certified of the code that runs, for all rounds, with the fewest reports that are
        promised (``honest``).
        """
        assert self.honest is not None
        return self.guarantee_for(self.honest)

    def shuffle(self, reports: Reports | Iterable[Reports] | ArrayLike, *, colluding: int = 0) -> Bag:
        """Forget who sent what. Takes what ``encode`` made, a list of such, or bare rows that
        arrived over a network, whose randomness is taken on trust.

        Refuses more reports than n, and so few that ``guarantee`` would no longer hold.
        """
        rows, secure = self._gather(reports)
        self._check_arrived(len(rows), colluding)
        return Bag(self.describe(), rows, secure)

    def combine(self, estimates: Sequence[Estimate]) -> Estimate:
        """The average of the rounds' estimates; its error falls with the square root of their
        number.
        """
        check_estimates(estimates)
        if len(estimates) > self.rounds:
            raise InvalidInput(
                f"estimates must number at most rounds = {self.rounds}, got {len(estimates)}. Build the protocol with "
                f"more "
                f"rounds."
            )
        return combine(estimates)

    def _gather(self, reports: Reports | Iterable[Reports] | ArrayLike) -> tuple[NDArray[Any], bool]:
        if isinstance(reports, Reports):
            reports = [reports]
        if isinstance(reports, Bag):
            raise InvalidInput("reports must be what encode(...) made, got a bag. It is shuffled already: analyse it.")
        if isinstance(reports, Iterator):
            reports = list(reports)
        if isinstance(reports, (list, tuple)) and any(isinstance(each, Reports) for each in reports):
            check_batches(reports)
            for each in reports:
                self._check_same(each)
            return self._check_reports(np.concatenate([each.rows for each in reports])), all(
                each.secure for each in reports
            )
        return self._check_reports(reports), True  # type: ignore[arg-type]

    def _check_arrived(self, arrived: int, colluding: int) -> None:
        assert self.honest is not None
        self._check_most(arrived)
        honest = self._honest(arrived, colluding)
        if honest >= self.honest:
            return
        if self.epsilon is None:
            raise InvalidInput(
                f"honest reports must number at least {self.honest}, as guarantee assumes, got {honest}. "
                f"Wait for more reports, or build the protocol with honest={honest}; guarantee_for says what that is "
                f"worth."
            )
        if not self._keeps_promise(restated := self.guarantee_for(arrived, colluding=colluding)):
            assert self.delta is not None
            now = restated.epsilon_at_most(delta=self.delta)
            raise InvalidInput(
                f"honest reports must number at least {self.honest} for the promised epsilon = {self.epsilon:g}, got "
                f"{honest}, which gives {now:.4g}. "
                f"Wait for more reports, or build the protocol with honest={honest} before anybody reports."
            )

    def _check_most(self, reports: int) -> None:
        if reports > self.n:
            raise InvalidInput(
                f"reports must number at most n = {self.n}, got {reports}. Each user sends one per round; build the "
                f"protocol with n={reports}."
            )

    def _honest(self, arrived: int, colluding: int) -> int:
        arrived = check_count(
            "arrived",
            arrived,
            least=1,
            remedy="It counts the reports that came; with none there is nothing to analyse.",
        )
        colluding = check_count(
            "colluding", colluding, least=0, remedy="It counts the users whose reports hide nobody."
        )
        if arrived > self.n:
            raise InvalidInput(
                f"arrived must be at most n = {self.n}, got {arrived}. Each user sends one report per round."
            )
        if colluding >= arrived:
            raise InvalidInput(
                f"colluding must be below the {arrived} reports that arrived, got {colluding}. Nobody is left to "
                f"protect; wait for more."
            )
        return arrived - colluding

    def _promised(self) -> tuple[float, float, int]:
        """The promise, and for how many rounds."""
        assert self.epsilon is not None
        assert self.delta is not None
        return self.epsilon, self.delta, self.rounds

    def _keeps_promise(self, guarantee: Guarantee) -> bool:
        epsilon, delta, _ = self._promised()
        return guarantee.delta_at_most(epsilon=epsilon) <= delta

    def _check_promise(self, guarantee: Guarantee) -> None:
        if not self._keeps_promise(guarantee):
            raise CertificateError(
                f"{type(self).__name__} misses its own promise. This is a bug in shuffledp; please report the call."
            )

    def _check_same(self, made: Bag | Reports) -> None:
        if (mine := self.describe()) != made.description:
            different = [name for name in {**mine, **made.description} if mine.get(name) != made.description.get(name)]
            kind = type(made).__name__.lower()
            raise InvalidInput(
                f"the {kind} must come from this protocol, got one that differs in {', '.join(different)}. Analyse it "
                f"with the protocol that made it."
            )

    def _open(self, bag: Bag) -> NDArray[Any]:
        """The rows of a bag of this protocol."""
        if not isinstance(bag, Bag):
            raise InvalidInput(f"bag must come from shuffle(...), got {type(bag).__name__}. Shuffle the reports first.")
        self._check_same(bag)
        self._check_most(len(bag))
        return self._check_reports(bag.rows)

    def _set(self, **settled: object) -> None:
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    def _prepare(self) -> None:
        """Check the question, and choose the noise: what is built is whole, and never changes."""
        self._ask()
        law: Any = self._drawn_by() if "randomizer" in self._found else self._check_randomizer(self.randomizer)
        self._set(randomizer=law, epsilon0=law.epsilon0)
        if self.epsilon is not None:
            self._check_promise(self.guarantee)

    @abstractmethod
    def _ask(self) -> None:
        """Check the question."""

    @abstractmethod
    def _drawn_by(self) -> VotingRandomizer | MessageLaw:
        """The law with the least noise that keeps the promise, or the one of ``epsilon0``."""

    @abstractmethod
    def _check_randomizer(self, given: Any) -> VotingRandomizer | MessageLaw:
        """The law that is given as it runs, or refused if it does not answer the question."""

    @abstractmethod
    def _places(self, values: Any, source: Source) -> NDArray[Any]:
        """What people hold, as places of the law."""

    @abstractmethod
    def _asked(self) -> dict[str, object]:
        """The question, as far as it makes two protocols' reports comparable."""

    @property
    def _size(self) -> int | None:
        """How many values the law must tell apart, if the question says so."""
        return None

    def describe(self) -> dict[str, object]:
        return {"protocol": type(self).__name__, "n": self.n, **self._asked(), **self.randomizer.describe()}

    def encode(self, values: Any, *, rng: Rng = None) -> Reports:
        """One report per value, for one round; ``rng`` left out is cryptographic. Any number of
        users may be encoded at once, one included.
        """
        source = source_of(rng)
        places = self._places(values, source)
        return Reports(self.describe(), self.randomizer.randomize(places, rng=source), source.secure)

    @property
    def question(self) -> Question | None:
        """What a design says of the question; None where it is not one that is written down."""
        return None

    @property
    def messages(self) -> int:
        """How many messages a person sends in a round."""
        return self.randomizer.messages

    @property
    def law(self) -> Law:
        """The randomizer as a design says it."""
        return Law.from_json(law_of(self.randomizer))

    def tally(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """All that ``analyse`` needs to know of some reports, as numbers that add up over
        reports.
        """
        return self.randomizer.tally(rows)

    @property
    def hiding(self) -> Mechanism:
        """How reports hide."""
        return mechanism_of(self.randomizer)

    @abstractmethod
    def workload(self) -> Workload:
        """Which sums of people are estimated."""

    def analyse_counts(self, counts: ArrayLike, *, secure: bool = True, notes: tuple[str, ...] = ()) -> Estimate:
        """Unbiased estimates from the ``tally`` of a whole bag; counts may be negative."""
        return self.hiding.estimate(self._opened(counts), self.workload(), secure=secure, notes=notes)

    @abstractmethod
    def _opened(self, counts: ArrayLike) -> Opened:
        """A ``tally`` as people and votes, or refused if no bag of this protocol could have it."""

    def sway(self, estimate: Estimate) -> Floats:
        """How far one malicious person could have moved each estimate, at most: whoever sends
        another report than the protocol draws. ``math.inf`` where there is no limit.
        """
        return self.hiding.influence(self.workload())

    def _weighed(self) -> Workload:
        """The rows whose errors are compared before anybody reports."""
        return self.workload()

    def predicted_stderrs(self, counts: ArrayLike) -> Floats:
        """The standard error of each estimated count if ``counts`` users hold each value: exact."""
        return self.hiding.predicted(self._weighed(), check_held(counts))

    def predicted_stderr(self) -> float:
        """The root mean square of the counts' standard errors, with all n users spread evenly: for
        the counts of all values the same for all data.
        """
        even = np.full(self.randomizer.k, self.n / self.randomizer.k)
        return float(np.sqrt(np.mean(self.predicted_stderrs(even) ** 2)))

    def worst_stderr(self) -> float:
        """The largest standard error of any single number, whatever the data."""
        return self.hiding.worst(self._weighed(), self.n)

    @property
    def bits(self) -> int:
        """What a person sends, in all messages."""
        return self.randomizer.bits

    def check_noise(self, counts: ArrayLike) -> None:
        """Refuse a ``tally`` that cannot hold the noise that others were to add, where the law lets
        that be seen.
        """
        assert self.honest is not None
        self.hiding.check(np.asarray(counts), self.honest)

    @property
    def _target(self) -> Target:
        """What is promised, and among how many honest reports one hides."""
        epsilon, delta, rounds = self._promised()
        return Target(self.n, epsilon, delta, self._crowd(self.honest), rounds)

    def _crowd(self, honest: int | None) -> int:
        """How many of the honest users' reports one report hides among."""
        assert honest is not None
        return honest

    def guarantee_for(self, arrived: int, *, colluding: int = 0) -> Guarantee:
        """What is certified, for all rounds, if only ``arrived`` reports come and ``colluding`` of
        those hide nobody.
        """
        crowd = self._crowd(self._honest(arrived, colluding))
        return self.hiding.guarantee(crowd, rounds=self.rounds, colluding=colluding, view=self._released)

    @property
    def _released(self) -> View:
        """What the shuffler hands on."""
        return "reports"

    def _check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        return self.randomizer.check_reports(reports)


@dataclass(frozen=True, kw_only=True, eq=False)
class ShuffledProtocol(Protocol):
    """A protocol with reports of one message, each of which votes.

    It is described by a promise, by ``epsilon0``, or by the ``randomizer`` itself, which may be
    anybody's.
    """

    randomizer: VotingRandomizer = FOUND

    @abstractmethod
    def _family(self) -> tuple[Family, dict[str, int]]:
        """The randomizers to choose from, and their parameters other than epsilon0."""

    def _check_given(self) -> None:
        if "randomizer" in self._found:
            return super()._check_given()
        if self.epsilon is not None or "epsilon0" not in self._found:
            raise InvalidInput(
                f"neither epsilon nor epsilon0 must be given with a randomizer, got {self.randomizer!r} beside one. "
                f"Its noise is settled; leave them out."
            )
        return None

    def _drawn_by(self) -> VotingRandomizer:
        family, parameters = self._family()
        if self.epsilon is not None:
            return OneMessage.calibrated(self._target, family, view=self._released, **parameters).law
        return family(**parameters, epsilon0=check_epsilon0(self.epsilon0)).realised  # type: ignore[return-value]

    def _check_randomizer(self, given: object) -> VotingRandomizer:
        if isinstance(given, Randomizer) and not isinstance(given, VotingRandomizer):
            given = VotingCheckIn.of(given) or Unmixed.of(given) or given
        if not isinstance(given, VotingRandomizer):
            raise InvalidInput(
                f"randomizer must be one whose reports vote, such as OUE(k=16, epsilon0=4.0), or one with a matrix, "
                f"got {given!r}. To choose its noise for a promise, call calibrate(...)."
            )
        if (size := self._size) is not None and given.k != size:
            raise InvalidInput(
                f"the randomizer must have k = {size}, as many as there are categories, got k = {given.k}. Build it "
                f"for these categories."
            )
        return given.realised  # type: ignore[return-value]

    def _opened(self, counts: ArrayLike) -> Opened:
        law = self.randomizer
        if law.single or isinstance(law, OneLevel):
            return law.opened(check_tally(counts, law.tally_size, self.n))
        seen, head = np.asarray(counts), 1 + law.blocks
        if seen.shape != (law.tally_size,) or seen.dtype.kind not in "iu" or not 1 <= seen[0] <= self.n:
            raise InvalidInput(
                f"counts must be what tally(...) adds up to for at most n = {self.n} reports, got shape {seen.shape}. "
                f"Add up the tallies of a bag."
            )
        blocks = seen[1:head]
        if len(blocks) and (blocks.min() < 0 or blocks.max() > self.n or blocks.sum() != seen[0]):
            raise InvalidInput(
                f"counts must say of every report in which block it is, got {seen[0]} reports and others in the "
                f"blocks. Add up the tallies of a bag."
            )
        return law.opened(seen)

    def analyse(self, bag: Bag) -> Estimate:
        return self.analyse_counts(self.tally(self._open(bag)), secure=bag.secure, notes=notes_of(bag, self.n))


def check_held(counts: ArrayLike) -> Floats:
    """Return ``counts`` as finite numbers of users."""
    try:
        held = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        held = np.array([np.nan])
    if not np.all(np.isfinite(held)):
        raise InvalidInput(f"counts must be finite numbers, got {shown(counts)}. Give how many users hold each value.")
    return held
