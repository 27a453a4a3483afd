"""The options of what is promised, whose budget that takes, and where the answer is written."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.cli.numbers import read_count, read_number
from shuffledp.cli.options import ANSWER, HONEST, QUESTION, ROUNDS
from shuffledp.cli.sharing import option
from shuffledp.errors import InvalidInput

if TYPE_CHECKING:  # pyarrow takes longer to load than most other commands take
    from shuffledp.release.budget import Budget

__all__ = ["BUDGET_OPTIONS", "NOISE", "OUTPUT_OPTIONS", "PROMISE_OPTIONS", "Keeping", "budget_of"]

BUDGET = "The budget"

PROMISE_OPTIONS = [
    option("epsilon", QUESTION, "The epsilon to promise, for all rounds together.", default=..., parser=read_number),
    option(
        "delta", QUESTION, "The delta to promise: a small probability, well below 1/n.", default=..., parser=read_number
    ),
    HONEST,
    ROUNDS,
]
NUMBER: dict[str, Any] = {"parser": read_number, "metavar": "NUMBER"}
# Of a histogram in place of --epsilon; of a sum or a mean with the last one.
NOISE = [
    option("epsilon", QUESTION, "The epsilon to promise, for all rounds; or give --gamma or --epsilon0.", **NUMBER),
    option("gamma", QUESTION, "In place of --epsilon: the probability that a report is uniformly random.", **NUMBER),
    option("epsilon0", QUESTION, "In place of --epsilon: the epsilon0 of one report.", **NUMBER),
    option(
        "k",
        QUESTION,
        "For a mean or a sum, with --gamma or --epsilon0: the steps of the grid that numbers are rounded to.",
        parser=read_count,
    ),
]
BUDGET_OPTIONS = [
    option(
        "ledger",
        BUDGET,
        "Record the release in this SQLite file, before anything is written.",
        annotation=Path,
        metavar="FILE",
    ),
    option("population", BUDGET, "Whose budget this is, such as app-users.", metavar="NAME"),
    option("limit_epsilon", BUDGET, "What all releases about them may add up to.", parser=read_number),
    option("limit_delta", BUDGET, "The delta of that limit.", parser=read_number),
]
OUTPUT_OPTIONS = [
    option("out", ANSWER, "The folder to write; it must not exist yet.", annotation=Path, metavar="FOLDER"),
    option("force", ANSWER, "Replace the folder if it exists.", default=False),
]


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where a result goes, and whose budget it takes."""

    out: Path | None
    force: bool
    as_json: bool

    def folder(self) -> Path:
        """The folder to write."""
        if self.out is None:
            raise InvalidInput(
                "--out is missing: the folder to write. Add, for example, --out result; or --dry-run to write nothing."
            )
        return self.out


def budget_of(
    ledger: Path | None, population: str | None, limit_epsilon: float | None, limit_delta: float | None
) -> "Budget | None":
    """The budget that the options describe, if any."""
    from shuffledp.release.budget import Budget

    return Budget.of(ledger, population, limit_epsilon, limit_delta)
