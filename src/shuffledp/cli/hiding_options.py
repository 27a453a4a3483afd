"""The options of what hides a value."""

from typing import Any

from shuffledp.cli.numbers import read_count, read_number
from shuffledp.cli.sharing import option
from shuffledp.collection.release.terms import Hiding

__all__ = ["HIDING_OPTIONS", "hiding_of"]

HIDING = "What hides a value"

HIDING_OPTIONS = [
    option(
        "protocol",
        HIDING,
        "What hides a value: krr, noise in every report; fakes, that people send; or dummies, that the shuffler adds. "
        "If left out, krr, which asks for the least trust.",
        default="krr",
        metavar="NAME",
    ),
    option(
        "slots", HIDING, "For fakes: how many a person can send; if left out, as few as will do.", parser=read_count
    ),
    option(
        "kept",
        HIDING,
        "For dummies: how likely the shuffler hands a person's message on; if left out, always.",
        parser=read_number,
    ),
    option(
        "kind",
        HIDING,
        "The law of the fakes: bernoulli or poisson; of the dummies: geometric or poisson, whichever errs less.",
        metavar="NAME",
    ),
    option(
        "light_epsilon0",
        HIDING,
        "Randomize the true value by this epsilon0, too: then a message is not always the truth.",
        parser=read_number,
    ),
]


def hiding_of(options: dict[str, Any]) -> Hiding:
    """Take what hides a value out of the options of a command."""
    return Hiding(**{name: options.pop(name) for name, _ in HIDING_OPTIONS})
