"""The package grows only on purpose: what ``benchmarks.measure`` measures is held to ceilings."""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.measure import Checkout, models, options, sizes, switches, walk

# These only fall: lower them in the commit that makes them fall. One may rise only in a commit that says why.
CEILINGS = {
    "files": 356,
    "lines": 73_507,
    "lines of code": 48_906,
    "types that model a question, outside questions/": 1,
    "comparisons with a question or family": 0,
    "isinstance of a question or family": 1,
    "registries of questions or families": 3,
    "options": 615,
    "visible options in one help": 15,
    "files that a histogram runs": 82,
    "its crossings between packages, without accounting <-> randomizers": 577,
    "its crossings between accounting and randomizers": 1752,
}

SMALL = {
    "pyproject.toml": '[project.scripts]\nsmall = "small.cli:main"\n',
    "src/small/cli.py": '''"""One command.

Of two paragraphs.
"""

# A comment.
TEXT = """
# No comment.
"""


class HistogramQuestion:
    """A type."""


def main(kind, law):
    """One switch of each kind, and a dictionary with one name, which is none."""
    if kind == "histogram" or isinstance(law, KRR):
        return {"mean": 1, "sum": 2}
    return {"mean": 1}
''',
    "src/small/randomizers/krr.py": """class KRR:
    name = "krr"

    def is_binary(self):
        return self.name == "rr"
""",
    "src/small/questions/median/question.py": 'MEDIAN = {"median", "krr"} == {"median"}\n',
    "src/small/page/page.html": "<p>\n</p>\n",
}


def test_nothing_grows() -> None:
    checkout = Checkout(Path(__file__).resolve().parents[1])
    with ThreadPoolExecutor(2) as processes:
        walked = processes.submit(walk, sys.executable, checkout.entry, "histogram")
        given = processes.submit(options, sys.executable, checkout.entry)
        total = sum(sizes(checkout).values(), Counter[str]())
        found = Counter(each.kind for each in switches(checkout))
        types = sum(not each.part.startswith("questions") for each in models(checkout))
    histogram = walked.result()
    between_packages = histogram["without accounting<->randomizers"]
    measured = (
        *(total["files"], total["lines"], total["code"], types),
        *(found["comparison"], found["isinstance"], found["registry"]),
        *(given.result()["all"], given.result()["most visible in one help"][0]),
        *(histogram["files run"], between_packages, histogram["crossings"] - between_packages),
    )
    above = {what: now for (what, most), now in zip(CEILINGS.items(), measured, strict=True) if now > most}
    assert not above, "python -m benchmarks.measure --where shows the places"


def test_the_measures_see_what_they_are_there_for(tmp_path: Path) -> None:
    for name, text in SMALL.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    checkout = Checkout(tmp_path)
    assert {part: dict(row) for part, row in sizes(checkout).items()} == {
        "(root)": {"files": 1, "lines": 20, "code": 8, "over120": 0, "public": 2},
        "page": {"templates": 2},
        "questions": {"files": 1, "lines": 1, "code": 1, "over120": 0, "public": 0},
        "randomizers": {"files": 1, "lines": 5, "code": 4, "over120": 0, "public": 1},
    }
    assert [each.names for each in models(checkout)] == ["HistogramQuestion"]
    assert [(each.kind, each.where, each.names) for each in sorted(switches(checkout))] == [
        ("comparison", "cli.py:18", "histogram"),
        ("isinstance", "cli.py:18", "KRR"),
        ("registry", "cli.py:19", "mean,sum"),
    ]
