"""The estimates of a record, column by column, against the votes they were made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from shuffledp.collection.record import AtQuantiles, Designed, Record
from shuffledp.collection.record.estimated import CLIPPED_MEAN, CLIPPED_SUM
from shuffledp.collection.verify.check_search import check_search
from shuffledp.collection.verify.check_shares import check_shares
from shuffledp.collection.verify.counted_distribution import counted_bins, in_bins_of, quantile_bins, swayed_bins
from shuffledp.collection.verify.counted_estimates import Estimated, counted_at_ends, counted_mean, counted_people
from shuffledp.collection.verify.counted_fakes import CountedFakes
from shuffledp.collection.verify.counted_law import CountedLaw
from shuffledp.collection.verify.counted_levels import CountedLevels
from shuffledp.collection.verify.counted_shares import CountedShares
from shuffledp.collection.verify.counted_tables import counted_table
from shuffledp.collection.verify.effort import LISTED
from shuffledp.collection.verify.outcomes import Check, agree, equal, holds, unchecked

__all__ = ["COLUMNS", "LOOSER", "check_estimates", "places_of", "tails_of"]

COLUMNS = ("value", "stderr", "lower", "upper", "all_lower", "all_upper")
LEVEL = 0.95
LOOSER = 10.0  # limits may be so many times farther off than estimates: they are found by halving
SWAYED = ("without one liar: lower", "without one liar: upper", "without 1 %: lower", "without 1 %: upper")
INVERTED = "the test that defines it, inverted by halving"


def check_estimates(record: Record, law: CountedLaw) -> list[Check]:
    """Every column of the table of estimates; those of a search are made of its levels."""
    if record.design.task == "top":
        return check_search(record, law)
    misshapen = _misshapen(record, law)
    if misshapen is not None:
        return [misshapen]
    claimed, found = record.estimates, _estimated(record, law)
    loosely = found.within + found.rounding
    variance = "the variance of the votes, as fractions"
    checks = [
        equal("labels of the estimates", list(claimed.label), _labels(record), "the design"),
        equal("how many were estimated", claimed.of, _of(record), "the design"),
        equal("what is estimated", claimed.unit, "people" if record.design.people else record.design.task, "the task"),
        equal("level of the limits", claimed.level, LEVEL, "what shuffledp writes"),
        agree("estimates", claimed.value, found.values, "votes and integers, as fractions", within=found.within),
        agree("standard errors", claimed.stderr, found.errors, variance, within=loosely),
    ]
    each, together = tails_of(record)
    low, high = found.limits(each)
    all_low, all_high = found.limits(together)
    for what, said, limit in (
        ("each: lower", claimed.lower, low),
        ("each: upper", claimed.upper, high),
        ("all together: lower", claimed.all_lower, all_low),
        ("all together: upper", claimed.all_upper, all_high),
    ):
        checks.append(agree(f"limits, {what}", said, limit, INVERTED, within=LOOSER * loosely))
    checks += [*_check_sway(record, law), *_check_ends(record, law), *check_shares(record, law)]
    return [*checks, *_check_quantiles(record, found, law), *_check_ranges(record, law), *_outermost(record)]


def _outermost(record: Record) -> list[Check]:
    """Where the first bin begins and the last one ends, which no count depends on."""
    if not record.design.distributes:
        return []
    first, *_, last = record.design.cuts or (0.0, 0.0)
    why = "reports name bins, and no report says where the outermost ones end; the ledger binds the design"
    return [unchecked("ends of the range", f"{first:g} to {last:g}", why)]


def _check_sway(record: Record, law: CountedLaw) -> list[Check]:
    """How far one malicious person could have moved an estimate: the weights that a report can
    have, from the design.
    """
    claimed, design = record.estimates.sway, record.design
    if claimed is None:
        return []
    if isinstance(law, CountedShares):
        how = "all messages of one person alike; shares without a limit"
        return [equal("what one malicious person can move", list(claimed), [law.sway(1.0)], how)]
    how = "the largest less the smallest weight of a report, as fractions"
    said = [np.nan if each is None else each for each in claimed]
    if design.distributes:
        found = swayed_bins([(0, end) for end in range(1, law.k)], law)
        return [agree("what one malicious person can move", said, found, how, within=1e-7 * found)]
    weight = 2 / law.hit if law.family == "hadamard" else law.messages / (law.hit - law.miss)
    if not design.counts:
        lower, upper = map(Fraction, design.bounds)
        weight *= (upper - lower) / (1 if design.task == "sum" else record.tally.reports)
    found = np.full(len(record.estimates.value), float(weight))
    return [agree("what one malicious person can move", said, found, how, within=1e-9 * found)]


def tails_of(record: Record) -> tuple[float, float]:
    """What each limit may miss by itself, and what it may miss if all are to hold at once."""
    missed = 1.0 - record.estimates.level
    return missed / 2.0, missed / (2.0 * _of(record))


def places_of(labels: Sequence[str], design: Designed) -> list[int]:
    """Where these categories stand in the design; what is none is left out."""
    if isinstance(design.listed, range):
        size = len(design.listed)
        short = (label for label in labels if label.isdecimal() and len(label) <= len(str(size)))
        return [int(label) for label in short if int(label) < size and str(int(label)) == label]
    known = {label: place for place, label in enumerate(design.labels)}
    return [known[label] for label in labels if label in known]


def _of(record: Record) -> int:
    if record.design.distributes:
        return len(record.design.cuts or ()) - 2
    return len(record.design.listed) if record.design.counts else 1


def _places(record: Record) -> list[int]:
    """The categories that are listed: of very many, only the largest are."""
    size = len(record.design.listed)
    return sorted(set(places_of(record.estimates.label, record.design))) if size > LISTED else list(range(size))


def _labels(record: Record) -> list[str]:
    design = record.design
    if design.counts:
        return [str(design.listed[place]) for place in _places(record)]
    if design.distributes:
        return [f"below {_plainly(cut)}" for cut in (design.cuts or ())[1:-1]]
    known = record.estimates.ends is not None or design.law.randomizer == "split"
    clipped = {"mean": CLIPPED_MEAN, "sum": CLIPPED_SUM}
    return [clipped[design.task] if known and record.asked.clips else design.task]


def _estimated(record: Record, law: CountedLaw) -> Estimated:
    design, tally = record.design, record.tally
    if isinstance(law, CountedShares):
        start, scale = (0.0, 1.0) if design.counts else _steps(design, law.k, tally.reports)
        return law.estimated(tally.votes, tally.reports, start, scale)
    if design.columns is not None:
        return counted_table(tally.votes, [len(each) for each in design.crossed], tally.reports, law)
    if design.counts:
        return counted_people(tally.votes, tally.blocks or (), _places(record), tally.reports, law)
    if design.distributes:
        return counted_bins(tally.votes, [(0, end) for end in range(1, law.k)], tally.reports, law)
    return counted_mean(tally.votes, law, design.bounds, sum(tally.votes) if design.task == "sum" else 1)


def _steps(design: Designed, k: int, reports: int) -> tuple[float, float]:
    """Where the answer begins, and what a step of the grid is worth."""
    lower, upper = map(Fraction, design.bounds)
    times = reports if design.task == "sum" else 1
    return float(lower * times), float((upper - lower) * times / ((k - 1) * reports))


def _misshapen(record: Record, law: CountedLaw) -> Check | None:
    if record.design.counts:
        return _misshapen_counts(record)
    return _misshapen_bins(record, law) if record.design.distributes else _misshapen_mean(record, law)


def _misshapen_bins(record: Record, law: CountedLaw) -> Check | None:
    """A stranger may write any number of cut points, and in any order."""
    cuts, votes = record.design.cuts or (), len(record.tally.votes)
    rising = all(low < high for low, high in pairwise(cuts))
    shaped = len(cuts) - 1 == law.k and votes == _reports_of(law)
    cast = isinstance(law, CountedFakes) or sum(record.tally.votes) == record.tally.reports
    if rising and shaped and cast and record.tally.reports > 0:
        return None
    claimed, found = f"{len(cuts)} cut points, {votes} votes", f"{law.k + 1} and {_reports_of(law)}, rising"
    return holds("bins and votes", claimed, found, "the design", False)


def _reports_of(law: CountedLaw) -> int:
    """How many different reports there are."""
    return sum(level.k for level in law.levels) if isinstance(law, CountedLevels) else law.k


def _plainly(number: float) -> str:
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else repr(float(number))


def _check_quantiles(record: Record, found: Estimated, law: CountedLaw) -> list[Check]:
    """Every quantile: the bins that the limits leave, and the people below the estimate."""
    claimed, design, n = record.estimates.quantiles, record.design, record.tally.reports
    if claimed is None:
        return []
    cuts, slack = design.cuts or (), LOOSER * (found.within + found.rounding)
    low, high = found.limits(tails_of(record)[0])
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
    far = swayed_bins([(0, end) for end in range(1, law.k)], law)
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
    ranges = design.ranges or []
    if not all(end in places for pair in ranges for end in pair) or not all(low < high for low, high in ranges):
        return [holds("ranges", str(ranges)[:40], "pairs of cut points", "the design", False)]
    groups = [(places[low], places[high]) for low, high in ranges]
    found = counted_bins(record.tally.votes, groups, record.tally.reports, law)
    low, high = found.limits(tails_of(record)[0])
    how, loosely = "the votes in each range", found.within + found.rounding
    return [
        agree("people in ranges", claimed.value, found.values, how, within=found.within + found.rounding),
        agree("standard errors in ranges", claimed.stderr, found.errors, how, within=loosely),
        agree("people in ranges, at least", claimed.lower, low, how, within=LOOSER * loosely),
        agree("people in ranges, at most", claimed.upper, high, how, within=LOOSER * loosely),
    ]


def _misshapen_mean(record: Record, law: CountedLaw) -> Check | None:
    """A stranger may write any number of points, and as many would be made."""
    votes = len(record.tally.votes)
    if votes == (2 if isinstance(law, CountedShares) else law.k):
        return None
    return holds("points of the grid", f"{votes} votes", f"{law.k} points", "the design", False)


def _misshapen_counts(record: Record) -> Check | None:
    design, labels, votes = record.design, record.estimates.label, record.tally.votes
    of = len(design.listed)
    if not isinstance(design.listed, range) and len(set(design.labels)) < of:
        return holds("labels of the design", f"{of} labels", "fewer that differ", "each is there once", False)
    listed = min(of, LISTED)
    cast = design.values if design.columns is not None or design.value is not None else listed
    if len(labels) == len(_places(record)) == listed and len(votes) == cast:
        return None
    claimed = f"{len(labels)} for {len(votes)} votes"
    return holds("labels of the estimates", claimed, f"{listed} distinct ones", "the design", False)


def _check_ends(record: Record, law: CountedLaw) -> list[Check]:
    """How many people's numbers were rounded to either end of the range of a mean."""
    claimed, design = record.estimates.ends, record.design
    if claimed is None:
        return []
    found = counted_at_ends(record.tally.votes, law)
    low, high = found.limits(tails_of(record)[0] / 2.0)
    lower, upper = map(Fraction, design.bounds)
    step = float((upper - lower) / (law.k - 1))
    how, loosely = "the votes for the ends, as fractions", LOOSER * (found.within + found.rounding)
    return [
        agree("a step of the grid", [claimed.step], np.array([step]), "the design", within=np.array([1e-12 * step])),
        agree("people at the ends", claimed.value, found.values, how, within=found.within),
        agree("people at the ends, at least", claimed.lower, low, how, within=loosely),
        agree("people at the ends, at most", claimed.upper, high, how, within=loosely),
    ]
