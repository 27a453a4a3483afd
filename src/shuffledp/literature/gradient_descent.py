"""Noisy gradient descent in closed form (Feldman, McMillan and Talwar 2020, section 5.2): one pass
over permuted data, eq (12), and sampling with replacement, eq (13), after Bassily, Smith and
Thakurta 2014.

Our copy has lost both formulas, and no other source was found. These are proven here from what the
paper says they rest on, so the constants are ours. ``sigma`` is the noise in units of the
sensitivity 2L, as of ``Gaussian`` on [0, 1].

The local guarantee behind both: with mu = 1/sigma, N(0, sigma^2) is (mu^2/2 + mu t,
e^(-t^2/2)/2)-DP for every t >= 0, since its delta is at most Phi(-t).
"""

import math

from shuffledp.errors import DoesNotApply, check_delta, check_users
from shuffledp.literature.bound import Published, Setting, require
from shuffledp.literature.composition import advanced
from shuffledp.literature.feldman import closed_form
from shuffledp.literature.own_bounds import FELDMAN
from shuffledp.randomizers import Gaussian
from shuffledp.training.allocation import check_epochs


def equation_12(n: int, sigma: float, delta: float) -> float:
    """One pass over permuted data: log(1 + tanh(eps0/2) (8 sqrt(E log(8/delta)/n) + 8E/n)), where
    eps0 = mu^2/2 + mu sqrt(2 log(6n/delta)) and E = e^eps0; O(mu sqrt(log(1/delta) log(n/delta)/n))
    if eps0 is at most 1.

    Theorem 3.8 with delta0 = delta/(12 n): for eps <= 1 its addition (e^eps + 1)(1 + 1/(2E)) n
    delta0 is at most delta/2, and Theorem 3.1 has the other half.

    >>> round(equation_12(10**6, 4.0, 1e-6), 3)
    0.062
    """
    n, sigma = _checked(n, sigma, delta)
    value = closed_form(n, _local(sigma, delta / (12.0 * n)), delta / 2.0)
    require(value <= 1.0, "epsilon must be at most 1", f"{value:g}")
    return value


def equation_13(n: int, sigma: float, delta: float, epochs: int = 1) -> float:
    """``epochs`` n steps, each on a user drawn at random with replacement: each is (log(1 + (E -
    1)/n), delta0/n)-DP (amplification by subsampling) with delta0 = delta/(2 epochs), and advanced
    composition (Dwork and Roth 2014, Thm 3.20) has the other half of delta.

    >>> round(equation_13(10**6, 4.0, 1e-6), 3)
    0.015
    """
    (n, sigma), epochs = _checked(n, sigma, delta), check_epochs(epochs)
    part = delta / (2.0 * epochs)
    step = math.log1p(math.expm1(_local(sigma, part)) / n)
    return advanced(step, part / n, epochs * n, delta / 2.0)[0]


def _checked(n: object, sigma: object, delta: object) -> tuple[int, float]:
    users, _ = check_users(n)
    check_delta(delta)
    return users, Gaussian(sigma=sigma).sigma  # type: ignore[arg-type]


def _local(sigma: float, delta0: float) -> float:
    return 0.5 / sigma**2 + math.sqrt(max(-2.0 * math.log(2.0 * delta0), 0.0)) / sigma


def _epsilon(setting: Setting, delta: float) -> float:
    if isinstance(setting.randomizer, Gaussian):
        return equation_12(setting.n, setting.randomizer.sigma, delta)
    raise DoesNotApply(f"does not apply here: it is about Gaussian noise, got {setting.randomizer}.")


PROP_5_3 = Published(
    "feldman-2020-prop-5.3-reconstructed",
    "Prop 5.3, eq (12)",
    "Gaussian noise, also on vectors in a ball chosen adaptively in a secret random order",
    paper=FELDMAN,
    conditions="epsilon <= 1; as Thm 3.1 at delta/2, for epsilon0 = 1/(2 sigma^2) + sqrt(2 log(6n/delta)) / sigma",
    status="proven",
    remark="our copy has lost the formula; proven again from Thm 3.8, so the constants are ours",
    epsilon_at=_epsilon,
)
