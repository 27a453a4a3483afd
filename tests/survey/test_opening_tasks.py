"""Slices of a sealed file: opened here or by other processes, they add up to the same; every kind
of report is read, and each invalid one is dropped alone.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.results import Tally
from shuffledp.survey import all_cores, opener
from shuffledp.survey.envelopes import Envelopes, open_sealed
from shuffledp.survey.opener import OnAllCores, Opener, Slice, slices_of
from shuffledp.tables import spool
from tests.survey.released import TRUTH, announced, answers, write_sealed
from tests.survey.studies import KEY, designs, study


def opener_of(path: Path, collection: Any) -> Opener:
    return Opener(collection.content, KEY, path, open_sealed(path).header)


def added(found: list[Tally]) -> tuple[int, list[int]]:
    return sum(each.people for each in found), np.sum([each.numbers for each in found], axis=0).tolist()


@pytest.mark.parametrize("kind", ["krr", "hadamard", "hash", "subset", "oue", "mean"])
def test_every_kind_of_report_is_opened_counted_and_estimated(tmp_path: Path, kind: str) -> None:
    collection, rng = study(kind), np.random.default_rng(7)
    design, law = designs()[kind], study(kind).reporter.randomizer
    values = rng.uniform(20.0, 60.0, 600) if kind == "mean" else rng.integers(0, 3, 600)
    reports = collection.reporter.encode(values, rng=rng)
    fakes = [os.urandom(Envelopes(collection).length) for _ in range(3)]
    path = write_sealed(tmp_path / "sealed.bin", collection, [*Envelopes(collection).seal(reports), *fakes])
    (part,) = slices_of(open_sealed(path))[1]
    sums = opener_of(path, collection)(part)
    assert sums.people == 600
    assert np.array_equal(sums.numbers, law.tally(reports))
    estimate = design.poll.analyse_counts(sums.numbers)
    truth = [values.mean()] if kind == "mean" else np.bincount(values, minlength=len(estimate.values))
    assert np.all(np.abs(estimate.values - truth) <= 6.0 * estimate.stderr)


def test_only_what_the_law_never_sends_is_dropped(tmp_path: Path) -> None:
    collection = study("oue")
    rows = collection.reporter.encode([0] * 20, rng=np.random.default_rng(1))
    rows[::4, -1] |= 1  # a bit after the last value
    path = write_sealed(tmp_path / "sealed.bin", collection, Envelopes(collection).seal(rows))
    sums = opener_of(path, collection)(slices_of(open_sealed(path))[1][0])
    kept = np.delete(rows, np.s_[::4], axis=0)
    assert sums.people == len(kept) == 15
    assert np.array_equal(sums.numbers, collection.reporter.randomizer.tally(kept))


def test_long_envelopes_make_short_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "BATCH_BYTES", 49 * 40)
    collection = announced(tmp_path / "study")
    path = write_sealed(tmp_path / "sealed.bin", collection, answers(collection))
    assert [part.end - part.begin for part in slices_of(open_sealed(path))[1]] == [40, 40, 40, 30]


@pytest.fixture
def cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Opener, tuple[Slice, ...]]:
    """A file of several slices."""
    monkeypatch.setattr(opener, "SLICE", 40)
    collection = announced(tmp_path / "study")
    path = write_sealed(tmp_path / "sealed.bin", collection, [*answers(collection), bytes(49)])
    return opener_of(path, collection), slices_of(open_sealed(path))[1]


Cut = tuple[Opener, tuple[Slice, ...]]


def told(process: subprocess.Popen[bytes]) -> bytes:
    """What everybody on this machine may know of a process, and what its owner may."""
    place = Path(f"/proc/{process.pid}")
    return b"".join((place / name).read_bytes() for name in ("cmdline", "environ"))


def test_processes_open_what_one_opens_and_their_key_is_not_for_others_to_see(
    cut: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, slices = cut
    started: list[subprocess.Popen[bytes]] = []
    done: list[int] = []
    seen: list[bytes] = []
    usual = subprocess.Popen

    def watched(*words: Any, **named: Any) -> Any:
        started.append(usual(*words, **named))
        return started[-1]

    def tick(count: int) -> None:  # when some process has answered
        done.append(count)
        seen.extend(map(told, started))

    monkeypatch.setattr(all_cores.subprocess, "Popen", watched)
    sums = OnAllCores(tick, processes=2)(task, slices)
    assert added([sums]) == added([task(part) for part in slices])
    assert (sums.reports, sum(done)) == (len(TRUTH), len(TRUTH) + 1)
    assert len(started) == 2
    assert all(each.poll() is not None for each in started)

    secret = KEY.secret.hex().encode()
    assert any(b"all_cores" in each for each in seen)
    assert not any(secret in each or KEY.secret in each for each in seen)
    careless = usual(["sh", "-c", "echo; read _", secret], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with careless:
        assert careless.stdout is not None
        careless.stdout.readline()
        assert secret in told(careless)


def test_a_file_that_changes_meanwhile_is_refused_by_every_process(cut: Cut) -> None:
    task, slices = cut
    content = bytearray(task.path.read_bytes())
    content[-1] ^= 1
    task.path.write_bytes(content)
    for opening in (OnAllCores(processes=1), OnAllCores(processes=2)):
        with pytest.raises(InvalidInput, match="must not change while it is opened"):
            opening(task, slices)


def test_a_file_that_a_process_does_not_find_is_refused(cut: Cut) -> None:
    task, slices = cut
    task.path.unlink()
    with pytest.raises(InvalidInput, match="must lie where every process can read it, got: No such file"):
        OnAllCores()(task, slices)
