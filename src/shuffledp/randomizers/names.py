"""The names that randomizers are asked for by, and what each of them takes.

Plain data, without NumPy: the help of a command lists it before anything computes. Where a
randomizer is built from, is written as ``pkgutil.resolve_name`` reads it, below
``shuffledp.randomizers``. A class from elsewhere adds its names when it registers its family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple


class Parameter(NamedTuple):
    """One thing that a randomizer is made of: how it is typed, an example, and what it means."""

    name: str
    kind: Literal["count", "number", "file"]
    example: str
    meaning: str

    @property
    def flag(self) -> str:
        """The option of the command line."""
        return f"--{self.name.replace('_', '-')}"


class Way(NamedTuple):
    """Parameters that make a randomizer together; the last of them says how much one report hides.

    ``make`` builds it, or says where that is; what is ``fixed`` is passed as well. ``value`` is the
    attribute that holds the last parameter in a randomizer that was built in another way: it is
    given in place of epsilon0.
    """

    parameters: tuple[Parameter, ...]
    make: Callable[..., Any] | str
    value: str | None = None
    fixed: Mapping[str, object] = MappingProxyType({})

    @property
    def build(self) -> Callable[..., Any]:
        """What builds the randomizer."""
        from pkgutil import resolve_name

        make = resolve_name(f"shuffledp.randomizers.{self.make}") if isinstance(self.make, str) else self.make
        built: Callable[..., Any] = partial(make, **self.fixed) if self.fixed else make
        return built


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A name that randomizers are asked for by: what it means in words, and the ways to build one.

    ``solvable``: whether the last parameter of the first way can be left open, for ``calibrate``.
    """

    name: str
    title: str
    ways: tuple[Way, ...]
    optional: tuple[Parameter, ...] = ()
    solvable: bool = True

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Every parameter of some way, by its name."""
        return {each.name: each for each in (*(each for way in self.ways for each in way.parameters), *self.optional)}

    @property
    def strengths(self) -> tuple[str, ...]:
        """The parameters that say how much one report hides; one of them is enough."""
        return tuple(way.parameters[-1].name for way in self.ways)

    @property
    def equivalents(self) -> dict[str, str]:
        """What may be given in place of epsilon0, and the attribute of a randomizer for it."""
        return {way.parameters[-1].name: way.value for way in self.ways if way.value is not None}

    def usage(self) -> str:
        """The options of the command line, in a few words.

        >>> NAMES["krr"].usage(), NAMES["any"].usage()
        ('--k --epsilon0 or --k --gamma', '--epsilon0 [--delta0]')
        """
        ways = " or ".join(" ".join(each.flag for each in way.parameters) for way in self.ways)
        return ways + "".join(f" [{each.flag}]" for each in self.optional)


K = Parameter("k", "count", "16", "how many different values a person can hold")
EPSILON0 = Parameter("epsilon0", "number", "4", "the privacy parameter of one report on its own, usually 0.5 to 8")
GAMMA = Parameter("gamma", "number", "0.25", "the probability of a uniformly random answer")
DELTA0 = Parameter("delta0", "number", "1e-12", "the local delta, if a report is only (epsilon0, delta0)-private")
SIGMA = Parameter("sigma", "number", "1", "the standard deviation of the Gaussian noise, for values in [0, 1]")
SCALE = Parameter("scale", "number", "0.5", "the scale of the Laplace noise, for values in [0, 1]")
G = Parameter("g", "count", "8", "how many hash values there are")
MATRIX = Parameter(
    "matrix", "file", "noise.csv", "a CSV file: a line per value, and in it the probability of every report"
)
SIZE = Parameter("size", "count", "3", "how many values a report of subset selection names; if left out, the best")
FLIP = Parameter("flip", "number", "0.1", "the probability that RAPPOR flips a bit")
P = Parameter("p", "number", "0.5", "the probability that a person's own bit is sent as 1")
Q = Parameter("q", "number", "0.1", "the probability that any other bit is sent as 1")
PROBABILITY = Parameter("probability", "number", "0.1", "the probability with which a person takes part")


def over_domain(
    name: str, title: str, make: Callable[..., Any] | str, *more: Way, optional: tuple[Parameter, ...] = ()
) -> Named:
    """A name whose randomizers take k and epsilon0, possibly among other ways."""
    return Named(name=name, title=title, ways=(Way((K, EPSILON0), make), *more), optional=optional)


def _any(name: str, title: str, make: str, fixed: Mapping[str, object] = MappingProxyType({})) -> Named:
    """A name of whatever is private to that degree."""
    return Named(name=name, title=title, ways=(Way((EPSILON0,), make, fixed=fixed),), optional=(DELTA0,))


OURS = (
    over_domain("krr", "k-ary randomized response", "krr:KRR", Way((K, GAMMA), "krr:KRR.from_gamma", "gamma")),
    Named(
        name="rr",
        title="binary randomized response",
        ways=(Way((EPSILON0,), "krr:RR"), Way((GAMMA,), "krr:KRR.from_gamma", "gamma", {"k": 2})),
    ),
    _any("any", "any randomizer with that epsilon0, also adaptive in a secret random order", "any_ldp:AnyLDP"),
    _any("static", "any randomizer with that epsilon0, fixed in advance", "any_ldp:AnyLDP", {"adaptive": False}),
    _any(
        "deletion", "any deletion epsilon0-DP randomizer: close to one reference distribution", "any_ldp:AnyDeletionLDP"
    ),
    Named(name="gaussian", title="Gaussian noise on [0, 1]", ways=(Way((SIGMA,), "gaussian:Gaussian"),)),
    over_domain("hadamard", "Hadamard response", "hadamard:Hadamard"),
    Named(
        name="laplace",
        title="Laplace noise on [0, 1]",
        ways=(Way((EPSILON0,), "laplace:Laplace"), Way((SCALE,), "laplace:Laplace.from_scale", "scale")),
    ),
    over_domain("olh", "optimal local hashing", "local_hash:OLH"),
    over_domain("blh", "binary local hashing", "local_hash:BLH"),
    Named(name="local-hash", title="local hashing", ways=(Way((K, G, EPSILON0), "local_hash:LocalHash"),)),
    Named(
        name="matrix",
        title="your own table of probabilities",
        ways=(Way((MATRIX,), "matrix:FromMatrix.from_csv"),),
        solvable=False,
    ),
    over_domain("subset", "subset selection", "subset:SubsetSelection", optional=(SIZE,)),
    over_domain("oue", "optimized unary encoding", "unary:OUE"),
    over_domain("rappor", "basic RAPPOR", "unary:RAPPOR", Way((K, FLIP), "unary:RAPPOR.from_flip", "q")),
    Named(name="unary", title="unary encoding", ways=(Way((K, P, Q), "unary:Unary"),), solvable=False),
    Named(
        name="check-in",
        title="k-ary randomized response of some people",
        ways=(Way((K, PROBABILITY, EPSILON0), "wrappers.check_in:of_krr"),),
    ),
)
NAMES: dict[str, Named] = {each.name: each for each in OURS}
