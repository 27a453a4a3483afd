"""`shuffledp crosstab`: from a table with several columns to a page, and what is refused before."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.verify import verify
from tests.cli.people import FILES, done, run

TRUTH = {("north", "yes"): 900, ("north", "no"): 600, ("south", "yes"): 100, ("south", "no"): 1400}
LISTS = ("--categories", "north,south", "--categories", "yes,no")
COLUMNS = ("--column", "region", "--column", "smoker")
PROMISE = ("--epsilon", 1, "--delta", 1e-6)


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3,000 people, and two with a gap."""
    path = tmp_path_factory.mktemp("survey") / "people.csv"
    rows = [f"{region},{smoker}" for (region, smoker), many in TRUTH.items() for _ in range(many)]
    path.write_text("\n".join(["region,smoker", *rows, "north,", ",yes"]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def released(survey: Path) -> Path:
    out = survey.parent / "result"
    done("crosstab", survey, *COLUMNS, *LISTS, "--by", "region", *PROMISE, "--out", out)
    return out


def test_cells_sums_and_shares_are_near_the_truth_and_verify(released: Path) -> None:
    assert {each.name for each in released.iterdir()} == FILES | {"shares.csv"}
    with (released / "shares.csv").open(encoding="utf-8") as file:
        shares = {row["label"]: float(row["estimate"]) for row in csv.DictReader(file)}
    assert abs(shares["north × yes"] - 900 / 1500) < 0.1
    record = json.loads((released / "estimates.json").read_text(encoding="utf-8"))
    found = record["tables"][0]
    numbers = dict(zip(found["label"], found["value"], strict=True))
    errors = dict(zip(found["label"], found["stderr"], strict=True))
    truth = {f"{region} × {smoker}": many for (region, smoker), many in TRUTH.items()}
    truth |= {"north × (all)": 1500, "south × (all)": 1500, "(all) × yes": 1000, "(all) × no": 2000}
    assert all(abs(numbers[name] - many) < 6.0 * errors[name] for name, many in truth.items())
    assert numbers["north × (all)"] == pytest.approx(numbers["north × yes"] + numbers["north × no"])
    low, high = (record["tables"][1][end][0] for end in ("all_lower", "all_upper"))
    assert abs((low + high) / 2 - 0.6) < 1.25 * (high - low)  # the noise is fresh: an interval may miss
    assert (record["counted"]["missing"], record["asked"]["by"]) == (2, "region")
    page, table = ((released / name).read_text(encoding="utf-8") for name in ("page.html", "estimates.csv"))
    assert verify(page, beside={"estimates.csv": table}, seconds=0.0).failed == ()
    assert "Shares within" in page
    assert "Sums over columns" in page
    assert page.count("fill-opacity") == len(TRUTH)  # of a map of the cells


def test_a_forged_sum_or_share_is_found_out(released: Path) -> None:
    record = json.loads((released / "estimates.json").read_text(encoding="utf-8"))
    record["tables"][0]["value"][5] += 1.0
    record["tables"][1]["upper"][0] -= 0.01
    failed = {check.what for check in verify(json.dumps(record)).failed}
    assert {"estimates", "shares, upper"} <= failed


def test_group_by_adds_its_column_and_lists_may_name_theirs(survey: Path) -> None:
    said = done(
        *("crosstab", survey, "--column", "smoker", "--by", "region", "--categories", "smoker=yes,no"),
        *("--categories", "north,south", *PROMISE, "--dry-run", "--json"),
    )
    design = said.facts["design"]
    assert design["question"]["columns"] == ["region", "smoker"]
    assert design["question"]["categories"] == [["north", "south"], ["yes", "no"]]


def test_gaps_and_strangers_count_as_categories_where_that_is_said(survey: Path) -> None:
    lists = ("--categories", "north,else", "--categories", "yes,no", "--other", "region=else,smoker=no")
    facts = done("crosstab", survey, *COLUMNS, *lists, "--missing", "unknown", *PROMISE, "--dry-run", "--json").facts
    assert facts["design"]["question"]["categories"] == [["north", "else", "unknown"], ["yes", "no", "unknown"]]
    assert facts["design"]["question"]["other"] == ["else", "no"]
    assert facts["cost"] == {"reports": 3002, "missing": None, "bits": 4}
    assert facts["asked"]["outside"] == "region: counted as else; smoker: counted as no"


def test_the_stages_give_a_crosstab_too(survey: Path, tmp_path: Path) -> None:
    design, reports, shuffled = (tmp_path / name for name in ("design.json", "reports", "shuffled"))
    done("stage", "design", "crosstab", *COLUMNS, *LISTS, "--n", 3000, *PROMISE, "--out", design)
    done("stage", "encode", survey, "--design", design, "--out", reports)
    done("stage", "shuffle", reports, "--design", design, "--out", shuffled)
    done("stage", "analyze", shuffled, "--design", design, "--out", tmp_path / "result")
    page = (tmp_path / "result" / "page.html").read_text(encoding="utf-8")
    assert verify(page, seconds=0.0).failed == ()
    run("stage", "encode", survey, "--design", design, "--column", "region", "--out", tmp_path / "again").refused(
        "a crosstab must be asked of 2 columns, got 1: region"
    )


def test_a_sparse_table_is_warned_of(survey: Path) -> None:
    many = ",".join(f"c{at}" for at in range(40))
    lists = ("--categories", f"north,south,{many}", "--categories", "yes,no")
    said = done("crosstab", survey, *COLUMNS, *lists, *PROMISE, "--dry-run")
    assert "the table is sparse: 3,000 people in 84 cells" in " ".join(said.out.split())
    assert "merge rare categories" in " ".join(said.out.split())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--column", "region", *LISTS[:2]), "at least two columns, got region. Repeat --column"),
        (LISTS, "at least two columns, got none"),
        (("--column", "region", "--column", "region", *LISTS), "columns must be distinct, got 'region' twice"),
        ((*COLUMNS, *LISTS[:2]), "the categories of column 'smoker' must be given, got none"),
        ((*COLUMNS, *LISTS, "--categories", "a,b"), "once for each of the 2 columns, got 3"),
        ((*COLUMNS, *LISTS[:2], "--categories", "region=a,b"), "once, got 'region' again"),
        ((*COLUMNS, *LISTS, "--other", "region=x,smoke=y"), "must name columns of the question, got 'smoke'"),
        ((*COLUMNS, *LISTS, "--missing", "smoke=none"), "must name columns of the question, got 'smoke'. They are"),
        ((*COLUMNS, "--categories", "north", "--categories", "yes,no"), "--categories must name a file"),
        ((*COLUMNS, "--categories", "north,south", "--categories", "yes,(all)"), "must not be '(all)'"),
        ((*COLUMNS, "--categories", "north,east", "--categories", "yes,no"), "column 'region' must hold only the 2"),
        (("--column", "region", "--column", "smokers", *LISTS), "got 'smokers'. Did you mean 'smoker'?"),
        (("--column", "smoker", "--by", "area", *LISTS), "column must name a column of"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_spent(
    survey: Path, tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    ledger = tmp_path / "ledger.db"
    charged = ("--ledger", ledger, "--population", "all", "--limit-epsilon", 3, "--limit-delta", 1e-5)
    run("crosstab", survey, *options, *PROMISE, *charged, "--out", tmp_path / "result").refused(says)
    assert not (tmp_path / "result").exists()
    assert not ledger.exists()


def test_python_says_the_same_and_an_empty_group_has_too_few_to_say(survey: Path) -> None:
    lists = [["north", "south", "west"], ["yes", "no"]]
    rng = np.random.default_rng(3)
    promise = {"epsilon": 1.0, "delta": 1e-6, "rng": rng}
    made = sdp.crosstab(str(survey), ["smoker"], categories=lists, by="region", **promise)  # type: ignore[arg-type]
    (told,) = made.record.question.told(made.record)
    assert told.rows[-1] == ("west × no", "too few to say", "", "")
    assert "Shares within region:" in str(made)
    assert "west × no: too few to say" in str(made).splitlines()
    assert made.estimates["west × (all)"].all_lower < 0 < made.estimates["north × yes"].lower
    with pytest.raises(sdp.InvalidInput, match="categories must have an entry for each of the columns region, smoker"):
        sdp.crosstab(str(survey), ["smoker"], categories=lists[:1], by="region", **promise)  # type: ignore[arg-type]
    with pytest.raises(sdp.InvalidInput, match="at least two columns, got smoker"):
        sdp.crosstab(str(survey), ["smoker"], categories=lists[1:], **promise)  # type: ignore[arg-type]


def test_a_crosstab_is_planned_by_the_sizes_of_its_columns() -> None:
    said = done("plan", "crosstab", "--categories", "4x3", "--n", 10_000, *PROMISE, "--json").facts
    names = {option["name"]: option["error"] for option in said["options"]}
    curator = names["discrete Laplace noise, counts made to add up"]
    assert curator < names["crosstab, krr"] < names["subset selection, sets of 3"]
    for domain, says in (
        ("4", "must be how many categories each of its columns has, got 4. Write it as 4x3"),
        ("4xfoo", "got '4xfoo'"),
        ("4x1", "column 'column 2' must have at least two categories, got 1"),
        ("999x999", "at most 10000 cells and sums"),
    ):
        run("plan", "crosstab", "--categories", domain, "--n", 1000, *PROMISE).refused(says)
    run("plan", "histogram", "--categories", "4x3", "--n", 1000, *PROMISE).refused(
        "categories of a histogram must be a number"
    )


def test_a_series_of_crosstabs_reads_its_columns_again(survey: Path, tmp_path: Path) -> None:
    design, series = tmp_path / "design.json", tmp_path / "series"
    asked = (*COLUMNS, *LISTS, "--n", 3000, "--rounds", 2, *PROMISE)
    done("stage", "design", "crosstab", *asked, "--out", design)
    done("series", "new", series, "--design", design)
    first = done("series", "add", series, survey, "--json").facts
    assert (first["asked"]["column"], first["counted"]["missing"]) == ("region × smoker", 2)
    run("series", "add", series, survey, "--column", "smoker").refused("must be asked of 2 columns, got 1: smoker")
