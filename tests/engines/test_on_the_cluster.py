"""From a folder of Parquet on a real cluster to a page that verifies: histogram, mean,
counts and sums of several messages, quantiles among dummies in all levels of a tree, and two columns
crossed among fakes and among dummies.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shuffledp.design import Design
from shuffledp.randomizers.messages.dummies import AddedDummies
from tests.cli.people import AGE, CITIES, CITY, PEOPLE, PROMISE, TRUTH, done, people
from tests.engines.cluster import Cluster, lose
from tests.engines.spies import NO_TROUBLE, Trouble, noted
from tests.engines.watched import spying

FILES = 3
Facts = dict[str, Any]
SIZES = ("tall", "short")
CROSSED = (*CITY[:4], "--column", "size", "--categories", ",".join(SIZES), "--by", "size", *PROMISE)
# Every other method of counting is in test_spark.py, where its counts are the library's own, too.
QUESTIONS = {
    "histogram": ("histogram", *CITY),
    "mean": ("mean", *AGE),
    "hadamard": ("histogram", "--mechanism", "hadamard", *CITY),
    "count": ("count", "--column", "city", "--value", "Osaka", *PROMISE),
    "sum": ("sum", "--error", 500, *AGE),
    "quantile": ("quantile", "--mechanism", "dummies", "--bins", 100, *AGE),
    "crosstab, fakes": ("crosstab", "--mechanism", "fakes", *CROSSED),
    "crosstab, dummies": ("crosstab", "--mechanism", "dummies", *CROSSED),
}


def sized() -> pa.Table:
    """The people, and how tall they are, which nobody needs to believe."""
    rows = people()
    return rows.append_column("size", pa.array([SIZES[age % 3 == 0] for age in rows["age"].to_pylist()]))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of several files."""
    folder, rows = tmp_path_factory.mktemp("table"), sized()
    for each in range(FILES):
        pq.write_table(rows.take(pa.array(range(each, len(rows), FILES))), folder / f"part-{each}.parquet")
    return folder


def released(question: str, table: Path, cluster: Cluster, place: Path, trouble: Trouble = NO_TROUBLE) -> Facts:
    """The facts of a release by the command line."""
    command, *options = QUESTIONS[question]
    engine = ("--engine", cluster.master, "--work", place / "work")
    with spying(place, trouble):
        done(command, table, *options, *engine, "--out", place / "result")
    facts: Facts = json.loads((place / "result" / "estimates.json").read_text())
    return facts


def check(facts: Facts, place: Path) -> None:
    """That the counts of a release are the library's own of the reports that were drawn, one for
    each person, and that its estimates are theirs, and near the truth.
    """
    protocol = Design.from_json(facts["design"]).poll
    last = {each.partition: each for each in sorted(noted(place), key=lambda each: each.attempt)}
    drawn = np.concatenate([each.reports(protocol.randomizer) for each in last.values()])
    tally, counted, estimates = protocol.randomizer.tally(drawn), facts["tally"], facts["tables"][0]
    if isinstance(law := protocol.randomizer, AddedDummies):  # which were added once, and are in the votes
        added = np.subtract(counted["votes"], tally[1:])
        assert law.numbers.first <= min(added) <= max(added) <= law.numbers.last
        assert sum(added) > law.places * law.center / 2
        tally[1:] += added
    assert counted["votes"] == tally[-len(counted["votes"]) :].tolist()
    assert counted["reports"] == facts["counted"]["reports"] == len(drawn)
    assert estimates["value"] == np.atleast_1d(protocol.analyse_counts(tally).values).tolist()
    assert facts["secure"] is True
    truth = truth_of(facts["asked"]["question"])
    assert (np.abs(np.subtract(estimates["value"], truth)) < 6 * np.array(estimates["stderr"])).all()


def truth_of(task: str) -> list[float]:
    """What nobody but us knows."""
    ages = people()["age"].to_numpy()
    if task == "crosstab":
        pairs = Counter(zip(*(sized()[name].to_pylist() for name in ("city", "size")), strict=True))
        counts = np.array([[float(pairs[city, size]) for size in SIZES] for city in CITIES])
        return [*counts.ravel(), *counts.sum(axis=1), *counts.sum(axis=0)]
    if task == "quantile":
        return [float((ages < cut).sum()) for cut in range(1, 100)]
    single = {"mean": float(ages.mean()), "sum": float(ages.sum()), "count": float(TRUTH["Osaka"])}
    return [single[task]] if task in single else list(map(float, TRUTH.values()))


@pytest.mark.usefixtures("session")  # which the command line takes over
@pytest.mark.parametrize("question", QUESTIONS)
def test_counts_are_those_of_the_reports_and_the_page_verifies(
    question: str, table: Path, cluster: Cluster, tmp_path: Path
) -> None:
    facts = released(question, table, cluster, tmp_path)
    check(facts, tmp_path)
    assert {each.attempt for each in noted(tmp_path)} == {0}
    assert done("verify", tmp_path / "result" / "page.html").out.lstrip().startswith("pass:")


def test_a_worker_is_lost_during_the_run(table: Path, cluster: Cluster, session: Any, tmp_path: Path) -> None:
    made: list[Facts] = []

    def release() -> None:
        made.append(released("histogram", table, cluster, tmp_path, Trouble("waits", 0)))

    lose(cluster, session, tmp_path / "waiting-0", release, worker=True)
    check(made[0], tmp_path)
    assert max(each.attempt for each in noted(tmp_path)) == 1
    assert made[0]["counted"]["reports"] == PEOPLE
