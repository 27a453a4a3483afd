"""What `series status` says was spent, against other people's sums: an enumeration of all that may
be seen of a few people, and plain sums with a composition of their own for many.
"""

from typing import Any

import numpy as np
import pytest

from shuffledp import Accountant, Poll, shuffle
from shuffledp.design import Design
from shuffledp.judge import rounds_delta
from shuffledp.judge.composition import rounds_at_least, rounds_at_most
from shuffledp.judge.messages import MessageSums
from shuffledp.judge.reports import counted
from shuffledp.series.pausing import spent_after

SETTLED: dict[str, Any] = {"n": 700, "honest": 500, "rounds": 5, "epsilon": 2.0, "delta": 1e-6}
KNOTS = np.linspace(0.0, 8.0, 401)


@pytest.mark.parametrize("weeks", [1, 2, 3])
def test_weeks_of_a_few_people_cost_what_can_be_seen_of_them(weeks: int) -> None:
    """Three of five are honest: those are the crowd, whoever else there is."""
    delta = 0.02
    design = Design.of(Poll("histogram", categories=["yes", "no"], n=5, honest=3, rounds=3, epsilon0=1.0, delta=delta))
    spent = spent_after(design, weeks)
    assert spent is not None
    law: Any = design.poll.randomizer
    rows = [[[law.hit, law.miss], [law.miss, law.hit]]] * weeks
    low, high = (float(rounds_delta(rows, 3, [end])[0]) for end in (spent.lower, spent.upper))
    assert high <= delta * (1.0 + 1e-9), "no more was spent than is said"
    assert low >= delta * (1.0 - 1e-9), "and no less than the lower end"
    all_honest = float(rounds_delta(rows, 5, [spent.lower])[0])
    assert all_honest < delta, "the control: five honest people would have spent less"


@pytest.mark.fleet  # the sums for +1 and -1 take long
@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: Poll("histogram", mechanism="fakes", categories=["yes", "no"], **SETTLED), id="fakes"),
        pytest.param(lambda: Poll("histogram", mechanism="dummies", categories=["yes", "no"], **SETTLED), id="dummies"),
        pytest.param(lambda: Poll("count", value="yes", **SETTLED), id="signed"),
        pytest.param(lambda: Poll("sum", mechanism="split", lower=0.0, upper=1.0, **SETTLED), id="split"),
    ],
)
def test_weeks_of_messages_cost_what_plain_sums_say(made: Any) -> None:
    design = Design.of(made())
    law: Any = counted(design.mechanism.as_json())
    if hasattr(law, "deltas"):  # of fakes and dummies both orders are alike
        there = back = np.array(law.deltas(design.honest, KNOTS))
    else:
        once = MessageSums.of(design.mechanism.as_json(), design.honest)
        there, back = (np.array([curve(float(eps)) for eps in KNOTS]).T for curve in (once.there, once.back))
    for weeks in (1, 3, 5):
        spent = spent_after(design, weeks)
        assert spent is not None
        ends = np.array([spent.lower, spent.upper])
        most = np.maximum(*(rounds_at_most(KNOTS, a[1], b[1], weeks, ends) for a, b in ((there, back), (back, there))))
        least = np.maximum(
            *(rounds_at_least(KNOTS, tuple(a), tuple(b), weeks, ends) for a, b in ((there, back), (back, there)))  # type: ignore[arg-type]
        )
        assert least[1] <= design.delta * (1.0 + 1e-6), "no more was spent than is said"
        assert most[0] >= design.delta * (1.0 - 1e-6), "and no less than the lower end"
    assert spent.upper <= 2.0
    apart = Accountant().add(shuffle(design.poll.randomizer, n=700, honest=500), rounds=3)
    together = spent_after(design, 3)
    assert together is not None
    assert apart.epsilon(delta=1e-6).upper == pytest.approx(together.upper, rel=1e-3)
