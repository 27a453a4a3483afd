"""The command compare: every published bound on one mechanism, also those in a stranger's file."""

from __future__ import annotations

import dataclasses
import math
import runpy
from collections.abc import Sequence
from csv import writer as csv_writer
from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.accounting.accuracy import PATIENCE
from shuffledp.cli import show
from shuffledp.cli.app import KRR
from shuffledp.cli.options import CSV, LATEX, PLOT, QUESTION, check_form, option, read_number
from shuffledp.cli.published import side_in_words
from shuffledp.cli.setup import Setup, accountant
from shuffledp.cli.show import patiently
from shuffledp.errors import InvalidInput
from shuffledp.storage.files import check_file, replace_file
from shuffledp.wording import reserved, rounded

if TYPE_CHECKING:  # no help needs what computes
    from shuffledp.literature.bounds import Published
    from shuffledp.literature.comparison import Compared, Comparison, Left

REFUSAL = "does not apply here: "
ELSEWHERE = f"{REFUSAL}it is about"
COLUMNS = ("ratio", "", "status", "bound")  # after the number itself
CELLS = ("value", "side", "ratio", "standing", "seconds", "name", "citation", "remark", "refuted", "rests")


@accountant(
    "compare",
    f"{KRR} --epsilon0 4 --n 10000 --delta 1e-6",
    f"{KRR} --epsilon0 4 --n 10000 --epsilon 0.5",
    "--randomizer rr --epsilon0 1 --n 1e5 --rounds 16 --delta 1e-8 --plot bounds.png --csv bounds.csv",
    f"{KRR} --epsilon0 4 --n 10000 --delta 1e-6 --also my_bound.py --latex",
    options=[
        option("delta", QUESTION, "Compare epsilons at this delta.", read_number),
        option("epsilon", QUESTION, "Or compare deltas at this epsilon.", read_number),
        option("patience", QUESTION, "Seconds that a bound may take, or inf.", read_number, default=PATIENCE),
        PLOT,
        CSV,
        option("also", QUESTION, "Python file with bounds of your own, which is run. May be repeated.", list[Path]),
        LATEX,
    ],
)
def compare(
    setup: Setup,
    delta: float | None,
    epsilon: float | None,
    patience: float,
    plot: Path | None,
    csv: Path | None,
    also: list[Path] | None,
    latex: bool,
) -> None:
    """Every known bound on the shuffled reports, sorted: how loose each one is, and which are
    wrong.
    """
    from shuffledp import figures
    from shuffledp.literature.comparison import compare as computed

    check_form(as_json=setup.as_json, latex=latex)
    if (delta is None) == (epsilon is None):
        raise InvalidInput(
            f"exactly one of --delta and --epsilon must be given, got {'neither' if delta is None else 'both'}. With "
            f"--delta 1e-6 the answer is epsilon; with --epsilon 0.5 it is delta."
        )
    if plot is not None:
        figures.check_figure(plot)
    if csv is not None:
        check_file(csv)
    if plot is not None and csv is not None and plot.resolve() == csv.resolve():
        raise InvalidInput(f"--plot and --csv must name two files, got {str(plot)!r} for both. Rename one of them.")
    mine = [bound for path in also or () for bound in bounds_in(path)]
    guarantee = setup.guarantee()
    with patiently("computing every bound"):
        found = computed(guarantee, delta=delta, epsilon=epsilon, patience=patience, also=mine)
    if plot is not None:
        figures.comparison_figure(found, plot)
    if csv is not None:
        replace_file(csv, lambda temporary: _write_csv(temporary, found))
    goal = found.goal
    notes = [*show.cautions(guarantee, found.certified.upper if delta is None else delta), *show.premises(guarantee)]
    if setup.as_json:
        notes += show.reservations(found.certified.assumptions)
        rows = [dict(zip(_heads(found), map(_plain, _values(row)), strict=True)) for row in found.rows]
        lefts = (("refused", found.refused), ("skipped", found.skipped))
        left = {name: [dataclasses.asdict(each) for each in some] for name, some in lefts}
        ends = {cell: getattr(found.certified, cell) for cell in ("lower", "upper", "method")}
        ends |= {"best": found.best.name, "contradictions": [row.name for row in found.contradictions]}
        files = {name: str(path) for name, path in (("plot", plot), ("csv", csv)) if path is not None}
        asked = {goal.given: goal.at, "bounds": rows}
        return show.as_json(ends | asked | left | setup.facts(guarantee) | files, notes)
    show.warnings(
        f"{row.name} claims to be proven, and says {row.side} {row.value:.6g}: the certified interval contradicts it."
        for row in found.contradictions
    )
    if latex:
        show.latex((goal.asked, *COLUMNS), _cells(found), numbers=2)
        for each in found.skipped:
            print(f"% left out, as it takes long: {each.name}")
        return None
    _print(found)
    show.sentences(f"\nNote: {note}." for note in notes)
    return show.written(figure=plot, table=csv)


def _print(found: Comparison) -> None:
    low, high = rounded(found.certified.lower, up=False), rounded(found.certified.upper, up=True)
    asked = found.goal
    truth = f"The true {asked.asked} at {asked.given} = {show.exactly(asked.at)} lies between {low} and {high}"
    only = reserved(found.certified.assumptions)
    words = [f"{truth}, {only}." if only else f"{truth}.", f"Proof: {found.certified.method}."]
    show.answer(found.goal.guarantee.describe(), [], words)
    show.sentences([""])
    show.table((asked.asked, *COLUMNS), _cells(found), numbers=2)
    below = [row.name for row in found.rows if row.refuted]
    small = f" Too small to be true here: {', '.join(below)}." if below else ""
    show.sentences(
        [
            f"\nThe ratio is to the certified lower end, which no true upper bound can be below. Only proven bounds "
            f"are guarantees.{small}"
        ]
    )
    others = [left.name for left in found.refused if left.reason.startswith(ELSEWHERE)]
    if others:
        show.sentences([f"\nAbout other randomizers or adversaries: {', '.join(others)}."])
    _list("\nNot applicable here", [left for left in found.refused if not left.reason.startswith(ELSEWHERE)])
    _list("\nSkipped; for all of them, add --patience inf", found.skipped)
    show.sentences(["\nSources and conditions: shuffledp papers bounds"])


def _cells(found: Comparison) -> list[tuple[str, ...]]:
    return [
        (
            rounded(row.value, up=row.side == "upper", digits=6 if row.refuted else 4),
            "-" if math.isnan(row.ratio) else show.number(row.ratio),
            side_in_words(row.side),
            row.standing,
            row.title,
        )
        for row in found.rows
    ]


def _list(title: str, lefts: Sequence[Left]) -> None:
    if lefts:
        show.sentences([title])
        show.bullets(f"{left.name}: {left.reason.removeprefix(REFUSAL)}" for left in lefts)


def _write_csv(path: Path, found: Comparison) -> None:
    """Every bound, also those without a number, with the reason."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv_writer(file)
        writer.writerow([*_heads(found), "reason"])
        writer.writerows([*_values(row), ""] for row in found.rows)
        for left in (*found.refused, *found.skipped):
            writer.writerow([*(getattr(left, head, "") for head in _heads(found)), left.reason])


def _heads(found: Comparison) -> list[str]:
    return [{"value": found.goal.asked, "standing": "status"}.get(cell, cell) for cell in CELLS]


def _values(row: Compared) -> list[object]:
    return [getattr(row, cell) for cell in CELLS]


def _plain(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value


def bounds_in(path: Path) -> list[Published]:
    """Run a file, and return the bounds that it defines: module-level ``Published``, each once."""
    from shuffledp.literature.bounds import Published

    if not path.is_file():
        raise InvalidInput(f"--also must name a Python file, got {str(path)!r}. Check the name.")
    try:
        names = runpy.run_path(str(path))
    except (Exception, SystemExit) as error:  # whatever a stranger's file may raise
        reason = str(error).partition("\n")[0][:200]
        raise InvalidInput(
            f"--also must name a Python file that runs, got {type(error).__name__} in {str(path)!r}: {reason}. "
            f"Try it alone first: python {path}"
        ) from None
    mine = list({id(each): each for each in names.values() if isinstance(each, Published)}.values())
    if not mine:
        raise InvalidInput(
            f"--also must name a file that defines a bound, got none in {str(path)!r}. "
            "Assign a shuffledp.literature.bounds.Published to a name; docs/extending.md has one to copy."
        )
    return mine
