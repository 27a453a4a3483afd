"""The commands papers list, show, bounds and reproduce: a paper, looked up and computed again."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.cli import show
from shuffledp.cli.app import command
from shuffledp.cli.options import ANSWER, JSON, QUESTION, argument, option
from shuffledp.cli.show import counted
from shuffledp.errors import InvalidInput
from shuffledp.papers import FOUR, PAPERS, Paper, Statement, find

if TYPE_CHECKING:
    from shuffledp.literature.bounds import Published
    from shuffledp.papers.experiment import Experiment
    from shuffledp.papers.files import Outcome

FOLDER = "reproduced"
CELLS = ("name", "paper", "where", "covers", "conditions", "status", "rests", "remark", "side", "adversary", "rounds")


@command("papers list", "papers list", "--json", options=[JSON])
def list_(as_json: bool) -> None:
    """The papers this package knows: title, year, and what each one contributed."""
    if as_json:
        return show.as_json({"papers": [_facts(paper) | {"statements": len(paper.statements)} for paper in PAPERS]})
    for title, listed in (
        ("Implemented statement by statement", FOUR),
        ("Bounds or errata only", [paper for paper in PAPERS if paper not in FOUR]),
    ):
        show.sentences([title])
        show.table(
            ["name", "paper"],
            [(each.name, f"{each.title}\n{each.authors} {each.year}\n{each.brought}\n") for each in listed],
            numbers=0,
        )
    return show.sentences(["One of them, statement by statement: shuffledp papers show koskela-2021"])


PAPER = argument(
    "paper",
    "[PAPER]",
    "A name, as papers list prints it.",
    str,
    None,
    autocompletion=lambda incomplete: [paper.name for paper in PAPERS if paper.name.startswith(incomplete)],
)


@command(
    "papers show",
    "koskela-2021",
    "feldman-2020 theorem-3.1",
    "biswas-2023 --json",
    options=[
        PAPER,
        argument("statements", "[STATEMENT]...", "Only these, such as theorem-3.1.", list[str], None),
        JSON,
    ],
)
def show_(paper: str | None, statements: list[str] | None, as_json: bool) -> None:
    """What a paper states: verdict, command to copy, the paper's number next to ours."""
    if paper is None:
        raise InvalidInput(f"name a paper: {', '.join(each.name for each in FOUR)}. For all: shuffledp papers list")
    found = find(paper)
    named = tuple(dict.fromkeys(part for each in statements or () for part in found.parts(each)))
    chosen = named or found.statements
    if as_json:
        rows = [asdict(each) | {"name": each.names[0], "title": each.title} for each in chosen]
        return show.as_json(_facts(found) | {"statements": rows})
    if not statements:
        show.answer(
            f"{found.title} ({found.authors}, {found.year})", [], [found.brought, f"{found.published}. {found.link}"]
        )
        show.sentences(f"\n{line}" for line in (found.numbering, found.start and f"Try it: {found.start}") if line)
    for each in chosen:
        _print(each)
        if statements and (other := found.namesake(each)):
            show.sentences([f"{other.title} is another: shuffledp papers show {found.name} {other.names[0]}"])
    if not chosen:
        show.sentences([f"\n{_only(found)}"])
    elif not statements:
        show.sentences(
            [
                f"\nOne statement: shuffledp papers show {found.name} {chosen[0].names[0]}",
                f"Its bounds: shuffledp papers bounds {found.name}",
                f"Its figures: shuffledp papers reproduce {found.name}",
            ]
        )
    return None


def _only(paper: Paper) -> str:
    """What is here of a paper without statements."""
    from shuffledp.literature.bounds import LITERATURE
    from shuffledp.papers import INSTEAD

    if any(each.paper == paper.cited for each in LITERATURE):
        return f"Only its bounds are here: shuffledp papers bounds {paper.name}"
    erratum, instead = INSTEAD[paper.name]
    return f"No bound of {paper.name} is here; see erratum {erratum}. Use instead: {instead}."


def _facts(paper: Paper) -> dict[str, object]:
    return {key: value for key, value in asdict(paper).items() if key != "statements"}


def _print(statement: Statement) -> None:
    known = f" (erratum {statement.erratum})" if statement.erratum else ""
    named = f" [{statement.names[0]}]" if statement.version else ""
    show.answer(f"\n{statement.title}: {statement.verdict}{known}{named}", [], [])
    pair = [f"{who} {value}" for who, value in (("paper:", statement.printed), ("here:", statement.ours)) if value]
    lines = (statement.says, "; ".join(pair), statement.why, statement.where)
    show.bullets(line for line in lines if line)
    for line in statement.run.splitlines():
        show.command(line if line.startswith((">>>", "...")) else f"$ {line}", "  ")


@command("papers bounds", "papers bounds", "feldman-2020", "--json", options=[PAPER, JSON])
def bounds(paper: str | None, as_json: bool) -> None:
    """The bounds: whose, of which randomizers, when each holds, and if it survived our checks."""
    from shuffledp.literature.bounds import LITERATURE

    found = find(paper) if paper is not None else None
    chosen = [each for each in LITERATURE if found is None or each.paper == found.cited]
    if as_json:
        rows = [
            {cell: getattr(each, cell) for cell in CELLS} | {"enclosed": each.enclosed_at is not None}
            for each in chosen
        ]
        return show.as_json({"bounds": rows})
    for each in chosen:
        _describe(each)
    if found is not None and not chosen:
        show.sentences([_only(found)])
    elif start := (found or FOUR[0]).start:
        show.sentences([f"\nOne of them, to start with: {start}"])
    return None


def _describe(bound: "Published") -> None:
    from shuffledp.cli.published import side_in_words

    standing = ", ".join(filter(None, (side_in_words(bound.side), bound.status, bound.rests)))
    show.sentences([f"{bound.name} ({standing})"])
    condition = "" if bound.conditions == "none" else f"if {bound.conditions}"
    ends = "--bound also prints an interval that contains its exact value" if bound.enclosed_at else ""
    show.bullets(line for line in (bound.citation, f"of {bound.covers}", condition, bound.remark, ends) if line)


@command(
    "papers reproduce",
    "--list",
    "koskela-fig1 biswas-table1",
    "balle-2019 --out figures",
    "biswas-2023 --gowalla loc-gowalla_totalCheckins.txt.gz",
    options=[
        argument("names", "[PAPER|FIGURE]...", "Papers, figures and tables; --list has the names.", list[str], None),
        option("everything", QUESTION, "All of them, which takes minutes.", bool, called="all"),
        option("listing", QUESTION, "List what there is, and compute nothing.", bool, called="list"),
        option("force", QUESTION, "Recompute what is already there, too.", bool),
        option(
            "gowalla",
            QUESTION,
            "SNAP's loc-gowalla_totalCheckins.txt or its .gz, instead of made-up cities.",
            metavar="FILE",
        ),
        option("out", ANSWER, "Where the files go; made if missing.", metavar="FOLDER", default=FOLDER),
        JSON,
    ],
)
def reproduce(
    names: list[str] | None, everything: bool, listing: bool, force: bool, gowalla: str | None, out: str, as_json: bool
) -> None:
    """Figures and tables, computed again next to certified bounds, each with a verdict.

    What is already there is kept, and an interrupted run continues where it stopped.
    """
    from shuffledp.papers.files import ReproductionError, select
    from shuffledp.papers.files import reproduce as computed

    if names and everything:
        raise InvalidInput(f"either names or --all, got both --all and {names[0]!r}. Leave one out.")
    chosen = select(names or None, gowalla=gowalla)
    if listing:
        return _list(chosen, as_json)
    if not names and not everything:
        raise InvalidInput(
            "name a paper, a figure or a table, or pass --all. See the names: shuffledp papers reproduce --list"
        )
    if not out.strip():
        raise InvalidInput(
            f"--out must name a folder, got {out!r}. Write . for the current one, or leave it out for {FOLDER!r}."
        )
    try:
        with _watching(chosen) as progress:
            outcomes = computed(
                [each.name for each in chosen], Path(out), force=force, gowalla=gowalla, progress=progress
            )
    except ReproductionError as error:
        _show(error.outcomes, out, as_json)
        raise
    return _show(outcomes, out, as_json)


def _list(chosen: "Sequence[Experiment]", as_json: bool) -> None:
    if as_json:
        cells = ("name", "paper", "title", "parameters")
        return show.as_json({"experiments": [{cell: getattr(each, cell) for cell in cells} for each in chosen]})
    return show.table(
        ["name", "what"], [(each.name, f"{each.title}\n{each.paper}. {each.parameters}") for each in chosen], numbers=0
    )


def _show(outcomes: "Sequence[Outcome]", out: str, as_json: bool) -> None:
    if as_json:
        rows = []
        for each in outcomes:
            row = {"name": each.name, "state": each.state, "seconds": each.seconds, "files": list(map(str, each.files))}
            more = (("verdict", each.verdict), ("error", each.error))
            rows.append(row | {key: value for key, value in more if value})
        return show.as_json({"out": out, "experiments": rows})
    for each in outcomes:
        if each.verdict:
            show.answer(f"\n{each.name}", [], [])
            show.markdown(each.verdict)
    cells = [
        (
            "-" if each.state == "kept" else f"{each.seconds:.1f}",
            each.state,
            each.name,
            " ".join(path.suffix[1:] for path in each.files),
        )
        for each in outcomes
    ]
    print()
    show.table(["seconds", "", "name", "files"], cells, numbers=1)
    return show.sentences([f"\nThe files are in {out!r}."])


@contextmanager
def _watching(chosen: "Sequence[Experiment]") -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on a terminal: curves in all. Standard output is left alone."""
    finished: dict[str, int] = {}
    with counted(f"curves of {len(chosen)} experiments") as tick:

        def advance(name: str, done: int, count: int) -> None:
            finished[name] = min(done, count)
            if tick is not None:
                tick(sum(finished.values()), sum(experiment.count for experiment in chosen))

        yield None if tick is None else advance
