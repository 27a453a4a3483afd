"""A mean of clipped values says that it is one, and how many values lie at the ends of the range,
by the reports alone.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shuffledp import Poll
from shuffledp.domain import Grid
from shuffledp.page import html
from shuffledp.record import Record, Table
from shuffledp.tables.values import Values
from tests.cli.people import AGE, PROMISE, Said, done, people
from tests.verify.releases import judged, rehashed

UPPER = 40.0
RUNS = 1000


@dataclasses.dataclass(frozen=True)
class Made:
    said: Said
    folder: Path
    facts: dict[str, Any]
    page: str


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, table: Path) -> Made:
    """The mean age, of people from 18 to 77, clipped to 40; how many were clipped is counted while
    the column is read, and nobody may look.
    """

    def forbidden(_: Values) -> int:
        raise AssertionError("the number of clipped values is private")

    folder = tmp_path_factory.mktemp("clipped") / "result"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Values, "clipped", property(forbidden, lambda *_: None), raising=False)
        said = done(
            "mean", table, "--column", "age", "--lower", 0, "--upper", UPPER, "--clip", *PROMISE, "--out", folder
        )
    facts = json.loads((folder / "estimates.json").read_text(encoding="utf-8"))
    page = re.sub(r"<[^>]*>", "", (folder / "page.html").read_text(encoding="utf-8").partition("<script")[0]).replace(
        "\u00a0", " "
    )
    return Made(said, folder, facts, page)


def test_every_output_says_that_it_is_the_mean_of_the_clipped_values(made: Made) -> None:
    assert made.facts["tables"][0]["label"] == ["mean of the clipped values"]
    with (made.folder / "estimates.csv").open(newline="", encoding="utf-8") as file:
        assert [row["label"] for row in csv.DictReader(file)] == ["mean of the clipped values"]
    for text in (made.said.out, made.page):
        words = " ".join(text.split())
        assert "This is the mean of the clipped values, not of the values themselves." in words
        assert "a wider range, such as 0 to 80, would clip fewer" in words
    assert made.page.index("not of the values themselves") < made.page.index("The estimate in numbers"), "at the top"
    assert made.said.out.index("95 % interval") < made.said.out.index("Warning"), "results come first"
    assert "clipped" in made.facts["asked"]["what"]


def test_the_share_at_each_end_is_estimated_and_the_exact_number_is_nowhere(made: Made) -> None:
    ages = np.array(people()["age"].to_pylist())
    domain, ends = made.facts["design"]["domain"], made.facts["tables"][1]
    step = (domain["upper"] - domain["lower"]) / domain["steps"]
    exact = int((ages > UPPER).sum())
    # Fresh noise in every run: a 95 % interval may miss, one widened to six standard errors does not.
    low, high = np.array(ends["lower"]), np.array(ends["upper"])
    wide = 2.1 * (high - low) / 2
    assert low[1] - wide[1] <= int((ages > UPPER - step).sum())
    assert high[1] + wide[1] >= exact
    assert low[0] - wide[0] <= 0 <= high[0] + wide[0]
    for name in ("page.html", "estimates.json", "estimates.csv", "design.json"):
        content = (made.folder / name).read_text(encoding="utf-8")
        assert not re.search(rf"(?<![\d.]){exact}(?![\d.])|(?<![\d.]){exact:,}(?![\d.])", content), name


def test_a_mean_whose_values_are_inside_says_nothing_of_the_kind(folders: dict[str, Path]) -> None:
    facts = json.loads((folders["mean"] / "estimates.json").read_text(encoding="utf-8"))
    assert facts["tables"][0]["label"] == ["mean"]
    assert len(facts["tables"]) == 1
    assert "clipped" not in (folders["mean"] / "page.html").read_text(encoding="utf-8")


def test_a_sum_is_drawn_on_the_scale_of_all_sums(table: Path, tmp_path: Path) -> None:
    done("sum", table, *AGE, "--out", tmp_path / "sum")
    record = Record.from_json(json.loads((tmp_path / "sum" / "estimates.json").read_text(encoding="utf-8")))
    everybody = 100.0 * record.counted.reports
    assert record.question.ends(record.counted.reports) == (0.0, everybody)
    for name in ("page.html", "estimates.svg"):
        assert f"The scale from 0 to {everybody:,.0f}, which" in (tmp_path / "sum" / name).read_text(encoding="utf-8")


def test_a_plan_warns_before_anything_is_spent(table: Path) -> None:
    said = done("mean", table, "--column", "age", "--lower", 0, "--upper", UPPER, "--clip", *PROMISE, "--dry-run").out
    assert "the answer would be the mean of the clipped values" in " ".join(said.split())


def changed(facts: dict[str, Any], place: int, columns: dict[str, Any]) -> dict[str, Any]:
    """The facts with other columns in one of the tables, hashes and all."""
    tables = [each | columns if at == place else each for at, each in enumerate(facts["tables"])]
    return rehashed(facts | {"tables": tables})


def verdicts(facts: dict[str, Any]) -> set[str]:
    return {check.what for check in judged(facts)[0] if check.outcome == "FAIL"}


def test_a_page_that_hides_how_many_were_clipped_is_caught(made: Made) -> None:
    assert verdicts(made.facts) == set(), "the control: the honest page passes"
    assert verdicts(changed(made.facts, 1, {"value": [0.0, 3.0]})) == {"people at the ends"}
    assert verdicts(changed(made.facts, 1, {"upper": [9.0, 9.0]})) == {"people at the ends, at most"}
    assert verdicts(changed(made.facts, 1, {"unit": "mean"})) == {"rows and columns of the ends"}
    assert verdicts(changed(made.facts, 0, {"label": ["mean"]})) == {"labels of the estimates"}


def test_a_page_that_leaves_out_who_is_at_the_ends_is_caught(made: Made) -> None:
    facts = made.facts | {"tables": [made.facts["tables"][0] | {"label": ["mean"]}]}
    assert verdicts(rehashed(facts)) == {"what a page cannot leave out"}
    assert "not of the values themselves" not in html(Record.from_json(facts))


def test_only_a_large_share_calls_for_a_wider_range(made: Made) -> None:
    few = {"lower": [0.0, 2.0], "value": [1.0, 9.0], "upper": [8.0, 16.0]}
    record = Record.from_json(changed(made.facts, 1, few))
    words = " ".join(record.question.clipping(record)).replace("\u00a0", " ")
    assert "wider range" not in words
    assert "at most 0.3 % of the people are at or below 0" in words
    assert "at most 0.6 % are at or above 40" in words


def test_what_is_said_of_the_ends_is_true_where_nobody_was_clipped_but_many_are_near(made: Made) -> None:
    """Reports round to a grid, so that small incomes count at 0 in part. That they were clipped, or
    between two shares at or below 0, would be false.
    """
    rng, n, upper = np.random.default_rng(3), 20_000, 60_000.0
    values = incomes(rng, n)
    poll = Poll("mean", n=n, epsilon0=5.0, k=5, lower=0.0, upper=upper)
    ends = poll.derive(poll.randomizer.tally(poll.encode(np.minimum(values, upper), rng=rng).rows))[
        "ends"
    ].simultaneous()
    record = Record.from_json(made.facts)
    at_ends = Table.made("ends", "lu", unit="people", level=0.95, value=(0, 0), lower=ends[0], upper=ends[1])
    record = dataclasses.replace(
        record,
        design=dataclasses.replace(record.design, domain=Grid(lower=0.0, upper=upper, steps=5)),
        counted=dataclasses.replace(record.counted, reports=n),
        tables=(record.estimates, at_ends),
    )
    words = " ".join(record.question.clipping(record)).replace("\u00a0", " ")
    shares = [float(share) for share in re.findall(r"at (?:most|least) ([\d.]+) %", words)]
    assert "below 12,000; " in words
    assert "above 48,000 (" in words
    most_low, least_low, most_high, least_high = (share / 100.0 for share in shares)
    assert 0.0 == (values <= 0.0).mean() < least_low <= (values < 12_000.0).mean(), (
        "nobody is at 0, and yet some are counted there"
    )
    assert most_low >= 0.0
    assert least_high <= (values > 48_000.0).mean()
    assert most_high >= (values >= upper).mean()


def incomes(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.exp(rng.normal(10.45, 0.65, n))


def test_intervals_of_a_clipped_mean_and_of_its_ends_cover_as_often_as_they_say() -> None:
    """The clipped mean at least 95 times in 100; the plain mean, which it was taken for, never.

    At least: how much of the spread is rounding to the grid no report shows, and what it is at most
    is allowed for. Where it is that, the interval is exact, which the second half demands.
    """
    n, upper, rng = 4_000, 60_000.0, np.random.default_rng(7)
    poll = Poll("mean", n=n, epsilon0=5.0, k=8, lower=0.0, upper=upper)
    step = upper / 8
    wide, half = (
        incomes(rng, n),
        np.concatenate([np.full(n // 4, upper), (rng.integers(0, 8, n - n // 4) + 0.5) * step]),
    )
    covered, plain, ends = {"wide": 0, "half": 0}, 0, 0
    for name, values in (("wide", wide), ("half", half)):
        inside = np.minimum(values, upper)
        for _ in range(RUNS):
            tally = poll.randomizer.tally(poll.encode(inside, rng=rng).rows)
            low, high = poll.analyse_counts(tally).interval()
            covered[name] += bool(low[0] <= inside.mean() <= high[0])
            if name == "wide":
                plain += bool(low[0] <= values.mean() <= high[0])
                least, most = poll.derive(tally)["ends"].simultaneous()
                ends += bool(
                    least[1] <= (values > upper - step).sum()
                    and (values >= upper).sum() <= most[1]
                    and least[0] <= (values < step).sum()
                )
    assert plain == 0
    assert ends >= 0.95 * RUNS
    assert 0.94 * RUNS <= covered["wide"] <= 0.98 * RUNS
    assert 0.94 * RUNS <= covered["half"] <= 0.965 * RUNS


def test_the_count_at_an_end_covers_as_often_as_it_says() -> None:
    """All values lie on the grid, so that rounding moves nobody, and how many are at an end is
    known.
    """
    rng, n = np.random.default_rng(7), 2_000
    poll = Poll("mean", n=n, epsilon0=3.0, k=4, lower=0.0, upper=4.0)
    values = rng.integers(0, 5, n).astype(float)
    truth = np.array([(values == 0.0).sum(), (values == 4.0).sum()])
    single = both = 0
    for _ in range(RUNS):
        estimate = poll.derive(poll.randomizer.tally(poll.encode(values, rng=rng).rows))["ends"]
        (low, high), (least, most) = estimate.interval(), estimate.simultaneous()
        single += int(((low <= truth) & (truth <= high)).sum())
        both += bool(((least <= truth) & (truth <= most)).all())
    assert 0.94 * 2 * RUNS <= single <= 0.96 * 2 * RUNS
    assert 0.94 * RUNS <= both <= 0.97 * RUNS
