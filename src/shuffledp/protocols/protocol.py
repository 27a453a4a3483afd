"""A protocol: people's values go in, randomized reports are shuffled, an analyst gets estimates,
and the accountant says what that gives away.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import Floats, View
from shuffledp.accounting.guarantee import Guarantee
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
from shuffledp.protocols.design import Law
from shuffledp.protocols.lazily import settled
from shuffledp.protocols.tasks import Task
from shuffledp.randomizers.law_file import law_of
from shuffledp.randomizers.matrix import Unmixed
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.randomizers.parameters import check_epsilon0
from shuffledp.randomizers.randomizer import Opened, Randomizer
from shuffledp.randomizers.support import VotingRandomizer, bits_for
from shuffledp.randomizers.wrappers import OneLevel, VotingCheckIn
from shuffledp.sampling import Rng
from shuffledp.wording import brief
from shuffledp.workload import Workload

__all__ = ["Family", "Protocol", "ReportingProtocol", "ShuffledProtocol", "bits_for", "check_held"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Protocol(ABC):
    """``n`` users, asked ``rounds`` times. ``encode`` runs on users' devices, ``shuffle`` between
    them and the analyst, ``analyse`` at the analyst.

    With ``epsilon`` and ``delta`` the protocol promises that much for all rounds together, as long
    as at least ``least`` of the n users (by default all; ``--honest`` on the command line) send
    honest reports; it chooses its own noise. With ``epsilon0`` the noise is given, and
    ``guarantee`` says what that is worth.
    """

    n: int
    epsilon: float | None = None
    delta: float | None = None
    epsilon0: float | None = None
    rounds: int = 1
    honest: int | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__repr__ = Protocol.__repr__  # type: ignore[method-assign]  # else every dataclass makes its own

    def __repr__(self) -> str:
        """What was asked for. What that amounts to, such as the noise, may not be computed yet."""
        return f"{type(self).__name__}({', '.join(f'{name}={brief(value)}' for name, value in self._given())})"

    def _given(self) -> Iterator[tuple[str, object]]:
        """The arguments that say something."""
        own = [each for each in fields(self) if each.init]
        own.sort(key=lambda each: each.default is not MISSING)
        for each in own:
            value = vars(self).get(each.name)
            idle = {"honest": self.n}.get(each.name, each.default)
            if value is not None and value != idle and each.name not in self._found:
                yield each.name, value

    @property
    def _found(self) -> tuple[str, ...]:
        """The fields that were not given, but worked out of the others."""
        return () if self.epsilon is None else ("epsilon0",)

    def __post_init__(self) -> None:
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
        if (self.epsilon is None) == (vars(self)["epsilon0"] is None):
            given = "neither" if self.epsilon is None else "both"
            raise InvalidInput(
                f"exactly one of epsilon and epsilon0 must be given, got {given}. epsilon is a promise, epsilon0 is "
                f"one report's."
            )

    @abstractmethod
    def _prepare(self) -> None:
        """Check the rest."""

    def settle(self) -> Self:
        """Choose the noise, if that was not done yet. What depends on it has this done, once."""
        return self

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """What makes two protocols' reports comparable, for bags and for JSON."""

    @abstractmethod
    def encode(self, values: Any, *, rng: Rng = None) -> Reports:
        """One report per value, for one round; ``rng`` left out is cryptographic. Any number of
        users may be encoded at once, one included.
        """

    @abstractmethod
    def analyse(self, bag: Bag) -> Estimate:
        """Estimates from the reports in ``bag``, about the users who sent them."""

    @property
    @abstractmethod
    def bits(self) -> int:
        """The size of one report."""

    @abstractmethod
    def predicted_stderr(self) -> float:
        """The standard error to expect of one round with all n users, in closed form."""

    @abstractmethod
    def guarantee_for(self, arrived: int, *, colluding: int = 0) -> Guarantee:
        """What is certified, for all rounds, if only ``arrived`` reports come and ``colluding`` of
        those hide nobody.
        """

    @abstractmethod
    def _check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        """Rows that ``encode`` could have made, or refused."""

    @cached_property
    def guarantee(self) -> Guarantee:
        """What is certified of the code that runs, for all rounds, with the fewest reports that are
        promised (``honest``).
        """
        self.settle()
        if (settled := vars(self).get("guarantee")) is not None:
            known: Guarantee = settled
            return known
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


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportingProtocol(Protocol):
    """A protocol whose reports are drawn by ``randomizer``: the law that runs, which is the law
    that is accounted.
    """

    epsilon0: float = settled()
    randomizer: VotingRandomizer | MessageLaw = settled()

    @property
    def _found(self) -> tuple[str, ...]:
        found: tuple[str, ...] = vars(self).get("_worked_out", ())
        return found

    @property
    def task(self) -> Task | None:
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
        return self._guarantee_of(self.randomizer, crowd, colluding)

    def _guarantee_of(self, randomizer: Randomizer, crowd: int, colluding: int = 0) -> Guarantee:
        mechanism = mechanism_of(randomizer)
        return mechanism.guarantee(crowd, rounds=self.rounds, colluding=colluding, view=self._released)

    @property
    def _released(self) -> View:
        """What the shuffler hands on."""
        return "reports"

    def _check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        return self.randomizer.check_reports(reports)


@dataclass(frozen=True, kw_only=True, eq=False)
class ShuffledProtocol(ReportingProtocol):
    """A protocol with reports of one message, each of which votes.

    It is described by a promise, by ``epsilon0``, or by the ``randomizer`` itself, which may be
    anybody's. A promise is calibrated when the noise is first asked for, or by ``settle``.
    """

    randomizer: VotingRandomizer = settled()

    @abstractmethod
    def _family(self) -> tuple[Family, dict[str, int]]:
        """The randomizers to choose from, and their parameters other than epsilon0."""

    def _check_given(self) -> None:
        if (given := vars(self)["randomizer"]) is None:
            self._set(_worked_out=("randomizer",) if self.epsilon is None else ("epsilon0", "randomizer"))
            return super()._check_given()
        if self.epsilon is not None or vars(self)["epsilon0"] is not None:
            raise InvalidInput(
                f"neither epsilon nor epsilon0 must be given with a randomizer, got {given!r} beside one. Its noise is "
                f"settled; leave them out."
            )
        return self._set(_worked_out=("epsilon0",))

    def _prepare(self) -> None:
        """Noise that is given needs no calibration, and is looked at here."""
        if (given := vars(self)["randomizer"]) is not None:
            randomizer = self._check_randomizer(given).realised
        elif self.epsilon is None:
            family, parameters = self._family()
            randomizer = family(**parameters, epsilon0=check_epsilon0(vars(self)["epsilon0"])).realised
        else:
            return
        self._set(randomizer=randomizer, epsilon0=randomizer.epsilon0)

    def settle(self) -> Self:
        """Choose the noise, if that was not done yet: the largest epsilon0 that is certified to
        keep the promise. Whatever depends on the noise has this done, once.
        """
        if vars(self)["randomizer"] is not None:
            return self
        family, parameters = self._family()
        randomizer = OneMessage.calibrated(self._target, family, view=self._released, **parameters).law
        guarantee = self._guarantee_of(randomizer, self._crowd(self.honest))
        self._check_promise(guarantee)
        # The randomizer last: whoever sees it, in another thread, takes everything to be settled.
        self._set(guarantee=guarantee, epsilon0=randomizer.epsilon0, randomizer=randomizer)
        return self

    def _check_randomizer(self, given: object) -> VotingRandomizer:
        """Refuse a randomizer that does not answer the question."""
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
        return given

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

    @property
    def _size(self) -> int | None:
        """How many values a randomizer must tell apart, if the question says so."""
        return None

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
