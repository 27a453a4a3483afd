"""The integers that decide every draw, found by feeding the sampler chosen words, against those
that the account implies.

No number of runs can see a threshold that is off by one in 2^64. But a sampler is a function of
random words: with the word just below its threshold it must send noise, and with the threshold
itself the truth. The judge derives the thresholds from the documented law, by other means than
those by which the sampler has them; tables say their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shuffledp.audits.census import Finding
from shuffledp.audits.reports import Votes
from shuffledp.randomizers.randomizer import Listed, Randomizer
from shuffledp.sampling import WORD, Source

Encode = Callable[[Any, Source], NDArray[Any]]  # the report of one input of the randomizer
MOST_INPUTS, MOST_BORDERS = 24, 300
PATIENCE = 32  # requests that are answered by the script; who asks more often has rejected its answer
EXPONENT = 16  # bits of a word that samplers look at first


class Scripted(Source):
    """A source whose words begin with given bits: 16 of them for whoever asks for 16, then the
    others for whoever asks for more.
    """

    secure = False

    def __init__(self, word: int, bits: int = 64, *, seed: int = 0) -> None:
        self.word, self.bits, self.generator = word, bits, np.random.default_rng(seed)
        self.told = self.asked = 0

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        kind = np.dtype(dtype)
        if kind.itemsize == 2 and self.asked < PATIENCE:
            self.asked, self.told = self.asked + 1, EXPONENT
            return np.full(count, self._piece(0, EXPONENT), dtype=kind)
        if kind.itemsize == 8 and self.told == EXPONENT:
            self.told = 64
            return np.full(count, self._piece(EXPONENT, 64) << EXPONENT, dtype=kind)
        if kind.itemsize == 8 and 64 <= self.told <= self.bits - 64 * count:
            starts = range(self.told, self.told + 64 * count, 64)
            self.told += 64 * count
            return np.array([self._piece(start, start + 64) for start in starts], dtype=kind)
        return self.generator.integers(0, (1 << 8 * kind.itemsize) - 1, count, dtype=kind.type, endpoint=True)

    def _piece(self, start: int, stop: int) -> int:
        return self.word >> (self.bits - stop) & ((1 << (stop - start)) - 1)


class Border(NamedTuple):
    """The word before ``at`` must have one effect, and ``at`` another; ``seen`` is what a sampler
    does with a word.

    ``far`` are words well inside of what has the one effect and the other.
    """

    name: str
    at: int
    below: object
    above: object
    seen: Callable[[int], object]
    far: tuple[int, int]


def integers(randomizer: Randomizer, encode: Encode, generator: np.random.Generator) -> Finding | None:
    """Compare all borders, or some of very many; None if the sampler draws its words in a way that
    a script cannot follow.
    """
    borders = list(_borders(randomizer, encode))
    if len(borders) > MOST_BORDERS:
        borders = [borders[i] for i in sorted(generator.choice(len(borders), MOST_BORDERS, replace=False).tolist())]
    wrong = [border for border in borders if not _as_wanted(border, (border.at - 1, border.at))]
    if not borders or not all(_as_wanted(border, border.far) for border in wrong):
        return None
    where = f"{len(borders)} borders are exact"
    if wrong:
        where = f"{len(wrong)} of {len(borders)} borders, the first: {wrong[0].name}"
    meaning = "the integers that the sampler draws with are not those of the accounted law"
    return "integers", meaning, 0.0 if wrong else 1.0, where


def _as_wanted(border: Border, words: tuple[int, int]) -> bool:
    return [border.seen(word) for word in words] == [border.below, border.above]


def _borders(randomizer: Any, encode: Encode) -> Iterator[Border]:
    """Where a sampler's answer must change; none are known of one that we did not write."""
    if randomizer.listed is not None:
        return _of_tables(randomizer.listed, encode)
    if (votes := Votes.of(randomizer)) is None:
        return iter(())
    return (_of_noise if len(votes.integers) == 1 else _of_bits)(votes, encode)


def _of_noise(votes: Votes, encode: Encode) -> Iterator[Border]:
    """The least whole number T with 1 + (2^64 - T) / (T f) <= e^epsilon0 for a share f of
    supporting reports: words below it mean noise.
    """
    (at,) = votes.integers
    inputs = sorted({*range(min(votes.k, MOST_INPUTS // 2)), *range(max(0, votes.k - MOST_INPUTS // 2), votes.k)})

    def seen(word: int) -> Literal["noise", "truth", "unclear"]:
        reports = np.stack([encode(x, Scripted(word)) for x in inputs])
        if not np.all(votes.supports(reports, np.array(inputs))):
            return "noise" if np.all(reports == reports[0]) else "unclear"
        return "unclear" if np.all(reports == reports[0]) else "truth"

    if "unclear" not in (seen(at - 1), seen(at)):
        yield Border(f"noise below {at}", at, "noise", "truth", seen, (at // 2, (at + WORD) // 2))


def _of_bits(votes: Votes, encode: Encode) -> Iterator[Border]:
    """The own bit is 1 below the first integer, and another's below the second."""
    own, other = votes.integers
    for x in (0, votes.k - 1):
        for at, asked in ((own, x), (other, votes.k - 1 - x)):

            def seen(word: int, x: int = x, asked: int = asked) -> bool:
                return bool(votes.supports(encode(x, Scripted(word))[None, :], np.array([asked]))[0])

            far = at // 2, (at + WORD) // 2
            yield Border(f"bit {asked} of value {x} is 1 below {at}", at, True, False, seen, far)


def _of_tables(listed: Listed, encode: Encode) -> Iterator[Border]:
    """One word chooses among the reports of an input, by their weights one after the other."""
    for i, weights in listed.words.items():
        ends = list(accumulate(weights))
        bits = ends[-1].bit_length() - 1
        sent = [y for y, weight in enumerate(weights) if weight]

        def seen(word: int, i: int = i, bits: int = bits) -> int:
            return int(encode(listed.inputs[i], Scripted(word, bits))) - listed.first

        for y, after in pairwise(sent):
            far = ends[y] - weights[y] // 2, (ends[y] + ends[after]) // 2
            yield Border(f"report {listed.first + y} of value {listed.inputs[i]}", ends[y], y, after, seen, far)
