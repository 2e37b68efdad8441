"""Files that a sweep's description names: their paths, and digests that show whether they changed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from lightloom import _core
from lightloom.base.files import MIB, read_bytes
from lightloom.inputs.barriers import is_barrier_file, path_of
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.graphs import is_topology_file
from lightloom.inputs.workloads.model import presets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightloom.sweeps.description import SweepDescription
    from lightloom.sweeps.keys import Value

MAX_FILE_BYTES = 256 * MIB


def located(key: str, value: Value, folder: Path) -> Value:
    """The value with the files in it as absolute paths, looked for in `folder`."""
    if not isinstance(value, str):
        return value
    if key in {"topology", "candidates"}:
        items = [_absolute(item, folder) if is_topology_file(item) else item for item in _core.split_names(value)]
        return ";".join(items)
    return _absolute(value, folder) if _is_file(key, value) else value


def file_digests(description: SweepDescription) -> dict[str, str]:
    """SHA-256 of every file that a description names, by its name there. Raises `InputError` that names the key."""
    digests = {}
    for key, name, path in _named(description):
        digests[name] = _digest(key, Path(path))
    return digests


def _digest(key: str, path: Path) -> str:
    """The digest of a file, or of the names and contents of a folder's files: traces are folders."""
    if not path.is_dir():
        return hashlib.sha256(read_bytes(key, path, MAX_FILE_BYTES)).hexdigest()
    files = sorted(file for file in path.iterdir() if file.is_file())
    told = "".join(f"{_digest(key, file)} {file.name}\n" for file in files)
    return hashlib.sha256(told.encode(errors="surrogateescape")).hexdigest()


def _named(description: SweepDescription) -> Iterator[tuple[str, str, str]]:
    """The key, the name and the place of every file."""
    values: list[tuple[str, object]] = [*description.settings]
    values += [pair for entry in description.baseline for pair in entry.settings]
    values += [(axis.key, value) for axis in description.axes if not axis.is_number for value in axis.values]
    for key, value in values:
        if not isinstance(value, str):
            continue
        if key in {"topology", "candidates"}:
            files = [item for item in _core.split_names(value) if is_topology_file(item)]
        else:
            files = [value] if _is_file(key, value) else []
        for name in files:
            path = _absolute(path_of(name) if key == "barrier" else name, description.folder)
            yield key, name, path
            if key == "fabric":
                fabric = Fabric.load(path)
                if isinstance(fabric.initial, str) and is_topology_file(fabric.initial):
                    yield key, f"{name}: {Path(fabric.initial).name}", fabric.initial
                if isinstance(fabric.optics, str) and _is_file("optics", fabric.optics):
                    yield key, f"{name}: {Path(fabric.optics).name}", fabric.optics
                if is_barrier_file(fabric.barrier):
                    file = path_of(fabric.barrier)
                    yield key, f"{name}: {Path(file).name}", file


def _is_file(key: str, value: str) -> bool:
    match key:
        case "schedule" | "comm_groups" | "message_sizes":
            return True
        case "workload":
            return value not in presets()
        case "matrix":
            return not _core.is_workload(value)
        case "fabric" | "optics":
            return value.endswith(".toml") or Path(value).name != value
        case "barrier" | "initial":
            return is_barrier_file(value) if key == "barrier" else is_topology_file(value)
        case _:
            return False


def _absolute(name: str, folder: Path) -> str:
    return str((folder / name).absolute())
