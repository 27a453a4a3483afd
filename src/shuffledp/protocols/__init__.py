"""Randomizer, encoder, estimator, and the privacy of all three together.

bag                  ``Reports``, what users send, and ``Bag``, what the shuffler releases of it
protocol             ``Protocol``: encode -> shuffle -> analyse, and the guarantee of what ran
message_protocol     several messages of each person, or dummies of the shuffler
settling             from a design to its protocol, and to what is certified of it
histogram            counts of categories, from one noisy message of each user
crosstab             counts of every combination of several columns' categories
sums                 sums, means, statistical queries
count                how many hold a value, by +1 and -1 messages
quantiles            distribution functions
planning             every protocol that fits a task, side by side
plan_options         which protocols are compared for a task

A name is loaded when it is first asked for: a client who reads a design needs no accountant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shuffledp._lazy import lazy

if TYPE_CHECKING:
    from shuffledp.mechanisms.estimate import Estimate, Interval
    from shuffledp.protocols.bag import Bag, Reports
    from shuffledp.protocols.count import SignedCount
    from shuffledp.protocols.crosstab import Crosstab
    from shuffledp.protocols.histogram import DummyHistogram, FakesHistogram, Histogram
    from shuffledp.protocols.planning import Option, Plan, plan
    from shuffledp.protocols.protocol import Protocol
    from shuffledp.protocols.quantiles import Quantiles
    from shuffledp.protocols.sums import Mean, SplitMean, SplitSum, StatisticalQuery, Sum
    from shuffledp.training.descent import BallsAndBins, ShuffledSGD

__all__ = [
    "Bag",
    "BallsAndBins",
    "Crosstab",
    "DummyHistogram",
    "Estimate",
    "FakesHistogram",
    "Histogram",
    "Interval",
    "Mean",
    "Option",
    "Plan",
    "Protocol",
    "Quantiles",
    "Reports",
    "ShuffledSGD",
    "SignedCount",
    "SplitMean",
    "SplitSum",
    "StatisticalQuery",
    "Sum",
    "plan",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "protocols.crosstab": "Crosstab",
        "protocols.count": "SignedCount",
        "mechanisms.estimate": "Estimate Interval",
        "protocols.histogram": "DummyHistogram FakesHistogram Histogram",
        "protocols.planning": "Option Plan plan",
        "protocols.bag": "Bag Reports",
        "protocols.protocol": "Protocol",
        "protocols.quantiles": "Quantiles",
        "training.descent": "BallsAndBins ShuffledSGD",
        "protocols.sums": "Mean SplitMean SplitSum StatisticalQuery Sum",
    },
)
