"""Faults planted in a histogram protocol, or in a law of several messages, each an honest mistake,
and what an audit makes of them. The account is always that of the right code.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from shuffledp import Poll
from shuffledp.audits.trial import Subject
from shuffledp.audits.verdict import Audit, audit
from shuffledp.sampling import Rng, source_of
from tests.audits.faults import messages as people
from tests.audits.faults import reports as senders
from tests.audits.faults import shufflers

__all__ = ["FAULTS", "Fault", "faults"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A mistake: what it is, the ``subject`` that makes it, and the checks that see it; none if an
    audit is blind to it.

    "order" and "epsilon" are not checks but what the attack proves.
    """

    name: str
    sentence: str
    subject: type[senders.Planted] | type[people.Misplanted]
    seen_by: tuple[str, ...]

    def __call__(self, poll: Poll) -> Subject:
        """The protocol with this fault; one of several messages is planted in a law of its own, of
        as many values and people.
        """
        if issubclass(self.subject, people.Misplanted):
            law = self.subject.law_for(poll.randomizer.k, poll.n)
            return self.subject(law, poll.n, name=f"{type(law).__name__}, {poll.n} users; fault: {self.name}")
        return self.subject(poll, name=f"Histogram, {poll.n} users; fault: {self.name}")


FAULTS: dict[str, Fault] = {
    name: Fault(name, " ".join((inspect.getdoc(subject) or "").split()), subject, tuple(seen_by.split()))
    for name, subject, seen_by in (
        ("none", senders.Right, ""),
        ("doubled", senders.Doubled, "epsilon law"),
        ("modulo", senders.Modulo, "law"),
        ("same-seed", senders.SameSeed, "independence lags"),
        ("replayed", senders.Replayed, "repetition"),
        ("quiet-value", senders.QuietValue, "law"),
        ("one-in-a-thousand", senders.SomeTruth, "law"),
        ("copied", senders.Copied, "lags"),
        ("off-by-one", senders.OffByOne, "integers"),
        ("quiet-users", senders.QuietUsers, "places"),
        ("pinned", senders.Pinned, "places"),
        ("low-bit", senders.LowBit, "law"),
        ("shared-coins", senders.SharedCoins, "lags"),
        ("reseeded", senders.Reseeded, "lags"),
        ("sticky", senders.Sticky, "lags"),
        ("echo", senders.Echo, "lags"),
        ("extra-bit", senders.ExtraBit, "format"),
        ("wider", senders.Wider, "format"),
        ("twice", senders.Twice, "format"),
        ("wrong-sign", senders.WrongSign, "estimate"),
        ("unshuffled", shufflers.Unshuffled, "order shuffling"),
        ("reversed", shufflers.Reversed, "order shuffling"),
        ("rotated", shufflers.Rotated, "shuffling"),
        ("first-kept", shufflers.FirstKept, "shuffling"),
        ("biased-swaps", shufflers.BiasedSwaps, "shuffling"),
        ("neighbours", shufflers.Neighbours, "shuffling"),
        ("halves", shufflers.Halves, "shuffling"),
        ("short-seed", shufflers.ShortSeed, "shuffling"),
        ("lossy", shufflers.Lossy, "shuffling"),
        ("right-messages", people.RightMessages, ""),
        ("no-fakes", people.NoFakes, "epsilon law"),
        ("quiet-person", people.QuietPerson, "places"),
        ("other-fakes", people.OtherFakes, "law"),
        ("always-fakes", people.AlwaysFakes, "law"),
        ("blanks-dropped", people.BlanksDropped, "format"),
        ("no-dummies", people.NoDummies, "epsilon dummies"),
        ("wrong-dummies", people.WrongDummies, "epsilon dummies"),
        ("all-kept", people.AllKept, "dummies"),
        ("marked-dummies", people.MarkedDummies, "format"),
        ("dummies-last", people.DummiesLast, "shuffling"),
        ("quiet-level", people.QuietLevel, "epsilon dummies"),
        ("no-pairs", people.PairsLeftOut, "epsilon law"),
        ("half-noise", people.HalfNoise, "law"),
        ("plain-share", people.PlainShare, "shares"),
        ("thin-shares", people.ThinShares, "shares"),
        ("one-in-a-million", senders.RareTruth, ""),
        ("password", senders.Password, ""),
        ("forked", senders.Forked, ""),
        ("long-seed", shufflers.LongSeed, ""),
    )
}


def faults(
    names: Iterable[str] | None = None,
    *,
    k: int = 4,
    n: int = 100,
    epsilon0: float = 1.0,
    delta: float = 1e-3,
    runs: int = 20_000,
    rng: Rng = None,
    seconds: float = 60.0,
) -> dict[str, Audit]:
    """Planted faults, by default all, and what the audit found; "none" is the code without a fault.

    >>> import numpy as np
    >>> faults(["lossy"], n=20, runs=400, rng=np.random.default_rng(7))["lossy"].failed
    ('format', 'shuffling')
    """
    poll, source = Poll("histogram", categories=range(k), n=n, epsilon0=epsilon0, delta=delta), source_of(rng)
    chosen: Any = FAULTS if names is None else names
    return {name: audit(FAULTS[name](poll), delta=delta, runs=runs, rng=source, seconds=seconds) for name in chosen}
