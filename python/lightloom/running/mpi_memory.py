"""Memory that the ranks of an MPI share: files of `/dev/shm`, which stay where ranks are ended.

Ranks that were started for a run take the names from these files as soon as all ranks have them: nothing is left then,
however the ranks end. Files of earlier ranks are removed if no process has them any more.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

__all__ = ["Removed", "remove_left", "take_names"]

FOLDER = Path("/dev/shm")  # noqa: S108 (where the system has such files)
# Names of MPICH's file, which all ranks of a machine have once it is started.
TOGETHER = re.compile(r"mpich_shm_\w+")
# Names of the files of MPICH, of UCX below it, and of Open MPI.
NAMES = re.compile(r"(?:mpich_shm_|ucx_shm_posix_|vader_segment\.|sm_segment\.)[\w.+-]+")
# Younger files may be those of ranks that just start, on the other side of a container's wall.
AGE_S = 60.0


class Removed(NamedTuple):
    """The number of files that were removed, and the memory that they held."""

    files: int
    size_bytes: int


def take_names() -> None:
    """Remove the names of memory that this process shares with all other ranks of its machine, which have it open."""
    with suppress(OSError):
        for path in _held_by(Path("/proc/self")):
            if path.parent == FOLDER and TOGETHER.fullmatch(path.name):
                path.unlink(missing_ok=True)


def remove_left(*, since_s: float | None = None) -> Removed:
    """Remove this user's files that no process has, except those younger than a minute, unless they came `since_s`.

    since_s: the time, as `time.time` says it, from which on all ranks that there were have ended.
    """
    found = {}
    now_s = time.time()
    with suppress(OSError):
        for entry in os.scandir(FOLDER):
            if NAMES.fullmatch(entry.name):
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    is_over = now_s - status.st_mtime > AGE_S or (since_s is not None and status.st_ctime >= since_s)
                    if status.st_uid == os.geteuid() and is_over:
                        found[Path(entry.path)] = status.st_blocks * 512
    if not found:
        return Removed(0, 0)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            for path in _held_by(process):
                found.pop(path, None)
    removed = []
    for path, size_bytes in found.items():
        with suppress(OSError):
            path.unlink()
            removed.append(size_bytes)
    return Removed(len(removed), sum(removed))


def _held_by(process: Path) -> set[Path]:
    """The files that a process has in its memory, or open. Raises `OSError` where the system does not list them."""
    held = set()
    for line in (process / "maps").read_text(errors="surrogateescape").splitlines():
        _, _, name = line.partition(f" {FOLDER}{os.sep}")
        if name:
            held.add(FOLDER / name)
    for handle in (process / "fd").iterdir():
        with suppress(OSError):
            held.add(handle.readlink())
    return held
