"""Histograms among fakes, from a table, from files and from counts to a page; whatever would show
the truth to the wrong people, or count without fakes, is refused, and nothing is spent.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shuffledp as sdp
from shuffledp import Poll, client
from shuffledp.design import Design
from shuffledp.engines.batch import BatchReporter
from shuffledp.errors import InvalidInput
from shuffledp.page import html
from shuffledp.randomizers import UserFakes
from shuffledp.record import Context
from shuffledp.release.budget import Budget
from shuffledp.release.stages import analyse, release_counts, shuffle
from shuffledp.tables.columns import open_column
from shuffledp.tables.counted_reports import CountedReports, write_counted
from shuffledp.tables.reports import Header, open_reports, write_reports
from shuffledp.verify import verify
from tests.cli.people import run

WAYS = ["bus", "car", "train"]
VALUES = ["bus"] * 1500 + ["car"] * 480 + ["train"] * 20
TERMS: dict[str, Any] = {"categories": WAYS, "epsilon": 1.0, "delta": 1e-6}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["way", *VALUES]) + "\n", encoding="utf-8")
    return path


def lightly() -> tuple[Poll, Design]:
    """A law that needs no calibration, with a promise that it keeps."""
    law = UserFakes(k=3, slots=1, chance=0.3, epsilon0=6.0).realised
    poll = Poll("histogram", categories=WAYS, n=2000, randomizer=law, delta=1e-6)
    return poll, Design.of(poll, epsilon=1.0)


@pytest.mark.parametrize(("mechanism", "kind"), [("fakes", None), ("fakes", "poisson"), ("dummies", None)])
def test_from_values_to_a_page_that_verifies(mechanism: str, kind: str | None, tmp_path: Path) -> None:
    ledger = tmp_path / "budget.sqlite"
    limits = {"population": "riders", "limit_epsilon": 2.0, "limit_delta": 1e-4}
    hidden = {"mechanism": mechanism, "kind": kind}
    made = sdp.histogram(VALUES, **TERMS, **hidden, ledger=ledger, **limits, rng=np.random.default_rng(4))
    for label, held in zip(WAYS, (1500, 480, 20), strict=True):
        row = made.estimates[label]
        assert abs(row.estimate - held) < 6.0 * row.stderr
    assert made.certificate.alone is None
    assert made.record.design.mechanism.epsilon0 is None
    page = html(made.record)
    assert verify(page).verdict == "pass"
    said = " ".join(page.split())
    assert "on only the analyst reading messages" in said
    assert ("dummies, about 25 for each possible answer" in said) == (mechanism == "dummies")
    assert "with a fixed probability" not in said
    assert made.record.ledger is not None
    assert made.record.ledger.total.upper <= 1.0


def test_lightly_randomized_fakes_run_through_files(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp.release.certificate.POINTS", 3)  # which take seconds each
    poll, design = lightly()
    encoded = client.encode(design, open_column(str(table), "way", kind="text"), tmp_path / "a.reports")
    assert (encoded.file.count, encoded.file.header.width) == (2000, poll.messages)
    mixed = shuffle([encoded.file.path], tmp_path / "mixed.reports", rng=np.random.default_rng(2))
    found = open_reports(tmp_path / "mixed.reports")
    assert (found.count, found.header.width) == (2000 * poll.messages, None)
    assert (mixed.file.count, mixed.people) == (found.count, 2000)
    rows = np.concatenate(list(open_reports(encoded.file.path).batches()))
    messages = np.concatenate(list(found.batches()))
    assert np.bincount(messages).tolist() == np.bincount(rows.ravel()).tolist()
    # Neighbors in the file are no longer one person's: the true message stood first in each row.
    assert abs(np.corrcoef(messages[::2] == 3, messages[1::2] == 3)[0, 1]) < 6.0 / np.sqrt(2000)
    made = analyse(tmp_path / "mixed.reports", tmp_path / "result", design=design)
    assert made.record.counted.reports == 2000
    row = made.estimates["bus"]
    assert abs(row.estimate - 1500) < 6.0 * row.stderr
    assert verify((tmp_path / "result" / "page.html").read_text()).failed == ()


def test_messages_that_are_no_rows_are_refused_by_the_shuffler(tmp_path: Path) -> None:
    _, design = lightly()
    loose = np.zeros(2000, dtype=np.uint8)
    write_reports(tmp_path / "a", Header.encoded(design.as_json(), secure=True), [(loose, None)])
    with pytest.raises(InvalidInput, match="must hold the 2 messages of each person in a row"):
        shuffle([tmp_path / "a"], tmp_path / "b")


@pytest.mark.parametrize("mechanism", ["fakes", "dummies"])
def test_the_truth_is_not_written_to_plain_files_nor_handed_out_by_engines(
    mechanism: str, table: Path, tmp_path: Path
) -> None:
    poll = Poll("histogram", mechanism=mechanism, **TERMS, n=2000)
    with pytest.raises(InvalidInput, match="must be sealed to the analyst"):
        client.encode(Design.of(poll), open_column(str(table), "way", kind="text"), tmp_path / "a.reports")
    with pytest.raises(InvalidInput, match="must be sealed to the analyst"):
        BatchReporter.of(poll, column="way").check_shown()
    light = Poll("histogram", mechanism="dummies", **TERMS | {"epsilon": 0.2}, n=2000, light_epsilon0=8.0)
    with pytest.raises(InvalidInput, match="must have nothing to add"):
        client.encode(Design.of(light), open_column(str(table), "way", kind="text"), tmp_path / "a.reports")
    with pytest.raises(InvalidInput, match="must not be handed out before it did"):
        BatchReporter.of(light, column="way").check_shown()
    assert not (tmp_path / "a.reports").exists()


def test_parts_that_engines_commit_add_up_to_what_one_shuffler_makes() -> None:
    """The first part brings the dummies, once."""
    poll = Poll("histogram", mechanism="dummies", **TERMS, n=2000, keep=0.9)
    phones = BatchReporter.of(poll, column="way")
    parts = [pa.record_batch({"way": VALUES[start : start + 500]}) for start in range(0, 2000, 500)]
    sums = phones.added_up(row for place, part in enumerate(parts) for row in phones.tally([part], first=place == 0))
    assert sums.numbers[0] == sums.people == 2000
    estimate = poll.analyse_counts(sums)
    assert abs(estimate["bus"] - 1500) < 8.0 * estimate.stderr[0]
    poll = Poll("histogram", mechanism="dummies", **TERMS, n=2000)
    phones = BatchReporter.of(poll, column="way")
    bare = phones.added_up(row for part in parts for row in phones.tally([part], first=False))
    with pytest.raises(InvalidInput, match="got one without the shuffler's part"):
        poll.analyse_counts(bare)
    with pytest.raises(InvalidInput, match="got too few"):
        poll.analyse_counts(bare.numbers)


@pytest.mark.parametrize("mechanism", ["fakes", "dummies"])
def test_counts_without_fakes_are_refused_and_nothing_is_spent(mechanism: str, tmp_path: Path) -> None:
    """Positive control: the same counts with fakes are released, and charged."""
    poll = Poll("histogram", mechanism=mechanism, **TERMS, n=2000)
    design, asked = Design.of(poll), Context(question="histogram", what="a question")
    budget = Budget.of(tmp_path / "budget.sqlite", "riders", 2.0, 1e-4)
    assert budget is not None
    places = np.repeat(np.arange(3), [1500, 480, 20])
    bare = np.array([2000 * poll.messages, 1500, 480, 20])

    def counted(votes: Any) -> CountedReports:
        return CountedReports(design=design.as_json(), votes=votes, reports=2000, batches=("ab" * 16,), secure=True)

    with pytest.raises(InvalidInput, match="got too few"):
        release_counts(counted(bare), design, asked, tmp_path / "result", budget=budget)
    assert not (tmp_path / "result").exists()
    assert not (tmp_path / "budget.sqlite").exists()
    write_counted(tmp_path / "counted.json", counted(bare))
    with pytest.raises(InvalidInput, match="got too few"):
        analyse(tmp_path / "counted.json", tmp_path / "result")
    honest = poll.randomizer.mixed(poll.randomizer.tally(poll.randomizer.randomize(places)))
    made = release_counts(counted(honest), design, asked, tmp_path / "result", budget=budget)
    assert made.record.ledger is not None


def test_the_command(table: Path, tmp_path: Path) -> None:
    terms = ["--column", "way", "--categories", ",".join(WAYS), "--epsilon", "1", "--delta", "1e-6"]
    made = run("histogram", table, *terms, "--mechanism", "dummies", "--out", tmp_path / "r")
    assert made.code == 0
    assert (tmp_path / "r" / "page.html").exists()
    shown = run("histogram", table, *terms, "--mechanism", "fakes", "--dry-run")
    assert "messages" in shown.out
    for wrong, words in (
        (
            ["--mechanism", "noise"],
            "--mechanism of a histogram must be one of krr, hadamard, hash",
        ),
        (["--mechanism", "fakes", "--slots", "2"], "No such option: --slots"),
    ):
        failed = run("histogram", table, *terms, *wrong, "--out", tmp_path / "x")
        assert failed.code == 2
        assert words in " ".join(failed.error.split())
    for choices, words in (
        ({"slots": 2}, 'slots must come with mechanism="fakes"'),
        ({"mechanism": "fakes", "kept": 0.5}, 'kept must come with mechanism="dummies"'),
        ({"mechanism": "dummies", "kept": 0.0}, "keep must"),
        ({"mechanism": "dummies", "kind": "binomial"}, "kind of dummies must be"),
    ):
        with pytest.raises(InvalidInput, match=words):
            sdp.histogram(VALUES, **TERMS, **choices)
    terms = ["--lower", "0", "--upper", "1", "--n", "100", "--epsilon", "1", "--delta", "1e-6"]
    failed = run("stage", "design", "mean", *terms, "--mechanism", "fakes", "--out", tmp_path / "d.json")
    assert failed.code == 2
    assert "mean takes no --mechanism" in " ".join(failed.error.split())


@pytest.mark.parametrize("mechanism", ["fakes", "dummies"])
def test_crosstabs_and_quantiles_to_pages_that_verify(mechanism: str) -> None:
    rng = np.random.default_rng(5)
    people = pa.table(
        {"way": VALUES, "late": ["yes", "no"] * (len(VALUES) // 2), "age": (np.arange(len(VALUES)) % 80).tolist()}
    )
    hidden: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "mechanism": mechanism, "rng": rng}
    crossed = sdp.crosstab(people, ["way", "late"], categories=[WAYS, ["yes", "no"]], by="way", **hidden)
    for label, held in (("bus × yes", 750), ("car × (all)", 480), ("(all) × no", 1000)):
        row = crossed.estimates[label]
        assert abs(row.estimate - held) < 6.0 * row.stderr < 100.0
    bins = {"fakes": 16, "dummies": 80}[mechanism]  # of so many, all levels of a tree are asked about
    ages = sdp.quantile(people, "age", lower=0, upper=80, bins=bins, ranges=[(20, 60)], at=[0.25, 0.5], **hidden)
    found, inside = ages.record.table("quantiles"), ages.record.table("ranges")
    assert found is not None
    assert inside is not None
    assert found.lower[1] < 40.0 <= found.upper[1]
    assert abs(inside.value[0] - 1000) < 6.0 * inside.stderr[0]
    for made, law in ((crossed, mechanism), (ages, {"dummies": "tree"}.get(mechanism, mechanism))):
        assert made.record.design.mechanism.type == law
        page = html(made.record)
        assert verify(page).verdict == "pass"
        assert "on only the analyst reading messages" in " ".join(page.split())
    assert ("one message for each of 2 levels" in " ".join(page.split())) == (mechanism == "dummies")


def test_commands_ask_for_fakes_and_files_of_the_truth_are_refused(table: Path, tmp_path: Path) -> None:
    promise = ("--epsilon", 1, "--delta", 1e-6, "--mechanism", "dummies")
    out = tmp_path / "design.json"
    bins = ("--lower", 0, "--upper", 80, "--bins", 8)
    made = run("stage", "design", "quantile", *bins, *promise, "--n", 5000, "--out", out)
    assert made.code == 0
    assert "survey new --design" in made.out
    assert "encode" not in made.out, "which refuses it"
    design = Design.from_json(json.loads(out.read_text(encoding="utf-8")))
    assert (design.question.type, design.mechanism.type) == ("quantile", "tree")
    run("stage", "encode", table, "--design", out, "--column", "way", "--out", tmp_path / "a.reports").refused("sealed")
    run(
        "stage", "design", "mean", "--lower", 0, "--upper", 1, *promise, "--n", 5000, "--out", tmp_path / "no.json"
    ).refused("mean takes no --mechanism")
    columns = ("--column", "way", "--column", "late", "--categories", "bus,car,train", "--categories", "yes,no")
    both = tmp_path / "both.csv"
    both.write_text("\n".join(["way,late", *(f"{way},yes" for way in VALUES)]) + "\n", encoding="utf-8")
    told = run("crosstab", both, *columns, *promise, "--dry-run", "--json").facts
    assert told["design"]["mechanism"]["type"] == "dummies"
