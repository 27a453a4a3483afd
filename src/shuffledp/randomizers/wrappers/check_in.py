"""Check-in: each person takes part with some probability, and else sends a blank without votes.

A user's vote for their own value has mean q hit, and for another value mean q miss. So everything
that is known of votes stays true with these, and the counts are those of all users, whether they
took part or not.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats, that_of
from shuffledp.errors import InvalidInput, check_probability
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.parameters import checked
from shuffledp.randomizers.randomizer import Atoms, Randomizer
from shuffledp.randomizers.support import Counted, Form, Ints, VotingRandomizer, bits_for
from shuffledp.randomizers.wrappers.wrapper import (
    Wrapper,
    check_part,
    check_rows,
    form_of,
    mixture,
    pairs_of,
    small_tables,
)
from shuffledp.sampling import WORD, Rng, Source, bernoulli, smallest_dtype, source_of

CHANCE = "It is the probability with which a person takes part; 1 asks everybody, and needs no check-in."


@dataclass(frozen=True, slots=True)
class CheckIn(Wrapper):
    """A user takes part with ``probability`` q, and sends a report of ``randomizer``; else a blank:

        m'_x = (1 - q) blank + q m_x.

    n counts all who might take part, and how many did is seen. The users draw their own coins, and
    nobody knows who took part (Balle et al. 2020, "random check-ins", study a relative of this).
    Blanks hide nobody's value but hide who sent one, so that with n users it leaks about as
    little as the randomizer with n q users, times q.

    Reports that are numbers 0, ..., m - 1 stay what they are, and a blank is m; to a row of numbers
    one is put in front, 1 for a report and 0 for a blank, which is all zeros.

    >>> from shuffledp import KRR, shuffle
    >>> check_in = CheckIn(KRR(k=16, epsilon0=4.0), probability=0.1)
    >>> round(shuffle(check_in, n=100_000).epsilon(delta=1e-6).upper, 4)
    0.0304
    """

    randomizer: Randomizer = field(metadata=checked(check_part))
    probability: float = field(metadata=checked(partial(check_probability, "probability", remedy=CHANCE)), kw_only=True)

    @property
    def parts(self) -> tuple[Randomizer, ...]:
        return (self.randomizer,)

    @property
    def epsilon0(self) -> float:
        """That of the randomizer: among reports that are not blank the ratios stay the same."""
        return self.randomizer.epsilon0

    @property
    def delta0(self) -> float:
        return self.probability * self.randomizer.delta0

    @property
    def gamma(self) -> float:
        return (1.0 - self.probability) + self.probability * self.randomizer.gamma

    def _pairs(self, end: End, together: bool) -> tuple[Atoms, ...]:
        return tuple(self._with_blanks(atoms, end) for atoms in pairs_of(self.randomizer, end, together))

    def datasets(self) -> tuple[Atoms, ...]:
        return tuple(self._with_blanks(atoms, "lower") for atoms in self.randomizer.datasets())

    def _with_blanks(self, atoms: Atoms, end: End) -> Atoms:
        return mixture(atoms.name, [(self.probability, atoms)], end, silent=1.0 - self.probability)

    @property
    def table(self) -> Floats | None:
        if (tables := small_tables(self.parts)) is None:
            return None
        blanks = np.full((len(tables[0]), 1), 1.0 - self.probability)
        return np.concatenate([self.probability * tables[0], blanks], axis=1)

    @property
    def form(self) -> Form:
        dtype, width, outputs = form_of(self.randomizer)
        if outputs is None:
            return Form(dtype, width=1 + (width or 1))
        return Form(smallest_dtype(outputs + 1), outputs=outputs + 1)

    def local_delta(self, *, epsilon: float) -> float:
        blanks = (1.0 - self.probability) * max(-math.expm1(min(epsilon, 0.0)), 0.0)
        return blanks + self.probability * self.randomizer.local_delta(epsilon=epsilon)

    def local_rdp(self, *, order: float) -> float:
        """A blank says nothing: 1 - q + q e^((order - 1) divergence), where they add."""
        alone = self.randomizer.local_rdp(order=order)
        if not math.isfinite(alone):
            return alone
        one = (order - 1.0) * alone
        return float(np.logaddexp(math.log1p(-self.probability), math.log(self.probability) + one)) / (order - 1.0)

    def describe(self) -> dict[str, object]:
        return {"randomizer": "check-in", "probability": self.probability, "of": self.randomizer.describe()}

    @property
    def gentler(self) -> Hashable:
        """A gentler randomizer's reports can be computed from this one's, and blanks stay blank."""
        return (self.probability, type(self.randomizer), self.randomizer.gentler)

    @property
    def threshold(self) -> int:
        """How many words out of 2^64 mean a report, and not a blank."""
        words = math.floor(Fraction(self.probability) * WORD)
        if words == 0:
            raise InvalidInput(
                f"probability must be at least 2**-64 to run, got {self.probability!r}. Raise it: nobody takes part."
            )
        return words

    @property
    def integers(self) -> tuple[int, ...]:
        return (self.threshold,)

    @property
    def realised(self) -> CheckIn:
        """Exact: the words' share of 2^64 has at most 53 bits, as ``probability`` has."""
        return CheckIn(self.randomizer.realised, probability=self.threshold / WORD)

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        source = source_of(rng)
        (answers,) = self._columns(values)
        reports = self.randomizer.randomize(answers, rng=source)
        return self.blanked(reports, bernoulli(source, self.threshold, len(reports)))

    def blanked(self, reports: NDArray[Any], present: NDArray[np.bool_]) -> NDArray[Any]:
        """The reports of those who are ``present``, and blanks of all others."""
        dtype, _, outputs = self.form
        if outputs is not None:
            return np.where(present, reports.astype(dtype), dtype.type(outputs - 1))
        rows = reports.reshape(len(reports), -1)
        flagged = np.concatenate([present[:, None].astype(rows.dtype), rows], axis=1)
        flagged[~present] = 0
        return flagged


def of_krr(*, k: int, probability: float, epsilon0: float) -> CheckIn:
    """The check-in that is asked for by its name."""
    return CheckIn(KRR(k=k, epsilon0=epsilon0), probability=probability)


register(Family(make=CheckIn))


@dataclass(frozen=True, slots=True, repr=False)
class VotingCheckIn(Counted):
    """A check-in with its randomizer ``inner``, which votes; built by ``of``."""

    law: CheckIn
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
                f"a check-in must be of votes for values only to be counted, got {given!r}. Use KRR inside."
            )
        return cls(given, inner)

    k = that_of("inner")
    _words = that_of("inner")

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
        return self.law.realised.probability

    @property
    def bits(self) -> int:
        """A blank is one more report, or one more bit."""
        outputs = self.form.outputs
        return 1 + self.inner.bits if outputs is None else bits_for(outputs)

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        reports = self.inner._draw(source, values)
        return self.law.blanked(reports, bernoulli(source, self.law.threshold, len(values)))

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
                "a blank must be all zeros, and others begin with 1, got one that does not. Leave such reports out."
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
        return VotingCheckIn(self.law.realised, self.inner.realised)  # type: ignore[arg-type]

    @property
    def explicit(self) -> VotingCheckIn:
        return VotingCheckIn(self.law, self.inner.explicit)


def answering(randomizer: VotingRandomizer) -> VotingRandomizer:
    """What those who take part report by."""
    return answering(randomizer.inner) if isinstance(randomizer, VotingCheckIn) else randomizer
