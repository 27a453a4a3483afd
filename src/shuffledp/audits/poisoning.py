"""People who cheat: everything that passes for a report is tried beside honest people's, and how
far each moves an estimate is held against what the protocol says, ``sway``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput, check_count
from shuffledp.poll import Poll
from shuffledp.randomizers import OUE, LocalHash, SubsetSelection, Unary
from shuffledp.randomizers.messages import SplitShares
from shuffledp.randomizers.messages.message import MessageLaw
from shuffledp.randomizers.randomizer import Reporting
from shuffledp.sampling import Rng, source_of

__all__ = ["Poisoned", "poison", "poisonous"]

MOST_TRIED = 4096
MOST_PEOPLE = 10**8  # whose reports are drawn at once
SEEDS = 512  # of local hashing: some of these send any two values to different places
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Poisoned:
    """How far ``people`` malicious people moved an estimate, from the worst that they can do in one
    direction to the worst in the other, and how far they could at most by what the protocol says;
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
        raise InvalidInput(
            f"people who cheat must be fewer than the {poll.n} who report, got {people}. Leave somebody honest."
        )
    if poll.n > MOST_PEOPLE:
        raise InvalidInput(
            f"n must be at most {MOST_PEOPLE:,} for all to report, got {poll.n:,}. Settle the same noise for fewer "
            f"people: what one of them moves is the same."
        )
    values = np.arange(poll.n - people) % law.k
    honest = law.mixed(law.tally(law.randomize(values, rng=source)), rng=source)
    reports = poisonous(law)
    if isinstance(law, SplitShares):
        reports //= people  # a sum that all people together cannot hold would be refused
    tried = [people * law.tally(report[None]) for report in reports]
    estimates = [poll.analyse_counts(honest + tally) for tally in tried]
    moved = np.ptp([each.unbiased for each in estimates], axis=0)
    most = people * poll.sway(estimates[0])
    rows = zip(estimates[0].labels, moved.tolist(), most.tolist(), strict=True)
    return tuple(Poisoned(label, people, far, limit) for label, far, limit in rows)


@singledispatch
def poisonous(law: Reporting) -> NDArray[Any]:
    """Reports that move some estimate as far as any report does; by default all that there are."""
    dtype, _, outputs = law.form
    if outputs is None or outputs > MOST_TRIED:
        raise InvalidInput(
            f"reports must be few enough to try them all, {MOST_TRIED:,} at most, got {law.describe()['randomizer']} "
            f"with {outputs}. Lower k: the weights are the same."
        )
    return np.arange(outputs, dtype=dtype)


@poisonous.register
def _(law: MessageLaw) -> NDArray[Any]:
    """All messages alike."""
    dtype, _, outputs = law.message
    tried = np.arange(min(outputs or 0, MOST_TRIED), dtype=dtype)
    return tried if law.messages == 1 else np.tile(tried[:, None], law.messages)


@poisonous.register
def _(law: SplitShares) -> NDArray[Any]:
    """Shares that add up to nothing, and to half of what all people together can hold, which no
    honest person sends and nobody can tell.
    """
    rows = np.zeros((2, law.messages), dtype=law.message.dtype)
    rows[1, 0] = min(law.modulus - 1, law.honest * (law.k - 1) // 2)
    return rows


@poisonous.register(Unary)
@poisonous.register(OUE)
def _(law: Any) -> NDArray[Any]:
    """No bit, and all bits."""
    bits = np.stack([np.zeros(law.k, dtype=np.uint8), np.ones(law.k, dtype=np.uint8)])
    return np.packbits(bits, axis=1)


@poisonous.register
def _(law: SubsetSelection) -> NDArray[Any]:
    """Neighbors, from every value on."""
    assert law.w is not None
    rows = (np.arange(law.k)[:, None] + np.arange(law.w)) % law.k
    return np.sort(rows, axis=1).astype(law.form.dtype)


@poisonous.register
def _(law: LocalHash) -> NDArray[Any]:
    """Some seeds, with every place."""
    seeds, places = np.meshgrid(np.arange(SEEDS), np.arange(law.g), indexing="ij")
    return np.column_stack([seeds.ravel(), places.ravel()]).astype(law.form.dtype)
