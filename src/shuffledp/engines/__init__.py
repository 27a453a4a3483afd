"""Encode and count where the data are: on an engine that has them already. ``from
shuffledp.engines import spark`` loads that engine, and no other.

batch          an Arrow batch of values -> one of reports, or of sums; no engine is imported
spark          Spark: encode, count, survey, release, search
spark_commit   reports drawn once and committed, and the work folder that they lie in
spark_column   a column of a frame: looked at, surveyed, one row chosen of each person
spark_session  a session, opened and looked over, and what it says when it fails
beam           Apache Beam: transforms from batches of values to reports, and to their counts
beam_commit    what makes a drawing stand, and finds ids that stand twice; no engine is imported
"""

from typing import TYPE_CHECKING

from shuffledp._lazy import lazy

if TYPE_CHECKING:
    from shuffledp.engines import batch as batch
    from shuffledp.engines import beam as beam
    from shuffledp.engines import spark as spark

__all__, __getattr__, __dir__ = lazy(__name__, {f"engines.{each}": each for each in ("batch", "beam", "spark")})
