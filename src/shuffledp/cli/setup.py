"""Who sends what, how often, and who looks: the options of commands about shuffled reports, and
randomizers by the names that are typed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from shuffledp.cli.app import MORE, Function, Given, command
from shuffledp.cli.options import EVERYONE, JSON, ONE_REPORT, declared, option, read_count, read_number
from shuffledp.cli.tree import near
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.names import NAMES, Named, Parameter, Way
from shuffledp.release.options import Promised, Rounds

if TYPE_CHECKING:  # a command that shares these options need not compute with them
    from shuffledp._types import Adversary, View
    from shuffledp.accounting.guarantee import Guarantee
    from shuffledp.design import Design
    from shuffledp.randomizers import Randomizer

READERS: Mapping[str, object] = {"count": read_count, "number": read_number, "file": Path}
USERS = "how many users' reports are shuffled together"


def parameters() -> dict[str, Parameter]:
    """Every parameter of some randomizer.

    >>> list(parameters())[:3]
    ['k', 'epsilon0', 'gamma']
    """
    return {name: each for kind in NAMES.values() for name, each in kind.parameters.items()}


def find(name: str) -> Named:
    """The randomizer of that name, in its usual spelling.

    >>> find("Local_Hash").name
    'local-hash'
    """
    wanted = name.strip().lower().replace("_", "-")
    if wanted not in NAMES:
        raise InvalidInput(
            f"--randomizer must be a known name, got {name!r}. {near(wanted, NAMES)}Known: "
            f"{', '.join(NAMES)}. Others come with --design FILE, from `shuffledp stage design`."
        )
    return NAMES[wanted]


def _designed(path: object) -> Design:
    from shuffledp.client import read_design

    return read_design(cast(Path, path))


def _law(design: Path) -> Randomizer:
    from shuffledp.randomizers.law_file import from_law

    return from_law(_designed(design).mechanism.as_json())


DESIGN = Parameter("design", "file", "design.json", "what `shuffledp stage design` wrote")
DESIGNED = Named(name="a design", title="the law of a design", ways=(Way((DESIGN,), _law),), solvable=False)


@dataclass(frozen=True, slots=True)
class Setup:
    """What the shared options describe."""

    kind: Named
    given: Mapping[str, object]
    n: int | None
    honest: int | Fraction | None
    rounds: int | None
    adversary: Adversary
    view: View
    as_json: bool

    @classmethod
    def of(
        cls,
        *,
        randomizer: str | None,
        n: int | None,
        honest: int | Fraction | None = None,
        rounds: int | None = None,
        adversary: str = "shuffled",
        view: str = "reports",
        as_json: bool,
        **options: object,
    ) -> Self:
        """Sort the options, and refuse those that the randomizer does not take."""
        given = {key: value for key, value in options.items() if value is not None}
        if (randomizer is None) == ("design" not in given):
            found = "neither" if randomizer is None else "both"
            raise InvalidInput(
                f"exactly one of --randomizer and --design must be given, got {found}. Give, for example, --randomizer "
                f"krr --k 16 --epsilon0 4, or --design FILE, from `shuffledp stage design`."
            )
        kind = DESIGNED if randomizer is None else find(randomizer)
        for key, value in given.items():
            if key not in kind.parameters:
                raise InvalidInput(
                    f"{kind.name} takes no {parameters()[key].flag}, got {value}. Leave it out; {kind.name} takes "
                    f"{kind.usage()}."
                )
        strengths = [kind.parameters[key].flag for key in kind.strengths if key in given]
        if len(strengths) > 1:
            raise InvalidInput(f"{kind.name} takes either {' or '.join(strengths)}, got both. Leave one out.")
        return cls(kind, given, n, honest, rounds, cast("Adversary", adversary), cast("View", view), as_json)

    @property
    def has_strength(self) -> bool:
        """Whether it is said how much one report hides."""
        return any(key in self.given for key in self.kind.strengths)

    def builder(self, *, unknown: str | None = None) -> Callable[..., Randomizer]:
        """What builds the randomizer from the given parameters, and from ``unknown`` if there is
        one.
        """
        way = next((way for way in self.kind.ways if way.parameters[-1].name in self.given), self.kind.ways[0])
        missing = [each for each in way.parameters if each.name not in self.given and each.name != unknown]
        if missing:
            needed = ", and ".join(f"{each.flag}, {each.meaning}" for each in missing)
            raise InvalidInput(
                f"{self.kind.name} needs {needed}. Add, for example, "
                f"{' '.join(f'{each.flag} {each.example}' for each in missing)}."
            )
        return way.build

    def randomizer(self) -> Randomizer:
        """The randomizer, all of whose parameters must be given."""
        return self.builder()(**self.given)

    def guarantee(self, *, between: tuple[float, float] | None = None) -> Guarantee:
        """The guarantee to be asked, possibly for one pair of the target's inputs."""
        from shuffledp.accounting.shuffled import shuffle

        randomizer = self.randomizer()
        n, honest, rounds = self.people()
        if n is None:
            raise InvalidInput(f"--n is missing: {USERS}. Add, for example, --n 10000.")
        once = shuffle(randomizer, n=n, adversary=self.adversary, honest=_count(honest, n), view=self.view)
        asked = once if between is None else once.between(*(int(x) if x.is_integer() else x for x in between))
        return asked if rounds is None else asked.compose(rounds)

    def people(self) -> tuple[int | None, int | Fraction | None, int | None]:
        """How many users there are, how many of them are honest, and how many rounds, as they were
        given; without --n, a design says what was left out.
        """
        if self.n is not None or self.kind is not DESIGNED:
            return self.n, self.honest, self.rounds
        design = _designed(self.given["design"])
        honest = Fraction(design.honest, design.n) if self.honest is None else self.honest
        return design.n, honest, design.rounds if self.rounds is None else self.rounds

    def noise_grows(self) -> bool:
        """Whether more people hide each other better; not where the shuffler adds the noise, or all
        of them a fixed amount together.
        """
        if self.kind is not DESIGNED:
            return True
        from shuffledp.client import Reporter

        design = _designed(self.given["design"])
        return not Reporter.of(design).randomizer.mixes and not design.mechanism.shared

    def honest_of(self, n: int) -> int | None:
        """How many of n users follow the protocol; None means all."""
        return _count(self.honest, n)

    def facts(self, guarantee: Guarantee) -> dict[str, object]:
        """The inputs, under the names of their options."""
        from shuffledp.accounting.shuffled import shuffled_parts

        part, rounds = shuffled_parts(guarantee)[0]
        given = {key: str(value) if isinstance(value, Path) else value for key, value in self.given.items()}
        law = part.randomizer.describe()
        law = (
            {"epsilon0": part.randomizer.epsilon0} | law
            if self.kind is DESIGNED
            else law | {"randomizer": self.kind.name}
        )
        users = {"n": part.n, "honest": part.honest, "rounds": rounds, "adversary": part.adversary}
        return law | given | users | ({} if part.view == "reports" else {"view": part.view})


def _count(honest: int | Fraction | None, n: int) -> int | None:
    return max(1, math.floor(n * honest)) if isinstance(honest, Fraction) else honest


def _typed(each: Parameter) -> Given:
    takers = [kind for kind in NAMES.values() if each.name in kind.parameters]
    instead = ", in place of --epsilon0" if each.name in takers[0].equivalents else ""
    whose = f" ({', '.join(kind.name for kind in takers)})" if len(takers) <= 2 else ""
    meaning = f"{each.meaning[0].upper()}{each.meaning[1:]}{instead}{whose}."
    return option(each.name, ONE_REPORT, meaning, READERS[each.kind], called=each.flag.removeprefix("--"))


SETUP = [
    option("randomizer", ONE_REPORT, f"One of {', '.join(NAMES)}."),
    *map(_typed, parameters().values()),
    option("design", ONE_REPORT, "File of `shuffledp stage design`, instead of a randomizer.", Path),
    option("n", EVERYONE, f"{USERS[0].upper()}{USERS[1:]}.", read_count),
    *declared(Promised, Rounds, only=("honest", "rounds")),
    option("adversary", EVERYONE, "shuffled, or weak or strong, who see more.", default="shuffled"),
    option("view", EVERYONE, "What is released: reports, or sums of their bits.", default="reports"),
    JSON,
]
# Those who look for a randomizer by name find the plainest first. A test sees that none is missing.
RANDOMIZERS = (
    "krr rr any static deletion laplace gaussian hadamard oue rappor olh blh local-hash subset unary matrix check-in"
)
MORE["epsilon"] = [
    " Randomizers, and what they take:",
    *(f" {name:<11}{NAMES[name].usage():<29}  {NAMES[name].title}" for name in RANDOMIZERS.split()),
    " Any other law, such as true values among fakes: --design FILE, from `shuffledp stage design`.",
]


def accountant(name: str, *lines: str, options: Iterable[Given]) -> Callable[[Function], Function]:
    """Register a command about shuffled reports; it gets what the shared options describe first."""

    def register(function: Function) -> Function:
        def run(**given: Any) -> None:
            setup = Setup.of(**{each: given.pop(each) for each, _ in SETUP})
            function(setup, **given)

        run.__doc__ = function.__doc__
        *shared, as_json = SETUP
        command(name, *lines, options=[*shared, *options, as_json])(run)
        return function

    return register
