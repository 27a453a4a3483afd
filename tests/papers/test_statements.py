"""What the package says about the papers is true of it: every statement leads to code that exists, and its command
prints the number that is shown.
"""

import contextlib
import doctest
import io
import re
import shlex
from pathlib import Path
from pkgutil import resolve_name

import pytest

import shuffledp as sdp
from shuffledp.cli import main
from shuffledp.errors import InvalidInput
from shuffledp.literature import bounds
from shuffledp.literature.bounds import LITERATURE
from shuffledp.papers import FOUR, INSTEAD, PAPERS, Paper, Statement, find, koskela_2021
from shuffledp.papers.experiment import read_table
from shuffledp.papers.experiments import EXPERIMENTS
from shuffledp.papers.files import select
from shuffledp.papers.paper import FIRST

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
    assert not statement.where or resolve_name(statement.where) is not None
    assert not statement.erratum or statement.verdict in ("paper errs", "works")
    assert bool(statement.ours) <= bool(statement.run)
    assert statement.run or statement.verdict == "definition"
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
    page = (Path(__file__).resolve().parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
    errata = [
        (int(number), f"{author.lower()}-{year}")
        for number, author, year in re.findall(r"^## (\d+)\. (\w+).*? (\d{4})", page, flags=re.MULTILINE)
    ]
    for paper in FOUR:
        assert {each.erratum for each in paper} - {0} == {number for number, name in errata if name == paper.name}
    assert {name for _, name in errata} <= {paper.name for paper in PAPERS}
    assert {(number, name) for name, (number, _) in INSTEAD.items()} <= set(errata)


def test_every_bound_and_figure_has_a_paper_that_is_listed() -> None:
    cited = {paper.cited for paper in PAPERS} | {"this package"}
    assert {bound.paper for bound in LITERATURE} <= cited
    assert {experiment.paper for experiment in EXPERIMENTS} <= cited
    assert len({paper.name for paper in PAPERS}) == len(PAPERS)


def test_a_bound_whose_formula_was_not_found_has_it_in_its_name() -> None:
    lost = {each.name for each in LITERATURE if re.search("has lost (the )?formula", each.remark)}
    assert {name for name in lost if not name.endswith("-reconstructed")} == {"feldman-2020-cor-4.2"}  # in public code


def test_a_paper_and_a_statement_are_found_or_refused() -> None:
    assert sdp.papers.find("koskela-2021") is sdp.papers.koskela_2021
    assert "theorem_8" in dir(sdp.papers.koskela_2021)
    assert koskela_2021.find("Algorithm 1") is koskela_2021.algorithm_1 is koskela_2021.first_algorithm_1
    assert koskela_2021.theorem_10 is not koskela_2021.first_theorem_10
    for asked, meant in (("feldman", "feldman-2020"), ("feldman-2021", "feldman-2020"), ("balle", "balle-2019")):
        with pytest.raises(InvalidInput, match=f"Did you mean {meant}"):
            find(asked)
    with pytest.raises(InvalidInput, match="Did you mean koskela-2021"):
        find("koskela-2012")
    for search, what in ((find, "paper"), (koskela_2021.find, "statement"), (bounds.find, "bound")):
        for name in (None, 8, ["theorem-8"]):
            with pytest.raises(InvalidInput, match=f"the name of a {what} must be a text, got .* List them"):
                search(name)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="Did you mean theorem-8"):
        sdp.papers.koskela_2021.find("Theorem 81")
    with pytest.raises(AttributeError, match=r"no statement 'theorem_99'; dir\(\) lists them"):
        _ = sdp.papers.koskela_2021.theorem_99


@pytest.mark.parametrize("paper, statement", STATEMENTS)
def test_a_statement_is_found_by_its_title(paper: Paper, statement: Statement) -> None:
    assert paper.find(statement.title) is statement


@pytest.mark.parametrize(
    "paper, asked, name",
    [
        ("balle-2019", "lemma 3", "lemmas-1-to-5"),
        ("balle-2019", "equation (4)", "theorem-6"),
        ("biswas-2023", "equation 13", "equations-13-and-14"),
        ("biswas-2023", "equation 6", "definition-11"),
        ("feldman-2020", "algorithm 5", "algorithms-4-to-6"),
        ("feldman-2020", "Lemma A.1", "lemma-3.5"),
        ("feldman-2020", "lemma c.1", "lemma-3.7"),
        ("feldman-2020", "lemma f.2", "algorithms-4-to-6"),
        ("feldman-2020", "definition 6.2", "definitions-6.1-and-6.2"),
        ("feldman-2020", "proposition F.3", "algorithms-4-to-6"),
        ("koskela-2021", "equation 2.2", "definitions-1-to-4"),
        ("koskela-2021", "equation (2.3)", "theorem-5"),
        ("koskela-2021", "equation 4.2", "theorem-10"),
        ("koskela-2021", "equation 5.7", "lemma-12"),
        ("koskela-2021", "equation C.1", "first-theorem-c.1"),
        ("koskela-2021", "Lemma B.3", "lemma-12"),
        ("koskela-2021", "Theorem 7 of the first version", "theorem-6"),
        ("koskela-2021", "first definition 3", "definitions-1-to-4"),
    ],
)
def test_a_number_of_a_range_and_one_in_the_text_are_found(paper: str, asked: str, name: str) -> None:
    assert find(paper).find(asked).names[0] == name


def test_a_figure_of_panels_and_a_section_of_several_statements_are_found_as_a_whole() -> None:
    assert [each.names[0] for each in find("balle-2019").parts("Figure 3")] == [
        f"figure-3-{i}" for i in ("i", "ii", "iii", "iv")
    ]
    assert len(find("feldman-2020").parts("section 5.2")) == 3
    assert koskela_2021.parts("figure 1") == (koskela_2021.figure_1,)
    with pytest.raises(InvalidInput, match="has no statement"):
        koskela_2021.parts("figure")
    with pytest.raises(InvalidInput, match="the name of a statement must be a text, got 7"):
        koskela_2021.parts(7)  # type: ignore[arg-type]


@pytest.mark.parametrize("asked", ["", "the", "theorem", "n", "lemma 99"])
def test_a_word_without_a_number_is_no_statement(asked: str) -> None:
    with pytest.raises(InvalidInput, match="has no statement"):
        koskela_2021.find(asked)


def test_a_number_that_both_versions_have_is_known_as_such() -> None:
    assert koskela_2021.namesake(koskela_2021.theorem_10) is koskela_2021.first_theorem_10
    assert koskela_2021.namesake(koskela_2021.equation_5_1) is koskela_2021.first_equation_5_1
    for each in (koskela_2021.first_theorem_10, koskela_2021.theorem_8, koskela_2021.definition_9):
        assert koskela_2021.namesake(each) is None


def test_a_figure_of_the_first_version_says_which_equation_it_means() -> None:
    for number in (1, 3, 4, 10):
        statement = koskela_2021.find(f"figure {number}")
        for text in (statement.says, statement.ours, output_of(statement.run, Path())):
            assert "(5.1)" not in text or "first version" in text
