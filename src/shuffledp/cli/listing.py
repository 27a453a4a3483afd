"""What the help lists: every command in the order of the work, and the module that is loaded when
it is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer

from shuffledp import __version__
from shuffledp.cli.parsing import App
from shuffledp.randomizers.names import NAMES

__all__ = [
    "COMPARE",
    "DEFEND",
    "KRR",
    "LISTED",
    "NETWORK",
    "PLAN",
    "RANDOMIZERS",
    "RUN",
    "Listed",
    "app",
    "examples",
    "group",
    "load",
]

KRR = "--randomizer krr --k 16"
PLAN, RUN, NETWORK = "Plan a collection", "Run it", "Run it over the network"
DEFEND, COMPARE = "Defend it", "Compare with the literature"


class Listed(NamedTuple):
    """A command: its name, the module of ``shuffledp.cli`` that registers it, its panel in the
    help, and the first sentences of its own help.
    """

    name: str
    module: str
    panel: str
    summary: str


LISTED = (
    Listed("epsilon", "commands", PLAN, "The smallest epsilon of the shuffled reports, at a given delta."),
    Listed("delta", "commands", PLAN, "The smallest delta of the shuffled reports, at a given epsilon."),
    Listed("calibrate", "commands", PLAN, "The one unknown of a plan, so that a target (epsilon, delta) is met."),
    Listed(
        "explain",
        "commands",
        PLAN,
        "Which theorem certifies the answer, what it assumes, and every other bound beside it.",
    ),
    Listed(
        "curve",
        "commands",
        PLAN,
        "delta at many epsilons: as a table, as a figure beside the same reports without a shuffler, as CSV.",
    ),
    Listed(
        "plan",
        "plan",
        PLAN,
        "Every protocol that keeps a promise (epsilon, delta), with the error to expect and the bits to send.",
    ),
    Listed(
        "studio",
        "studio",
        PLAN,
        "Plan on a page: move users, categories, rounds and promise, and see noise, error and every published bound "
        "while you move.",
    ),
    Listed(
        "training",
        "training",
        PLAN,
        "Which sampler should my training use? Random allocation, Poisson sampling, shuffled batches and full batches, "
        "with the same noise and the same steps, for adding or removing one record.",
    ),
    Listed(
        "look",
        "look",
        RUN,
        "What a table holds, what would go wrong with it, and a command to copy. It shows true values, to you alone.",
    ),
    Listed(
        "histogram",
        "questions",
        RUN,
        "How many people hold each category: from a table to estimates, a figure and a page.",
    ),
    Listed("mean", "questions", RUN, "The mean of a number that people hold."),
    Listed("sum", "questions", RUN, "The sum of a number that people hold."),
    Listed("count", "questions", RUN, "How many people hold one value, as accurately as a trusted curator would tell."),
    Listed(
        "quantile",
        "questions",
        RUN,
        "The median and other quantiles of a number that people hold, and how many lie in a range.",
    ),
    Listed(
        "crosstab",
        "questions",
        RUN,
        "How many people hold each combination of several columns' categories, with all sums; with --by, shares within "
        "groups.",
    ),
    Listed("top", "top", RUN, "Find the most frequent words without a list."),
    Listed(
        "track",
        "track",
        RUN,
        "The same question every week: paid for in advance, with the trend, and what a pause would buy.",
    ),
    Listed("design", "design", RUN, "Write the design file that clients, shuffler and analyst share."),
    Listed(
        "encode",
        "stages",
        RUN,
        "On the clients' side: from values to randomized reports. What leaves here is already noisy; ids go to the "
        "shuffler, who drops them.",
    ),
    Listed(
        "shuffle",
        "stages",
        RUN,
        "Between clients and analyst: all reports in a uniformly random order, without ids. Fewer than were promised "
        "are refused.",
    ),
    Listed(
        "analyse", "stages", RUN, "For the analyst: from shuffled or counted reports to estimates, a figure and a page."
    ),
    Listed(
        "example",
        "stages",
        RUN,
        "Data to try things out on: a real survey with a sensitive question, and a made-up population.",
    ),
    Listed(
        "collection",
        "collecting",
        NETWORK,
        "A collection over the network: announce it, invite people, follow it, end it.",
    ),
    Listed(
        "send",
        "send",
        NETWORK,
        "On a person's device: randomize an answer, seal it for the analyst, and send it to the shuffler.",
    ),
    Listed(
        "serve",
        "serve",
        NETWORK,
        "Run a shuffler server.",
    ),
    Listed(
        "open",
        "opening",
        NETWORK,
        "For the analyst: open what the shuffler released, and publish estimates, a figure and a page.",
    ),
    Listed(
        "audit",
        "audit",
        DEFEND,
        "Attack the running code: an empirical lower bound on epsilon beside the certified one.",
    ),
    Listed(
        "poison",
        "poison",
        DEFEND,
        "Let people cheat: how far can they move each estimate, and what does the protocol say?",
    ),
    Listed(
        "verify",
        "verify",
        DEFEND,
        "Compute every number of a page again, by a slow oracle that shares no code with the accounting.",
    ),
    Listed("ledger", "ledger", DEFEND, "What was released about a population, and what it adds up to."),
    Listed(
        "compare",
        "compare",
        COMPARE,
        "Every known bound on the shuffled reports, sorted: how loose each one is, and which are wrong.",
    ),
    Listed("papers", "papers", COMPARE, "Look up a paper: its theorems, bounds, figures and tables."),
)

# Those who look for a randomizer by name find the plainest first. A test sees that none is missing.
RANDOMIZERS = (
    "krr rr any static deletion laplace gaussian hadamard oue rappor olh blh local-hash subset unary matrix check-in"
)
DESIGNED = "Any other law, such as true values among fakes: --design FILE, from `shuffledp design`."

app = App(name="shuffledp", pretty_exceptions_enable=False)


def group(name: str, panel: str, meaning: str, **options: Any) -> App:
    """A command of several commands, registered."""
    made = App(name=name, no_args_is_help=True, help=meaning, **options)
    app.add_typer(made, rich_help_panel=panel)
    return made


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\n".join(["Examples:" if len(lines) > 1 else "Example:", *(f"shuffledp {line}" for line in lines)])


def _randomizers() -> str:
    lines = (f"{name:<11}{NAMES[name].usage():<29}  {NAMES[name].title}" for name in RANDOMIZERS.split())
    return "\n".join(["Randomizers, and what they take:", *lines, DESIGNED]).replace("[", r"\[")


FIRST = examples(
    "histogram people.csv --column city --categories cities.txt --epsilon 1 --delta 1e-6 --out result",
    f"epsilon {KRR} --epsilon0 4 --n 10000 --delta 1e-6",
)


@app.callback(invoke_without_command=True, epilog=f"{FIRST}\n\n{_randomizers()}")
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Plan, run and defend a collection in the shuffle model: from a table to a page. Every
    privacy number is an interval that contains the true one.
    """
    if version:
        print(f"shuffledp {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def _not_loaded() -> None:
    raise AssertionError("a command was called whose module was not loaded")


for _each in LISTED:  # each holds the place of the command that its module registers under the same name
    app.command(_each.name, rich_help_panel=_each.panel, help=_each.summary)(_not_loaded)


def load(name: str | None) -> None:
    """Load the module of one command; of a name that is not listed, all of them."""
    known = {each.name: each.module for each in LISTED}
    for module in [known[name]] if name in known else dict.fromkeys(known.values()):
        import_module(f"shuffledp.cli.{module}")
