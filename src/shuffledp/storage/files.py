"""Where answers are written: checked beforehand, and in place at once or not at all, whatever ends
the program in between. Keys and tokens are written so that their owner alone may read them.
"""

from __future__ import annotations

import csv
import errno
import fcntl
import os
import re
import resource
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from shuffledp.errors import Argument, InvalidInput, Refusal, meant

LONGEST = 200  # bytes of a folder's name, so that the hidden one beside it has one, too
FORMULA = re.compile(
    "[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20']"
)  # how a formula begins for a spreadsheet, in full width too
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
SPARE = 8  # files that one step opens at once, at most
TRIES = 50  # at the lock of a new file, which at most a passing sweep holds


def check_file(path: Path) -> Path:
    """Return ``path`` if a file can stand there."""
    if path.is_dir():
        raise InvalidInput(
            f"{str(path)!r} must be a file, got a folder. Add a file name, such as "
            f"{str(path / f'curve{path.suffix}')!r}."
        )
    if path.exists() and not path.is_file():
        raise InvalidInput(
            f"{str(path)!r} must be an ordinary file, got a device or pipe. Name a file; what is printed can be "
            f"redirected."
        )
    if not path.parent.is_dir():
        raise InvalidInput(f"the folder of {str(path)!r} must exist, got none. Create it first: mkdir -p {path.parent}")
    return path


def check_new_file(path: Path, *, replace: bool = False, lasting: bool = False) -> Path:
    """Return ``path`` if a new file can stand there; with ``replace``, also if one already does. A
    ``lasting`` one is never replaced, and nobody is told how.
    """
    if os.path.lexists(check_file(path)) and not replace:
        raise _there_already(path, lasting=lasting)
    return path


def _there_already(path: Path, *, lasting: bool) -> InvalidInput:
    instead = ", or add ", Argument("force", True), " to replace it"
    remedy = ("Choose another name", *(() if lasting else instead), ".")
    return InvalidInput(Refusal(f"{str(path)!r} must not exist yet", "one that does", remedy))


def check_apart(out: Path, *others: Path) -> None:
    """Refuse to write over what is read, or over the ledger: neither could be had again."""
    for other in others:
        if out.resolve() == other.resolve() or (out.exists() and os.path.exists(other) and out.samefile(other)):
            rule = (Argument("out"), f" must be another file than {str(other)!r}")
            raise InvalidInput(Refusal(rule, "the same, which would be lost", "Choose another name."))


def replace_file(
    path: Path, write: Callable[[Path], object], *, private: bool = False, last: Callable[[], object] | None = None
) -> None:
    """Let ``write`` fill a temporary neighbor of ``path``, then put it in place at once: nobody
    ever sees half a file.

    ``last`` is called when all of it is on the disk and nobody else may read it yet. A ``private``
    file is the owner's alone, even in place of one that others could read.
    """
    path = check_file(path).resolve()  # a link stays a link
    with unwritable(path):
        _sweep(path)
        with _neighbour(path, _create) as (temporary, mode):
            write(temporary)
            flush(temporary)
            if last is not None:
                last()
            mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else mode
            os.chmod(temporary, mode & stat.S_IRWXU if private else mode)
            os.replace(temporary, path)
            flush(path.parent)


def first_file(path: Path, write: Callable[[Path], object]) -> bool:
    """Let ``write`` fill a new file at ``path``, for its owner alone, whole or not at all; return
    whether it stands. Where one stands already, that one stays: of several processes at the same
    time, one is the first.
    """
    path = check_file(path).resolve()
    with unwritable(path):
        _sweep(path)
        with _neighbour(path, _create) as (temporary, _):
            write(temporary)
            flush(temporary)
            try:
                os.link(temporary, path)  # unlike a renaming, it replaces nothing
            except FileExistsError:
                return False
            flush(path.parent)
    return True


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold the lock of an empty file at ``path``, which stays, or learn that another process holds
    it. The system takes it back when a process ends, however it ends.
    """
    with unwritable(path):
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
    try:
        yield _lock(handle)
    finally:
        os.close(handle)


def _create(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))


def check_new_folder(path: Path, *, replacing: Collection[str] = (), lasting: bool = False) -> Path:
    """Return ``path`` if a new folder can stand there; also in place of one that holds nothing but
    files named in ``replacing``. A ``lasting`` one is never replaced, and nobody is told how.
    """
    if len(os.fsencode(path.name)) > LONGEST:
        raise InvalidInput(
            f"the name of a folder must have at most {LONGEST} bytes, got {len(os.fsencode(path.name))}. Choose a "
            f"shorter one."
        )
    if os.path.lexists(path):
        if not replacing:
            raise _there_already(path, lasting=lasting)
        if path.is_symlink() or not path.is_dir():
            raise InvalidInput(
                f"{str(path)!r} must be a folder to be replaced, got something else. Choose another name."
            )
        with unwritable(path):
            _check_contents(path, path, replacing)
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InvalidInput(f"the folder of {str(path)!r} must exist, got none. Create it first: mkdir -p {path.parent}")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InvalidInput(f"the folder of {str(path)!r} must be writable, got one that is not. Choose another place.")
    return path


def _check_contents(folder: Path, path: Path, replacing: Collection[str]) -> None:
    """Refuse to replace what was at ``path``, and is ``folder`` now, if it holds anything else."""
    if foreign := sorted({each.name for each in folder.iterdir()} - set(replacing)):
        raise InvalidInput(
            f"{str(path)!r} must hold nothing else to be replaced, got {foreign[0]!r} in it. Choose another name."
        )


def new_folder(
    path: Path,
    fill: Callable[[Path], object],
    *,
    replacing: Collection[str] = (),
    last: Callable[[], object] | None = None,
) -> None:
    """Let ``fill`` fill a hidden neighbor of ``path``, then put it in place: the folder is absent
    or complete, whenever the program ends.

    ``last`` is called when all of it is on the disk and nobody else may read it yet.

    What earlier runs left behind when they were killed is swept away; what a run that is still
    alive holds is left alone.
    """
    path = path.absolute()
    with unwritable(path):
        _sweep(path)
        check_new_folder(path, replacing=replacing)
        with _neighbour(path, os.mkdir) as (temporary, mode):
            fill(temporary)
            for each in [*temporary.rglob("*"), temporary]:
                flush(each)
            check_new_folder(path, replacing=replacing)
            if last is not None:
                last()
            os.chmod(temporary, mode)
            _put(temporary, path, replacing)


@contextmanager
def _neighbour(path: Path, make: Callable[[Path], object]) -> Iterator[tuple[Path, int]]:
    """A new, hidden neighbor of ``path``, locked for as long as it is ours, so that no other run
    takes it for what a dead one left.

    Nobody else may look into it; who may look into what it becomes is the number that comes with
    it.
    """
    while True:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
        make(temporary)
        try:
            lock = os.open(temporary, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            continue  # another run swept it away between its making and its locking
        try:
            if _lock(lock) and _is(temporary, lock):
                status = os.fstat(lock)
                os.fchmod(lock, 0o700 if stat.S_ISDIR(status.st_mode) else 0o600)
                break
        except OSError:
            os.close(lock)
            raise
        os.close(lock)
    try:
        yield temporary, stat.S_IMODE(status.st_mode)
    finally:
        os.close(lock)
        with suppress(OSError):
            _remove(temporary)


def _put(temporary: Path, path: Path, replacing: Collection[str]) -> None:
    """Rename, and make the renaming last; an old folder steps aside first, and comes back if the
    new one cannot take its place.

    What came there since it was looked at last is not replaced unasked: a folder that is not empty
    lets no other be renamed to its name.
    """
    old = temporary.with_suffix(".old.part")
    if not replacing or not os.path.lexists(path):
        os.rename(temporary, path)
        return flush(path.parent)
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)  # it stays ours while it is aside
    try:
        _lock(lock)
        try:
            os.rename(path, old)
            _check_contents(old, path, replacing)
            os.rename(temporary, path)
        except BaseException:  # Ctrl-C too
            with suppress(OSError):
                os.rename(old, path)
            raise
        flush(path.parent)
        _remove(old)
    finally:
        os.close(lock)
    return None


def _sweep(path: Path) -> None:
    """Remove what dead runs left, which is what nobody holds a lock on; an old folder that had
    stepped aside for one of them comes back.

    A name alone proves nothing: a pipe or a link of such a name, and what belongs to somebody else,
    was never ours.
    """
    ours = re.compile(re.escape(f".{path.name}.") + r"[0-9a-f]{16}(\.old)?\.part")
    for left in [each for each in path.parent.iterdir() if ours.fullmatch(each.name)]:
        with suppress(OSError):
            status = left.lstat()
            if status.st_uid != os.geteuid() or not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                continue
            lock = os.open(
                left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            )  # a pipe that took its place meanwhile does not hold us up
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not _is(left, lock) or not os.path.samestat(status, os.fstat(lock)):
                    continue
                if left.name.endswith(".old.part") and stat.S_ISDIR(status.st_mode) and not os.path.lexists(path):
                    os.rename(left, path)
                else:
                    _remove(left)
            finally:
                os.close(lock)


def _lock(handle: int) -> bool:
    """Take the lock, unless somebody keeps it; on a disk that has none (some network disks) go on
    without it: then nobody sweeps there, either.
    """
    for _ in range(TRIES):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(0.01)
        except OSError as error:
            if error.errno not in {errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}:
                raise
            return True
    return False


def _is(path: Path, handle: int) -> bool:
    """Whether ``path`` still names what was opened."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()


def flush(path: Path) -> None:
    """Ask the disk to keep what was written; some file systems cannot flush a folder, and then
    there is nothing to ask.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(handle)


@contextmanager
def unwritable(path: Path) -> Iterator[None]:
    """Turn what the system says when it cannot write into one sentence with a remedy."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise InvalidInput(
                f"{str(path)!r} must be opened, got: {error.strerror}. Close other files, or allow more of them: "
                f"ulimit -n 256"
            ) from None
        raise InvalidInput(
            f"{str(path)!r} must be writable, got: {error.strerror or error}. Choose another place, or make room there."
        ) from None


def starved() -> str | None:
    """If this process can hardly open another file: how many it may open."""
    taken = []
    try:
        taken += [os.open(os.devnull, os.O_RDONLY) for _ in range(SPARE)]
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            return f"at most {resource.getrlimit(resource.RLIMIT_NOFILE)[0]} are allowed; ulimit -n 256 allows more"
    finally:
        for each in taken:
            os.close(each)
    return None


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A CSV file that a spreadsheet shows and does not run: text is quoted, and passes
    ``plain_cell``; numbers stay as they are.
    """
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(columns)
        writer.writerows([plain_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)


def plain_cell(text: str) -> str:
    """``text`` with an apostrophe before it if a spreadsheet would take it for a formula. To read
    it back, remove one leading apostrophe.

    A text that begins with an apostrophe gets another one, so that nothing is lost; one that is a
    number stays one.

    >>> [plain_cell(text) for text in ("Oslo", "=1+1", "-5", "-a", "'s-Gravenhage")]
    ['Oslo', "'=1+1", '-5', "'-a", "''s-Gravenhage"]
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def lines_of(path: Path, option: str, item: str, *, instead: str = "", remedy: str) -> list[str]:
    """What stands in a list, one ``item`` per line; ``instead`` says what the option takes besides
    a file.
    """
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError:
        rule, save = f"{str(path)!r} must be a text file in UTF-8", f"Save it as UTF-8, one {item} per line."
        raise InvalidInput(Refusal(rule, "other bytes", save)) from None
    except OSError as error:
        there = [each.name for each in path.parent.iterdir() if each.is_file()] if path.parent.is_dir() else []
        names = (Argument(option), f" must name a file with one {item} per line{instead}")
        got = f"{str(path)!r}: {error.strerror}"
        raise InvalidInput(Refusal(names, got, meant(path.name, there) + remedy)) from None


OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_secret(path: Path, digits: int, *, what: str, whence: str, instead: str, damaged: str) -> str:
    """The hexadecimal digits in a file. Refused with a remedy: one that is not there (``whence`` it
    comes), one that others may read (what to do ``instead`` of keeping it), one that is
    ``damaged``.
    """
    title = repr(str(path))
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe without a writer would wait for ever
        with open(handle, "rb") as file:
            mode, content = os.fstat(handle).st_mode, file.read(digits + 2)
    except OSError as error:
        raise InvalidInput(f"{title} must be {what}, got none that can be read: {error.strerror}. {whence}") from None
    if mode & OTHERS and os.name == "posix":
        raise InvalidInput(
            f"{title} must be readable by its owner alone, got permissions {stat.S_IMODE(mode):o}. If nobody has "
            f"copied it: chmod 600 {path}; otherwise {instead}"
        )
    if not re.fullmatch(rb"[0-9a-f]{%d}\n?" % digits, content):
        raise InvalidInput(f"{title} must hold {digits} hexadecimal digits, got something else. {damaged}")
    return content.decode().strip()
