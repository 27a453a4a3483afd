"""A search for frequent words, level by level: who was asked what, from how many votes on it went
on, and what the votes of the last level say of everybody.

The words of a search, symbol by symbol: whatever went on from a level begins as it was followed
there, and is as long as what the level looked at.

The first level of a search, of which the certificate speaks; and the law of those who count what
was found, where it is another: its integers, and that it shows no more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from urllib.parse import unquote_to_bytes

import numpy as np
from scipy.special import bdtrc, gammaln

from shuffledp.judge.effort import MOST_STRAY_VOTES, Effort, TooLarge
from shuffledp.judge.lattice import UNIT
from shuffledp.judge.laws import CountedLaw
from shuffledp.judge.oracle import Oracle
from shuffledp.judge.rows import Estimated, counts
from shuffledp.record import Certificate, Record
from shuffledp.search.terms import Searched, SearchLevel
from shuffledp.verify.outcomes import Check, agree, equal, holds, unchecked, vital

__all__ = [
    "OUT_OF",
    "SHORT_GROUPS",
    "check_search",
    "check_second_law",
    "check_symbols",
    "fewest_of",
    "law_of_level",
    "most_of",
    "of_first_level",
]

BYTES, LONGEST, LEVEL, GOES_ON = 210, 255, 0.95, "…"
COUNTING = 0.2  # the least share of those who count
MISS, SECOND_LAW, FAINT = 0.05, 1e-3, 1e-300
NEARLY = 1e-6  # of a tail: far more than its sum loses in floats
LOOSER = 10.0


def check_search(record: Record, law: CountedLaw) -> list[Check]:
    """Every level, every threshold, and the estimates."""
    search = record.counted.search
    if search is None or not search.levels:
        return [holds("the levels of the search", "none", "at least one", "the task", False)]
    checks = list[Check]()
    # Each part reads what the ones before it have found to be in order.
    parts: tuple[Callable[[], list[Check]], ...] = (
        lambda: [_check_lengths(search), _check_ranges(search)],
        lambda: [*_check_shape(record, search), *_check_levels(record, search, law), _check_chain(record, search)],
        lambda: [*_check_people(record, search), *check_symbols(record, search)],
        lambda: [*_check_words(record, search, law), *_check_enough(search, law), *_beyond(search)],
    )
    for part in parts:
        checks += part()
        if any(check.outcome == "FAIL" for check in checks):
            break
    return checks


def _check_lengths(search: Searched) -> Check:
    """A stranger may write columns of any length, and any number of levels."""
    shaped = all(len(level.passed) == len(level.votes) == len(level.whole) for level in search.levels)
    asked = len(search.levels) - (search.counting is not None)
    right = shaped and 1 <= asked <= len(search.spans)
    claimed, found = f"{len(search.levels)} levels", f"1 to {len(search.spans)}, and those who count"
    return holds("the levels of the search", claimed, found, "the symbols of each", right)


def _check_ranges(search: Searched) -> Check:
    """A stranger may write any numbers: of these the rest takes logarithms, powers and tails."""
    depth = max(sum(search.spans), *(level.span for level in search.levels))
    counted = (search.honest, search.least_holders, search.found_from or 0, search.faked_from or 0)
    asked = len(search.levels) - (search.counting is not None)
    right = (
        depth <= LONGEST and max(counted) <= search.people and search.delta >= FAINT and asked * search.share < OUT_OF
    )
    claimed, found = f"{depth} symbols, {search.people} people", f"at most {LONGEST}, and nobody beside them"
    return holds("numbers of the search", claimed, found, "what can be searched for", right)


def _size(record: Record) -> int:
    return BYTES if record.question.tokens is None else len(record.question.tokens)


def _ways(size: int, span: int) -> int:
    """In how many ways a beginning goes on."""
    return sum(size**length for length in range(span + 1))


def _check_shape(record: Record, search: Searched) -> list[Check]:
    design, size = record.design, _size(record)
    widest = [_ways(size, search.spans[0]), *(search.candidates * _ways(size, span) for span in search.spans[1:])]
    levels = len(search.spans)
    share = math.floor(min((1.0 - COUNTING) / levels, 1.0 / (levels + 1)) * OUT_OF)
    besides = 0.0 if search.honest == search.people else SHORT_GROUPS
    besides += 0.0 if search.counting_law is None else SECOND_LAW
    delta = search.delta * (1.0 - besides)
    group = tuple(people(search, search.share / OUT_OF) for people in (fewest_of, most_of))
    most, claimed = 2 * search.candidates, record.certificate
    lower = max(claimed.epsilon.lower, 0.0 if claimed.delta is None else claimed.delta.lower, *claimed.curve.lower)
    followed = f"at most {search.candidates}"
    return [
        holds("words that were asked for", search.k, followed, "what is followed", search.k <= search.candidates),
        equal("chance to miss a word", search.miss, MISS, "what shuffledp writes"),
        equal("symbols of all levels", sum(search.spans), record.question.longest, "the design"),
        equal("values that the law has room for", record.question.room, max(*widest, most) + 1, "the widest level"),
        equal("share of a level", search.share, share, "how many levels there are"),
        equal("delta of a level", design.delta, delta, "what is left for small groups, and for those who count"),
        equal("people of the first level", (design.honest, design.n), group, "Chernoff's bounds, and the search"),
        equal("lower ends of epsilon and delta", lower, 0.0, "none is known of a search"),
        equal("the first level", _asked(search.levels[0]), ((), ("",), search.spans[0]), "nothing is known before it"),
        equal(
            "the design",
            (record.question.words, record.question.prefixes, record.question.span),
            _asked(search.levels[0]),
            "the first level",
        ),
        equal("reports of the first level", record.counted.reports, search.levels[0].reports, "the reports"),
        equal("votes of the first level", record.tally.votes, search.levels[0].votes, "the tally"),
    ]


def _asked(level: SearchLevel) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    return level.words, level.prefixes, level.span


def _shares(search: Searched) -> list[Fraction]:
    """Of each level that was asked; those who count are all who are left."""
    shares = [Fraction(search.share, OUT_OF)] * len(search.levels)
    if search.counting is not None:
        shares[-1] = 1 - (len(shares) - 1) * shares[0]
    return shares


def _check_levels(record: Record, search: Searched, law: CountedLaw) -> Iterator[Check]:
    size, asked = _size(record), search.levels
    if len(asked) * _reach(search.people * float(law.miss)) > MOST_STRAY_VOTES:
        raise TooLarge("too many stray votes to sum over")
    for number, (level, share) in enumerate(zip(asked, _shares(search), strict=True), 1):
        name, counting = f"level {number}", bool(level.words)
        values = len(level.words) + len(level.prefixes) * _ways(size, level.span)
        tail = search.error / (len(search.spans) + 1) / max(values, 1)
        own = law_of_level(search, law, counting=counting)
        hit, miss = float(share * own.hit), float(share * own.miss)
        at, before = (_above(search.people, search.least_holders - 1, votes, hit, miss) for votes in _near(level))
        right = at <= tail * (1.0 + NEARLY) and before > tail * (1.0 - NEARLY)
        claimed, found = f"{level.threshold} votes", f"{at:.3g} there, of {tail:.3g}"
        yield holds(f"{name}: votes needed", claimed, found, "the exact law of the votes", right)
        yield equal(f"{name}: share of the people", level.share, float(share), "the search")
        yield _check_group(name, level, search, share)
        most = search.k if counting else search.candidates
        order = sorted(level.votes, reverse=True) == list(level.votes)
        enough = all(votes >= level.threshold for votes in level.votes) and sum(level.votes) <= level.reports
        passed, how = f"{len(level.passed)} values", "those with most votes, down to the threshold"
        kept = len(level.passed) <= min(most, values)
        yield holds(f"{name}: what went on", passed, f"at most {most}", how, order and enough and kept)
        yield _check_fallen(name, level, most, values)


def _check_fallen(name: str, level: SearchLevel, most: int, values: int) -> Check:
    """What reached the threshold as well fell out since others had more votes, as far as there were
    values and votes for it.
    """
    claimed = f"{level.fell_out} values, up to {level.fell_votes} votes"
    if not level.fell_out:
        return holds(f"{name}: what fell out", claimed, "none", "the votes", level.fell_votes == 0)
    full = len(level.passed) == most and level.fell_out <= values - most
    fewer = level.threshold <= level.fell_votes <= min(level.votes)
    cast = sum(level.votes) + level.fell_votes + (level.fell_out - 1) * level.threshold
    found = f"{level.threshold} to {min(level.votes)} votes" if level.votes else "none"
    return holds(f"{name}: what fell out", claimed, found, "the votes", full and fewer and cast <= level.reports)


def _check_chain(record: Record, search: Searched) -> Check:
    asked, found = list(map(_asked, search.levels)), list(_chain(record, search))
    return equal("what was asked at each level", asked, found, "what went on")


def _check_people(record: Record, search: Searched) -> Iterator[Check]:
    """Everybody is at one level: at those that were asked, if those who are left count."""
    reports, people = sum(level.reports for level in search.levels), search.people
    all_there = search.counting is not None and record.counted.collected is None
    claimed, right = f"{reports} reports", reports == people if all_there else reports <= people
    yield holds("reports of all levels", claimed, f"{people} people", "everybody is at one level", right)
    for number, level in enumerate(search.levels, 1):
        named = re.fullmatch("[0-9a-f]{64}", level.digest) is not None
        yield holds(f"level {number}: digest", level.digest, "64 hexadecimal digits", "a SHA-256", named)


def _beyond(search: Searched) -> Iterator[Check]:
    """What no page can prove about a search."""
    asked = "a longer list would have been the same, unless words fell out"
    yield unchecked("how many words were asked for", search.k, asked)
    fell = sum(level.fell_out for level in search.levels)
    yield unchecked("what did not go on", fell, "of these votes only digests are here; whoever has the tallies has all")


def _near(level: SearchLevel) -> tuple[int, int]:
    return level.threshold, level.threshold - 1


def _check_group(name: str, level: SearchLevel, search: Searched, share: Fraction) -> Check:
    """Chernoff's bounds on how many people draw a level."""
    least, most = fewest_of(search, float(share)), most_of(search, float(share))
    there = least <= level.reports <= most
    return holds(f"{name}: reports", level.reports, f"{least} to {most}", "people who draw a level", there)


def _chain(record: Record, search: Searched) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], int]]:
    """What must have been asked: the first level, then whatever went on from the one before, and
    last the whole words, those with most votes first.
    """
    prefixes: tuple[str, ...] = ("",)
    words = list[tuple[int, str]]()
    looked = 0
    for level, span in zip(search.levels, search.spans, strict=False):
        if level.words:
            break
        yield (), prefixes, span
        looked += span
        passed = list(zip(level.passed, level.whole, level.votes, strict=True))
        prefixes = tuple(text for text, whole, _ in passed if not whole)
        words += [(votes, text) for text, whole, votes in passed if whole]
        if not prefixes:
            break
    longer = prefixes if looked == record.question.longest else ()
    room = 2 * search.candidates - len(longer)
    known = [*longer, *(text for _, text in sorted(words, key=lambda each: -each[0]))][:room]
    if known:
        yield tuple(known), longer, 0


def _check_words(record: Record, search: Searched, law: CountedLaw) -> Iterator[Check]:
    claimed, level = record.estimates, search.counting
    votes = [] if level is None else list(level.votes)
    texts = (
        []
        if level is None
        else [text if whole else text + GOES_ON for text, whole in zip(level.passed, level.whole, strict=True)]
    )
    written = [text.replace("%25", "%") for text in texts] if record.question.tokens is None else texts
    of = len(claimed.label)
    pairs = zip(claimed.label, texts, written, strict=False)
    shown = of == len(texts) and all(word in pair for word, *pair in pairs)
    yield holds("labels of the estimates", f"{of} words", f"{len(texts)} that went on", "the last level", shown)
    yield equal("how many were estimated", claimed.of, of, "the words that are listed")
    yield equal("what is estimated", claimed.unit, "people", "the task")
    yield equal("level of the limits", claimed.level, LEVEL, "what shuffledp writes")
    if level is None or not of:
        return
    share, law = _shares(search)[-1], law_of_level(search, law, counting=True)
    values, errors, limits = counts(votes, search.people, share * law.hit, share * law.miss)
    found = Estimated(values, errors, limits, math.sqrt(UNIT * search.people))
    loosely = found.within + found.rounding
    # As many people as hold the rarest listed word might hold each of so many others.
    likely = math.ceil(search.people / max(1.0, min(claimed.value)))
    counted = max(len(level.words) + len(level.prefixes), likely)
    (low, high), (all_low, all_high) = (limits((1.0 - LEVEL) / (2.0 * each)) for each in (1, counted))
    moved = np.full(of, 1.0 / float(share * (law.hit - law.miss)))
    how = "one vote more and one less, of people who draw the level"
    yield agree(
        "what one malicious person can move",
        [math.nan if each is None else each for each in claimed.sway or ()],
        moved,
        how,
        within=1e-9 * moved,
    )
    yield agree("estimates", claimed.value, values, "votes and integers, as fractions", within=found.within)
    yield agree("standard errors", claimed.stderr, errors, "the variance of the votes, as fractions", within=loosely)
    for what, said, limit in (
        ("each: lower", claimed.lower, low),
        ("each: upper", claimed.upper, high),
        ("all together: lower", claimed.all_lower, all_low),
        ("all together: upper", claimed.all_upper, all_high),
    ):
        yield agree(f"limits, {what}", said, limit, "the test that defines it, inverted", within=LOOSER * loosely)


def _check_enough(search: Searched, law: CountedLaw) -> list[Check]:
    """The fewest holders with which no level misses a word too often; and the fewest malicious
    people, who vote for one word for sure.
    """
    return [
        _check_fewest("holders of a word that is found", search.found_from, search, law, honest=True),
        _check_fewest("malicious people who get a word listed", search.faked_from, search, law, honest=False),
    ]


def _check_fewest(what: str, claimed: int | None, search: Searched, law: CountedLaw, *, honest: bool) -> Check:
    part = search.miss / len(search.levels)

    def below(level: SearchLevel, share: Fraction, held: int) -> float:
        own = law_of_level(search, law, counting=bool(level.words))
        hit = own.hit if honest else Fraction(1)
        return 1.0 - _above(search.people, held, level.threshold, float(share * hit), float(share * own.miss))

    def missed(held: int) -> float:
        return max(below(level, share, held) for level, share in zip(search.levels, _shares(search), strict=True))

    how, held = "the exact law of the votes", search.people if claimed is None else claimed
    at, before = missed(held), 1.0 if held == 0 else missed(held - 1)
    right = (
        at > part * (1.0 - NEARLY)
        if claimed is None
        else at <= part * (1.0 + NEARLY) and before > part * (1.0 - NEARLY)
    )
    return holds(what, claimed, f"missed with {at:.3g} at a level", how, right)


def _reach(mean: float) -> float:
    """How far from their mean strays are looked at."""
    return 12.0 * math.sqrt(mean) + 50.0


def _above(people: int, held: int, votes: int, hit: float, miss: float) -> float:
    """P(Bin(held, hit) + Bin(people - held, miss) >= votes), summed over the strays."""
    others = people - held
    mean = others * miss
    reach = _reach(mean)
    strays = np.arange(max(0, math.floor(mean - reach)), min(others, math.ceil(mean + reach)) + 1)
    logs = gammaln(others + 1.0) - gammaln(strays + 1.0) - gammaln(others - strays + 1.0)
    chances = np.exp(logs + strays * math.log(miss) + (others - strays) * math.log1p(-miss))
    least = votes - strays
    own = np.where(
        least <= 0, 1.0, np.where(least > held, 0.0, bdtrc(np.clip(least - 1, 0, max(held - 1, 0)), max(held, 1), hit))
    )
    return float(chances @ own / chances.sum())


Symbols = tuple[object, ...]
Reader = Callable[[str], Symbols | None]


def check_symbols(record: Record, search: Searched) -> Iterator[Check]:
    """Every value that went on, and the tokens that none of them has."""
    tokens, seen = record.question.tokens, set[object]()
    read, depths = _reader(tokens), list(accumulate(search.spans))
    for number, level in enumerate(search.levels, 1):
        texts, followed = list(map(read, level.passed)), _Followed(level, read, depths[min(number, len(depths)) - 1])
        seen.update(symbol for text in texts for symbol in text or ())
        right = len(set(zip(level.passed, level.whole, strict=True))) == len(texts) and all(
            text is not None and followed.by(text, whole) for text, whole in zip(texts, level.whole, strict=True)
        )
        found = "each once, as it was followed" if right else "something else"
        yield holds(f"level {number}: symbols", f"{len(texts)} values", found, "the symbols of each", right)
    unseen = [token for token in tokens or () if token not in seen]
    if unseen:
        why = "nothing that went on has them; the ledger binds the design"
        yield unchecked("tokens that no word has", ", ".join(unseen), why)


def _reader(tokens: tuple[str, ...] | list[str] | None) -> Reader:
    """How a text is cut into symbols, the longest first; none of a text that cannot be."""
    if tokens is None:
        return lambda text: tuple(unquote_to_bytes(text))
    pattern = "|".join(map(re.escape, sorted(tokens, key=len, reverse=True)))

    def cut(text: str) -> Symbols | None:
        found = re.findall(pattern, text)
        return tuple(found) if "".join(found) == text else None

    return cut


class _Followed:
    """What can have gone on from a level that looked at ``depth`` symbols."""

    def __init__(self, level: SearchLevel, read: Reader, depth: int) -> None:
        self._words, self._prefixes = set(map(read, level.words)), set(map(read, level.prefixes))
        self._begun = {len(prefix) for prefix in self._prefixes if prefix is not None}
        self._depth, self._span = depth, level.span

    def by(self, text: Symbols, whole: bool) -> bool:
        """Whether a word, or a beginning, did."""
        if self._words:
            return text in (self._words if whole else self._prefixes)
        begun = any(text[:length] in self._prefixes for length in self._begun)
        return begun and (self._depth - self._span <= len(text) < self._depth if whole else len(text) == self._depth)


OUT_OF, SHORT_GROUPS = 1 << 32, 1e-3
NOISE = 1e-9  # relative: rounding of the oracle
WHAT = "delta of those who count"


def law_of_level(search: Searched, law: CountedLaw, *, counting: bool) -> CountedLaw:
    """By which law a level reports, if the first one does by ``law``."""
    own = search.counting_law
    return law if own is None or not counting else CountedLaw.of(own.as_json())


def fewest_of(search: Searched, share: float) -> int:
    """How many honest people draw a level of this share, but for a small part of delta: Chernoff's
    bound.
    """
    return max(1, math.floor(search.honest * share - math.sqrt(2.0 * search.honest * share * _rare(search))))


def most_of(search: Searched, share: float) -> int:
    """How many people draw such a level, at most, but for as small a part."""
    rare = _rare(search)
    most = search.people * share + rare + math.sqrt(2.0 * search.people * share * rare)
    return min(search.people, math.ceil(most))


def _rare(search: Searched) -> float:
    return math.log(1.0 / (SHORT_GROUPS * search.delta))


def of_first_level(record: Record) -> Certificate:
    """What the certificate says of the first level: of a search, without what is added for others
    (``check_search`` knows how much); of any other release, all of it.
    """
    claimed, search = record.certificate, record.counted.search
    if search is None:
        return claimed
    rest = search.delta - record.design.delta
    upper = tuple(max(0.0, delta - rest) for delta in claimed.curve.upper)
    promised = None if claimed.delta is None else replace(claimed.delta, upper=max(0.0, claimed.delta.upper - rest))
    epsilon = replace(claimed.epsilon, delta=record.design.delta)
    return replace(claimed, epsilon=epsilon, delta=promised, curve=replace(claimed.curve, upper=upper))


def check_second_law(record: Record, effort: Effort) -> Iterator[Check]:
    """Nothing to check, if there is no such law."""
    search = record.counted.search
    if search is None or search.counting_law is None:
        return
    yield equal("randomizer of those who count", search.counting_law.type, "krr", "the task")
    if search.counting_law.type != "krr":
        return  # a law of another form cannot be read as this one
    law = CountedLaw.of(search.counting_law.as_json())
    yield equal("values that those who count can name", law.k, 2 * search.candidates + 1, "what is followed")
    loud = law.family == "krr" and law.implied <= Decimal(law.epsilon0) and law.integers == law.least_integers
    yield holds("integers of those who count", law.integers, law.epsilon0, "the least noise that keeps epsilon0", loud)
    alone = search.counting_law.epsilon0 is not None and law.epsilon0 <= (record.design.mechanism.epsilon0 or 0.0)
    yield holds(
        "epsilon0 of those who count", law.epsilon0, record.design.mechanism.epsilon0, "that of the design", alone
    )
    people = fewest_of(search, float(1 - len(search.spans) * Fraction(search.share, OUT_OF)))
    claimed = of_first_level(record)
    asked = np.array([claimed.epsilon.upper, *claimed.curve.epsilon])
    said = np.array([claimed.epsilon.delta, *claimed.curve.upper])
    try:
        least, most = Oracle(law, people, 1, effort=effort).upper(asked)
    except TooLarge as error:
        yield vital(unchecked(WHAT, "", f"not summed again: {error}"))
        return
    found = f"{most[0]:.3g} where {said[0]:.3g} is promised"
    if np.any(least > said * (1.0 + NOISE)) or np.all(most <= said):
        how = f"the sums of the blanket, at all {len(asked)} points, of {people} people"
        yield vital(holds(WHAT, "no more than the first level's", found, how, bool(np.all(most <= said))))
    else:
        yield vital(unchecked(WHAT, "", "not decided: the oracle's two ends are too far apart"))
