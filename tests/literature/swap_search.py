"""The first-clone swap against enumeration: `python -m tests.literature.swap_search 20000 0`, and part
of `make literature`.

For every dataset the exact delta of the released histogram, in both orders, is compared with the
theorem's upper sum for several clones, kappas and levels, each by direct sums; and the moduli's
largest kind with the direct sum for the mixture of kinds that the dataset is. Randomizers at the
vertices of all epsilon0-LDP ones are compared with the bound that knows epsilon0 only, and every
theorem of the accountant with the worst dataset.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

import shuffledp as sdp
from shuffledp.accounting.reductions import reduce
from shuffledp.judge import (
    hadamard,
    hockey_stick,
    krr,
    local_hash,
    neighbouring_laws,
    shuffled_law,
    subset,
    unary,
    worst_delta,
)
from shuffledp.randomizers import Randomizer
from tests.literature.swap_cases import Dataset, extreme_laws, merged, random_laws, staircase, support_laws
from tests.oracle.first_clone import (
    clone_share,
    first_clone_delta,
    kinds_delta,
    score,
    slots_delta,
    static_delta,
    swap_levels,
)

Array = NDArray[np.float64]

SHAPES = ((2, 4), (3, 8), (4, 4), (5, 8), (6, 3), (7, 4), (8, 3), (8, 8))  # users and outputs, at most
MAKERS = (random_laws, extreme_laws, support_laws)
EPSILON0S, SHARES = (0.3, math.log(2.0), 1.0, 2.0, 3.5), (0.05, 0.2, 0.5, 0.8)
LONGEST = 200.0  # of the sums, over that of the saddle point: their transforms need as many nodes
CLONES = 3  # laws of a clone that are tried on a dataset
ROUNDING = 1e-13  # of a probability


@dataclass
class Found:
    """What a search saw: how many comparisons of each sort, how close they came, and what was
    wrong.
    """

    datasets: int = 0
    comparisons: Counter[str] = field(default_factory=Counter)
    closest: dict[str, float] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)

    def compare(self, sort: str, exact: float, bound: float, dataset: object) -> None:
        """``exact`` must not exceed ``bound``."""
        self.comparisons[sort] += 1
        if exact > 1e-9:
            self.closest[sort] = max(self.closest.get(sort, 0.0), exact / bound)
        if exact > bound + ROUNDING:
            self.violations.append(f"{sort}: {exact!r} > {bound!r}, {dataset!r}")

    def __iadd__(self, other: Found) -> Found:
        self.datasets += other.datasets
        self.comparisons += other.comparisons
        for sort, ratio in other.closest.items():
            self.closest[sort] = max(self.closest.get(sort, 0.0), ratio)
        self.violations += other.violations
        return self


def exact_curves(dataset: Dataset) -> tuple[Array, Array]:
    """The laws of the histogram for the target's two laws."""
    rows = np.vstack([dataset.needle0, dataset.needle1, dataset.others])
    rest = list(range(2, len(rows)))
    return tuple(np.fromiter(shuffled_law(rows, [first, *rest]).values(), dtype=np.float64) for first in (0, 1))  # type: ignore[return-value]


def swap_of(found: Found, dataset: Dataset, exact: float, eps: float, rng: np.random.Generator) -> None:
    """The computable form, for every clone: to the largest kappa, and with a kappa and levels of
    one's own.
    """
    needles = dataset.needle0, dataset.needle1
    clones = list(dataset.clones(rng))
    for chosen in rng.permutation(len(clones))[:CLONES]:
        omega = clones[chosen]
        share = clone_share(dataset.others, omega)
        if share <= 0.0:
            continue
        found.compare("theorem", exact, first_clone_delta(*needles, dataset.others, omega, eps), dataset)
        kappa = share * rng.choice([1.0, rng.random()])
        levels = np.append(0.0, np.sort(rng.uniform(0.0, kappa, size=3)))
        coarse = first_clone_delta(*needles, dataset.others, omega, eps, levels=levels, kappa=kappa)
        found.compare("theorem, coarse levels", exact, coarse, dataset)


def moduli_of(found: Found, dataset: Dataset, eps: float, rng: np.random.Generator) -> None:
    """The largest kind of users against their mixture, at one level of one clone."""
    omega = next(dataset.clones(rng))
    share = clone_share(dataset.others, omega)
    u = float(rng.choice(swap_levels(dataset.n, share)[:-1])) if share > 0.0 else 0.0
    hays = dataset.others - u * omega
    first, exposed = score(omega, dataset.needle0, dataset.needle1, eps)
    kinds = [score(hay, dataset.needle0, dataset.needle1, eps) for hay in np.unique(hays, axis=0)]
    spread = sum(float(chances @ values**2) for values, chances in [first, *(law for law, _ in kinds)])
    largest = max(float(np.abs(values).max()) for values, _ in (first, *(law for law, _ in kinds)))
    if spread == 0.0:
        return
    c = float(rng.choice([0.5, 1.0, 2.0])) / (spread * dataset.n / (1 + len(kinds))) ** 0.5
    if c * largest * dataset.n > LONGEST:
        return
    exact = slots_delta(np.vstack([omega, hays]), dataset.needle0, dataset.needle1, eps)
    shown = (exposed + (dataset.n - 1) * np.array([each for _, each in kinds])) / dataset.n
    values = kinds_delta(first, [law for law, _ in kinds], dataset.n, c, 0.1 / c)
    found.compare("moduli, largest kind", exact, float(np.max(values + shown)), dataset)


def static_of(found: Found, rng: np.random.Generator) -> None:
    """All datasets of a randomizer at a vertex of the polytope of all epsilon0-LDP ones, against
    what is known of its epsilon0 alone.
    """
    epsilon0, n = float(rng.choice(EPSILON0S)), int(rng.integers(2, 6))
    eps = float(rng.choice(SHARES)) * epsilon0
    rows = staircase(rng, epsilon0, int(rng.integers(2, 5)))
    bound = _static(epsilon0, n, eps)
    for laws in neighbouring_laws(rows, n):
        for P, Q in permutations(laws, 2):
            found.compare("any static randomizer", hockey_stick(P, Q, eps), bound, f"{epsilon0=} {n=} {rows.tolist()}")


def library_of(found: Found, rng: np.random.Generator) -> None:
    """Every theorem that the accountant knows for a randomizer, the smallest or not, against its
    worst dataset.
    """
    epsilon0, n = float(rng.uniform(0.2, 4.0)), int(rng.integers(2, 6))
    k = int(rng.integers(3, 5))
    families: tuple[tuple[Randomizer, Array], ...] = (
        (sdp.KRR(k=k, epsilon0=epsilon0), krr(k, epsilon0)),
        (sdp.OUE(k=3, epsilon0=epsilon0), unary(3, 0.5, 1.0 / (1.0 + math.exp(epsilon0)))),
        (sdp.LocalHash(k=3, g=2, epsilon0=epsilon0), local_hash(3, 2, epsilon0)),
        (sdp.Hadamard(k=k, epsilon0=epsilon0), hadamard(k, epsilon0)),
        (sdp.SubsetSelection(k=4, size=2, epsilon0=epsilon0), subset(4, 2, epsilon0)),
        (sdp.AnyLDP(epsilon0=epsilon0, adaptive=False), staircase(rng, epsilon0, 3)),
    )
    randomizer, rows = families[int(rng.integers(len(families)))]
    eps = float(rng.choice(SHARES)) * epsilon0
    exact = float(worst_delta(merged(rows), n, eps)[0])
    for theorem in reduce(randomizer, n, "shuffled").theorems:
        upper = max(float(curve.bounds(np.array([eps]))[1][0]) for curve in theorem.curves)
        found.compare(f"the accountant's {theorem.method}", exact, upper, f"{randomizer} {n=} {eps=}")


@lru_cache(maxsize=256)
def _static(epsilon0: float, n: int, eps: float) -> float:
    return static_delta(epsilon0, n, eps)


def search(count: int, seed: int) -> Found:
    """``count`` datasets, in turn of every shape and sort, and a randomizer that nobody knows for
    every tenth.
    """
    rng, found = np.random.default_rng(seed), Found()
    for _ in range(count // 10):
        static_of(found, rng)
        library_of(found, rng)
    for i in range(count):
        n, outputs = SHAPES[i * len(SHAPES) // count]
        dataset = MAKERS[i % len(MAKERS)](rng, n, outputs)
        laws = exact_curves(dataset)
        found.datasets += 1
        for order in (1, -1):
            P, Q = laws[::order]
            turned = Dataset(dataset.family, *(dataset.needle0, dataset.needle1)[::order], dataset.others)
            eps = float(rng.choice([0.05, 0.3, rng.random()])) * max(turned.largest_loss, 0.1)
            exact = hockey_stick(P, Q, eps)
            swap_of(found, turned, exact, eps, rng)
            moduli_of(found, turned, eps, rng)
    return found


def report(found: Found) -> str:
    """What a search found, in words."""
    lines = [f"{found.datasets:,} datasets of 2 to 8 users, both orders, {len(found.violations)} violations"]
    lines += [
        f"  {sort}: {count:,} comparisons; the largest exact / bound is {found.closest.get(sort, 0.0):.9f}"
        for sort, count in found.comparisons.items()
    ]
    return "\n".join(lines + found.violations[:5])


if __name__ == "__main__":
    seen = search(int(sys.argv[1]), int(sys.argv[2]))
    print(report(seen))
    sys.exit(1 if seen.violations else 0)
