"""The work folder of an engine: a claim that one run makes, what was drawn under it, and whether
that was committed.

It lies wherever Hadoop reaches: on a disk that all workers share, in HDFS, in an object store.

    claim.json   what is asked of which column, and the name of this drawing; made once, exclusively
    reports/     what the tasks of one job committed, and ``_SUCCESS`` when all of them had

Rules of evolution: as for a design. A field is never removed and its meaning never changes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from shuffledp.collection.engines.batch import UNSURE
from shuffledp.collection.engines.spark_session import failures, first_line
from shuffledp.collection.tables.counted_reports import new_batch
from shuffledp.errors import InvalidInput, shown
from shuffledp.protocols.design import Design
from shuffledp.storage.canonical import canonical, strict_json
from shuffledp.storage.files import unwritable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Claim", "WorkFolder", "check_address"]

FORMAT, VERSION = "shuffledp-work", 1
CLAIM, REPORTS, SUCCESS = "claim.json", "reports", "_SUCCESS"
PART = re.compile(r"part-(\d+)-([0-9a-f-]{36})-c000(\.\w+)*\.parquet")
GLOBS = set("*?[]{}\\")
AGAIN = "Delete the folder and start again: nothing of it was counted."


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Which question a work folder is for, and the name of its one drawing."""

    design: Mapping[str, Any]
    column: str
    tallied: bool
    ids: str | None
    rules: Mapping[str, Any]  # by which values are read
    batch: str
    engine: str = "spark"
    table: str | None = None  # what tells it from another one, where a second start goes on

    @classmethod
    def new(cls, **facts: Any) -> Self:
        """A claim under a new name."""
        return cls(batch=new_batch(), **facts)

    @classmethod
    def from_json(cls, written: Any) -> Self:
        """Read ``as_json``."""
        if not isinstance(written, dict) or (written.pop("format", 0), written.pop("version", 0)) != (FORMAT, VERSION):
            raise ValueError("another format")
        try:
            return cls(**written)
        except TypeError:
            raise ValueError("other fields") from None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"format": FORMAT, "version": VERSION} | {name: getattr(self, name) for name in self.__slots__}

    def asks_as(self, other: Claim) -> bool:
        """Whether another claim is for the same question."""
        return canonical(replace(self, batch=other.batch).as_json()) == canonical(other.as_json())

    @property
    def settled(self) -> Design:
        """The design, read."""
        return Design.from_json(self.design)


def check_address(path: object) -> str:
    """Return the path or address of a work folder as text; no session is needed to refuse it."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path) or GLOBS & set(os.fspath(path)):
        raise InvalidInput(
            f"the work folder must be a path or an address, without any of {' '.join(sorted(GLOBS))}, got "
            f"{shown(path)}. Write, for example, hdfs:///tmp/poll."
        )
    return os.fspath(path)


class WorkFolder:
    """A folder by Hadoop's means; ``path`` is its full address."""

    def __init__(self, session: SparkSession, path: object) -> None:
        address = check_address(path)
        self._jvm, java = cast(Any, session._jvm), cast(Any, session._jsc)
        with self._reaching(address):
            self._place = self._jvm.org.apache.hadoop.fs.Path(address)
            self._system = self._place.getFileSystem(java.hadoopConfiguration())
            whole = self._system.makeQualified(self._place)
        self.path = str(whole.toString())
        self.title = repr(address)
        self._local = Path(whole.toUri().getPath()) if whole.toUri().getScheme() == "file" else None

    @property
    def reports(self) -> str:
        """Where tasks commit."""
        return f"{self.path}/{REPORTS}"

    @property
    def exists(self) -> bool:
        """Whether anything is there."""
        with self._reaching():
            return bool(self._system.exists(self._place))

    @property
    def committed(self) -> bool:
        """Whether every task of the one job has committed."""
        with self._reaching():
            return bool(self._system.exists(self._inside(REPORTS, SUCCESS)))

    def check_new(self) -> None:
        """Refuse a folder that exists: what another run drew must not be drawn again."""
        if self.exists:
            raise InvalidInput(
                f"{self.title} must not exist yet, got a folder that does. Name a new one, or count what it holds."
            )
        if self._local is not None and not self._local.parent.is_dir():
            parent = self._local.parent
            raise InvalidInput(f"the folder of {self.title} must exist, got none. Create it first: mkdir -p {parent}")

    def begin(self, claim: Claim) -> None:
        """Write the claim, which only one of several runs can."""
        text = canonical(claim.as_json()).encode()
        if self._local is not None:  # Hadoop looks whether a file is there before it creates it, and others may too
            with unwritable(self._local):
                self._local.mkdir()
                with open(self._local / CLAIM, "xb") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
            return
        with self._reaching():
            self._system.mkdirs(self._place)
            stream = self._system.create(self._inside(CLAIM), False)
            stream.write(bytearray(text))
            stream.close()
            if self.claim().batch != claim.batch:  # an object store may let the later of two win
                raise InvalidInput(f"{self.title} must be claimed by one run, got two at once. Name another folder.")

    def claim(self) -> Claim:
        """The claim of whoever began here."""
        with self._reaching():
            if not self._system.exists(self._inside(CLAIM)):
                raise InvalidInput(
                    f"{self.title} must be a work folder, got none: it holds no {CLAIM}. Give the folder that encode "
                    f"wrote."
                )
            stream = self._system.open(self._inside(CLAIM))
            text = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
            stream.close()
        try:
            return Claim.from_json(strict_json(text))
        except (ValueError, RecursionError):
            raise InvalidInput(
                f"{self.title} must hold a whole {CLAIM} of this version of shuffledp, got another one. If another "
                f"version wrote the folder, count it with that one. {UNSURE}"
            ) from None

    def parts(self, *, whole: bool) -> list[str]:
        """The files that were committed, one for each task; ``whole`` where every task left one."""
        if not self.committed:
            raise InvalidInput(
                f"{self.title} must hold reports that were committed, got a folder that was begun and never "
                f"committed. {AGAIN}"
            )
        with self._reaching():
            listed = self._system.listStatus(self._inside(REPORTS))
            names = sorted(str(each.getPath().getName()) for each in listed)
        found = {name: PART.fullmatch(name) for name in names if name[0] not in "_."}
        numbers = [int(match[1]) for match in found.values() if match]
        if None in found.values() or len({match[2] for match in found.values() if match}) > 1:
            raise InvalidInput(f"{self.title} must hold the reports of one job, got files of others. {UNSURE}")
        if len(set(numbers)) < len(numbers):
            raise InvalidInput(f"{self.title} must hold every partition once, got one twice. {UNSURE}")
        complete = sorted(numbers) == list(range(len(numbers)))
        if not numbers or (whole and not complete):
            raise InvalidInput(
                f"{self.title} must hold every partition, got {len(numbers):,} of more. Is it on storage that all "
                f"workers share? {UNSURE}"
            )
        return [f"{self.reports}/{name}" for name in found]

    def withdraw(self, claim: Claim) -> None:
        """Leave nothing of a run that drew nothing which could be read; what is another's stays."""
        if self.claim().batch != claim.batch:
            return
        with self._reaching():
            self._system.delete(self._inside(REPORTS), True)
            self._system.delete(self._inside(CLAIM), False)
            if not len(self._system.listStatus(self._place)):
                self._system.delete(self._place, False)

    def _inside(self, *names: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path("/".join([self.path, *names]))

    @contextmanager
    def _reaching(self, path: str | None = None) -> Iterator[None]:
        """Turn what Hadoop says into one sentence."""
        try:
            yield
        except failures() as error:
            raise InvalidInput(
                f"the work folder {self.title if path is None else repr(path)} must be within reach, got: "
                f"{first_line(error)}. Check its address, and who may write there."
            ) from None
