"""Positive controls: without our rule, whatever makes Spark run a function again gives people a
second report, and somebody sees both.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shuffledp import Poll
from tests.engines.cluster import Cluster, lose
from tests.engines.driver import Drawings
from tests.engines.naive import PARTITIONS, PEOPLE, Naively, Reports, gathered
from tests.engines.spies import Trouble

Check = Callable[[str, Reports, int], None]


@pytest.fixture
def naively(session: Any, design: dict[str, Any], tmp_path: Path) -> Naively:
    return Naively(session, design, tmp_path)


@pytest.fixture
def check(poll: Poll, record_property: Callable[[str, object], None]) -> Check:
    """That so many people have two independent reports, and nobody three."""
    law = poll.randomizer
    expected = 1 - law.hit**2 - (law.k - 1) * law.miss**2

    def check(attack: str, seen: Reports, people: int) -> None:
        twice = [reports for reports in seen.values() if len(reports) > 1]
        share = np.mean([first != second for first, second in twice])
        assert len(seen) == PEOPLE
        assert len(twice) == people
        assert abs(share - expected) < 6 * np.sqrt(expected * (1 - expected) / people)
        record_property(
            f"fault: Spark without our rule, {attack}", f"{people:,} people with two reports; {share:.1%} differ"
        )

    return check


def test_two_actions(naively: Naively, check: Check) -> None:
    frame = naively.frame()
    seen = gathered([frame.collect(), frame.collect()])
    check("two actions", seen, PEOPLE)
    assert seen == naively.drawn()


def test_a_self_join(naively: Naively, check: Check) -> None:
    frame = naively.frame()
    joined = frame.join(frame.withColumnRenamed("report", "again"), "id").collect()
    check("a self-join", {person: [report, again] for person, report, again in joined}, PEOPLE)


def test_a_cache_that_is_dropped(naively: Naively, check: Check) -> None:
    frame = naively.frame().cache()
    before = frame.collect()
    assert frame.collect() == before
    frame.unpersist(blocking=True)
    check("a cache dropped", gathered([before, frame.collect()]), PEOPLE)


def test_a_task_that_fails(naively: Naively, check: Check) -> None:
    """The engine hides the first attempt; whoever wrote to a place of their own has seen it."""
    naively.frame(Trouble("fails")).write.parquet(naively.out)
    assert all(len(reports) == 1 for reports in naively.read().values())
    check("a task that fails", naively.drawn(), PEOPLE)


def test_an_executor_killed_during_the_write(
    naively: Naively, cluster: Cluster, check: Check, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Its cached blocks go with it."""
    cached = Naively(naively.session, naively.design, tmp_path_factory.mktemp("cached")).frame().cache()
    before = cached.collect()
    frame = naively.frame(Trouble("waits", 0))
    lose(cluster, naively.session, naively.notes / "waiting-0", lambda: frame.write.parquet(naively.out))
    check("an executor killed", naively.drawn(), PEOPLE // PARTITIONS)
    assert all(len(reports) == 1 for reports in naively.read().values())
    after = cached.collect()
    assert sum(one != other for one, other in zip(before, after, strict=True)) > PEOPLE // PARTITIONS / 2
    cached.unpersist()


def test_a_driver_killed_and_started_again(killed: Drawings, check: Check) -> None:
    naively = killed.naive
    naively.append()
    check("a driver started again", naively.drawn(), PEOPLE)
    check("a driver started again, in one folder", naively.read(), PEOPLE // PARTITIONS)
