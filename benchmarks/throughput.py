"""How many reports a second, how many bytes each, and how much memory; k-RR beside the plain NumPy
expression.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import shuffledp as sdp
from benchmarks.result import Result, clock

REPORTS, K, EPSILON0 = 10**8, 256, 4.0
LEAST_RATIO, MOST_MEMORY = 3.0, 300.0
MEMORY = f"""
import numpy as np, shuffledp as sdp
values = np.zeros({REPORTS}, dtype=np.uint8)
values += 1
sdp.KRR(k={K}, epsilon0={EPSILON0}).randomize(values)
print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])
"""


def plain(values: NDArray[Any], truth: float, rng: np.random.Generator) -> NDArray[Any]:
    """k-RR as anybody would write it: not secure, and exact only as far as floats go."""
    return np.where(rng.random(len(values)) < truth, values, rng.integers(0, K, len(values)))


def against_numpy() -> list[Result]:
    """1e8 reports, alternately ours and theirs, the best of three each; theirs in ten parts, to its
    advantage: it would need 2.6 GB at once.
    """
    krr, rng = sdp.KRR(k=K, epsilon0=EPSILON0), np.random.default_rng(1)
    values = rng.integers(0, K, REPORTS, dtype=np.uint8)
    truth, ours, theirs = 1.0 - krr.gamma, float("inf"), float("inf")
    for _ in range(3):
        ours = min(ours, _seconds(lambda: krr.randomize(values)))
        theirs = min(theirs, _seconds(lambda: [plain(part, truth, rng) for part in np.split(values, 10)]))
    measured = f"{theirs / ours:.1f}x faster ({REPORTS / ours:.2e} against {REPORTS / theirs:.2e} reports/s)"
    ratio = Result(
        f"k-RR, k = {K}, {REPORTS:.0e} reports, secure source",
        measured,
        f"at least {LEAST_RATIO:g}x",
        theirs / ours >= LEAST_RATIO,
    )
    megabytes = (
        float(subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True).stdout)
        / 1024.0
    )
    what = "the same in a fresh process: peak memory with Python, its libraries, values and reports (100 MB each)"
    return [ratio, Result(what, f"{megabytes:.0f} MB", f"below {MOST_MEMORY:.0f} MB", megabytes < MOST_MEMORY)]


def every_randomizer() -> list[Result]:
    """Secure source; numbers in [0, 1] as float64, categories as int64."""
    rng = np.random.default_rng(2)
    cases: list[tuple[Any, int]] = [(sdp.RR(epsilon0=1.0), 10**7)]
    cases += [(sdp.KRR(k=k, epsilon0=EPSILON0), 10**7) for k in (100, 256, 1000)]
    cases += [
        (sdp.Hadamard(k=1000, epsilon0=EPSILON0), 10**7),
        (sdp.OLH(k=1000, epsilon0=EPSILON0), 10**6),
        (sdp.BLH(k=1000, epsilon0=1.0), 10**6),
    ]
    cases += [(make(k=100, epsilon0=EPSILON0), 10**5) for make in (sdp.RAPPOR, sdp.OUE, sdp.SubsetSelection)]
    cases += [
        (sdp.FromMatrix([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), 10**6),
        (sdp.Laplace(epsilon0=1.0), 10**6),
        (sdp.Gaussian(sigma=1.0), 10**6),
    ]
    results = []
    for randomizer, n in cases:
        numeric = isinstance(randomizer, sdp.Laplace | sdp.Gaussian)
        values = rng.random(n) if numeric else rng.integers(0, getattr(randomizer, "k", 2), n)
        reports, seconds = clock(lambda r=randomizer, v=values: r.randomize(v), 2)  # type: ignore[misc]
        words = ", ".join(f"{name} = {value}" for name, value in randomizer.describe().items() if name != "randomizer")
        results.append(
            Result(
                f"{randomizer.describe()['randomizer']} ({words})",
                f"{n / seconds:.2e} reports/s, {reports.nbytes / n:g} bytes each",
            )
        )
    return results


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
