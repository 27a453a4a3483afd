"""What everybody may know of how many have reported, and what that tells an attacker."""

from __future__ import annotations

import random
import statistics

import pytest

from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.survey.shuffler.metrics import Metrics, Steps, outlook
from tests.survey.studies import designs

PROMISE = 1000


class PlainSteps(Steps):
    """The protection switched off: rounded down, and nothing else."""

    def _hidden(self, level: int, name: str) -> int:
        return 0


@pytest.mark.parametrize("promise", [1, 10, 200, 201, 1000, 10**6])
def test_what_is_told_is_never_more_and_little_less(promise: int) -> None:
    steps, before = Steps(promise, key=b"k"), 0
    assert steps.step == max(10, -(-promise // 20))
    for count in range(0, 3 * promise, max(1, promise // 500)):
        told = steps.shown(count)
        assert told % steps.step == 0
        assert told <= count < told + 2 * steps.step
        assert told >= before
        before = told


def exact_count_learned(steps: Steps, honest: int) -> int:
    """An attack: add reports of one's own until the number that is told changes; as the steps are
    known, that would give the number of the others away. Return how far off it is.
    """
    added, first = 0, steps.shown(honest)
    while steps.shown(honest + added) == first:
        added += 1
    return abs(steps.shown(honest + added) - added - honest)


def test_adding_reports_until_the_number_changes_does_not_tell_it() -> None:
    rng = random.Random(3)
    counts = [rng.randrange(PROMISE) for _ in range(400)]
    plain = [exact_count_learned(PlainSteps(PROMISE), count) for count in counts]
    assert set(plain) == {0}, "with plain rounding, the attack finds the exact number"
    hidden = [exact_count_learned(Steps(PROMISE, key=b"%d" % at), count) for at, count in enumerate(counts)]
    step = PlainSteps(PROMISE).step
    assert statistics.mean(hidden) > step / 4
    assert sum(off == 0 for off in hidden) < 400 * 4 / step
    assert Steps(PROMISE)._key != Steps(PROMISE)._key


def test_metrics_count_in_the_same_steps_and_say_nothing_else() -> None:
    metrics = Metrics(Steps(PROMISE, key=b"k"))
    words = [metrics.add(status) for status in [200] * 400 + [201] * 170 + [409] * 130]
    assert words.index(True) == 579
    assert sum(words) == 2, "at the 10th and the 100th refusal"
    lines = metrics.lines(333, closed=False).splitlines()
    told = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert set(told) == {
        "shuffledp_reports",
        "shuffledp_closed",
        'shuffledp_answers_total{status="201"}',
        'shuffledp_answers_total{status="409"}',
    }
    assert {int(count) % 50 for count in told.values()} == {0}
    assert metrics.refusals() in (f"refused so far, rounded down: {some} with 409" for some in (50, 100))


@pytest.mark.parametrize("status", [201, 403])
def test_the_first_answer_of_a_kind_does_not_show(status: int) -> None:
    metrics = Metrics(Steps(PROMISE))
    before = metrics.lines(0, closed=False)
    metrics.add(status)
    assert metrics.lines(1, closed=False) == before


@pytest.mark.parametrize("name", ["krr", "mean", "hadamard"])
def test_the_numbers_are_the_accountants(name: str) -> None:
    design = designs()[name]
    found = outlook(design, 400)
    assert found["epsilon"] == design.poll.guarantee_for(400).epsilon_at_most(delta=design.delta)
    assert outlook(design, design.n)["stderr"] == pytest.approx(design.poll.predicted_stderr(), rel=1e-14)
    assert outlook(design, design.honest)["epsilon"] <= (design.epsilon or 0.0) < found["epsilon"]


def test_fakes_of_too_few_people_hide_nobody() -> None:
    design = Design.of(
        Poll("histogram", mechanism="fakes", categories=["yes", "no"], n=1000, honest=500, epsilon=1.0, delta=1e-2)
    )
    assert design.epsilon is not None
    assert outlook(design, 500)["epsilon"] <= design.epsilon < outlook(design, 400)["epsilon"]
    assert outlook(design, 1)["epsilon"] is None, "there is no infinity in JSON"


def test_no_reports_give_nothing() -> None:
    assert outlook(designs()["krr"], 0) == {"epsilon": None, "delta": 1e-2, "stderr": None}
