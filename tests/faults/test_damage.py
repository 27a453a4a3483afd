"""Files that were cut off or changed on their way: refused in one line, or read as they were; never
a crash, a hang, or somebody lost.
"""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from shuffledp.tables.columns import open_column
from shuffledp.tables.reports import open_reports
from shuffledp.tables.values import Places, read
from tests.cli.people import ABSENT, CITIES, PEOPLE, PROMISE, people
from tests.faults.runner import Runner
from tests.tables.tables import FORMATS, Write, as_arrow_file, as_arrow_stream, as_csv

PREFIXES, FLIPS = 15, 24
UNSEALED = (
    as_csv,
    as_arrow_file,
    as_arrow_stream,
)  # formats without checksums: another value may look like an honest one
Record = Callable[[str, object], None]


@pytest.fixture(scope="module")
def design(runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "design.json"
    runner.warm(
        "stage",
        "design",
        "histogram",
        "--categories",
        ",".join(CITIES),
        "--n",
        PEOPLE + ABSENT,
        "--honest",
        "90%",
        *PROMISE,
        "--out",
        path,
    )
    return path


def prefixes(content: bytes) -> list[bytes]:
    """The beginnings of a file; the last ones lack a byte or two."""
    return [
        content[:size]
        for size in sorted(
            {*np.linspace(0, len(content) - 3, PREFIXES).astype(int).tolist(), len(content) - 2, len(content) - 1}
        )
    ]


def flips(content: bytes, seed: int) -> list[bytes]:
    """The file with one bit changed: anywhere, and, where its structure is described, at its
    beginning and end.
    """
    draw, size = random.Random(seed), len(content)
    places = [draw.randrange(size) for _ in range(FLIPS // 2)] + [
        draw.randrange(max(0, size - 1500), size) for _ in range(FLIPS // 3)
    ]
    places += [draw.randrange(min(size, 400)) for _ in range(FLIPS - len(places))]
    return [
        content[:place] + bytes([content[place] ^ (1 << draw.randrange(8))]) + content[place + 1 :] for place in places
    ]


def refused(code: int, said: str) -> bool:
    """Whether it was refused; anything but that or an answer fails the test."""
    assert code in (0, 2), (code, said)
    assert "nan" not in said.lower()
    if code == 2:
        assert said.startswith(("error: ", '{"error": ')), said
        assert said.count("\n") == 1, said
        assert len(said) < 600, said
    return code == 2


def values_in(path: Path) -> NDArray[np.int64]:
    with read(open_column(str(path), "city", kind="text"), Places(CITIES)) as values:
        return np.concatenate([chunk.astype(np.int64) for chunk in values.chunks()])


def damage(place: Path, content: bytes, seed: int) -> list[Path]:
    """Files that are damaged in one way each; the last one is whole."""
    place.mkdir()
    files = []
    for number, each in enumerate([*prefixes(content), *flips(content, seed), content]):
        files.append(place / f"file-{number}")
        files[-1].write_bytes(each)
    return files


def answered(runner: Runner, commands: list[tuple[object, ...]]) -> Iterator[tuple[int, str]]:
    """What became of each command; if one crashed or hung, the test says which."""
    answers = runner.one_by_one(*commands)
    assert len(answers) == len(commands), f"this one never answered: {commands[len(answers)]}"
    assert answers[-1][0] == 0, "the file that is whole is read"
    yield from answers


@pytest.mark.parametrize("write", FORMATS, ids=lambda write: write.__name__)
def test_a_damaged_table_is_refused_or_read_as_it_was(
    runner: Runner, design: Path, tmp_path: Path, record_property: Record, write: Write
) -> None:
    write(tmp_path / "table", people())
    content, truth = (tmp_path / "table").read_bytes(), values_in(tmp_path / "table")
    files = damage(tmp_path / "damaged", content, 5)
    commands = [
        ("stage", "encode", file, "--design", design, "--column", "city", "--out", tmp_path / file.name, "--json")
        for file in files
    ]
    refusals = read = 0
    for file, (code, said) in zip(files, answered(runner, commands), strict=True):
        out = tmp_path / file.name
        assert out.exists() != refused(code, said)
        if not out.exists():
            refusals += 1
            continue
        read += 1
        reports = json.loads(said)["reports"]
        assert open_reports(out).count == reports
        if write is as_csv and file.stat().st_size < len(content):
            continue  # a text that ends early is a shorter text: nothing can tell
        if write in UNSEALED:
            assert abs(reports - PEOPLE) <= 1, "one bit concerns one person"
        else:
            assert np.array_equal(values_in(file), truth)
    assert refusals > FLIPS / 4
    record_property(
        f"fault: damaged {write.__name__.removeprefix('as_')}", f"{refusals} refused in one line, {read} read, no crash"
    )


@pytest.mark.parametrize("stage", ["encoded", "shuffled"])
def test_a_damaged_file_of_reports_is_refused_or_read_as_it_was(
    runner: Runner, design: Path, tmp_path: Path, record_property: Record, stage: str
) -> None:
    table, encoded, shuffled = (tmp_path / name for name in ("table", "encoded", "shuffled"))
    as_csv(table, people())
    runner.warm("stage", "encode", table, "--design", design, "--column", "city", "--out", encoded)
    runner.warm("stage", "shuffle", encoded, "--out", shuffled)
    votes = np.bincount(np.concatenate(list(open_reports(encoded).batches()))).tolist()
    files = damage(tmp_path / "damaged", (encoded if stage == "encoded" else shuffled).read_bytes(), 6)
    more = ("analyze", "shuffle")[stage == "encoded"]
    refusals = read = 0
    for file, (code, said) in zip(
        files,
        answered(runner, [("stage", more, file, "--out", tmp_path / file.name, "--json") for file in files]),
        strict=True,
    ):
        out = tmp_path / file.name
        assert out.exists() != refused(code, said)
        if not out.exists():
            refusals += 1
            continue
        read += 1
        found = (
            json.loads(said)["tally"]["votes"]
            if stage == "shuffled"
            else np.bincount(np.concatenate(list(open_reports(out).batches()))).tolist()
        )
        assert found == votes
    assert refusals > FLIPS / 2
    record_property(f"fault: damaged {stage} reports", f"{refusals} refused in one line, {read} read as they were")
