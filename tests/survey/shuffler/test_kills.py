"""kill -9 of the real process, some times; ``python -m tests.survey.kills`` does it a
hundred times.
"""

from __future__ import annotations

import pytest

from shuffledp import Poll
from shuffledp.design import Design
from tests.survey.kills import killed
from tests.survey.memory_folder import memory_folder

pytestmark = pytest.mark.long

ROUNDS = 3


def test_what_was_acknowledged_is_released_once(record_property: pytest.RecordProperty) -> None:
    with memory_folder() as folder:
        outcome = killed(folder, ROUNDS)
    assert outcome.acknowledged > 0
    assert outcome.again > 0
    assert (outcome.lost, outcome.doubled, outcome.strangers) == (0, 0, 0)
    record_property("fault: shufflers killed under load", ROUNDS)


def test_people_who_send_several_messages_are_there_whole_or_not_at_all(record_property: pytest.RecordProperty) -> None:
    poll = Poll("histogram", mechanism="fakes", categories=["yes", "no"], n=1000, honest=100, epsilon=2.0, delta=1e-2)
    with memory_folder() as folder:
        outcome = killed(folder, ROUNDS, design=Design.of(poll))
    messages = poll.randomizer.messages
    assert messages > 1
    assert outcome.acknowledged > 0
    assert (outcome.lost, outcome.doubled, outcome.strangers, outcome.released % messages) == (0, 0, 0, 0)
    record_property("fault: shufflers of several messages killed under load", ROUNDS)
