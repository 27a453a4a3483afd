"""The questions of the command line, asked from Python: values in memory or in a file go in, a
release comes out.

The same code answers both, so what is refused there is refused here, in the same sentence, with
arguments in place of options. Nothing but the ledger is written until the release is saved.

python_arguments  arguments as Python gives them, read into the parts of a question
answered          a question's column is opened and read, and the release made
of_values         ``sdp.histogram``, ``sdp.frequency``, ``sdp.count``
of_numbers        ``sdp.mean``, ``sdp.sum``, ``sdp.quantile``
of_columns        ``sdp.crosstab``
of_words          ``sdp.top``
"""

from shuffledp.collection.door.of_columns import crosstab
from shuffledp.collection.door.of_numbers import mean, quantile, sum
from shuffledp.collection.door.of_values import count, frequency, histogram
from shuffledp.collection.door.of_words import top

__all__ = ["count", "crosstab", "frequency", "histogram", "mean", "quantile", "sum", "top"]
