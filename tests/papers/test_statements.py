"""What the package says about the papers is true of it: every statement leads to code that exists, and its command
prints the number that is shown.
"""

import contextlib
import doctest
import io
import re
import shlex
from pathlib import Path

import pytest

import shuffledp as sdp
from shuffledp.cli import main
from shuffledp.errors import InvalidInput
from shuffledp.literature.bounds import LITERATURE
from shuffledp.papers import FOUR, PAPERS, Paper, Statement, find, koskela_2021
from shuffledp.papers.errata import ERRATA
from shuffledp.papers.experiments import EXPERIMENTS
from shuffledp.papers.paper import FIRST
from shuffledp.papers.reproduction import select
from shuffledp.papers.table import read_table

FIGURES = Path(__file__).resolve().parents[2] / "docs" / "figures"
STATEMENTS = [pytest.param(paper, each, id=f"{paper.name} {each.names[0]}") for paper in FOUR for each in paper]
NUMBER = re.compile(r"\d[\d.,]*(?:e[+-]?\d+)?")
REPRODUCE = "shuffledp papers reproduce "


def output_of(run: str, folder: Path) -> str:
    """What a command or a session prints; of a figure, its verdict on the numbers that are committed."""
    if run.startswith(">>>"):
        session = doctest.DocTestParser().get_examples(run)
        names: dict[str, object] = {}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            for example in session:
                exec(compile(example.source, "<statement>", "single"), names)
        return printed.getvalue()
    if run.startswith(REPRODUCE):
        chosen = select(shlex.split(run.removeprefix(REPRODUCE)))
        tables = (read_table((FIGURES / f"{each.name}.csv").read_text(encoding="utf-8"))[1] for each in chosen)
        return "\n".join(each.verdict(lines) for each, lines in zip(chosen, tables, strict=True))
    program, *arguments = shlex.split(run)
    assert program == "shuffledp"
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(arguments) == 0
    return printed.getvalue()


@pytest.mark.parametrize("paper, statement", STATEMENTS)
def test_a_statement_leads_to_what_it_names(paper: Paper, statement: Statement) -> None:
    bounds = {bound.name for bound in LITERATURE}
    assert set(statement.bounds) <= bounds
    assert (statement.implementation is None) == (not statement.where)
    assert statement.erratum in {0, *(each.number for each in ERRATA)}
    assert not statement.erratum or statement.verdict in ("paper errs", "works")
    assert bool(statement.ours) <= bool(statement.run)
    assert statement.verdict in ("works", "paper errs", "definition") or statement.why
    for name in statement.names:
        assert paper.find(name) is statement
        assert getattr(paper, re.sub(r"[^a-z0-9]", "_", name)) is statement


@pytest.mark.parametrize("_, statement", [each for each in STATEMENTS if each.values[1].run])
def test_the_command_of_a_statement_prints_our_number(_: Paper, statement: Statement, tmp_path: Path) -> None:
    printed = output_of(statement.run, tmp_path)
    assert printed
    missing = [number for number in NUMBER.findall(statement.ours) if number.rstrip(".,") not in printed]
    assert not missing, printed


@pytest.mark.parametrize("paper", FOUR, ids=lambda paper: paper.name)
def test_a_paper_is_whole(paper: Paper, tmp_path: Path) -> None:
    names = [name for each in paper for name in each.names]
    assert len(names) == len(set(names))
    assert all(bool(each.version) == bool(paper.numbering) for each in paper)
    assert all(not each.first or each.version != FIRST for each in paper)
    bounds = {name for each in paper for name in each.bounds}
    assert bounds >= {each.name for each in LITERATURE if each.paper == paper.cited}
    shown = {
        experiment.name
        for each in paper
        if each.run.startswith(REPRODUCE)
        for experiment in select(shlex.split(each.run.removeprefix(REPRODUCE)))
    }
    assert shown == {each.name for each in EXPERIMENTS if each.paper == paper.cited}
    assert output_of(paper.start, tmp_path)


def test_every_erratum_is_at_a_statement_of_its_paper() -> None:
    for paper in FOUR:
        assert {each.erratum for each in paper} - {0} == {each.number for each in ERRATA if each.paper == paper.name}
    assert {each.paper for each in ERRATA} <= {paper.name for paper in PAPERS}


def test_every_bound_and_figure_has_a_paper_that_is_listed() -> None:
    cited = {paper.cited for paper in PAPERS} | {"this package"}
    assert {bound.paper for bound in LITERATURE} <= cited
    assert {experiment.paper for experiment in EXPERIMENTS} <= cited
    assert len({paper.name for paper in PAPERS}) == len(PAPERS)


def test_a_paper_and_a_statement_are_found_or_refused() -> None:
    assert sdp.papers.find("koskela-2021") is sdp.papers.koskela_2021
    assert "theorem_8" in dir(sdp.papers.koskela_2021)
    assert koskela_2021.find("Algorithm 1") is koskela_2021.algorithm_1 is koskela_2021.first_algorithm_1
    assert koskela_2021.theorem_10 is not koskela_2021.first_theorem_10
    with pytest.raises(InvalidInput, match="Did you mean koskela-2021"):
        find("koskela-2012")
    with pytest.raises(InvalidInput, match="Did you mean theorem-8"):
        sdp.papers.koskela_2021.find("Theorem 81")
    with pytest.raises(AttributeError, match=r"no statement 'theorem_99'; dir\(\) lists them"):
        _ = sdp.papers.koskela_2021.theorem_99
