"""Wang, Peng, Li, Wen, Li, Yu, Wang and Yang 2023, arXiv 2304.05007: the "variation-ratio"
reduction.

The target reports one of two symbols with probabilities p a and a, where a = beta/(p-1) and beta is
the total variation of its two laws, and "other" with the rest. Every other user reports each of the
two symbols with probability r = a p/q, and "other" with the rest, as in the authors' released code
(github.com/wangsw/PrivacyAmplification). For any eps0-LDP randomizer p = q = E and beta =
(E-1)/(E+1), so a = r = 1/(E+1), the target never reports "other", and the pair is that of "stronger
clones": see ``certified.ANY_RANDOMIZER``.
"""

import math

import numpy as np

from shuffledp.accounting.curves import Envelope
from shuffledp.accounting.haystack import Haystack
from shuffledp.literature.bound import Published, Setting, require
from shuffledp.randomizers.randomizer import Atoms


def krr_pair(k: int, epsilon0: float) -> Atoms:
    """The reduction's pair for k-RR: p = q = E, beta = (E-1)/(E+k-1).

    For k >= 3 it is a dataset, that in which all others hold a third value, with all outputs but
    two merged: a *lower* bound. For k = 2 it is the pair of the any-randomizer theorem.
    """
    rare = 1.0 / (math.exp(epsilon0) + k - 1.0)
    common, other = math.exp(epsilon0) * rare, (k - 2.0) * rare
    return Atoms(
        f"variation ratio of {k}-RR",
        np.array([rare, rare, 1.0 - 2.0 * rare]),
        np.array([common, rare, other]),
        np.array([rare, common, other]),
    )


def _curve(setting: Setting) -> Envelope:
    krr = setting.krr
    require(krr.k >= 3, "k must be at least 3 (for k = 2 it is the pair of the any-randomizer theorem)", krr.k)
    return Envelope([Haystack.of(krr_pair(krr.k, krr.epsilon0), setting.n)], "upper", krr.epsilon0)


VARIATION_RATIO_KRR = Published(
    name="wang-2023-variation-ratio-krr",
    paper="Wang et al. 2023",
    where="variation-ratio reduction with the parameters of k-RR",
    covers="k-ary randomized response",
    conditions="k >= 3",
    status="invalid",
    remark=(
        "n = 6, k = 3, epsilon0 = 1: delta(0.9) = 2.10e-4, exactly 3.48e-3; it is what one dataset leaks, all "
        "others holding a third value"
    ),
    epsilon_at=lambda setting, delta: _curve(setting).meets(delta),
    delta_at=lambda setting, epsilon: float(_curve(setting)(np.array([epsilon]))[0]),
)
BOUNDS = (VARIATION_RATIO_KRR,)
