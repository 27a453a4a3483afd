"""The external shuffle is uniform, loses nobody, forgets everything but the multiset, and refuses
too few.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import shuffledp as sdp
from shuffledp.errors import InvalidInput
from shuffledp.sampling import SecureSource, SeededSource
from shuffledp.tables.permutation import SORTING, shuffle_files, shuffled
from shuffledp.tables.reports import Header, open_reports, write_reports
from shuffledp.tables.spool import Spool
from tests.sampling.enumerated import laws
from tests.tables.tables import small_files

DESIGN: dict[str, Any] = {"task": "histogram", "law": {"randomizer": "krr", "integers": ["123"]}}
ROW = SORTING + 3  # bytes that ordering a report of one byte takes
NAMES = itertools.count()


def encoded(
    folder: Path,
    rows: NDArray[Any],
    *,
    ids: pa.Array | None = None,
    design: dict[str, Any] = DESIGN,
    secure: bool = True,
) -> Path:
    path = folder / f"part{next(NAMES)}.reports"
    write_reports(path, Header.encoded(design, secure=secure), [(rows, ids)])
    return path


def rows_of(path: Path) -> NDArray[Any]:
    return np.concatenate(list(open_reports(path, stage="shuffled").batches()))


@pytest.mark.parametrize(
    "n, room, most_words", [(1, 1, 6), (2, 1, 6), (2, 2, 6), (3, 1, 9), (3, 2, 8), (4, 4, 4), (4, 3, 8), (4, 2, 10)]
)
def test_all_orders_have_exactly_the_same_probability(n: int, room: int, most_words: int) -> None:
    """All words, with ``room`` reports to a bucket: buckets, buckets that are split again, and
    orders within them.
    """
    people = np.arange(n, dtype=np.uint8)
    # the low bits choose a bucket: two of them, out of four or eight
    words = {"u1": [0, 3] if n > 2 else [0, 1, 2, 3], "u8": [j << 62 for j in range(4)] if room > 2 else [0, 1 << 63]}
    law, left = laws(
        lambda source: tuple(
            np.concatenate(list(shuffled([people[:1], people[1:]], n, 1, source=source, memory=room * ROW))).tolist()
        ),
        words,
        most_words=most_words,
    )
    assert set(law) == set(itertools.permutations(range(n)))
    assert len(set(law.values())) == 1
    assert sum(law.values(), Fraction(0)) + left == 1


@given(
    sizes=st.lists(st.integers(1, 200), min_size=1, max_size=5),
    room=st.integers(4, 300),
    width=st.sampled_from([(), (3,)]),
)
def test_the_multiset_is_kept_whatever_the_memory(sizes: list[int], room: int, width: tuple[int, ...]) -> None:
    rows = np.random.default_rng(sum(sizes)).integers(0, 200, (sum(sizes), *width), dtype=np.uint16)
    row_bytes = 2 * int(np.prod(width, dtype=int))
    chunks = np.split(rows, np.cumsum(sizes[:-1]))
    mixed = list(shuffled(chunks, len(rows), row_bytes, source=SecureSource(), memory=room * (SORTING + 3 * row_bytes)))
    assert Counter(map(bytes, np.concatenate(mixed))) == Counter(map(bytes, rows))


@pytest.mark.parametrize("room", [700, 30_000])
def test_where_people_end_up_is_uniform_and_independent_of_where_they_were(room: int) -> None:
    """20,000 people, in memory or through two levels of buckets: a table of old place by new place,
    and neighbours that stay neighbours.
    """
    people = np.arange(20_000, dtype=np.uint16)
    chunks = np.split(people, [5000, 5001, 12_000])
    mixed = np.concatenate(
        list(
            shuffled(chunks, len(people), 2, source=SeededSource(np.random.default_rng(3)), memory=room * (SORTING + 6))
        )
    )
    table = np.histogram2d(people, mixed, bins=10)[0]
    assert stats.chisquare(table.ravel(), ddof=18).pvalue > 1e-3
    assert np.count_nonzero(np.abs(np.diff(mixed.astype(np.int64))) == 1) < 12  # Poisson with mean 2


@pytest.mark.parametrize("memory", [1 << 28, 1 << 17])
def test_nothing_links_the_output_to_the_input(tmp_path: Path, memory: int) -> None:
    """Reports that are all distinct, so that each could be followed; an attacker who knows every
    file, order and id tries four links.
    """
    n, parts = 20_000, 8
    people = np.random.default_rng(4).permutation(n).astype(np.uint16)
    ids = [f"person-{i:08d}" for i in range(n)]
    paths = [
        encoded(tmp_path, part, ids=pa.array(names.tolist()))
        for part, names in zip(np.array_split(people, parts), np.array_split(np.array(ids), parts), strict=True)
    ]
    out = tmp_path / "out.reports"
    shuffle_files(paths, out, least=n, memory=memory, source=SeededSource(np.random.default_rng(5)))
    mixed = rows_of(out)
    place = np.empty(n, dtype=np.int64)
    place[mixed] = np.arange(n)
    now = place[people]  # where the report went that stood at 0, 1, ...
    sent_by = np.repeat(np.arange(parts), n // parts)
    assert abs(stats.pearsonr(np.arange(n), now).statistic) < 4 / np.sqrt(n)  # position
    assert abs(stats.pearsonr(now[:-1], now[1:]).statistic) < 4 / np.sqrt(n)  # neighbours
    assert (
        stats.chisquare(np.histogram2d(sent_by, now, bins=parts)[0].ravel(), ddof=2 * parts - 2).pvalue > 1e-3
    )  # files
    assert np.count_nonzero(now == np.arange(n)) < 8  # guessing that it stayed: Poisson with mean 1
    # ids, names of files and of batches are nowhere in the output, compressed or not
    assert pa.parquet.read_schema(out).names == ["report"]
    told = out.read_bytes() + mixed.tobytes()
    hidden = [
        b"person",
        *(path.name.encode() for path in paths),
        *(str(open_reports(path).header.batch).encode() for path in paths),
    ]
    assert not [each for each in hidden if each in told]


def test_files_of_the_same_multiset_differ_only_in_their_order(tmp_path: Path) -> None:
    """One file of equal reports, and the same from others, through buckets: equal outputs, byte for
    byte.
    """
    equal = np.full(7000, 5, dtype=np.uint8)
    shuffle_files([encoded(tmp_path, equal), encoded(tmp_path, equal[:1])], tmp_path / "a", least=1)
    shuffle_files(
        [encoded(tmp_path, equal[:6000]), encoded(tmp_path, equal[:1001])], tmp_path / "b", least=1, memory=1000
    )
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_header_of_the_output_says_what_went_in(tmp_path: Path) -> None:
    rows, ticks = np.arange(100, dtype=np.uint8), []
    paths = [encoded(tmp_path, rows), encoded(tmp_path, rows, secure=False)]
    made = shuffle_files(paths, tmp_path / "out", least=150, most=200, tick=ticks.append).file
    assert made == open_reports(tmp_path / "out", stage="shuffled")
    assert (made.count, sum(ticks), made.header.batches, made.header.secure, made.header.batch) == (
        200,
        200,
        2,
        False,
        None,
    )
    assert made.header.design == DESIGN
    assert shuffle_files(paths[:1], tmp_path / "out", least=1).file.header.secure


def test_reports_of_every_shape_are_shuffled(tmp_path: Path) -> None:
    for randomizer in (sdp.KRR(k=1000, epsilon0=2.0), sdp.OLH(k=100, epsilon0=2.0), sdp.RAPPOR(k=20, epsilon0=2.0)):
        reports = randomizer.randomize(np.arange(500) % randomizer.k)
        for memory in (1 << 20, 5000):
            shuffle_files(
                [encoded(tmp_path, reports)], tmp_path / "out", least=500, memory=memory, check=randomizer.check_reports
            )
            assert Counter(map(bytes, rows_of(tmp_path / "out"))) == Counter(map(bytes, reports))


def test_what_must_not_be_shuffled_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    rows, out = np.arange(100, dtype=np.uint8), tmp_path / "out"
    one = encoded(tmp_path, rows)
    other = encoded(
        tmp_path, rows, design={"task": "histogram", "law": {"randomizer": "krr", "integers": ["124"]}, "rounds": 1}
    )
    wide = encoded(tmp_path, rows.astype(np.uint16))
    copy = tmp_path / "copy.reports"
    copy.write_bytes(one.read_bytes())
    krr = sdp.KRR(k=50, epsilon0=1.0)
    cases: list[tuple[list[Path], dict[str, Any], str]] = [
        ([one], {"least": 101}, r"reports must number at least the 101 that were promised, got 100\. Wait for more"),
        ([one], {"least": 1, "most": 99}, "reports must number at most the 99 people that the design knows, got 100"),
        ([one, other], {"least": 1}, r"got a difference in law\.integers, rounds"),
        ([one, wide], {"least": 1}, "got a difference in dtype"),
        ([one, copy], {"least": 1}, r"must hold new reports, got those of .* again"),
        ([one, one], {"least": 1}, r"must hold new reports, got those of .* again"),
        ([], {"least": 1}, "must come in at least one file"),
        (
            [one],
            {"least": 1, "check": krr.check_reports},
            r"row 51 of .* must be a report that its design allows, got one that is not: reports must be from 0 to "
            "49, got 50",
        ),
    ]
    for paths, options, said in cases:
        with pytest.raises(InvalidInput, match=said):
            shuffle_files(paths, out, **options)
        assert not out.exists()
    with pytest.raises(InvalidInput, match="must be a new file, got one of those to be shuffled"):
        shuffle_files([one], one, least=1)
    shuffle_files([one], out, least=1)
    with pytest.raises(InvalidInput, match="must hold encoded reports, got shuffled ones"):
        shuffle_files([out], tmp_path / "again", least=1)
    assert {path.name for path in tmp_path.iterdir()} == {one.name, other.name, wide.name, copy.name, "out"}


def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    path, out = encoded(tmp_path, np.zeros(300_000, dtype=np.uint8)), tmp_path / "out"
    with small_files(1 << 12), pytest.raises(InvalidInput, match="must be writable, got: File too large"):
        shuffle_files([path], out, least=1, memory=1 << 20)
    assert list(tmp_path.iterdir()) == [path]


SHUFFLER = """
import sys
from pathlib import Path
from shuffledp.tables.permutation import shuffle_files
print("ready", flush=True)
while True:
    shuffle_files([Path(sys.argv[1])], Path(sys.argv[2]), least=1, memory=1 << 20)
"""


def test_a_shuffler_that_is_killed_leaves_a_whole_file_or_none_and_no_buckets(tmp_path: Path) -> None:
    n, out = 300_000, tmp_path / "out"
    path = encoded(tmp_path, np.zeros(n, dtype=np.uint8))
    for pause in (0.0, 0.05, 0.3):
        with subprocess.Popen([sys.executable, "-c", SHUFFLER, str(path), str(out)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(pause)
            os.kill(process.pid, signal.SIGKILL)
        if out.exists():
            assert len(rows_of(out)) == n
    assert all(left.name.endswith(".part") for left in tmp_path.iterdir() if left not in (path, out))
    assert shuffle_files([path], out, least=n).file.count == n


@pytest.mark.parametrize("fault", ["spooling", "a changed page", "interrupted", "cut off"])
def test_nobody_is_told_that_all_is_well_before_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """``before`` spends a budget: whatever goes wrong with reading and keeping reports must come
    first, and leave nothing.
    """
    paths, out, told = (
        [encoded(tmp_path, np.arange(200_000, dtype=np.uint64)) for _ in range(2)],
        tmp_path / "out",
        list[int](),
    )
    content = bytearray(paths[1].read_bytes())
    if fault == "a changed page":
        content[len(content) // 3] ^= 1
    paths[1].write_bytes(content[: len(content) // 2] if fault == "cut off" else content)
    if fault == "interrupted":
        whole = Spool.append

        def late(spool: Spool, rows: NDArray[Any]) -> None:
            whole(spool, rows)
            if len(spool) > 1000:
                raise KeyboardInterrupt

        monkeypatch.setattr(Spool, "append", late)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises((InvalidInput, KeyboardInterrupt)), small_files(1 << 14 if fault == "spooling" else 1 << 30):
        shuffle_files(paths, out, least=1, memory=1 << 20, before=lambda: told.append(1))
    assert not told
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_control_is_told_once_everything_is_kept(tmp_path: Path) -> None:
    told: list[bool] = []
    path, out = encoded(tmp_path, np.zeros(1000, dtype=np.uint8)), tmp_path / "out"
    shuffle_files([path], out, least=1, before=lambda: told.append(out.exists()))
    assert told == [False]


def test_so_many_bad_reports_that_the_promise_fails_are_not_all_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp.tables.reports.batch_rows", lambda _: 100)
    path, ticks, krr = encoded(tmp_path, np.full(10_000, 200, dtype=np.uint8)), list[int](), sdp.KRR(k=3, epsilon0=1.0)
    with pytest.raises(
        InvalidInput,
        match="must number at least the 9990 that were promised, got 9900 without the 100 that were dropped",
    ):
        shuffle_files([path], tmp_path / "out", least=9990, check=krr.check_reports, drop=True, tick=ticks.append)
    assert sum(ticks) == 100


@pytest.mark.parametrize(
    "randomizer",
    [
        sdp.OLH(k=100, epsilon0=2.0),
        sdp.RAPPOR(k=20, epsilon0=2.0),
        sdp.SubsetSelection(k=30, epsilon0=2.0),
        sdp.Hadamard(k=100, epsilon0=1.0),
    ],
)
def test_illegal_reports_of_every_shape_are_dropped_and_no_others(tmp_path: Path, randomizer: Any) -> None:
    reports = randomizer.randomize(np.arange(300) % randomizer.k)
    bad = np.array([7, 8, 150, 299])
    spoilt = reports.copy()
    spoilt[bad] = np.iinfo(reports.dtype).max
    path = encoded(tmp_path, spoilt)
    with pytest.raises(InvalidInput, match=r"row 8 of .* must be a report that its design allows"):
        shuffle_files([path], tmp_path / "out", least=1, check=randomizer.check_reports)
    made = shuffle_files([path], tmp_path / "out", least=296, check=randomizer.check_reports, drop=True)
    assert made.dropped == {path: 4}
    assert Counter(map(bytes, rows_of(tmp_path / "out"))) == Counter(map(bytes, np.delete(reports, bad, axis=0)))
