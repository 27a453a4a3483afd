"""How many people are below each cut point, the quantiles, and the people in ranges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from shuffledp.judge.fakes import CountedFakes
from shuffledp.judge.lattice import Array
from shuffledp.judge.laws import LEVELS, CountedLaw
from shuffledp.judge.rows import TREE, Estimated
from shuffledp.record import AtQuantiles, Designed, Record
from shuffledp.verify.by_task.told_answer import AMONG_FAKES, LOOSER, Measure, Told, tails_of
from shuffledp.verify.counted_distribution import counted_bins, in_bins_of, quantile_bins, swayed_bins
from shuffledp.verify.outcomes import Check, agree, equal, holds, unchecked

__all__ = ["ToldCuts"]

SWAYED = ("without one liar: lower", "without one liar: upper", "without 1 %: lower", "without 1 %: upper")


class ToldCuts(Told):
    """How many people are below each cut point."""

    same = 1e-7

    def families(self, design: Designed) -> tuple[str, ...]:
        return ("krr", LEVELS, *AMONG_FAKES, TREE)

    def size(self, design: Designed, law: CountedLaw) -> int:
        return len(design.cuts or ()) - 1

    def measure(self, design: Designed) -> Measure:
        return Measure(bins=len(design.cuts or ()) - 1)

    def of(self, design: Designed) -> int:
        return len(design.cuts or ()) - 2

    def labels(self, record: Record) -> list[str]:
        return [f"below {_plainly(cut)}" for cut in (record.design.cuts or ())[1:-1]]

    def misshapen(self, record: Record, law: CountedLaw) -> Check | None:
        """A stranger may write any number of cut points, and in any order."""
        cuts, votes = record.design.cuts or (), len(record.tally.votes)
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
        first, *_, last = record.design.cuts or (0.0, 0.0)
        why = "reports name bins, and no report says where the outermost ones end; the ledger binds the design"
        outermost = unchecked("ends of the range", f"{first:g} to {last:g}", why)
        return [*_check_quantiles(record, found, law), *_check_ranges(record, law), outermost]


def _below(law: CountedLaw) -> list[tuple[int, int]]:
    """The bins below each cut point."""
    return [(0, end) for end in range(1, law.k)]


def _plainly(number: float) -> str:
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else repr(float(number))


def _check_quantiles(record: Record, found: Estimated, law: CountedLaw) -> list[Check]:
    """Every quantile: the bins that the limits leave, and the people below the estimate."""
    claimed, design, n = record.estimates.quantiles, record.design, record.tally.reports
    if claimed is None:
        return []
    cuts, slack = design.cuts or (), LOOSER * (found.within + found.rounding)
    low, high = found.limits(tails_of(record, len(cuts) - 2)[0])
    columns = [claimed.value, claimed.lower, claimed.upper, *(each for each in claimed.swayed if each is not None)]
    shaped = all(len(column) == len(claimed.at) for column in columns)
    asked = equal("quantiles that were asked for", list(claimed.at), list(design.at or ()), "the design")
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
    cuts, n = record.design.cuts or (), record.tally.reports
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
    claimed, design = record.estimates.ranges, record.design
    if claimed is None:
        return []
    places = {cut: place for place, cut in enumerate(design.cuts or ())}
    ranges = design.ranges or ()
    if not all(end in places for pair in ranges for end in pair) or not all(low < high for low, high in ranges):
        return [holds("ranges", str(ranges)[:40], "pairs of cut points", "the design", False)]
    groups = [(places[low], places[high]) for low, high in ranges]
    found = counted_bins(record.tally.votes, groups, record.tally.reports, law)
    low, high = found.limits(tails_of(record, len(design.cuts or ()) - 2)[0])
    how, loosely = "the votes in each range", found.within + found.rounding
    return [
        agree("people in ranges", claimed.value, found.values, how, within=found.within + found.rounding),
        agree("standard errors in ranges", claimed.stderr, found.errors, how, within=loosely),
        agree("people in ranges, at least", claimed.lower, low, how, within=LOOSER * loosely),
        agree("people in ranges, at most", claimed.upper, high, how, within=LOOSER * loosely),
    ]
