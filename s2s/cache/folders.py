"""Files of the disk cache: read where nobody else can have written them, written in one step, kept below a size.

What is looked at is what is read: the folder and the file are opened without following links, and asked for their
owner and their permissions when they are open. A file that is read counts as used; where a folder holds more than
``S2S_CACHE_SIZE`` (256 MB where it is not set; ``500 MB``, ``2 GB``, or a number of bytes), the files go that were not
used for longest. What a process that was killed has left half written is swept after an hour.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator

from s2s.core.settings import size_setting

__all__ = ["is_safe", "make", "read", "tidy", "write"]

DEFAULT_SIZE = 256 * 10**6
OURS = re.compile(r"\.[0-9a-f]{12}\.(pyc?|nbc)$")
TEMPORARY = re.compile(r"^\.\d+\.[0-9a-f]{12}\.tmp$")
HOUR, DAY = 3600, 86400
LOOK_EVERY = 64
"""A folder is measured at the first of so many writes of a process."""

_AT_FOLDER = os.open in os.supports_dir_fd
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""To open a pipe with a name waits for who writes to it."""

_writes: dict[str, int] = {}


def read(folder: str, name: str, notes_use: bool = True) -> bytes | None:
    """What is in a file; None where there is none, or where another user could have written it. That it is in use is
    noted in its time."""
    try:
        with _opened(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)) as place:
            if place is not None and not is_safe(os.fstat(place), is_folder=True):
                return None
            path, at = (os.path.join(folder, name), None) if place is None else (name, place)
            flags = os.O_RDONLY | _NO_LINK | _NO_WAIT | getattr(os, "O_BINARY", 0)
            with open(os.open(path, flags, dir_fd=at), "rb") as stream:
                found = os.fstat(stream.fileno())
                if not is_safe(found, is_folder=False):
                    return None
                if notes_use and time.time() - found.st_mtime > DAY:
                    _note_use(path, at)
                return stream.read()
    except OSError:
        return None


@contextlib.contextmanager
def _opened(folder: str, flags: int) -> Iterator[int | None]:
    """The folder, open; None where the system opens no folders (Windows: folders of a user are the user's)."""
    if not _AT_FOLDER:
        yield None
        return
    place = os.open(folder, flags | _NO_LINK)
    try:
        yield place
    finally:
        os.close(place)


def is_safe(found: os.stat_result, is_folder: bool) -> bool:
    """Whether nobody else can have written it: a folder or a file as asked for, ours or root's, not writable by
    others."""
    if not (stat.S_ISDIR if is_folder else stat.S_ISREG)(found.st_mode):
        return False
    if not hasattr(os, "geteuid"):
        return True
    return found.st_uid in (0, os.geteuid()) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _note_use(path: str, at: int | None) -> None:
    with contextlib.suppress(OSError):
        os.utime(path, dir_fd=at)


def make(folder: str) -> bool:
    """Make a folder that only we can write to; say whether it can be used."""
    try:
        os.makedirs(os.path.dirname(os.path.abspath(folder)), mode=0o755, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, mode=0o755)
            os.chmod(folder, 0o755)  # the umask may allow the group
        return is_safe(os.lstat(folder), is_folder=True) and os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        return False


def write(file: str, content: bytes) -> bool:
    """Put a file there in one step: other processes see the old one or the new one, whole. False where that
    fails."""
    folder = os.path.dirname(file)
    temporary = os.path.join(folder, f".{os.getpid()}.{os.urandom(6).hex()}.tmp")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(temporary, file)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        return False
    _writes[folder] = count = _writes.get(folder, 0) + 1
    if count % LOOK_EVERY == 1:
        tidy(folder)
    return True


def tidy(folder: str) -> None:
    """Sweep what was left half written, and where the files of the folder are too large, those not used for longest,
    until a quarter of the room is free."""
    files, now = list[tuple[float, int, str]](), time.time()
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                if TEMPORARY.match(entry.name) and now - found.st_mtime > HOUR:
                    os.unlink(entry.path)
                elif OURS.search(entry.name):
                    files.append((found.st_mtime, found.st_size, entry.path))
    limit, size = largest_size(), sum(size for _, size, _ in files)
    if size <= limit:
        return
    for _, length, path in sorted(files):
        if size <= limit * 3 // 4:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
            size -= length


def largest_size() -> int:
    """How many bytes a folder may hold."""
    return size_setting("S2S_CACHE_SIZE", DEFAULT_SIZE)
