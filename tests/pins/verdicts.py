"""The table of all verdicts: every question, mechanism and number of rounds, released by the commands
and verified. ``python -m tests.pins.verdicts`` compares it with the kept one, ``--write``
keeps what was found; names of cases run those alone.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

from shuffledp.cli import main
from shuffledp.release import arguments
from shuffledp.release.options import Option

__all__ = ["CASES", "KEPT", "found"]

KEPT = Path(__file__).with_name("verdicts.json")
ROUNDS = (1, 2, 4, 13)
PEOPLE = 3000
HIDDEN = {
    "krr": "",
    "fakes": "--mechanism fakes",
    "fakes, poisson": "--mechanism fakes",
    "fakes, light": "--mechanism fakes",
    "dummies": "--mechanism dummies",
    "dummies, kept": "--mechanism dummies",
    "dummies, poisson": "--mechanism dummies",
    "dummies, light": "--mechanism dummies",
}
SHARED = {"one message": "", "shared noise": ""}
CHOICES: dict[str, dict[str, Any]] = {  # that only Python takes
    "fakes, poisson": {"kind": "poisson"},
    "fakes, light": {"light_epsilon0": 6.0},
    "dummies": {"kind": "geometric"},
    "dummies, kept": {"kept": 0.9},
    "dummies, poisson": {"kind": "poisson"},
    "dummies, light": {"light_epsilon0": 6.0},
    "one message": {"messages": 1},
}
ENCODED = {name: f"--mechanism {name}" for name in ("hadamard", "hash", "subset", "oue")}
COLUMNS = {
    "histogram": "--column letter --categories a,b,c,d,e,f",
    "two values": "--column group --categories p,q",
    "crosstab": "--column letter --column group --categories letter=a,b,c,d,e,f --categories group=p,q",
    "quantile": "--column number --lower 0 --upper 100 --bins 16",
    "mean": "--column number --lower 0 --upper 100",
    "sum": "--column number --lower 0 --upper 100",
    "count": "--column letter --value a",
    "top": "--column word --words 2 --longest 2 --tokens tokens.txt",
}
WAYS = {
    "histogram": HIDDEN | ENCODED,
    "two values": HIDDEN,
    "crosstab": HIDDEN,
    "quantile": HIDDEN,
    "mean": SHARED,
    "sum": SHARED,
    "count": SHARED,
    "top": {"krr": ""},
}
CASES = {
    f"{question}: {way}, {rounds} round{'s' * (rounds > 1)}": (question, way, rounds)
    for question, ways in WAYS.items()
    for way, rounds in product(ways, ROUNDS)
}


def found(name: str) -> str:
    """The verdict, and why it is not a pass; or why the command refuses."""
    question, way, rounds = CASES[name]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _write_table()
        promise = "--epsilon 2 --delta 1e-3" if question == "top" else "--epsilon 1 --delta 1e-6"
        command = "histogram" if question == "two values" else question
        several = f"--rounds {rounds}" if rounds > 1 else ""
        options = f"{COLUMNS[question]} {WAYS[question][way]} {promise} {several} --out page"
        with _choosing(CHOICES.get(way, {})):
            code, said = _answer(command, "people.csv", *options.split())
        if code:
            return f"refused: {said[:160]}"
        code, said = _answer("verify", "page/page.html", "--json", "--seconds", "300")
        told = json.loads(said)
        if told["verdict"] == "pass":
            return "pass"
        outcome = "FAIL" if told["failed"] else "not checked"
        why = [f"{check['what']}: {check['how']}" for check in told["checks"] if check["outcome"] == outcome]
        vital = [each for each in why if outcome == "FAIL" or "not decided" in each or "again" in each]
        return f"{told['verdict']}: {'; '.join(vital)}"


@contextlib.contextmanager
def _choosing(choices: dict[str, Any]) -> Iterator[None]:
    """While it lasts, the commands choose this."""
    complete = arguments.complete

    def chosen(options: Mapping[str, Option], given: Mapping[str, Any]) -> dict[str, Any]:
        return complete(options, {**given, **{name: each for name, each in choices.items() if name in options}})

    with mock.patch.object(arguments, "complete", chosen):
        yield


def _write_table() -> None:
    drawn = random.Random(1)
    rows = ["letter,group,number,word"]
    for _ in range(PEOPLE):
        word = "ab" if drawn.random() < 0.75 else "ba"
        rows.append(f"{drawn.choice('abcdef')},{drawn.choice('pq')},{100.0 * drawn.random():.3f},{word}")
    Path("people.csv").write_text("\n".join(rows) + "\n")
    Path("tokens.txt").write_text("a\nb\n")


def _answer(*arguments: str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return code, out.getvalue() if code in (0, 1, 3) else " ".join(err.getvalue().split())


def run(names: list[str], *, write: bool) -> int:
    """Two processes; every verdict as it comes, then the differences. 1 if there are any."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    mine: dict[str, str] = {}
    with ProcessPoolExecutor(2) as pool:
        waiting = {pool.submit(found, name): name for name in names}
        for done, future in enumerate(as_completed(waiting), 1):
            name = waiting[future]
            mine[name] = future.result()
            print(f"{done} of {len(names)}: {name}: {mine[name]}", flush=True)
            if write:
                table = kept | mine
                KEPT.write_text(json.dumps({each: table[each] for each in CASES if each in table}, indent=1) + "\n")
    changed = [name for name in mine if kept.get(name) != mine[name]]
    for name in changed:
        print(f"changed: {name}: {kept.get(name, 'not kept')} -> {mine[name]}")
    return int(bool(changed) and not write)


if __name__ == "__main__":
    asked = [each for each in sys.argv[1:] if each != "--write"]
    names = [name for name in CASES if not asked or any(name.startswith(each) for each in asked)]
    sys.exit(run(names, write="--write" in sys.argv))
