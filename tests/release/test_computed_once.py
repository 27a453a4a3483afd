"""A release with a ledger solves for each number once, and builds its poll once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from shuffledp import Poll
from shuffledp.accounting.rounds import Rounds
from shuffledp.accounting.shuffled import Shuffled
from shuffledp.design import Design
from shuffledp.ledger import Ledger
from shuffledp.release.budget import Budget, entry_of
from tests.cli.people import done


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[object, ...]]:
    """How often each epsilon was solved for: of which law among how many, which end, at which delta."""
    seen: Counter[tuple[object, ...]] = Counter()
    for kind in (Shuffled, Rounds):
        real = kind._epsilon_end

        def watched(self: Any, end: str, delta: float, real: Any = real) -> float:
            parts = [(repr(part.randomizer), part.honest, rounds) for part, rounds in self.parts]
            seen[(*parts, end, delta)] += 1
            return float(real(self, end, delta))

        monkeypatch.setattr(kind, "_epsilon_end", watched)
    return seen


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many polls were built, by their question."""
    seen: Counter[str] = Counter()
    real = Poll.__init__

    def watched(self: Poll, *given: Any, **terms: Any) -> None:
        real(self, *given, **terms)
        seen[str(self.question)] += 1

    monkeypatch.setattr(Poll, "__init__", watched)
    return seen


@pytest.mark.parametrize("rounds", [(), ("--rounds", "3")], ids=["one round", "three rounds"])
def test_a_release_computes_everything_once(
    rounds: tuple[str, ...], tmp_path: Path, solved: Counter[tuple[object, ...]], built: Counter[str]
) -> None:
    (tmp_path / "t.csv").write_text("answer\n" + "yes\nno\nyes\n" * 11, encoding="utf-8")
    question = ("histogram", tmp_path / "t.csv", "--categories", "yes,no", "--epsilon", "1", "--delta", "1e-6", *rounds)
    limit = ("--ledger", tmp_path / "b.sqlite", "--population", "us", "--limit-epsilon", "4", "--limit-delta", "1e-6")
    done(*question, *limit, "--out", tmp_path / "result")
    assert solved
    assert set(solved.values()) == {1}
    assert built == {"histogram": 1}


def test_a_ledger_records_what_the_certificate_says(tmp_path: Path, solved: Counter[tuple[object, ...]]) -> None:
    """Of a single round, whoever of the people is honest: the same number, from one solution."""
    for honest in (300, 250):
        poll = Poll("histogram", categories=["yes", "no"], n=300, honest=honest, epsilon=1.0, delta=1e-6)
        design, solved_before = Design.of(poll), solved.total()
        entry = entry_of(design, "a poll")
        assert entry.epsilon == poll.guarantee.epsilon(delta=1e-6).upper
        assert entry.guarantee.epsilon_at_most(delta=1e-6) == entry.epsilon
        assert (entry.parts[0].n, entry.parts[0].honest) == (300, honest)
        assert solved.total() - solved_before <= 3
    assert Budget(tmp_path / "b.sqlite", "us", 2.0, 1e-6).spend(design, "a poll").receipt.total.upper == entry.epsilon
    assert not Ledger(tmp_path / "b.sqlite").check().faults
