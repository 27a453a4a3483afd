"""Words to choose from that several packages take, named once, without NumPy."""

from typing import Literal

Keep = Literal["first", "random"]  # which row of a person with several
Format = Literal["csv", "parquet", "arrow"]  # of a table
Scale = Literal["linear", "log"]  # how bins grow
