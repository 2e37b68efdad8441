"""Confinement of a worker process: it may compute within its memory, and read Python's own files.

No request names a file or an address. Were one to get through all checks, it would be refused here.
"""

from __future__ import annotations

import os
import resource
import sys
import sysconfig
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom.base import plugins

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["confine", "limit_memory", "most_resident_bytes"]

# Events that Python reports before they happen, and that no request needs.
REFUSED = frozenset({
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.link",
    "os.mkdir",
    "os.posix_spawn",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.symlink",
    "os.system",
    "os.truncate",
    "pty.spawn",
    "shutil.rmtree",
    "socket.bind",
    "socket.connect",
    "socket.getaddrinfo",
    "socket.sendto",
    "subprocess.Popen",
})  # fmt: skip
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Fonts and the clock's zones, which drawing reads; and the device whose input is lost.
SHARED = ("/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/zoneinfo", "/etc/localtime")
NOWHERE = "/dev/null"


def limit_memory(most_bytes: int) -> None:
    """Bound the address space, where the system does; what asks for more fails, or ends the process."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "darwin":
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def most_resident_bytes() -> int:
    """The most memory that this process held at a time."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def confine() -> None:
    """From now on files are read where Python and its packages are, and nothing else is opened or started.

    It cannot be undone in this process.
    """
    roots = tuple(_readable_roots())

    def check(event: str, arguments: tuple[Any, ...]) -> None:
        if event in REFUSED:
            raise PermissionError(f"{event} is refused here")
        if event == "open":
            _check_open(arguments, roots)

    sys.addaudithook(check)


def _readable_roots() -> list[str]:
    folders = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *SHARED}
    # The folders of packages, also of those that are installed as links to their sources; never the folder around a
    # package.
    for module in list(sys.modules.values()):
        folders.update(getattr(module, "__path__", ()))
    folders.update(_plugin_folders())
    folders.update(_installed_folders())
    return sorted({os.path.realpath(folder) for folder in folders if folder} - {"/"})


def _plugin_folders() -> Iterator[str]:
    """The place where the packages are that other distributions bring, also those that are installed as links."""
    for group in (plugins.VERBS, plugins.BENCHMARKS, plugins.NAMES, plugins.FIGURES):
        for entry in plugins.brought(group).values():
            with suppress(ImportError, ValueError):
                spec = find_spec(entry.module.partition(".")[0])
                yield from (spec.submodule_search_locations or ()) if spec is not None else ()


def _installed_folders() -> Iterator[str]:
    """Folders of packages outside Python's own: installed for one user, or where a program looks for them."""
    for folder in map(Path, sys.path):
        with suppress(OSError):
            if any(entry.suffix == ".dist-info" for entry in folder.iterdir()):
                yield str(folder)


def _check_open(arguments: tuple[Any, ...], roots: tuple[str, ...]) -> None:
    path, _mode, flags = arguments
    if isinstance(path, int):
        return
    name = os.path.realpath(os.fsdecode(path))
    if name == NOWHERE:
        return
    if isinstance(flags, int) and flags & WRITING:
        raise PermissionError("no file is written here")
    if not any(name == root or name.startswith(root + os.sep) for root in roots):
        raise PermissionError("no file of the machine is read here")
