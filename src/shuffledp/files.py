"""Where answers are written: checked beforehand, and in place at once or not at all, whatever ends the program in between."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shuffledp.errors import InvalidInput

__all__ = ["check_file", "check_new_file", "check_new_folder", "new_folder", "replace_file", "unwritable"]

LONGEST = 200  # bytes of a folder's name, so that the hidden one beside it has one, too


def check_file(path: Path) -> Path:
    """Return ``path`` if a file can stand there."""
    if path.is_dir():
        raise InvalidInput(f"{str(path)!r} must be a file, got a folder. Add a file name, such as {str(path / f'curve{path.suffix}')!r}.")
    if path.exists() and not path.is_file():
        raise InvalidInput(f"{str(path)!r} must be an ordinary file, got a device or pipe. Name a file; what is printed can be redirected.")
    if not path.parent.is_dir():
        raise InvalidInput(f"the folder of {str(path)!r} must exist, got none. Create it first: mkdir -p {path.parent}")
    return path


def check_new_file(path: Path, *, replace: bool = False) -> Path:
    """Return ``path`` if a new file can stand there; with ``replace``, also if one already does."""
    if os.path.lexists(check_file(path)) and not replace:
        raise InvalidInput(f"{str(path)!r} must not exist yet, got one that does. Choose another name, or add --force to replace it.")
    return path


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary neighbour of ``path``, then put it in place at once: nobody ever sees half a file."""
    path = check_file(path).resolve()  # a link stays a link
    with unwritable(path):
        _sweep(path)
        with _neighbour(path, lambda temporary: os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))) as temporary:
            if path.exists():
                shutil.copymode(path, temporary)
            write(temporary)
            _flush(temporary)
            os.replace(temporary, path)
            _flush(path.parent)


def check_new_folder(path: Path, *, replacing: Collection[str] = ()) -> Path:
    """Return ``path`` if a new folder can stand there; also in place of one that holds nothing but files named in ``replacing``."""
    if len(os.fsencode(path.name)) > LONGEST:
        raise InvalidInput(f"the name of a folder must have at most {LONGEST} bytes, got {len(os.fsencode(path.name))}. Choose a shorter one.")
    if os.path.lexists(path):
        if not replacing:
            raise InvalidInput(f"{str(path)!r} must not exist yet, got one that does. Choose another name, or add --force to replace it.")
        if path.is_symlink() or not path.is_dir():
            raise InvalidInput(f"{str(path)!r} must be a folder to be replaced, got something else. Choose another name.")
        with unwritable(path):
            foreign = sorted({each.name for each in path.iterdir()} - set(replacing))
        if foreign:
            raise InvalidInput(f"{str(path)!r} must hold nothing else to be replaced, got {foreign[0]!r} in it. Choose another name.")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InvalidInput(f"the folder of {str(path)!r} must exist, got none. Create it first: mkdir -p {path.parent}")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InvalidInput(f"the folder of {str(path)!r} must be writable, got one that is not. Choose another place.")
    return path


def new_folder(path: Path, fill: Callable[[Path], object], *, replacing: Collection[str] = ()) -> None:
    """Let ``fill`` fill a hidden neighbour of ``path``, then put it in place: the folder is absent or complete, whenever the program ends.

    What earlier runs left behind when they were killed is swept away; what a run that is still alive holds is left alone.
    """
    path = path.absolute()
    with unwritable(path):
        _sweep(path)
        check_new_folder(path, replacing=replacing)
        with _neighbour(path, os.mkdir) as temporary:
            fill(temporary)
            for each in [*temporary.rglob("*"), temporary]:
                _flush(each)
            _put(temporary, check_new_folder(path, replacing=replacing))


@contextmanager
def _neighbour(path: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    """A new, hidden neighbour of ``path``, locked for as long as it is ours, so that no other run takes it for what a dead one left."""
    while True:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
        make(temporary)
        try:
            lock = os.open(temporary, os.O_RDONLY)
        except FileNotFoundError:
            continue  # another run swept it away between its making and its locking
        _lock(lock)
        if _is(temporary, lock):
            break
        os.close(lock)
    try:
        yield temporary
    finally:
        os.close(lock)
        with suppress(OSError):
            _remove(temporary)


def _put(temporary: Path, path: Path) -> None:
    """Rename, and make the renaming last; an old folder steps aside first, and comes back if the new one cannot take its place."""
    old = temporary.with_suffix(".old.part")
    if not path.exists():
        os.rename(temporary, path)
        return _flush(path.parent)
    lock = os.open(path, os.O_RDONLY)  # it stays ours while it is aside
    try:
        _lock(lock)
        os.rename(path, old)
        try:
            os.rename(temporary, path)
        except OSError:
            os.rename(old, path)
            raise
        _flush(path.parent)
        _remove(old)
    finally:
        os.close(lock)
    return None


def _sweep(path: Path) -> None:
    """Remove what dead runs left, which is what nobody holds a lock on; an old folder that had stepped aside for one of them comes back."""
    ours = re.compile(re.escape(f".{path.name}.") + r"[0-9a-f]{16}(\.old)?\.part")
    for left in [each for each in path.parent.iterdir() if ours.fullmatch(each.name)]:
        with suppress(OSError):
            lock = os.open(left, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if left.name.endswith(".old.part") and not path.exists():
                    os.rename(left, path)
                elif _is(left, lock):
                    _remove(left)
            finally:
                os.close(lock)


def _lock(handle: int) -> None:
    """Wait for the lock; on a disk that has none (some network disks) go on without it: then nobody sweeps there, either."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in {errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}:
            raise


def _is(path: Path, handle: int) -> bool:
    """Whether ``path`` still names what was opened."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()


def _flush(path: Path) -> None:
    """Ask the disk to keep what was written; some file systems cannot flush a folder, and then there is nothing to ask."""
    handle = os.open(path, os.O_RDONLY)
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
        raise InvalidInput(f"{str(path)!r} must be writable, got: {error.strerror or error}. Choose another place, or make room there.") from None
