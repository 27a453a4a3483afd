"""A run keeps what is there, finishes what is missing, loses nothing when it is ended, and says
which experiment failed.
"""

import dataclasses
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.papers import files as module
from shuffledp.papers.experiment import read_table
from shuffledp.papers.files import ENDS, Outcome, ReproductionError, files, finished, make, reproduce, select
from shuffledp.storage.files import replace_file
from tests.papers.toy import toy

SOURCE = "tests.papers.toy"
TOY = toy("toy-one")
ROOT = Path(__file__).parents[2]


def nothing(_done: int) -> None:
    """Nobody watches."""


def run(names: list[str], out: Path, **options: object) -> tuple[Outcome, ...]:
    return reproduce(names, out, source=SOURCE, **options)  # type: ignore[arg-type]


def contents(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir()}


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    make(TOY, folder, force=False, report=nothing)
    return folder


@pytest.fixture
def made(made_once: Path, tmp_path: Path) -> Path:
    """A folder with the experiment as it was made, to change as one likes."""
    return shutil.copytree(made_once, tmp_path / "made")


def test_the_files_of_an_experiment(tmp_path: Path) -> None:
    seen: list[int] = []
    assert make(TOY, tmp_path, force=False, report=seen.append)[0] == "computed"
    assert seen == list(range(1, TOY.count + 1))
    assert sorted(contents(tmp_path)) == ["toy-one.csv", "toy-one.json", "toy-one.png", "toy-one.svg"]
    summary = json.loads((tmp_path / "toy-one.json").read_text(encoding="utf-8"))
    assert (summary["verdict"], summary["parameters"], summary["curves"]) == ("2 curves agree.", TOY.parameters, 2)
    assert len(read_table((tmp_path / "toy-one.csv").read_text(encoding="utf-8"))[1]) == 2


def test_two_runs_give_the_same_files(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        make(TOY, tmp_path / folder, force=False, report=nothing)
    assert contents(tmp_path / "first") == contents(tmp_path / "second")


def test_a_missing_figure_is_drawn_from_the_table(made: Path) -> None:
    before = contents(made)
    (made / "toy-one.svg").unlink()
    assert not finished(TOY, made)
    uncomputable = dataclasses.replace(TOY, compute=lambda: pytest.fail("it was computed again"))
    assert make(uncomputable, made, force=False, report=nothing)[0] == "drawn"
    assert contents(made) == before
    assert finished(TOY, made)


def test_force_computes_what_is_there(made: Path) -> None:
    seen: list[int] = []
    assert make(TOY, made, force=True, report=seen.append)[0] == "computed"
    assert len(seen) == TOY.count


@pytest.mark.parametrize("change", [{"parameters": "epsilon0 = 2"}, {"count": 12}, {"title": "another"}])
def test_a_table_of_another_description_is_not_kept(change: dict[str, object], made: Path) -> None:
    other = dataclasses.replace(TOY, **change)  # type: ignore[arg-type]
    assert finished(TOY, made)
    assert not finished(other, made)


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "# name: toy-one\npanel,epsilon,x\n,1,2,3\n"])
def test_a_foreign_table_is_computed_again(text: str, tmp_path: Path) -> None:
    (tmp_path / "toy-one.csv").write_text(text, encoding="utf-8")
    assert not finished(TOY, tmp_path)
    assert make(TOY, tmp_path, force=False, report=nothing)[0] == "computed"


@pytest.mark.parametrize("size", [0, 0.99])
@pytest.mark.parametrize("suffix, state", [("csv", "computed"), ("png", "drawn"), ("svg", "drawn"), ("json", "drawn")])
def test_a_file_that_was_cut_is_not_kept(suffix: str, state: str, size: float, made: Path) -> None:
    before = contents(made)
    path = made / f"toy-one.{suffix}"
    path.write_bytes(path.read_bytes()[: int(size * path.stat().st_size)])
    assert not finished(TOY, made)
    assert make(TOY, made, force=False, report=nothing)[0] == state
    assert contents(made) == before


def test_half_written_files_of_the_dead_are_swept_away(tmp_path: Path) -> None:
    """The first name, all digits, was once read as the number of a process, and of one too large to exist."""
    for owner in ("1234567890123456", "0123456789abcdef"):
        (tmp_path / f".toy-one.png.{owner}.part").write_text("half", encoding="utf-8")
    make(TOY, tmp_path, force=False, report=nothing)
    assert all(name.startswith("toy-one.") for name in contents(tmp_path))


def test_a_run_computes_and_the_next_one_keeps(tmp_path: Path) -> None:
    out, seen = tmp_path / "new" / "folder", []
    first = run(["toy-two", "toy-one", "toy-two"], out, progress=lambda *event: seen.append(event))
    assert [(each.name, each.state) for each in first] == [("toy-two", "computed"), ("toy-one", "computed")]
    assert {event for event in seen if event[1] == 2} == {("toy-one", 2, 2), ("toy-two", 2, 2)}
    assert ("toy-one", 1, 2) in seen
    before = contents(out)
    assert len(before) == 8
    assert [each.state for each in run(["toy-one", "toy-two"], out)] == ["kept", "kept"]
    assert contents(out) == before


def test_a_failure_loses_nothing_else(tmp_path: Path) -> None:
    words = r"toy-failing failed \(ValueError: the toy broke\). The others are finished"
    with pytest.raises(ReproductionError, match=words) as caught:
        run(["toy-failing", "toy-one"], tmp_path)
    outcomes = [(each.name, each.state) for each in caught.value.outcomes]
    assert outcomes == [("toy-failing", "failed"), ("toy-one", "computed")]
    assert sorted(contents(tmp_path)) == sorted(path.name for path in files("toy-one", tmp_path))


def test_a_full_disk_is_not_a_bug_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, write: Callable[[Path], object]) -> None:
        if path.name == "toy-two.csv":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        replace_file(path, write)

    monkeypatch.setattr(module, "replace_file", full)
    words = (
        r"'.*toy-two\.csv' must be writable, got: No space left on device\. Choose another place, or make room there"
    )
    with pytest.raises(InvalidInput, match=rf"{words}\. What is finished is kept\."):
        run(["toy-one", "toy-two"], tmp_path)
    assert sorted(contents(tmp_path)) == sorted(path.name for path in files("toy-one", tmp_path))


def test_an_experiment_that_refuses_its_own_parameters_is_a_bug_of_ours(tmp_path: Path) -> None:
    words = r"toy-refusing failed \(InvalidInput: epsilon0 must be positive.* This is a bug in shuffledp"
    with pytest.raises(ReproductionError, match=words):
        run(["toy-refusing"], tmp_path)


def test_a_folder_in_the_place_of_a_file_is_refused_before_anything_is_computed(tmp_path: Path) -> None:
    (tmp_path / "toy-one.csv").mkdir()
    with pytest.raises(InvalidInput, match=r"'.*toy-one\.csv' must be free for a file, got a folder\. Move it away"):
        run(["toy-two", "toy-one"], tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / "toy-one.csv"]


def test_a_folder_that_takes_no_files_is_refused_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_options: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(InvalidInput, match=r"must be writable, got: Read-only file system\. Choose another one"):
        run(["toy-one"], tmp_path)
    assert contents(tmp_path) == {}


@pytest.mark.long
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_run_ended_at_any_moment_leaves_whole_files(end: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = (
        "import sys; from shuffledp.papers.files import reproduce\n"
        f"reproduce(['toy-one', 'toy-slow'], {str(out)!r}, source={SOURCE!r}, progress=lambda *event: print(*event, "
        f"flush=True))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )
    assert process.stdout is not None
    with process.stdout:
        for said in process.stdout:
            if said.startswith("toy-slow 1 "):
                break
        process.send_signal(end)
        process.wait(timeout=60)
    for name, content in contents(out).items():
        assert name.startswith(("toy-one.", ".toy-one."))
        assert content.endswith((ENDS | {".csv": b"\n", ".part": b""})[Path(name).suffix])
    make(TOY, out, force=False, report=nothing)
    assert len(contents(out)) == 4


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(InvalidInput, match=r"figure or table 'toy-on' here\. Did you mean toy-one\?"):
        select(["toy-one", "toy-on"], source=SOURCE)
    with pytest.raises(InvalidInput, match=r"'xyz' here\. List them: shuffledp papers reproduce --list"):
        select(["xyz"], source=SOURCE)


def test_all_experiments_have_names_of_their_own() -> None:
    every = select(None)
    assert len({experiment.name for experiment in every}) == len(every) > 0
    for experiment in every:
        assert experiment.name == experiment.name.lower().replace(" ", "-")
        assert experiment.count > 0
        assert experiment.parameters


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file", encoding="utf-8")
    with pytest.raises(InvalidInput, match="must be writable, got: File exists"):
        run(["toy-one"], tmp_path / "out")


def test_what_this_package_proves_is_drawn_as_ours_and_not_as_published() -> None:
    _, lines = read_table((ROOT / "docs/figures/bounds-by-users.csv").read_text(encoding="utf-8"))
    assert {line.kind for line in lines if line.label == "any-randomizer theorem"} == {"upper"}
    assert {line.kind for line in lines if line.label.startswith("Feldman")} == {"published"}
