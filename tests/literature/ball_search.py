"""Fast ends beside proven balls, on random cases: an upper end below its ball, or a lower end above
it, is false. `python -m tests.literature.ball_search 20000` runs so many and reports the worst.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shuffledp import KRR, OUE, RAPPOR, FromMatrix, Hadamard, LocalHash, SubsetSelection
from shuffledp.accounting.accuracy import DEFAULT_GAP, SOLVE_GAP
from shuffledp.accounting.haystack import BinaryDataset, Haystack
from shuffledp.accounting.reductions import reduce
from shuffledp.judge.balls import Needle, TwoValues, kinds_of, kinds_of_table
from shuffledp.judge.balls.arithmetic import ends, precision
from shuffledp.literature.proof import _alike, _haystack
from shuffledp.randomizers import Randomizer
from shuffledp.randomizers.randomizer import Atoms

WORK = 40_000
TOLERANCES = (1e-5, 1e-6, 1e-8)
LEAST = 1e-290  # ends below are not compared: floats end there


@dataclass(frozen=True)
class Case:
    """One question and both answers."""

    what: str
    fast: tuple[float, float]
    ball: tuple[float, float]

    @property
    def false(self) -> bool:
        return self.fast[1] < self.ball[0] or self.fast[0] > self.ball[1]

    @property
    def overshoot(self) -> float:
        """How far, relatively, an end is beyond the far edge of its ball: positive if false."""
        size = max(self.ball[1], LEAST)
        return max(self.ball[0] - self.fast[1], self.fast[0] - self.ball[1]) / size

    @property
    def slack(self) -> float:
        """How far, relatively, the ends are apart from the ball on their safe sides."""
        size = max(self.ball[1], LEAST)
        return max(self.fast[1] - self.ball[1], self.ball[0] - self.fast[0]) / size

    @property
    def width(self) -> float:
        return (self.ball[1] - self.ball[0]) / max(self.ball[1], LEAST)


def _users(rng: np.random.Generator) -> int:
    return max(1, int(10.0 ** rng.uniform(0.0, 12.0)))


def _families(rng: np.random.Generator) -> Randomizer:
    k = int(rng.choice([2, 3, 4, 5, 8, 16, 100, 1000]))
    epsilon0 = (
        float(10.0 ** rng.uniform(-3.0, math.log10(50.0))) if rng.random() < 0.3 else float(rng.uniform(0.05, 9.0))
    )
    makes: list[Callable[[], Randomizer]] = [
        lambda: KRR(k=max(k, 3), epsilon0=epsilon0),
        lambda: OUE(k=k, epsilon0=epsilon0),
        lambda: RAPPOR(k=k, epsilon0=epsilon0),
        lambda: LocalHash(k=k, g=int(rng.integers(2, 9)), epsilon0=epsilon0),
        lambda: SubsetSelection(k=max(k, 3), epsilon0=epsilon0),
        lambda: Hadamard(k=k, epsilon0=epsilon0),
        lambda: FromMatrix(rng.dirichlet(np.full(4, 0.7), size=3) * 0.97 + 0.0075),
    ]
    return makes[int(rng.integers(len(makes)))]()


def _epsilon(rng: np.random.Generator, curve: Haystack | BinaryDataset, ceiling: float) -> float:
    """Where delta is anything from its largest value down to about 1e-100."""
    typical = math.sqrt(2.0 * math.pi) * float(curve.bounds(np.zeros(1), 1e-3)[1][0])
    return float(
        min(typical * rng.uniform(0.0, 21.0) * rng.uniform(0.0, 1.0), rng.uniform(0.0, 1.0) * min(ceiling, 690.0))
    )


def of_a_family(rng: np.random.Generator) -> tuple[str, Haystack, Needle, float]:
    """A curve of a reduction, and the same haystack from the law's parameters."""
    law, n = _families(rng), _users(rng)
    adversary = str(rng.choice(["shuffled", "shuffled", "weak", "strong"]))
    reduction = reduce(law, n, adversary)  # type: ignore[arg-type]
    curves = [curve for curve in (*reduction.uppers, *reduction.lowers) if isinstance(curve, Haystack)]
    if not curves:
        return of_any_masses(rng)
    curve = curves[int(rng.integers(len(curves)))]
    table = law.table
    kinds = kinds_of(law.describe()) if table is None else kinds_of_table(table.tolist())
    assert kinds is not None
    known = [each for each in (*kinds.blankets, *kinds.datasets, *kinds.strong()) if _alike(curve, each)]
    eps = _epsilon(rng, curve, reduction.ceiling)
    return f"{law!r}, n={n}, {adversary}, {curve.name}, eps={eps!r}", curve, (known or [_haystack(curve)])[0], eps


def of_any_masses(rng: np.random.Generator) -> tuple[str, Haystack, Needle, float]:
    """Masses of any size, scores over many orders of magnitude."""
    n, classes = _users(rng), int(rng.integers(1, 7))
    reach = float(rng.choice([0.5, 3.0, 30.0, 300.0]))
    hay, there, back = 10.0 ** -rng.uniform(0.0, reach, size=(3, classes))
    if rng.random() < 0.5:
        there, back = there + hay, back + hay
    hay[1:][rng.random(classes - 1) < 0.1] = 0.0
    there, back = there / there.sum(), back / back.sum()
    kept = (1.0, 1.0 - 10.0 ** -rng.uniform(0.1, 9.0), rng.uniform(0.0, 1.0), 10.0 ** -rng.uniform(0.0, 12.0))
    hay = hay / hay.sum() * float(rng.choice(kept))
    curve = Haystack.of(Atoms("masses", hay, there, back), n)
    eps = _epsilon(rng, curve, 300.0)
    masses = f"{hay.tolist()!r}, {there.tolist()!r}, {back.tolist()!r}"
    return f"Haystack.of(Atoms('', {masses}), {n}), eps={eps!r}", curve, _haystack(curve), eps


def needle_case(rng: np.random.Generator) -> Case:
    what, curve, _, eps = drawn = of_a_family(rng) if rng.random() < 0.75 else of_any_masses(rng)
    gap = DEFAULT_GAP if rng.random() < 0.3 else SOLVE_GAP
    low, high = curve.bounds(np.array([eps]), gap)
    with precision(128 + 2 * curve.n.bit_length()):
        tolerance = float(rng.choice(TOLERANCES, p=[0.6, 0.35, 0.05]))
        ball = ends(drawn[2].delta(curve.n, eps, tolerance, WORK))
    return Case(f"{what}, gap={gap}", (float(low[0]), float(high[0])), ball)


def binary_case(rng: np.random.Generator) -> Case:
    n, epsilon0 = _users(rng), float(10.0 ** rng.uniform(-3.0, math.log10(50.0)))
    ones = int(rng.choice([0, n - 1, int(rng.integers(n))]))
    curve = BinaryDataset(epsilon0, n - 1 - ones, ones)
    eps = _epsilon(rng, curve, epsilon0)
    low, high = curve.bounds(np.array([eps]))
    with precision(128 + 2 * n.bit_length()):
        ball = ends(TwoValues(epsilon0, n).dataset(n - 1 - ones, ones, eps))
    return Case(f"{curve!r}, eps={eps!r}", (float(low[0]), float(high[0])), ball)


def search(count: int, seed: int, every: Callable[[int, Case], None] = lambda _, __: None) -> list[Case]:
    """So many cases; ``every`` sees each of them."""
    found = []
    for place in range(count):
        rng = np.random.default_rng([seed, place])
        case = binary_case(rng) if rng.random() < 0.15 else needle_case(rng)
        every(place, case)
        found.append(case)
    return found


def report(cases: list[Case]) -> str:
    """How many, how many are false, the worst overshoot and how wide balls are."""
    seen = [case for case in cases if case.ball[1] > LEAST]
    close = [case for case in seen if case.width < 1e-3]
    worst = max(seen, key=lambda case: case.overshoot)
    loosest = max(close, key=lambda case: case.slack)
    false = [case for case in cases if case.false]
    lines = [
        f"{len(cases)} cases, {len(seen)} above {LEAST:g}, {len(close)} with a ball narrower than 1e-3",
        f"false ends: {len(false)}",
        f"largest overshoot (negative: how near an end came to the far edge of its ball): {worst.overshoot:.3e}",
        f"largest distance on the safe side: {loosest.slack:.3e} ({loosest.what})",
    ]
    return "\n".join([*lines, *(f"FALSE {case}" for case in false)])


def _main() -> None:
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 12

    def show(place: int, case: Case) -> None:
        if case.false:
            print(f"FALSE {place}: {case}", flush=True)
        if place % 500 == 499:
            print(f"{place + 1} done", flush=True)

    print(report(search(count, seed, show)))


if __name__ == "__main__":
    _main()
