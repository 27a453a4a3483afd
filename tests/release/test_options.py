"""What the options of a release change, and what --dry-run does not."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

import shuffledp as sdp
from shuffledp.client import read_design
from shuffledp.poll import certify
from shuffledp.release.budget import Budget
from tests.cli.people import (
    ABSENT,
    AGE,
    CITIES,
    CITY,
    PEOPLE,
    PROMISE,
    TRUTH,
    Said,
    done,
    listing,
    people,
    run,
)
from tests.tables.tables import as_parquet

BUDGET = ("--population", "people", "--limit-epsilon", 3, "--limit-delta", 1e-6)


def estimates(said: Said) -> dict[str, tuple[float, float]]:
    rows = said.facts["tables"][0]
    return {
        label: (value, error) for label, value, error in zip(rows["label"], rows["value"], rows["stderr"], strict=True)
    }


def near(said: Said, truth: dict[str, int]) -> bool:
    found = estimates(said)
    return set(found) == set(truth) and all(
        abs(found[label][0] - count) <= 6.0 * found[label][1] for label, count in truth.items()
    )


def test_a_dry_run_says_the_same_certificate_and_touches_nothing(tmp_path: Path) -> None:
    as_parquet(tmp_path / "people.parquet", people())
    before = listing(tmp_path)
    question = (
        "histogram",
        tmp_path / "people.parquet",
        *CITY,
        "--ledger",
        tmp_path / "budget.sqlite",
        *BUDGET,
        "--out",
        tmp_path / "result",
    )
    plan = done(*question, "--dry-run", "--json").facts
    spoken = done(*question, "--dry-run").out
    assert listing(tmp_path) == before
    assert "Nothing was written." in spoken
    assert "epsilon0" in spoken
    made = done(*question, "--json").facts
    assert plan["dry_run"] is True
    assert plan["certificate"] == made["certificate"]
    assert plan["design"] == made["design"]
    assert plan["comparison"] == made["comparison"]
    assert plan["ledger"]["total"] == made["ledger"]["total"]
    assert plan["ledger"]["id"] is None
    assert set(listing(tmp_path)) > set(before)


def test_a_dry_run_needs_no_folder_and_looks_at_none(table: Path, released: Path) -> None:
    assert (
        done("histogram", table, *CITY, "--dry-run").out
        == done("histogram", table, *CITY, "--dry-run", "--out", released).out
    )


@pytest.mark.parametrize("share, honest", [("90%", 2700), ("2500", 2500)])
def test_fewer_honest_people_mean_more_noise(table: Path, released: Path, share: str, honest: int) -> None:
    plan = done("histogram", table, *CITY, "--honest", share, "--dry-run", "--json").facts
    all_honest = json.loads((released / "estimates.json").read_text(encoding="utf-8"))
    assert plan["certificate"]["honest"] == plan["design"]["target"]["honest"] == honest
    assert plan["certificate"]["users"] == PEOPLE
    assert plan["certificate"]["epsilon"]["upper"] <= 1.0
    assert plan["certificate"]["alone"] < all_honest["certificate"]["alone"]


def test_rounds_share_the_promise(tmp_path: Path, table: Path, released: Path) -> None:
    made = done("histogram", table, *CITY, "--rounds", 12, "--out", tmp_path / "result", "--json")
    once = json.loads((released / "estimates.json").read_text(encoding="utf-8"))
    assert made.facts["certificate"]["rounds"] == made.facts["design"]["target"]["rounds"] == 12
    assert made.facts["certificate"]["epsilon"]["upper"] <= 1.0
    assert made.facts["certificate"]["alone"] < once["certificate"]["alone"]
    assert near(made, TRUTH)


def test_other_values_become_a_category_of_their_own(tmp_path: Path, table: Path) -> None:
    asked = ("--column", "city", "--categories", "Lima,Osaka", "--other", "elsewhere", *PROMISE)
    made = done("histogram", table, *asked, "--out", tmp_path / "result", "--json")
    assert near(made, {"Lima": 1600, "Osaka": 900, "elsewhere": 500})
    assert made.facts["asked"]["outside"] == "counted as elsewhere"


def test_other_may_be_one_of_the_categories(tmp_path: Path, table: Path) -> None:
    asked = ("--column", "city", "--categories", "Lima,Osaka,rest", "--other", "rest", *PROMISE)
    assert near(
        done("histogram", table, *asked, "--out", tmp_path / "result", "--json"),
        {"Lima": 1600, "Osaka": 900, "rest": 500},
    )


def test_missing_values_can_be_counted_like_all_others(tmp_path: Path, table: Path) -> None:
    """It said "0 values, counted as unknown". The true number must not be said either: it is the
    exact count of a category that noise protects.
    """
    made = done("histogram", table, *CITY, "--missing", "unknown", "--out", tmp_path / "result", "--json")
    assert near(made, TRUTH | {"unknown": ABSENT})
    assert made.facts["counted"] == {"reports": PEOPLE + ABSENT, "missing": None}
    assert made.facts["asked"]["missing"] == "counted as unknown"
    page = (tmp_path / "result" / "page.html").read_text(encoding="utf-8")
    assert "0 values" not in page
    assert "including those without a value" in done("histogram", table, *CITY, "--missing", "unknown", "--dry-run").out


def test_clipped_values_count_as_the_bound(tmp_path: Path, table: Path) -> None:
    made = done(
        "mean",
        table,
        "--column",
        "age",
        "--lower",
        0,
        "--upper",
        40,
        *PROMISE,
        "--clip",
        "--out",
        tmp_path / "result",
        "--json",
    )
    ages = [min(age, 40.0) for age in people()["age"].to_pylist()]
    ((value, error),) = estimates(made).values()
    assert abs(value - sum(ages) / len(ages)) <= 6.0 * error
    assert made.facts["asked"]["outside"] == "clipped to the bounds"


def test_categories_may_come_from_a_file_with_blank_lines_and_windows_ends(
    tmp_path: Path, table: Path, released: Path
) -> None:
    names = tmp_path / "cities with blanks ü.txt"
    names.write_bytes("\ufeffLima\r\n\r\nOsaka\r\nTurku\r\n  Zürich\r\n".encode())
    plan = done("histogram", table, "--column", "city", "--categories", names, *PROMISE, "--dry-run", "--json").facts
    assert plan["design"] == json.loads((released / "design.json").read_text(encoding="utf-8"))
    assert plan["asked"]["categories"] == names.name


def test_a_list_of_categories_may_be_longer_than_any_file_name() -> None:
    listed = [f"category-{i:03d}" for i in range(60)]
    plan = done(
        "histogram",
        "-",
        "--categories",
        ",".join(listed),
        *PROMISE,
        "--dry-run",
        "--json",
        stdin=b"what\ncategory-007\n",
    ).facts
    assert plan["design"]["question"]["categories"] == plan["design"]["domain"]["labels"] == listed


def test_whole_numbers_are_a_domain(tmp_path: Path) -> None:
    as_parquet(tmp_path / "n.parquet", pa.table({"n": [i % 3 for i in range(PEOPLE)]}))
    asked = ("histogram", tmp_path / "n.parquet", "--categories", "0..3", *PROMISE)
    made = done(*asked, "--out", tmp_path / "result", "--json")
    assert near(made, {"0": 1000, "1": 1000, "2": 1000, "3": 0})


def test_paths_may_have_blanks_and_any_letters(tmp_path: Path) -> None:
    place = tmp_path / "mit Leerzeichen äöü 日本 'x'"
    place.mkdir()
    as_parquet(place / "people data.parquet", people())
    question = ("mean", place / "people data.parquet", *AGE, "--ledger", place / "my budget?.sqlite", *BUDGET)
    facts = done(*question, "--out", place / "a result [1]", "--json").facts
    assert facts["asked"]["source"] == "people data.parquet"
    assert facts["ledger"]["releases"] == 1
    assert sorted(each.name for each in place.iterdir()) == ["a result [1]", "my budget?.sqlite", "people data.parquet"]


@pytest.mark.parametrize("name", ["city ", "two\nlines", "no\u00a0break", "long" * 200])
def test_a_column_may_have_any_name_also_in_a_ledger(tmp_path: Path, name: str) -> None:
    as_parquet(tmp_path / "odd.parquet", people().select(["city"]).rename_columns([name]))
    question = (
        "histogram",
        tmp_path / "odd.parquet",
        "--column",
        name,
        *CITY[2:],
        "--ledger",
        tmp_path / "budget.sqlite",
        *BUDGET,
        "--dry-run",
        "--json",
    )
    assert done(*question).facts["asked"]["column"] == name


def test_a_ledger_is_charged_once_for_every_release_and_says_so(tmp_path: Path, table: Path) -> None:
    question = ("histogram", table, *CITY, "--ledger", tmp_path / "budget.sqlite", *BUDGET)
    first = done(*question, "--out", tmp_path / "first", "--json").facts
    said = done(*question, "--out", tmp_path / "second").out
    second = json.loads((tmp_path / "second" / "estimates.json").read_text(encoding="utf-8"))
    assert [each["ledger"]["id"] for each in (first, second)] == [1, 2]
    assert first["ledger"]["total"]["upper"] <= second["ledger"]["total"]["upper"] <= 3.0
    assert "Budget of 'people':" in said
    shown = done("ledger", "show", tmp_path / "budget.sqlite", "--json").facts
    assert [each["state"] for each in shown["populations"][0]["releases"]] == ["published", "published"]
    assert done("ledger", "check", tmp_path / "budget.sqlite", "--json").facts["ok"] is True


def test_replacing_a_release_is_said_to_be_a_second_one_and_how_many_more_fit(
    tmp_path: Path, table: Path, released: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "result"
    shutil.copytree(released, folder)
    question = ("histogram", table, *CITY, "--out", folder, "--force", "--ledger", tmp_path / "budget.sqlite", *BUDGET)
    plain = Budget.afford
    monkeypatch.setattr(Budget, "afford", lambda *given: plain(*given) | {"more": 1234})
    monkeypatch.setattr(Budget, "more", lambda *_: 1235, raising=False)
    warned = " ".join(done(*question, "--dry-run").out.split())
    assert "would be two releases, and what they cost would add up" in warned
    assert "would be spent; 1,234 more like this would fit after it." in warned
    said = " ".join(done(*question).out.split())
    assert "they are two releases, and what they cost adds up; the ledger was charged for each" in said
    assert "this is release 1; 1,235 more like this fit." in said
    assert "they are two releases" in (folder / "page.html").read_text(encoding="utf-8")
    notes = json.loads((released / "estimates.json").read_text(encoding="utf-8"))["notes"]
    assert not any("replaced" in note for note in notes), "there was nothing to replace"


def test_a_noise_that_is_given_is_certified_charged_and_named(tmp_path: Path) -> None:
    as_parquet(tmp_path / "people.parquet", people())
    asked = ("histogram", tmp_path / "people.parquet", "--column", "city", "--categories", ",".join(CITIES))
    noise, runs = ("--gamma", 0.25, "--delta", 1e-6), "Algorithm 1 of Balle et al. 2019"
    plan = done(*asked, *noise, "--dry-run").out.replace("\n", " ")
    assert f"It runs {runs} (k-ary randomized response, k = 4, gamma = 0.25)." in " ".join(plan.split())
    ledger, out = tmp_path / "budget.sqlite", tmp_path / "result"
    made = done(*asked, *noise, "--ledger", ledger, *BUDGET, "--out", out, "--json").facts
    certified = made["certificate"]["epsilon"]["upper"]
    law = sdp.KRR.from_gamma(k=4, gamma=0.25)
    assert certified == sdp.shuffle(law, n=PEOPLE).epsilon(delta=1e-6).upper
    assert made["design"]["target"]["epsilon"] == pytest.approx(certified, rel=1e-3)
    assert made["ledger"]["total"]["upper"] == pytest.approx(certified, rel=1e-3)
    page = (out / "page.html").read_text("utf-8").replace("\N{NO-BREAK SPACE}", " ")
    assert f"{runs} (k-ary randomized response, k = 4, gamma = 0.25)" in page
    assert done("verify", out / "page.html", "--ledger", ledger, "--json").facts["verdict"] == "pass"
    again = done(*asked, "--epsilon0", law.epsilon0, "--delta", 1e-6, "--dry-run", "--json").facts
    assert again["design"] == made["design"]


def test_a_design_of_given_noise_promises_what_is_certified(tmp_path: Path) -> None:
    out = tmp_path / "age.json"
    bounds = ("--lower", 0, "--upper", 100, "--n", 3000, "--honest", "90%", "--rounds", 2)
    said = done(
        "stage", "design", "mean", *bounds, "--k", 4, "--gamma", 0.3, "--delta", 1e-6, "--out", out, "--json"
    ).facts
    assert said["upper"] <= said["design"]["target"]["epsilon"] < said["upper"] * 1.001
    assert certify(read_design(out)).epsilon == said["design"]["target"]["epsilon"], "and clients take it"
    faked = ("histogram", "--categories", "0..3", "--mechanism", "fakes")
    for words, said in ((("count", "--value", "x"), "count takes no --gamma"), (faked, "Use --epsilon.")):
        run("stage", "design", *words, "--n", 3000, "--gamma", 0.3, "--delta", 1e-6, "--out", out, "--force").refused(
            said
        )
