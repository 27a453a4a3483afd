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
  mean, sum  Estimate the mean or the total of a number
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
    name: f"{summary}."
    for names, summary in re.findall(r"^  ([a-z, ]+?) {2,}([A-Z].*)$", OVERVIEW, flags=re.MULTILINE)
    for name in names.split(", ")
}

# The modules of ``shuffledp.cli`` that register a command, where it is not the one of its name.
MODULES = {
    **dict.fromkeys(("histogram", "count", "crosstab", "mean", "sum", "quantile"), "questions"),
    **dict.fromkeys(("epsilon", "delta", "calibrate", "curve", "explain"), "commands"),
    **dict.fromkeys(("stage", "example"), "stages"),
    "survey": "survey send serve",
}

# What ``--help`` shows of commands with many options; ``--help-all`` shows the rest.
TABLE, PRIVACY, BUDGET, OUTPUT = "column id", "epsilon delta honest", "ledger population", "out dry-run json"
LAW = "randomizer k epsilon0 n design"
_QUESTION = f"{TABLE} {PRIVACY} {BUDGET} {OUTPUT}"
SHOWN = {
    path: set(names.split())
    for path, names in {
        "histogram": f"{_QUESTION} mechanism categories other missing",
        "count": f"{_QUESTION} value categories other",
        "crosstab": f"{_QUESTION} mechanism categories by",
        "mean": f"{_QUESTION} lower upper clip",
        "sum": f"{_QUESTION} lower upper clip",
        "quantile": f"{_QUESTION} lower upper at range",
        "top": f"{_QUESTION} words longest",
        "plan": f"{PRIVACY} n categories rounds plot web json",
        "epsilon": f"{LAW} delta json",
        "delta": f"{LAW} epsilon json",
        "calibrate": f"{LAW} epsilon delta json",
        "explain": f"{LAW} delta json",
        "curve": f"{LAW} plot csv json",
        "compare": f"{LAW} delta epsilon plot json",
        "stage design": f"{PRIVACY} column categories value lower upper at words longest n mechanism out json",
        "stage encode": f"{TABLE} design out json",
        "stage shuffle": f"{BUDGET} design out json",
        "stage analyze": "design out json",
        "series new": f"{BUDGET} design weeks json",
        "series add": f"{TABLE} period json",
        "survey new": f"{BUDGET} design shuffler text codes opens closes out json",
        "survey close": "collection token json",
        "survey fetch": "collection token out json",
        "survey status": "collection json",
        "survey next": "out json",
        "survey serve": "store codes token host port tls-cert tls-key json",
        "survey send": "value code table column outbox dry-run json",
        "survey open": f"{BUDGET} out json",
        "audit privacy": f"{LAW} runs confidence seconds json",
        "papers reproduce": "out list json",
    }.items()
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

    close = get_close_matches(word, known, n=1)
    return f"Did you mean {close[0]!r}? " if close else ""
