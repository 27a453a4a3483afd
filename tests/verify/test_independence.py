"""What judges a release shares no code with what made it: seen in a process of its own, where
nothing else is loaded. (``lint-imports`` says the same of every import that is written.)
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

import shuffledp as sdp
from shuffledp.questions import OURS

ALLOWED = (
    "shuffledp.page",
    "shuffledp.record",
    "shuffledp.verify",
    "shuffledp.judge",
    "shuffledp.design",
    "shuffledp.domain",
    "shuffledp.questions",
    "shuffledp.search",  # the question of a level, and no more
    "shuffledp.workload",  # the rows of a question, which a page reads
    "shuffledp.schema",  # the types of what is read
    "shuffledp.storage",
    "shuffledp.errors",
    "shuffledp.wording",
    "shuffledp.numerals",  # the words of numbers, which were the page's
    "shuffledp._types",
    "shuffledp._lazy",
)
PACKAGES = ("shuffledp", "shuffledp.literature")  # empty, or lazy
# Modules of ours, balls and the swap among them; they were 117 when the oracle read designs and ledgers by the code
# that it judges.
MOST = 110  # 70 before crosstabs, quantiles, top words and messages; since then the same in smaller modules, and trees
CHILD = """
import json, sys
from pathlib import Path

import numpy as np

import shuffledp as sdp
from shuffledp.verify import verify
imported = sorted(sys.modules)
verdicts = []
for name in sys.argv[1:]:
    folder = Path(name)
    table = (folder / "estimates.csv").read_bytes().decode()
    verdicts.append(verify((folder / "page.html").read_text(encoding="utf-8"), beside={"estimates.csv": table}).verdict)
print(json.dumps([verdicts, imported, sorted(sys.modules)]))
"""


COMMAND = """
import json, sys
from shuffledp.cli import main
codes = [main(["verify", page, "--seconds", "0.2", "--json"]) for page in sys.argv[1:]]
print(json.dumps([codes, sorted(sys.modules)]))
"""
NAMES = ("shuffledp.randomizers", "shuffledp.randomizers.names")  # the names of laws, for the command's help: no law
MAKING = ("shuffledp.accounting", "shuffledp.randomizers", "shuffledp.sampling", "shuffledp.ledger")


def loaded(code: str, *arguments: Path) -> list[list[str]]:
    line = [sys.executable, "-c", code, *map(str, arguments)]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    told: list[list[str]] = json.loads(said.splitlines()[-1])
    return told


def ours(modules: list[str]) -> list[str]:
    return [name for name in modules if name.partition(".")[0] == "shuffledp"]


def foreign(modules: list[str]) -> list[str]:
    """Modules of ours that a verification has no business with."""
    inside = tuple(f"{name}." for name in ALLOWED)
    return [name for name in ours(modules) if name not in (*ALLOWED, *PACKAGES) and not name.startswith(inside)]


def test_a_whole_verification_loads_nothing_of_what_it_judges(tmp_path: Path) -> None:
    values, promise = np.arange(300) % 2, {"epsilon": 1.0, "delta": 1e-3}
    binary = sdp.histogram(values, categories=2, **promise).save(tmp_path / "binary")
    mean = sdp.mean(values, lower=0, upper=1, **promise).save(tmp_path / "mean")
    verdicts, imported, after = loaded(CHILD, binary, mean)
    assert verdicts == ["pass", "pass"]
    assert not foreign(after)
    assert len(ours(after)) <= MOST
    assert not {"scipy.stats", "matplotlib", "pyarrow", "pandas"} & set(imported)


def test_the_command_loads_no_accounting_and_no_randomizer(tmp_path: Path) -> None:
    """Whatever the page is of. Within 0.2 s not every sum is finished, but all are begun."""
    numbers, promise = [i % 2 for i in range(200)], {"epsilon": 1.0, "delta": 1e-3}
    words = pa.table({"word": ["abc"[i % 3] for i in range(200)], "side": numbers})
    between = {"lower": 0, "upper": 1, **promise}
    released = {
        "histogram": sdp.histogram(numbers, categories=2, **promise),
        "fakes": sdp.histogram(numbers, categories=2, mechanism="fakes", **promise),
        "hadamard": sdp.histogram(numbers, categories=2, mechanism="hadamard", **promise),
        "mean": sdp.mean(numbers, **between),
        "sum": sdp.sum(numbers, **between),
        "quantile": sdp.quantile(numbers, bins=4, **between),
        "count": sdp.count(words, "word", value="a", **promise),
        "crosstab": sdp.crosstab(words, columns=["word", "side"], categories=[["a", "b", "c"], ["0", "1"]], **promise),
        "top": sdp.top(words, "word", longest=2, tokens=["a", "b", "c"], words=2, least_holders=20, **promise),
    }
    assert released.keys() >= OURS.keys()
    pages = [each.save(tmp_path / name) / "page.html" for name, each in released.items()]
    codes, after = loaded(COMMAND, *pages)
    assert set(codes) <= {0, 3}, codes
    assert "shuffledp.judge.oracle" in after, "the control"
    assert [name for name in after if name.startswith(MAKING) and name not in NAMES] == []


def test_the_test_sees_a_module_that_has_no_business_there() -> None:
    (after,) = loaded("import json, sys, shuffledp.ledger\nprint(json.dumps([sorted(sys.modules)]))")
    assert {"shuffledp.ledger", "shuffledp.accounting.guarantee", "shuffledp.randomizers.krr"} <= set(foreign(after))
