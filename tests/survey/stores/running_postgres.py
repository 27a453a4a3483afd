"""A PostgreSQL server of one's own, to work with, to kill and to start again."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql

SETTINGS = {
    "fsync": "on",
    "max_connections": "30",
    "shared_buffers": "16MB",
    "dynamic_shared_memory_type": "mmap",  # in the folder, so that nothing stays when it is killed
    "min_wal_size": "2MB",
    "max_wal_size": "64MB",
    "checkpoint_timeout": "1h",  # the server's log has times of what it does by itself
    "log_checkpoints": "off",
}
PASSWORD = "a sentence, 100% secret"


def program(name: str) -> str | None:
    """Where the server's programs are: in PATH, or where Debian puts them."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *map(str, places)]))


def unprivileged() -> dict[str, Any]:
    """How a program is started that refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    import pwd

    users = {each.pw_name: each for each in pwd.getpwall()}
    found = users.get("postgres") or users["nobody"]
    return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}


def free_port() -> int:
    """One that nobody has, and that no outgoing connection is given: theirs begin at 32768."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_768)
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port


def roomy_memory() -> Path | None:
    """A folder in memory, if there is one with room. What a killed process has written is there as it
    is on a disk, and ten recoveries take seconds; to lose the power takes another test.
    """
    place = Path("/dev/shm")
    return place if place.is_dir() and shutil.disk_usage(place).free > 1 << 30 else None


class RunningPostgres:
    """The server, with two roles besides its ``owner``: ``shuffler``, who may do what the store
    recommends, and ``guest``, who may only make a schema.
    """

    def __init__(self, *, folder: Path | None = None, **settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pg", dir=folder or roomy_memory()))
        self.data, self.log = self.folder / "data", self.folder / "log"
        self._as = unprivileged()
        if self._as:
            os.chown(self.folder, self._as["user"], self._as["group"])
        self.port = free_port()
        command = [program("initdb"), "-D", self.data, "-U", "owner", "-A", "trust", "--no-sync", "--wal-segsize=1"]
        subprocess.run([*map(str, command), "--locale=C", "-E", "UTF8"], check=True, capture_output=True, **self._as)
        (self.data / "pg_hba.conf").write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        with (self.data / "postgresql.conf").open("a") as file:
            file.write("include 'ours.conf'\n")
        self.start(**settings)  # type: ignore[arg-type]
        with self.owner() as connection:
            for role in ("shuffler", "guest"):
                create = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
                connection.execute(create.format(sql.Identifier(role), sql.Literal(PASSWORD)))
            connection.execute("GRANT pg_checkpoint, pg_monitor TO shuffler")
            connection.execute("GRANT CREATE ON DATABASE postgres TO shuffler, guest")

    def address(self, role: str = "shuffler") -> str:
        return f"postgresql://{role}@/postgres?host={self.folder}&port={self.port}"

    def over_tcp(self, password: str = PASSWORD, database: str = "postgres", port: int | None = None) -> str:
        return f"postgresql://shuffler:{quote(password)}@127.0.0.1:{port or self.port}/{database}"

    def owner(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.address("owner"), autocommit=True)

    def configure(self, **settings: str) -> None:
        """Write settings that hold from the next start, or reload, on."""
        lines = [f"{name} = '{value}'\n" for name, value in (SETTINGS | settings).items()]
        (self.data / "ours.conf").write_text("".join(lines))

    def start(self, *, wait: bool = True, **settings: str) -> None:
        self.configure(**settings)
        command = [program("postgres"), "-D", self.data, "-p", self.port, "-k", self.folder, "-h", "127.0.0.1"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([*map(str, command)], stdout=log, stderr=log, cwd=self.folder, **self._as)
        if wait:
            self.wait()

    def wait(self) -> None:
        for _ in range(600):
            try:
                self.owner().close()
            except psycopg.OperationalError:
                assert self.process.poll() is None, self.log.read_text()
                time.sleep(0.1)
            else:
                return
        raise TimeoutError(self.log.read_text())

    def kill(self) -> None:
        """kill -9 of the server and of all its processes, as when the machine loses its power, but for
        what the disk holds in its own memory.
        """
        children = [pid for pid, parent in _parents() if parent == self.process.pid]
        for pid in (self.process.pid, *children):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()
        while any(Path(f"/proc/{pid}").exists() for pid in children):
            time.sleep(0.01)

    def stop(self) -> None:
        """As an administrator does who does not wait for clients."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(60)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)


def _parents() -> list[tuple[int, int]]:
    """Every process, and the one that started it."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found.append((int(status.parent.name), int(fields[1])))
    return found
