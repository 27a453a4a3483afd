"""Reports added up as they are made are the reports that a file would hold, and every value is
counted once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import shuffledp as sdp
from shuffledp.errors import InvalidInput
from shuffledp.sampling import SeededSource, Source
from shuffledp.tables.permutation import shuffle_files
from shuffledp.tables.reports import Header, open_reports, write_reports
from shuffledp.tables.tallying import tally, tally_file

KRR = sdp.KRR(k=10, epsilon0=2.0)


def randomize(values: NDArray[Any], source: Source) -> NDArray[Any]:
    return KRR.randomize(values, rng=source)


def same(values: NDArray[Any], _: Source) -> NDArray[Any]:
    return values


def chunks_of(values: NDArray[Any], rows: int = 1000) -> Iterator[NDArray[Any]]:
    return (values[i : i + rows] for i in range(0, len(values), rows))


VALUES = np.random.default_rng(1).integers(0, 10, 54_321, dtype=np.uint8)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("row_bytes", [1, 1 << 16])
def test_every_value_is_counted_once(threads: int, row_bytes: int) -> None:
    ticks: list[int] = []
    counted = tally(chunks_of(VALUES), same, KRR, threads=threads, row_bytes=row_bytes, tick=ticks.append)
    assert counted.numbers.tolist() == np.bincount(VALUES).tolist()
    assert (counted.people, sum(ticks), counted.secure) == (len(VALUES), len(VALUES), True)


def test_a_seed_gives_the_votes_of_the_same_reports_again() -> None:
    first, second = (
        tally(chunks_of(VALUES), randomize, KRR, source=SeededSource(np.random.default_rng(7))) for _ in range(2)
    )
    source = SeededSource(np.random.default_rng(7))
    reports = np.concatenate([KRR.randomize(chunk, rng=source) for chunk in chunks_of(VALUES)])
    assert first.numbers.tolist() == second.numbers.tolist() == KRR.tally(reports).tolist()
    assert not first.secure


def test_votes_follow_the_law() -> None:
    """Everybody holds 0: the votes are multinomial with hit and nine times miss."""
    counted = tally(chunks_of(np.zeros(200_000, dtype=np.uint8), 1 << 14), randomize, KRR)
    expected = np.array([KRR.hit] + [KRR.miss] * 9) * 200_000
    assert stats.chisquare(counted.numbers, expected * (200_000 / expected.sum())).pvalue > 1e-6


def test_threads_draw_from_sources_of_their_own() -> None:
    seen: dict[int, set[int]] = {}
    ready = threading.Barrier(2, timeout=60)

    def encode(values: NDArray[Any], source: Source) -> NDArray[Any]:
        ready.wait()
        seen.setdefault(threading.get_ident(), set()).add(id(source))
        return values

    tally(chunks_of(VALUES[:8000]), encode, KRR)
    assert [len(sources) for sources in seen.values()] == [1, 1]
    assert len(set.union(*seen.values())) == 2


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failure_anywhere_ends_it_at_once_and_is_told(threads: int) -> None:
    calls = []

    def encode(_: NDArray[Any], __: Source) -> NDArray[Any]:
        calls.append(1)
        raise InvalidInput("values must be good, got bad. Mend them.")

    with pytest.raises(InvalidInput, match="must be good"):
        tally(chunks_of(VALUES), encode, KRR, threads=threads)
    assert len(calls) <= threads

    def broken() -> Iterator[NDArray[Any]]:
        yield VALUES
        raise InvalidInput("the disk must last, got smoke. Buy another.")

    with pytest.raises(InvalidInput, match="got smoke"):
        tally(broken(), same, KRR, threads=threads)


def test_nobody_gives_no_tally() -> None:
    with pytest.raises(InvalidInput, match="values must hold at least one value"):
        tally([], same, KRR)


def test_a_file_of_shuffled_reports_gives_the_votes_of_those_encoded(tmp_path: Path) -> None:
    reports, ticks = KRR.randomize(VALUES), []
    write_reports(tmp_path / "in", Header.encoded({}, secure=False), [(reports, None)])
    shuffle_files([tmp_path / "in"], tmp_path / "out", least=1)
    counted = tally_file(open_reports(tmp_path / "out"), KRR, tick=ticks.append)
    assert counted.votes.tolist() == KRR.tally(reports).tolist()
    assert (counted.people, sum(ticks), counted.secure) == (len(VALUES), len(VALUES), False)
    with pytest.raises(InvalidInput, match="must hold shuffled reports, got encoded ones"):
        tally_file(open_reports(tmp_path / "in"), KRR)
