"""What the accountant needs to know of a randomizer (the law of one report, reduced to a few
classes of outputs), and what tables, engines and networks ask of it: how values become reports,
what a report is, and how reports are counted.

A person's report is one message or several, always the same number, so that how many a person sends
tells nothing. The shuffler mixes *messages*: those of one person do not stay together.

``Strength`` is the parameter that says how much one report hides, and where calibration looks for
it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import isabstract
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.parameters import LARGEST_EPSILON0, check_fields
from shuffledp.sampling import Rng

__all__ = [
    "BY_EPSILON0",
    "Atoms",
    "End",
    "Floats",
    "Form",
    "GroupLaw",
    "Ints",
    "Listed",
    "Randomizer",
    "Reporting",
    "Strength",
]

Ints = NDArray[np.int64]
MOST_TRIED = 4096  # reports, to see how far each moves an estimate


class Form(NamedTuple):
    """A report: a number, below ``outputs`` if those can be listed, or a row of ``width``."""

    dtype: np.dtype[Any]
    width: int | None = None
    outputs: int | None = None


class Listed(NamedTuple):
    """A law whose inputs and reports can be listed, as an audit reads it: ``row(i)`` are the
    chances of the reports ``first``, ``first`` + 1, ... of ``inputs[i]``, of type ``dtype``.

    ``words[i]`` are the weights of the same reports, where one random word chooses among them.
    ``rounded``: a value between two inputs is rounded to either at random.
    """

    inputs: NDArray[Any]
    row: Callable[[int], Floats]
    dtype: np.dtype[Any]
    first: int = 0
    words: Mapping[int, Sequence[int]] = MappingProxyType({})
    rounded: bool = False


class GroupLaw(NamedTuple):
    """What the votes for a group of values say of how many people hold one of them.

    A person who holds one votes for the group ``hit`` times on average, any other ``miss`` times,
    and fakes, which are nobody's, add ``fakes`` votes with a variance of ``spread``. So

        (votes - people miss - fakes) / contrast,    contrast = hit - miss,

    is unbiased, and its variance is that of as many independent coins.
    """

    hit: float
    miss: float
    contrast: float
    fakes: float = 0.0
    spread: float = 0.0

    def estimate(self, votes: Any, people: int) -> Any:
        """How many of ``people`` hold a value of the group."""
        return (votes - people * self.miss - self.fakes) / self.contrast

    def times(self, rounds: int) -> GroupLaw:
        """Of the votes of so many rounds."""
        return self._replace(fakes=self.fakes * rounds, spread=self.spread * rounds)

    def variance(self, held: Any, people: int) -> Any:
        """Of ``estimate``, if ``held`` of them do: exact."""
        own, other = self.hit * (1.0 - self.hit), self.miss * (1.0 - self.miss)
        return (held * own + (people - held) * other + self.spread) / self.contrast**2


class Reporting(ABC):
    """A law that runs: values 0, ..., k - 1 become reports, which add up to a tally."""

    __slots__ = ()

    k: int

    @property
    @abstractmethod
    def epsilon0(self) -> float:
        """What one person's report gives away by itself; ``math.inf`` where it is the truth."""

    @property
    @abstractmethod
    def integers(self) -> tuple[int, ...]:
        """The whole numbers that decide every draw, out of 2^64."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Name and natural parameters, for people and for JSON."""

    @property
    @abstractmethod
    def form(self) -> Form:
        """What one person's report is: anything more could carry the value."""

    @property
    def messages(self) -> int:
        """How many messages a person's report consists of."""
        return 1

    @property
    def inseparable(self) -> bool:
        """Whether a person's messages say something only together: without one, nothing."""
        return False

    @property
    def single(self) -> bool:
        """Whether every report votes for exactly one value, so that the votes count the reports."""
        return False

    @property
    def message(self) -> Form:
        """What one message is: the unit that the shuffler mixes."""
        return self.form

    @property
    def report_bytes(self) -> int:
        """How much memory one person's report takes."""
        dtype, width, _ = self.form
        return dtype.itemsize * (1 if width is None else width)

    @property
    def bits(self) -> int:
        """How many bits a person sends."""
        return 8 * self.report_bytes

    @abstractmethod
    def check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        """The reports as an array, if ``randomize`` could have sent them; refused otherwise."""

    @abstractmethod
    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        """One report per value, each from fresh randomness; ``rng`` left out is cryptographic."""

    @abstractmethod
    def tally(self, reports: ArrayLike) -> Ints:
        """All that an estimate needs to know of reports or messages, as numbers that add up."""

    @property
    @abstractmethod
    def tally_size(self) -> int:
        """How many numbers a ``tally`` is."""

    @abstractmethod
    def adds_up(self, tally: Ints, reports: int) -> bool:
        """Whether a ``tally`` could be that of so many people's reports, as far as sums tell."""

    @abstractmethod
    def opened(self, tally: Ints) -> tuple[int, Ints, Ints]:
        """Of how many people a tally of whole reports is, how many of these fall into each block of
        a Hadamard matrix, and how many votes each value has.
        """

    def of_people(self, tally: Ints, people: int) -> Ints:
        """The ``tally`` of what the shuffler handed on, as that of the ``people`` whose reports
        they were; where it hands on whole reports, it is that already.
        """
        return tally

    @property
    def by_message(self) -> bool:
        """Whether the shuffler mixes messages one by one, and not whole reports."""
        return False

    def mixed(self, tally: Ints, *, rng: Rng = None) -> Ints:
        """What the shuffler hands on of a ``tally``: as it is, unless the law gives the shuffler
        something to do. It must be done once, before anybody else sees the tally.
        """
        return tally

    @property
    def mixes(self) -> bool:
        """Whether the law gives the shuffler something to do that must be done once."""
        return False

    def most_messages(self, people: int) -> int:
        """How many messages the shuffler hands on of so many people's, at most."""
        return people * self.messages

    def mixed_part(self, tally: Ints, *, first: bool, rng: Rng = None) -> Ints:
        """The same for one of several parts of all reports: each is mixed once, one of them as the
        ``first``, and then they add up to what ``mixed`` makes of the whole.
        """
        return tally

    def extreme_reports(self, people: int) -> NDArray[Any]:
        """Reports that move some estimate as far as any report does, if so many people send the
        same: all that there are, unless a family knows better.
        """
        dtype, _, outputs = self.form
        if outputs is None or outputs > MOST_TRIED:
            raise InvalidInput(
                f"reports must be at most {MOST_TRIED:,} to be tried, got {outputs}. Lower k: weights are alike."
            )
        return np.arange(outputs, dtype=dtype)

    @property
    def influence(self) -> float:
        """How far one malicious person can move an unbiased count, or a sum of numbers in [0, 1]:
        the largest weight less the smallest that anything which passes for a report can have;
        ``math.inf`` where there is no limit, or none is known.
        """
        return math.inf

    def group_law(self, size: int, people: int) -> GroupLaw:
        """What votes say of any ``size`` of k values; refused if it matters which."""
        raise InvalidInput(f"the law must tell of groups of values, got {self.describe()['randomizer']}. Use KRR.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """A parameter of randomizers: from ``safe`` to ``risky`` a report hides less and less.

    ``loss`` is, up to a constant, about the logarithm of the privacy loss of shuffled reports, and
    ``value`` is its inverse. Both only guide the search: what it finds is checked.
    """

    name: str
    safe: float
    risky: float
    loss: Callable[[float], float]
    value: Callable[[float], float]


# a report loses about epsilon0 / sqrt(n) where that is small, and exp(epsilon0 / 2) / sqrt(n) where
# it is large
BY_EPSILON0 = Strength(
    name="epsilon0",
    safe=1e-6,
    risky=LARGEST_EPSILON0,
    loss=lambda epsilon0: math.log(2.0 * math.sinh(epsilon0 / 2.0)),
    value=lambda loss: 2.0 * math.asinh(math.exp(min(loss, 99.0)) / 2.0),
)


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """One needle-in-a-haystack situation (theory, section 2), output class by output class.

    ``needle0[i]`` and ``needle1[i]`` are the probabilities that the target's report falls into
    class i under its two inputs; both sum to 1. ``hay[i]`` is the mass that every other user
    contributes to class i; it sums to gamma, and with the remaining probability 1 - gamma that user
    is absent from the view.

    A class with no hay exposes the target: what falls there is seen.

    The masses are right to a few units in the last place; where many were multiplied, to a relative
    ``rounding`` more, and the needles' to ``doubt`` beyond that. Both are added to the ends.
    """

    name: str
    hay: Floats
    needle0: Floats
    needle1: Floats
    rounding: float = field(default=0.0, kw_only=True)
    doubt: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("hay", "needle0", "needle1"):
            column = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            column.setflags(write=False)
            object.__setattr__(self, name, column)
        if not (self.hay.ndim == 1 and self.hay.shape == self.needle0.shape == self.needle1.shape):
            raise AssertionError("hay, needle0 and needle1 must be vectors of one length")

    def swapped(self) -> Atoms:
        """The same situation with the target's two inputs exchanged."""
        return Atoms(self.name, self.hay, self.needle1, self.needle0, rounding=self.rounding, doubt=self.doubt)


def rounded(values: Floats, bits: int) -> Floats:
    """Keep some bits, so that rounding is no difference; powers of two are nudged."""
    mantissa, exponent = np.frexp(values * (1.0 + 2.0 ** -(bits + 2)))
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits))


def proportional(rows: Floats, bits: int, size: Callable[..., Floats] = np.sum) -> Floats:
    """Columns that are proportional to so many bits, added up; empty ones are left out."""
    rows = rows[:, rows.any(axis=0)]
    _, label = np.unique(rounded(rows / size(rows, axis=0), bits), axis=1, return_inverse=True)
    added = np.zeros((len(rows), int(label.max()) + 1))
    np.add.at(added.T, label.ravel(), rows.T)
    return added


class Randomizer(ABC):
    """One report's law, described, and drawn from; what can be built is a final, frozen dataclass.

    The law that runs is made of integers over a power of two and differs from the one described by
    about 2^-64. ``realised`` describes the law that runs: give that one to the accountant.

    The first part must be implemented. The rest has defaults that are safe for any law, and a
    family says more where more is known of it.
    """

    __slots__ = ()

    strength: ClassVar[Strength] = BY_EPSILON0

    def __init_subclass__(cls) -> None:
        """Refuse to change what is finished: theorems and counts are of the law as it is."""
        super().__init_subclass__()
        for base in cls.__bases__:
            ours = base.__module__.partition(".")[0] == __name__.partition(".")[0]
            if ours and issubclass(base, Randomizer) and not isabstract(base):
                raise InvalidInput(
                    f"{base.__name__} must stay as it is, got a subclass {cls.__name__}. Implement Randomizer instead."
                )

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    @abstractmethod
    def epsilon0(self) -> float:
        """The local privacy parameter of one report; ``math.inf`` without a pure guarantee."""

    @property
    @abstractmethod
    def gamma(self) -> float:
        """The mass of the blanket, the measure below the law of every input."""

    @property
    @abstractmethod
    def worst_pair(self) -> tuple[object, object]:
        """The two inputs of the target that the analyst can tell apart most easily."""

    @abstractmethod
    def blankets(self, end: End) -> tuple[Atoms, ...]:
        """One ``Atoms`` per inequivalent ordered input pair, with the blanket as hay (Balle et al.
        2019, Lemma 8).

        ``end="upper"``: every haystack value of the returned atoms is at least the randomizer's
        (outputs are spread, preserving means). ``end="lower"``: at most (outputs are merged).
        Finite randomizers return the same for both.
        """

    @abstractmethod
    def datasets(self) -> tuple[Atoms, ...]:
        """Explicit datasets: hay is the law of one input that all others hold, and gamma = 1.

        Each is exact or merged (a post-processing), so each gives a lower bound on the leakage.
        """

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Name and natural parameters, for people and for JSON."""

    # What runs

    @property
    def realised(self) -> Randomizer:
        """The law that ``randomize`` draws from, its epsilon0 computed from the integers in use and
        rounded up; ``realised`` of it is itself.
        """
        return self

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        """One report per value, each from fresh randomness; ``rng`` left out is cryptographic. A
        generator's reports are not for release.
        """
        raise InvalidInput(
            f"the randomizer must have a sampler, got {type(self).__name__}. Write randomize(...), or use FromMatrix."
        )

    @property
    def explicit(self) -> Self:
        """The same with every parameter written out that epsilon0 would choose."""
        return self

    @property
    def integers(self) -> tuple[int, ...]:
        """The whole numbers that decide every draw, usually out of 2^64: they are written down with
        a law, so that two machines agree exactly.
        """
        return ()

    # What more the accountant may use

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the laws take for granted; empty when everything is proven."""
        return ()

    @property
    def delta0(self) -> float:
        """The delta of one report at epsilon0; 0 if epsilon0 bounds every log-ratio."""
        return 0.0

    @property
    def replaced(self) -> tuple[float, float]:
        """The epsilon and delta at which the reports of any two inputs are close: epsilon0 and
        delta0, unless those are about something else.
        """
        return self.epsilon0, self.delta0

    @property
    def known(self) -> bool:
        """Whether there is one law, and not only a bound on it."""
        return True

    @property
    def binary(self) -> bool:
        """Whether this is Warner's randomized response, all of whose datasets can be scanned."""
        return False

    @property
    def table(self) -> Floats | None:
        """A small law as a table: ``table[x, y]`` is the probability of report y for x."""
        return None

    @property
    def listed(self) -> Listed | None:
        """The law for audits, where its inputs and reports can be listed."""
        if (table := self.table) is None:
            return None
        return Listed(np.arange(len(table)), table.__getitem__, np.min_scalar_type(table.shape[1] - 1))

    def local_delta(self, *, epsilon: float) -> float:
        """The delta of one report at ``epsilon``, or more."""
        largest, delta = self.replaced
        return delta if epsilon >= largest else 1.0

    def local_rdp(self, *, order: float) -> float:
        """The Renyi divergence of one report, or more."""
        return float("inf")

    @property
    def sizes(self) -> tuple[int, ...]:
        """The whole numbers that epsilon0 chooses; at their changes a larger one may leak less."""
        return tuple(value for value in self.describe().values() if isinstance(value, int))

    @property
    def gentler(self) -> Hashable:
        """What another must share with this one to be gentler whenever its epsilon0 is smaller: its
        reports can then be computed from the reports of this one. By default, everything.
        """
        return self


def check_randomizer(given: object) -> Randomizer:
    """Return ``given`` as a randomizer that stays as it is described."""
    if not isinstance(given, Randomizer):
        raise InvalidInput(
            f"randomizer must be a randomizer such as KRR(k=16, epsilon0=4.0), got {given!r}. Name one of shuffledp."
        )
    declared = getattr(type(given), "__dataclass_params__", None)
    if type(given).__hash__ is None or (declared is not None and not declared.frozen):
        raise InvalidInput(
            f"a randomizer must not change once it is described, got {type(given).__name__}, which may. Write "
            f"@dataclass(frozen=True) above its class."
        )
    return given
