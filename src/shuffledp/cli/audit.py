"""The command audit privacy: the code that runs, attacked many times, against the guarantee that is
printed. And audit poisoning: people who cheat, tried against a design.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from shuffledp.accounting.accuracy import RUNS, SECONDS
from shuffledp.cli import show
from shuffledp.cli.app import command
from shuffledp.cli.options import JSON, QUESTION, SEED, argument, option, read_count, read_number
from shuffledp.cli.setup import SETUP, Setup
from shuffledp.cli.show import counted
from shuffledp.errors import InvalidInput, check_count, check_delta
from shuffledp.wording import rounded

if TYPE_CHECKING:  # no help needs what computes
    from numpy.random import Generator

    from shuffledp.audits import Audit

CONFIDENCE = 0.95
ELSEWHERE = ("honest", "rounds", "adversary", "view")  # an audit attacks one round in which all users are honest


@command(
    "audit privacy",
    "--randomizer krr --k 4 --epsilon0 1 --n 100 --delta 1e-3",
    "--randomizer laplace --epsilon0 2 --n 200 --delta 1e-3 --runs 20000 --json",
    "--design city.json",
    options=[
        *(each for each in SETUP if each[0] not in ELSEWHERE),
        option("delta", QUESTION, "The delta of the guarantee; that of a design, if there is one.", read_number),
        option("runs", QUESTION, f"Runs on each of two datasets: {RUNS:,}.", read_count, default=RUNS),
        option("confidence", QUESTION, "Confidence of the empirical bound: 0.95.", read_number, default=CONFIDENCE),
        option(
            "seconds", QUESTION, f"Stop after this long: {SECONDS:g}.", read_number, metavar="SECONDS", default=SECONDS
        ),
        SEED,
    ],
)
def audit(
    *, delta: float | None, runs: int, confidence: float, seconds: float, seed: int | None, **options: Any
) -> None:
    """Attack the running code: an empirical lower bound on epsilon beside the certified one.

    The reports are really drawn and shuffled, many times, on two datasets that
    differ in one user; and the sampler, the shuffler and the analyst are each
    tried alone, on all values. Exit code 1 means that something is wrong. Correct code is accused
    with a probability of at most 2e-4, whatever --confidence asks of the printed bound.
    """
    from shuffledp.audits import audit as attacked

    rng = _seeded(seed)
    aim = (_aim if options["design"] is None else _designed)(options, delta)
    with counted("runs") as progress:
        found = attacked(
            aim.what,
            n=aim.n,
            delta=aim.delta,
            runs=runs,
            confidence=confidence,
            seconds=seconds,
            rng=rng,
            progress=progress,
        )
    if options["as_json"]:
        cells = ("verdict", "failed", "epsilon_lower", "epsilon_sure", "certified", "attainable", "attack")
        facts = {cell: getattr(found, cell) for cell in (*cells, "confidence", "runs", "seconds")}
        each_of = ("name", "p_value", "failed", "where")
        facts["checks"] = [{cell: getattr(check, cell) for cell in each_of} for check in found.checks]
        show.as_json(facts | aim.facts, found.reasons())
    else:
        _print(found, aim.title, asked=runs)
    if found.verdict == "violated":
        raise typer.Exit(code=1)


def _seeded(seed: int | None) -> Generator | None:
    """Randomness that can be repeated, if there is a seed."""
    from numpy.random import default_rng

    if seed is None:
        return None
    return default_rng(check_count("seed", seed, least=0, remedy="Leave --seed out for secure randomness."))


class Aim(NamedTuple):
    """What is attacked, and what is said of it; of a protocol, ``n`` and ``delta`` are its own."""

    what: Any
    n: int | None
    delta: float | None
    title: str
    facts: dict[str, object]


def _designed(options: dict[str, Any], delta: float | None) -> Aim:
    """The protocol of a design, which says all that other options would."""
    from shuffledp.client import read_design

    path = options["design"]
    given = [name for name, value in options.items() if value is not None and name not in ("as_json", "design")]
    given += ["delta"] if delta is not None else []
    if given:
        raise InvalidInput(f"a design says what is attacked, got --{given[0]} as well. Leave it out, or --design.")
    poll = read_design(path).poll
    facts = {"design": str(path), "n": poll.n, "delta": poll.delta, **poll.randomizer.describe()}
    return Aim(poll, None, None, poll.guarantee.describe(), facts)


def _aim(options: dict[str, Any], delta: float | None) -> Aim:
    """A randomizer behind a shuffler."""
    if options["randomizer"] is None or delta is None:
        missing = "--randomizer" if options["randomizer"] is None else "--delta"
        raise InvalidInput(f"an audit needs {missing}, got none. Add it, or name a design with --design FILE.")
    setup = Setup.of(**options)
    check_delta(delta)
    guarantee = setup.guarantee()
    facts = {"delta": delta} | setup.facts(guarantee)
    return Aim(setup.randomizer(), setup.n, delta, guarantee.describe(), facts)


def _print(found: Audit, title: str, *, asked: int) -> None:
    from shuffledp.audits.attack import EXACT
    from shuffledp.audits.verdict import SURE

    rows = [
        (
            "epsilon",
            rounded(found.epsilon_lower, up=False),
            f"at least: proven by attack, with confidence {found.confidence:g}",
        ),
        ("", rounded(found.certified, up=True), "at most: this is certified"),
    ]
    if found.attainable is not None:
        rows.insert(1, ("", rounded(found.attainable, up=False), "what unlimited runs of this attack would prove"))
    for check in found.checks:
        evidence = "exact" if check.name in EXACT else check.evidence
        rows.append((check.name, evidence, f"FAILED: {check.where}" if check.failed else "passed"))
    short = ""
    if found.runs < asked:
        short = f" Time ran out after {found.runs:,} of {asked:,} runs; for all of them, raise --seconds."
    verdict = (
        "Consistent: nothing observed contradicts the guarantee. This tests the code; the guarantee rests on its proof."
    )
    if found.verdict != "consistent":
        verdict = f"VIOLATED: {'; '.join(found.reasons())}."
    elif found.epsilon_lower > found.certified:
        verdict = (
            f"Consistent, but barely: the bound printed above exceeds the guarantee, but with confidence {SURE:g}, "
            f"which a verdict requires, it does not. Repeat with more --runs."
        )
    what = (
        f"{found.runs:,} runs on each of two datasets, attacked by the {found.attack}, in {found.seconds:.1f} s.{short}"
    )
    show.answer(title, rows, [what, verdict])


SHARE = 100  # one person in so many
LISTED = 20


@command(
    "audit poisoning",
    "city.json",
    "city.json --malicious 50 --json",
    options=[
        argument("design", "DESIGN", "What `shuffledp stage design` wrote."),
        option("malicious", QUESTION, "How many people cheat; if left out, one in a hundred.", read_count),
        SEED,
        JSON,
    ],
)
def poison(design: Path, malicious: int | None, seed: int | None, as_json: bool) -> None:
    """Let people cheat: how far can they move each estimate, and what does the mechanism allow?

    Everything that passes for a report is tried beside honest people's, and what moves an estimate
    most is held against the limit that every page of a release states. Exit code 1 means that the
    limit was exceeded.
    """
    from shuffledp.audits.poisoning import poison as poisoned
    from shuffledp.client import read_design

    poll = read_design(design).poll
    rng = _seeded(seed)
    some = max(1, -(-poll.n // SHARE)) if malicious is None else malicious
    if not 1 <= some < poll.n:
        raise InvalidInput(
            f"--malicious must be from 1 to {poll.n - 1:,}, got {some:,}. Somebody must be honest among the "
            f"{poll.n:,} who report."
        )
    found = poisoned(poll, people=some, rng=rng)
    exceeded = [each for each in found if not each.holds]
    if as_json:
        rows = [{"label": str(each.label), "moved": each.moved, "most": each.most} for each in found]
        show.as_json({"people": poll.n, "malicious": some, "limits_hold": not exceeded, "estimates": rows})
    else:
        who = "One malicious person" if some == 1 else f"{some:,} malicious people"
        typer.echo(f"{who} of {poll.n:,}, and how far they moved each estimate:\n")
        shown = [(rounded(each.moved, up=False), _limit(each.most), str(each.label)) for each in found[:LISTED]]
        show.table(("moved by", "at most", "estimate"), shown, numbers=2)
        rest = [f"{len(found) - LISTED:,} more estimates are in --json."] if len(found) > LISTED else []
        verdict = "Nothing moved farther than the mechanism allows."
        if exceeded:
            verdict = f"VIOLATED: {len(exceeded):,} moved farther than the mechanism allows, {exceeded[0].label} first."
        show.sentences(f"\n{each}" for each in (*rest, verdict))
    if exceeded:
        raise typer.Exit(code=1)


def _limit(most: float) -> str:
    return "no limit" if most == math.inf else rounded(most, up=True)
