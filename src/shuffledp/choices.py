"""Which row, which format, which spacing: words that several packages take, without NumPy."""

from typing import Literal

Keep = Literal["first", "random"]  # which row of a person with several
Format = Literal["csv", "parquet", "arrow"]  # of a table
Scale = Literal["linear", "log"]  # how bins grow
