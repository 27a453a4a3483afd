"""The cases of the grid: what is asked of the bounds, and the laws that answer exactly.

`complete` says that the laws are those of all neighboring datasets. If they are only some of them,
or if outputs were merged, the answer is a lower reference: an upper bound must not be below it, and
a lower bound cannot be judged by it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import permutations

import numpy as np

from shuffledp import KRR, RR, AnyLDP, FromMatrix, Gaussian, Laplace
from shuffledp.judge import krr
from shuffledp.literature.bounds import Setting
from shuffledp.randomizers import AnyDeletionLDP
from shuffledp.randomizers.any_ldp import AnyRandomizer
from shuffledp.testing import merged
from tests.contracts.enclosure import family, names_at
from tests.literature.truth import (
    Array,
    Far,
    Laws,
    Worst,
    all_datasets,
    all_others_hold,
    binary_datasets,
    blanket_views,
)
from tests.oracle.adaptive import adaptive_laws, bad_ldp_matrix, deletion_matrix, random_tree


@dataclass(frozen=True)
class Case:
    """A setting, its laws, and how far they are the truth."""

    name: str
    setting: Setting
    pairs: Callable[[], Iterable[Laws]] = field(repr=False)
    complete: bool = True
    far: Callable[[], Far] | None = field(default=None, repr=False)

    @cached_property
    def truth(self) -> Worst | Far:
        """The exact answer; built when first asked for."""
        if self.far is not None:
            return self.far()
        shares = np.concatenate([np.geomspace(1e-3, 0.3, 20), np.linspace(0.35, 0.999, 20)])
        return Worst(self.pairs(), self.scale * shares, keep=self.complete)

    @property
    def scale(self) -> float:
        """The largest loss, or what stands for it where there is none: epsilons are chosen relative
        to it.
        """
        epsilon0, _ = self.setting.randomizer.replaced
        if self.setting.adversary == "strong":  # who sees the data-dependent report compares two counts of at most n
            epsilon0 = max(epsilon0, math.log(self.setting.n))
        return self.setting.rounds * (epsilon0 if math.isfinite(epsilon0) else 4.0)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The setting, and the same of somebody who only knows epsilon0."""
        randomizer, epsilon0 = self.setting.randomizer, self.setting.randomizer.epsilon0
        known = not isinstance(randomizer, AnyRandomizer) and math.isfinite(epsilon0)
        if self.setting.adversary != "shuffled" or not known:
            return (self.setting,)
        return (self.setting, Setting(AnyLDP(epsilon0=epsilon0), self.setting.n, self.setting.rounds))


def binary(n: int, epsilon0: float, *, rounds: int = 1, ones: Iterable[int] | None = None) -> Case:
    """Binary randomized response: all datasets, unless ``ones`` lists how many of the others hold a
    one.
    """
    name = f"2-RR, n={n}, epsilon0={epsilon0:g}, rounds={rounds}" + ("" if ones is None else ", some datasets")
    pairs = partial(binary_datasets, n, epsilon0, rounds=rounds, ones=ones)
    return Case(name, Setting(RR(epsilon0=epsilon0), n, rounds), pairs, complete=ones is None)


def binary_far(n: int, epsilon0: float, *, rounds: int = 1) -> Case:
    """Binary randomized response when all others hold 0, for bounds so loose that only the farthest
    tails reach them.
    """
    case = binary(n, epsilon0, rounds=rounds, ones=(0,))
    return replace(case, name=f"{case.name}, far tails", far=partial(Far, n, epsilon0, rounds))


def k_ary(k: int, n: int, epsilon0: float, *, rounds: int = 1) -> Case:
    """k-ary randomized response, all datasets."""
    name = f"{k}-RR, n={n}, epsilon0={epsilon0:g}, rounds={rounds}"
    pairs = partial(all_datasets, krr(k, epsilon0), n, rounds=rounds, symmetric=True)
    return Case(name, Setting(KRR(k=k, epsilon0=epsilon0), n, rounds), pairs)


def k_ary_large(k: int, n: int, epsilon0: float) -> Case:
    """k-ary randomized response for more users: all others hold a third value, or the target's own;
    outputs other than the two in question are merged.
    """
    odds = np.exp(np.array([epsilon0, 0.0, 0.0])) * np.array([1.0, 1.0, k - 2.0]) / (math.exp(epsilon0) + k - 1.0)
    zero, one = odds, odds[[1, 0, 2]]
    third = np.array([odds[1], odds[1], 1.0 - 2.0 * odds[1]])

    def pairs() -> Iterator[Laws]:
        for hay in (third, zero):
            yield from all_others_hold(n, hay, zero, one)

    name = f"{k}-RR, n={n}, epsilon0={epsilon0:g}, some datasets"
    return Case(name, Setting(KRR(k=k, epsilon0=epsilon0), n), pairs, complete=False)


def views(k: int, n: int, epsilon0: float, *, rounds: int = 1) -> list[Case]:
    """The weak and the strong adversary against k-ary randomized response."""
    return [
        Case(
            f"{k}-RR, n={n}, epsilon0={epsilon0:g}, rounds={rounds}, {adversary} adversary",
            Setting(KRR(k=k, epsilon0=epsilon0), n, rounds, adversary),
            partial(blanket_views, krr(k, epsilon0), n, strong=adversary == "strong", rounds=rounds, symmetric=True),
        )
        for adversary in ("weak", "strong")
    ]


def finite(n: int, epsilon0: float) -> list[Case]:
    """Every other finite family; proportional outputs are one."""
    found = [family(name, epsilon0) for name in names_at(epsilon0)]
    chosen = [(randomizer, merged(rows)) for randomizer, rows in found if not isinstance(randomizer, KRR)]
    return [
        Case(f"{randomizer.describe()}, n={n}", Setting(randomizer, n), partial(all_datasets, rows, n))
        for randomizer, rows in chosen
        if rows.shape[1] <= 10
    ]


def random_matrices(n: int, epsilon0: float, count: int, seed: int) -> list[Case]:
    """Random extreme points of the epsilon0-LDP matrices with three inputs."""
    rng = np.random.default_rng(seed)
    tables = [bad_ldp_matrix(rng, 3, 3 + i % 2, epsilon0) for i in range(count)]
    return [
        Case(f"random matrix {seed}.{i}, n={n}", Setting(FromMatrix(rows.tolist()), n), partial(all_datasets, rows, n))
        for i, rows in enumerate(tables)
    ]


def adaptive(n: int, epsilon0: float, count: int, seed: int) -> list[Case]:
    """Randomizers chosen from the reports before: random trees of extreme matrices."""
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, n, 2 + i % 2, epsilon0) for i in range(count)]

    def pairs(tree: list[Array]) -> Iterator[Laws]:
        return permutations([law.ravel() for law in adaptive_laws(tree)], 2)

    name, setting = f"n={n}, epsilon0={epsilon0:g}", Setting(AnyLDP(epsilon0=epsilon0), n)
    return [
        Case(f"adaptive tree {seed}.{i}, {name}", setting, partial(pairs, tree), complete=False)
        for i, tree in enumerate(trees)
    ]


def deletion(n: int, epsilon0: float, count: int, seed: int, rounds: int = 1) -> list[Case]:
    """Random matrices whose rows are extreme around a random reference."""
    rng = np.random.default_rng(seed)
    return [
        Case(
            f"deletion matrix {seed}.{i}, n={n}, epsilon0={epsilon0:g}, rounds={rounds}",
            Setting(AnyDeletionLDP(epsilon0=epsilon0), n, rounds),
            partial(all_datasets, deletion_matrix(rng, 2, 3 + i % 2, epsilon0), n, rounds=rounds),
            complete=False,
        )
        for i in range(count)
    ]


def leaky(n: int, epsilon0: float, delta0: float) -> Case:
    """Binary randomized response that sends the truth in the clear with probability delta0; all
    others hold 0, and who leaks a 1 is the target.
    """
    kept = (1.0 - delta0) * np.array([math.exp(epsilon0), 1.0]) / (math.exp(epsilon0) + 1.0)
    zero, one = np.append(kept, delta0), np.append(kept[::-1], 0.0)

    def pairs() -> Iterator[Laws]:
        P, Q = next(all_others_hold(n, zero, zero, one))
        return permutations((np.append(P, 0.0), np.append(Q, delta0)), 2)

    return Case(f"leaky 2-RR, n={n}", Setting(AnyLDP(epsilon0=epsilon0, delta0=delta0), n), pairs, complete=False)


def located(randomizer: Laplace | Gaussian, n: int, *, cells: int = 4, rounds: int = 1) -> Case:
    """Laplace or Gaussian noise on [0, 1], with its outputs merged into cells and three inputs."""
    beyond = 0.25 if isinstance(randomizer, Gaussian) else 0.0
    edges = np.linspace(-beyond, 1.0 + beyond, cells - 1)
    tails = np.array([[_below(randomizer, edge - x) for edge in edges] for x in (0.0, 0.5, 1.0)])
    rows = np.diff(tails, prepend=0.0, append=1.0, axis=1)
    pairs = partial(all_datasets, rows, n, rounds=rounds)
    name = f"{randomizer.describe()}, n={n}, rounds={rounds}, merged"
    return Case(name, Setting(randomizer, n, rounds), pairs, complete=False)


def located_far(randomizer: Gaussian, n: int, *, edge: float) -> Case:
    """Gaussian noise for many users who hold 0, with its outputs cut into two so many deviations above 0."""
    ones = (_below(randomizer, -edge * randomizer.sigma), _below(randomizer, 1.0 - edge * randomizer.sigma))
    name, far = f"{randomizer.describe()}, n={n}, cut at {edge:g} deviations", partial(Far, n, math.inf, 1, ones=ones)
    return Case(f"{name}, far tails", Setting(randomizer, n), tuple, complete=False, far=far)


def _below(randomizer: Laplace | Gaussian, x: float) -> float:
    if isinstance(randomizer, Gaussian):
        return 0.5 * math.erfc(-x / (randomizer.sigma * math.sqrt(2.0)))
    half = 0.5 * math.exp(-abs(x) * randomizer.epsilon0)
    return half if x < 0.0 else 1.0 - half


def quick() -> list[Case]:
    """The grid of `make test`: every kind of case, a few of each."""
    listed = [k_ary(k, n, e0) for k, n in ((3, 9), (4, 7), (5, 6)) for e0 in (0.2, 1.0, 3.0)]
    listed += [k_ary(3, 16, e0) for e0 in (0.5, 2.0)]
    listed += [binary(n, e0) for n in (1, 2, 5, 30, 200) for e0 in (0.1, 0.45, 1.0, 2.5)]
    listed += [binary(1000, e0) for e0 in (0.05, 0.4, 1.5)]
    listed += [
        binary(n, e0, ones=(0, 1, n // 100))
        for n, e0 in ((10_000, 0.3), (10_000, 2.0), (100_000, 0.49), (100_000, 4.0))
    ]
    listed += [binary_far(n, e0, rounds=rounds) for n in (1000, 3000) for e0 in (0.1, 0.45, 1.0) for rounds in (1, 2)]
    listed += [
        k_ary_large(k, n, e0)
        for k, n, e0 in ((3, 300, 1.0), (10, 1000, 2.0), (3, 3000, 0.45), (16, 10_000, 4.0), (4, 10_000, 0.5))
    ]
    listed += [view for k, n, e0 in ((2, 9, 1.0), (3, 8, 2.0), (3, 12, 0.5), (4, 8, 2.5)) for view in views(k, n, e0)]
    listed += [k_ary(k, n, e0, rounds=rounds) for k, n, e0, rounds in ((3, 3, 1.0, 2), (3, 4, 2.0, 2), (3, 2, 0.3, 3))]
    listed += [binary(n, e0, rounds=rounds) for n, e0, rounds in ((8, 1.0, 2), (10, 0.3, 3), (5, 2.0, 4), (40, 0.5, 2))]
    listed += [binary(1000, e0, rounds=2, ones=(0,)) for e0 in (0.1, 0.45, 1.0)]
    listed += views(3, 3, 1.0, rounds=2)
    listed += [
        *finite(4, 1.0),
        *random_matrices(5, 1.0, 3, seed=1),
        *random_matrices(4, 3.0, 2, seed=2),
        *adaptive(4, 1.0, 3, seed=3),
        *deletion(5, 1.0, 2, seed=4),
        *deletion(3, 0.3, 2, seed=5),
        *deletion(2, 0.8, 1, seed=6, rounds=2),
    ]
    listed += [leaky(500, 1.0, 1e-7), leaky(2000, 0.3, 1e-5)]
    listed += [located(Laplace(epsilon0=1.0), 5), located(Laplace(epsilon0=3.0), 4), located(Gaussian(sigma=1.0), 5)]
    listed += [located_far(Gaussian(sigma=s), n, edge=e) for s, n, e in ((4.0, 30_000, 3.0), (20.0, 3000, 2.0))]
    return listed


def witness(name: str) -> Case | None:
    """The case that refutes a bound which is wrong only in places, or too slow to be tried on
    many.
    """
    found: dict[str, Callable[[], Case]] = {
        "koskela-2021-krr-weak": lambda: views(2, 20, math.log(3.0))[0],  # gamma = 1/2
        "koskela-2021-krr-weak-first": lambda: k_ary(3, 8, 2.0),
        "koskela-2021-krr-weak-first-printed-order": lambda: k_ary(3, 8, 2.0),
        "koskela-2021-krr-strong": lambda: views(2, 100, math.log1p(2.0 / 9.0))[1],  # gamma = 0.9
        "koskela-2021-krr-strong-first": lambda: views(2, 20, math.log(9.0))[1],  # gamma = 0.2
        "koskela-2021-krr-strong-first-printed-order": lambda: views(2, 20, math.log(9.0))[1],
        "koskela-2021-2rr": lambda: binary(20, 1.0),
    }
    return found[name]() if name in found else None


def thorough() -> list[Case]:
    """The grid of `make literature`."""
    steps = (0.02, 0.1, 0.25, 0.49, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
    listed = quick()
    listed += [
        k_ary(k, n, e0)
        for k, sizes in ((3, (2, 4, 12, 24)), (4, (3, 9, 12)), (5, (2, 5, 8)))
        for n in sizes
        for e0 in steps
    ]
    listed += [k_ary(3, 60, e0) for e0 in (0.25, 1.0, 2.5)]
    listed += [binary(n, e0) for n in (3, 10, 60, 150, 400) for e0 in steps]
    listed += [binary(n, e0) for n in (1000, 2000) for e0 in (0.01, 0.1, 0.25, 0.49, 1.0, 2.0, 3.0)] + [
        binary(3000, e0) for e0 in (0.3, 1.2)
    ]
    listed += [binary(n, e0, ones=(0, 1, n // 100)) for n in (3000, 30_000, 100_000) for e0 in steps]
    listed += [binary_far(n, e0) for n in (1500, 10_000, 100_000) for e0 in steps] + [
        binary_far(2000, e0, rounds=2) for e0 in steps
    ]
    listed += [k_ary_large(k, n, e0) for k in (3, 8, 50) for n in (100, 1000, 4000, 20_000) for e0 in steps]
    listed += [view for k in (2, 3, 4) for n in (2, 6, 12) for e0 in steps for view in views(k, n, e0)]
    listed += [k_ary(3, n, e0, rounds=rounds) for n, rounds in ((2, 2), (3, 2), (4, 2), (2, 3), (3, 3)) for e0 in steps]
    listed += [
        binary(n, e0, rounds=rounds) for n, rounds in ((2, 2), (10, 2), (100, 2), (10, 3), (6, 4)) for e0 in steps
    ]
    listed += [
        binary(n, e0, rounds=2, ones=(0, 1)) for n in (1000, 4000) for e0 in (0.02, 0.1, 0.3, 0.49, 0.8, 1.2, 2.0)
    ]
    listed += [view for n in (2, 4) for e0 in (0.3, 1.0, 3.0) for view in views(3, n, e0, rounds=2)]
    listed += [case for n in (2, 3, 5) for e0 in (0.1, 0.6, 1.8, 3.0) for case in finite(n, e0)]
    listed += [
        case
        for n in (2, 3, 6)
        for i, e0 in enumerate((0.1, 0.5, 1.0, 2.0, 4.0))
        for case in random_matrices(n, e0, 6, seed=10 * n + i)
    ]
    listed += [
        case for n in (2, 3, 4) for i, e0 in enumerate((0.3, 1.0, 2.5)) for case in adaptive(n, e0, 6, seed=100 * n + i)
    ]
    listed += [
        case for n in (2, 4, 7) for i, e0 in enumerate((0.1, 0.6, 2.0)) for case in deletion(n, e0, 4, seed=20 * n + i)
    ]
    listed += [
        leaky(n, e0, delta0) for n in (200, 1000, 3000) for e0 in (0.1, 1.0, 2.5) for delta0 in (1e-10, 1e-6, 1e-4)
    ]
    listed += [located(Laplace(epsilon0=e0), n) for n in (2, 4, 6) for e0 in steps] + [
        located(Gaussian(sigma=s), n) for n in (2, 4) for s in (0.5, 1.0, 3.0)
    ]
    listed += [
        located_far(Gaussian(sigma=s), n, edge=e)
        for n in (1000, 10_000, 100_000)
        for s in (2.0, 5.0, 20.0, 100.0)
        for e in (1.0, 3.0)
    ]
    return listed
