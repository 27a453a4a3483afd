"""What this package proves, under the interface of the published bounds: certified upper ends, and
explicit datasets as lower ends.

Where two names stand for one number there is one description, and its remark names the other.
"""

import math
from collections.abc import Callable
from typing import Any

from shuffledp._types import Adversary, End
from shuffledp.accounting.curves import Envelope
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.shuffled import shuffle
from shuffledp.literature.bound import Published, Setting, enveloped, require
from shuffledp.randomizers import AnyDeletionLDP, AnyLDP, Randomizer
from shuffledp.randomizers.parameters import LARGEST_EPSILON0

FEW_CLONES = 30.0
SECONDS = 0.05, 0.3  # for one round, and for several
RARELY_TRUE, RARE_SECONDS = 1e-3, 4.0  # where reports rarely are, the strong view's largest loss is far out
Describe = Callable[[Setting], Guarantee]
ADAPTIVE = "any epsilon0-LDP randomizers, also adaptive in a secret random order"
FELDMAN = "Feldman, McMillan and Talwar 2020"


def _rounds(
    randomizer: Randomizer, setting: Setting, adversary: Adversary = "shuffled", n: int | None = None
) -> Guarantee:
    return shuffle(randomizer, n=setting.n if n is None else n, adversary=adversary).compose(setting.rounds)


def _any(setting: Setting) -> Guarantee:
    return _rounds(AnyLDP(epsilon0=setting.epsilon0), setting)


def _known(setting: Setting) -> Randomizer:
    require(setting.randomizer.known, "the randomizer itself must be known", setting.randomizer)
    return setting.randomizer


def _strong(setting: Setting) -> Guarantee:
    return _rounds(_known(setting), setting, "strong")


def _strong_seconds(setting: Setting) -> float:
    usual = cost(_strong, *SECONDS)(setting)
    return RARE_SECONDS if setting.rounds > 1 and setting.randomizer.gamma > 1.0 - RARELY_TRUE else usual


def _scan(setting: Setting) -> Guarantee:
    require(setting.krr.binary, "it is about binary randomized response", setting.randomizer)
    return _rounds(setting.krr, setting)


def _leaky(setting: Setting) -> Guarantee:
    randomizer = setting.randomizer
    epsilon0, delta0 = randomizer.replaced
    require(not randomizer.known and 0.0 < delta0 < 1.0, "it is about AnyLDP with delta0 > 0", randomizer)
    require(epsilon0 <= LARGEST_EPSILON0, f"epsilon0 must be at most {LARGEST_EPSILON0:g}", f"{epsilon0:g}")
    return _rounds(AnyLDP(epsilon0=epsilon0, delta0=delta0), setting)


def _deletion(setting: Setting) -> Guarantee:
    randomizer = setting.randomizer
    require(isinstance(randomizer, AnyDeletionLDP), "it is about AnyDeletionLDP", randomizer)
    return _rounds(randomizer, setting)


def clones_curve(n: int, epsilon0: float) -> Envelope:
    """Upper ends of delta(eps) of the clones pair (Feldman, McMillan and Talwar 2020, Thm 3.2)."""
    return Envelope([Haystack.of(AnyLDP(epsilon0=epsilon0).clones(), n)], "upper", epsilon0)


def slowness(setting: Setting) -> float:
    """How many times longer than usual an answer takes: while hardly anybody else makes noise, and
    for noise on a continuous scale.
    """
    epsilon0 = setting.randomizer.epsilon0
    return 10.0 if math.isinf(epsilon0) else 4.0 if setting.n * math.exp(-epsilon0) < FEW_CLONES else 1.0


def cost(covered: Callable[[Setting], object], one: float, many: float) -> Callable[[Setting], float]:
    """About how many seconds one round and several take, where the bound is about the randomizer
    at all: else ``covered`` refuses.
    """

    def seconds(setting: Setting) -> float:
        covered(setting.once())
        return slowness(setting) * (one if setting.rounds == 1 else many)

    return seconds


def declared(
    name: str, where: str, covers: str, describe: Describe, *, side: End = "upper", **described: Any
) -> Published:
    """The bound that one end of a guarantee is, for any number of rounds."""
    end = "at_most" if side == "upper" else "at_least"
    described = {"paper": "this package", "cost": cost(describe, *SECONDS), **described}
    return Published(
        name,
        where,
        covers,
        status="proven",
        side=side,
        rounds="any",
        epsilon_at=lambda setting, delta: getattr(describe(setting), f"epsilon_{end}")(delta=delta),
        delta_at=lambda setting, epsilon: getattr(describe(setting), f"delta_{end}")(epsilon=epsilon),
        **described,
    )


ANY_RANDOMIZER = declared(
    "shuffledp-any",
    "docs/theory.md, any-randomizer theorem; rounds as privacy loss distributions",
    ADAPTIVE,
    _any,
    remark=(
        'the number of "stronger clones" (Feldman, McMillan and Talwar 2022), whose own proof has an erratum, and '
        "of the generic variation-ratio bound"
    ),
)
DELETION = declared(
    "shuffledp-deletion",
    "docs/theory.md, deletion theorem; rounds as privacy loss distributions",
    "any deletion (epsilon0, delta0)-DP randomizers, also adaptive in a secret random order",
    _deletion,
)
CLONES = Published(
    "feldman-2020-clones-exact",
    "Thm 3.2, evaluated by this package",
    ADAPTIVE,
    paper=FELDMAN,
    status="proven",
    cost=cost(lambda setting: setting.epsilon0, 0.03, 0.03),
    **enveloped(lambda setting: clones_curve(setting.n, setting.epsilon0)),
)
LEAKY_CLONES = declared(
    "feldman-2020-thm-3.8-exact",
    "Thms 3.2 and 3.8, evaluated by this package",
    "any (epsilon0, delta0)-LDP randomizers with delta0 > 0, given as AnyLDP, also adaptive in a secret random order",
    _leaky,
    paper=FELDMAN,
)
BLANKET = declared(
    "balle-2019-blanket-exact",
    "Lemma 8, evaluated by this package; rounds as privacy loss distributions",
    "a known randomizer",
    lambda setting: _rounds(_known(setting), setting, "weak"),
    remark="also what the weak adversary (Koskela et al. 2021) learns, exactly",
    paper="Balle et al. 2019",
    adversary="weak",
)
SCAN = declared(
    "shuffledp-binary",
    "docs/theory.md, scan over all datasets; rounds as privacy loss distributions",
    "binary randomized response",
    _scan,
)
STRONG = declared(
    "shuffledp-strong",
    "docs/theory.md, exact view of the strong adversary",
    "a known randomizer",
    _strong,
    cost=_strong_seconds,
    remark="for a bound that holds against every adversary; looser than the blanket for the others",
    adversary="strong",
)
LOCAL = declared(
    "local",
    "one report without a shuffler, exactly; rounds as privacy loss distributions",
    "any randomizer",
    lambda setting: _rounds(setting.randomizer, setting, n=1),
    adversary="weak",
)
LOWER = declared(
    "shuffledp-lower",
    "explicit datasets, or the exact view of an adversary who sees more; rounds over one of them",
    "any randomizer",
    lambda setting: _rounds(setting.randomizer, setting, setting.adversary),
    side="lower",
)
BOUNDS = (ANY_RANDOMIZER, DELETION, CLONES, LEAKY_CLONES, BLANKET, SCAN, STRONG, LOCAL, LOWER)
