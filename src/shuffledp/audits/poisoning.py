"""People who cheat: everything that passes for a report is tried beside honest people's, and how
far each moves an estimate is held against the influence that the poll says one has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shuffledp.errors import InvalidInput, Refusal, check_count
from shuffledp.poll import Poll
from shuffledp.sampling import Rng, source_of

MOST_PEOPLE = 10**8  # whose reports are drawn at once
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Poisoned:
    """How far ``people`` malicious people moved an estimate, from the worst that they can do in one
    direction to the worst in the other, and how far they could at most by what the poll says;
    ``math.inf`` if nothing limits it.
    """

    label: object
    people: int
    moved: float
    most: float

    @property
    def holds(self) -> bool:
        """Whether what was done is within what is said."""
        return self.moved <= self.most * (1.0 + ROUNDING)


def poison(poll: Poll, *, people: int = 1, rng: Rng = None) -> tuple[Poisoned, ...]:
    """Let ``people`` of the n cheat together, all others being honest, and say how far each
    estimate moves.

    >>> import shuffledp as sdp
    >>> poll = sdp.Poll("histogram", categories=["tea", "coffee"], n=100, epsilon0=2.0)
    >>> tea, coffee = poison(poll, rng=np.random.default_rng(7))
    >>> round(tea.moved, 3), round(tea.most, 3)
    (1.313, 1.313)
    """
    law, source = poll.randomizer, source_of(rng)
    check_count("people", people, least=1, remedy="It counts those who cheat.")
    if people >= poll.n:
        rule = f"people who cheat must be fewer than the {poll.n} who report"
        raise InvalidInput(Refusal(rule, str(people), "Leave somebody honest."))
    if poll.n > MOST_PEOPLE:
        remedy = "Settle the same noise for fewer people: what one of them moves is the same."
        raise InvalidInput(Refusal(f"n must be at most {MOST_PEOPLE:,} for all to report", f"{poll.n:,}", remedy))
    values = np.arange(poll.n - people) % law.k
    honest = law.mixed(law.tally(law.randomize(values, rng=source)), rng=source)
    tried = [people * law.tally(report[None]) for report in law.extreme_reports(people)]
    estimates = [poll.analyse_counts(honest + tally) for tally in tried]
    moved = np.ptp([each.unbiased for each in estimates], axis=0)
    most = people * poll.influence(estimates[0])
    rows = zip(estimates[0].labels, moved.tolist(), most.tolist(), strict=True)
    return tuple(Poisoned(label, people, far, limit) for label, far, limit in rows)
