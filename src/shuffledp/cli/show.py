"""Answers as tables, as plain words, and as strict JSON; and what a person sees while something
takes long: on standard error, and only on a terminal.
"""

from __future__ import annotations

import json
import math
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shuffledp import wording
from shuffledp.wording import exactly as exactly
from shuffledp.wording import number as number
from shuffledp.wording import rounded
from shuffledp.wording import short as short

if TYPE_CHECKING:  # what is shown was computed elsewhere
    from rich.progress import Progress

    from shuffledp.accounting.guarantee import Guarantee
    from shuffledp.design import Design, Law

LARGEST_EXPONENT = 700.0
WIDE = 400  # columns of a table that nobody looks at
SCIENTIFIC = re.compile(r"(-?[\d.]+)e([+-]?\d+)")
LATEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
}
COMMAND = re.compile(r"(?<=: )shuffledp [a-z].*$|^shuffledp [a-z].*$", re.MULTILINE)


def as_json(facts: Mapping[str, object], notes: Sequence[str] = ()) -> None:
    """Print one strict JSON object: an infinite number becomes null, and the note says so."""
    infinite: list[str] = []

    def strict(value: object, name: str) -> object:
        if isinstance(value, Mapping):
            return {key: strict(each, key) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [strict(each, name) for each in value]
        if value == math.inf:
            infinite.append(name)
            return None
        return value

    plain = {key: strict(value, key) for key, value in facts.items()}
    notes = [*notes, *(f"{name} is infinite where it is null" for name in dict.fromkeys(infinite))]
    print(json.dumps(plain | ({"note": "; ".join(notes)} if notes else {}), indent=2, allow_nan=False))


def written(**files: Path | None) -> None:
    """Print where a figure and a table went."""
    for what, path in files.items():
        if path is not None:
            print(f"\n{what} written to {path}")


def answer(title: str, rows: Sequence[tuple[str, str, str]], words: Sequence[str]) -> None:
    """Print a title, a few lines of name, value and remark, and sentences beneath."""
    grid = Table.grid(padding=(0, 2))
    for style in ("", "bold", "dim"):
        grid.add_column(style=style)
    for row in rows:
        grid.add_row(*map(Text, row))
    console = Console(highlight=False)
    console.print(Text(title, style="bold"))
    if rows:
        console.print()
        console.print(grid)
    sentences(f"\n{each}" for each in words)


def sentences(lines: Iterable[str]) -> None:
    """Print text, wrapped to the terminal; but a command that ends it stays in one piece, to be
    copied, on a line of its own if there is no room.
    """
    console = Console(highlight=False)
    for line in lines:
        words, command = _split_off(line)
        if not command:
            console.print(Text(line))
        elif len(line) <= console.width:
            print(line)
        else:
            console.print(Text(words))
            print(command)


def _split_off(line: str) -> tuple[str, str]:
    """A sentence, and the command at its end.

    >>> _split_off("Written to a.json. Next: shuffledp stage encode FILE --design a.json")
    ('Written to a.json. Next:', 'shuffledp stage encode FILE --design a.json')
    """
    found = COMMAND.search(line)
    return (line, "") if found is None else (line[: found.start()].rstrip(" "), line[found.start() :])


def markdown(text: str) -> None:
    """Print paragraphs and lists; what is emphasized is bold on a terminal."""
    for block in re.split(r"\n\n|\n(?=- )", text):
        pieces = re.split(r"\*{1,2}", block.removeprefix("- ").replace("\n", " "))
        words = Text.assemble(*((piece, "bold" if i % 2 else "") for i, piece in enumerate(pieces)))
        if block.startswith("- "):
            bullets([words])
        else:
            Console(highlight=False).print(Text.assemble("\n", words))


def command(line: str, before: str = "") -> None:
    """Print a command that is to be copied: on one line, however narrow the terminal."""
    print(f"{before}{line}")


def bullets(lines: Iterable[str | Text]) -> None:
    """Print a list."""
    grid = Table.grid(padding=(0, 1))
    for line in lines:
        grid.add_row("-", Text(line) if isinstance(line, str) else line)
    Console(highlight=False).print(grid)


def warnings(lines: Iterable[str]) -> None:
    """Print what nobody must overlook, with room around it."""
    console = Console(highlight=False)
    for line in lines:
        console.print(Text.assemble("\n", ("Warning: ", "bold yellow"), line.replace("\u00a0", " "), "\n"))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int) -> None:
    """Print a table whose first ``numbers`` columns are aligned to the right. A long cell is
    folded, never cut; in a pipe, nothing is.
    """
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for i, column in enumerate(columns):
        grid.add_column(column, justify="right" if i < numbers else "left", no_wrap=i < numbers, overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDE
    with console.capture() as drawn:
        console.print(grid)
    print(*(line.rstrip() for line in drawn.get().removesuffix("\n").split("\n")), sep="\n")


def latex(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int) -> None:
    """Print a table for a paper: a tabular with the rules of booktabs, nothing left unescaped."""
    print(rf"\begin{{tabular}}{{{'r' * numbers}{'l' * (len(columns) - numbers)}}}")
    print(r"\toprule")
    for i, row in enumerate([columns, *rows]):
        print(" & ".join(_in_latex(cell) for cell in row) + r" \\")
        if i == 0:
            print(r"\midrule")
    print(r"\bottomrule")
    print(r"\end{tabular}")


def _in_latex(cell: str) -> str:
    """A cell as LaTeX takes it: signs that mean something there are escaped, powers of ten typeset.

    >>> _in_latex("1.500e-6"), _in_latex("50% of a_b"), _in_latex("-"), _in_latex("3 < 4")
    ('$1.500 \\\\cdot 10^{-6}$', '50\\\\% of a\\\\_b', '--', '3 $<$ 4')
    """
    if cell == "-":
        return "--"
    if number := SCIENTIFIC.fullmatch(cell):
        return rf"${number[1]} \cdot 10^{{{int(number[2])}}}$"
    return "".join(LATEX.get(letter, letter) for letter in cell)


def files(folder: Path, what: Mapping[str, str]) -> None:
    """Print what lies in a folder; a path stays in one piece, to be copied."""
    there = {name: words for name, words in what.items() if (folder / name).exists()}
    width = max(len(str(folder / name)) for name in there)
    for name, words in there.items():
        print(f"{folder / name!s:<{width}}  {words}")


def crowd(guarantee: Guarantee) -> str:
    """The beginning of a sentence: with whom.

    >>> from shuffledp import KRR, shuffle
    >>> crowd(shuffle(KRR(k=16, epsilon0=4.0), n=10_000, honest=9_000).compose(30))
    'With 10,000 people, 9,000 of them honest, who report 30 times each'
    """
    from shuffledp.accounting.shuffled import shuffled_parts

    part, rounds = shuffled_parts(guarantee)[0]
    honest = "" if part.honest == part.n else f", {part.honest:,} of them honest"
    often = "" if rounds == 1 else f"{',' * bool(honest)} who report {rounds:,} times each"
    return f"With {wording.people(part.n)}{honest}{often}"


def meaning(epsilon: float, delta: float) -> str:
    """What (epsilon, delta) says, for those who have not read a paper about it."""
    if math.isinf(epsilon):
        return (
            "No finite epsilon is certified: more often than delta allows, the analyst may learn a person's value "
            "outright."
        )
    factor = rounded(math.exp(min(epsilon, LARGEST_EXPONENT)), up=True)
    addition = short(delta) if exactly(delta) == short(delta) else rounded(delta, up=True)
    said = wording.meaning(factor, addition)
    return f"In plain words: {said[0].lower()}{said[1:]}"


def cautions(guarantee: Guarantee, delta: float) -> list[str]:
    """What a careful colleague would add."""
    from shuffledp.accounting.shuffled import shuffled_parts

    return wording.large_delta(delta, shuffled_parts(guarantee)[0][0].n)


def alone(law: Law, shown: str) -> tuple[str, str, str]:
    """The row of epsilon0, and how much a report shows by itself."""
    return "epsilon0", f"{law.alone:.4f}", f"of one report without a shuffler: {shown}"


def algorithm(design: Design) -> list[str]:
    """The published algorithm that a design runs, as a sentence, where it is one."""
    known = design.resolved.algorithm(design.mechanism)
    return [f"It runs {known}."] if known else []


def reservations(assumptions: Iterable[str]) -> list[str]:
    """What an upper end rests on that is not proven, as a note."""
    return [f"the upper end holds {only}"] if (only := wording.reserved(assumptions)) else []


def premises(guarantee: Guarantee) -> list[str]:
    """What is assumed of the randomizer beyond its definition, and that messages are sealed."""
    from shuffledp.accounting.shuffled import shuffled_parts

    sealed = wording.statement("sealed")
    return [
        f"this takes for granted that {premise}"
        for part, _ in shuffled_parts(guarantee)
        for premise in (*part.randomizer.assumptions, *([sealed] if sealed in part.assumptions else []))
    ]


PATIENCE = 1.0  # seconds before a terminal is told that something is being computed

Tick = Callable[[int, int], None]  # how many are done, of how many
Watch = Callable[[int | None, Callable[[], float | None]], Callable[[int], None]]


@contextmanager
def patiently(what: str) -> Iterator[None]:
    """Say what is being computed, if it takes longer than a moment."""
    console = Console(stderr=True)
    status = console.status(f"{what} ...")
    timer = threading.Timer(PATIENCE, status.start)
    timer.daemon = True
    if console.is_terminal:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        status.stop()


@contextmanager
def bars() -> Iterator[Progress]:
    """The one look of all bars: what, how far, ``said`` in words, and the time that is left."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[said]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as drawn:
        yield drawn


@contextmanager
def counted(what: str) -> Iterator[Tick | None]:
    """A bar for things that are counted; None where nobody looks, so that nobody counts."""
    if not Console(stderr=True).is_terminal:
        yield None
        return
    with bars() as drawn:
        task = drawn.add_task(what, total=None, said="")

        def tick(done: int, total: int) -> None:
            drawn.update(task, completed=done, total=total, said=f"{done:,} of {total:,}")

        yield tick


@contextmanager
def progress(what: str, then: str | None = None) -> Iterator[Watch]:
    """A bar for rows, with their rate; ``then`` says what follows when all rows are done.

    It yields a function: given the number of rows, or, where that is unknown, a function that says
    what part is done, it returns one to tell how many more rows are done.
    """
    with bars() as drawn:

        def watch(rows: int | None, part: Callable[[], float | None]) -> Callable[[int], None]:
            task, began, done = drawn.add_task(what, total=None, said=""), monotonic(), 0

            def tick(more: int) -> None:
                nonlocal done
                done += more
                share = done / rows if rows else part()
                rate = done / max(monotonic() - began, 1e-3)
                drawn.update(
                    task,
                    total=None if share is None else 1.0,
                    completed=share or 0.0,
                    said=f"{done:,} rows, {rate / 1e6:.1f} million a second",
                )
                if then is not None and rows and done >= rows:
                    drawn.update(task, description=then, total=None)

            return tick

        yield watch
