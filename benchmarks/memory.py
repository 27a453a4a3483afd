"""Peak memory of the calls that ``speed`` times, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.result import Result

LIMIT = 500.0
CASES = (
    ("k-RR, n = 1e12, delta = 1e-12", "s.shuffle(s.KRR(k=16, epsilon0=4.0), n=10**12).epsilon(delta=1e-12)"),
    ("any randomizer, n = 1e6", "s.shuffle(s.AnyLDP(epsilon0=4.0), n=10**6).epsilon(delta=1e-6)"),
    (
        "any randomizer, n = 1e4, 16 rounds",
        "s.shuffle(s.AnyLDP(epsilon0=4.0), n=10**4).compose(16).epsilon(delta=1e-6)",
    ),
    (
        "k-RR, n = 1e6, 10,000 rounds",
        "s.shuffle(s.KRR(k=16, epsilon0=4.0), n=10**6).compose(10**4).epsilon(delta=1e-6)",
    ),
    ("binary RR, n = 1e6, 16 rounds", "s.shuffle(s.RR(epsilon0=1.0), n=10**6).compose(16).epsilon(delta=1e-6)"),
    ("Laplace, n = 1e6, 16 rounds", "s.shuffle(s.Laplace(epsilon0=1.0), n=10**6).compose(16).epsilon(delta=1e-6)"),
    ("Gaussian, n = 1e6, 16 rounds", "s.shuffle(s.Gaussian(sigma=1.0), n=10**6).compose(16).epsilon(delta=1e-6)"),
)


def peaks() -> list[Result]:
    """Megabytes of each case, Python and its libraries included."""
    results = []
    for what, call in CASES:
        code = (
            f"import shuffledp as s; {call}; print(next(line for line in open('/proc/self/status') if "
            f"line.startswith('VmHWM')).split()[1])"
        )
        megabytes = (
            float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
            / 1024.0
        )
        results.append(Result(what, f"{megabytes:.0f} MB", f"below {LIMIT:.0f} MB", megabytes < LIMIT))
    return results
