"""Two checkouts beside each other: is any answer slower than it was?

``python -m benchmarks.two BEFORE AFTER [--runs 9] [--most 1.10] [--only TEXT]``

Each of BEFORE and AFTER is a folder with a checkout, or a Python that has one installed. A checkout
with a ``.venv`` is run by its Python, any other by this one with its ``src`` first on the path.

Every answer is a command in a fresh process. Both checkouts give it once without being counted, then
in turns, and which of them begins changes from turn to turn. The number is the median, over the turns,
of AFTER's CPU time (user and system, of all threads and children) divided by BEFORE's; above ``--most``
the answer is slower, and the exit code is 1. A command that has other words in one of the checkouts is
given by several lines, of which a checkout takes the first that it understands. An answer that only
AFTER lacks makes the exit code 1 too; one that only BEFORE lacks is listed.

Where other work shares the machine, a median can be off by 5 %: run it again before it is believed.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Checkout", "Row", "compared", "main", "ratio"]

RUNS, MOST = 9, 1.10
MANY = 1_000_000
KRR = "--randomizer krr --k 16 --epsilon0 4"
PROMISE = "--epsilon 1 --delta 1e-6"
# What the answers read. They write to "made", which is removed before each of them.
PREPARED: tuple[tuple[str, ...], ...] = (
    (f"histogram people.csv --column answer --categories yes,no {PROMISE} --out kept",),
    (
        f"design histogram --categories yes,no --n 40 {PROMISE} --out design.json",
        f"stage design histogram --categories yes,no --n 40 {PROMISE} --out design.json",
    ),
    (
        f"design histogram --categories yes,no --n {MANY} {PROMISE} --out many.json",
        f"stage design histogram --categories yes,no --n {MANY} {PROMISE} --out many.json",
    ),
    (
        "encode many.csv --column answer --design many.json --out encoded.parquet",
        "stage encode many.csv --column answer --design many.json --out encoded.parquet",
    ),
    ("shuffle encoded.parquet --out many.parquet", "stage shuffle encoded.parquet --out many.parquet"),
    (
        "collection new --design design.json --shuffler https://shuffle.example.org --out study",
        "survey new --design design.json --shuffler https://shuffle.example.org --out study",
    ),
)
ANSWERS: dict[str, tuple[str, ...]] = {
    "--help": ("--help",),
    "histogram --help": ("histogram --help",),
    "epsilon": (f"epsilon {KRR} --n 10000 --delta 1e-6",),
    "epsilon, 10 rounds": (f"epsilon {KRR} --n 10000 --rounds 10 --delta 1e-6",),
    "delta": (f"delta {KRR} --n 10000 --epsilon 0.5",),
    "calibrate": (f"calibrate --randomizer krr --k 16 --n 10000 {PROMISE}",),
    "plan": (f"plan histogram --domain 16 --n 10000 {PROMISE}", f"plan histogram --categories 16 --n 10000 {PROMISE}"),
    "histogram, 40 rows": (f"histogram people.csv --column answer --categories yes,no {PROMISE} --out made",),
    "mean, 40 rows": (f"mean people.csv --column age --lower 0 --upper 100 {PROMISE} --out made",),
    "quantile, 40 rows": (f"quantile people.csv --column age --lower 0 --upper 100 --bins 16 {PROMISE} --out made",),
    "crosstab, 40 rows": (
        f"crosstab people.csv --column answer --column side --categories yes,no --categories a,b {PROMISE} --out made",
    ),
    "top, 16,000 rows": (
        f"top words.csv --column word --tokens letters.txt --longest 2 --k 3 {PROMISE} --out made",
        f"top words.csv --column word --tokens letters.txt --longest 2 --words 3 {PROMISE} --out made",
    ),
    "verify": ("verify kept/page.html", "verify kept/report.html"),
    "encode, 40 rows": (
        "encode people.csv --column answer --design design.json --out made.parquet",
        "stage encode people.csv --column answer --design design.json --out made.parquet",
    ),
    "send --dry-run": (
        "send study/collection.json --value yes --dry-run",
        "survey send study/collection.json --value yes --dry-run",
    ),
    "analyse, 1,000,000 reports": ("analyse many.parquet --out made", "stage analyze many.parquet --out made"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Checkout:
    """One version of shuffledp, with a folder of its own to work in."""

    python: str
    source: Path | None
    folder: Path

    @classmethod
    def of(cls, given: str, folder: Path) -> Checkout:
        """The one that a word of the command line names."""
        path = Path(given).absolute()
        if path.is_file():
            return cls(str(path), None, folder)
        if not (path / "src" / "shuffledp").is_dir():
            raise SystemExit(f"{given} must be a checkout of shuffledp or a Python, got neither.")
        own = path / ".venv" / "bin" / "python"
        return cls(str(own) if own.exists() else sys.executable, path / "src", folder)

    def prepare(self) -> None:
        """The tables, and what the commands read beside them."""
        self.folder.mkdir()
        rows = "".join(f"{'yes' if i % 3 else 'no'},{20 + i},{'ab'[i % 2]}\n" for i in range(40))
        words = "ab\n" * 9000 + "b\n" * 5000 + "c\n" * 2000
        many = "".join("yes\n" if i % 3 else "no\n" for i in range(MANY))
        texts = {"people.csv": f"answer,age,side\n{rows}", "words.csv": f"word\n{words}", "letters.txt": "a\nb\nc\n"}
        for name, text in (texts | {"many.csv": f"answer\n{many}"}).items():
            (self.folder / name).write_text(text, encoding="utf-8")
        for lines in PREPARED:
            self.line(lines)

    def line(self, lines: Sequence[str]) -> str | None:
        """The first of the lines that this checkout understands, or None."""
        return next((line for line in lines if self.run(line)), None)

    def run(self, line: str) -> bool:
        """Run a command; whether it succeeded."""
        for path in self.folder.glob("made*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"), "OMP_NUM_THREADS": "1"}
        environment |= {} if self.source is None else {"PYTHONPATH": str(self.source)}
        words = [self.python, "-m", "shuffledp", *line.split()]
        done = subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, check=False)
        return done.returncode == 0

    def seconds(self, line: str) -> float:
        """User and system time of a command that was understood before."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not self.run(line):
            raise SystemExit(f"{self.source or self.python}: `shuffledp {line}` worked once, and then failed.")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@dataclass(frozen=True, slots=True)
class Row:
    """An answer's times, turn by turn; None of a checkout that has no such answer."""

    what: str
    before: tuple[float, ...] | None
    after: tuple[float, ...] | None

    def told(self, most: float) -> tuple[str, bool]:
        """A line for people, and whether it is as it should be."""
        if self.before is None or self.after is None:
            lacking = [name for name, times in (("BEFORE", self.before), ("AFTER", self.after)) if times is None]
            return f"{self.what:28} not answered by {' and '.join(lacking)}", self.after is not None
        found = ratio(self.before, self.after)
        times = f"{statistics.median(self.before):8.3f} -> {statistics.median(self.after):.3f} s"
        return f"{self.what:28}{times}{found:8.2f}x{'  SLOWER' * (found > most)}", found <= most


def ratio(before: Sequence[float], after: Sequence[float]) -> float:
    """The median of the ratios of each turn: what slows both of a turn down cancels.

    >>> ratio([1.0, 2.0, 1.0], [1.1, 2.2, 9.0])
    1.1
    """
    return statistics.median(new / old for old, new in zip(before, after, strict=True))


def compared(what: str, lines: Sequence[str], before: Checkout, after: Checkout, runs: int) -> Row:
    """Both checkouts in turns, after one run each that is not counted."""
    both = (before, after)
    chosen = [checkout.line(lines) for checkout in both]
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(runs):
        for place in (0, 1) if turn % 2 == 0 else (1, 0):
            if all(chosen):
                times[place].append(both[place].seconds(chosen[place] or ""))
    known = [tuple(found) if line else None for found, line in zip(times, chosen, strict=True)]
    return Row(what, known[0], known[1])


def main(words: Sequence[str] | None = None) -> int:
    """A line for each answer; 1 if one is slower or gone."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.two", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--runs", type=int, default=RUNS, help="turns that are counted, %(default)s")
    parser.add_argument("--most", type=float, default=MOST, help="the largest ratio, %(default)s")
    parser.add_argument("--only", default="", help="answers whose name holds this text")
    given = parser.parse_args(words)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        names = ((given.before, "before"), (given.after, "after"))
        before, after = (Checkout.of(path, Path(folder) / name) for path, name in names)
        before.prepare()
        after.prepare()
        for what, lines in ANSWERS.items():
            if given.only in what:
                line, good = compared(what, lines, before, after, given.runs).told(given.most)
                print(line, flush=True)
                bad += not good
    print(f"{bad} answers slower than {given.most:g}x, or gone" if bad else f"no answer slower than {given.most:g}x")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
