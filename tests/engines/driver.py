"""A driver outside this process, to be killed in the middle of its work: it has committed one
drawing of ours, and is writing another one, and a naive one.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.engines.cluster import WORKERS, Cluster, guarded, wait_for
from tests.engines.naive import Naively
from tests.engines.spies import Trouble
from tests.engines.watched import Watched

WAITS = Trouble("waits", 1)
CONF = {
    # Publishes what a task has written as soon as it is done with it; ours must not care.
    "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
    "spark.master": f"local[{WORKERS}]",  # it dies with all that it started, and no executor is asked for
}


@dataclass(frozen=True)
class Drawings:
    """What the driver works on, for it or for whoever is started after it."""

    session: Any
    design: dict[str, Any]
    folder: Path

    @property
    def naive(self) -> Naively:
        return Naively(self.session, self.design, self._made("naive"))

    @property
    def begun(self) -> Watched:
        return Watched(self.session, self.design, self._made("begun"))

    @property
    def committed(self) -> Watched:
        return Watched(self.session, self.design, self._made("committed"))

    def _made(self, name: str) -> Path:
        place = self.folder / name
        place.mkdir(exist_ok=True)
        return place

    def half_done(self) -> bool:
        """Whether one task of two has ended everywhere, and the other one waits."""
        places = (self.naive.notes, self.begun.notes)
        ended = any(Path(self.naive.out).glob("part-*")) and any(self.begun.work.glob("reports/_temporary/0/task_*"))
        return ended and all((place / "waiting-1").exists() for place in places)


@contextmanager
def driving(cluster: Cluster, drawings: Drawings) -> Iterator[None]:
    """The program, half done; at the end it is killed, and its JVM with it."""
    told = {"design": drawings.design, "folder": str(drawings.folder)}
    told |= {"port": cluster.port, "logs": str(cluster.folder)}
    command = (sys.executable, "-m", "tests.engines.driver", json.dumps(told))
    with guarded(cluster.folder, "driver", *command):
        wait_for(drawings.half_done, "the driver", cluster)
        yield


def drive(port: int, logs: str, design: dict[str, Any], folder: str) -> None:
    session = Cluster(port, Path(logs)).session("driver", **CONF)
    drawings = Drawings(session, design, Path(folder))
    drawings.committed.encode(tallied=True)
    threading.Thread(target=drawings.naive.append, args=[WAITS]).start()
    drawings.begun.encode(WAITS, tallied=True)


if __name__ == "__main__":
    drive(**json.loads(sys.argv[1]))
