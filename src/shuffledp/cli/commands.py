"""The commands: epsilon, delta, calibrate, explain, curve."""

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer

from shuffledp import figures
from shuffledp.accounting.calibration import Calibration
from shuffledp.accounting.calibration import calibrate as solve
from shuffledp.accounting.curves import Band, Bound, Proof
from shuffledp.accounting.guarantee import Guarantee, check_delta, check_epsilon, check_users
from shuffledp.accounting.mechanism import shuffled_parts
from shuffledp.cli import show
from shuffledp.cli.listing import COMPARE, DEFEND, KRR, PLAN, RUN, app, examples
from shuffledp.cli.numbers import read_count, read_number
from shuffledp.cli.options import ANSWER, LATEX, QUESTION, check_form
from shuffledp.cli.setup import Setup, with_setup
from shuffledp.cli.waiting import patiently
from shuffledp.errors import InvalidInput, check_count
from shuffledp.randomizers import Floats
from shuffledp.storage.files import check_file, replace_file
from shuffledp.wording import reserved, rounded

__all__ = ["COMPARE", "DEFEND", "KRR", "PLAN", "RUN", "Delta", "Target", "app", "command", "examples", "side_in_words"]

FAR_DELTA = 1e-12  # `curve` goes on to the epsilon where delta is this small
ROWS, MOST_ROWS = 11, 10_000
LIMITS = {
    "epsilon0": "at most: less noise would miss the target",
    "sigma": "at least: less noise would miss the target",
    "n": "at least: fewer users would miss the target",
    "rounds": "at most: one more would miss the target",
}


def _question(name: str, meaning: str) -> typer.models.OptionInfo:
    return typer.Option(f"--{name}", parser=read_number, metavar="NUMBER", help=meaning, rich_help_panel=QUESTION)  # type: ignore[no-any-return]


Delta = Annotated[float, _question("delta", "The delta to allow: a small probability, well below 1/n.")]
Epsilon = Annotated[float, _question("epsilon", "The epsilon to test.")]
Between = Annotated[
    tuple[float, float] | None,
    typer.Option(
        "--between",
        metavar="A B",
        help="Two inputs of the target, such as 0 1; if left out, the worst two.",
        rich_help_panel=QUESTION,
        show_default=False,
    ),
]
Proven = Annotated[
    bool,
    typer.Option(
        "--proven",
        help="Prove both ends again in ball arithmetic, for one round (needs python-flint).",
        rich_help_panel=ANSWER,
    ),
]
Named = Annotated[
    str | None,
    typer.Option(
        "--bound",
        metavar="NAME",
        help="What this published bound says, next to ours; `shuffledp papers bounds` lists the names.",
        rich_help_panel=QUESTION,
        show_default=False,
    ),
]
Target = Annotated[float, _question("epsilon", "The epsilon that must not be exceeded.")]


def command(*lines: str, panel: str = PLAN) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command with the shared options and its examples."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        name = function.__name__
        return app.command(name, rich_help_panel=panel, epilog=examples(*(f"{name} {line}" for line in lines)))(
            with_setup(function)
        )

    return register


@command(
    f"{KRR} --epsilon0 4 --n 10000 --delta 1e-6",
    "--randomizer rr --epsilon0 1 --n 1e6 --rounds 30 --delta 1e-8",
    "--randomizer fakes --k 16 --slots 1 --chance 0.07 --n 10000 --delta 1e-6",
    "--bound feldman-2020-thm-3.1 --randomizer any --epsilon0 4 --n 1e5 --delta 1e-6",
)
def epsilon(setup: Setup, delta: Delta, between: Between = None, proven: Proven = False, bound: Named = None) -> None:
    """The smallest epsilon of the shuffled reports, at a given delta."""
    check_delta(delta)
    if bound is not None:
        return _published(setup, bound, "epsilon", delta, between, proven)
    guarantee = setup.guarantee()
    with patiently("computing epsilon"):
        found = (guarantee if between is None else setup.guarantee(between=between)).epsilon(delta=delta)
        proof = found.proven() if proven else None
    if setup.as_json:
        facts = _proof_as_json(proof) | _pair_in_json(between) | {"delta": delta}
        return _bound_as_json(setup, guarantee, found, show.cautions(guarantee, delta), **facts)
    whose = f"{show.crowd(guarantee)}{_pair_in_words(between)}"
    given = f"{whose}, the true epsilon at delta = {show.exactly(delta)} is {_between(found)}."
    words = [given, *_meaning(between, found.upper, delta), *_proof_in_words(proof)]
    return _bound_in_words("epsilon", guarantee, found, words, show.cautions(guarantee, delta))


@command(
    f"{KRR} --epsilon0 4 --n 10000 --epsilon 0.5",
    "--randomizer laplace --epsilon0 1 --n 1e6 --epsilon 0.01 --json",
    "--randomizer dummies --k 16 --rate 43 --n 10000 --epsilon 1",
)
def delta(setup: Setup, epsilon: Epsilon, between: Between = None, proven: Proven = False, bound: Named = None) -> None:
    """The smallest delta of the shuffled reports, at a given epsilon."""
    check_epsilon(epsilon)
    if bound is not None:
        return _published(setup, bound, "delta", epsilon, between, proven)
    guarantee = setup.guarantee()
    with patiently("computing delta"):
        found = (guarantee if between is None else setup.guarantee(between=between)).delta(epsilon=epsilon)
        proof = found.proven() if proven else None
    if setup.as_json:
        facts = _proof_as_json(proof) | _pair_in_json(between) | {"epsilon": epsilon}
        return _bound_as_json(setup, guarantee, found, show.cautions(guarantee, found.upper), **facts)
    whose = f"{show.crowd(guarantee)}{_pair_in_words(between)}"
    given = f"{whose}, the true delta at epsilon = {show.short(epsilon)} is {_between(found)}."
    words = [given, *_meaning(between, epsilon, found.upper), *_proof_in_words(proof)]
    return _bound_in_words("delta", guarantee, found, words, show.cautions(guarantee, found.upper))


@command(
    f"{KRR} --n 10000 --epsilon 1 --delta 1e-6",
    f"{KRR} --epsilon0 4 --epsilon 1 --delta 1e-6",
    f"{KRR} --epsilon0 4 --n 10000 --epsilon 1 --delta 1e-6",
)
def calibrate(setup: Setup, epsilon: Target, delta: Delta) -> None:
    """The one unknown of a plan, so that a target (epsilon, delta) is met.

    Leave out --epsilon0 (gaussian: --sigma) for the weakest noise allowed,
    leave out --n for the fewest users, and give both of them, but not
    --rounds, for the most rounds. The answer is checked before it is shown.
    """
    check_epsilon(epsilon)
    check_delta(delta)
    with patiently("solving"):
        found = _solve(setup, epsilon, delta)
    value = int(found.value) if found.unknown in ("n", "rounds") else found.value
    randomizer = shuffled_parts(found.guarantee)[0][0].randomizer
    also = {name: read(randomizer) for name, read in setup.kind.equivalents.items() if found.unknown == "epsilon0"}
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


@command(f"{KRR} --epsilon0 4 --n 10000 --delta 1e-6")
def explain(setup: Setup, delta: Delta) -> None:
    """Which theorem certifies the answer, what it assumes, and every other bound beside it."""
    check_delta(delta)
    guarantee = setup.guarantee()
    with patiently("computing every bound"):
        report = guarantee.explain(delta=delta)
    notes = show.cautions(guarantee, delta)
    if setup.as_json:
        bounds = [{"side": row.side, "epsilon": row.epsilon, "source": report.source(row)} for row in report.rows]
        return _bound_as_json(setup, guarantee, report.bound, notes, delta=delta, bounds=bounds)
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
    show.sentences(["\nIt holds if"])
    show.bullets(report.bound.assumptions)
    show.sentences(f"\nNote: {note}." for note in notes)
    return None


@command(
    f"{KRR} --epsilon0 4 --n 10000",
    "--randomizer rr --epsilon0 1 --n 1000 --plot curve.png",
    "--randomizer rr --epsilon0 1 --n 1000 --to 0.2 --csv curve.csv",
)
def curve(
    setup: Setup,
    first: Annotated[float | None, _question("from", "The first epsilon; if left out, 0.")] = None,
    last: Annotated[
        float | None, _question("to", f"The last epsilon; if left out, where delta is {FAR_DELTA:g}.")
    ] = None,
    points: Annotated[
        int | None,
        typer.Option(
            "--points",
            parser=read_count,
            metavar="COUNT",
            help=f"How many epsilons; if left out, {ROWS}.",
            rich_help_panel=QUESTION,
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw it, as png, svg or pdf.", rich_help_panel=ANSWER)
    ] = None,
    table: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the table as CSV.", rich_help_panel=ANSWER)
    ] = None,
    latex: Annotated[bool, LATEX] = False,
) -> None:
    """delta at many epsilons: as a table, as a figure beside the same reports without a shuffler,
    as CSV.
    """
    check_form(as_json=setup.as_json, latex=latex)
    if plot is not None:
        figures.check_figure(plot)
    if table is not None:
        check_file(table)
    guarantee = setup.guarantee()
    with patiently("computing the curve"):
        band = guarantee.profile(
            _range(guarantee, 0.0 if first is None else first, last, ROWS if points is None else points)
        )
        if plot is not None:
            chosen = (
                None
                if first is None and last is None
                else np.linspace(band.at[0], band.at[-1], max(band.at.size, figures.POINTS))
            )
            figures.curve_figure(guarantee, plot, epsilons=chosen)
    if table is not None:
        replace_file(table, lambda temporary: _write_csv(temporary, band))
    if setup.as_json:
        facts = {
            "epsilons": band.at.tolist(),
            "lower": band.lower.tolist(),
            "upper": band.upper.tolist(),
            "method": guarantee.method,
        }
        files = {name: str(path) for name, path in (("plot", plot), ("csv", table)) if path is not None}
        why = {"assumptions": list(guarantee.assumptions)}
        return show.as_json(facts | why | setup.facts(guarantee) | files, show.reservations(guarantee.assumptions))
    rows = [
        (show.short(e), rounded(low, up=False), rounded(high, up=True))
        for e, low, high in zip(*(each.tolist() for each in band), strict=True)
    ]
    only = reserved(guarantee.assumptions)
    columns = ["epsilon", "delta, at least", f"at most, {only}" if only else "at most"]
    if latex:
        return show.latex(columns, rows, numbers=3)
    show.answer(guarantee.describe(), [], [])
    show.table(columns, rows, numbers=3)
    for what, path in (("figure", plot), ("table", table)):
        if path is not None:
            print(f"\n{what} written to {path}")
    return None


def _published(
    setup: Setup, name: str, asked: Literal["epsilon", "delta"], at: float, between: object, proven: bool
) -> None:
    """What one published bound says, next to the interval that contains the truth."""
    for flag, used in (("--between", between is not None), ("--proven", proven)):
        if used:
            raise InvalidInput(f"--bound asks what a paper says, and {flag} asks about our own ends. Leave one out.")
    from shuffledp.literature.bounds import Setting, find, ways

    bound, guarantee = find(name), setup.guarantee()
    setting = Setting.of(guarantee)
    found = ways(bound, setting)
    with patiently(f"computing {name}"):
        truth = guarantee.epsilon(delta=at) if asked == "epsilon" else guarantee.delta(epsilon=at)
        values = [
            way.epsilon(setting, delta=at) if asked == "epsilon" else way.delta(setting, epsilon=at) for way in found
        ]
        own = bound.enclosure(setting, asked, at) if bound in found else None
    value = min(values)
    way = found[values.index(value)]
    given = "delta" if asked == "epsilon" else "epsilon"
    facts: dict[str, object] = {
        "bound": way.name,
        asked: value,
        "side": bound.side,
        "status": bound.status,
        "rests": bound.rests,
        "citation": way.citation,
        "conditions": way.conditions,
        "remark": bound.remark,
        given: at,
    } | ({} if own is None else {"enclosed": list(own), "enclosed_by": own.method})
    notes = show.cautions(guarantee, at if asked == "epsilon" else truth.upper)
    if setup.as_json:
        return _bound_as_json(setup, guarantee, truth, notes, **facts)
    up = bound.side == "upper"
    rows = [
        (asked, rounded(value, up=up), f"{side_in_words(bound.side)}, says {way.name} ({bound.status})"),
        ("", rounded(truth.upper, up=True), f"at most: {reserved(truth.assumptions) or 'this is guaranteed'}"),
        ("", rounded(truth.lower, up=False), "at least: no proof can go below this"),
    ]
    words = [f"{way.citation}. It is about {bound.covers}. Condition: {way.conditions}."]
    if own is not None:
        words += [f"Without the error of its algorithm it would state a value {_between(own)} ({own.method})."]
    if bound.status != "proven":
        why = "exact enumeration refutes it" if bound.status == "invalid" else "its constants or its proof are open"
        words += [f"{bound.name} is not a guarantee: {why}."]
    words += [f"{note}." for note in (bound.remark.rstrip("."), *(f"Note: {note}" for note in notes)) if note]
    return show.answer(f"{guarantee.describe()}; {given} = {show.exactly(at)}", rows, words)


def _meaning(between: tuple[float, float] | None, epsilon: float, delta: float) -> list[str]:
    """What a guarantee says in plain words; of one pair it does not say that."""
    return [show.meaning(epsilon, delta)] if between is None else []


def _pair_in_json(between: tuple[float, float] | None) -> dict[str, object]:
    return {} if between is None else {"between": list(between)}


def _pair_in_words(between: tuple[float, float] | None) -> str:
    return "" if between is None else f" and a target that holds {between[0]:g} or {between[1]:g}"


def _bound_as_json(setup: Setup, guarantee: Guarantee, bound: Bound, notes: list[str], /, **asked: object) -> None:
    ends = {"lower": bound.lower, "upper": bound.upper, "method": bound.method, "assumptions": list(bound.assumptions)}
    show.as_json(ends | setup.facts(guarantee) | asked, [*notes, *show.reservations(bound.assumptions)])


def _proof_as_json(proof: Proof | None) -> dict[str, object]:
    if proof is None:
        return {}
    ends = {"lower": proof.lower.value, "upper": proof.upper.value, "holds": proof.holds, "what": proof.what}
    deltas = {"delta_at_lower": list(proof.lower.delta), "delta_at_upper": list(proof.upper.delta)}
    return {"proven": ends | deltas | {"bits": proof.bits, "seconds": proof.seconds}}


def _proof_in_words(proof: Proof | None) -> list[str]:
    return [] if proof is None else [f"Proven in balls, with {proof.bits} bits: {proof}."]


def _bound_in_words(what: str, guarantee: Guarantee, bound: Bound, words: list[str], notes: list[str]) -> None:
    rows = [
        (what, rounded(bound.upper, up=True), f"at most: {reserved(bound.assumptions) or 'this is guaranteed'}"),
        ("", rounded(bound.lower, up=False), "at least: no proof can go below this"),
    ]
    show.answer(
        guarantee.describe(),
        rows,
        [*words, f"Proof: {bound.method}.", *(f"Note: {note}." for note in [*notes, *show.premises(guarantee)])],
    )


def _between(bound: Bound) -> str:
    ends = f"between {rounded(bound.lower, up=False)} and {rounded(bound.upper, up=True)}"
    return ", ".join(each for each in (ends, reserved(bound.assumptions)) if each)


def side_in_words(side: str) -> str:
    """Which end of epsilon a row bounds."""
    return {"upper": "at most", "lower": "at least"}.get(side, side)


def _solve(setup: Setup, epsilon: float, delta: float) -> Calibration:
    """Find what is left out: epsilon0 or what stands for it, n, or, if both are given, the
    rounds.
    """
    strength = setup.kind.strengths[0]
    open_strength = setup.kind.solvable and not setup.has_strength
    if setup.n is None and not setup.kind.growing:
        raise InvalidInput(
            f"--n must be given for {setup.name}, whose noise does not grow with the people, got none. Leave out "
            f"--rounds for the most rounds, or let `shuffledp plan` make a law that keeps a promise."
        )
    if not setup.kind.solvable and setup.n is not None and setup.rounds is not None:
        raise InvalidInput(
            f"--rounds must be left out to be solved for, as the noise of {setup.name} is not, got {setup.rounds}. "
            f"Leave it out, or ask for epsilon."
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
    rounds = 1 if setup.rounds is None and (open_strength or setup.n is None) else setup.rounds
    family, parameters = (setup.builder(unknown=strength), setup.given) if open_strength else (setup.randomizer(), {})
    return solve(
        family,
        epsilon=epsilon,
        delta=delta,
        n=setup.n,
        rounds=rounds,
        adversary=setup.adversary,
        view=setup.view,
        honest_share=_share(setup),
        **parameters,
    )


def _share(setup: Setup) -> float:
    """The honest users as a share, which the library rounds down to whole users."""
    if setup.n is None:
        if isinstance(setup.honest, int):
            raise InvalidInput(
                f"--honest must be a share while n is unknown, got {setup.honest}. Write it as a percentage, such as "
                f"90%."
            )
        return 1.0 if setup.honest is None else float(setup.honest)
    n, honest = check_users(setup.n, setup.honest_of(setup.n))
    return 1.0 if honest == n else (honest + 0.5) / n  # half a user more, so that rounding cannot lose one


def _range(guarantee: Guarantee, first: float, last: float | None, points: int) -> Floats:
    check_epsilon(first)
    points = check_count("points", points, least=2, remedy="A curve needs its two ends.")
    if points > MOST_ROWS:
        raise InvalidInput(f"points must be at most {MOST_ROWS}, got {points}. A hundred make a smooth curve.")
    if last is None:
        far = guarantee.epsilon_at_most(delta=FAR_DELTA)
        far = far if 0.0 < far < math.inf else min(guarantee.ceiling, 10.0)
        last = max(float(rounded(far, up=True, digits=2)), 2.0 * first)
    elif check_epsilon(last) <= first:
        raise InvalidInput(
            f"--to must exceed --from, here {first:g}, got {last:g}. Give the smaller epsilon to --from."
        )
    return np.array([float(f"{value:.12g}") for value in np.linspace(first, last, points)])


def _write_csv(path: Path, band: Band) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["epsilon", "lower", "upper"])
        writer.writerows(zip(*(each.tolist() for each in band), strict=True))
