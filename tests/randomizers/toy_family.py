"""A family from outside the package, in one file: a negative survey, in which people name a value
that is not theirs (Esponda and Guerrero 2009). It is here to show all that a stranger has to write.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.names import over_domain
from shuffledp.randomizers.parameters import check_domain, check_epsilon0, check_indices, checked
from shuffledp.randomizers.support import Form, MixingRandomizer, histogram, hypergeometric
from shuffledp.sampling import bernoulli, smallest_dtype, uniform


@dataclass(frozen=True, slots=True, kw_only=True)
class NegativeSurvey(MixingRandomizer):
    """A uniformly random value, or surely not the input: it votes for all but the one it names."""

    k: int = field(metadata=checked(check_domain))
    epsilon0: float = field(metadata=checked(check_epsilon0))

    def overlaps(self):
        return (hypergeometric(self.k, self.k - 1),)

    @property
    def share(self):
        return Fraction(self.k - 1, self.k)

    @property
    def stray(self):
        return Fraction(self.k - 2, self.k - 1)

    @property
    def form(self):
        return Form(smallest_dtype(self.k), outputs=self.k)

    def check_reports(self, reports):
        return check_indices("reports", reports, self.k, remedy="A report is one of the k values.")

    def _draw(self, source, values):
        other = (values + 1 + uniform(source, self.k - 1, len(values)).astype(np.int64)) % self.k
        noisy = bernoulli(source, self.threshold, len(values))
        return np.where(noisy, uniform(source, self.k, len(values)), other)

    def _tally(self, reports):
        return len(reports) - histogram(reports, self.k)

    def favours(self, reports, values):
        return reports != values

    def describe(self):
        return {"randomizer": "negative", "k": self.k, "epsilon0": self.epsilon0}


FAMILY = Family(
    make=NegativeSurvey,
    law="negative",
    parameters=("k", "epsilon0"),
    names=(over_domain("negative", "negative survey", NegativeSurvey),),
)
register(FAMILY)
