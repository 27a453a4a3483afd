"""Randomizer, encoder, estimator, and the privacy of all three together.

base          ``Protocol``: encode -> shuffle -> analyse, and the guarantee of what ran; ``Bag``
estimate      ``Estimate``: values, standard errors, intervals
histogram     counts of a few categories       frequency   counts of very many
summation     sums, means, statistical queries
baselines     the same by a trusted curator, whose guarantee is in central; without a shuffler:
              ``LocalHistogram``, ``LocalMean``
plan          every protocol that fits a task, side by side
gaussian      the analytic Gaussian mechanism
sgd           noisy gradient descent over shuffled data; its privacy in one_pass, its noise in
              grid_noise, an example in data
"""

from __future__ import annotations

from shuffledp.protocols.baselines.curator import CentralHistogram, CentralMean, CentralSum
from shuffledp.protocols.estimate import Estimate, Interval
from shuffledp.protocols.frequency import Frequency
from shuffledp.protocols.histogram import Histogram, LocalHistogram
from shuffledp.protocols.planning import Option, Plan, plan
from shuffledp.protocols.protocol import Bag, Protocol, Reports
from shuffledp.protocols.sgd.descent import ShuffledSGD
from shuffledp.protocols.sums import LocalMean, Mean, StatisticalQuery, Sum

__all__ = [
    "Bag",
    "CentralHistogram",
    "CentralMean",
    "CentralSum",
    "Estimate",
    "Frequency",
    "Histogram",
    "Interval",
    "LocalHistogram",
    "LocalMean",
    "Mean",
    "Option",
    "Plan",
    "Protocol",
    "Reports",
    "ShuffledSGD",
    "StatisticalQuery",
    "Sum",
    "plan",
]
