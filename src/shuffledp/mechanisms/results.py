"""What reports add up to, from the people who send them to the analyst who estimates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from shuffledp.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from shuffledp.randomizers.randomizer import Ints, Reporting
    from shuffledp.sampling import Rng


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """All that is needed of some people's reports, as numbers that add up: those of ``law.tally``,
    for each of the ``rounds`` in which the same people reported. ``missing`` people had no value;
    ``secure`` says whether the randomness was.

    The shuffler does its part once: of all reports, or of each part of them, one of which is the
    ``first`` and brings the dummies. Until then ``first`` is None.
    """

    law: Reporting
    rounds: tuple[Ints, ...]
    missing: int = 0
    secure: bool = True
    first: bool | None = None

    @classmethod
    def of(cls, law: Reporting, reports: Any = (), *, missing: int = 0, secure: bool = True) -> Self:
        """Of some people's reports, or of the messages of some; none are a sum to begin with.

        >>> from shuffledp import KRR
        >>> law = KRR(k=2, epsilon0=1.0)
        >>> both = Tally.of(law, [0, 1]) + Tally.of(law, [1])
        >>> both.mixed().votes.tolist()
        [1, 2]
        """
        import numpy as np

        numbers = law.tally(reports) if len(reports) else np.zeros(law.tally_size, dtype=np.int64)
        return cls(law, (numbers,), missing, secure)

    @classmethod
    def handed_on(cls, law: Reporting, numbers: ArrayLike, **facts: Any) -> Self:
        """The ``numbers`` that a shuffler which did its part handed on."""
        import numpy as np

        return cls(law, (np.asarray(numbers),), first=True, **facts)

    def __add__(self, other: Self) -> Self:
        """With other people's reports."""
        self.check_law(other.law)
        if (self.first is None) != (other.first is None) or (self.first and other.first):
            raise InvalidInput(
                "the parts of a tally must be added before they are mixed, or mixed with first=True for one of them, "
                "got one that was mixed. Add up all parts, and mix the sum."
            )
        first = None if self.first is None else self.first or other.first
        missing, secure = self.missing + other.missing, self.secure and other.secure
        return replace(self, rounds=(self.numbers + other.numbers,), missing=missing, secure=secure, first=first)

    def mixed(self, *, first: bool = True, rng: Rng = None) -> Self:
        """As the shuffler hands it on; of a part, ``first`` says whether the dummies are in it."""
        from shuffledp.sampling import source_of

        if self.first is not None:
            raise InvalidInput("a tally must be mixed once, got one that was mixed. Take it as it is.")
        secure = self.secure and (not self.law.mixes or source_of(rng).secure)
        mixed = self.law.mixed_part(self.numbers, first=first, rng=rng)
        return replace(self, rounds=(mixed,), secure=secure, first=first)

    def again(self, later: Self) -> Self:
        """With a later round of the same people; each has gone through the shuffler."""
        self.check_law(later.law)
        if self.checked().people != later.checked().people:
            raise InvalidInput(
                f"rounds must have the same number of reports, got {self.people}, {later.people}. Analyse each by "
                f"itself, and average the shares, values / n."
            )
        return replace(self, rounds=self.rounds + later.rounds, secure=self.secure and later.secure)

    def check_law(self, law: Reporting) -> None:
        """Refuse another design: equal numbers of another noise would add up as well."""
        if self.law != law:
            raise InvalidInput(
                f"tallies must all be of one design, got {self.law!r:.80} and {law!r:.80}. Add up and analyze what one "
                f"design's reports make."
            )

    @property
    def numbers(self) -> Ints:
        """Of the only round, as files hold them."""
        if len(self.rounds) > 1:
            raise InvalidInput(f"a tally must be of one round, got {len(self.rounds)}. Pass every round by itself.")
        return self.rounds[0]

    @property
    def people(self) -> int:
        """Whose reports they are."""
        return self.law.opened(self.rounds[0])[0]

    @property
    def sent(self) -> int:
        """How many reports of the first round they are, or messages where those are mixed."""
        return int(self.rounds[0][0]) if self.law.by_message else self.people

    @property
    def reports(self) -> int:
        """Of all rounds."""
        return self.people * len(self.rounds)

    @property
    def blocks(self) -> Ints:
        """How many reports of all rounds are in each block of a Hadamard matrix."""
        return self._summed(1)

    @property
    def votes(self) -> Ints:
        """How many votes each value has, in all rounds."""
        return self._summed(2)

    def checked(self) -> Self:
        """The same, if the shuffler has done its part: what is estimated before is off, and shows
        what the dummies were to hide.
        """
        if not self.first:
            raise InvalidInput(
                "a tally must be mixed before anything is estimated, got one without the shuffler's part. Mix the sum "
                "of all parts."
            )
        return self

    def _summed(self, part: int) -> Ints:
        parts: list[Any] = [self.law.opened(each)[part] for each in self.checked().rounds]
        total: Ints = sum(parts[1:], parts[0])
        return total
