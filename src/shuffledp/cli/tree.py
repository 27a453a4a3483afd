"""The commands of 1.0: the help that lists them, the modules that register them, and which options
the help of each shows. Plain text: who asks for a list, or mistypes a name, loads nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

OVERVIEW = """\
Usage: shuffledp COMMAND [OPTIONS]

Differentially private statistics and surveys in the shuffle model. Every
privacy number comes with an upper and a lower bound and its assumptions.

Ask about a table
  histogram  Count the people in each category
  count      Count the people who gave one answer
  crosstab   Count the people in each combination of several columns
  mean       Estimate the mean of a number
  sum        Estimate the total of a number
  quantile   Estimate the median, other quantiles, and people within a range
  top        Find the most frequent words without listing them first
  look       Inspect a table on your screen and suggest a command
  example    Write sample tables to try the commands on

Plan
  plan       Compare mechanisms for a target; --web opens an interactive page
  epsilon    Bound epsilon for shuffled reports at a given delta
  delta      Bound delta for shuffled reports at a given epsilon
  calibrate  Find the noise, the people or the rounds that meet a target
  curve      Tabulate or plot delta against epsilon
  explain    Show which theorem proves a bound and what it assumes
  compare    Rank every published bound against ours
  training   Compare batch samplers for private training

Collect
  survey     Collect randomized answers from people over a network
  series     Ask the same question every week and follow the trend
  stage      Run one step at a time: design, encode, shuffle, analyze

Check
  verify     Recompute every number on a result page
  audit      Attack the running code, or try false reports on a design
  ledger     Show what was released about a population and what it adds up to
  papers     Look up a paper: its theorems, bounds, figures and tables

Options: --version, --help. 'shuffledp COMMAND --help-all' lists every option.

Examples:
  shuffledp histogram people.csv --column city --categories cities.txt \\
    --epsilon 1 --delta 1e-6 --out result
  shuffledp epsilon --randomizer krr --k 16 --epsilon0 4 --n 10000 --delta 1e-6"""

SUMMARIES = {
    name: f"{summary}." for name, summary in re.findall(r"^  ([a-z]+) {2,}([A-Z].*)$", OVERVIEW, flags=re.MULTILINE)
}

# The modules of ``shuffledp.cli`` that register a command, where it is not the one of its name.
MODULES = {
    **dict.fromkeys(("histogram", "count", "crosstab", "mean", "sum", "quantile"), "questions"),
    **dict.fromkeys(("epsilon", "delta", "calibrate", "curve", "explain"), "commands"),
    **dict.fromkeys(("stage", "example"), "stages"),
    "survey": "survey send serve",
}

# What ``--help`` shows of commands with many options; ``--help-all`` shows the rest. Groups: the
# table, privacy, the budget, the output, the randomizer.
GROUPS = {
    "T": "column id",
    "P": "epsilon delta honest",
    "B": "ledger population",
    "O": "out dry-run json",
    "R": "randomizer k epsilon0 n design",
}
HELPS = """\
histogram: T P B O mechanism categories other missing
count: T P B O value categories other
crosstab: T P B O mechanism categories by
mean: T P B O lower upper clip
sum: T P B O lower upper clip
quantile: T P B O lower upper at range
top: T P B O words longest
plan: P n categories rounds plot web json
epsilon: R delta json
delta: R epsilon json
calibrate: R epsilon delta json
explain: R delta json
curve: R plot csv json
compare: R delta epsilon plot json
stage design: P column categories value lower upper at words longest n mechanism out json
stage encode: T design out json
stage shuffle: B design out json
stage analyze: design out json
series new: B design weeks json
series add: T period json
survey new: B design shuffler text codes opens closes out json
survey close: collection token json
survey fetch: collection token out json
survey status: collection json
survey next: out json
survey serve: store codes token host port tls-cert tls-key json
survey send: value code table column outbox dry-run json
survey open: B out json
audit privacy: R runs confidence seconds json
papers reproduce: out list json"""
SHOWN = {
    path: {name for word in names.split() for name in GROUPS.get(word, word).split()}
    for path, _, names in (line.partition(": ") for line in HELPS.splitlines())
}


def modules(name: str) -> list[str]:
    """Those that register a command and what stands below it."""
    return [f"shuffledp.cli.{each}" for each in MODULES.get(name, name).split()]


def near(word: str, known: Iterable[str]) -> str:
    """What somebody meant, as a question; nothing where nothing is near.

    >>> near("epsilonn", SUMMARIES)
    "Did you mean 'epsilon'? "
    """
    from difflib import get_close_matches

    bare = {each.lstrip("-"): each for each in known}  # or two dashes would be a likeness
    return "".join(f"Did you mean {bare[each]!r}? " for each in get_close_matches(word.lstrip("-"), bare, n=1))
