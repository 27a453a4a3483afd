"""How fast, beside the published algorithms."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

import shuffledp as sdp
from benchmarks.result import Result, clock
from shuffledp.accounting.curves import Envelope
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.inversion import meets
from shuffledp.literature import feldman
from shuffledp.literature.fourier import Composed, Grid, Pair
from shuffledp.literature.koskela_pairs import clones_pair, krr_weak_pair

DELTA = 1e-6
# Feldman's step S: the largest of a scan whose answer is within 1 % of the exact one (the paper
# gives no rule; smaller steps cost more).
FELDMAN = ((1.0, 1928, 18), (4.0, 402, 16))


def clones_epsilon(n: int, epsilon0: float) -> float:
    """Our upper end for the clones pair itself, so that both methods compute the same quantity."""
    curve = Envelope([Haystack.of(sdp.AnyLDP(epsilon0=epsilon0).clones(), n)], "upper", epsilon0)
    return meets(lambda epsilon, gap: float(curve(np.array([epsilon]), gap)[0]), DELTA, epsilon0, end="upper")


def against_feldman() -> list[Result]:
    """The same quantity, the epsilon of the clones pair."""
    n, results = 10**6, []
    for epsilon0, step, iterations in FELDMAN:
        ours, seconds = clock(lambda e=epsilon0: clones_epsilon(n, e), 5)  # type: ignore[misc]
        run = partial(feldman.epsilon, n, epsilon0, DELTA, iterations=iterations, step=step)
        theirs, published = clock(lambda run=run: run(rounded=False), 1)  # type: ignore[misc]
        _, rounded = clock(run, 1)
        start = feldman.closed_form_start(n, epsilon0, DELTA)
        _, quick = clock(
            lambda e=epsilon0, s=step, b=start: feldman.epsilon(n, e, DELTA, iterations=14, step=s, start=b),  # type: ignore[misc]
            3,
        )
        what = (
            f"epsilon0 = {epsilon0:g}: answers {ours:.6f} (ours), {theirs:.6f} (S = {step}, {theirs / ours - 1.0:+.2%})"
        )
        measured = f"{published / seconds:.0f}x faster ({seconds * 1e3:.1f} ms against {published * 1e3:.0f} ms)"
        results.append(
            Result(
                what,
                measured,
                "at least 50x, answers within 1 %",
                published / seconds >= 50.0 and abs(theirs / ours - 1.0) <= 0.01,
            )
        )
        results.append(
            Result(
                f"epsilon0 = {epsilon0:g}: rounded outwards, which ends it sooner",
                f"{rounded / seconds:.1f}x ({rounded * 1e3:.1f} ms)",
            )
        )
        results.append(
            Result(
                f"epsilon0 = {epsilon0:g}: with the closed-form bracket of the authors' code",
                f"{quick / seconds:.1f}x ({quick * 1e3:.1f} ms)",
            )
        )
    return results


def _as_printed(grid: Grid, rounds: int) -> Composed:
    """Koskela's Algorithm 1 (first version), b = D F^-1(F(D a)^nc), with complex transforms, for one round too."""
    law = np.fft.fftshift(np.fft.ifft(np.fft.fft(np.fft.fftshift(grid.masses)) ** rounds).real)
    weighted, beyond = grid.pair.weighted, rounds * grid.infinite
    return Composed(law[grid.m // 2 :], grid.step, beyond, weighted=weighted, lower=False, blur=0.0)


def _shortened(grid: Grid, rounds: int) -> Composed:
    """The same with the short cuts of bounds.fourier, which are ours: real transforms, and none for
    one round.
    """
    return grid.compose(rounds)


def against_koskela() -> list[Result]:
    """Clones, and the weak adversary of k-RR: as the proof has it, and repaired (theory, errata 4
    and 5).
    """
    n, epsilon0, k, results = 10**4, 4.0, 4, []
    krr = sdp.KRR(k=k, epsilon0=epsilon0)
    weak, clones = krr_weak_pair(n, k, krr.gamma, reading="multinomial"), clones_pair(n, epsilon0)
    for rounds in (1, 16):
        results += _koskela_rows("weak k-RR", lambda: sdp.shuffle(krr, n=n, adversary="weak"), weak, rounds)
        repaired = _shortened(Grid(krr_weak_pair(n, k, krr.gamma, reading="exact")), rounds).epsilon(DELTA)
        ours = sdp.shuffle(krr, n=n, adversary="weak").compose(rounds).epsilon(delta=DELTA).upper
        results.append(
            Result(
                f"weak k-RR, {rounds} rounds: their grid on the right pair",
                f"{repaired:.6f}, {ours / repaired - 1.0:+.4%} for ours",
            )
        )
        results += _koskela_rows(
            "any randomizer (theirs: clones)", lambda: sdp.shuffle(sdp.AnyLDP(epsilon0=epsilon0), n=n), clones, rounds
        )
    return results


def _koskela_rows(name: str, mechanism: Callable[[], Guarantee], pair: Pair, rounds: int) -> list[Result]:
    what = f"{name}, {rounds} rounds"
    ours, seconds = clock(
        lambda: mechanism().compose(rounds).epsilon(delta=DELTA).upper, 5
    )  # a new mechanism every time: nothing is remembered
    theirs, published = clock(lambda: _as_printed(Grid(pair), rounds).epsilon(DELTA), 1)
    _, quick = clock(lambda: _shortened(Grid(pair), rounds).epsilon(DELTA), 1)
    measured = (
        f"{published / seconds:.0f}x faster ({seconds * 1e3:.0f} ms, both ends, against {published * 1e3:.0f} "
        f"ms), upper {ours:.6f} against {theirs:.6f}"
    )
    met = published / seconds >= 20.0 and ours <= theirs
    return [
        Result(what, measured, "at least 20x, no looser", met),
        Result(f"{what}: with our short cuts", f"{quick / seconds:.0f}x ({quick * 1e3:.0f} ms)"),
    ]


def koskelas_claims() -> list[Result]:
    """What Koskela et al. 2021 say about run time (sections 6.2 and 6.3 of the first version, 5.2 and 5.3 of
    the revision), in CPU seconds. There is no target: their code and their machine are not here.
    """
    n, epsilon0, epsilon, results = 10**6, 9.0, 0.5, []
    _, numerical = clock(lambda: feldman.delta_upper(n, epsilon, epsilon0, step=1), 3, time.process_time)
    for what, compose in (("with our short cuts", _shortened), ("Algorithm 1 as printed", _as_printed)):
        _, seconds = clock(lambda c=compose: c(Grid(clones_pair(n, epsilon0)), 1).delta(epsilon), 3, time.process_time)  # type: ignore[misc]
        results.append(
            Result(
                f"one delta, n = 1e6, epsilon0 = 9, {what} (the paper: a minute, 4 times Feldman's with S = 1)",
                f"{seconds:.2f} s, {seconds / numerical:.1f} times Feldman's {numerical:.3f} s",
            )
        )
    for users in (10**3, 10**4, 10**5, 10**6):
        for strength in (1.0, 4.0):
            grid, formed = clock(lambda n=users, e=strength: Grid(clones_pair(n, e)), 3, time.process_time)  # type: ignore[misc]
            _, transformed = clock(lambda g=grid: _as_printed(g, 4), 1, time.process_time)  # type: ignore[misc]
            what = (
                f"the losses, n = {users:.0e}, epsilon0 = {strength:g} (the paper: more than the FFT from n = 1000 on)"
            )
            results.append(
                Result(what, f"{formed:.3f} s, {formed / transformed:.3f} of the FFT's {transformed:.2f} s, 4 rounds")
            )
    return results


def growth() -> list[Result]:
    """What more users and more rounds cost."""
    results = []
    for name, randomizer in (
        ("k-RR, k = 16", sdp.KRR(k=16, epsilon0=4.0)),
        ("any randomizer", sdp.AnyLDP(epsilon0=4.0)),
        ("binary RR", sdp.RR(epsilon0=1.0)),
    ):
        (_, small), (_, large) = (
            clock(lambda r=randomizer, n=n: sdp.shuffle(r, n=n).epsilon(delta=1e-12), 5)  # type: ignore[misc]
            for n in (10**6, 10**12)
        )
        results.append(
            Result(
                f"{name}: n = 1e12 against n = 1e6, delta = 1e-12",
                f"{large / small:.2f}x ({large * 1e3:.0f} ms)",
                "at most 3x",
                large <= 3.0 * small,
            )
        )
        (_, few), (_, many) = (
            clock(lambda r=randomizer, k=k: sdp.shuffle(r, n=10**6).compose(k).epsilon(delta=DELTA), 3)  # type: ignore[misc]
            for k in (10, 10_000)
        )
        results.append(
            Result(
                f"{name}: 10,000 rounds against 10, n = 1e6",
                f"{many / few:.2f}x ({many * 1e3:.0f} ms)",
                "at most 2x",
                many <= 2.0 * few,
            )
        )
    for name, noisy in (("Laplace(1)", sdp.Laplace(epsilon0=1.0)), ("Gaussian(1)", sdp.Gaussian(sigma=1.0))):
        _, seconds = clock(lambda r=noisy: sdp.shuffle(r, n=10**6).epsilon(delta=DELTA))  # type: ignore[misc]
        results.append(Result(f"{name}, n = 1e6", f"{seconds * 1e3:.0f} ms", "at most 1 s", seconds <= 1.0))
    return results
