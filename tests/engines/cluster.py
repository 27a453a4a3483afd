"""A real standalone Spark cluster on loopback: one master, two workers, each a JVM of its own.

Every process hangs on a pipe that this process holds, so that all of them, and the executors that
the workers started, are gone when it ends, however it ends.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LOOPBACK = "127.0.0.1"
OLDEST_JAVA = 17
WORKERS, CORES = 2, 4  # so many cores in each that two drivers find room on one, when the other is lost
LONGEST = 120  # seconds after which something that was waited for counts as lost
# For few rows: a plan that is run once is not worth compiling, nor two partitions of it cutting into 200.
SMALL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.task.maxFailures": "2",  # no attack fails a task twice, and what is refused is refused again
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# Ends its whole process group as soon as nobody holds the other end of its standard input.
GUARDED = '"$@" </dev/null & cat >/dev/null; kill -9 0'


def missing() -> str | None:
    """Why there can be no cluster here, as a sentence with a remedy."""
    if importlib.util.find_spec("pyspark") is None:
        return "needs pyspark: pip install 'shuffledp[spark]'"
    java = _java()
    if java is None:
        return "needs Java 17: apt install openjdk-17-jre-headless"
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=LONGEST).stderr
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version[1]) < OLDEST_JAVA:
        return f"needs Java 17: apt install openjdk-17-jre-headless; found {said.splitlines()[:1]}"
    return None


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=None if home is None else f"{home}/bin")


@dataclass(frozen=True)
class Cluster:
    """Where it listens, where its processes write, and what a driver must be told to use it."""

    port: int
    folder: Path

    @property
    def master(self) -> str:
        return f"spark://{LOOPBACK}:{self.port}"

    @property
    def conf(self) -> dict[str, str]:
        """For a driver with one executor of one core on each worker."""
        return {
            **SMALL,
            "spark.master": self.master,
            "spark.cores.max": str(WORKERS),
            "spark.executor.cores": "1",
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": small_jvm(self.folder),
            "spark.driver.extraJavaOptions": small_jvm(self.folder),
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
            "spark.sql.adaptive.enabled": "false",
        }

    def session(self, name: str, **conf: str) -> Any:
        """A driver in this process; Spark allows one at a time."""
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.appName(name)
        for key, value in {**self.conf, **conf}.items():
            builder = builder.config(key, value)
        return builder.getOrCreate()

    def logs(self) -> str:
        """The last lines of everybody, for a test that failed."""
        written = [*self.folder.glob("*.log"), *self.folder.glob("workers/*/app-*/*/stderr")]
        return "\n".join(f"== {path.relative_to(self.folder)}\n{_tail(path)}" for path in sorted(written))


def _tail(path: Path, lines: int = 30) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])


def small_jvm(folder: Path) -> str:
    """Options of a machine that lives for a minute, and may be killed: nothing is worth compiling
    twice, or checking while it is loaded, and what it leaves is in ``folder``.
    """
    unchecked = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
    return f"-XX:+UseSerialGC -XX:TieredStopAtLevel=1 {unchecked} -Djava.io.tmpdir={folder}"


def environment(folder: Path) -> dict[str, str]:
    """Of every process of the cluster, and of its drivers."""
    return {
        **os.environ,
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_LAUNCHER_OPTS": small_jvm(folder),
        "SPARK_DAEMON_JAVA_OPTS": small_jvm(folder),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        # So that a worker finds the spies of the tests.
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
    }


@contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    """A cluster, stopped at the end with all that it started."""
    import pyspark

    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    where = ("--host", LOOPBACK, "--webui-port", 0)
    with ExitStack() as started:

        def start(name: str, daemon: str, *arguments: object) -> Path:
            command = (program, f"org.apache.spark.deploy.{daemon}", *where, *arguments)
            return started.enter_context(guarded(folder, name, *command))

        master = start("master", "master.Master", "--port", 0)
        wait_for(lambda: "New state: ALIVE" in master.read_text(), "the master", Cluster(0, folder))
        said = re.search(rf"Starting Spark master at spark://{LOOPBACK}:(\d+)", master.read_text())
        assert said is not None, master.read_text()
        cluster = Cluster(int(said[1]), folder)
        workers = []
        for each in range(WORKERS):
            place = ("--work-dir", folder / "workers" / str(each), "--cores", CORES, "--memory", "4g")
            workers.append(start(f"worker-{each}", "worker.Worker", *place, cluster.master))
        wait_for(lambda: all("Successfully registered" in log.read_text() for log in workers), "a worker", cluster)
        yield cluster


@contextmanager
def guarded(folder: Path, name: str, *command: object) -> Iterator[Path]:
    """A program and the log that it writes; at the end it is killed with all its children, as if
    the machine had lost its power.
    """
    log = folder / f"{name}.log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            ["sh", "-c", GUARDED, "sh", *map(str, command)],
            cwd=ROOT,
            env=environment(folder),
            stdin=subprocess.PIPE,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield log
    finally:
        process.communicate()  # closes its standard input


def wait_for(happened: Callable[[], object], what: str, cluster: Cluster) -> None:
    """Return once it did; a failure shows the logs."""
    patience = time.monotonic() + LONGEST
    while not happened():
        if time.monotonic() > patience:
            raise TimeoutError(f"{what} did not come within {LONGEST} s\n{cluster.logs()}")
        time.sleep(0.05)


def executors(session: Any) -> list[int]:
    """The process ids of the executors that work for a driver, found by the port it listens on."""
    told = f"--driver-url spark://CoarseGrainedScheduler@{LOOPBACK}:{session.conf.get('spark.driver.port')} "
    listed = subprocess.run(["ps", "-eww", "-o", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if told in line and "Backend" in line]


def lose(cluster: Cluster, session: Any, waiting: Path, write: Callable[[], object], *, worker: bool = False) -> None:
    """Run ``write``, and in the middle of it kill the executor whose attempt leaves the file
    ``waiting`` with the process id of its daemon; or the worker that started the executor.
    """
    ended = threading.Event()

    def strike() -> None:
        wait_for(lambda: ended.is_set() or (waiting.exists() and waiting.read_text()), "the attempt", cluster)
        executor = _parent(int(waiting.read_text()))
        assert executor in executors(session)
        os.kill(_parent(executor) if worker else executor, signal.SIGKILL)

    with ThreadPoolExecutor(1) as thread:
        struck = thread.submit(strike)
        try:
            write()
        finally:
            ended.set()
        struck.result()


def _parent(process: int) -> int:
    return int(subprocess.run(["ps", "-o", "ppid=", "-p", str(process)], capture_output=True, check=True).stdout)
