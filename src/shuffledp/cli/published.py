"""What published bounds say, next to the certified ends: --bound of epsilon, delta and curve."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from shuffledp.cli import show
from shuffledp.cli.options import QUESTION, option
from shuffledp.cli.setup import Setup
from shuffledp.cli.show import patiently
from shuffledp.errors import DoesNotApply
from shuffledp.wording import reserved, rounded

if TYPE_CHECKING:  # every published bound would come along
    from shuffledp.accounting.curves import Band
    from shuffledp.accounting.guarantee import Goal, Guarantee
    from shuffledp.literature.bounds import Published

LISTED = "`shuffledp papers bounds` lists the names."
BOUND = option("bound", QUESTION, f"What this published bound says, next to ours; {LISTED}")
WARNINGS = {
    "invalid": "exact enumeration refutes it in general",
    "reconstructed": "its text was not found, so its constants may not be those of the paper",
    "unproven": "a step of its proof is missing",
}


def published(setup: Setup, goal: Goal, name: str) -> None:
    """Print what one bound says, and the interval that contains the truth."""
    from shuffledp.accounting.shuffled import shuffled_parts
    from shuffledp.literature.bounds import Setting, find
    from shuffledp.literature.comparison import weigh

    bound, guarantee, asked, given = find(name), goal.guarantee, goal.asked, goal.given
    rounds = shuffled_parts(guarantee)[0][1]
    with patiently(f"computing {name}"):
        truth = goal.answer()
        try:
            row = weigh(bound, goal, truth)
        except DoesNotApply as error:
            composed = bound.rounds == "one" and bound.side == "upper" and rounds > 1
            split = f" Each of {rounds} rounds gets a part of {given}." if composed else ""
            raise DoesNotApply(
                f"{name} {error}{split} For the bounds that apply, ask the same of `shuffledp compare`."
            ) from None
        own = bound.enclosure(Setting.of(guarantee), asked, goal.at) if row.name == name else None
    notes = show.cautions(guarantee, goal.at if asked == "epsilon" else truth.upper)
    if setup.as_json:
        both = {"lower": truth.lower, "upper": truth.upper, "method": truth.method, "assumptions": truth.assumptions}
        ratio = None if math.isnan(row.ratio) else row.ratio
        facts = {cell: getattr(row, cell) for cell in ("side", "rests", "refuted", "citation", "remark")}
        facts |= {"bound": row.name, asked: row.value, "status": row.standing, "ratio": ratio}
        facts |= {"conditions": bound.conditions, given: goal.at}
        enclosed = {} if own is None else {"enclosed": list(own), "enclosed_by": own.method}
        notes += show.reservations(truth.assumptions)
        return show.as_json(both | setup.facts(guarantee) | facts | enclosed, notes)
    only = f", {reserved(truth.assumptions)}" if reserved(truth.assumptions) else ""
    digits = 6 if row.refuted and 0.99 < row.ratio < 1.01 else 4  # a difference is seen
    value = rounded(row.value, up=row.side == "upper", digits=digits)
    rows = [
        (asked, value, f"{side_in_words(row.side)}, says {row.title} ({row.standing})"),
        ("", rounded(truth.upper, up=True), f"at most, certified by this package{only}"),
        ("", rounded(truth.lower, up=False), "at least, certified by this package"),
    ]
    show.answer(f"{guarantee.describe()}; {given} = {show.exactly(goal.at)}", rows, [])
    warned = _warnings(bound, refuted=row.refuted)
    show.warnings(warned)
    ends = "" if own is None else f"between {rounded(own.lower, up=False)} and {rounded(own.upper, up=True)}"
    where = "here" if row.name == name else "in each round"
    words = (
        (True, f"Source: {row.citation}. It is about {bound.covers}."),
        (row.name != name, f"The bound is about one round; this package composed {rounds} of them."),
        (bound.conditions != "none", f"Condition, which holds {where}: {bound.conditions}."),
        (ends, f"Without the error of its algorithm it would state a value {ends} ({own and own.method})."),
        (row.remark, f"Remark: {row.remark.rstrip('.')}."),
        *((True, f"Note: {note}.") for note in notes),
    )
    return show.sentences([*([] if warned else [""]), *(text for told, text in words if told)])


def _warnings(bound: Published, *, refuted: bool = False) -> list[str]:
    """What must not be overlooked before its number is used."""
    if bound.status == "proven":
        return []
    why = WARNINGS[bound.rests or bound.status]
    here = " Here it contradicts the certified ends." if refuted else ""
    return [f"{bound.name} is {bound.rests or bound.status}: {why}. Its number is not a guarantee.{here}"]


class Column(NamedTuple):
    """What one bound says of delta at every epsilon of a curve: as JSON has it, and as text."""

    title: str
    at: Callable[[float], float]
    shown: list[str]
    facts: dict[str, Any]
    warnings: list[str]


def column(name: str, guarantee: Guarantee, band: Band) -> Column:
    """Its title is the name, and whatever keeps the bound from being a proven upper one; where it
    has no number, the cell is empty, and a note says why. A bound without any is refused.
    """
    from shuffledp.accounting.curves import Bound
    from shuffledp.accounting.guarantee import Goal
    from shuffledp.literature.bounds import Setting, find, for_rounds
    from shuffledp.literature.comparison import rests_on, weigh

    bound, setting = find(name), Setting.of(guarantee)
    reasons: list[str] = []

    def at(epsilon: float, low: float = 0.0, high: float = 1.0) -> float:
        try:
            return weigh(bound, Goal(guarantee, "delta", epsilon), Bound(low, high, guarantee.method)).value
        except DoesNotApply as error:
            reasons.append(str(error))
            return math.nan

    values, up = [at(*each) for each in zip(*(each.tolist() for each in band), strict=True)], bound.side == "upper"
    if len(reasons) == len(values):
        raise DoesNotApply(f"{name} {reasons[-1]} It has no number on this curve; leave out --bound {name}.")
    notes = [f"{name} is about one round; this package composed the rounds."] * (
        for_rounds(bound, setting) is not bound
    )
    if reasons:
        notes.append(f"{name} has no number at {len(reasons)} of {len(values)} epsilons: it {reasons[-1]}")
    rests = rests_on(bound, guarantee.assumptions)
    doubt = rests or ("" if bound.status == "proven" else bound.status)
    facts = {cell: getattr(bound, cell) for cell in ("name", "side", "status", "citation")} | {"rests": rests}
    facts |= {"delta": [None if math.isnan(value) else value for value in values], "notes": notes}
    shown = ["" if math.isnan(value) else rounded(value, up=up) for value in values]
    title = ", ".join(filter(None, (name, "" if up else "at least", doubt)))
    return Column(title, at, shown, facts, _warnings(bound))


def side_in_words(side: str) -> str:
    """Which end of epsilon a row bounds."""
    return {"upper": "at most", "lower": "at least"}.get(side, side)
