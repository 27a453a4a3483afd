"""kill -9 of the real process, some times; ``python -m tests.collection.network.kills`` does it a
hundred times.
"""

from __future__ import annotations

import pytest

from tests.collection.network.kills import killed
from tests.collection.network.memory_folder import memory_folder

pytestmark = pytest.mark.fleet

ROUNDS = 3


def test_what_was_acknowledged_is_released_once(record_property: pytest.RecordProperty) -> None:
    with memory_folder() as folder:
        outcome = killed(folder, ROUNDS)
    assert outcome.acknowledged > 0
    assert outcome.again > 0
    assert (outcome.lost, outcome.doubled, outcome.strangers) == (0, 0, 0)
    record_property("fault: shufflers killed under load", ROUNDS)
