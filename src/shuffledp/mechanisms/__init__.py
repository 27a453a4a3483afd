"""How reports hide, and what is estimated from what arrives. A mechanism wraps a law of
``randomizers``; which one wraps which says ``MECHANISMS``.

mechanism        ``Mechanism``, and ``Target``: whom it hides among, and how well
one_message      everybody sends one noisy message
fakes            people add fakes to their true messages
dummies          the shuffler adds dummies to true messages
tree             dummies on all levels of a tree of bins at once
levels           one of several levels of bins
signed_units     +1 and -1 messages
split_and_mix    shares of a number that say nothing one by one
grids            the steps of a grid on which numbers are reported
noise_search     the fewest fakes that keep a promise
rows             the law of estimated rows
exact_limits     limits where a normal law will not do
shares           of those in a group, which share is in one of its cells
estimate         ``Estimate``: values, standard errors, intervals
best_curator     the best that a trusted curator does, by name
best_local       the best that lone reports do, by name
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shuffledp.mechanisms.mechanism import Mechanism

__all__ = ["MECHANISMS", "mechanism_of"]

MECHANISMS = {  # by the law: the module and the class of its mechanism; all other laws are of one message
    "UserFakes": ("fakes", "Fakes"),
    "ShufflerDummies": ("dummies", "Dummies"),
    "TreeDummies": ("tree", "Tree"),
    "OneLevel": ("levels", "Levels"),
    "SignedUnits": ("signed_units", "Signed"),
    "SplitShares": ("split_and_mix", "Split"),
}


def mechanism_of(law: Any) -> Mechanism:
    """The mechanism whose reports are drawn by ``law``."""
    module, name = MECHANISMS.get(type(law).__name__, ("one_message", "OneMessage"))
    kind = getattr(import_module(f"{__name__}.{module}"), name)
    mechanism: Mechanism = kind(law)
    return mechanism
