"""A search for frequent words, computed again from its record: who was asked what at each level,
from how many votes on it went on, symbol by symbol; what the last votes say of everybody; and that
those who count show no more than the first level, of which the certificate speaks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Any
from urllib.parse import unquote_to_bytes

import numpy as np

BYTES, LONGEST, GOES_ON, OUT_OF = 210, 255, "…", 1 << 32
COUNTING = 0.2  # the least share of those who count
SHORT_GROUPS, SECOND_LAW, MISS, FAINT = 1e-3, 1e-3, 0.05, 1e-300
LAW = "krr"  # of every report of a search
NEARLY = 1e-6  # of a tail: far more than its sum loses in floats
NOISE = 1e-9  # relative: rounding of the oracle

Level = Mapping[str, Any]
Symbols = tuple[object, ...]
Reader = Callable[[str], Symbols | None]


def recheck(record: dict[str, Any], judge: Any) -> list[Any]:
    """Every level, every threshold, and the estimates."""
    search = record["counted"].get("search")
    if not search or not search["levels"]:
        return [judge.holds("the levels of the search", "none", "at least one", "the question", False)]
    again, checks = _Again(record, search, judge), [judge.answers(LAW)]
    # Each part reads what the ones before it have found to be in order.
    for part in (again.sizes, again.levels, again.symbols, again.words):
        checks += part()
        if judge.wrong(checks):
            return checks
    judge.later("the law of those who count", lambda: list(again.second_law()))
    return checks


class _Again:
    def __init__(self, record: dict[str, Any], search: dict[str, Any], judge: Any) -> None:
        self.record, self.search, self.judge, self.asked = record, search, judge, search["levels"]
        self.question, self.people, self.spans = record["design"]["question"], search["people"], search["spans"]
        self.size = BYTES if self.question["tokens"] is None else len(self.question["tokens"])
        self.counting = self.asked[-1] if self.asked[-1]["words"] else None

    def law(self, *, counting: bool) -> Any:
        """By which law a level reports."""
        own = self.search.get("counting_law") if counting else None
        return self.judge.law if own is None else self.judge.law_of(own)

    @property
    def shares(self) -> list[Fraction]:
        """Of each level that was asked; those who count are all who are left."""
        shares = [Fraction(self.search["share"], OUT_OF)] * len(self.asked)
        return shares if self.counting is None else [*shares[1:], 1 - (len(shares) - 1) * shares[0]]

    def group(self, share: float) -> list[int]:
        """How many honest people draw a level of this share, at least, and how many do at most, but
        for a small part of delta: Chernoff's bounds.
        """
        honest, people = self.search["honest"] * share, self.people * share
        rare = math.log(1.0 / (SHORT_GROUPS * self.search["delta"]))
        most = math.ceil(people + rare + math.sqrt(2.0 * people * rare))
        return [max(1, math.floor(honest - math.sqrt(2.0 * honest * rare))), min(self.people, most)]

    def ways(self, span: int) -> int:
        """In how many ways a prefix goes on."""
        return sum(self.size**length for length in range(span + 1))

    def sizes(self) -> Iterator[Any]:
        """A stranger may write columns of any length, and any numbers: of these the rest takes
        logarithms, powers and tails.
        """
        search, levels, asked = self.search, len(self.asked), len(self.asked) - (self.counting is not None)
        shaped = all(len(each["passed"]) == len(each["votes"]) == len(each["whole"]) for each in self.asked)
        right, found = shaped and 1 <= asked <= len(self.spans), f"1 to {len(self.spans)}, and those who count"
        yield self.judge.holds("the levels of the search", f"{levels} levels", found, "the symbols of each", right)
        depth = max(sum(self.spans), *(level["span"] for level in self.asked))
        holders = [search[name] or 0 for name in ("honest", "least_holders", "found_from")]
        claimed, found = f"{depth} symbols, {self.people} people", f"at most {LONGEST}, and nobody beside them"
        right = depth <= LONGEST and max(*holders, search.get("faked_from") or 0) <= self.people
        right = right and search["delta"] >= FAINT and asked * search["share"] < OUT_OF
        if (own := search.get("counting_law")) is not None:  # of another form, it could not be read as this one
            right = own.keys() == {"type", "k", "epsilon0", "integers"} and len(own["integers"]) == 1
            right = right and own["type"] == LAW
            yield self.judge.holds("randomizer of those who count", own["type"], LAW, "the question", right)
        yield self.judge.holds("numbers of the search", claimed, found, "what can be searched for", right)

    def levels(self) -> Iterator[Any]:
        yield from self._first_level()
        if len(self.asked) * _reach(self.people * float(self.judge.law.miss)) > self.judge.MOST_STRAY_VOTES:
            raise self.judge.TooLarge("too many stray votes to sum over")
        for number, (level, share) in enumerate(zip(self.asked, self.shares, strict=True), 1):
            yield from self._level(f"level {number}", level, share)
        found, how = list(self._chain()), "what went on"
        yield self.judge.equal("what was asked at each level", list(map(_asked, self.asked)), found, how)

    def _first_level(self) -> Iterator[Any]:
        search, question, target, equal = self.search, self.question, self.record["design"]["target"], self.judge.equal
        certificate, first, candidates = self.record["certificate"], self.asked[0], search["candidates"]
        yield self.judge.domain({**question, "type": "prefixes"})
        yield self.judge.complete()
        right = search["k"] <= candidates
        yield self.judge.holds("words that were asked for", search["k"], f"at most {candidates}", "what goes on", right)
        yield equal("chance to miss a word", search["miss"], MISS, "what shuffledp writes")
        yield equal("symbols of all levels", sum(self.spans), question["longest"], "the design")
        widest = [self.ways(self.spans[0]), *(candidates * self.ways(span) for span in self.spans[1:]), 2 * candidates]
        yield equal("values that the law has room for", question["room"], max(widest) + 1, "the widest level")
        levels = len(self.spans)
        share = math.floor(min((1.0 - COUNTING) / levels, 1.0 / (levels + 1)) * OUT_OF)
        yield equal("share of a level", search["share"], share, "how many levels there are")
        besides = 0.0 if search["honest"] == self.people else SHORT_GROUPS
        besides += 0.0 if search.get("counting_law") is None else SECOND_LAW
        delta, how = search["delta"] * (1.0 - besides), "what is left for small groups, and for those who count"
        yield equal("delta of a level", target["delta"], delta, how)
        people, how = [target["honest"], target["n"]], "Chernoff's bounds, and the search"
        yield equal("people of the first level", people, self.group(search["share"] / OUT_OF), how)
        lower = [certificate["epsilon"]["lower"], *certificate["curve"]["lower"]]
        lower += [] if certificate["delta"] is None else [certificate["delta"]["lower"]]
        yield equal("lower ends of epsilon and delta", max(lower), 0.0, "none is known of a search")
        yield equal("the first level", _asked(first), [[], [""], self.spans[0]], "nothing is known before it")
        yield equal("the design", _asked(question), _asked(first), "the first level")
        yield equal("reports of the first level", self.record["counted"]["reports"], first["reports"], "the reports")
        yield equal("votes of the first level", self.record["tally"]["votes"], first["votes"], "the tally")

    def _level(self, name: str, level: Level, share: Fraction) -> Iterator[Any]:
        holds, search, votes, threshold = self.judge.holds, self.search, level["votes"], level["threshold"]
        values = len(level["words"]) + len(level["prefixes"]) * self.ways(level["span"])
        tail = search["error"] / (len(self.spans) + 1) / max(values, 1)
        law = self.law(counting=bool(level["words"]))
        hit, miss = float(share * law.hit), float(share * law.miss)
        few = search["least_holders"] - 1
        at, before = (_above(self.people, few, least, hit, miss) for least in (threshold, threshold - 1))
        right, found = at <= tail * (1.0 + NEARLY) and before > tail * (1.0 - NEARLY), f"{at:.3g} there, of {tail:.3g}"
        yield holds(f"{name}: votes needed", f"{threshold} votes", found, "the exact law of the votes", right)
        yield self.judge.equal(f"{name}: share of the people", level["share"], float(share), "the search")
        (least, most), there = self.group(float(share)), level["reports"]
        right = least <= there <= most
        yield holds(f"{name}: reports", there, f"{least} to {most}", "people who draw a level", right)
        kept = search["k"] if level["words"] else search["candidates"]
        right = sorted(votes, reverse=True) == votes and all(each >= threshold for each in votes)
        right = right and sum(votes) <= there and len(votes) <= min(kept, values)
        how = "those with most votes, down to the threshold"
        yield holds(f"{name}: what went on", f"{len(votes)} values", f"at most {kept}", how, right)
        # Others reached the threshold too, and fewer votes, as far as there were values and votes.
        fell, fewer = level["fell_out"], level["fell_votes"]
        found, right = "none", fewer == 0
        if fell:
            found = f"{threshold} to {min(votes, default=0)} votes"
            right = len(votes) == kept and fell <= values - kept and threshold <= fewer <= min(votes, default=0)
            right = right and sum(votes) + fewer + (fell - 1) * threshold <= there
        yield holds(f"{name}: what fell out", f"{fell} values, up to {fewer} votes", found, "the votes", right)
        named = re.fullmatch("[0-9a-f]{64}", level["digest"]) is not None
        yield holds(f"{name}: digest", level["digest"], "64 hexadecimal digits", "a SHA-256", named)

    def _chain(self) -> Iterator[list[Any]]:
        """What must have been asked: the first level, then whatever went on from the one before,
        and last the whole words, those with most votes first.
        """
        prefixes, words, looked = [""], list[tuple[int, str]](), 0
        for level, span in zip(self.asked, self.spans, strict=False):
            if level["words"]:
                break
            yield [[], prefixes, span]
            looked += span
            passed = list(zip(level["passed"], level["whole"], level["votes"], strict=True))
            prefixes = [text for text, whole, _ in passed if not whole]
            words += [(votes, text) for text, whole, votes in passed if whole]
            if not prefixes:
                break
        longer = prefixes if looked == self.question["longest"] else []
        known = [*longer, *(text for _, text in sorted(words, key=lambda each: -each[0]))]
        known = known[: 2 * self.search["candidates"] - len(longer)]
        if known:
            yield [known, longer, 0]

    def symbols(self) -> Iterator[Any]:
        """Everybody is at one level. What went on from it begins as it was followed there, and is
        as long as what the level looked at.
        """
        reports, all_there = sum(level["reports"] for level in self.asked), self.counting is not None
        all_there = all_there and self.record["counted"].get("collected") is None
        right, how = reports == self.people if all_there else reports <= self.people, "everybody is at one level"
        yield self.judge.holds("reports of all levels", f"{reports} reports", f"{self.people} people", how, right)
        tokens, seen, depths = self.question["tokens"], set[object](), list(accumulate(self.spans))
        read = _reader(tokens)
        for number, level in enumerate(self.asked, 1):
            texts, depth = list(map(read, level["passed"])), depths[min(number, len(depths)) - 1]
            seen.update(symbol for text in texts for symbol in text or ())
            followed, pairs = _followed(level, read, depth), list(zip(texts, level["whole"], strict=True))
            right = len(set(zip(level["passed"], level["whole"], strict=True))) == len(texts)
            right = right and all(text is not None and followed(text, whole) for text, whole in pairs)
            found = "each once, as it was followed" if right else "something else"
            yield self.judge.holds(
                f"level {number}: symbols", f"{len(texts)} values", found, "the symbols of each", right
            )
        if unseen := [token for token in tokens or () if token not in seen]:
            why = "nothing that went on has them; the ledger binds the design"
            yield self.judge.unchecked("tokens that no word has", ", ".join(unseen), why)

    def words(self) -> Iterator[Any]:
        """What the last votes say of everybody; how many holders a word needs; and what no page can
        prove about a search.
        """
        level, judge = self.counting, self.judge
        listed = [] if level is None else list(zip(level["passed"], level["whole"], strict=True))
        labels = [self._label(text) + GOES_ON * (not whole) for text, whole in listed]
        share, law = self.shares[-1], self.law(counting=True)
        votes, counted = ([], 0) if level is None else (level["votes"], len(level["words"]) + len(level["prefixes"]))
        found = judge.counts(votes, self.people, share * law.hit, share * law.miss)
        found = judge.Estimated(*found, math.sqrt(judge.UNIT * self.people))
        # As many people as hold the rarest listed word might hold each of so many others.
        rarest = max(1.0, min(self.record["tables"][0]["value"], default=1.0))
        moved = [1.0 / float(share * (law.hit - law.miss))] * len(labels)
        yield from judge.table(labels, found, moved, together=max(counted, math.ceil(self.people / rarest)))
        yield self._fewest("holders of a word that is found", self.search["found_from"], honest=True)
        yield self._fewest("malicious people who get a word listed", self.search.get("faked_from"), honest=False)
        why = "a longer list would have been the same, unless words fell out"
        yield judge.unchecked("how many words were asked for", self.search["k"], why)
        why = "of these votes only digests are here; whoever has the tallies has all"
        yield judge.unchecked("what did not go on", sum(level["fell_out"] for level in self.asked), why)

    def _label(self, text: str) -> str:
        """A word to be read: % stands for itself where no letter is meant."""
        plain = text.replace("%25", "%")
        same = self.question["tokens"] is None and unquote_to_bytes(plain) == unquote_to_bytes(text)
        return plain if same else text

    def _fewest(self, what: str, claimed: int | None, *, honest: bool) -> Any:
        """The fewest holders with which no level misses a word too often; or the fewest malicious
        people, who vote for one word for sure.
        """
        part, held = self.search["miss"] / len(self.asked), self.people if claimed is None else claimed

        def missed(held: int) -> float:
            return max(below(level, share, held) for level, share in zip(self.asked, self.shares, strict=True))

        def below(level: Level, share: Fraction, held: int) -> float:
            law = self.law(counting=bool(level["words"]))
            hit = law.hit if honest else Fraction(1)
            return 1.0 - _above(self.people, held, level["threshold"], float(share * hit), float(share * law.miss))

        at, before = missed(held), 1.0 if held == 0 else missed(held - 1)
        right = at <= part * (1.0 + NEARLY) and before > part * (1.0 - NEARLY)
        right = at > part * (1.0 - NEARLY) if claimed is None else right
        return self.judge.holds(what, claimed, f"missed with {at:.3g} at a level", "the exact law of the votes", right)

    def second_law(self) -> Iterator[Any]:
        """Those who count show no more than the first level. Nothing to check, if they draw by the
        same law.
        """
        own, judge, design = self.search.get("counting_law"), self.judge, self.record["design"]
        if own is None:
            return
        law, first = judge.law_of(own), design["mechanism"]["epsilon0"]
        room = 2 * self.search["candidates"] + 1
        yield judge.equal("values that those who count can name", law.k, room, "what is followed")
        loud, how = law.implied <= Decimal(law.epsilon0), "the least noise that keeps epsilon0"
        loud = loud and law.family == LAW and law.integers == law.least_integers
        yield judge.holds("integers of those who count", law.integers, law.epsilon0, how, loud)
        right = own["epsilon0"] is not None and law.epsilon0 <= (first or 0.0)
        yield judge.holds("epsilon0 of those who count", law.epsilon0, first, "that of the design", right)
        certificate, what = self.record["certificate"], "delta of those who count"
        rest = self.search["delta"] - design["target"]["delta"]
        asked = np.array([certificate["epsilon"]["upper"], *certificate["curve"]["epsilon"]])
        left = [max(0.0, delta - rest) for delta in certificate["curve"]["upper"]]
        said = np.array([design["target"]["delta"], *left])
        people, _ = self.group(float(1 - len(self.spans) * Fraction(self.search["share"], OUT_OF)))
        try:
            least, most = judge.oracle(law, people, 1).upper(asked)
        except judge.TooLarge as error:
            yield judge.vital(judge.unchecked(what, "", f"not summed again: {error}"))
            return
        right, found = bool(np.all(most <= said)), f"{most[0]:.3g} where {said[0]:.3g} is promised"
        if np.any(least > said * (1.0 + NOISE)) or right:
            how = f"the sums of the blanket, at all {len(asked)} points, of {people} people"
            yield judge.vital(judge.holds(what, "no more than the first level's", found, how, right))
        else:
            why = "not decided: the oracle's two ends are too far apart"
            yield judge.vital(judge.unchecked(what, "", why))


def _asked(level: Level) -> list[Any]:
    return [level["words"], level["prefixes"], level["span"]]


def _reach(mean: float) -> float:
    """How far from their mean strays are looked at."""
    return 12.0 * math.sqrt(mean) + 50.0


def _above(people: int, held: int, votes: int, hit: float, miss: float) -> float:
    """P(Bin(held, hit) + Bin(people - held, miss) >= votes), summed over the strays."""
    from scipy.stats import binom  # slow to import, and needed for searches only

    others = people - held
    mean = others * miss
    reach = _reach(mean)
    strays = np.arange(max(0, math.floor(mean - reach)), min(others, math.ceil(mean + reach)) + 1)
    chances = binom.pmf(strays, others, miss)
    return float(chances @ binom.sf(votes - strays - 1, held, hit) / chances.sum())


def _reader(tokens: list[str] | None) -> Reader:
    """How a text is cut into symbols, the longest first; none of a text that cannot be."""
    if tokens is None:
        return lambda text: tuple(unquote_to_bytes(text))
    pattern = "|".join(map(re.escape, sorted(tokens, key=len, reverse=True)))

    def cut(text: str) -> Symbols | None:
        found = re.findall(pattern, text)
        return tuple(found) if "".join(found) == text else None

    return cut


def _followed(level: Level, read: Reader, depth: int) -> Callable[[Symbols, bool], bool]:
    """Whether a word, or a prefix, can have gone on from a level that looked at so many symbols."""
    words, prefixes = set(map(read, level["words"])), set(map(read, level["prefixes"]))
    begun = {len(prefix) for prefix in prefixes if prefix is not None}

    def by(text: Symbols, whole: bool) -> bool:
        if words:
            return text in (words if whole else prefixes)
        long = depth - level["span"] <= len(text) < depth if whole else len(text) == depth
        return long and any(text[:length] in prefixes for length in begun)

    return by
