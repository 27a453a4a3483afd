"""A session of Spark: opened, looked over before anything is drawn in it, and what it says when it
fails, as one sentence.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from shuffledp.errors import InvalidInput, ShuffledpError, shown, unpacked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AT_ONCE = 1 << 16  # rows that a worker is handed at once: Spark's 10,000 cost more than they hold
ROWS_AT_ONCE = "spark.sql.execution.arrow.maxRecordsPerBatch"
PROTOCOL = "spark.sql.sources.commitProtocolClass"
COMMITTING = "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
# By these Spark notices that a stage which ran again made other rows than before, when some of the
# old ones were read already: it gives up then, where a person could be in both.
NOTICING = "spark.sql.shuffle.orderIndependentChecksum"
NOTICED = (f"{NOTICING}.enabled", f"{NOTICING}.enableFullRetryOnMismatch")
SHUFFLED = re.compile(r"\b(Shuffled|CoGrouped|Subtracted)RDD\[")  # in an RDD's lineage
# What a worker refused, among what Spark says of it.
REFUSED = re.compile(r"shuffledp\.errors\.InvalidInput: (.*?)(?=\n\s*\n|\n\s+at |\nDriver stacktrace|\Z)", re.S)
SHOWN = 300


class EngineFailed(ShuffledpError):
    """An engine could not finish; nothing of what it began is read."""


def check_installed() -> None:
    """Refuse to go on without pyspark."""
    try:
        import pyspark.sql  # noqa: F401
    except ModuleNotFoundError:
        raise InvalidInput(
            "pyspark must be installed for Spark, got no module named pyspark. pip install 'shuffledp[spark]'"
        ) from None


def check_java() -> str:
    """Return the program that Spark starts, or refuse to open a session without Java."""
    home = os.environ.get("JAVA_HOME") or None  # an empty one is none, as for Spark
    java = shutil.which("java") if home is None else shutil.which(os.path.join(home, "bin", "java"))
    if java is None:
        where = "on the PATH" if home is None else f"in JAVA_HOME, {home!r}"
        raise InvalidInput(
            f"Java 17 or later must be installed for Spark, got no program java {where}. On Debian: apt install "
            f"openjdk-17-jre-headless"
        )
    return java


def _first_words(java: str) -> str:
    """What a Java says of itself."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{java!r}, which cannot be run: {error}"
    return " ".join(said.stderr.split("\n")[0].split())[:SHOWN] or repr(java)


def open_session(master: str) -> SparkSession:
    """A quiet session at ``master``, with the Python that runs here on workers of this machine."""
    check_installed()
    java = check_java()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master(master).appName("shuffledp")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        for name, value in LOCAL.items():
            builder = builder.config(name, value)
    try:
        with _muffled():
            with _undisturbed():
                cast(Any, SparkContext)._ensure_initialized()
            session: SparkSession = builder.getOrCreate()
    except Exception as error:  # whatever Java and the network say
        if "JAVA_GATEWAY_EXITED" in str(error):
            raise InvalidInput(
                f"Java must be 17 or later, and start, for Spark, got one that ended at once: {_first_words(java)}. On "
                f"Debian: apt install openjdk-17-jre-headless; JAVA_HOME says which one is used."
            ) from None
        raise InvalidInput(
            f"--engine must be the address of a Spark cluster that answers, got {master!r}: {first_line(error)}. "
            f"Write, for example, local[*] or spark://host:7077."
        ) from None
    return session


@contextmanager
def session_at(master: str) -> Iterator[SparkSession]:
    """The session that this process has already, or one at ``master`` for a while."""
    check_installed()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None:  # in whatever thread
        yield SparkSession.builder.getOrCreate()
        return
    session = open_session(master)
    try:
        yield session
    finally:
        session.stop()


SETTINGS = {
    "spark.log.level": "OFF",
    "spark.speculation": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    **dict.fromkeys(NOTICED, "true"),
    # A folder's name such as code=01 is text, as it would be in a file.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}
LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


@contextmanager
def _muffled() -> Iterator[None]:
    """Keep what Java says at its start, and after it, from the terminal: it inherits our standard
    error, whatever that is when it starts.
    """
    sys.stderr.flush()
    ours = os.dup(2)
    with tempfile.TemporaryFile() as nowhere:
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(ours, 2)
            os.close(ours)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Heed Ctrl-C when this is over: a Java that is left alone while it starts never ends."""
    before = signal.getsignal(signal.SIGINT)
    heard: list[int] = []
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        signal.raise_signal(signal.SIGINT)


def check_frame(frame: object) -> DataFrame:
    """Return ``frame`` if it is one whose reports can be committed."""
    check_installed()
    from pyspark.sql import DataFrame

    if type(frame).__module__.startswith("pyspark.sql.connect"):
        raise InvalidInput(
            "frame must be of a session of Spark itself, got one of Spark Connect, which does not let us see to it "
            "that reports are committed once. Run this where the driver runs."
        )
    if not isinstance(frame, DataFrame):
        raise InvalidInput(
            f"frame must be a DataFrame of Spark, got {shown(frame)}. Read it by spark.read.parquet(...)."
        )
    check_running(frame.sparkSession)
    if frame.isStreaming:
        raise InvalidInput(
            "frame must end, got a stream. Collect for a while, write that to a table, and read the table."
        )
    if not frame._jdf.queryExecution().analyzed().deterministic():
        raise InvalidInput(
            "frame must be the same however often Spark computes it, got one with a random function such as rand(): a "
            "person could be in it twice after a failure. Write it to a table, and read the table."
        )
    if _shuffled_outside(frame):
        raise InvalidInput(
            "frame must be computed by Spark's own operators, got one from an RDD with a shuffle, of which Spark does "
            "not notice when it is another one after a failure: a person could be in both. Write it to a table, and "
            "read the table."
        )
    return frame


def _shuffled_outside(frame: DataFrame) -> bool:
    """Whether a frame is made from an RDD that shuffles; what ``NOTICED`` says is not for those."""
    leaves: Any = frame._jdf.queryExecution().analyzed().collectLeaves()
    found = [leaves.apply(place) for place in range(leaves.size())]
    rdds = [leaf.rdd().toDebugString() for leaf in found if leaf.getClass().getSimpleName() == "LogicalRDD"]
    return any(SHUFFLED.search(lineage) for lineage in rdds)


def check_session(session: SparkSession) -> SparkSession:
    """Refuse settings under which Spark may publish two attempts of the same task."""
    conf: Any = session.sparkContext.getConf()
    if conf.get("spark.speculation", "false").lower() == "true":
        raise InvalidInput(
            "spark.speculation must be off where reports are drawn, got true: Spark would draw some people's reports "
            "twice. Start the session with spark.speculation=false."
        )
    if conf.get("spark.hadoop.outputCommitCoordination.enabled", "true").lower() != "true":
        raise InvalidInput(
            "spark.hadoop.outputCommitCoordination.enabled must be true where reports are drawn, got false: two "
            "attempts of a task could both be kept. Start the session without it."
        )
    if (protocol := session.conf.get(PROTOCOL)) != COMMITTING:
        raise InvalidInput(
            f"{PROTOCOL} must be Spark's own where reports are drawn, got {protocol!r}: what a failed task wrote must "
            f"not be kept. Write session.conf.unset({PROTOCOL!r})."
        )
    for name in NOTICED:
        if (noticed := _setting(session, name)) != "true":
            raise InvalidInput(
                f"{name} must be true where reports are drawn, got {noticed}: after a failure, people whom Spark put "
                f"elsewhere the second time could be in both. Write session.conf.set({name!r}, True), in Spark 4.1 or "
                f"later."
            )
    return session


def _setting(session: SparkSession, name: str) -> str:
    """A setting of a session, or what Spark does where it was not set."""
    try:
        return str(session.conf.get(name)).lower()
    except failures():
        return "a Spark that has no such setting"


def check_running(session: object) -> SparkSession:
    """Return ``session`` if it is one of Spark itself that has not ended."""
    check_installed()
    from pyspark.sql import SparkSession

    if not isinstance(session, SparkSession):
        raise InvalidInput(
            f"session must be one of Spark itself, got {shown(session)}. Make it by SparkSession.builder.getOrCreate()."
        )
    if session.sparkContext._jsc is None:
        raise InvalidInput("session must be running, got one that was stopped. Start another, and read the table anew.")
    return session


@contextmanager
def arrow_rows(session: SparkSession, rows: int = AT_ONCE) -> Iterator[None]:
    """Hand workers so many rows at once, for a while."""
    with setting(session, ROWS_AT_ONCE, rows):
        yield


@contextmanager
def setting(session: SparkSession, name: str, value: int) -> Iterator[None]:
    """Set something in a session, for a while."""
    before: Any = session.conf.get(name)
    session.conf.set(name, str(value))
    try:
        yield
    finally:
        session.conf.set(name, before)


@contextmanager
def one_sentence() -> Iterator[None]:
    """Say what a worker refused in its own words, and of any other failure what matters."""
    try:
        yield
    except failures() as error:
        text = str(error)
        if refused := REFUSED.search(text):
            raise InvalidInput(unpacked(" ".join(refused[1].split()))) from None
        if "No module named 'shuffledp'" in text:
            raise InvalidInput(
                "shuffledp must be installed on every worker, got one without it. Install the same version there, in "
                "the Python that PYSPARK_PYTHON names."
            ) from None
        if "[FAILED_READ_FILE" in text:
            raise InvalidInput(
                f"every file of a table must be whole, and like the others, got: {first_line(error)}. In CSV every row "
                f"must have the fields of the first line, in Parquet a column must be of one type in all files."
            ) from None
        raise EngineFailed(
            f"Spark must finish what it begins, got: {first_line(error)}. Nothing of it is read; mend that, and start "
            f"again."
        ) from error


def failures() -> tuple[type[Exception], ...]:
    """What Spark raises, of its own or of Java's."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JJavaError


def first_line(error: Exception) -> str:
    """What an error says before its stack; one of Python's, on a worker, says it after."""
    java = getattr(error, "java_exception", None)
    text = str(error) if java is None else str(java.getMessage() or java.toString())
    _, worker, stack = str(error).rpartition("Traceback (most recent call last):")
    lines = [line for line in stack.splitlines() if line[:1].strip()] if worker else text.splitlines()
    line = next((line.strip() for line in lines if line.strip()), type(error).__name__)
    return line.partition("SQLSTATE")[0].strip().rstrip(".")[:SHOWN]
