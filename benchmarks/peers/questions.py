"""What is asked of everybody, as plain data: no imports of ours, as other environments read it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["QUESTIONS", "Question"]


@dataclass(frozen=True)
class Question:
    """One question: how it is told, and who is asked, ourselves first."""

    words: str
    ours: str  # Python, with ``sdp`` and ``delta``
    given: dict[str, float]
    peers: tuple[str, ...]
    delta: float = 1e-6


QUESTIONS: dict[str, Question] = {
    "training": Question(
        "One epoch of random allocation: Gaussian noise, sigma = 1, 1,000 steps, delta = 1e-6",
        "sdp.training.RandomAllocation(sigma=1.0, steps=1000)",
        {"sigma": 1.0, "steps": 1000},
        ("pld-accounting", "liew-takahashi", "dp-accounting-poisson"),
    ),
    "training-long": Question(
        "The same with 100,000 steps, delta = 1e-8",
        "sdp.training.RandomAllocation(sigma=1.0, steps=100_000)",
        {"sigma": 1.0, "steps": 100_000},
        ("liew-takahashi",),
        delta=1e-8,
    ),
    "any": Question(
        "Any randomizer with epsilon0 = 1, chosen adaptively, 10,000 users, delta = 1e-6",
        "sdp.shuffle(sdp.AnyLDP(epsilon0=1.0), n=10_000)",
        {"epsilon0": 1.0, "n": 10_000},
        ("apple", "su-cheng-wang-clones", "koskela-clones", "feldman-closed"),
    ),
    "any-million": Question(
        "The same with epsilon0 = 4 and a million users",
        "sdp.shuffle(sdp.AnyLDP(epsilon0=4.0), n=10**6)",
        {"epsilon0": 4.0, "n": 10**6},
        ("apple", "su-cheng-wang-clones", "feldman-closed"),
    ),
    "krr": Question(
        "16-ary randomized response, epsilon0 = 4, 10,000 users, delta = 1e-6",
        "sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000)",
        {"k": 16, "epsilon0": 4.0, "n": 10_000},
        ("su-cheng-wang-krr", "variation-ratio", "koskela-krr"),
    ),
    "krr-near": Question(
        "The same for 3 values, epsilon0 = 1 and 6 users, delta = 2.5e-3: close to epsilon0",
        "sdp.shuffle(sdp.KRR(k=3, epsilon0=1.0), n=6)",
        {"k": 3, "epsilon0": 1.0, "n": 6},
        ("su-cheng-wang-krr", "variation-ratio"),
        delta=2.5e-3,
    ),
    "hash": Question(
        "Hashing into two, epsilon0 = 1, 10,000 users, delta = 1e-6",
        "sdp.shuffle(sdp.BLH(k=16, epsilon0=1.0), n=10_000)",
        {"epsilon0": 1.0, "n": 10_000},
        ("su-cheng-wang-hash",),
    ),
    "gaussian": Question(
        "Everybody adds Gaussian noise of sigma = 1 to a value in [0, 1], 10,000 users, delta = 1e-6",
        "sdp.shuffle(sdp.Gaussian(sigma=1.0), n=10_000)",
        {"sigma": 1.0, "steps": 10_000},
        ("liew-takahashi",),
    ),
}
