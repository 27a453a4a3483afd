"""How long a fresh process takes to be ready: user and system CPU, the best of five.

``python -m benchmarks.startup`` measures its own Python, ``python -m benchmarks.startup PYTHON``
another one. Two checkouts are compared in turns, by the Python of each:
``python -m benchmarks.startup BEFORE AFTER``. In ``make bench`` the variable ``BEFORE`` names the other.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.result import Result

REPEATS = 5
TRIES = 4
MOST_RATIO = 1.05
MOST_BEYOND = 0.5  # seconds

# What is imported, by the names it has had; the first that a checkout knows is taken.
IMPORTS = {
    "the package": ("shuffledp",),
    "a design": ("shuffledp.design",),
    "the clients' side": ("shuffledp.client",),
    "the page": ("shuffledp.page.page", "shuffledp.page.document"),
    "the oracle": ("shuffledp.judge.oracle",),
}
KNOWN = """
import importlib.util, sys
def known(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
print(next((name for name in sys.argv[1:] if known(name)), ""))
"""
LOADED = """
import importlib, sys
importlib.import_module(sys.argv[1])
ours = sum(name.partition(".")[0] == "shuffledp" for name in sys.modules)
heavy = [name for name in ("numpy", "scipy", "matplotlib", "pyarrow", "cryptography") if name in sys.modules]
print(f"{ours} modules of ours, {' '.join(heavy) or 'no other'}")
"""

PROMISE = "--epsilon 1 --delta 1e-6"
ASKED = f"histogram people.csv --column answer --categories yes,no {PROMISE} --out made"
BUDGET = "--ledger made.sqlite --population people --limit-epsilon 4 --limit-delta 1e-6"
DESIGN = f"stage design histogram --categories yes,no --n 40 {PROMISE} --out design.json"
COMMANDS = {
    "--help": "--help",
    "epsilon": "epsilon --randomizer krr --k 16 --epsilon0 4 --n 10000 --delta 1e-6",
    "encode, 40 rows": "stage encode people.csv --column answer --design design.json --out made.parquet",
    "histogram, 40 rows": ASKED,
    "histogram --ledger, 40 rows": f"{ASKED} {BUDGET}",
    "verify of that histogram": "verify kept/page.html",
}


@dataclass(frozen=True, slots=True)
class Checkout:
    """A Python that finds one version of shuffledp, with a folder of its own to work in."""

    python: str
    folder: Path

    def prepare(self) -> None:
        """A small table, and what the commands read."""
        self.folder.mkdir()
        rows = "".join(f"{'yes' if i % 3 else 'no'},{20 + i}\n" for i in range(40))
        (self.folder / "people.csv").write_text(f"answer,age\n{rows}", encoding="utf-8")
        self.run("-m", "shuffledp", *DESIGN.split())
        self.run("-m", "shuffledp", *ASKED.replace("made", "kept").split())

    def run(self, *words: str) -> str:
        """What a process says that must succeed; whatever an earlier one made is gone."""
        for path in self.folder.glob("made*"):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(self.folder.parent / "bytecode")
        line = [self.python, *words]
        return subprocess.check_output(line, cwd=self.folder, env=environment, text=True)

    def seconds(self, words: Sequence[str]) -> float:
        """User and system time of one such process."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.run(*words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def starts(before: str | None = None, after: str = sys.executable) -> list[Result]:
    """Every row: of one Python, or of two with the ratio of the second to the first."""
    named = before or os.environ.get("BEFORE")
    pythons = [after] if named is None else [named, after]
    with tempfile.TemporaryDirectory() as folder:
        checkouts = [Checkout(python, Path(folder) / f"checkout{i}") for i, python in enumerate(pythons)]
        for checkout in checkouts:
            checkout.prepare()
        results = [_measured("python -c pass", checkouts, [("-c", "pass")] * len(checkouts), limited=False)]
        for what, names in IMPORTS.items():
            found = [checkout.run("-c", KNOWN, *names).strip() for checkout in checkouts]
            if not all(found):
                results.append(Result(f"import {what}", f"none of {', '.join(names)}"))
                continue
            results.append(_measured(f"import {what}", checkouts, [("-c", f"import {name}") for name in found]))
            for checkout, name in zip(checkouts, found, strict=True):
                results.append(Result(f"  {name}", checkout.run("-c", LOADED, name).strip()))
        for what, words in COMMANDS.items():
            line = ("-m", "shuffledp", *words.split())
            results.append(_measured(f"shuffledp {what}", checkouts, [line] * len(checkouts)))
        results.append(_beyond(checkouts[-1]))
    return results


def _measured(what: str, checkouts: list[Checkout], words: Sequence[Sequence[str]], *, limited: bool = True) -> Result:
    """The best of each, taken in turns, after one run that compiles and is not counted.

    What seems slower is measured again, both of them: on a busy machine five runs differ by more than 5 %.
    """
    for checkout, line in zip(checkouts, words, strict=True):
        checkout.run(*line)
    best = [float("inf")] * len(checkouts)
    for _ in range(TRIES):
        for _ in range(REPEATS):
            times = [checkout.seconds(line) for checkout, line in zip(checkouts, words, strict=True)]
            best = [min(pair) for pair in zip(best, times, strict=True)]
        if not limited or best[-1] <= MOST_RATIO * best[0]:
            break
    measured = " -> ".join(f"{seconds:.3f}" for seconds in best) + " s of CPU"
    if len(best) == 1:
        return Result(what, measured)
    ratio = best[1] / best[0]
    if not limited:
        return Result(what, f"{measured}, {ratio:.2f}x")
    return Result(what, f"{measured}, {ratio:.2f}x", f"at most {MOST_RATIO:g}x", ratio <= MOST_RATIO)


def _beyond(checkout: Checkout) -> Result:
    """What a histogram takes beyond the imports that it cannot do without: the best of each, in turns."""
    lines = ("-m", "shuffledp", *ASKED.split()), ("-c", "import numpy, scipy.special, pyarrow")
    whole, needed = map(min, zip(*[[checkout.seconds(line) for line in lines] for _ in range(REPEATS)], strict=True))
    measured = f"{whole:.3f} - {needed:.3f} = {whole - needed:.3f} s of CPU"
    return Result(f"  beyond {lines[1][1]}", measured, f"at most {MOST_BEYOND} s", whole - needed <= MOST_BEYOND)


def main() -> int:
    """The rows of one Python or of two, as ``python -m benchmarks`` has them."""
    given = sys.argv[1:]
    rows = starts(*given) if len(given) == 2 else starts(None, *given)
    for row in rows:
        verdict = {True: "met", False: "MISSED", None: ""}[row.met]
        print(f"{row.what:44} {row.measured:60} {row.target:16} {verdict}")
    return 1 if any(row.met is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
