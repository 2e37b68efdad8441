"""A workload from a file or folder of any format that is known, recognised by its content."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import refuse, unknown_name
from lightloom.formats import FORMATS
from lightloom.formats.source import Source
from lightloom.formats.workload_options import Asked
from lightloom.inputs.workloads.model import presets

if TYPE_CHECKING:
    import os

__all__ = ["OWN", "OwnFormat", "read_workload", "workload_readers"]


class OwnFormat(NamedTuple):
    """A format of Lightloom's own, and the module that reads it."""

    name: str
    reader: str


# A name that no file has: it was meant for a model.
BARE = re.compile(r"[\w-]+")
# Formats of other tools are in `lightloom.formats`.
OWN = (
    OwnFormat("json", "lightloom.inputs.workloads.json_file"),
    OwnFormat("model", "lightloom.inputs.workloads.model_file"),
)


def workload_readers() -> dict[str, str]:
    """The modules that read workloads by the names of their formats, in the order in which they are tried.

    A module has `recognises(source)`, `read(source, asked)`, and `OPTIONS`, the names of the options that it takes.
    """
    others = {one.name: one.workload_reader for one in FORMATS if one.workload}
    return others | {one.name: one.reader for one in OWN}


def read_workload(
    path: str | os.PathLike[str],
    *,
    comm_groups: str | os.PathLike[str] | None = None,
    comm_size: str | None = None,
    element_bytes: int | None = None,
    time_unit: str | None = None,
    ranks: int | None = None,
    profile_step: int | None = None,
    message_sizes: str | os.PathLike[str] | None = None,
    compute_time: str | float | None = None,
) -> dict[str, Any]:
    """The workload in a file or folder, as its JSON is (docs/reference/workloads.md); the core checks its content.

    path: workload JSON, a description of a model, a Chakra trace, PyTorch's profile, NCCL's log, AICB's text or
    TopoOpt's task graph. The others are what some of these leave open, see `lightloom.formats.workload_options.Asked`.
    Raises `InputError` that names `workload`, a place in it, or the option that is missing, wrong or of no use.
    """
    asked = Asked(
        comm_groups, comm_size, element_bytes, time_unit, ranks, profile_step, message_sizes, compute_time
    ).checked()
    if isinstance(path, str) and BARE.fullmatch(path) and not Path(path).exists():
        raise unknown_name("workload", path, presets())
    source = Source("workload", path)
    readers = workload_readers()
    for name, module in readers.items():
        reader = import_module(module)
        if reader.recognises(source):
            asked.refuse_others(reader.OPTIONS, name)
            workload: dict[str, Any] = reader.read(source, asked)
            return workload
    raise refuse("workload", f"`{path}` is not in a format that can be read: {', '.join(readers)}")
