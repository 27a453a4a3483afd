"""Cheu, Smith, Ullman, Zeber and Zhilyaev 2019, arXiv 1808.01394: binary randomized response in the
shuffled model.
"""

import math

from shuffledp.literature.bounds.published import Published, Setting, require

__all__ = ["BOUNDS", "CHEU", "epsilon"]


def epsilon(n: int, epsilon0: float, delta: float) -> float:
    """sqrt(32 log(4/delta) / x) (1 - x/n), where x = lam - sqrt(2 lam log(2/delta)) and lam =
    2n/(E+1), the mean number of users who answer at random.

    For lam >= 14 log(4/delta). Reconstructed: the square root was seen in public code, the last
    factor and the 14 were not seen in any source.
    """
    lam = 2.0 * n * math.exp(-epsilon0) / (1.0 + math.exp(-epsilon0))
    least = 14.0 * math.log(4.0 / delta)
    require(lam >= least, f"2n/(e^epsilon0 + 1) must be at least 14 log(4/delta) = {least:.4g}", f"{lam:.4g}")
    x = lam - math.sqrt(2.0 * lam * math.log(2.0 / delta))
    truthful = math.tanh(epsilon0 / 2.0)  # 1 - lam/n
    return math.sqrt(32.0 * math.log(4.0 / delta) / x) * (truthful + (lam - x) / n)


def _epsilon(setting: Setting, delta: float) -> float:
    randomizer = setting.krr
    require(randomizer.binary, "it is about binary randomized response", randomizer)
    return epsilon(setting.n, setting.epsilon0, delta)


CHEU = Published(
    name="cheu-2019",
    paper="Cheu et al. 2019",
    where="binary randomized response",
    covers="binary randomized response",
    conditions="2n/(e^epsilon0 + 1) >= 14 log(4/delta)",
    status="unproven",
    remark=(
        "reconstructed: the theorem's text was not seen, and the constant 14 and the factor 1 - x/n are from "
        "memory; it held in every exact comparison"
    ),
    epsilon_at=_epsilon,
)

BOUNDS = (CHEU,)
