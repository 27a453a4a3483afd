"""Data to try things out on: a real survey with a sensitive question, and a made-up population of
any size. PROVENANCE.md says where both come from.
"""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from shuffledp.errors import check_count
from shuffledp.storage.files import check_new_folder, new_folder

__all__ = ["CITIES", "FILES", "write_examples"]

FILES = {
    "affairs.csv": "6,366 answers of married women from 1974: a real survey (see PROVENANCE.md)",
    "people.parquet": "a made-up population with cities and ages",
    "cities.txt": "its cities, one per line",
    "PROVENANCE.md": "where both come from",
}
CITIES = (
    "Lagos",
    "Lima",
    "Delhi",
    "Cairo",
    "Paris",
    "Osaka",
    "Quito",
    "Tunis",
    "Sofia",
    "Leeds",
    "Basel",
    "Turku",
    "elsewhere",
)
SEED = 19740615
BATCH = 1 << 20
MOST_PEOPLE = 10**9
REMEDY = "It counts the rows of the made-up population; 1000000 is usual."


def write_examples(folder: Path, *, people: int = 1_000_000, replace: bool = False) -> None:
    """Write affairs.csv (real), people.parquet (made up), cities.txt and PROVENANCE.md into a new
    ``folder``.
    """
    people = check_count("people", people, least=1, most=MOST_PEOPLE, remedy=REMEDY)
    mine = FILES if replace else ()
    check_new_folder(folder, replacing=mine)

    def fill(place: Path) -> None:
        for name in ("affairs.csv", "PROVENANCE.md"):
            with as_file(files(__name__) / name) as source:
                shutil.copyfile(source, place / name)
        (place / "cities.txt").write_text("\n".join(CITIES) + "\n", encoding="utf-8")
        _write_people(place / "people.parquet", people)

    new_folder(folder, fill, replacing=mine)


def _write_people(path: Path, rows: int) -> None:
    """Cities by a law that falls like 1 / rank, ages from 18 to 96 with a peak near 40; one row in
    200 has no city.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    weights = 1.0 / np.arange(1.0, len(CITIES) + 1.0)
    borders = np.cumsum(weights / weights.sum())[:-1]
    raw = np.random.PCG64(SEED)
    schema = pa.schema({"city": pa.dictionary(pa.int32(), pa.string()), "age": pa.float64()})
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, BATCH):
            uniform = (raw.random_raw(5 * min(BATCH, rows - start)) >> np.uint64(11)) * 2.0**-53
            city, absent, *age = uniform.reshape(5, -1)
            places = pa.array(np.searchsorted(borders, city, side="right").astype(np.int32), mask=absent < 0.005)
            ages = 18.0 + np.floor(79.0 * np.minimum(np.minimum(age[0], age[1]) * 0.7 + 0.3 * age[2], 0.999))
            writer.write_table(pa.table([pa.DictionaryArray.from_arrays(places, list(CITIES)), ages], schema=schema))
