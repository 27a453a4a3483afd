"""README.md and docs/ run as they are read.

A page's ```python blocks are executed from top to bottom in one namespace; a block with `>>>`
prompts is a doctest, and its outputs are compared. In its ```console blocks, every `$ shuffledp
...` runs, in one folder; it must exit with 0, or with what an `$ echo $?` right after it says, and
print the lines shown beneath it, if any. Outputs are compared up to whitespace, and `...` stands for
any text. Other commands (`$ make demo`) are not run. One that ends in `&` is a process of its own until
the page ends, and has started when it has printed what is shown.

A block right after the line `<!-- needs: java -->` runs where Java and pyspark are, commands too among
the page's python blocks, so that one JVM serves all of them; elsewhere the page is reported as skipped,
with the reason, when all its other blocks have run.
"""

import contextlib
import doctest
import io
import re
import shlex
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from shuffledp.cli import main
from tests.engines.cluster import SMALL, environment, missing, small_jvm

ROOT = Path(__file__).resolve().parents[2]
# The pages of notebooks follow from the notebooks, which test_notebooks.py runs.
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if page.is_file() and page.parent.name != "notebooks"
]
JAVA = "<!-- needs: java -->"
LONG = {"network.md", "weekly.md"}  # pages whose commands take long
MATCH = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the line of the page on which its text starts, its text, and
    what it needs that not every machine has.
    """

    language: str
    line: int
    text: str
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """What follows a `$`, and the lines beneath it."""

    line: str
    output: str


def blocks(page: str) -> Iterator[Block]:
    """Every fenced block of a page; the fence that closes one is at least as long as the fence that
    opened it.
    """
    lines, needs = iter(enumerate(page.splitlines(), start=1)), ""
    for number, line in lines:
        if opening := re.match(r"\s*(`{3,}|~{3,})\s*([\w+-]*)", line):
            fence, language = opening.groups()
            body = []
            for _, inner in lines:
                if re.fullmatch(rf"\s*{re.escape(fence[0])}{{{len(fence)},}}\s*", inner):
                    break
                body.append(inner)
            else:
                raise AssertionError(f"the block that line {number} opens is never closed")
            yield Block(language.lower(), number + 1, textwrap.dedent("\n".join(body)) + "\n", needs)
        said = re.fullmatch(r"<!-- needs: (\w+) -->", line)
        needs = said[1] if said else ""


def commands(block: Block) -> list[Command]:
    """The commands of a console block; a backslash at the end of a line continues it."""
    pieces = re.split(r"^\$ ", block.text.replace("\\\n", " "), flags=re.MULTILINE)[1:]
    cut = (piece.partition("\n") for piece in pieces)
    return [Command(line.strip(), output) for line, _, output in cut]


@pytest.fixture
def lacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str | None]:
    """Why something that is needed is not here; if it is, a small and quiet one is made ready."""

    @cache
    def reason(needs: str) -> str | None:
        if not needs:
            return None
        assert needs == "java"
        absent = missing()
        if absent is None:
            _end_java()
            settings = " ".join(f"--conf {name}={value}" for name, value in SMALL.items())
            small = f"{settings} --driver-java-options '{small_jvm(tmp_path)}' pyspark-shell"
            for name, value in {**environment(tmp_path), "PYSPARK_SUBMIT_ARGS": small}.items():
                monkeypatch.setenv(name, value)
        return absent

    return reason


def _end_java() -> None:
    """A JVM stays when its session is stopped, in the folder where it was started: the names of
    files in a page would be those of another folder.
    """
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if gateway is not None:
        assert SparkContext._active_spark_context is None
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()
        SparkContext._gateway = SparkContext._jvm = None


def execute(block: Block, page: Path, namespace: dict[str, object]) -> None:
    """Run one python block; tracebacks point at the page."""
    if re.search(r"^>>> ", block.text, flags=re.MULTILINE):
        example = doctest.DocTestParser().get_doctest(block.text, namespace, page.name, str(page), block.line - 1)
        example.globs = namespace  # get_doctest copies; later blocks see the names of this one
        report: list[str] = []
        failed = (
            doctest.DocTestRunner(optionflags=MATCH, verbose=False)
            .run(example, out=report.append, clear_globs=False)
            .failed
        )
        assert not failed, "".join(report)
    else:
        exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec", dont_inherit=True), namespace)


def run(command: Command, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """The exit code of a command, and what it prints on both streams; in this process, which has
    loaded everything already.
    """
    for name, value in {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    program, *arguments = shlex.split(command.line)
    assert program == "shuffledp", "a command that needs a shell is not run here"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        return main(arguments), printed.getvalue()


@contextlib.contextmanager
def started(command: Command) -> Iterator[None]:
    """A command in the background; at the end it is asked to stop, and must do so without complaint."""
    said = Path(f"{len(list(Path().glob('*.said')))}.said")
    call = [sys.executable, "-m", "shuffledp", *shlex.split(command.line.removesuffix("&"))[1:]]
    with said.open("wb") as out, subprocess.Popen(call, stdout=out, stderr=subprocess.STDOUT) as process:
        try:
            until = time.monotonic() + 60
            while not _shown(command, said.read_text(encoding="utf-8")):
                assert process.poll() is None, said.read_text(encoding="utf-8")
                assert time.monotonic() < until, f"$ {command.line}\n{said.read_text(encoding='utf-8')}"
                time.sleep(0.05)
            yield
        finally:
            process.terminate()
        assert process.wait(30) == 0, said.read_text(encoding="utf-8")


def _shown(command: Command, printed: str) -> bool:
    return doctest.OutputChecker().check_output(command.output.strip() + "\n", printed.strip() + "\n", MATCH)


def follow(session: list[Command], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands one after the other, and compare."""
    with contextlib.ExitStack() as background:
        for command, after in zip(session, [*session[1:], None], strict=True):
            if not command.line.startswith("shuffledp"):
                continue
            if command.line.endswith("&"):
                background.enter_context(started(command))
                continue
            _follow(command, after, monkeypatch)


def _follow(command: Command, after: Command | None, monkeypatch: pytest.MonkeyPatch) -> None:
    expected_exit = int(after.output) if after is not None and after.line == "echo $?" else 0
    code, printed = run(command, monkeypatch)
    assert code == expected_exit, f"$ {command.line}\n{printed}"
    if command.output.strip():
        assert _shown(command, printed), f"$ {command.line}\nexpected:\n{command.output}\ngot:\n{printed}"


def sessions() -> list[object]:
    """Every page with commands, and all of its commands in order."""
    found = []
    for page in PAGES:
        typed = [
            command
            for block in blocks(page.read_text(encoding="utf-8"))
            if block.language == "console" and not block.needs
            for command in commands(block)
        ]
        if any(command.line.startswith("shuffledp") for command in typed):
            marks = [pytest.mark.long] if page.name in LONG else []
            found.append(pytest.param(typed, id=str(page.relative_to(ROOT)), marks=marks))
    return found


def test_the_readme_shows_python() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert any(block.language == "python" for block in blocks(readme))


def whole_pages() -> list[object]:
    """Every page; one that starts a JVM, which is its own, takes long."""
    long = {page: [pytest.mark.long] for page in PAGES if JAVA in page.read_text(encoding="utf-8")}
    return [pytest.param(page, id=str(page.relative_to(ROOT)), marks=long.get(page, [])) for page in PAGES]


@pytest.mark.parametrize("page", whole_pages())
def test_python_blocks_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: Callable[[str], str | None]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    left_out = None
    for block in blocks(page.read_text(encoding="utf-8")):
        reason = lacking(block.needs)
        left_out = reason or left_out
        if reason is not None:
            continue
        if block.language in {"python", "py", "pycon"}:
            execute(block, page, namespace)
        elif block.language == "console" and block.needs:
            follow(commands(block), monkeypatch)
    if left_out is not None:
        pytest.skip(left_out)


@pytest.mark.parametrize("session", sessions())
def test_commands_run(session: list[Command], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One folder for a page: whoever follows it from top to bottom has one, too."""
    monkeypatch.chdir(tmp_path)
    follow(session, monkeypatch)


def test_this_file_reads_a_page_correctly() -> None:
    page = (
        "text\n```console\n$ shuffledp delta \\\n    --n 3\n1 ... 2\n$ echo $?\n0\n```\n  ````python\n  x = '```'\n "
        " ````\n"
    )
    console, python = blocks(page)
    assert (console.language, console.line, python.language, python.text) == ("console", 3, "python", "x = '```'\n")
    assert commands(console) == [Command("shuffledp delta      --n 3", "1 ... 2\n"), Command("echo $?", "0\n")]


def test_what_a_block_needs_stands_right_before_it() -> None:
    page = (
        "<!-- needs: java -->\n```python\n1\n```\n\n```python\n2\n```\n<!-- needs: java -->\n\n```console\n$ x\n```\n"
    )
    assert [block.needs for block in blocks(page)] == ["java", "", ""]
