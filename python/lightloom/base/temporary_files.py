"""Unfinished files and other temporary things of running work: all are removed, unless the kernel kills us."""

from __future__ import annotations

import atexit
import os
import re
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

ANY_NAME = re.compile(r"\.lightloom-[0-9a-f]{8}-[0-9a-f]{16}\.tmp")


class Unfinished(NamedTuple):
    """A file under its temporary name, and the stream into it."""

    path: Path
    stream: BinaryIO


class _Register:
    """Temporary names in use by this process.

    Work goes on in threads that the end of the program does not wait for, so that their own cleaning up never runs.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._paths: set[Path] = set()
        self._removals: set[Callable[[], None]] = set()
        self._ended = False

    def create(self, path: Path, mode: int | None) -> int:
        """Create the file and remember it. Raises `OSError`."""
        with self._lock:
            if self._ended:
                raise InterruptedError(None, "the program ends")
            # Remembered first: an interrupt may come at any moment.
            self._paths.add(path)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
        if mode is not None:
            os.fchmod(handle, mode)
        return handle

    def create_folder(self, path: Path) -> None:
        """Create the folder and remember it. Raises `OSError`."""
        with self._lock:
            if self._ended:
                raise InterruptedError(None, "the program ends")
            self._paths.add(path)
            path.mkdir()

    def remember(self, remove: Callable[[], None]) -> None:
        """Remember the function that removes something other than a file. Raises `OSError`."""
        with self._lock:
            if self._ended:
                raise InterruptedError(None, "the program ends")
            self._removals.add(remove)

    def forget_removal(self, remove: Callable[[], None]) -> None:
        """Forget `remove`: what it removes is gone."""
        with self._lock:
            self._removals.discard(remove)

    def forget(self, path: Path) -> None:
        """The file is gone: removed, or under its final name."""
        with self._lock:
            self._paths.discard(path)

    def end(self) -> None:
        """Remove what is there, and create nothing any more."""
        with self._lock:
            self._ended = True
            for path in self._paths:
                _remove(path)
            removals = list(self._removals)
        for remove in removals:
            with suppress(OSError, ValueError):
                remove()

    def in_child(self) -> None:
        """After a fork: the files are the parent's."""
        self._lock = Lock()
        self._paths = set()
        self._removals = set()


_REGISTER = _Register()


def end_unfinished() -> None:
    """Remove everything that is unfinished, and begin nothing any more: the program ends."""
    _REGISTER.end()


atexit.register(end_unfinished)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_REGISTER.in_child)


@contextmanager
def unfinished_file(target: Path, mode: int | None) -> Iterator[Unfinished]:
    """A new file in the folder of `target` that is removed at the end, unless it was renamed.

    mode: its permissions; None for those that any new file gets. Raises `OSError`.
    """
    path = target.with_name(f"{_stem(target)}{os.urandom(8).hex()}.tmp")
    try:
        yield Unfinished(path, os.fdopen(_REGISTER.create(path, mode), "wb"))
    finally:
        path.unlink(missing_ok=True)
        _REGISTER.forget(path)


@contextmanager
def unfinished_folder(target: Path) -> Iterator[Path]:
    """A new folder next to `target` that is removed at the end, unless it was renamed. Raises `OSError`."""
    path = target.with_name(f"{_stem(target)}{os.urandom(8).hex()}.tmp")
    try:
        _REGISTER.create_folder(path)
        yield path
    finally:
        _remove(path)
        _REGISTER.forget(path)


@contextmanager
def removed_at_end(remove: Callable[[], None]) -> Iterator[None]:
    """Context that calls `remove` at its end, or from another thread when the program ends before.

    Raises `OSError` where the program is ending already.
    """
    try:
        _REGISTER.remember(remove)
        yield
    finally:
        remove()
        _REGISTER.forget_removal(remove)


def _remove(path: Path) -> None:
    """Remove a file, or a folder with what is in it, if it is there."""
    if path.is_dir():
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def is_torn(name: str, target: Path | None = None) -> bool:
    """Whether a killed program may have left a file of this name, of `target` or of any."""
    return ANY_NAME.fullmatch(name) is not None and (target is None or name.startswith(_stem(target)))


def _stem(target: Path) -> str:
    import hashlib

    # Not the name itself: with more characters it may be too long for the file system.
    return f".lightloom-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]}-"
