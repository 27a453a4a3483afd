"""Many files of reports to one, in a uniformly random order, however large they are.

Why the order is uniform: give every report an endless string of independent, uniform digits and sort by it. All orders are equally likely, by
symmetry. The first digit of a report is the bucket that it goes to; what is left of its string orders it within the bucket, by a ``permutation`` in
memory, or by a second digit and smaller buckets where there are too many. Buckets, one after the other, are the sorted list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.files import check_file
from shuffledp.pipeline.reports import Check, Header, ReportsFile, open_reports, write_reports
from shuffledp.pipeline.spool import BLOCK, Spool
from shuffledp.pipeline.values import MEMORY, Tick
from shuffledp.sampling import SecureSource, Source, uniform
from shuffledp.sampling.permutation import permutation

__all__ = ["shuffle_files", "shuffled"]

MOST_BUCKETS = 256  # open files
SORTING = 24  # bytes that ordering one report takes, beside three copies of it


def shuffle_files(
    paths: Sequence[Path],
    out: Path,
    *,
    least: int,
    most: int | None = None,
    check: Check | None = None,
    source: Source | None = None,
    memory: int = MEMORY,
    before: Callable[[], object] | None = None,
    tick: Tick | None = None,
) -> ReportsFile:
    """Write all reports of ``paths`` to ``out``, in random order and without ids. Refuses fewer than ``least`` and more than ``most``.

    All files must be of one design, and no batch may come twice. ``check`` refuses reports that the law never sends. ``memory`` bounds the
    working space; beyond it reports lie in nameless files beside ``out``, which vanish with the process. ``before`` is called
    when nothing is wrong with the files, and before anything is written.
    """
    if not paths:
        raise InvalidInput("reports must come in at least one file, got none. Give what `shuffledp encode` wrote.")
    files = [open_reports(path, stage="encoded") for path in paths]
    _check_headers(files)
    total = sum(file.count for file in files)
    if total < least:
        raise InvalidInput(f"reports must be at least the {least} that were promised, got {total}. Wait for more: among fewer nobody is hidden as promised.")
    if most is not None and total > most:
        raise InvalidInput(f"reports must be at most the {most} people that the design knows, got {total}. Leave out what came twice, or design for more.")
    if any(path.resolve() == out.resolve() for path in paths):
        raise InvalidInput(f"{str(out)!r} must be a new file, got one of those to be shuffled. Choose another name.")
    folder = check_file(out).resolve().parent
    if before is not None:
        before()
    words = source or SecureSource()
    header = Header.shuffled(files[0].header.design, secure=words.secure and all(file.header.secure for file in files), batches=len(files))
    rows = _all_rows(files, check, tick)
    mixed = shuffled(rows, total, files[0].header.row_bytes, source=words, memory=memory, folder=folder)
    return write_reports(out, header, ((part, None) for part in mixed))


def shuffled(chunks: Iterable[NDArray[Any]], rows: int, row_bytes: int, *, source: Source, memory: int, folder: Path | None = None) -> Iterator[NDArray[Any]]:
    """The ``rows`` rows of ``chunks`` in a uniformly random order, in parts."""
    room = max(1, memory // (SORTING + 3 * row_bytes))
    if rows <= room:
        parts = list(chunks)
        if parts:
            whole = np.concatenate(parts)
            yield whole[permutation(source, len(whole))]
        return
    # half full on average, so that hardly ever one is too full and must be split again
    buckets = min(MOST_BUCKETS, 1 << (2 * rows // room).bit_length())
    block = min(BLOCK, max(1, memory // (4 * buckets * row_bytes)))
    with ExitStack() as stack:
        spools = [stack.enter_context(Spool(memory=0, folder=folder, block=block)) for _ in range(buckets)]
        for chunk in chunks:
            _scatter(chunk, spools, source)
        for spool in spools:
            yield from shuffled(spool.blocks(), len(spool), row_bytes, source=source, memory=memory, folder=folder)
            spool.close()


def _scatter(chunk: NDArray[Any], spools: Sequence[Spool], source: Source) -> None:
    """Send each row to a bucket of its own choice."""
    digits = uniform(source, len(spools), len(chunk))
    sorted_rows = chunk[np.argsort(digits, kind="stable")]
    ends = np.cumsum(np.bincount(digits, minlength=len(spools)))
    for spool, part in zip(spools, np.split(sorted_rows, ends[:-1]), strict=True):
        spool.append(part)


def _all_rows(files: Sequence[ReportsFile], check: Check | None, tick: Tick | None) -> Iterator[NDArray[Any]]:
    for file in files:
        for rows in file.batches(check=check):
            yield rows
            if tick is not None:
                tick(len(rows))


def _check_headers(files: Sequence[ReportsFile]) -> None:
    """Refuse files of different designs, and reports that would be counted twice."""
    first, seen = files[0], dict[str | None, Path]()
    for file in files:
        mine, other = first.header, file.header
        wrong = list(_differences(mine.design, other.design)) + [name for name in ("dtype", "width") if getattr(mine, name) != getattr(other, name)]
        if wrong:
            raise InvalidInput(f"{str(file.path)!r} must have the design of {str(first.path)!r}, got a difference in {', '.join(wrong)}. Encode anew.")
        if other.batch in seen:
            raise InvalidInput(f"{str(file.path)!r} must hold new reports, got those of {str(seen[other.batch])!r} again. Copies hide nobody; leave one out.")
        seen[other.batch] = file.path


def _differences(mine: object, other: object, name: str = "") -> Iterator[str]:
    """The fields in which two designs differ, such as "law.integers"."""
    if isinstance(mine, Mapping) and isinstance(other, Mapping):
        for key in [*mine, *(key for key in other if key not in mine)]:
            yield from _differences(mine.get(key), other.get(key), f"{name}.{key}" if name else str(key))
    elif mine != other or type(mine) is not type(other):
        yield name
