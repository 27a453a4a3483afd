"""What the public may know of a collection: counts in steps that hide one report more or less, and
an outlook, what such a number of reports would give if the collection ended with it.

Whoever knows the exact number of reports at every moment sees when somebody reports, and whoever
fills a collection with reports of their own would know when a single other one is among them.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections import Counter
from typing import Any

from shuffledp.client import Reporter
from shuffledp.design import Design
from shuffledp.mechanisms import mechanism_of

LEAST_STEP, STEPS = 10, 20
STORED, LEAST_REFUSAL = 201, 400  # the status of a new report, and the lowest that refuses something


class Steps:
    """Numbers, rounded down to twentieths of ``promise``, or to tens.

    A step shows only when a secret part of the next one is there, another part for every step: to
    add reports until the number changes says no more than the number does.
    """

    def __init__(self, promise: int, *, key: bytes | None = None) -> None:
        self.step = max(LEAST_STEP, -(-promise // STEPS))
        self._key = os.urandom(32) if key is None else key

    def shown(self, count: int, name: str = "reports") -> int:
        """What is told of a count."""
        level, beyond = divmod(count, self.step)
        return max(0, level - (beyond < self._hidden(level, name))) * self.step

    def _hidden(self, level: int, name: str) -> int:
        drawn = hashlib.blake2b(f"{name} {level}".encode(), key=self._key, digest_size=8).digest()
        return int.from_bytes(drawn) % self.step


class Metrics:
    """What was answered, counted by status; nothing else is known of a request.

    How often pages were looked at is not told: whoever looks a thousand times passes forty steps
    for nothing, and would know the number of the others exactly.
    """

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.answers: Counter[int] = Counter()
        self.refused = 0

    def add(self, status: int) -> bool:
        """Count an answer; return whether this is a moment to say a word about refusals: at the
        10th, the 100th, and so on.
        """
        self.answers[status] += 1
        if status < LEAST_REFUSAL:
            return False
        self.refused += 1
        return str(self.refused).strip("0") == "1" and self.refused > 1

    def refusals(self) -> str:
        """Refusals by kind, as coarse as everything else that is told."""
        told = {status: self._shown(status) for status in sorted(self.answers) if status >= LEAST_REFUSAL}
        said = ", ".join(f"{count:,} with {status}" for status, count in told.items() if count)
        return f"refused so far, rounded down: {said or 'none'}"

    def _shown(self, status: int) -> int:
        return self.steps.shown(self.answers[status], f"answers {status}")

    def lines(self, reports: int, *, closed: bool) -> str:
        """The text that Prometheus reads."""
        return "\n".join(
            [
                f"# HELP shuffledp_reports Reports stored, rounded down to about {self.steps.step}.",
                "# TYPE shuffledp_reports gauge",
                f"shuffledp_reports {self.steps.shown(reports)}",
                "# HELP shuffledp_closed Whether the collection is closed.",
                "# TYPE shuffledp_closed gauge",
                f"shuffledp_closed {int(closed)}",
                f"# HELP shuffledp_answers_total Answers by status, rounded down to about {self.steps.step}.",
                "# TYPE shuffledp_answers_total counter",
                *(  # a line with 0 would say that there is one
                    f'shuffledp_answers_total{{status="{status}"}} {shown}'
                    for status in sorted(self.answers)
                    if (status == STORED or status >= LEAST_REFUSAL) and (shown := self._shown(status))
                ),
                "",
            ]
        )


def outlook(design: Design, reports: int) -> dict[str, Any]:
    """The epsilon that is certified, at the design's delta and for all its rounds, if all of these
    reports are honest, None where that is no number; and the standard error to expect, of a count
    or of the mean.
    """
    from shuffledp.accounting.shuffled import shuffle  # which a shuffler needs for nothing else

    if reports < 1:
        return {"epsilon": None, "delta": design.delta, "stderr": None}
    law = Reporter.of(design).randomizer
    epsilon = shuffle(law, n=reports).compose(design.rounds).epsilon_at_most(delta=design.delta)
    return {
        "epsilon": epsilon if math.isfinite(epsilon) else None,
        "delta": design.delta,
        "stderr": design.domain.expected_stderr(mechanism_of(law), reports),
    }
