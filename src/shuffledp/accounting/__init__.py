"""From one report's law to a certified guarantee.

accuracy           every gap and tolerance, each with its reason
haystack           a needle and its hay -> delta(epsilon), with both ends
reductions         randomizer + users + adversary -> the curves that bound the leak: theorems
pairs              the same for one pair of the target's inputs
curves             intervals and envelopes of curves; what surely lies below a convex curve
inversion          the epsilon at which a curve meets a delta
pld                curve -> privacy loss distribution -> many rounds
renyi              Renyi divergences from curves
guarantee          what is certified: epsilon, delta, and the curves between them, in words too
rounds             one round, given by its curves, and ``Rounds`` (which laws are composed)
accountant         different rounds added up
subsampling        a random sample of the users answers
views              whole reports, or only sums of bits
shuffled           ``shuffle``
groups             ``shuffle_groups``: every group of users with its own epsilon0
threshold          ``SampleAndThreshold``: counts of samples, published from a least count on
messages           several messages of everybody, and what fakes, noise in shares and mixing hide
calibration        the one unknown of a plan
interop            a guarantee for dp-accounting, and random allocation as one of its events
analytic_gaussian  how much noise an answer needs
"""

from shuffledp._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from shuffledp.accounting.calibration import Calibration as Calibration
    from shuffledp.accounting.groups import shuffle_groups as shuffle_groups
    from shuffledp.accounting.threshold import SampleAndThreshold as SampleAndThreshold

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "accounting.calibration": "Calibration",
        "accounting.groups": "shuffle_groups",
        "accounting.threshold": "SampleAndThreshold",
    },
)
