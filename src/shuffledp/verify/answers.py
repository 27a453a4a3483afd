"""What the votes of a release tell, question by question: which randomizers answer it, what is
estimated and how, and what else is told beside the estimates; column by column, against the votes
they were made of.

A question that derives from one of these needs nothing; one of its own kind, a class and a line in
``TOLD``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from shuffledp.judge.effort import LISTED
from shuffledp.judge.fakes import CountedFakes
from shuffledp.judge.lattice import Array
from shuffledp.judge.laws import LEVELS, CountedLaw
from shuffledp.judge.rows import TREE, Estimated, counted_at_ends, counted_mean, counted_people
from shuffledp.judge.shares import CountedShares
from shuffledp.questions.question import by_kind
from shuffledp.record import AtQuantiles, Record
from shuffledp.record.findings import CLIPPED_MEAN, CLIPPED_SUM
from shuffledp.verify.check_search import check_search
from shuffledp.verify.counted import check_shares, counted_bins, counted_table, in_bins_of, quantile_bins, swayed_bins
from shuffledp.verify.outcomes import Check, agree, equal, holds, unchecked

__all__ = [
    "AMONG_FAKES",
    "LOOSER",
    "TOLD",
    "Measure",
    "Told",
    "ToldCells",
    "ToldCuts",
    "ToldMean",
    "ToldSum",
    "ToldValue",
    "ToldValues",
    "ToldWords",
    "places_of",
    "tails_of",
    "told_by",
    "vote_weight",
]

LEVEL = 0.95
LOOSER = 10.0  # limits may be so many times farther off than estimates: they are found by halving
AMONG_FAKES = ("fakes", "dummies")
INVERTED = "the test that defines it, inverted by halving"
MOVED = "what one malicious person can move"


@dataclass(frozen=True, slots=True)
class Measure:
    """How an error is measured: ``width`` is that of the range of a mean, and None where people are
    counted; ``bins`` how many there are, where people are counted below cut points.
    """

    width: float | None = None
    bins: int | None = None
    among: int = 1  # a mean is divided by so many
    single: bool = False  # one count, which one person moves by 1


class Told(ABC):
    """The answer to one or several questions, as the votes tell it."""

    same: float  # how far off, relatively, the sway may be

    @abstractmethod
    def families(self) -> tuple[str, ...]:
        """The randomizers that answer the question; the usual one first."""

    @abstractmethod
    def size(self, record: Record, law: CountedLaw) -> int:
        """How many values a report can name."""

    @abstractmethod
    def measure(self, record: Record) -> Measure:
        """How an error to expect is measured."""

    @abstractmethod
    def of(self, record: Record) -> int:
        """How many numbers are estimated."""

    def unit(self, record: Record) -> str:
        """What the estimates count."""
        return "people"

    @abstractmethod
    def labels(self, record: Record) -> list[str]:
        """What they are called."""

    @abstractmethod
    def misshapen(self, record: Record, law: CountedLaw) -> Check | None:
        """What a stranger wrote instead of columns that can be compared, if so."""

    @abstractmethod
    def estimated(self, record: Record, law: CountedLaw) -> Estimated:
        """The estimates, from the votes."""

    @abstractmethod
    def sway(self, record: Record, law: CountedLaw) -> Array:
        """How far one person's report can move each."""

    def further(self, record: Record, found: Estimated, law: CountedLaw) -> list[Check]:
        """Whatever else is told beside them."""
        return []

    def check(self, record: Record, law: CountedLaw) -> list[Check]:
        """Every column of the table of estimates."""
        misshapen = self.misshapen(record, law)
        if misshapen is not None:
            return [misshapen]
        claimed, found = record.estimates, self.estimated(record, law)
        loosely = found.within + found.rounding
        variance = "the variance of the votes, as fractions"
        checks = [
            equal("labels of the estimates", list(claimed.label), self.labels(record), "the design"),
            equal("how many were estimated", claimed.of, self.of(record), "the design"),
            equal("what is estimated", claimed.unit, self.unit(record), "the question"),
            equal("level of the limits", claimed.level, LEVEL, "what shuffledp writes"),
            agree("estimates", claimed.value, found.values, "votes and integers, as fractions", within=found.within),
            agree("standard errors", claimed.stderr, found.errors, variance, within=loosely),
        ]
        each, together = tails_of(record, self.of(record))
        low, high = found.limits(each)
        all_low, all_high = found.limits(together)
        for what, said, limit in (
            ("each: lower", claimed.lower, low),
            ("each: upper", claimed.upper, high),
            ("all together: lower", claimed.all_lower, all_low),
            ("all together: upper", claimed.all_upper, all_high),
        ):
            checks.append(agree(f"limits, {what}", said, limit, INVERTED, within=LOOSER * loosely))
        return [*checks, *self._check_sway(record, law), *self.further(record, found, law)]

    def _check_sway(self, record: Record, law: CountedLaw) -> list[Check]:
        """How far one malicious person could have moved an estimate: the weights that a report can
        have, from the design.
        """
        claimed = record.estimates.sway
        if claimed is None:
            return []
        if isinstance(law, CountedShares):
            how = "all messages of one person alike; shares without a limit"
            return [equal(MOVED, list(claimed), [law.sway(1.0)], how)]
        how = "the largest less the smallest weight of a report, as fractions"
        said, found = [np.nan if each is None else each for each in claimed], self.sway(record, law)
        return [agree(MOVED, said, found, how, within=self.same * found)]


def tails_of(record: Record, of: int) -> tuple[float, float]:
    """What each limit may miss by itself, and what it may miss if all are to hold at once."""
    missed = 1.0 - record.estimates.level
    return missed / 2.0, missed / (2.0 * of)


def places_of(labels: Sequence[str], record: Record) -> list[int]:
    """Where these categories stand in the design; what is none is left out."""
    listed = record.question.listed
    if isinstance(listed, range):
        size = len(listed)
        short = (label for label in labels if label.isdecimal() and len(label) <= len(str(size)))
        return [int(label) for label in short if int(label) < size and str(int(label)) == label]
    known = {str(label): place for place, label in enumerate(listed)}
    return [known[label] for label in labels if label in known]


ENCODINGS = ("hadamard", "hash", "subset", "oue")


class ToldValues(Told):
    """How many people hold each of the values of a column."""

    same = 1e-9

    def families(self) -> tuple[str, ...]:
        return ("krr", *ENCODINGS, *AMONG_FAKES)

    def size(self, record: Record, law: CountedLaw) -> int:
        return record.design.domain.size

    def measure(self, record: Record) -> Measure:
        return Measure()

    def of(self, record: Record) -> int:
        return len(record.question.listed)

    def labels(self, record: Record) -> list[str]:
        listed = record.question.listed
        return [str(listed[place]) for place in _places(record)]

    def cast(self, record: Record) -> int:
        """How many values votes are listed for."""
        return min(len(record.question.listed), LISTED)

    def misshapen(self, record: Record, law: CountedLaw) -> Check | None:
        all_listed, labels, votes = record.question.listed, record.estimates.label, record.tally.votes
        of = len(all_listed)
        if not isinstance(all_listed, range) and len(set(map(str, all_listed))) < of:
            return holds("labels of the design", f"{of} labels", "fewer that differ", "each is there once", False)
        listed = min(of, LISTED)
        if len(labels) == len(_places(record)) == listed and len(votes) == self.cast(record):
            return None
        claimed = f"{len(labels)} for {len(votes)} votes"
        return holds("labels of the estimates", claimed, f"{listed} distinct ones", "the design", False)

    def estimated(self, record: Record, law: CountedLaw) -> Estimated:
        tally = record.tally
        return counted_people(tally.votes, tally.blocks or (), _places(record), tally.reports, law)

    def sway(self, record: Record, law: CountedLaw) -> Array:
        return np.full(len(record.estimates.value), float(vote_weight(law)))


class ToldValue(ToldValues):
    """How many people hold one value."""

    def families(self) -> tuple[str, ...]:
        return ("signed",)

    def measure(self, record: Record) -> Measure:
        return Measure(single=True)

    def cast(self, record: Record) -> int:
        return record.design.domain.size

    def estimated(self, record: Record, law: CountedLaw) -> Estimated:
        if not isinstance(law, CountedShares):
            return super().estimated(record, law)
        return law.estimated(record.tally.votes, record.tally.reports, 0.0, 1.0)


class ToldCells(ToldValues):
    """How many people hold each combination of the values of several columns."""

    def families(self) -> tuple[str, ...]:
        return ("krr", *AMONG_FAKES)

    def cast(self, record: Record) -> int:
        return record.design.domain.size

    def estimated(self, record: Record, law: CountedLaw) -> Estimated:
        sizes = list(record.question.cells.sizes)
        return counted_table(record.tally.votes, sizes, record.tally.reports, law)

    def further(self, record: Record, found: Estimated, law: CountedLaw) -> list[Check]:
        return check_shares(record, law)


def vote_weight(law: CountedLaw) -> Fraction:
    """How far one report moves the count of a value."""
    return 2 / law.hit if law.family == "hadamard" else law.messages / (law.hit - law.miss)


def _places(record: Record) -> list[int]:
    """The categories that are listed: of very many, only the largest are."""
    size = len(record.question.listed)
    return sorted(set(places_of(record.estimates.label, record))) if size > LISTED else list(range(size))


class ToldMean(Told):
    """The mean of a number."""

    same = 1e-9
    clipped = CLIPPED_MEAN  # what is estimated where values were moved to the ends
    adds_up = False

    def among(self, people: int) -> int:
        """By how many the sum of what they hold is divided."""
        return 1 if self.adds_up else people

    def times(self, people: int) -> int:
        """How many times their mean it is."""
        return people if self.adds_up else 1

    def families(self) -> tuple[str, ...]:
        return ("krr", "split")

    def size(self, record: Record, law: CountedLaw) -> int:
        return law.k

    def measure(self, record: Record) -> Measure:
        lower, upper = record.design.domain.bounds
        return Measure(width=upper - lower, among=self.among(record.design.n))

    def of(self, record: Record) -> int:
        return 1

    def unit(self, record: Record) -> str:
        return str(record.question.type)

    def labels(self, record: Record) -> list[str]:
        known = record.estimates.ends is not None or record.design.mechanism.type == "split"
        return [self.clipped if known and record.asked.clips else record.question.type]

    def misshapen(self, record: Record, law: CountedLaw) -> Check | None:
        """A stranger may write any number of points, and as many would be made."""
        votes = len(record.tally.votes)
        if votes == (2 if isinstance(law, CountedShares) else law.k):
            return None
        return holds("points of the grid", f"{votes} votes", f"{law.k} points", "the design", False)

    def estimated(self, record: Record, law: CountedLaw) -> Estimated:
        design, tally = record.design, record.tally
        if not isinstance(law, CountedShares):
            return counted_mean(tally.votes, law, design.domain.bounds, self.times(sum(tally.votes)))
        lower, upper = map(Fraction, design.domain.bounds)
        times = self.times(tally.reports)
        step = (upper - lower) * times / ((law.k - 1) * tally.reports)  # of the grid, in the answer
        return law.estimated(tally.votes, tally.reports, float(lower * times), float(step))

    def sway(self, record: Record, law: CountedLaw) -> Array:
        lower, upper = map(Fraction, record.design.domain.bounds)
        weight = vote_weight(law) * (upper - lower) / self.among(record.tally.reports)
        return np.full(len(record.estimates.value), float(weight))

    def further(self, record: Record, found: Estimated, law: CountedLaw) -> list[Check]:
        """How many people's numbers were rounded to either end of the range."""
        claimed = record.estimates.ends
        if claimed is None:
            return []
        ends = counted_at_ends(record.tally.votes, law)
        low, high = ends.limits(tails_of(record, 1)[0] / 2.0)
        lower, upper = map(Fraction, record.design.domain.bounds)
        step = float((upper - lower) / (law.k - 1))
        how, loosely = "the votes for the ends, as fractions", LOOSER * (ends.within + ends.rounding)
        return [
            agree(
                "a step of the grid", [claimed.step], np.array([step]), "the design", within=np.array([1e-12 * step])
            ),
            agree("people at the ends", claimed.value, ends.values, how, within=ends.within),
            agree("people at the ends, at least", claimed.lower, low, how, within=loosely),
            agree("people at the ends, at most", claimed.upper, high, how, within=loosely),
        ]


class ToldSum(ToldMean):
    """The sum of a number."""

    clipped = CLIPPED_SUM
    adds_up = True


SWAYED = ("without one liar: lower", "without one liar: upper", "without 1 %: lower", "without 1 %: upper")


class ToldCuts(Told):
    """How many people are below each cut point."""

    same = 1e-7

    def families(self) -> tuple[str, ...]:
        return ("krr", LEVELS, *AMONG_FAKES, TREE)

    def size(self, record: Record, law: CountedLaw) -> int:
        return len(_cuts(record)) - 1

    def measure(self, record: Record) -> Measure:
        return Measure(bins=len(_cuts(record)) - 1)

    def of(self, record: Record) -> int:
        return len(_cuts(record)) - 2

    def labels(self, record: Record) -> list[str]:
        return [f"below {_plainly(cut)}" for cut in _cuts(record)[1:-1]]

    def misshapen(self, record: Record, law: CountedLaw) -> Check | None:
        """A stranger may write any number of cut points, and in any order."""
        cuts, votes = _cuts(record), len(record.tally.votes)
        rising = all(low < high for low, high in pairwise(cuts))
        shaped = len(cuts) - 1 == law.k and votes == law.places
        cast = isinstance(law, CountedFakes) or sum(record.tally.votes) == record.tally.reports
        if rising and shaped and cast and record.tally.reports > 0:
            return None
        claimed, found = f"{len(cuts)} cut points, {votes} votes", f"{law.k + 1} and {law.places}, rising"
        return holds("bins and votes", claimed, found, "the design", False)

    def estimated(self, record: Record, law: CountedLaw) -> Estimated:
        return counted_bins(record.tally.votes, _below(law), record.tally.reports, law)

    def sway(self, record: Record, law: CountedLaw) -> Array:
        return swayed_bins(_below(law), law)

    def further(self, record: Record, found: Estimated, law: CountedLaw) -> list[Check]:
        """Quantiles, ranges, and where the first bin begins and the last one ends, which no count
        depends on.
        """
        first, *_, last = _cuts(record)
        why = "reports name bins, and no report says where the outermost ones end; the ledger binds the design"
        outermost = unchecked("ends of the range", f"{first:g} to {last:g}", why)
        return [*_check_quantiles(record, found, law), *_check_ranges(record, law), outermost]


def _cuts(record: Record) -> tuple[float, ...]:
    cuts: tuple[float, ...] = record.question.cuts
    return cuts


def _below(law: CountedLaw) -> list[tuple[int, int]]:
    """The bins below each cut point."""
    return [(0, end) for end in range(1, law.k)]


def _plainly(number: float) -> str:
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else repr(float(number))


def _check_quantiles(record: Record, found: Estimated, law: CountedLaw) -> list[Check]:
    """Every quantile: the bins that the limits leave, and the people below the estimate."""
    claimed, cuts, n = record.estimates.quantiles, _cuts(record), record.tally.reports
    if claimed is None:
        return []
    slack = LOOSER * (found.within + found.rounding)
    low, high = found.limits(tails_of(record, len(cuts) - 2)[0])
    columns = [claimed.value, claimed.lower, claimed.upper, *(each for each in claimed.swayed if each is not None)]
    shaped = all(len(column) == len(claimed.at) for column in columns)
    asked = equal("quantiles that were asked for", list(claimed.at), list(record.question.at), "the design")
    if asked.outcome == "FAIL" or not shaped:
        return [asked if asked.outcome == "FAIL" else holds("quantiles", "columns", "of one length", "rows", False)]
    checks = [asked]
    for at, value, lower, upper in zip(claimed.at, claimed.value, claimed.lower, claimed.upper, strict=True):
        first, last = quantile_bins(at, low, high, n, slack)
        ends = f"{cuts[min(first)]:g} to {cuts[max(last) + 1]:g}"
        right = lower in {cuts[each] for each in first} and upper in {cuts[each + 1] for each in last}
        how = "the limits below each cut point"
        checks.append(holds(f"interval of the {at:g}-quantile", f"{lower:g} to {upper:g}", ends, how, right))
        people, within = in_bins_of(value, cuts, found.values, n), float(slack.max()) + 1e-9 * n
        how = "people below it, by the estimates"
        checks.append(agree(f"people below the {at:g}-quantile", at * n, [people], how, within=within))
    return [*checks, *_check_swayed(record, claimed, found, law, float(slack.max()) + 1e-6)]


def _check_swayed(
    record: Record, claimed: AtQuantiles, found: Estimated, law: CountedLaw, slack: float
) -> Iterator[Check]:
    """What malicious people could have moved: quantiles of all counts moved either way."""
    cuts, n = _cuts(record), record.tally.reports
    far = swayed_bins(_below(law), law)
    how = "all counts moved as far as can be"
    moves = [people * sign for people in (1, -(-n // 100)) for sign in (1, -1)]
    for what, column, move in zip(SWAYED, claimed.swayed, moves, strict=True):
        if column is None:
            continue
        people = [in_bins_of(value, cuts, found.values + move * far, n) for value in column]
        wanted = [at * n for at in claimed.at]
        yield agree(f"quantiles, {what}", people, wanted, how, within=slack + 1e-7 * abs(move) * far.max())


def _check_ranges(record: Record, law: CountedLaw) -> list[Check]:
    """How many people are in each range that was asked for."""
    claimed, cuts = record.estimates.ranges, _cuts(record)
    if claimed is None:
        return []
    places = {cut: place for place, cut in enumerate(cuts)}
    ranges = record.question.ranges
    if not all(end in places for pair in ranges for end in pair) or not all(low < high for low, high in ranges):
        return [holds("ranges", str(ranges)[:40], "pairs of cut points", "the design", False)]
    groups = [(places[low], places[high]) for low, high in ranges]
    found = counted_bins(record.tally.votes, groups, record.tally.reports, law)
    low, high = found.limits(tails_of(record, len(cuts) - 2)[0])
    how, loosely = "the votes in each range", found.within + found.rounding
    return [
        agree("people in ranges", claimed.value, found.values, how, within=found.within + found.rounding),
        agree("standard errors in ranges", claimed.stderr, found.errors, how, within=loosely),
        agree("people in ranges, at least", claimed.lower, low, how, within=LOOSER * loosely),
        agree("people in ranges, at most", claimed.upper, high, how, within=LOOSER * loosely),
    ]


class ToldWords(ToldValues):
    """The most frequent words."""

    def families(self) -> tuple[str, ...]:
        return ("krr",)

    def size(self, record: Record, law: CountedLaw) -> int:
        return record.design.domain.size

    def check(self, record: Record, law: CountedLaw) -> list[Check]:
        """The estimates are made of the levels of the search."""
        return check_search(record, law)


# A question that is not here is like the nearest one that it derives from.
TOLD: dict[str, Told] = {
    "histogram": ToldValues(),
    "count": ToldValue(),
    "crosstab": ToldCells(),
    "mean": ToldMean(),
    "sum": ToldSum(),
    "quantile": ToldCuts(),
    "top": ToldWords(),
}


def told_by(record: Record) -> Told:
    """What a release of this question tells."""
    return by_kind(TOLD, record.question.type)
