"""A disk without room: one clear line, nothing half-written, and everything that was there before
stays as it was.
"""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shuffledp.ledger import Ledger
from tests.cli.people import listing
from tests.faults.conftest import Made
from tests.faults.runner import Runner

SIZE = 200 * 1024
LIMITS = ("--population", "p", "--limit-epsilon", 5, "--limit-delta", 1e-6)
Record = Callable[[str, object], None]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 200 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if (
        mount is None
        or subprocess.run(
            [mount, "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", place], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("a small file system can be mounted by root only, and not in every container")
    yield place
    subprocess.run(["umount", place], check=True)


def fill(disk: Path, free: int) -> Path:
    """Leave only so many bytes."""
    filler = disk / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(disk).free - free))
    return filler


def refused(answer: tuple[int, str, float], words: str) -> None:
    code, said, _ = answer
    assert code == 2, said
    assert said.startswith("error: "), said
    assert said.count("\n") == 1, said
    assert words in said, said


def test_no_output_is_half_written_on_a_full_disk(
    runner: Runner, made: Made, disk: Path, record_property: Record
) -> None:
    old, full = disk / "old.parquet", "No space left on device"
    old.write_bytes(b"what was there before")
    tried = 0
    for free in (0, 40960):
        filler = fill(disk, free)
        before = listing(disk)
        refused(
            runner.run(*(made.histogram if free else ("stage", "analyze", made.shuffled)), "--out", disk / "result"),
            full,
        )
        refused(runner.run(*made.encode, "--force", "--out", old), full)
        refused(runner.run("stage", "shuffle", made.encoded, "--force", "--out", old), full)
        tried += 3
        assert listing(disk) == before
        filler.unlink()
    filler = fill(disk, 0)
    refused(
        runner.run(
            "stage",
            "design",
            "histogram",
            "--categories",
            "yes,no",
            "--n",
            10,
            "--epsilon",
            1,
            "--delta",
            1e-6,
            "--force",
            "--out",
            old,
        ),
        full,
    )
    filler.unlink()
    assert old.read_bytes() == b"what was there before"
    code, said, _ = runner.run("stage", "analyze", made.shuffled, "--out", disk / "result")
    assert code == 0, said
    record_property(
        "fault: full disk",
        f"{tried + 1} runs of 5 commands refused in one line; nothing half-written, old files intact",
    )


def test_a_ledger_without_room_refuses_and_stays_whole(
    runner: Runner, made: Made, tmp_path: Path, disk: Path, record_property: Record
) -> None:
    ledger = disk / "budget.sqlite"
    arguments = ("stage", "shuffle", made.encoded, "--ledger", ledger, *LIMITS, "--out")
    assert runner.run(*arguments, tmp_path / "first")[0] == 0
    refusals, accepted = 0, 1
    for free in (0, 4096, 8192, 12288, 16384, 32768, 65536):
        filler = fill(disk, free)
        out = tmp_path / f"out-{free}"
        code, said, _ = runner.run(*arguments, out)
        if code:
            refused((code, said, 0.0), "make room")
            refusals += 1
        assert out.exists() == (code == 0)
        accepted += code == 0
        book = Ledger(ledger)
        assert book.check().faults == ()
        assert accepted <= len(book.releases()) <= accepted + refusals, "what came out is recorded"
        filler.unlink()
    assert refusals >= 2
    assert runner.run(*arguments, tmp_path / "last")[0] == 0, "with room again, it goes on"
    assert Ledger(ledger).check().faults == ()
    records = len(Ledger(ledger).releases())
    record_property(
        "fault: full disk, ledger",
        f"{refusals} spends refused in one line, {accepted + 1} accepted, {records} records, ledger clean",
    )


def test_no_ledger_is_left_where_none_could_be_made(runner: Runner, made: Made, tmp_path: Path, disk: Path) -> None:
    filler = fill(disk, 4096)
    refused(
        runner.run(
            "stage", "shuffle", made.encoded, "--ledger", disk / "budget.sqlite", *LIMITS, "--out", tmp_path / "out"
        ),
        "make room",
    )
    assert not (tmp_path / "out").exists()
    filler.unlink()
    assert (
        runner.run(
            "stage", "shuffle", made.encoded, "--ledger", disk / "budget.sqlite", *LIMITS, "--out", tmp_path / "out"
        )[0]
        == 0
    )
    assert Ledger(disk / "budget.sqlite").check().faults == ()
