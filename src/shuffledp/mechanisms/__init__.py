"""How reports hide, and what is estimated from what arrives. A mechanism wraps a law of
``randomizers``, and is asked for by the name of that law; if none is named, it is the first of the
question's ``choices``.

mechanism        ``Mechanism``, and ``Target``: whom it hides among, and how well
results          ``Tally``, what reports add up to
shuffler         ``Reports``, what people send, and ``Bag``, what the shuffler releases of it
one_message      everybody sends one noisy message
fakes            people add fakes to their true messages
dummies          the shuffler adds dummies to true messages
tree             dummies on all levels of a tree of bins at once
levels           one of several levels of bins
report_sums      sums of a weight per report, of levels and of matrices
signed_units     +1 and -1 messages
split_and_mix    shares of a number that say nothing one by one
grids            the steps of a grid on which numbers are reported
noise_search     the fewest fakes that keep a promise
rows             the law of estimated rows
exact_limits     limits where a normal law will not do
shares           of those in a group, which share is in one of its cells
estimate         ``Estimate``: values, standard errors, intervals
baselines        the best that a trusted curator does, and lone reports do, by name
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shuffledp.errors import InvalidInput, check_taken

if TYPE_CHECKING:
    from shuffledp._types import View
    from shuffledp.mechanisms.mechanism import Mechanism, Target

__all__ = ["calibrate", "kind_of", "mechanism_of"]

KNOWN = {  # by their names, their laws, and the module and the class; all others are of one message
    "fakes": ("UserFakes", "fakes", "Fakes"),
    "dummies": ("ShufflerDummies", "dummies", "Dummies"),
    "tree": ("TreeDummies", "tree", "Tree"),
    "levels": ("OneLevel", "levels", "Levels"),
    "signed": ("SignedUnits", "signed_units", "Signed"),
    "split": ("SplitShares", "split_and_mix", "Split"),
}
NAMES = {law: name for name, (law, _, _) in KNOWN.items()}


def kind_of(name: str) -> type[Mechanism]:
    """The mechanism of that name."""
    _, module, class_name = KNOWN.get(name, ("", "one_message", "OneMessage"))
    kind: type[Mechanism] = getattr(import_module(f"{__name__}.{module}"), class_name)
    return kind


def mechanism_of(law: Any, view: View = "reports") -> Mechanism:
    """The mechanism whose reports are drawn by ``law``."""
    return kind_of(NAMES.get(type(law).__name__, ""))(law, view)


def calibrate(question: Any, target: Target, name: str | None = None, **choices: Any) -> Mechanism:
    """The least noise with which the mechanism of this name, or the usual one, answers ``question``
    and meets the target.
    """
    known = question.choices or question.mechanisms
    if name is not None and str(name) not in known:  # it may be anything
        raise InvalidInput(
            f"the mechanism must be one of {', '.join(known)} for a {question}, got {name!r}. Leave it out for the "
            f"usual one."
        )
    name = known[0] if name is None else name
    if "view" in choices and not kind_of(name).has_sums(name):
        raise InvalidInput(
            f'the view "sums" must be of the mechanism oue, got {name}. Its reports are bits, one for each category; '
            f"others are not added up."
        )
    kind = kind_of(name)
    if choices:
        check_taken(kind.calibrate, choices, f"a {question} by {name}", *question.field_names())
    return kind.calibrate(question, target, name, **choices)
