"""design, encode, shuffle and analyse apart: the same answer as in one go, and everything that must
not meet is refused.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from shuffledp.errors import InvalidInput
from shuffledp.questions.histogram.question import HistogramQuestion
from shuffledp.release.budget import Budget
from shuffledp.release.pipeline import release
from shuffledp.release.request import Request
from shuffledp.release.stages import read_design
from shuffledp.tables.reports import open_reports, write_reports
from tests.cli.people import CITIES, CITY, PEOPLE, PROMISE, TRUTH, done, listing, run

CATEGORIES = ("--categories", ",".join(CITIES))
LEDGER = ("--population", "people", "--limit-epsilon", 3, "--limit-delta", 1e-6)


@pytest.fixture(scope="session")
def design(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("design") / "city.json"
    done("stage", "design", "histogram", *CATEGORIES, "--n", PEOPLE, *PROMISE, "--out", path)
    return path


@pytest.fixture(scope="session")
def encoded(table: Path, design: Path) -> Path:
    """All reports in one file, with ids."""
    path = design.with_name("reports.parquet")
    done("stage", "encode", table, "--design", design, "--column", "city", "--id", "name", "--out", path)
    return path


@pytest.fixture(scope="session")
def shuffled(encoded: Path) -> Path:
    path = encoded.with_name("shuffled.parquet")
    done("stage", "shuffle", encoded, "--out", path)
    return path


def changed(design: Path, place: Path, **changes: Any) -> Path:
    facts = json.loads(design.read_text(encoding="utf-8"))
    for name, value in changes.items():
        facts[name] = facts[name] | value if isinstance(value, dict) else value
    place.write_text(json.dumps(facts), encoding="utf-8")
    return place


def test_the_stages_give_the_certificate_of_one_go(
    tmp_path: Path, halves: tuple[Path, Path], design: Path, released: Path
) -> None:
    parts = [each.with_suffix(".reports") for each in halves]
    for table, part in zip(halves, parts, strict=True):
        done("stage", "encode", table, "--design", design, "--column", "city", "--id", "name", "--out", part)
    said = done("stage", "shuffle", *parts, "--out", tmp_path / "shuffled.parquet", "--json").facts
    assert (said["reports"], said["batches"], said["ledger"]) == (PEOPLE, 2, None)
    facts = done(
        "stage", "analyze", tmp_path / "shuffled.parquet", "--out", tmp_path / "result", "--title", "In parts", "--json"
    ).facts
    once = json.loads((released / "estimates.json").read_text(encoding="utf-8"))
    assert facts["certificate"] == once["certificate"]
    assert facts["design"] == once["design"]
    assert facts["asked"]["title"] == "In parts"
    assert facts["counted"] == {"reports": PEOPLE, "missing": None}
    for label, value, error in zip(*(facts["tables"][0][name] for name in ("label", "value", "stderr")), strict=True):
        assert abs(value - TRUTH[label]) <= 6.0 * error


@pytest.mark.parametrize(
    "task, more", [("mean", ("--lower", 0, "--upper", 100)), ("histogram", (*CATEGORIES, "--mechanism", "hadamard"))]
)
def test_every_task_runs_in_stages(tmp_path: Path, table: Path, task: str, more: tuple[object, ...]) -> None:
    made = done(
        "stage", "design", task, *more, "--n", 3100, "--honest", "90%", *PROMISE, "--out", tmp_path / "d.json", "--json"
    ).facts
    column = "age" if task == "mean" else "city"
    coded = done(
        "stage",
        "encode",
        table,
        "--design",
        tmp_path / "d.json",
        "--column",
        column,
        "--out",
        tmp_path / "r.parquet",
        "--json",
    ).facts
    assert coded["design"] == made["digest"]
    done("stage", "shuffle", tmp_path / "r.parquet", "--out", tmp_path / "s.parquet")
    facts = done("stage", "analyze", tmp_path / "s.parquet", "--out", tmp_path / "result", "--json").facts
    assert facts["certificate"]["epsilon"]["upper"] == made["upper"] <= 1.0
    assert facts["certificate"]["honest"] == 2790
    assert any("the certificate holds for any 2790 or more honest ones" in note for note in facts["notes"])


def test_ids_go_to_the_shuffler_and_no_further(encoded: Path, shuffled: Path) -> None:
    assert pyarrow.parquet.read_schema(encoded).names == ["report", "id"]
    assert pyarrow.parquet.read_schema(shuffled).names == ["report"]
    assert b"secret-" not in shuffled.read_bytes()
    assert open_reports(shuffled).header.batch is None, "the name of a batch would link it to its sender"


def test_a_mismatch_of_designs_is_refused(tmp_path: Path, table: Path, encoded: Path) -> None:
    done(
        "stage",
        "design",
        "histogram",
        *CATEGORIES,
        "--n",
        PEOPLE,
        "--epsilon",
        2,
        "--delta",
        1e-6,
        "--out",
        tmp_path / "d.json",
    )
    done("stage", "encode", table, "--design", tmp_path / "d.json", "--column", "city", "--out", tmp_path / "r.parquet")
    before = listing(tmp_path)
    run("stage", "shuffle", encoded, tmp_path / "r.parquet", "--out", tmp_path / "s.parquet").refused(
        "got a difference in"
    )
    assert listing(tmp_path) == before


def test_the_same_batch_twice_is_refused_even_as_a_copy(
    tmp_path: Path, halves: tuple[Path, Path], design: Path
) -> None:
    half, copy = tmp_path / "r.parquet", tmp_path / "copy.parquet"
    done("stage", "encode", halves[0], "--design", design, "--column", "city", "--out", half)
    shutil.copy(half, copy)
    run("stage", "shuffle", half, copy, "--out", tmp_path / "s.parquet").refused("Copies hide nobody")
    run("stage", "shuffle", half, half, "--out", tmp_path / "s.parquet").refused("Copies hide nobody")
    assert not (tmp_path / "s.parquet").exists()


def test_fewer_than_promised_are_refused_and_cost_nothing(
    tmp_path: Path, halves: tuple[Path, Path], design: Path
) -> None:
    done("stage", "encode", halves[0], "--design", design, "--column", "city", "--out", tmp_path / "r.parquet")
    before = listing(tmp_path)
    said = run(
        "stage",
        "shuffle",
        tmp_path / "r.parquet",
        "--out",
        tmp_path / "s.parquet",
        "--ledger",
        tmp_path / "budget.sqlite",
        *LEDGER,
    )
    said.refused(f"reports must number at least the {PEOPLE} that were promised")
    assert listing(tmp_path) == before, "no output, and no ledger either"


def test_a_refused_shuffle_does_not_charge_a_ledger_that_is_there(
    tmp_path: Path, halves: tuple[Path, Path], design: Path, encoded: Path
) -> None:
    ledger = tmp_path / "budget.sqlite"
    done("stage", "shuffle", encoded, "--out", tmp_path / "s.parquet", "--ledger", ledger, *LEDGER)
    done("stage", "encode", halves[0], "--design", design, "--column", "city", "--out", tmp_path / "r.parquet")
    run(
        "stage", "shuffle", tmp_path / "r.parquet", "--out", tmp_path / "t.parquet", "--ledger", ledger, *LEDGER
    ).refused("that were promised")
    (owner,) = done("ledger", "show", ledger, "--json").facts["populations"]
    assert [each["state"] for each in owner["releases"]] == ["published"]


def test_more_than_the_design_knows_are_refused(tmp_path: Path, table: Path, design: Path, encoded: Path) -> None:
    done("stage", "encode", table, "--design", design, "--column", "city", "--out", tmp_path / "r.parquet")
    run("stage", "shuffle", encoded, tmp_path / "r.parquet", "--out", tmp_path / "s.parquet").refused(
        f"at most the {PEOPLE} people that the design knows"
    )


def test_a_shuffle_charges_the_ledger_like_a_release_in_one_go(tmp_path: Path, table: Path, encoded: Path) -> None:
    facts = done(
        "stage",
        "shuffle",
        encoded,
        "--out",
        tmp_path / "s.parquet",
        "--ledger",
        tmp_path / "a.sqlite",
        *LEDGER,
        "--json",
    ).facts["ledger"]
    once = done("histogram", table, *CITY, "--ledger", tmp_path / "b.sqlite", *LEDGER, "--dry-run", "--json").facts[
        "ledger"
    ]
    assert facts["total"] == once["total"]
    assert facts["releases"] == 1


def test_each_stage_takes_only_what_the_one_before_it_wrote(
    tmp_path: Path, table: Path, design: Path, encoded: Path, shuffled: Path
) -> None:
    out = tmp_path / "out"
    run("stage", "analyze", encoded, "--out", out).refused("must hold shuffled reports, got encoded ones")
    run("stage", "shuffle", shuffled, "--out", out).refused("must hold encoded reports, got shuffled ones")
    run("stage", "shuffle", encoded, shuffled, "--out", out).refused("must hold encoded reports, got shuffled ones")
    run("stage", "analyze", table, "--out", out).refused("got another Parquet file")
    run("stage", "shuffle", design, "--out", out).refused("must be a file of reports")
    run("stage", "encode", encoded, "--design", design, "--column", "report", "--out", out).refused(
        "must hold only the 4 categories"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"target": {"n": "3000"}}, "must have its usual form, got '3000' for target.n"),
        ({"target": {"n": 3000.0}}, "must have its usual form, got '3000.0' for target.n"),
        ({"target": {"honest": 3001}}, "honest must be at most n = 3000"),
        ({"version": 2}, "must have version 1"),
        ({"format": "a poll"}, "must have the format 'shuffledp-design', got 'a poll'"),
        ({"question": {"type": 3}}, "must have its usual form, got '3' for question.type"),
        ({"domain": {"type": "cities"}}, "must have its usual form, got 'cities' for domain.type"),
        ({"domain": {"other": 4}}, "other must be the place of one of the labels, got 4"),
        ({"domain": {"labels": ["a", "b"]}}, "the mechanism of a design must fit its domain of 2 places"),
        ({"extra": 1}, "got a difference in 'extra'"),
        ({"mechanism": {"epsilon0": 9.0, "integers": ["939448714725133986"]}}, "the integers of krr must be"),
        ({"mechanism": None}, "got 'None' for mechanism"),
    ],
)
def test_a_changed_design_is_refused(
    tmp_path: Path, table: Path, design: Path, changes: dict[str, Any], words: str
) -> None:
    path = changed(design, tmp_path / "d.json", **changes)
    run("stage", "encode", table, "--design", path, "--column", "city", "--out", tmp_path / "r.parquet").refused(words)
    assert [each.name for each in tmp_path.iterdir()] == ["d.json"]


@pytest.mark.parametrize("changes", [{"honest": 10}, {"epsilon": 0.5}, {"delta": 1e-9}, {"rounds": 2}])
def test_a_promise_that_the_noise_does_not_keep_is_refused_wherever_there_is_an_accountant(
    tmp_path: Path, table: Path, design: Path, changes: dict[str, Any]
) -> None:
    path, words = changed(design, tmp_path / "d.json", target=changes), "a design must keep its promise"
    asked = ("stage", "encode", table, "--design", path, "--column", "city")
    run(*asked, "--certify", "--out", tmp_path / "r.parquet").refused(words)
    assert [each.name for each in tmp_path.iterdir()] == ["d.json"]
    done(*asked, "--out", tmp_path / "r.parquet")
    for more in ((), ("--design", path)):
        run("stage", "shuffle", tmp_path / "r.parquet", *more, "--out", tmp_path / "s.parquet").refused(words)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "NaN", "[" * 100_000, '{"task": []}'])
def test_what_is_no_design_is_refused(tmp_path: Path, table: Path, text: str) -> None:
    (tmp_path / "d.json").write_text(text)
    run(
        "stage", "encode", table, "--design", tmp_path / "d.json", "--column", "city", "--out", tmp_path / "r.parquet"
    ).refused("design")
    assert [each.name for each in tmp_path.iterdir()] == ["d.json"]


def test_nothing_is_written_over_what_is_read_or_over_the_ledger(
    tmp_path: Path, table: Path, design: Path, encoded: Path
) -> None:
    for each in (table, design, encoded):
        shutil.copy(each, tmp_path / each.name)
    names, ledger = tmp_path / "cities.txt", tmp_path / "budget.sqlite"
    names.write_text("\n".join(CITIES), encoding="utf-8")
    mine, settled, reports = (tmp_path / each.name for each in (table, design, encoded))
    done("stage", "shuffle", reports, "--out", tmp_path / "s.parquet", "--ledger", ledger, *LEDGER)
    (tmp_path / "hard.sqlite").hardlink_to(ledger)
    (tmp_path / "soft.sqlite").symlink_to(ledger)
    before = listing(tmp_path)
    run("stage", "encode", mine, "--design", settled, "--column", "city", "--force", "--out", mine).refused(
        "which would be lost"
    )
    run("stage", "encode", mine, "--design", settled, "--column", "city", "--force", "--out", settled).refused(
        "which would be lost"
    )
    run(
        "stage", "design", "histogram", "--categories", names, "--n", PEOPLE, *PROMISE, "--force", "--out", names
    ).refused("which would be lost")
    run("stage", "shuffle", reports, "--force", "--out", reports).refused("which would be lost")
    for name in ("budget.sqlite", "hard.sqlite", "soft.sqlite"):
        run("stage", "shuffle", reports, "--force", "--out", tmp_path / name, "--ledger", ledger, *LEDGER).refused(
            "which would be lost"
        )
    assert listing(tmp_path) == before


def test_what_is_there_is_replaced_only_when_asked(tmp_path: Path, table: Path, design: Path, encoded: Path) -> None:
    old = tmp_path / "old"
    commands = (
        ("stage", "encode", table, "--design", design, "--column", "city"),
        ("stage", "shuffle", encoded),
        ("stage", "design", "histogram", "--categories", "yes,no", "--n", PEOPLE, *PROMISE),
    )
    for command in commands:
        old.write_text("precious")
        run(*command, "--out", old).refused("must not exist yet")
        assert old.read_text() == "precious"
        done(*command, "--force", "--out", old)
        assert old.read_bytes() != b"precious"


def test_fewer_reports_than_were_promised_are_not_certified(tmp_path: Path, shuffled: Path) -> None:
    """Somebody cuts the shuffled file and keeps its header."""
    file = open_reports(shuffled)
    cut = tmp_path / "cut.parquet"
    write_reports(cut, file.header, [(next(file.batches())[:10], None)])
    run("stage", "analyze", cut, "--out", tmp_path / "result").refused("must number at least the")
    assert not (tmp_path / "result").exists()


def test_too_few_values_are_refused_before_the_budget_is_spent(tmp_path: Path, design: Path) -> None:
    table = tmp_path / "few.csv"
    table.write_text("city\n" + f"{CITIES[0]}\n" * 5, encoding="utf-8")
    asked = HistogramQuestion(categories=tuple(CITIES))
    question = Request(question=asked, source=str(table), origins=("a list",))
    budget = Budget(tmp_path / "budget.sqlite", "people", 3.0, 1e-6)
    with question.values(question.open()) as values, pytest.raises(InvalidInput, match="must number at least the"):
        release(question, values, read_design(design), tmp_path / "result", budget=budget)
    assert [each.name for each in tmp_path.iterdir()] == ["few.csv"]


@pytest.mark.parametrize(
    "text", ['{"epsilon": Infinity}', '{"task": "mean", "task": "mean"}', '{"delta": NaN}', "[" * 100_000, "{", "null"]
)
def test_what_is_no_design_is_one_line(tmp_path: Path, table: Path, text: str) -> None:
    (tmp_path / "d.json").write_text(text)
    run(
        "stage", "encode", table, "--design", tmp_path / "d.json", "--column", "city", "--out", tmp_path / "e.parquet"
    ).refused("esign")


def test_a_batch_is_never_released_twice_with_different_company(tmp_path: Path, halves: tuple[Path, Path]) -> None:
    """The difference of two releases that share most reports shows the others nearly in the clear;
    the same release again shows nothing new.
    """
    first, second = (tmp_path / name for name in ("first.parquet", "second.parquet"))
    done(
        "stage",
        "design",
        "histogram",
        *CATEGORIES,
        "--n",
        PEOPLE,
        "--honest",
        "40%",
        *PROMISE,
        "--out",
        tmp_path / "d.json",
    )
    for half, out in zip(halves, (first, second), strict=True):
        done("stage", "encode", half, "--design", tmp_path / "d.json", "--column", "city", "--out", out)
    ledger = ("--ledger", tmp_path / "budget.sqlite", *LEDGER)
    done("stage", "shuffle", first, second, "--out", tmp_path / "both", *ledger)
    run("stage", "shuffle", first, "--out", tmp_path / "one", *ledger).refused("must be new, got some of release 1")
    done("stage", "shuffle", second, first, "--out", tmp_path / "again", *ledger)
    facts = json.loads(done("ledger", "export", tmp_path / "budget.sqlite").out)
    assert sum(len(each["releases"]) for each in facts["populations"]) == 2, "the refused one is not charged"
