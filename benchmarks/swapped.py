"""The first-clone swap beside the blanket: how far each is above the lower end, and how long each
takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import shuffledp as sdp
from benchmarks.result import Result, clock
from shuffledp.accounting.curves import Envelope, Smallest
from shuffledp.accounting.reductions import SWAP, Theorem
from shuffledp.randomizers import Randomizer

DELTA = 1e-6
FAMILIES: dict[str, Callable[[float], Randomizer]] = {
    "binary hashing": lambda e: sdp.BLH(k=16, epsilon0=e),
    "optimal hashing": lambda e: sdp.OLH(k=16, epsilon0=e),
    "RAPPOR": lambda e: sdp.RAPPOR(k=16, epsilon0=e),
    "OUE": lambda e: sdp.OUE(k=16, epsilon0=e),
    "subset selection": lambda e: sdp.SubsetSelection(k=16, epsilon0=e),
    "Hadamard response": lambda e: sdp.Hadamard(k=16, epsilon0=e),
    "any, fixed in advance": lambda e: sdp.AnyLDP(epsilon0=e, adaptive=False),
}


def beside_the_blanket() -> list[Result]:
    """Every family over epsilon0 = 0.5, 1, 2, 3, 4 and n = 1e3 (where n e^-epsilon0 >= 30), 1e4,
    1e6.
    """
    results = []
    for name, family in FAMILIES.items():
        before, now, slower, met = 0.0, 0.0, 0.0, True
        for epsilon0 in (0.5, 1.0, 2.0, 3.0, 4.0):
            if name.startswith("any") and epsilon0 > 3.0:
                continue
            for n in (10**3, 10**4, 10**6):
                if n * math.exp(-epsilon0) < 30.0:
                    continue
                mechanism = sdp.shuffle(family(epsilon0), n=n)
                lower, upper = mechanism.epsilon(delta=DELTA)
                theorems = mechanism.reduction.theorems
                ends = {each.method: clock(partial(_meets, each, epsilon0)) for each in theorems}
                (blanket, first), *_ = ends.values()
                before, now = max(before, blanket / lower - 1.0), max(now, upper / lower - 1.0)
                if SWAP in ends:
                    slower = max(slower, ends[SWAP][1] / first)
                met &= upper <= (1.003 if n >= 10**4 else 1.02) * lower
        measured = f"{now:.3%}, the blanket {before:.1%}; at most {slower:.2f} of its time"
        results.append(Result(f"{name}: widest", measured, "0.3 % from n = 1e4, 2 % at 1e3", met))
    return results


def _meets(theorem: Theorem, ceiling: float) -> float:
    return Smallest([Envelope(theorem.curves, "upper", ceiling)], ceiling).meets(DELTA)
