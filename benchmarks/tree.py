"""What a command costs with everything that it starts: CPU seconds and peak memory of the whole
tree of processes. ``python -m benchmarks.tree COMMAND...`` prints them as JSON, after the command's
own output.

A JVM, the workers that it forks and a daemon that outlives its parent all belong to the tree: whoever
loses its parent becomes this process's child (Linux: PR_SET_CHILD_SUBREAPER), which waits for all of
them, so that the kernel adds up their time.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["Cost", "measured"]

SUBREAPER = 36
EVERY = 0.1  # seconds between two looks at the memory
PATIENCE = 30.0  # seconds in which what was left behind must have ended by itself


@dataclass(frozen=True, slots=True)
class Cost:
    """User and system seconds of all processes together, and the largest sum of their memory that
    was seen, shared pages counted once.
    """

    cpu: float
    megabytes: float


def measured(command: Sequence[str], *, cwd: Path | None = None) -> Cost:
    """What ``command`` costs; one that fails is an error, with its last words."""
    call = [sys.executable, "-m", "benchmarks.tree", *command]
    done = subprocess.run(call, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def _tree() -> set[int]:
    """All processes that descend from this one."""
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            parents[int(name)] = int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
    found, size = {os.getpid()}, 0
    while len(found) > size:
        size = len(found)
        found |= {process for process, parent in parents.items() if parent in found}
    return found - {os.getpid()}


def _megabytes() -> float:
    total = 0
    for process in _tree():
        with suppress(OSError):
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024.0


def _wait_for_all() -> None:
    """Until no process of the tree is left; who stays too long is ended."""
    latest = time.monotonic() + PATIENCE
    while True:
        try:
            process, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if process == 0:
            if time.monotonic() > latest:
                for each in _tree():
                    with suppress(ProcessLookupError):
                        os.kill(each, signal.SIGKILL)
            time.sleep(0.02)


def main() -> int:
    """Run the command, and say what it cost."""
    if ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "this system does not hand orphans over")
    seen, over = [0.0], threading.Event()

    def look() -> None:
        while not over.wait(EVERY):
            seen[0] = max(seen[0], _megabytes())

    looking = threading.Thread(target=look)
    looking.start()
    code = subprocess.Popen(sys.argv[1:]).wait()
    _wait_for_all()
    over.set()
    looking.join()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps(asdict(Cost(used.ru_utime + used.ru_stime, seen[0]))))
    return code


if __name__ == "__main__":
    sys.exit(main())
