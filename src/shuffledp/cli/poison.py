"""The command poison: people who cheat, tried against a design."""

import math
from pathlib import Path
from typing import Annotated

import typer

from shuffledp.cli import show
from shuffledp.cli.listing import DEFEND, app, examples
from shuffledp.cli.options import QUESTION, Json, whole
from shuffledp.errors import InvalidInput, check_count
from shuffledp.wording import rounded

__all__: list[str] = []

SHARE = 100  # one person in so many
LISTED = 20


@app.command(
    "poison", epilog=examples("poison city.json", "poison city.json --malicious 50 --json"), rich_help_panel=DEFEND
)
def poison(
    design: Annotated[Path, typer.Argument(metavar="DESIGN", help="What `shuffledp design` wrote.")],
    malicious: Annotated[
        int | None, whole("malicious", QUESTION, "How many people cheat; if left out, one in a hundred.")
    ] = None,
    seed: Annotated[
        int | None, whole("seed", QUESTION, "A seed, to repeat it; if left out, secure randomness.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Let people cheat: how far can they move each estimate, and what does the protocol say?

    Everything that passes for a report is tried beside honest people's, and what moves an estimate
    most is held against the limit that every page of a release states. Exit code 1 means that the
    limit was exceeded.
    """
    from numpy.random import default_rng

    from shuffledp.audits.poisoning import poison as poisoned
    from shuffledp.client import read_design

    poll = read_design(design).poll
    if seed is not None:
        check_count("seed", seed, least=0, remedy="Leave --seed out for secure randomness.")
    some = max(1, -(-poll.n // SHARE)) if malicious is None else malicious
    if not 1 <= some < poll.n:
        raise InvalidInput(
            f"--malicious must be from 1 to {poll.n - 1:,}, got {some:,}. Somebody must be honest among the "
            f"{poll.n:,} who report."
        )
    found = poisoned(poll, people=some, rng=None if seed is None else default_rng(seed))
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
        verdict = "Nothing moved farther than the protocol says."
        if exceeded:
            verdict = f"VIOLATED: {len(exceeded):,} moved farther than the protocol says, {exceeded[0].label} first."
        show.sentences(f"\n{each}" for each in (*rest, verdict))
    if exceeded:
        raise typer.Exit(code=1)


def _limit(most: float) -> str:
    return "no limit" if most == math.inf else rounded(most, up=True)
