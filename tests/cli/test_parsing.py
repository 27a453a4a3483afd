"""Every option once, all that is missing at once, the column first; and no command that is to be
copied is wrapped.
"""

from pathlib import Path

import pytest
from typer.main import get_command

from shuffledp.cli.app import app, load
from tests.cli.people import PROMISE, done, run

EPSILON = ("epsilon", "--randomizer", "krr", "--k", 16, "--epsilon0", 4, "--n", 10000, "--delta", 1e-6)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("city,age\nLima,3\nOsaka,4\n")
    return tmp_path / "people.csv"


def test_all_that_is_missing_is_said_at_once(people: Path) -> None:
    said = run("histogram", people)
    said.refused(
        "Missing options '--column', '--epsilon', '--delta', '--categories' and '--out'. The columns are 'city', 'age'."
    )
    run("mean", people, "--column", "age", "--out", "x").refused(
        "Missing options '--epsilon', '--delta', '--lower' and '--upper'."
    )
    listing = run("histogram", people, *PROMISE, "--dry-run")
    listing.refused("Missing options '--column' and '--categories'.")
    listing.refused("`shuffledp look FILE` prints categories to copy.")
    run("stage", "shuffle").refused("Missing options 'FILE...' and '--out'.")
    run("stage", "design", "mean", "--n", 10, "--out", "x").refused(
        "Missing options '--epsilon', '--delta', '--lower' and '--upper'."
    )
    run("plan", "histogram").refused("Missing '--n', '--epsilon', '--delta'.")  # whose --categories is a number
    run("quantile", people, "--column", "age", "--lower", 0, "--upper", 9, "--delta", 1e-6, "--out", "x").refused(
        "Missing option '--epsilon'."
    )


def test_nothing_is_missing_that_a_question_does_not_need(people: Path) -> None:
    run("count", people, "--column", "city", "--delta", 1e-6, "--out", "x", "--value", "Lima").refused(
        "Missing option '--epsilon'."
    )
    own = {"count": "'--value', ", "quantile": "", "sum": "'--lower', '--upper', "}
    for task, needed in own.items():
        said = run("stage", "design", task, "--delta", 1e-6, "--epsilon", 1)
        said.refused(f"Missing options {needed}'--n' and '--out'.")
    pair = ("--column", "city", "--column", "age", "--categories", "Lima,Osaka", "--categories", "3,4")
    run("crosstab", people, *pair, "--epsilon", 1, "--out", "x").refused("Missing option '--delta'.")
    run("crosstab", people, *pair[2:], "--column", "cty", "--epsilon", 1, "--out", "x").refused("Did you mean 'city'?")
    run("crosstab", people, *pair[4:]).refused(
        "Missing options '--column', '--epsilon', '--delta' and '--out'. The columns are 'city', 'age'."
    )


def test_the_column_is_looked_at_first(people: Path) -> None:
    run("histogram", people, "--column", "citty").refused(
        "got 'citty'. Did you mean 'city'? The columns are 'city', 'age'."
    )


@pytest.mark.parametrize("option", ["--column", "--epsilon", "--delta", "--categories", "--out", "--id"])
def test_an_option_with_one_value_is_given_once(people: Path, option: str) -> None:
    given = ("histogram", people, "--column", "city", "--categories", "a,b", *PROMISE, "--out", "x", "--id", "age")
    run(*given, f"{option}=1").refused(f"{option} must be given once, got it 2 times")


def test_that_holds_for_every_command(tmp_path: Path) -> None:
    run(*EPSILON, "--k", 17).refused("--k must be given once")
    run("ledger", "show", tmp_path / "x", "--population", "a", "--population", "b").refused(
        "--population must be given once"
    )
    assert done(*EPSILON, "--json", "--json").out == done(*EPSILON, "--json").out, "a flag may be said twice"


def test_help_never_wraps_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    load(None)
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        examples = [line for line in (command.epilog or "").split("\n") if line.startswith("shuffledp ")]
        shown = done(name, "--help").out.split("\n")
        assert all(f" {line}" in shown for line in examples), name
        assert examples or hasattr(command, "commands"), name
