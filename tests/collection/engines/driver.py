"""A driver outside this process, to be killed in the middle of its work."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.collection.engines.cluster import ROOT, Cluster, environment
from tests.collection.engines.naive import Naively
from tests.collection.engines.spies import Trouble


@contextmanager
def driving(cluster: Cluster, design: dict[str, Any], notes: Path) -> Iterator[None]:
    """The program; at the end it is killed with its JVM, as if the machine had lost its power."""
    told = json.dumps({"port": cluster.port, "folder": str(cluster.folder), "design": design, "notes": str(notes)})
    with (cluster.folder / "driver.log").open("wb") as log:
        program = subprocess.Popen(
            [sys.executable, "-m", "tests.collection.engines.driver", told],
            cwd=ROOT,
            env=environment(cluster.folder),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield
    finally:
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()


def drive(port: int, folder: str, design: dict[str, Any], notes: str) -> None:
    session = Cluster(port, Path(folder)).session("driver")
    Naively(session, design, Path(notes)).append(Trouble("waits", 1))


if __name__ == "__main__":
    drive(**json.loads(sys.argv[1]))
