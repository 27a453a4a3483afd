"""Series for the tests: two answers, few people, four weeks."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.ledger import Ledger
from shuffledp.release.budget import Budget
from shuffledp.release.pipeline import release
from shuffledp.release.released import Release
from shuffledp.series.weeks import Week, new_series, next_week, question_of
from shuffledp.tables.memory import held_table

PEOPLE, LEAST, WEEKS = 400, 300, 4


def published(week: Week, yes: int, people: int = PEOPLE, seed: int = 0) -> Release:
    """A week in which so many said yes."""
    table = held_table(["yes"] * yes + ["no"] * (people - yes))
    question = question_of(week, source=table)
    with question.values(question.open()) as values:
        week.check_people(values.count)
        return release(
            question, values, week.series.design, week.folder, budget=week.budget, rng=np.random.default_rng(seed)
        )


@pytest.fixture(scope="session")
def weekly() -> Design:
    return Design.of(
        Poll("histogram", categories=["yes", "no"], n=PEOPLE, honest=LEAST, rounds=WEEKS, epsilon=2.0, delta=1e-6)
    )


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    return Budget(tmp_path / "budget.sqlite", "p", 3.0, 1e-5)


@pytest.fixture
def folder(tmp_path: Path, weekly: Design, budget: Budget) -> Path:
    new_series(tmp_path / "cities", weekly, "cities", budget=budget)
    return tmp_path / "cities"


@pytest.fixture
def add() -> Callable[..., Release]:
    def added(folder: Path, yes: int = 100, people: int = PEOPLE, **named: object) -> Release:
        with next_week(folder, **named) as week:  # type: ignore[arg-type]
            return published(week, yes, people)

    return added


@pytest.fixture
def ledger(budget: Budget, folder: Path) -> Ledger:
    assert folder.is_dir()
    return Ledger(budget.path)
