"""The same attacks on our code: everybody has one report in all that can be read, whatever fails."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shuffledp import InvalidInput
from shuffledp.tables.counted_reports import CountedReports
from tests.engines.cluster import Cluster, lose
from tests.engines.driver import Drawings
from tests.engines.naive import PARTITIONS, PEOPLE
from tests.engines.spies import Trouble, noted
from tests.engines.watched import Watched

Check = Callable[[str, Watched, int], CountedReports]
KINDS = ("rows", "sums")
both = pytest.mark.parametrize("tallied", [False, True], ids=KINDS)


@pytest.fixture
def watched(session: Any, design: dict[str, Any], tmp_path: Path) -> Watched:
    return Watched(session, design, tmp_path)


@pytest.fixture
def check(record_property: Callable[[str, object], None]) -> Check:
    """That ``lost`` attempts have drawn for nothing, and that of every partition the draws of one
    attempt can be read, those of the last: everybody has one report. The counts are theirs.
    """

    def check(attack: str, watched: Watched, lost: int) -> CountedReports:
        attempts, law = noted(watched.notes), watched.law
        seen = [each for each in attempts if watched.shows(each)]
        assert len(attempts) == PARTITIONS + lost
        assert {each.partition: each.attempt for each in seen} == {
            each.partition: each.attempt for each in sorted(attempts, key=lambda each: each.attempt)
        }
        assert watched.files() == ["_SUCCESS", "claim.json", *(path.name for path in watched.parts)]
        drawn, read = (np.concatenate([each.reports(law) for each in some]) for some in (attempts, seen))
        counted = watched.count()
        assert counted.reports == len(read) == PEOPLE
        assert counted.votes.tolist() == law.tally(read).tolist()
        told = f"{len(drawn):,} draws for {PEOPLE:,} people; {len(read) - PEOPLE} people with two reports"
        record_property(f"fault: Spark with our rule, {attack}", told)
        return counted

    return check


@both
def test_two_actions(watched: Watched, tallied: bool, check: Check) -> None:
    watched.encode(tallied=tallied)
    counted = check(f"two actions on {KINDS[tallied]}", watched, 0)
    assert watched.count().votes.tolist() == counted.votes.tolist()
    frame = watched.readable()
    assert frame.collect() == frame.collect()


def test_a_self_join(watched: Watched) -> None:
    """Rows are told apart by where they stand: nothing else is left of a person."""
    watched.encode(tallied=False)
    frame = watched.readable().selectExpr("_metadata.file_name AS file", "_metadata.row_index AS row", "report")
    joined = frame.join(frame.withColumnRenamed("report", "again"), ["file", "row"]).collect()
    assert len(joined) == PEOPLE
    assert [each["report"] for each in joined] == [each["again"] for each in joined]
    assert len(noted(watched.notes)) == PARTITIONS


def test_a_cache_that_is_dropped(watched: Watched, check: Check) -> None:
    """Of the people, who are computed again, and of what was committed, which is read again."""
    people = watched.frame.cache()
    watched.encode(tallied=False)
    people.unpersist(blocking=True)
    frame = watched.readable().cache()
    before = frame.collect()
    frame.unpersist(blocking=True)
    assert frame.collect() == before
    check("a cache dropped", watched, 0)


@both
def test_a_task_that_fails(watched: Watched, tallied: bool, check: Check) -> None:
    watched.encode(Trouble("fails"), tallied=tallied)
    check(f"a task that fails, {KINDS[tallied]}", watched, PARTITIONS)


def test_an_executor_killed_during_the_write(watched: Watched, cluster: Cluster, check: Check) -> None:
    """Of reports; ``test_on_the_cluster`` has the same for sums, and a whole worker."""
    trouble = Trouble("waits", 0)
    lose(cluster, watched.session, watched.notes / "waiting-0", lambda: watched.encode(trouble, tallied=False))
    check("an executor killed", watched, 1)


def test_a_driver_killed_before_the_commit(killed: Drawings) -> None:
    """One task of two had ended, and the session would have published it: see the control."""
    begun = killed.begun
    drawn = len(noted(begun.notes))
    assert drawn == PARTITIONS
    assert begun.committed() == {}
    with pytest.raises(InvalidInput, match="must not exist yet"):
        begun.encode(tallied=True)
    for start in (begun.release, begun.count):
        with pytest.raises(InvalidInput, match=re.escape("never committed. Delete the folder")):
            start()
    assert len(noted(begun.notes)) == drawn


def test_a_driver_killed_after_the_commit(killed: Drawings, check: Check) -> None:
    """Whoever is started again goes on with what was drawn."""
    committed = killed.committed
    assert committed.release().estimate.n == PEOPLE
    check("a driver started again that releases", committed, 0)
