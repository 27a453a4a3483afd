"""How long somebody waits: every constructor, every single answer, and whole commands, in CPU
seconds, which a busy machine changes least.

Beside each stands its ratio to a baseline of the same run: one certified delta, or starting Python
with numpy and scipy.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import shuffledp as sdp
from benchmarks.result import Result
from shuffledp import Poll
from shuffledp.mechanisms.one_message import strongest
from shuffledp.randomizers import CheckIn, OneOf
from shuffledp.training import RandomAllocation, ShuffledSGD

MOST, MOST_HELP, MOST_ODD = 1.0, 0.3, 5.0
TARGET: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
CALLS: tuple[tuple[str, Callable[[], object]], ...] = (
    ("calibrate(KRR, k=16), n = 1e4", lambda: sdp.calibrate(sdp.KRR, k=16, n=10**4, **TARGET)),
    ("calibrate(KRR, k=1e4), n = 1e9", lambda: sdp.calibrate(sdp.KRR, k=10**4, n=10**9, **TARGET)),
    (
        "calibrate(KRR, k=16), n = 1e6, 10,000 rounds",
        lambda: sdp.calibrate(sdp.KRR, k=16, n=10**6, rounds=10**4, **TARGET),
    ),
    ("calibrate(KRR(16, 4)), fewest users", lambda: sdp.calibrate(sdp.KRR(k=16, epsilon0=4.0), **TARGET)),
    (
        "calibrate(KRR(16, 4)), n = 1e4, most rounds",
        lambda: sdp.calibrate(sdp.KRR(k=16, epsilon0=4.0), n=10**4, rounds=None, **TARGET),
    ),
    ("calibrate(AnyLDP), n = 1e5, 30 rounds", lambda: sdp.calibrate(sdp.AnyLDP, n=10**5, rounds=30, **TARGET)),
    ("calibrate(Laplace), n = 1e4", lambda: sdp.calibrate(sdp.Laplace, n=10**4, **TARGET)),
    (
        "calibrate(Laplace), n = 1e5, epsilon = 0.5",
        lambda: sdp.calibrate(sdp.Laplace, n=10**5, epsilon=0.5, delta=1e-6),
    ),
    ("Gaussian(sigma=1.5), n = 100", lambda: sdp.shuffle(sdp.Gaussian(sigma=1.5), n=100).epsilon(delta=1e-6)),
    ("calibrate(Gaussian), n = 1e4", lambda: sdp.calibrate(sdp.Gaussian, n=10**4, **TARGET)),
    ("Histogram of 2, n = 40", lambda: Poll("histogram", categories=["yes", "no"], n=40, **TARGET)),
    ("Histogram of 1e4, n = 1e9", lambda: Poll("histogram", categories=range(10**4), n=10**9, **TARGET)),
    (
        "Histogram of 16, n = 1e5, 52 rounds",
        lambda: Poll("histogram", categories=range(16), n=10**5, rounds=52, **TARGET),
    ),
    ("Mean, n = 40", lambda: Poll("mean", n=40, **TARGET)),
    ("Mean, n = 1e4, 10 rounds", lambda: Poll("mean", n=10**4, rounds=10, **TARGET)),
    ("Mean, n = 1e9", lambda: Poll("mean", n=10**9, **TARGET)),
    ("Sum, n = 1e6", lambda: Poll("sum", n=10**6, **TARGET)),
    ("SignedCount, n = 1e6", lambda: Poll("count", value="yes", n=10**6, **TARGET)),
    ("SignedCount, n = 1e12, 10 rounds", lambda: Poll("count", value="yes", n=10**12, rounds=10, **TARGET)),
    ("SplitSum, n = 1e9", lambda: Poll("sum", mechanism="split", n=10**9, **TARGET)),
    ("SplitSum, n = 1e9, 10 rounds", lambda: Poll("sum", mechanism="split", n=10**9, rounds=10, **TARGET)),
    ("SplitSum, n = 1e12", lambda: Poll("sum", mechanism="split", n=10**12, **TARGET)),
    (
        "Histogram of 1e4 by hadamard, n = 1e5",
        lambda: Poll("histogram", categories=10**4, mechanism="hadamard", n=10**5, **TARGET),
    ),
    ("plan of a histogram of 50, n = 5000", lambda: sdp.plan("histogram", n=5000, categories=50, **TARGET)),
    (
        "plan of a histogram of 50, n = 5000, 10 rounds",
        lambda: sdp.plan("histogram", n=5000, categories=50, rounds=10, **TARGET),
    ),
    (
        "proven() of OUE(4, 1), n = 30",
        lambda: sdp.shuffle(sdp.OUE(k=4, epsilon0=1.0), n=30).epsilon(delta=1e-6).proven(),
    ),
    (
        "allocation of a finite pair with a zero",
        lambda: RandomAllocation(
            pair=[[0.5, 0.4, 0.1], [0.5, 0.5, 0.0]], steps=10, participations=2, epochs=10
        ).epsilon(delta=1e-6),
    ),
)
ODD: tuple[tuple[str, Callable[[], object]], ...] = (
    (
        "Gaussian(sigma=0.246), n = 2, 2 rounds, delta at 0",
        lambda: sdp.shuffle(sdp.Gaussian(sigma=0.246), n=2).compose(2).delta(epsilon=0.0),
    ),
    (
        "OneOf([KRR(3, 45), RR(50)]), n = 1e9, half of them honest",
        lambda: sdp.shuffle(
            OneOf([sdp.KRR(k=3, epsilon0=45.0), sdp.RR(epsilon0=50.0)]), n=10**9, honest=5 * 10**8
        ).epsilon(delta=1e-6),
    ),
    (
        "SubsetSelection(50000, 20, 49999), n = 1, 1e6 rounds",
        lambda: (
            sdp.shuffle(sdp.SubsetSelection(k=50_000, epsilon0=20.0, size=49_999), n=1)
            .compose(10**6)
            .epsilon(delta=1e-6)
        ),
    ),
    (
        "CheckIn(KRR(7, 45), 1e-12), 2 rounds, delta = 1 - 1e-16",
        lambda: (
            sdp.shuffle(CheckIn(sdp.KRR(k=7, epsilon0=45.0), probability=1e-12), n=10)
            .compose(2)
            .epsilon(delta=1.0 - 1e-16)
        ),
    ),
)
REPORTED: tuple[tuple[str, Callable[[], object]], ...] = (  # each candidate is a whole composition of a continuous law
    ("calibrate(Laplace), n = 1e5, 30 rounds", lambda: sdp.calibrate(sdp.Laplace, n=10**5, rounds=30, **TARGET)),
    ("calibrate(RR), n = 1e5, 30 rounds", lambda: sdp.calibrate(sdp.RR, n=10**5, rounds=30, **TARGET)),
    ("ShuffledSGD, n = 1e4", lambda: ShuffledSGD(n=10**4, dimension=10, **TARGET)),
)
PROMISE = "--epsilon 1 --delta 1e-6 --out"
COMMANDS = (
    ("--help", "--help", MOST_HELP),
    ("epsilon", "epsilon --randomizer krr --k 16 --epsilon0 4 --n 10000 --delta 1e-6", MOST),
    ("calibrate", "calibrate --randomizer krr --k 16 --n 10000 --epsilon 1 --delta 1e-6", MOST),
    ("histogram of 40 rows", f"histogram people.csv --column answer --categories yes,no {PROMISE} histogram", MOST),
    ("mean of 40 rows", f"mean people.csv --column age --lower 0 --upper 120 {PROMISE} mean", MOST),
    (
        "histogram of 40 rows by hadamard",
        f"histogram people.csv --column answer --categories yes,no --mechanism hadamard {PROMISE} hadamard",
        MOST,
    ),
)


def calls() -> list[Result]:
    """One call each, with nothing remembered; beside a single certified delta of k-RR."""
    sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10**4).delta(epsilon=0.3)  # what is loaded or set up once
    answer = min(
        _seconds(lambda: sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10**4).delta(epsilon=0.3)) for _ in range(5)
    )
    results = [Result("the baseline: delta of k-RR, k = 16, n = 1e4, both ends", f"{answer:.3f} s of CPU")]
    for most, asked in ((MOST, CALLS), (MOST_ODD, ODD), (None, REPORTED)):
        for what, call in asked:
            strongest.cache_clear()
            seconds = _seconds(call)
            measured = f"{seconds:.3f} s of CPU, {seconds / answer:.0f} answers"
            results.append(
                Result(what, measured, f"below {most:g} s" if most else "", seconds < most if most else None)
            )
    return results


def commands() -> list[Result]:
    """Whole processes, the best of three, files and figures included; beside Python with numpy and
    scipy.
    """
    with tempfile.TemporaryDirectory() as folder:
        rows = "".join(f"{'yes' if i % 3 else 'no'},{20 + i}\n" for i in range(40))
        (Path(folder) / "people.csv").write_text(f"answer,age\n{rows}", encoding="utf-8")
        bare = _process(folder, "import numpy, scipy.special")
        results = [Result("the baseline: python -c 'import numpy, scipy.special'", f"{bare:.2f} s of CPU")]
        for what, words, most in COMMANDS:
            seconds = _process(folder, f"import sys; from shuffledp.cli import main; sys.exit(main({words.split()!r}))")
            results.append(
                Result(
                    f"shuffledp {what}",
                    f"{seconds:.2f} s of CPU, {seconds / bare:.1f}x the baseline",
                    f"below {most:g} s",
                    seconds < most,
                )
            )
    return results


def _seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _process(folder: str, program: str) -> float:
    """CPU seconds of a fresh process, user and system, once its bytecode is there."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
    times = []
    for attempt in range(4):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory(dir=folder) as place:
            if (people := Path(folder) / "people.csv").exists():
                (Path(place) / "people.csv").write_bytes(people.read_bytes())
            subprocess.run([sys.executable, "-c", program], cwd=place, env=environment, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if attempt:  # the first one compiles
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)
