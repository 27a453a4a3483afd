"""What an engine counted goes through the same record, ledger and page as a shuffled file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.engines.batch import BatchReporter
from shuffledp.errors import InvalidInput
from shuffledp.ledger import Ledger
from shuffledp.record import Context, read_record
from shuffledp.release import stages
from shuffledp.release.budget import Budget, Spent
from shuffledp.tables.counted_reports import CountedReports, new_batch, write_counted
from tests.cli.people import done, listing, run

WAYS = ("bus", "bicycle", "car")
PEOPLE = 900


@pytest.fixture(scope="module")
def poll() -> Design:
    return Design.of(Poll("histogram", categories=WAYS, n=1000, honest=800, epsilon=1.0, delta=1e-6))


def counted(design: Design, values: Any, **facts: Any) -> CountedReports:
    """Drawn in two tasks."""
    phones, column = BatchReporter.of(design, column="v"), pa.record_batch({"v": values})
    parts = [row for part in (column.slice(0, 300), column.slice(300)) for row in phones.tally([part])]
    return phones.counted(phones.added_up(parts), **{"engine": "Spark 4.3"} | facts)


@pytest.fixture(scope="module")
def answers(poll: Design) -> CountedReports:
    return counted(poll, [WAYS[i % 3] for i in range(PEOPLE)])


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    return Budget(tmp_path / "budget.sqlite", "people", 3.0, 1e-5)


def releases(budget: Budget) -> int:
    if not budget.path.exists():
        return 0
    return sum(len(each["releases"]) for each in done("ledger", "show", budget.path, "--json").facts["populations"])


def questions() -> dict[str, tuple[Design, Any]]:
    """A question of each kind, and of each way to report very many values."""
    places, terms = np.arange(PEOPLE) % 7, {"n": PEOPLE, "epsilon": 1.0, "delta": 1e-6}
    return {
        "mean": (Design.of(Poll("mean", lower=0.0, upper=10.0, **terms)), places.astype(float)),
        **{
            mechanism: (Design.of(Poll("histogram", categories=7, mechanism=mechanism, **terms)), places)
            for mechanism in ("hadamard", "hash", "subset", "oue")
        },
    }


def test_counts_become_a_page_that_verifies_and_says_who_could_see_the_values(
    tmp_path: Path, answers: CountedReports
) -> None:
    write_counted(tmp_path / "counted.json", answers)
    done("stage", "analyze", tmp_path / "counted.json", "--out", tmp_path / "result")
    done("verify", tmp_path / "result" / "page.html")
    record = read_record((tmp_path / "result" / "page.html").read_text(encoding="utf-8"))
    assert record.counted.reports == PEOPLE
    (said,) = [note for note in record.notes if "curator" in note]
    assert "counted by Spark 4.3" in said


def test_every_question_goes_the_same_way(tmp_path: Path) -> None:
    for name, (design, values) in questions().items():
        stages.seal_counts(counted(design, values), tmp_path / f"{name}.json", design=design)
        done("stage", "analyze", tmp_path / f"{name}.json", "--out", tmp_path / name)
        assert read_record((tmp_path / name / "page.html").read_text(encoding="utf-8")).counted.reports == PEOPLE


def test_too_few_and_too_many_are_refused(tmp_path: Path, poll: Design) -> None:
    for people, said in ((799, "at least the 800"), (1001, "at most the 1000 people")):
        few = counted(poll, ["bus"] * people)
        write_counted(tmp_path / "counted.json", few)
        run("stage", "analyze", tmp_path / "counted.json", "--out", tmp_path / "result").refused(said)
        with pytest.raises(InvalidInput, match=said):
            stages.seal_counts(few, tmp_path / "sealed.json")
        assert set(listing(tmp_path)) == {"counted.json"}


def test_votes_that_no_reports_add_up_to_are_refused(tmp_path: Path, answers: CountedReports) -> None:
    more, fewer = answers.votes.copy(), answers.votes[:2]
    more[0] += 1
    for votes in (more, fewer, np.array([], dtype=np.int64), np.array([-1, 1, PEOPLE])):
        write_counted(tmp_path / "counted.json", replace(answers, votes=votes))
        run("stage", "analyze", tmp_path / "counted.json", "--out", tmp_path / "result").refused(
            "must be what 900 reports"
        )
    assert set(listing(tmp_path)) == {"counted.json"}


def test_counts_of_another_design_are_refused(tmp_path: Path, poll: Design, answers: CountedReports) -> None:
    other = Design.of(Poll("histogram", categories=WAYS, n=1000, honest=700, epsilon=1.0, delta=1e-6))
    write_counted(tmp_path / "counted.json", answers)
    for design, name in ((poll, "own"), (other, "other")):
        (tmp_path / name).write_text(json.dumps(design.as_json()), encoding="utf-8")
    asked = ("stage", "analyze", tmp_path / "counted.json", "--out", tmp_path / "result", "--design")
    run(*asked, tmp_path / "other").refused("must be of the design in --design, got another")
    done(*asked, tmp_path / "own")
    with pytest.raises(InvalidInput, match="must be of the design in design, got another"):
        stages.seal_counts(answers, tmp_path / "sealed.json", design=other)


def test_a_design_that_does_not_keep_its_promise_is_refused_where_its_counts_are_read(
    tmp_path: Path, poll: Design, answers: CountedReports
) -> None:
    """Workers certify nothing; whoever releases does."""
    weak = replace(poll, target=replace(poll.target, epsilon=0.01))
    write_counted(tmp_path / "counted.json", replace(answers, design=weak.as_json()))
    run("stage", "analyze", tmp_path / "counted.json", "--out", tmp_path / "result").refused("must keep its promise")


def test_the_same_counts_are_paid_for_once_after_a_crash(
    tmp_path: Path, budget: Budget, answers: CountedReports, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before the file could be seen, three times. The positive control: once it may have
    been seen, or where other reports were drawn, the next one pays.
    """

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    for _ in range(3):
        with monkeypatch.context() as broken:
            broken.setattr(Spent, "begin", killed)
            with pytest.raises(KeyboardInterrupt):
                stages.seal_counts(answers, tmp_path / "counted.json", budget=budget)
        assert not (tmp_path / "counted.json").exists()
    assert releases(budget) == 1
    stages.seal_counts(answers, tmp_path / "counted.json", budget=budget)
    assert releases(budget) == 1
    stages.seal_counts(replace(answers, batches=(new_batch(),)), tmp_path / "drawn-again.json", budget=budget)
    assert releases(budget) == 2


def test_a_release_of_counts_is_paid_for_once_after_a_crash(
    tmp_path: Path, budget: Budget, poll: Design, answers: CountedReports, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Context(question="histogram", what="histogram of v", source="people")

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(Spent, "begin", killed)
        with pytest.raises(KeyboardInterrupt, match="release 1"):
            stages.release_counts(answers, poll, asked, tmp_path / "result", budget=budget)
    stages.release_counts(answers, poll, asked, tmp_path / "result", budget=budget)
    assert releases(budget) == 1
    mixed = replace(answers, batches=(*answers.batches, new_batch()))
    with pytest.raises(InvalidInput, match="got some of release 1 with others"):
        stages.release_counts(mixed, poll, asked, tmp_path / "more", budget=budget)


def test_a_release_in_memory_takes_its_batches_too(budget: Budget, poll: Design, answers: CountedReports) -> None:
    asked = Context(question="histogram", what="histogram of v", source="people")
    assert stages.release_counts(answers, poll, asked, budget=budget).record.counted.reports == PEOPLE
    mixed = replace(answers, batches=(*answers.batches, new_batch()))
    with pytest.raises(InvalidInput, match="got some of release 1 with others"):
        stages.release_counts(mixed, poll, asked, budget=budget)


def test_the_ledger_knows_the_very_file(tmp_path: Path, budget: Budget, answers: CountedReports) -> None:
    """A forger can seal other votes; the ledger has the seal of those that were paid for."""
    stages.seal_counts(answers, tmp_path / "counted.json", budget=budget)
    (release,) = Ledger(budget.path).releases()
    assert release.output == json.loads((tmp_path / "counted.json").read_text(encoding="utf-8"))["sha256"]


def test_over_the_limit_nothing_is_written(tmp_path: Path, answers: CountedReports) -> None:
    small = Budget(tmp_path / "budget.sqlite", "people", 0.5, 1e-6)
    with pytest.raises(InvalidInput, match="together must keep epsilon"):
        stages.seal_counts(answers, tmp_path / "counted.json", budget=small)
    assert not (tmp_path / "counted.json").exists()


def test_a_file_that_stands_is_not_replaced(tmp_path: Path, budget: Budget, answers: CountedReports) -> None:
    (tmp_path / "counted.json").write_text("theirs", encoding="utf-8")
    with pytest.raises(InvalidInput, match="must not exist yet"):
        stages.seal_counts(answers, tmp_path / "counted.json", budget=budget)
    assert releases(budget) == 0
    stages.seal_counts(answers, tmp_path / "counted.json", budget=budget, force=True)
    assert releases(budget) == 1
