"""Randomizer, encoder, estimator, and the privacy of all three together.

tasks                what can be asked: histogram, mean, quantile, and yours
design               a question and its noise, written down: plain data that everybody agrees on
lazily               a field that may be left out, and is then worked out once
bag                  ``Reports``, what users send, and ``Bag``, what the shuffler releases of it
protocol             ``Protocol``: encode -> shuffle -> analyse, and the guarantee of what ran
message_protocol     several messages of each person, or dummies of the shuffler
settling             from a design to its protocol, and to what is certified of it
categories           the answers that a question admits
rounding             numbers as points of a grid
histogram            counts of categories, from one noisy message of each user
faked_protocol       questions among fakes: the choice of their noise, and whether it is there
dummy_histogram      counts from true values among fakes of users, or of the shuffler
crosstab             counts of every combination of several columns' categories
sums                 sums, means, statistical queries
count                how many hold a value, by +1 and -1 messages
split_and_mix        sums and means by shares that say nothing one by one
binning              cut points, and the bins into which numbers fall
quantiles            distribution functions
faked_tables         crosstabs and distribution functions from true values among fakes
planning             every protocol that fits a task, side by side
plan_options         which protocols are compared for a task

A name is loaded when it is first asked for: a client who reads a design needs no accountant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shuffledp._lazy import lazy

if TYPE_CHECKING:
    from shuffledp.mechanisms.curator import CentralHistogram, CentralMean, CentralSum
    from shuffledp.mechanisms.estimate import Estimate, Interval
    from shuffledp.protocols.bag import Bag, Reports
    from shuffledp.protocols.count import SignedCount
    from shuffledp.protocols.crosstab import Crosstab
    from shuffledp.protocols.design import Design
    from shuffledp.protocols.dummy_histogram import DummyHistogram, FakesHistogram
    from shuffledp.protocols.histogram import Histogram, LocalHistogram
    from shuffledp.protocols.planning import Option, Plan, plan
    from shuffledp.protocols.protocol import Protocol
    from shuffledp.protocols.quantiles import Quantiles
    from shuffledp.protocols.split_and_mix import SplitMean, SplitSum
    from shuffledp.protocols.sums import LocalMean, Mean, StatisticalQuery, Sum
    from shuffledp.training.descent import BallsAndBins, ShuffledSGD

__all__ = [
    "Bag",
    "BallsAndBins",
    "CentralHistogram",
    "CentralMean",
    "CentralSum",
    "Crosstab",
    "Design",
    "DummyHistogram",
    "Estimate",
    "FakesHistogram",
    "Histogram",
    "Interval",
    "LocalHistogram",
    "LocalMean",
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
        "mechanisms.curator": "CentralHistogram CentralMean CentralSum",
        "protocols.crosstab": "Crosstab",
        "protocols.count": "SignedCount",
        "protocols.design": "Design",
        "protocols.dummy_histogram": "DummyHistogram FakesHistogram",
        "mechanisms.estimate": "Estimate Interval",
        "protocols.histogram": "Histogram LocalHistogram",
        "protocols.planning": "Option Plan plan",
        "protocols.bag": "Bag Reports",
        "protocols.protocol": "Protocol",
        "protocols.quantiles": "Quantiles",
        "training.descent": "BallsAndBins ShuffledSGD",
        "protocols.split_and_mix": "SplitMean SplitSum",
        "protocols.sums": "LocalMean Mean StatisticalQuery Sum",
    },
)
