"""A program that spends, and is killed, starved of disk or raced against others; it prints what was
acknowledged, as JSON.

It forks, so that a hundred deaths cost one start. ``quick`` replaces the accountant by a constant:
then most of a spend is SQLite, and most deaths fall into its writes.
"""

import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from shuffledp.errors import InvalidInput
from shuffledp.ledger import Ledger, OverLimit, charge, spending
from shuffledp.ledger import file as store
from tests.ledger.made import LIMITS, entry


def crowd(act: Callable[[Path, int], dict[str, object]], paths: list[Path], tries: int) -> list[dict[str, object]]:
    """Do the same in several processes at once, one for each name of the ledger."""
    children = [_child(lambda path=path: print(json.dumps(act(path, tries)))) for path in paths]
    answers = []
    for child, printed in children:
        with os.fdopen(printed) as lines:
            answers.append(json.loads(lines.read()))
        os.waitpid(child, 0)
    return answers


def race(path: Path, tries: int) -> dict[str, object]:
    """Try to spend so many times."""
    accepted, refused = [], 0
    for _ in range(tries):
        try:
            accepted.append(Ledger(path).spend("p", entry(), **LIMITS).id)
        except OverLimit:
            refused += 1
    return {"accepted": accepted, "refused": refused}


def blind(path: Path, tries: int) -> dict[str, object]:
    """The same, slowly, without a look at how many names the file has: only its lock is left."""
    store._one_name, record = lambda *_: None, spending._record
    spending._record = lambda *facts, **more: time.sleep(0.2) or record(*facts, **more)
    return race(path, tries)


def kill(path: Path, deaths: int) -> dict[str, object]:
    """Let a child spend without end, and kill it after its first receipt, at a random moment of its
    second release; again and again.
    """
    moment, acknowledged = random.Random(1), []
    for _ in range(deaths):
        begun = time.monotonic()
        child, printed = _child(lambda: _spend_for_ever(path))
        with os.fdopen(printed) as lines:
            first = lines.readline()
            _end(child, (time.monotonic() - begun) * moment.random())
            acknowledged += [int(line) for line in (first + lines.read()).split()]
    return {"acknowledged": acknowledged}


def kill_fresh(folder: Path, deaths: int) -> dict[str, object]:
    """Kill a child at a random moment of its first release, which creates the ledger; each on its
    own.
    """
    begun, moment, acknowledged = time.monotonic(), random.Random(2), {}
    _spend(folder / "whole.sqlite")
    once = time.monotonic() - begun
    for death in range(deaths):
        child, printed = _child(lambda name=f"{death}.sqlite": _spend(folder / name))
        _end(child, once * moment.random())
        with os.fdopen(printed) as lines:
            acknowledged[f"{death}.sqlite"] = len(lines.read().split())
    return {"acknowledged": acknowledged}


def starve(path: Path, sizes: list[int]) -> dict[str, object]:
    """Spend while no file may grow beyond a size; the sentences that refuse it."""
    accepted, sentences = [], []
    for size in sizes:
        child, printed = _child(lambda size=size: _spend_in(path, size))
        os.waitpid(child, 0)
        with os.fdopen(printed) as lines:
            said = lines.read().strip()
        (accepted if said.isdigit() else sentences).append(said)
    return {"accepted": accepted, "sentences": sentences}


def _child(act: Callable[[], None]) -> tuple[int, int]:
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(readable)
        os.dup2(writable, sys.stdout.fileno())
        try:
            act()
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.close(writable)
    return child, readable


def _end(child: int, after: float) -> None:
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _spend_for_ever(path: Path) -> None:
    while True:
        _spend(path)


def _spend(path: Path) -> None:
    print(Ledger(path).spend("p", entry(n=10**9), limit_epsilon=5.0, limit_delta=1e-6).id, flush=True)


def _spend_in(path: Path, size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        print(Ledger(path).spend("p", entry(), **LIMITS).id)
    except InvalidInput as error:
        print(error)


def main() -> None:
    """Run ``spender MODE PATHS [NUMBERS] [quick]``; the last line printed is the answer."""
    mode, given = sys.argv[1], [each for each in sys.argv[2:] if each != "quick"]
    paths, numbers = (
        [Path(each) for each in given if not each.isdigit()],
        [int(each) for each in given if each.isdigit()],
    )
    path = paths[0]
    if "quick" in sys.argv:
        total = charge.composed(entry(n=10**9).mechanisms)
        charge.composed = spending.composed = lambda _: total
    answers = {
        "race": lambda: crowd(race, paths, *numbers),
        "blind": lambda: crowd(blind, paths, *numbers),
        "kill": lambda: kill(path, *numbers),
        "kill-fresh": lambda: kill_fresh(path, *numbers),
        "starve": lambda: starve(path, numbers),
    }
    print(json.dumps(answers[mode]()))


if __name__ == "__main__":
    main()
