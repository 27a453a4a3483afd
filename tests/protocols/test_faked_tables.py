"""Crosstabs and distribution functions among fakes: what groups of values say has exactly the error
that is stated, and covers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.protocols.planning import ADDING, DUMMIES, FAKES, SEALED

PEOPLE = 600
HELD = np.array([310, 0, 25, 200, 64, 1])  # of six cells, or bins
TABLE: dict[str, Any] = {"columns": ["region", "smoker"], "categories": [["a", "b", "c"], ["yes", "no"]]}
BINS: dict[str, Any] = {"cuts": range(7), "ranges": [(1, 4)]}
LAWS = {
    "fakes": sdp.UserFakes(k=6, slots=2, chance=0.2),
    "fakes, lightly": sdp.UserFakes(k=6, slots=1, chance=0.3, epsilon0=5.0).realised,
    "dummies": sdp.ShufflerDummies(k=6, center=20, left=0.6, right=0.6),
    "dummies, some kept": sdp.ShufflerDummies(k=6, keep=0.8, kind="poisson", rate=9.0),
}
SUMS = [
    (0,),
    (1,),
    (2,),
    (3,),
    (4,),
    (5,),
    (0, 1),
    (2, 3),
    (4, 5),
    (0, 2, 4),
    (1, 3, 5),
]  # the cells, and what a margin adds up
BELOW = [tuple(range(end)) for end in range(1, 6)]


def asked(name: str, question: str) -> Poll:
    own = TABLE if question == "crosstab" else BINS
    return Poll(question, **own, n=PEOPLE, randomizer=LAWS[name], delta=1e-6)


@pytest.mark.parametrize("question", ["crosstab", "quantile"])
@pytest.mark.parametrize("name", LAWS)
def test_errors_of_groups_are_exact_and_intervals_cover(name: str, question: str) -> None:
    protocol, rng = asked(name, question), np.random.default_rng(11)
    law, values = protocol.randomizer, np.repeat(np.arange(6), HELD)
    groups = SUMS if question == "crosstab" else BELOW
    truth = np.array([HELD[list(group)].sum() for group in groups])
    variance = []
    for group, held in zip(groups, truth.tolist(), strict=True):
        other = question == "quantile" and len(group) > 3  # counted by the bins that are not in it
        size, inside = (6 - len(group), PEOPLE - held) if other else (len(group), held)
        variance.append(law.group_law(size, PEOPLE).variance(inside, PEOPLE))
    runs, looked = 100, 12
    found, missed = [], 0
    for each in range(runs):
        estimate = protocol.analyse_counts(law.mixed(law.tally(law.randomize(values, rng=rng)), rng=rng))
        found.append(estimate.values)
        if each < looked:
            low, high = estimate.simultaneous(0.99)
            missed += not ((low <= truth) & (truth <= high)).all()
    assert (np.abs(np.mean(found, axis=0) - truth) < 6 * np.sqrt(np.array(variance) / runs)).all()
    assert (np.abs(np.var(found, axis=0) / variance - 1.0) < 6 * np.sqrt(3.0 / runs)).all()
    assert missed <= 2


@pytest.mark.parametrize("question", ["crosstab", "quantile"])
@pytest.mark.parametrize("family", ["fakes", "dummies"])
def test_a_design_settles_to_the_same_protocol(family: str, question: str) -> None:
    protocol = asked(family, question)
    again = Design.from_json(Design.of(protocol).as_json()).protocol
    assert again.question == protocol.question
    assert again.randomizer == protocol.randomizer
    assert again.predicted_stderr() <= again.worst_stderr() * (1.0 + 1e-12) < 40.0


@pytest.mark.parametrize("question", ["crosstab", "quantile"])
def test_dummies_that_are_not_there_are_noticed(question: str) -> None:
    protocol = asked("dummies", question)
    plain = protocol.randomizer.tally(np.repeat(np.arange(6), HELD))
    with pytest.raises(InvalidInput, match="messages must hold the dummies that hide people's values, got too few"):
        protocol.analyse_counts(plain)


@pytest.mark.parametrize("task, domain", [("crosstab", "3x4"), ("quantile", 24)])
def test_plans_compare_them(task: Any, domain: Any) -> None:
    table = sdp.plan(task, domain=domain, n=20_000, epsilon=1.0, delta=1e-6)
    trust = {option.name: option.trust for option in table.options}
    errors = {option.name: option.error for option in table.options}
    (fakes,) = (name for name in trust if name.endswith(FAKES))
    (dummies,) = (name for name in trust if name.endswith(DUMMIES))
    assert (trust[fakes], trust[dummies]) == (SEALED, ADDING)
    assert errors[dummies] < errors[fakes]
    usual = min(errors[option.name] for option in table.options if option.trust == "shuffler")
    assert errors[dummies] < 0.6 * usual
