"""Checks of a shuffler: what comes out is what went in, and says nothing of the order in which it
went in.

The auditor hands the shuffler one fixed set of reports, arranged at random, many times. If what
comes out does not depend on the arrangement, then that arrangement and a decoy, another random one,
are exchangeable given what came out: any measure of likeness is as often larger for the one as for
the other. So every test below is a sign test, exact for every measure, every shuffler (one that
sorts, or one that permutes) and reports that may be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from shuffledp.audits.census import SMALLEST, Finding, binomial, least
from shuffledp.audits.reports import Misread
from shuffledp.randomizers.randomizer import Floats

MOST_LABELS = 16  # for counting neighbors
BINS, BLOCKS = 6, 12  # stretches of places, and how often what was learned is renewed
STRENGTHS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
AT_ONCE = 1 << 20
Labels = NDArray[np.intp]


def labels_of(rows: NDArray[Any]) -> Labels:
    """Equal reports have equal numbers."""
    return np.asarray(np.unique(_keys(rows), return_inverse=True)[1].ravel(), dtype=np.intp)


def _keys(rows: NDArray[Any]) -> NDArray[Any]:
    flat = np.ascontiguousarray(rows)
    return flat if flat.ndim == 1 else flat.view(f"S{flat.dtype.itemsize * flat.shape[1]}").ravel()


def shuffling(
    rows: NDArray[Any], shuffle: Callable[[NDArray[Any]], NDArray[Any]], trials: int, generator: np.random.Generator
) -> Finding:
    """Hand ``rows`` to the shuffler in many orders, and look at what comes out."""
    labels = labels_of(rows)
    order = np.argsort(labels, kind="stable")
    rows, labels = rows[order], labels[order]
    arranged = generator.permuted(np.tile(np.arange(len(rows), dtype=np.int32), (trials, 1)), axis=1)
    released = np.empty_like(arranged)
    for trial, places in enumerate(arranged):
        out = shuffle(rows[places])
        found = _places_of(out, rows)
        if found is None:
            came = f"{len(out)} reports came out of {len(rows)}"
            return "shuffling", "the shuffler loses, repeats, changes or adds reports", 0.0, came
        released[trial] = found
    if np.all(labels[released] == labels[released[0]]):
        # Sorted, say: nothing is left to test.
        return _finding(1.0, "the release depends on nothing but the set of reports")
    again = [_places_of(shuffle(rows), rows) for _ in range(trials)]
    p, where = unlike(labels[arranged], labels[released], generator)
    repeated = 1.0
    if all(each is not None for each in again) and _repeated(labels[released]) == 1.0:
        repeated = _repeated(labels[np.array(again)])
    worst, which = least([p, repeated])
    return _finding(worst, "the same order came twice" if which else where)


def distinct(rows: NDArray[Any], shuffle: Callable[[NDArray[Any]], NDArray[Any]]) -> list[NDArray[Any]]:
    """Reports that are all different tell far more, if the shuffler accepts reports that nobody
    sends; if it does not, or changes them, none.
    """
    room = np.iinfo(rows.dtype).max if rows.dtype.kind in "iu" else 0
    if rows.ndim != 1 or len(rows) - 1 > room or len(np.unique(rows)) == len(rows):
        return []
    numbered = np.arange(len(rows), dtype=rows.dtype)
    try:
        taken = _places_of(shuffle(numbered), numbered) is not None
    except Misread:
        taken = False
    return [numbered] if taken else []


def _finding(p: float, where: str) -> Finding:
    return "shuffling", "what the shuffler releases depends on the order in which reports came", p, where


def _places_of(out: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.intp] | None:
    """Which of the sorted rows each report is, equal ones in any order; None if these are not all
    of them.
    """
    if out.shape != rows.shape or out.dtype != rows.dtype:
        return None
    order = np.argsort(_keys(out), kind="stable")
    if not np.array_equal(out[order], rows):
        return None
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    return places


def unlike(given: Labels, released: Labels, generator: np.random.Generator) -> tuple[float, str]:
    """The p-value of the hypothesis that the rows of ``given`` are arranged at random whatever was
    ``released``, and what contradicts it most.
    """
    decoys = generator.permuted(given, axis=1)
    tests: list[tuple[str, float]] = []
    for name, measure in _measures(given.shape[1], int(given.max()) + 1, generator):
        tests.append((name, float(_signs(measure(given, released), measure(decoys, released)))))
    kept, place = least(_signs(given == released, decoys == released))
    tests.append((f"place {place} is kept", kept))
    tests.append(("places", _learned(given, released)))
    p, which = least([each for _, each in tests])
    return p, tests[which][0]


def _signs(true: NDArray[Any], decoy: NDArray[Any]) -> Floats:
    """Sign tests along the first axis, ties left out."""
    more, less = np.count_nonzero(true > decoy, axis=0), np.count_nonzero(true < decoy, axis=0)
    return binomial(more, np.asarray(more + less), 0.5)


def _measures(
    n: int, size: int, generator: np.random.Generator
) -> Iterator[tuple[str, Callable[[Labels, Labels], Floats]]]:
    """How alike an arrangement and a release are, in several ways."""
    phases = np.exp(2j * np.pi * generator.random(size))
    slope = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    few = generator.integers(0, MOST_LABELS, size) if size > MOST_LABELS else np.arange(size)

    def same_places(given: Labels, released: Labels) -> Floats:
        return np.asarray((given == released).mean(axis=1))

    def at_some_lag(given: Labels, released: Labels) -> Floats:
        waves = (np.fft.fft(phases[each], axis=1) for each in (given, released))
        return np.asarray(np.abs(np.fft.ifft(next(waves).conj() * next(waves), axis=1)).max(axis=1).round(6))

    def backwards(given: Labels, released: Labels) -> Floats:
        return at_some_lag(given, released[:, ::-1])

    def neighbours(given: Labels, released: Labels) -> Floats:
        return np.asarray((_pairs(few[given]) * _pairs(few[released])).sum(axis=1))

    def drift(given: Labels, released: Labels) -> Floats:
        moments = (_by_row(each, size, slope) for each in (given, released))
        return np.asarray((next(moments) * next(moments)).sum(axis=1).round(9))

    yield from {"fixed points": same_places, "lags": at_some_lag, "lags, backwards": backwards}.items()
    yield from {"neighbours": neighbours, "drift": drift}.items()


def _pairs(labels: Labels) -> Floats:
    """How often each label follows each in a row."""
    return _by_row(labels[:, :-1] * MOST_LABELS + labels[:, 1:], MOST_LABELS**2)


def _by_row(codes: Labels, size: int, weights: Floats | None = None) -> Floats:
    """Row by row, how often each of so many codes occurs, or the sum of its places' weights."""
    flat = (codes + size * np.arange(len(codes))[:, None]).ravel()
    wide = None if weights is None else np.broadcast_to(weights, codes.shape).ravel()
    counts = np.bincount(flat, weights=wide, minlength=size * len(codes))
    return np.asarray(counts.reshape(len(codes), size), dtype=np.float64)


def _learned(given: Labels, released: Labels) -> float:
    """Whether reports of some stretches of places come out in some others more often than they
    should; which ones is learned from the trials before.

    Given the release and the weights learned so far, a trial's score is a sum over a random
    arrangement: its mean, its variance and a bound b are known. With Z the score in standard
    deviations, exp(s Z - (e^(s b) - 1 - s b) / b^2) has mean at most 1 (Bennett 1962), so the
    product over the trials does, and so does its average over several s: by Markov's inequality its
    inverse is a p-value.
    """
    n, size = given.shape[1], int(given.max()) + 1
    bins = np.arange(n) * min(BINS, n) // n
    widths, counts = np.bincount(bins).astype(np.float64), np.bincount(given[0], minlength=size).astype(np.float64)
    weights, logs = np.zeros((len(widths), len(widths))), np.zeros(len(STRENGTHS))
    step = max(1, min(-(-len(given) // BLOCKS), AT_ONCE // (size * len(widths))))
    for start in range(0, len(given), step):
        before, after = (_by_stretch(each[start : start + step], bins, size) for each in (given, released))
        if np.any(weights):
            worth = np.einsum("ij,rjl->ril", weights, after)  # of a report with label l that came from stretch i
            worth -= (worth @ counts)[:, :, None] / n
            worth -= np.einsum("i,ril->rl", widths, worth)[:, None, :] / n
            variance = np.einsum("i,ril,l->r", widths, worth**2, counts) / max(n - 1.0, 1.0)
            some = variance > 0.0
            scale = np.sqrt(variance[some])
            z = (before[some] * worth[some]).sum(axis=(1, 2)) / scale
            bound = np.maximum(np.einsum("i,ri->r", widths, np.abs(worth[some]).max(axis=2)) / scale, 1.0)
            logs += np.array([float((s * z - (np.expm1(s * bound) - s * bound) / bound**2).sum()) for s in STRENGTHS])
        expected = len(before) * np.outer(widths, widths) * float(counts @ counts) / n**2
        weights += np.einsum("ril,rjl->ij", before, after) - expected
    return float(np.exp(np.clip(np.log(len(STRENGTHS)) - logsumexp(logs), np.log(SMALLEST), 0.0)))


def _by_stretch(labels: Labels, bins: NDArray[np.intp], size: int) -> Floats:
    """Row by row, how many reports of each label stand in each stretch of places."""
    stretches = int(bins[-1]) + 1
    return _by_row(bins * size + labels, stretches * size).reshape(len(labels), stretches, size)


def _repeated(released: Labels) -> float:
    """A release that came twice for one and the same order of the reports: at most every pair times
    the chance that two random orders agree.
    """
    n, counts = released.shape[1], np.bincount(released[0])
    if len(np.unique(released, axis=0)) == len(released):
        return 1.0
    chance = float(np.exp(min(0.0, float(gammaln(counts + 1.0).sum() - gammaln(n + 1.0)))))
    return min(1.0, len(released) * (len(released) - 1) / 2.0 * chance)
