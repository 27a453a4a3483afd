"""Reading a million rows takes far less memory than they would: measured by the system, in a
process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

ROWS = 1_000_000
MEMORY = 1 << 22  # bytes that values and fingerprints may take each; the fingerprints are 16 MB
# Megabytes beyond what a thousand rows took, about 1.8 times as many as when this was written: blocks of a text
# file of 130 MB are read ahead.
MOST = {("csv", ""): 270, ("csv", "who"): 400, ("parquet", ""): 32, ("parquet", "who"): 180}
LIMIT = 4 << 30  # of addresses, libraries and threads included: what runs away is stopped
CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
import numpy as np
from pathlib import Path
from shuffledp.tables import Places, open_column, read
from shuffledp.tables.formats import open_table

def people(file, ids):
    column = open_column(open_table(file), "answer", kind="text", ids=ids)
    with read(column, Places(("yes", "no")), memory={memory}, folder=Path(sys.argv[3])) as values:
        return values.count, values.repeated

def peak():  # of this program alone; ru_maxrss remembers the one that started it
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) * 1024

ids = sys.argv[4] or None
few = people(sys.argv[1], ids)
before = peak()
many = people(sys.argv[2], ids)
print(*few, *many, peak() - before)
"""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A thousand rows and a million, each with a wide column that is not asked for; every tenth row
    is of somebody who had the row before.
    """
    folder = tmp_path_factory.mktemp("tables")
    for name, rows in (("few", 1000), ("many", ROWS)):
        place = np.arange(rows)
        who = np.char.add("person-", (place - (place % 10 == 9)).astype(str))
        table = pa.table(
            {"who": who, "answer": np.where(place % 3 == 0, "no", "yes"), "text": pa.array(["x" * 100] * rows)}
        )
        pyarrow.csv.write_csv(table, folder / f"{name}.csv")
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet", row_group_size=100_000)
    return folder


@pytest.mark.parametrize("ids", ["", "who"], ids=["rows", "persons, spilled"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_million_rows_are_read_in_bounded_memory(form: str, ids: str, tables: Path, tmp_path: Path) -> None:
    words = [str(tables / f"few.{form}"), str(tables / f"many.{form}"), str(tmp_path), ids]
    program = CHILD.format(limit=LIMIT, memory=MEMORY)
    run = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-500:]
    *counts, more = run.stdout.split()
    expected = ["900", "100", "900000", "100000"] if ids else ["1000", "None", str(ROWS), "None"]
    assert counts == expected
    assert int(more) < MOST[form, ids] << 20, f"{int(more) >> 20} MB"
