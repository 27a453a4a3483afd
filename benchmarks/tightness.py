"""How far apart the two certified ends are."""

from __future__ import annotations

from collections.abc import Callable

import shuffledp as sdp
from benchmarks.result import Result
from shuffledp.randomizers import Randomizer

USERS = (10**3, 10**4, 10**5, 10**6)
LOCAL = (0.5, 1.0, 2.0, 4.0)
DELTA = 1e-6
Family = Callable[[float], Randomizer]


def gap(randomizer: Randomizer, n: int, rounds: int = 1) -> float:
    """(upper - lower) / upper of the certified epsilon."""
    bound = sdp.shuffle(randomizer, n=n).compose(rounds).epsilon(delta=DELTA)
    return bound.width / bound.upper


def widest(
    family: Family, rounds: int = 1, users: tuple[int, ...] = USERS, local: tuple[float, ...] = LOCAL
) -> tuple[float, str]:
    """The widest relative gap of the grid, and where it is."""
    cases = [
        (gap(family(epsilon0), n, rounds), f"n = {n:.0e}, epsilon0 = {epsilon0:g}") for n in users for epsilon0 in local
    ]
    return max(cases)


def one_round() -> list[Result]:
    """The issue's targets."""
    results = []
    targets: list[tuple[str, Family, float]] = [("binary RR", lambda e: sdp.RR(epsilon0=e), 0.005)]
    targets += [(f"k-RR, k = {k}", lambda e, k=k: sdp.KRR(k=k, epsilon0=e), 0.002) for k in (3, 4, 16, 100)]  # type: ignore[misc]
    targets += [("any randomizer", lambda e: sdp.AnyLDP(epsilon0=e), 0.15)]
    for name, family, target in targets:
        value, where = widest(family)
        results.append(Result(name, f"{value:.3%} at {where}", f"at most {target:.1%}", value <= target))
    value, where = widest(lambda e: sdp.AnyLDP(epsilon0=e), users=USERS[1:], local=(4.0,))
    results.append(
        Result("any randomizer, epsilon0 = 4, n >= 1e4", f"{value:.3%} at {where}", "at most 2 %", value <= 0.02)
    )
    upper = sdp.shuffle(sdp.AnyLDP(epsilon0=4.0), n=10**5).epsilon(delta=DELTA).upper
    results.append(
        Result(
            "any randomizer, n = 1e5, epsilon0 = 4: upper end",
            f"{upper:.5f} (clones: 0.1698)",
            "at most 0.1183",
            upper <= 0.1183,
        )
    )
    return results


def reported() -> list[Result]:
    """What has no target, for the record."""
    families: list[tuple[str, Family]] = [
        ("Hadamard, k = 1000", lambda e: sdp.Hadamard(k=1000, epsilon0=e)),
        ("RAPPOR, k = 100", lambda e: sdp.RAPPOR(k=100, epsilon0=e)),
        ("OUE, k = 100", lambda e: sdp.OUE(k=100, epsilon0=e)),
        ("OLH, k = 100", lambda e: sdp.OLH(k=100, epsilon0=e)),
        ("binary local hashing, k = 100", lambda e: sdp.BLH(k=100, epsilon0=e)),
        ("subset selection, k = 100", lambda e: sdp.SubsetSelection(k=100, epsilon0=e)),
        ("Laplace", lambda e: sdp.Laplace(epsilon0=e)),
        ("Gaussian, sigma = 2 / epsilon0", lambda e: sdp.Gaussian(sigma=2.0 / e)),
    ]
    results = [Result(name, "{:.3%} at {}".format(*widest(family))) for name, family in families]
    many = [
        ("binary RR", lambda e: sdp.RR(epsilon0=e)),
        ("k-RR, k = 16", lambda e: sdp.KRR(k=16, epsilon0=e)),
        ("any randomizer", lambda e: sdp.AnyLDP(epsilon0=e)),
    ]
    results += [
        Result(f"{name}, 16 rounds", "{:.3%} at {}".format(*widest(family, 16))) for name, family in [*many, *families]
    ]
    return results
