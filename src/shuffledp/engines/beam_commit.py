"""One drawing of everybody's reports that stands, however often it was attempted: files of reports
under names that nobody else has, and a manifest that says which of them count.

Whoever writes the manifest first has decided; whoever comes later reads the one that stands, and
what it drew itself is removed unread. All of that rests on one step that a folder takes for one
caller only: ``os.link``, which never replaces a name. No engine is imported here.

Whether an id stands in two rows of a table that lies on many machines, fingerprints tell: each is
sent to the machine that compares its share of all. Rows are never handled one by one.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from shuffledp.engines.batch import UNSURE, BatchReporter, column_of, title_of
from shuffledp.errors import InvalidInput
from shuffledp.sampling.tags import HALF
from shuffledp.storage.canonical import canonical, parsed
from shuffledp.storage.files import flush, unwritable
from shuffledp.tables.counted_reports import new_batch
from shuffledp.tables.people import fingerprints

CLAIM, REPORTS, SUFFIX = "claim.json", "reports", ".arrow"
NAME = re.compile(r"[0-9a-f]{32}\.arrow")

NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


class Written(NamedTuple):
    """A file of reports, how many it holds, how many values were missing beside them, and the
    SHA-256 of its bytes.
    """

    name: str
    reports: int
    missing: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """The reports of one batch id, in a folder that all workers see."""

    folder: str
    batch: str

    @classmethod
    def claimed(cls, out: str | os.PathLike[str], reporter: BatchReporter, *, ids: str | None = None) -> Self:
        """Claim a new folder for what ``reporter`` draws, of people who are told apart by ``ids``;
        one that holds the reports of the same question already is taken as it is. Called once,
        where the pipeline is built.
        """
        folder, batch = check_shared(out), new_batch()
        rules = {"ids": ids, "missing": reporter.missing, "clip": reporter.clip, "cleaning": asdict(reporter.cleaning)}
        text = canonical(
            {"engine": "beam", "batch": batch, "column": reporter.column, "design": reporter.design.digest} | rules
        )
        with unwritable(folder):
            folder.mkdir(mode=0o700, exist_ok=True)
            found = os.listdir(folder)
            if found and CLAIM not in found:
                raise InvalidInput(
                    f"out must be a new folder, got {str(folder)!r} with other files. Choose another name."
                )
            flush(folder.parent)
            standing, claim = _facts(put_once(folder / CLAIM, text).encode()), _facts(text.encode())
            (folder / REPORTS).mkdir(mode=0o700, exist_ok=True)
        made = cls(str(folder), str(standing.get("batch")))
        if standing == claim:
            return made
        if set(standing) != set(claim):
            raise InvalidInput(
                f"out must hold a whole {CLAIM} of this version of shuffledp, got another one in {str(folder)!r}. If "
                f"another version wrote the folder, count it with that one. {UNSURE}"
            )
        if wrong := sorted(name for name in claim if name != "batch" and standing[name] != claim[name]):
            raise InvalidInput(
                f"out must be the folder of this question, got {str(folder)!r} of another, with a difference in "
                f"{', '.join(wrong)}. Choose another folder."
            )
        if not made.stands():
            raise InvalidInput(
                f"out must be new, or hold reports that were committed, got {str(folder)!r}, where a run began and did "
                f"not get so far. If none is running, remove the folder: nobody has seen what it drew."
            )
        return made

    @property
    def manifest(self) -> Path:
        """Under a name of this batch, so that no worker of an earlier run in this place, still
        alive, decides for this one.
        """
        return Path(self.folder) / f"manifest-{self.batch}.json"

    def stands(self) -> bool:
        """Whether it is decided which reports count."""
        return self.manifest.exists()

    def check_claim(self) -> None:
        """Refuse to draw where the claim is not to be seen: on a machine that sees another folder
        under this name, a manifest would be the first one again.
        """
        try:
            claim = (Path(self.folder) / CLAIM).read_bytes()
        except OSError:
            claim = b""
        if _facts(claim).get("batch") != self.batch:
            raise InvalidInput(
                f"out must be a folder that all workers share with the program that starts them, got {self.folder!r}, "
                f"where this worker does not see its claim. Choose a folder on a shared disk."
            )

    def attempt(self, reporter: BatchReporter) -> Attempt:
        """A new file of reports, for one bundle."""
        self.check_claim()
        return Attempt(self, reporter)

    def commit(self, attempts: Iterable[Written], rows: int) -> list[Written]:
        """Decide that these files hold the reports of so many rows, unless that was decided before;
        return the files that count, when no others are left.
        """
        self.check_claim()
        if not self.stands():
            self._decide(list(dict.fromkeys(attempts)), rows)  # the same file may well be named twice
        standing = self._standing()
        if (held := _rows(standing)) != rows:
            raise InvalidInput(
                f"out must hold the reports of this table, got {self.folder!r} with those of {held:,} rows for a table "
                f"of {rows:,}. Choose another folder."
            )
        self._sweep({each.name for each in standing})
        return standing

    def reports(self, written: Written) -> Iterator[pa.RecordBatch]:
        """What one file holds, in the order of the values: for whoever adds it up."""
        try:
            with self._place(written.name).open("rb") as file:
                whole = hashlib.file_digest(file, "sha256").hexdigest() == written.sha256
        except OSError:
            whole = False
        if not whole:
            raise InvalidInput(
                f"out must still hold its reports, got {self.folder!r} without some of them, or with others. Choose a "
                f"new folder, and know that the reports in it are others."
            )
        with pa.OSFile(str(self._place(written.name))) as file, pa.ipc.open_stream(file) as stream:
            yield from stream

    def _standing(self) -> list[Written]:
        """What the manifest says."""
        try:
            listed = parsed(self.manifest.read_bytes())
            standing = [Written(*each) for each in listed] if isinstance(listed, list) else []
        except (OSError, TypeError):
            standing = []
        names = {each.name for each in standing if _sound(each)}
        if not standing or len(names) < len(standing):
            raise InvalidInput(
                f"out must hold its manifest as it was written, got a changed one in {self.folder!r}. Choose a new "
                f"folder, and know that the reports in it are others."
            )
        return standing

    def _decide(self, written: list[Written], rows: int) -> None:
        try:
            self._check(written, rows)
        except InvalidInput:
            if not self.stands():  # else another has decided meanwhile, and swept these away
                raise
        else:
            put_once(self.manifest, canonical(written))

    def _check(self, written: list[Written], rows: int) -> None:
        """One report for each row, and all of them to be seen from here."""
        if not sum(each.reports for each in written):
            raise InvalidInput("the column must hold at least one value, got none. Check that this is the right table.")
        if (drawn := _rows(written)) != rows:
            raise InvalidInput(
                f"reports must be drawn once for each of the {rows:,} rows, got {drawn:,}: this runner lets a bundle "
                f"count twice, or loses one. Run it in batch mode elsewhere."
            )
        for each in written:
            if not self._place(each.name).exists():
                raise InvalidInput(
                    f"out must be a folder that all workers share, got {self.folder!r}, where another worker's reports "
                    f"are not to be seen. Choose a folder on a shared disk."
                )

    def _sweep(self, keep: set[str]) -> None:
        """Remove what was drawn and does not count."""
        reports = Path(self.folder) / REPORTS
        with unwritable(reports):
            for name in os.listdir(reports):
                if name not in keep:
                    self.discard(name)

    def discard(self, name: str) -> None:
        """Remove a file of reports that do not count."""
        with suppress(FileNotFoundError):
            self._place(name).unlink()

    def _place(self, name: str) -> Path:
        return Path(self.folder) / REPORTS / name


class Attempt:
    """A file of reports being drawn, under a name of its own; its owner alone may read it."""

    def __init__(self, drawing: Drawing, reporter: BatchReporter) -> None:
        self._drawing, self._encoder = drawing, reporter
        self._name, self._rows, self._reports = secrets.token_hex(16) + SUFFIX, 0, 0
        self._place = Path(drawing.folder) / REPORTS / self._name
        with unwritable(self._place):
            self._handle = os.open(self._place, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        self._file = os.fdopen(self._handle, "w+b")
        self._stream = pa.ipc.new_stream(self._file, reporter.schema)

    def add(self, batch: Any) -> None:
        """Draw the reports of a batch of values."""
        for reports in self._encoder.encode([batch]):
            with unwritable(self._place):
                self._stream.write_batch(reports)
            self._reports += len(reports)
        self._rows += batch.num_rows

    def finish(self) -> Written | None:
        """What was written, when the disk holds it; None, and nothing is left, if others decided
        meanwhile: after them, nobody would sweep it away.
        """
        try:
            with unwritable(self._place):
                self._stream.close()
                self._file.flush()
                os.fsync(self._handle)
                self._file.seek(0)
                sha256 = hashlib.file_digest(self._file, "sha256").hexdigest()
                self._file.close()
                flush(self._place.parent)
        except InvalidInput:
            self.abandon()
            raise
        if self._drawing.stands():
            self._drawing.discard(self._name)
            return None
        return Written(self._name, self._reports, self._rows - self._reports, sha256)

    def abandon(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError):  # a full disk does not take what is left to write, and it is not wanted
            self._file.close()
        self._drawing.discard(self._name)


def put_once(path: Path, text: str, *, mode: int = 0o600) -> str:
    """Put ``text`` in a file, whole and on the disk, unless one stands there; return what stands.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     [put_once(Path(folder) / "decision", text) for text in ("yes", "no")]
    ['yes', 'yes']
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    with unwritable(path):
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(handle)
            _link(temporary, path)
        finally:
            temporary.unlink()
        flush(path.parent)
        return path.read_text(encoding="utf-8")


def _link(temporary: Path, path: Path) -> None:
    """Give a file its name, unless another has it: no disk gives one twice, but some give none."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        raise InvalidInput(
            f"{str(path)!r} must be on a disk that has hard links, which say who was first, got: {error.strerror}. "
            f"Choose a place on another one, such as ext4, XFS or NFS: df -T lists them."
        ) from None


def check_shared(out: str | os.PathLike[str]) -> Path:
    """The folder, if it is one on a disk: object stores have no step for one caller only."""
    if "://" in os.fspath(out):
        raise InvalidInput(
            f"out must be a folder on a disk that all workers share, got {os.fspath(out)!r}: an object store cannot "
            f'say who was first. Name a folder on a mounted one, such as out="shared/work".'
        )
    folder = Path(out).absolute()
    if not folder.parent.is_dir():
        raise InvalidInput(
            f"the folder of {str(out)!r} must exist, got none. Create it first: mkdir -p {folder.parent}"
        )
    return folder


def _facts(claim: bytes) -> dict[str, Any]:
    """What a claim says; nothing, if it is none."""
    facts = parsed(claim)
    return facts if isinstance(facts, dict) else {}


def _sound(written: tuple[Any, ...]) -> bool:
    """Whether it is one of ours."""
    name, reports, missing, sha256 = written
    numbers = all(type(each) is int and each >= 0 for each in (reports, missing))
    return numbers and isinstance(name, str) and NAME.fullmatch(name) is not None and isinstance(sha256, str)


def _rows(written: Iterable[Written]) -> int:
    return sum(each.reports + each.missing for each in written)


SHARE = 1 << 24  # ids that one machine compares at once: 256 MB


@dataclass(frozen=True, slots=True)
class IdShares:
    """How the ids in a ``column`` are shared out, for at most ``people`` people; ``key`` is drawn
    for one run.
    """

    column: str
    people: int
    key: bytes = field(repr=False)

    def of(self, batch: Any) -> Iterator[tuple[int, bytes]]:
        """The number of a share, and the fingerprints of the batch that belong there."""
        shares = np.uint64(1 + self.people // SHARE)
        for prints in fingerprints(self.key, column_of(batch, self.column, argument="ids"), title_of(self.column)):
            share = prints[:, 1] % shares
            order = np.argsort(share, kind="stable")
            numbers, starts = np.unique(share[order], return_index=True)
            for number, mine in zip(numbers.tolist(), np.split(prints[order], starts[1:]), strict=True):
                yield number, mine.tobytes()


def repeated(parts: Iterable[bytes]) -> int:
    """How many fingerprints of a share came before.

    >>> one, other = bytes(16), bytes(8) + b"12345678"
    >>> repeated([one + other]), repeated([one + other, other])
    (0, 1)
    """
    prints = np.frombuffer(b"".join(parts), dtype=HALF).reshape(-1, 2)
    halves = np.sort(prints[:, 0])
    twice = halves[1:][halves[1:] == halves[:-1]]
    alike = prints[np.isin(prints[:, 0], twice)]
    return len(alike) - len(np.unique(alike, axis=0))


def check_single(repeats: int, column: str) -> None:
    """Refuse a table with several rows of one person."""
    if repeats:
        raise InvalidInput(
            f"ids in {title_of(column)} must name everybody once, got {repeats:,} rows of people who have another. "
            f"Keep one row of each person."
        )
