"""Faults planted in a histogram protocol, each an honest mistake, and what an audit makes of them. The account is always that of the right code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shuffledp.audit.run import Audit, audit
from shuffledp.audit.subject import Surveyed
from shuffledp.protocols.base import Reports
from shuffledp.protocols.histogram import Histogram
from shuffledp.sampling import Rng, Source, bernoulli, source_of, uniform

__all__ = ["FAULTS", "faults"]


class Doubled(Surveyed):
    """The sampler is given twice the epsilon0 of the account."""

    def encode(self, values: list[Any], source: Source) -> Reports:
        right = self.protocol
        louder = Histogram(categories=right.categories, n=right.n, epsilon0=2.0 * right.randomizer.epsilon0)  # type: ignore[attr-defined]
        return Reports(right.describe(), louder.encode(values, rng=source).rows, source.secure)


class Unshuffled(Surveyed):
    """The shuffler passes reports on as they come."""

    def shuffle(self, reports: Reports) -> NDArray[Any]:
        return reports.rows


class Reversed(Surveyed):
    """The shuffler has an order of its own, always the same."""

    def shuffle(self, reports: Reports) -> NDArray[Any]:
        return reports.rows[::-1]


class Modulo(Surveyed):
    """Random values are drawn from one range and reduced modulo k, so that value 0 is twice as likely as any other."""

    def encode(self, values: list[Any], source: Source) -> Reports:
        randomizer: Any = self.protocol.randomizer
        held = np.array(values)
        noisy = bernoulli(source, randomizer.threshold, len(held))
        rows = np.where(noisy, uniform(source, randomizer.k + 1, len(held)) % randomizer.k, held)
        return Reports(self.protocol.describe(), rows.astype(np.uint8), source.secure)


class SameSeed(Surveyed):
    """Every user's device starts from the same seed, a new one for every run."""

    def encode(self, values: list[Any], source: Source) -> Reports:
        return super().encode(values, _Repeated(source, self.n))


class Replayed(Surveyed):
    """Every run starts from the same seed."""

    def encode(self, values: list[Any], source: Source) -> Reports:
        once = super().encode(values[: self.n], source_of(np.random.default_rng(1)))
        return Reports(once.description, np.tile(once.rows, len(values) // self.n), False)


class _Repeated(Source):
    """A source that gives ``users`` users one word after another: the same."""

    secure = False

    def __init__(self, source: Source, users: int) -> None:
        self.source, self.users = source, users

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        return np.repeat(self.source.words(-(-count // self.users), dtype), self.users)[:count]


FAULTS: dict[str, Callable[..., Surveyed]] = {
    "none": Surveyed,
    "epsilon0 doubled in the sampler": Doubled,
    "shuffler keeps the order": Unshuffled,
    "shuffler reverses the order": Reversed,
    "draws from [k] are biased": Modulo,
    "source repeated across users": SameSeed,
    "source repeated across runs": Replayed,
}


def faults(
    *, k: int = 4, n: int = 100, epsilon0: float = 1.0, delta: float = 1e-3, runs: int = 20_000, rng: Rng = None, budget_seconds: float = 60.0
) -> dict[str, Audit]:
    """Every planted fault and what the audit found; the first is the code without a fault."""
    poll, source = Histogram(categories=range(k), n=n, epsilon0=epsilon0, delta=delta), source_of(rng)
    return {
        name: audit(fault(poll, name=f"Histogram, {n} users; fault: {name}"), delta=delta, runs=runs, rng=source, budget_seconds=budget_seconds)
        for name, fault in FAULTS.items()
    }
