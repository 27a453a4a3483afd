"""A randomizer from elsewhere, as docs/extending.md has it: people may also say nothing."""

from __future__ import annotations

from dataclasses import dataclass

from shuffledp.randomizers import FiniteRandomizer


@dataclass(frozen=True)
class Hesitant(FiniteRandomizer):
    """Answers with probability 1 - silence, and then truthfully with probability truth."""

    silence: float = 0.3
    truth: float = 0.75

    def law(self) -> list[list[float]]:
        spoken = 1 - self.silence
        yes, no = spoken * self.truth, spoken * (1 - self.truth)
        return [[yes, no, self.silence], [no, yes, self.silence]]
