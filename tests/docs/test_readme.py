"""README.md and docs/ run as they are read.

A page's ```python blocks are executed from top to bottom in one namespace; a block with `>>>`
prompts is a doctest, and its outputs are compared. In its ```console blocks, every `$ shuffledp
...` runs, in one folder; it must exit with 0, or with what an `$ echo $?` right after it says, and
print the lines shown beneath it, if any. Outputs are compared up to whitespace, and `...` stands for
any text. Other commands (`$ make demo`) are not run.
"""

import contextlib
import doctest
import io
import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from shuffledp.cli import main

ROOT = Path(__file__).resolve().parents[2]
# The pages of notebooks follow from the notebooks, which test_notebooks.py runs.
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if page.is_file() and page.parent.name != "notebooks"
]
MATCH = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the line of the page on which its text starts, and its text."""

    language: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """What follows a `$`, and the lines beneath it."""

    line: str
    output: str


def blocks(page: str) -> Iterator[Block]:
    """Every fenced block of a page; the fence that closes one is at least as long as the fence that
    opened it.
    """
    lines = iter(enumerate(page.splitlines(), start=1))
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
            yield Block(language.lower(), number + 1, textwrap.dedent("\n".join(body)) + "\n")


def commands(block: str) -> list[Command]:
    """The commands of a console block; a backslash at the end of a line continues it."""
    pieces = re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]
    return [Command(line.strip(), output) for line, _, output in (piece.partition("\n") for piece in pieces)]


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


def sessions() -> list[object]:
    """Every page with commands, and all of its commands in order."""
    found = []
    for page in PAGES:
        typed = [
            command
            for block in blocks(page.read_text(encoding="utf-8"))
            if block.language == "console"
            for command in commands(block.text)
        ]
        if any(command.line.startswith("shuffledp") for command in typed):
            found.append(pytest.param(typed, id=str(page.relative_to(ROOT))))
    return found


def test_the_readme_shows_python() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert any(block.language == "python" for block in blocks(readme))


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES])
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language in {"python", "py", "pycon"}:
            execute(block, page, namespace)


@pytest.mark.parametrize("session", sessions())
def test_commands_run(session: list[Command], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One folder for a page: whoever follows it from top to bottom has one, too."""
    monkeypatch.chdir(tmp_path)
    for command, after in zip(session, [*session[1:], None], strict=True):
        if not command.line.startswith("shuffledp"):
            continue
        expected_exit = int(after.output) if after is not None and after.line == "echo $?" else 0
        code, printed = run(command, monkeypatch)
        assert code == expected_exit, f"$ {command.line}\n{printed}"
        if command.output.strip():
            matches = doctest.OutputChecker().check_output(command.output.strip() + "\n", printed.strip() + "\n", MATCH)
            assert matches, f"$ {command.line}\nexpected:\n{command.output}\ngot:\n{printed}"


def test_this_file_reads_a_page_correctly() -> None:
    page = (
        "text\n```console\n$ shuffledp delta \\\n    --n 3\n1 ... 2\n$ echo $?\n0\n```\n  ````python\n  x = '```'\n "
        " ````\n"
    )
    console, python = blocks(page)
    assert (console.language, console.line, python.language, python.text) == ("console", 3, "python", "x = '```'\n")
    assert commands(console.text) == [Command("shuffledp delta      --n 3", "1 ... 2\n"), Command("echo $?", "0\n")]
