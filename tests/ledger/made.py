"""Releases for the tests of the ledger."""

from shuffledp import KRR, shuffle
from shuffledp.ledger import Entry
from shuffledp.randomizers.randomizer import Randomizer

DESIGN = "ab" * 32
LIMITS = {"limit_epsilon": 1.0, "limit_delta": 1e-6}
SURVEY = KRR(k=16, epsilon0=4.0)


def entry(
    randomizer: Randomizer = SURVEY, *, n: int = 10_000, rounds: int = 1, what: str = "histogram of city"
) -> Entry:
    """One mechanism; by default six of them fit into ``LIMITS``, and a seventh does not."""
    return Entry.of(shuffle(randomizer, n=n).compose(rounds), what=what, design=DESIGN, epsilon=2.0, delta=1e-6)
