"""The command audit: the code that runs, attacked many times, against the guarantee that is
printed.
"""

from typing import Annotated

import numpy as np
import typer

from shuffledp.accounting.guarantee import check_delta
from shuffledp.audits import Audit, Check, Fault, Subject
from shuffledp.audits import audit as attacked
from shuffledp.audits.auditing import BUDGET, RUNS, SURE
from shuffledp.audits.planted import fault_named
from shuffledp.audits.runs import EXACT
from shuffledp.cli import show
from shuffledp.cli.commands import DEFEND, Delta, command
from shuffledp.cli.numbers import read_count, read_number
from shuffledp.cli.options import QUESTION
from shuffledp.cli.setup import Setup
from shuffledp.cli.waiting import counted
from shuffledp.errors import InvalidInput, check_count
from shuffledp.protocols.histogram import Histogram
from shuffledp.randomizers import KRR
from shuffledp.wording import rounded

__all__: list[str] = []

CONFIDENCE = 0.95


@command(
    "--randomizer krr --k 4 --epsilon0 1 --n 100 --delta 1e-3",
    "--randomizer laplace --epsilon0 2 --n 200 --delta 1e-3 --runs 20000 --json",
    panel=DEFEND,
)
def audit(
    setup: Setup,
    delta: Delta,
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs",
            parser=read_count,
            metavar="COUNT",
            help=f"Runs on each of two datasets: {RUNS:,}.",
            rich_help_panel=QUESTION,
        ),
    ] = None,
    confidence: Annotated[
        float,
        typer.Option(
            "--confidence",
            parser=read_number,
            metavar="NUMBER",
            help=f"The confidence of the empirical bound: {CONFIDENCE:g}.",
            rich_help_panel=QUESTION,
        ),
    ] = CONFIDENCE,
    budget: Annotated[
        float,
        typer.Option(
            "--budget",
            parser=read_number,
            metavar="SECONDS",
            help=f"Stop after this long: {BUDGET:g}.",
            rich_help_panel=QUESTION,
        ),
    ] = BUDGET,
    fault: Annotated[
        str | None,
        typer.Option(
            "--fault",
            metavar="NAME",
            help="Plant this mistake in a histogram, to see it caught; krr and rr only.",
            rich_help_panel=QUESTION,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            parser=read_count,
            metavar="COUNT",
            help="A seed, to repeat an audit; if left out, secure randomness.",
            rich_help_panel=QUESTION,
        ),
    ] = None,
) -> None:
    """Attack the running code: an empirical lower bound on epsilon beside the certified one.

    The reports are really drawn and shuffled, many times, on two datasets that
    differ in one user; and the sampler, the shuffler and the analyst are each
    tried alone, on all values. Exit code 1 means that something is wrong. Correct code is accused
    with a probability of at most 2e-4, whatever --confidence asks of the printed bound.
    """
    check_delta(delta)
    if seed is not None:
        check_count("seed", seed, least=0, remedy="Leave --seed out for secure randomness.")
    if (
        setup.rounds not in (None, 1)
        or setup.adversary != "shuffled"
        or setup.view != "reports"
        or setup.honest is not None
    ):
        raise InvalidInput(
            "an audit attacks one round in which all users are honest, got other options. Leave out --rounds, "
            "--adversary, --view and --honest."
        )
    guarantee, asked = setup.guarantee(), RUNS if runs is None else runs
    planted = None if fault is None else _planted(fault, setup, delta)
    with counted("runs") as progress:
        found = attacked(
            setup.randomizer() if planted is None else planted[1],
            n=setup.n,
            delta=delta,
            runs=asked,
            confidence=confidence,
            budget_seconds=budget,
            rng=None if seed is None else np.random.default_rng(seed),
            progress=progress,
        )
    if setup.as_json:
        facts = {
            "verdict": found.verdict,
            "failed": list(found.failed),
            "epsilon_lower": found.epsilon_lower,
            "epsilon_sure": found.epsilon_sure,
            "certified": found.certified,
            "attainable": found.attainable,
            "attack": found.attack,
            "confidence": found.confidence,
            "runs": found.runs,
            "seconds": found.seconds,
            "checks": [
                {"name": check.name, "p_value": check.p_value, "failed": check.failed, "where": check.where}
                for check in found.checks
            ],
            "fault": fault,
        }
        show.as_json(facts | {"delta": delta} | setup.facts(guarantee), found.reasons())
    else:
        _print(found, guarantee.describe(), asked=asked, fault=None if planted is None else planted[0])
    if found.verdict == "violated":
        raise typer.Exit(code=1)


def _planted(name: str, setup: Setup, delta: float) -> tuple[Fault, Subject]:
    """The fault, and a histogram that has it; its account is that of the right code."""
    fault, randomizer = fault_named(name), setup.randomizer()
    if not isinstance(randomizer, KRR):
        raise InvalidInput(
            f"a fault is planted in k-ary randomized response, got --randomizer {setup.name}. Use --randomizer krr, or "
            f"rr."
        )
    assert setup.n is not None
    return fault, fault(Histogram(categories=range(randomizer.k), n=setup.n, epsilon0=randomizer.epsilon0, delta=delta))


def _print(found: Audit, title: str, *, asked: int, fault: Fault | None) -> None:
    rows = [
        (
            "epsilon",
            rounded(found.epsilon_lower, up=False),
            f"at least: proven by attack, with confidence {found.confidence:g}",
        ),
        ("", rounded(found.certified, up=True), "at most: this is guaranteed"),
    ]
    if found.attainable is not None:
        rows.insert(1, ("", rounded(found.attainable, up=False), "what unlimited runs of this attack would prove"))
    rows += [
        (check.name, _evidence(check), f"FAILED: {check.where}" if check.failed else "passed") for check in found.checks
    ]
    short = (
        f" Time ran out after {found.runs:,} of {asked:,} runs; for all of them, raise --budget."
        if found.runs < asked
        else ""
    )
    if found.verdict == "consistent":
        verdict = (
            "Consistent: nothing observed contradicts the guarantee. This tests the code; the guarantee rests on "
            "its proof."
        )
        if found.epsilon_lower > found.certified:
            verdict = (
                f"Consistent, but barely: the bound printed above exceeds the guarantee, but with confidence {SURE:g}, "
                f"which a verdict requires, it does not. "
                "Repeat with more --runs."
            )
    else:
        verdict = f"VIOLATED: {'; '.join(found.reasons())}."
    told = [] if fault is None else [f"Planted fault {fault.name}: {fault.sentence}"]
    show.answer(
        title,
        rows,
        [
            *told,
            f"{found.runs:,} runs on each of two datasets, attacked by the {found.attack}, in {found.seconds:.1f} "
            f"s.{short}",
            verdict,
        ],
    )


def _evidence(check: Check) -> str:
    return "exact" if check.name in EXACT else check.evidence
