"""A check-in where reports are counted: blanks vote for nobody.

A user's vote for their own value has mean q hit, and for another value mean q miss. So everything
that is known of votes stays true with these, and the counts are those of all users, whether they
took part or not.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.randomizer import Atoms, Randomizer
from shuffledp.randomizers.votes import Form, Ints, VotingRandomizer, bits_for
from shuffledp.randomizers.wrappers.check_in import CheckIn
from shuffledp.randomizers.wrappers.wrapper import check_rows
from shuffledp.sampling import Source, bernoulli

__all__ = ["VotingCheckIn", "answering"]


@dataclass(frozen=True, slots=True, repr=False)
class VotingCheckIn(VotingRandomizer):
    """``check_in``, whose randomizer is ``inner``: the same, if it votes, and ``of`` has seen to
    it.
    """

    check_in: CheckIn
    inner: VotingRandomizer

    @classmethod
    def of(cls, given: Randomizer) -> VotingCheckIn | None:
        """``given``, if it is a check-in of reports that vote."""
        if isinstance(given, VotingCheckIn) or not isinstance(given, CheckIn):
            return given if isinstance(given, VotingCheckIn) else None
        inner = cls.of(given.randomizer) or given.randomizer
        if not isinstance(inner, VotingRandomizer):
            return None
        if inner.blocks:
            raise InvalidInput(
                f"a check-in must be of reports that vote for values only to be counted, got {given!r}. Use k-ary "
                f"randomized response, unary encoding, hashing or subsets inside."
            )
        return cls(given, inner)

    def __repr__(self) -> str:
        return repr(self.check_in)

    @property
    def k(self) -> int:  # type: ignore[override]
        """How many values there are."""
        return self.inner.k

    @property
    def hit(self) -> float:
        return self._share * self.inner.hit

    @property
    def miss(self) -> float:
        return self._share * self.inner.miss

    @property
    def contrast(self) -> float:
        return self._share * self.inner.contrast

    @property
    def _share(self) -> float:
        return self.check_in.realised.probability

    @property
    def form(self) -> Form:
        return self.check_in.form

    @property
    def bits(self) -> int:
        """A blank is one more report, or one more bit."""
        outputs = self.form.outputs
        return 1 + self.inner.bits if outputs is None else bits_for(outputs)

    @property
    def _words(self) -> int:
        return self.inner._words

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        reports = self.inner._draw(source, values)
        return self.check_in.blanked(reports, bernoulli(source, self.check_in.threshold, len(values)))

    def _present(self, reports: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Which reports are not blank, and these as ``inner`` sent them."""
        if self.form.outputs is not None:
            present = np.asarray(reports != self.form.outputs - 1)
            return present, reports[present].astype(self.inner.form.dtype)
        present = np.asarray(reports[:, 0] == 1)
        inside = np.ascontiguousarray(reports[present, 1:])
        return present, inside[:, 0] if self.inner.form.width is None else inside

    def check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        checked = check_rows(reports, self.form)
        present, inside = self._present(checked)
        if checked.ndim == 2 and np.any(checked[~present]):
            raise InvalidInput(
                "a blank must be all zeros, and other reports begin with 1, got one that does not. Leave such reports "
                "out."
            )
        if len(inside):
            self.inner.check_reports(inside)
        return checked

    def _tally(self, reports: NDArray[Any]) -> Ints:
        _, inside = self._present(reports)
        return self.inner._tally(inside) if len(inside) else np.zeros(self.k, dtype=np.int64)

    def adds_up(self, tally: Ints, reports: int) -> bool:
        """Also whether those who took part cast all of the votes, where everybody has so many."""
        if not VotingRandomizer.adds_up(self, tally, reports):  # super() does not work in a class with slots
            return False
        if (each := answering(self).votes_each) is None:
            return True
        votes: list[int] = tally[1:].tolist()
        present, left = divmod(sum(votes), each)
        return left == 0 and max(votes) <= present <= reports

    def favours(self, reports: NDArray[Any], values: NDArray[np.intp]) -> NDArray[np.bool_]:
        present, inside = self._present(reports)
        favoured = np.zeros(len(reports), dtype=np.bool_)
        favoured[present] = self.inner.favours(inside, values[present])
        return favoured

    @property
    def realised(self) -> VotingCheckIn:
        return VotingCheckIn(self.check_in.realised, self.inner.realised)  # type: ignore[arg-type]

    @property
    def settled(self) -> VotingCheckIn:
        return VotingCheckIn(self.check_in, self.inner.settled)

    @property
    def integers(self) -> tuple[int, ...]:
        return self.check_in.integers

    @property
    def epsilon0(self) -> float:
        return self.check_in.epsilon0

    @property
    def gamma(self) -> float:
        return self.check_in.gamma

    @property
    def worst_pair(self) -> tuple[object, object]:
        return self.check_in.worst_pair

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        return self.check_in.blankets(end)

    def datasets(self) -> tuple[Atoms, ...]:
        return self.check_in.datasets()

    @property
    def table(self) -> Floats | None:
        return self.check_in.table

    @property
    def assumptions(self) -> tuple[str, ...]:
        return self.check_in.assumptions

    @property
    def gentler(self) -> Hashable:
        return self.check_in.gentler

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.check_in.sizes

    def describe(self) -> dict[str, object]:
        return self.check_in.describe()


def answering(randomizer: VotingRandomizer) -> VotingRandomizer:
    """What those who take part report by."""
    return answering(randomizer.inner) if isinstance(randomizer, VotingCheckIn) else randomizer
