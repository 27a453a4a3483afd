"""A question for many people, a mechanism that hides their answers, and a target that it meets."""

from __future__ import annotations

from typing import Any

from shuffledp.protocols.protocol import Protocol
from shuffledp.protocols.settling import answering_by

__all__ = ["Poll"]


def Poll(question: str, *, mechanism: str | None = None, **terms: Any) -> Protocol:
    """The protocol that puts a question to ``n`` people.

    >>> poll = Poll("histogram", categories=["tea", "coffee", "water"], n=1000, epsilon0=3.0)
    >>> round(poll.guarantee.epsilon(delta=1e-6).upper, 2)
    0.8
    """
    return answering_by(question, mechanism, **terms)
