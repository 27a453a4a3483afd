"""The commands: epsilon, delta, calibrate, explain, curve."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from csv import writer as csv_writer
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shuffledp.cli import show
from shuffledp.cli.app import KRR
from shuffledp.cli.options import ANSWER, CSV, DELTA, LATEX, PLOT, QUESTION, check_form, option, read_count, read_number
from shuffledp.cli.published import BOUND, LISTED, Column, column, published, side_in_words
from shuffledp.cli.setup import Setup, accountant
from shuffledp.cli.show import patiently
from shuffledp.errors import InvalidInput, check_count, check_delta, check_epsilon, check_users
from shuffledp.storage.files import check_file, replace_file
from shuffledp.wording import reserved, rounded

if TYPE_CHECKING:  # no help needs what computes
    from shuffledp._types import Floats
    from shuffledp.accounting.calibration import Calibration
    from shuffledp.accounting.curves import Band, Bound, Proof
    from shuffledp.accounting.guarantee import Guarantee

FAR_DELTA = 1e-12  # `curve` goes on to the epsilon where delta is this small
ROWS, MOST_ROWS = 11, 10_000
BEHIND_YEAR = re.compile(r"(-\d{4}-)")  # where the name of a bound is broken, as the head of a column
LIMITS = {
    "epsilon0": "at most: less noise would miss the target",
    "sigma": "at least: less noise would miss the target",
    "n": "at least: fewer users would miss the target",
    "rounds": "at most: one more would miss the target",
}


EPSILON = option("epsilon", QUESTION, "The epsilon to test.", read_number, default=...)
ENDS = [
    option(
        "between", QUESTION, "Two inputs of the target, instead of the worst two.", tuple[float, float], metavar="A B"
    ),
    option("proven", ANSWER, "Prove both ends again in ball arithmetic, for one round (needs python-flint).", bool),
    BOUND,
]


@accountant(
    "epsilon",
    f"{KRR} --epsilon0 4 --n 10000 --delta 1e-6",
    "--randomizer rr --epsilon0 1 --n 1e6 --rounds 30 --delta 1e-8",
    "--bound feldman-2020-thm-3.1 --randomizer any --epsilon0 4 --n 1e5 --delta 1e-6",
    options=[DELTA, *ENDS],
)
def epsilon(setup: Setup, delta: float, **ends: Any) -> None:
    """The smallest epsilon of the shuffled reports, at a given delta."""
    check_delta(delta)
    return _answer(setup, "epsilon", delta, **ends)


@accountant(
    "delta",
    f"{KRR} --epsilon0 4 --n 10000 --epsilon 0.5",
    "--randomizer laplace --epsilon0 1 --n 1e6 --epsilon 0.01 --json",
    options=[EPSILON, *ENDS],
)
def delta(setup: Setup, epsilon: float, **ends: Any) -> None:
    """The smallest delta of the shuffled reports, at a given epsilon."""
    check_epsilon(epsilon)
    return _answer(setup, "delta", epsilon, **ends)


def _answer(
    setup: Setup,
    asked: Literal["epsilon", "delta"],
    at: float,
    between: tuple[float, float] | None,
    proven: bool,
    bound: str | None,
) -> None:
    from shuffledp.accounting.guarantee import Goal

    guarantee = setup.guarantee()
    goal = Goal(guarantee if between is None else setup.guarantee(between=between), asked, at)
    if bound is not None:
        for flag, used in (("--between", between is not None), ("--proven", proven)):
            if used:
                raise InvalidInput(
                    f"--bound asks what a paper says, and {flag} asks about our own ends. Leave one out."
                )
        return published(setup, goal, bound)
    with patiently(f"computing {asked}"):
        found = goal.answer()
        proof = found.proven() if proven else None
    epsilon, delta = (found.upper, at) if asked == "epsilon" else (at, found.upper)
    notes = show.cautions(guarantee, delta)
    if setup.as_json:
        facts = (
            ({} if proof is None else _proof_as_json(proof))
            | ({} if between is None else {"between": list(between)})
            | {goal.given: at}
        )
        return _bound_as_json(setup, guarantee, found, notes, **facts)
    pair = "" if between is None else f" and a target that holds {between[0]:g} or {between[1]:g}"
    given = f"{show.crowd(guarantee)}{pair}, the true {asked} at {goal.given} = {show.exactly(at)}"
    proved = [] if proof is None else [f"Proven in balls, with {proof.bits} bits: {proof}."]
    meaning = [show.meaning(epsilon, delta)] if between is None else []  # of one pair it does not say that
    words = [f"{given} is {_between(found)}.", *meaning, *proved, f"Proof: {found.method}."]
    rows = [
        (asked, rounded(found.upper, up=True), f"at most: {reserved(found.assumptions) or 'this is guaranteed'}"),
        ("", rounded(found.lower, up=False), "at least: no proof can go below this"),
    ]
    return show.answer(
        guarantee.describe(), rows, [*words, *(f"Note: {note}." for note in [*notes, *show.premises(guarantee)])]
    )


@accountant(
    "calibrate",
    f"{KRR} --n 10000 --epsilon 1 --delta 1e-6",
    f"{KRR} --epsilon0 4 --epsilon 1 --delta 1e-6",
    f"{KRR} --epsilon0 4 --n 10000 --epsilon 1 --delta 1e-6",
    options=[option("epsilon", QUESTION, "The epsilon that must not be exceeded.", read_number, default=...), DELTA],
)
def calibrate(setup: Setup, epsilon: float, delta: float) -> None:
    """The one unknown of a plan, so that a target (epsilon, delta) is met.

    Leave out --epsilon0 (gaussian: --sigma) for the weakest noise allowed,
    leave out --n for the fewest users, and give both of them, but not
    --rounds, for the most rounds. The answer is checked before it is shown.
    """
    from shuffledp.accounting.shuffled import shuffled_parts

    check_epsilon(epsilon)
    check_delta(delta)
    with patiently("solving"):
        found = _solve(setup, epsilon, delta)
    value = int(found.value) if found.unknown in ("n", "rounds") else found.value
    randomizer = shuffled_parts(found.guarantee)[0][0].randomizer
    equivalents = setup.kind.equivalents if found.unknown == "epsilon0" else {}
    also = {name: getattr(randomizer, attribute) for name, attribute in equivalents.items()}
    if setup.as_json:
        facts = {
            found.unknown: value,
            **also,
            "solved_for": found.unknown,
            "reached_epsilon": found.epsilon,
            "epsilon": epsilon,
            "delta": delta,
        }
        why = {"method": found.guarantee.method, "assumptions": list(found.guarantee.assumptions)}
        notes = [*show.cautions(found.guarantee, delta), *show.reservations(found.guarantee.assumptions)]
        return show.as_json(facts | why | setup.facts(found.guarantee), notes)
    limit = LIMITS[found.unknown]
    rows = [
        (found.unknown, f"{value:,}" if isinstance(value, int) else show.short(value), limit),
        *(
            (name, rounded(number, up=True, digits=5), setup.kind.parameters[name].meaning)
            for name, number in also.items()
        ),
        (
            "epsilon",
            rounded(found.epsilon, up=True),
            f"reached at delta = {show.exactly(delta)}; the target is {show.short(epsilon)}"
            + (f"; {only}" if (only := reserved(found.guarantee.assumptions)) else ""),
        ),
    ]
    words = [
        show.meaning(found.epsilon, delta),
        f"Proof: {found.guarantee.method}.",
        *(f"Note: {note}." for note in [*show.cautions(found.guarantee, delta), *show.premises(found.guarantee)]),
    ]
    return show.answer(found.guarantee.describe(), rows, words)


@accountant("explain", f"{KRR} --epsilon0 4 --n 10000 --delta 1e-6", options=[DELTA])
def explain(setup: Setup, delta: float) -> None:
    """Which theorem certifies the answer, what it assumes, and every other bound beside it."""
    check_delta(delta)
    guarantee = setup.guarantee()
    with patiently("computing every bound"):
        report = guarantee.explain(delta=delta)
    notes = show.cautions(guarantee, delta)
    if setup.as_json:
        bounds = [{"side": row.side, "epsilon": row.epsilon, "source": report.source(row)} for row in report.rows]
        facts = {"delta": delta, "bounds": bounds, "skipped": list(report.skipped)}
        return _bound_as_json(setup, guarantee, report.bound, notes, **facts)
    ends = f"epsilon at delta = {show.exactly(delta)} is {_between(report.bound)}."
    show.answer(guarantee.describe(), [], [ends, f"Proof: {report.bound.method}."])
    show.sentences([""])
    show.table(
        ["epsilon", "", "bound"],
        [
            (rounded(row.epsilon, up=row.side == "upper"), side_in_words(row.side), report.source(row))
            for row in report.rows
        ],
        numbers=1,
    )
    show.sentences(f"\n{line}" for line in (report.left, "It holds if") if line)
    show.bullets(report.bound.assumptions)
    show.sentences(f"\nNote: {note}." for note in notes)
    return None


@accountant(
    "curve",
    f"{KRR} --epsilon0 4 --n 10000",
    "--randomizer rr --epsilon0 1 --n 1000 --plot curve.png",
    "--randomizer rr --epsilon0 1 --n 1000 --to 0.2 --csv curve.csv",
    f"{KRR} --epsilon0 4 --n 10000 --bound feldman-2020-clones-exact --bound balle-2019-bennett-krr",
    options=[
        option("first", QUESTION, "The first epsilon; if left out, 0.", read_number, called="from"),
        option("last", QUESTION, f"Last epsilon; if left out, where delta is {FAR_DELTA:g}.", read_number, called="to"),
        option("points", QUESTION, f"How many epsilons; if left out, {ROWS}.", read_count),
        PLOT,
        CSV,
        option("bound", QUESTION, f"Also show this published bound; {LISTED} May be repeated.", list[str]),
        LATEX,
    ],
)
def curve(
    setup: Setup,
    first: float | None,
    last: float | None,
    points: int | None,
    plot: Path | None,
    csv: Path | None,
    bound: list[str] | None,
    latex: bool,
) -> None:
    """delta at many epsilons: as a table, as a figure beside the same reports without a shuffler,
    as CSV.
    """
    import numpy as np

    from shuffledp import figures

    check_form(as_json=setup.as_json, latex=latex)
    if plot is not None:
        figures.check_figure(plot)
    if csv is not None:
        check_file(csv)
    guarantee = setup.guarantee()
    with patiently("computing the curve"):
        band = guarantee.profile(
            _range(guarantee, 0.0 if first is None else first, last, ROWS if points is None else points)
        )
        said = [column(name, guarantee, band) for name in dict.fromkeys(bound or ())]
        if plot is not None:
            chosen = (
                None
                if first is None and last is None
                else np.linspace(band.at[0], band.at[-1], max(band.at.size, figures.POINTS))
            )
            figures.curve_figure(guarantee, plot, epsilons=chosen, also={each.title: each.at for each in said})
    if csv is not None:
        replace_file(csv, lambda temporary: _write_csv(temporary, band, said))
    if setup.as_json:
        facts = {
            "epsilons": band.at.tolist(),
            "lower": band.lower.tolist(),
            "upper": band.upper.tolist(),
            "method": guarantee.method,
            "bounds": [each.facts for each in said],
        }
        files = {name: str(path) for name, path in (("plot", plot), ("csv", csv)) if path is not None}
        why = {"assumptions": list(guarantee.assumptions)}
        return show.as_json(facts | why | setup.facts(guarantee) | files, show.reservations(guarantee.assumptions))
    ends = zip(*(each.tolist() for each in band), *(each.shown for each in said), strict=True)
    rows = [(show.short(e), rounded(low, up=False), rounded(high, up=True), *more) for e, low, high, *more in ends]
    only = reserved(guarantee.assumptions)
    titles = ["epsilon", "delta, at least", f"at most, {only}" if only else "at most", *(each.title for each in said)]
    if latex:
        return show.latex(titles, rows, numbers=3)
    show.answer(guarantee.describe(), [], [])
    show.table([BEHIND_YEAR.sub(r"\1\n", title) for title in titles], rows, numbers=3)
    show.warnings(warning for each in said for warning in each.warnings)
    show.sentences(f"\n{note}" for each in said for note in each.facts["notes"])
    return show.written(figure=plot, table=csv)


def _bound_as_json(setup: Setup, guarantee: Guarantee, bound: Bound, notes: list[str], /, **asked: object) -> None:
    ends = {"lower": bound.lower, "upper": bound.upper, "method": bound.method, "assumptions": list(bound.assumptions)}
    show.as_json(ends | setup.facts(guarantee) | asked, [*notes, *show.reservations(bound.assumptions)])


def _proof_as_json(proof: Proof) -> dict[str, object]:
    ends = {"lower": proof.lower.value, "upper": proof.upper.value, "holds": proof.holds, "what": proof.what}
    deltas = {"delta_at_lower": list(proof.lower.delta), "delta_at_upper": list(proof.upper.delta)}
    return {"proven": ends | deltas | {"bits": proof.bits, "seconds": proof.seconds}}


def _between(bound: Bound) -> str:
    ends = f"between {rounded(bound.lower, up=False)} and {rounded(bound.upper, up=True)}"
    return ", ".join(each for each in (ends, reserved(bound.assumptions)) if each)


def _solve(setup: Setup, epsilon: float, delta: float) -> Calibration:
    """Find what is left out: epsilon0 or what stands for it, n, or, if both are given, the
    rounds.
    """
    from shuffledp.accounting.calibration import calibrate as solve

    strength = setup.kind.strengths[0]
    open_strength = setup.kind.solvable and not setup.has_strength
    if not setup.kind.solvable and setup.n is not None and setup.rounds is not None:
        raise InvalidInput(
            f"--rounds must be left out to be solved for, as the noise of {setup.kind.name} is not, got "
            f"{setup.rounds}. Leave it out, or ask for epsilon."
        )
    if open_strength and setup.n is None:
        raise InvalidInput(
            f"exactly one of --{strength}, --n and --rounds is solved for, got neither --{strength} nor --n. Give one "
            f"of them."
        )
    if not open_strength and setup.n is not None and setup.rounds is not None:
        raise InvalidInput(
            f"exactly one of --{strength}, --n and --rounds is solved for, got all three. Leave out the one you want "
            f"to know."
        )
    _, honest, rounds = setup.people()
    rounds = 1 if rounds is None and (open_strength or setup.n is None) else rounds
    family, parameters = (setup.builder(unknown=strength), setup.given) if open_strength else (setup.randomizer(), {})
    if setup.n is None and not setup.noise_grows():
        raise InvalidInput(
            "--n must be given for a design whose noise does not grow with the people, got none. Leave out --rounds "
            "for the most rounds, or make another one with `shuffledp stage design`."
        )
    return solve(
        family,
        epsilon=epsilon,
        delta=delta,
        n=setup.n,
        rounds=rounds,
        adversary=setup.adversary,
        view=setup.view,
        honest_share=_share(setup, honest),
        **parameters,
    )


def _share(setup: Setup, honest: int | Fraction | None) -> float:
    """The honest users as a share, which the library rounds down to whole users."""
    if setup.n is None:
        if isinstance(honest, int):
            raise InvalidInput(
                f"--honest must be a share while n is unknown, got {honest}. Write it as a percentage, such as 90%."
            )
        return 1.0 if honest is None else float(honest)
    n, some = check_users(setup.n, setup.honest_of(setup.n))
    return 1.0 if some == n else (some + 0.5) / n  # half a user more, so that rounding cannot lose one


def _range(guarantee: Guarantee, first: float, last: float | None, points: int) -> Floats:
    import numpy as np

    check_epsilon(first)
    points = check_count("points", points, least=2, remedy="A curve needs its two ends.")
    if points > MOST_ROWS:
        raise InvalidInput(f"points must be at most {MOST_ROWS}, got {points}. A hundred make a smooth curve.")
    if last is None:
        far = guarantee.epsilon_at_most(delta=FAR_DELTA)
        far = far if 0.0 < far < math.inf else min(guarantee.ceiling, 10.0)
        last = max(float(rounded(far, up=True, digits=2).replace(",", "")), 2.0 * first)
    elif check_epsilon(last) <= first:
        raise InvalidInput(
            f"--to must exceed --from, here {first:g}, got {last:g}. Give the smaller epsilon to --from."
        )
    return np.array([float(f"{value:.12g}") for value in np.linspace(first, last, points)])


def _write_csv(path: Path, band: Band, said: Sequence[Column]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv_writer(file)
        writer.writerow(["epsilon", "lower", "upper", *(each.title for each in said)])
        writer.writerows(zip(*(each.tolist() for each in band), *(each.facts["delta"] for each in said), strict=True))
