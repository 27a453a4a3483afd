"""What every certificate says, whatever its design: who is protected, against whom, and on what premises."""

__all__ = ["ADJACENCY", "ADVERSARY", "COUNTS", "ONE_ROW"]

ADJACENCY = "replace one: two data sets are neighbours if they differ in one person's value"
ADVERSARY = "the analyst, and whoever reads the results, sees the shuffled reports and nothing else"
ONE_ROW = "every row of the table is another person; who has several rows is protected less, as by a group of people"
COUNTS = "how many people report, and how many values are missing, may be known: both are published as they are"
