"""What templates may hold: nothing that escapes escaping, and no logic about questions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import shuffledp
from shuffledp.page import html
from shuffledp.page.page import environment
from shuffledp.record import Record
from tests.page.releases import facts

HERE = Path(shuffledp.__file__).parent
TEMPLATES = sorted([*(HERE / "page").rglob("*.html"), *(HERE / "questions").rglob("*.html")])
FRAME = sorted([*(HERE / "page").glob("*.html"), *(HERE / "page").glob("*.py")])
QUESTIONS = [each.parent.name for each in (HERE / "questions").glob("*/section.html")]
LOADED = """
import sys
from shuffledp.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("jinja2", "markupsafe")), file=sys.stderr)
"""


def test_there_are_templates() -> None:
    assert len(TEMPLATES) > 25
    assert {"histogram", "count", "crosstab", "mean", "sum", "quantile", "top"} <= set(QUESTIONS)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.parent.name + "/" + path.name)
def test_no_template_escapes_from_escaping(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(
        r"\|\s*safe\b|Markup|autoescape|tojson|\bstyle=|<script|\bon[a-z]+=|src=|href=\"(?!weeks/)", text
    )
    assert not re.search(r"[\w-]=\s*\{\{", text), "an attribute without quotes"
    assert set(re.findall(r"\{\{.*?\}\}", "".join(re.findall(r"<style>.*?</style>", text, re.S)))) <= {"{{ style }}"}


@pytest.mark.parametrize("path", FRAME, ids=lambda path: path.name)
def test_the_frame_knows_no_question(path: Path) -> None:
    text = re.sub(r"__all__ = \[.*?\]", "", path.read_text(encoding="utf-8"), flags=re.S)
    assert [each for each in QUESTIONS if re.search(rf"""["']{each}["']""", text)] == []
    assert not re.search(r"\btask\b.*[!=]=|isinstance\(record", text)


def test_a_name_that_does_not_exist_is_an_error_and_none_is_nothing() -> None:
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        environment().from_string("{{ missing }}").render()
    assert (
        environment().from_string("{{ gap }}|{{ text }}").render(gap=None, text="a<\u202e\x00") == "|a&lt;\ufffd\ufffd"
    )


def test_the_loader_does_not_leave_its_folders() -> None:
    made = facts("tiny")
    for hostile in ("../page", "..", "other/../../../wording", "\x00", "x" * 5000, "/etc/passwd"):
        made["design"]["mechanism"]["type"] = hostile
        page = html(Record.from_json(made))
        assert "root:" not in page
        assert "one randomized report per person" in page


@pytest.mark.parametrize(
    "command", [["--help"], ["epsilon", "--k", "4", "--epsilon0", "2", "--n", "100", "--delta", "1e-3"]]
)
def test_what_shows_no_page_loads_no_jinja(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED, *command], capture_output=True, text=True, check=True)
    assert done.stderr.strip().endswith("[]")


def test_importing_the_page_loads_neither_jinja_nor_numpy() -> None:
    code = "import sys, shuffledp.page; print([name for name in ('jinja2', 'numpy') if name in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
