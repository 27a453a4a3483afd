"""Bounds on Renyi divergences, compared before they are converted to epsilon and delta."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import logsumexp

from shuffledp.literature import clones_renyi, girgis
from tests.literature.cases import Case, adaptive, binary, k_ary, k_ary_large, random_matrices
from tests.literature.report import Row
from tests.literature.truth import Array


def many() -> list[Case]:
    shared = [binary(n, e0) for n in (2, 10, 100) for e0 in (0.1, 1.0, 3.0)]
    shared += [k_ary(3, n, e0) for n in (4, 12) for e0 in (0.3, 2.0)]
    large = [k_ary_large(3, 400, 1.0), k_ary_large(10, 1000, 0.5), binary(3000, 0.5, ones=(0, 30))]
    return [*shared, *large, *random_matrices(4, 1.5, 3, seed=4)]


def few() -> list[Case]:
    return [binary(2, 1.0), binary(10, 1.0), k_ary_large(3, 400, 1.0), *adaptive(3, 1.0, 1, seed=5)]


def exact(case: Case, orders: Array) -> Array:
    """The largest Renyi divergence of every order over all pairs of laws; terms below 1e-300 are
    left out, which only lowers it.
    """
    worst = np.zeros(len(orders))
    for P, Q in case.pairs():
        seen = (P > 1e-300) & (Q > 1e-300)
        p, q = np.log(P[seen]), np.log(Q[seen])
        worst = np.maximum(worst, [logsumexp(order * p + (1.0 - order) * q) / (order - 1.0) for order in orders])
    return worst


def compare(divergence: Callable[[int, float, float], float], cases: list[Case], orders: Array) -> tuple[int, float]:
    """How many comparisons, and the largest of exact / bound."""
    settings = [case.setting for case in cases]
    bounds = np.array(
        [[divergence(setting.n, setting.randomizer.epsilon0, float(order)) for order in orders] for setting in settings]
    )
    found = np.array([exact(case, orders) for case in cases])
    return bounds.size, float(np.max(found / bounds))


@pytest.mark.parametrize(
    ("name", "status", "divergence", "cases", "orders"),
    [
        (
            "girgis-2021 (Renyi)",
            "unproven",
            girgis.divergence,
            many,
            np.array([2.0, 3.0, 5.0, 8.0, 16.0, 40.0]),
        ),
        (
            "feldman-2020-clones-renyi (Renyi)",
            "proven",
            clones_renyi.divergence,
            few,
            np.array([1.5, 8.0]),
        ),
    ],
)
def test_the_exact_divergence_is_at_most_the_bound(
    name: str,
    status: str,
    divergence: Callable[[int, float, float], float],
    cases: Callable[[], list[Case]],
    orders: Array,
    record_property: Callable[[str, object], None],
) -> None:
    count, tightest = compare(divergence, cases(), orders)
    record_property("literature", list(Row(name, status, "upper", count, 0, 0, math.log(tightest), 0)))
    assert tightest <= 1.0 + 1e-9
