"""Many files of reports to one, in a uniformly random order, however large they are.

Why the order is uniform: give every report an endless string of independent, uniform digits and
sort by it. All orders are equally likely, by symmetry. The first digit of a report is the bucket
that it goes to; what is left of its string orders it within the bucket, by a ``permutation`` in
memory, or by a second digit and smaller buckets where there are too many. Buckets, one after the
other, are the sorted list.

Every report is read once, checked, and kept in its bucket. What is written comes from there, so it
is what was checked, whatever becomes of the files; and whoever is told that all is well
(``before``) is told so when nothing but the writing is left.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.sampling import SecureSource, Source, uniform
from shuffledp.sampling.draws import permutation
from shuffledp.storage.files import check_file, unwritable
from shuffledp.tables.people import Persons
from shuffledp.tables.reports import Check, Header, ReportsFile, open_reports, write_reports
from shuffledp.tables.spool import BLOCK, Closing, Spool
from shuffledp.tables.values import MEMORY, Tick

MOST_BUCKETS = 256  # open files
SORTING = 24  # bytes that ordering one report takes, beside three copies of it
ROOM = 1.25  # bytes of a file for one of its reports, and as many again for what else it holds
SMALL = 1 << 15


class Shuffled(NamedTuple):
    """The file that was written, and for each that was read how many illegal reports were
    ``dropped``.
    """

    file: ReportsFile
    dropped: dict[Path, int]


def shuffle_files(
    paths: Sequence[Path | ReportsFile],
    out: Path,
    *,
    least: int,
    most: int | None = None,
    check: Check | None = None,
    apart: bool = False,
    drop: bool = False,
    source: Source | None = None,
    memory: int = MEMORY,
    before: Callable[[], object] | None = None,
    last: Callable[[], object] | None = None,
    tick: Tick | None = None,
) -> Shuffled:
    """Write all reports of ``paths`` to ``out``, in random order and without ids. Refuses fewer
    than ``least`` and more than ``most``.

    All files must be of one design; no batch and, where ids stand beside reports, no person may
    come twice. A report of several messages goes on message by message where they are to be told
    ``apart``. ``check`` refuses reports that the law never sends, and with ``drop`` they are left
    out and counted. ``memory`` bounds the working space; beyond it reports lie in nameless files
    beside ``out``, which vanish with the process. ``before`` is called when every report has been
    read, nothing is wrong, and there is room for the output; only then is anything written.
    ``last`` is called when it is written, and just before it can be seen.
    """
    if not paths:
        raise InvalidInput(
            "reports must come in at least one file, got none. Give what `shuffledp stage encode` wrote."
        )
    files = [path if isinstance(path, ReportsFile) else open_reports(path, stage="encoded") for path in paths]
    _check_headers(files)
    total = sum(file.count for file in files)
    check_crowd(total, least, None if drop else most)
    if any(file.path.resolve() == out.resolve() for file in files):
        raise InvalidInput(f"{str(out)!r} must be a new file, got one of those to be shuffled. Choose another name.")
    folder, words, first = check_file(out).resolve().parent, source or SecureSource(), files[0].header
    each = first.width if apart and first.width is not None else 1
    row_bytes = first.row_bytes // each
    with _Buckets(each * total, row_bytes, source=words, memory=memory, folder=folder, each=each) as buckets:
        dropped = _read_all(files, buckets, check, drop=drop, least=least, memory=memory, folder=folder, tick=tick)
        check_crowd(len(buckets) // each, least, most, sum(dropped.values()))
        _check_room(folder, int(ROOM * row_bytes * len(buckets)) + SMALL)
        if before is not None:
            before()
        header = Header.shuffled(
            first.design, secure=words.secure and all(file.header.secure for file in files), batches=len(files)
        )
        return Shuffled(write_reports(out, header, ((part, None) for part in buckets.mixed()), last=last), dropped)


def shuffled(
    chunks: Iterable[NDArray[Any]],
    rows: int,
    row_bytes: int,
    *,
    source: Source,
    memory: int,
    folder: Path | None = None,
) -> Iterator[NDArray[Any]]:
    """The ``rows`` rows of ``chunks`` in a uniformly random order, in parts."""
    with _Buckets(rows, row_bytes, source=source, memory=memory, folder=folder) as buckets:
        for chunk in chunks:
            buckets.append(chunk)
        yield from buckets.mixed()


class _Buckets(Closing):
    """At most ``rows`` rows, each in a bucket of its own choice; a single one in memory if they are
    few. Reports of several messages are ``each`` as many rows.
    """

    def __init__(
        self, rows: int, row_bytes: int, *, source: Source, memory: int, folder: Path | None, each: int = 1
    ) -> None:
        self._each = each
        self._row_bytes, self._source, self._memory, self._folder = row_bytes, source, memory, folder
        self._held: list[NDArray[Any]] = []
        self._spools: list[Spool] = []
        self._stack, self._count = ExitStack(), 0
        room = max(1, memory // (SORTING + 3 * row_bytes))
        if rows > room:
            # half full on average, so that hardly ever one is too full and must be split again
            buckets = min(MOST_BUCKETS, 1 << (2 * rows // room).bit_length())
            block = min(BLOCK, max(1, memory // (4 * buckets * row_bytes)))
            self._spools = [
                self._stack.enter_context(Spool(memory=0, folder=folder, block=block)) for _ in range(buckets)
            ]

    def __len__(self) -> int:
        return self._count

    def append(self, rows: NDArray[Any]) -> None:
        """Keep some rows."""
        rows = rows.reshape(-1) if self._each > 1 else rows
        self._count += len(rows)
        if self._spools:
            _scatter(rows, self._spools, self._source)
        else:
            self._held.append(rows)

    def mixed(self) -> Iterator[NDArray[Any]]:
        """All rows in a uniformly random order, in parts; once."""
        if self._held:
            whole = np.concatenate(self._held)
            yield whole[permutation(self._source, len(whole))]
        for spool in self._spools:
            yield from shuffled(
                spool.blocks(),
                len(spool),
                self._row_bytes,
                source=self._source,
                memory=self._memory,
                folder=self._folder,
            )
            spool.close()

    def close(self) -> None:
        self._stack.close()


def _scatter(chunk: NDArray[Any], spools: Sequence[Spool], source: Source) -> None:
    """Send each row to a bucket of its own choice."""
    digits = uniform(source, len(spools), len(chunk))
    sorted_rows = chunk[np.argsort(digits, kind="stable")]
    ends = np.cumsum(np.bincount(digits, minlength=len(spools)))
    for spool, part in zip(spools, np.split(sorted_rows, ends[:-1]), strict=True):
        spool.append(part)


def _read_all(
    files: Sequence[ReportsFile],
    buckets: _Buckets,
    check: Check | None,
    *,
    drop: bool,
    least: int,
    memory: int,
    folder: Path,
    tick: Tick | None,
) -> dict[Path, int]:
    """Check and keep every report; how many of each file were dropped."""
    dropped, named, total = dict[Path, int](), list[tuple[ReportsFile, int]](), sum(file.count for file in files)
    with Persons(memory=memory, folder=folder) as persons:
        for file in files:
            dropped[file.path], people = 0, 0
            for rows in file.rows(check=check, drop=drop, ids=True):
                buckets.append(rows.reports)
                dropped[file.path] += rows.dropped
                if rows.ids is not None:
                    ids = rows.ids.filter(
                        pc.greater(pc.binary_length(rows.ids), 0)
                    )  # of whom nothing is known, nothing can be compared
                    persons.add(ids, None, repr(str(file.path)))
                    people += len(ids)
                if tick is not None:
                    tick(len(rows.reports) + rows.dropped)
                check_crowd(total - sum(dropped.values()), least, None, sum(dropped.values()))  # no need to read on
            named.append((file, people))
        again = persons.repeated()
    ends = np.cumsum([people for _, people in named])
    for (file, _), count in zip(
        named, np.bincount(np.searchsorted(ends, again, side="right"), minlength=len(named)).tolist(), strict=True
    ):
        if count:
            raise InvalidInput(
                f"{str(file.path)!r} must hold one report per person, got {count:,} whose ids were there before. "
                "Leave the file out, or encode it again: `shuffledp stage encode --id` keeps one row per person."
            )
    return dropped


def check_crowd(reports: int, least: int, most: int | None, dropped: int = 0) -> None:
    """Refuse fewer reports than were promised, and more than there are people."""
    without = f" without the {dropped:,} that were dropped" if dropped else ""
    if reports < least:
        raise InvalidInput(
            f"reports must number at least the {least} that were promised, got {reports}{without}. Wait for more: "
            f"among "
            f"fewer nobody is hidden as promised."
        )
    if most is not None and reports > most:
        raise InvalidInput(
            f"reports must number at most the {most} people that the design knows, got {reports}{without}. Leave out "
            f"what "
            f"came twice, or design for more."
        )


def _check_room(folder: Path, size: int) -> None:
    """Refuse to begin where the output would not fit: what is begun has been paid for. Some systems
    and disks cannot tell beforehand.
    """
    if not hasattr(os, "posix_fallocate"):
        return
    with unwritable(folder), tempfile.TemporaryFile(dir=folder) as file:
        try:
            os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            if error.errno not in {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}:
                raise


def _check_headers(files: Sequence[ReportsFile]) -> None:
    """Refuse files of different designs, and reports that would be counted twice."""
    first, seen = files[0], dict[str | None, Path]()
    for file in files:
        mine, other = first.header, file.header
        wrong = list(differences(mine.design, other.design)) + [
            name for name in ("dtype", "width") if getattr(mine, name) != getattr(other, name)
        ]
        if wrong:
            raise InvalidInput(
                f"{str(file.path)!r} must have the design of {str(first.path)!r}, got a difference in "
                f"{', '.join(wrong)}. Encode again."
            )
        if other.batch in seen:
            raise InvalidInput(
                f"{str(file.path)!r} must hold new reports, got those of {str(seen[other.batch])!r} again. Copies hide "
                f"nobody; leave one out."
            )
        seen[other.batch] = file.path


def differences(mine: object, other: object, name: str = "") -> Iterator[str]:
    """The fields in which two designs differ, such as "law.integers"."""
    if isinstance(mine, Mapping) and isinstance(other, Mapping):
        for key in [*mine, *(key for key in other if key not in mine)]:
            yield from differences(mine.get(key), other.get(key), f"{name}.{key}" if name else str(key))
    elif mine != other or type(mine) is not type(other):
        yield name
