"""Cheu, Smith, Ullman, Zeber and Zhilyaev 2019, arXiv 1808.01394: binary randomized response in the
shuffled model.
"""

import math

from shuffledp.literature.bound import Published, Setting, require


def epsilon(n: int, epsilon0: float, delta: float) -> float:
    """Corollary 4.7: sqrt(32 log(4/delta) / x) (1 - x/n), where x = lam - sqrt(2 lam log(2/delta))
    and lam = 2n/(E+1), the mean number of users who answer at random, for lam >= 14 log(4/delta).

    The number of ones among s random answers stays within sqrt(s log(4/delta)/2) of s/2 (Hoeffding,
    delta/2), so for s > 8 log(4/delta) one more changes the odds by at most 1 + sqrt(32
    log(4/delta)/s) (Claim 4.4). The target is among them with probability s/n, and then says
    nothing (Claim 4.5). s >= x but for delta/2 (Chernoff), and x > 8 log(4/delta), as 14 - sqrt(28)
    > 8.
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
    where="Cor 4.7 of version 3",
    covers="binary randomized response",
    conditions="2n/(e^epsilon0 + 1) >= 14 log(4/delta)",
    status="proven",
    epsilon_at=_epsilon,
)

BOUNDS = (CHEU,)
