"""A driver outside this process, to be killed in the middle of its work."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.collection.engines.cluster import Cluster, guarded
from tests.collection.engines.naive import Naively
from tests.collection.engines.spies import Trouble


@contextmanager
def driving(cluster: Cluster, design: dict[str, Any], notes: Path) -> Iterator[None]:
    """The program; at the end it is killed, and its JVM with it."""
    told = json.dumps({"port": cluster.port, "folder": str(cluster.folder), "design": design, "notes": str(notes)})
    with guarded(cluster.folder, "driver", sys.executable, "-m", "tests.collection.engines.driver", told):
        yield


def drive(port: int, folder: str, design: dict[str, Any], notes: str) -> None:
    session = Cluster(port, Path(folder)).session("driver")
    Naively(session, design, Path(notes)).append(Trouble("waits", 1))


if __name__ == "__main__":
    drive(**json.loads(sys.argv[1]))
