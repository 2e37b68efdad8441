"""Chakra execution traces of training iterations: the traces of all ranks, joined into one graph.

Nodes that are read: computation with its stated microseconds, collectives, and sends with receives; and what each
waits for (`data_deps`; see `lightloom.formats.chakra.joint_graph`). A node without a duration takes no time, as it
states. Start times are not read. Collectives of reduce-scatter-block are ReduceScatters, barriers computation of no
time at all ranks of the group. The root of those that have one is the first rank of the group.

Nodes that are left out: operators of CPUs (`is_cpu_op`), which repeat the collectives that GPUs run, and whose own time
belongs to no GPU; collectives of one rank or of no bytes. Nodes that waited for these wait for the nodes that they
waited for.

Facts that are asked for: whether `comm_size` is a rank's input, its output or the whole buffer, and the bytes
of the elements that it counts, since writers differ; the groups, if there is no `NAME.json` next to it; and where a
trace is of one rank, how many ranks do the same as it does. In a trace without collectives, sizes of sends are bytes
where nothing else is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.formats.chakra.archives import is_archive, read_archive
from lightloom.formats.chakra.document import document
from lightloom.formats.chakra.files import is_trace, rank_files, read_ranks
from lightloom.formats.chakra.membership import groups_of_ranks, number_of_ranks
from lightloom.formats.chakra.trace import Trace, groups_of, read_groups
from lightloom.formats.workload_options import COMM_SIZES, Asked, missing

if TYPE_CHECKING:
    from lightloom.formats.source import Source

__all__ = ["OPTIONS", "read", "recognises"]

OPTIONS = frozenset({"comm_groups", "comm_size", "element_bytes", "ranks"})
# Collectives in which one side of a rank is a share of the buffer, and the side that comm_size counts if it counts it.
SHARES = {"all-gather": "input", "gather": "input", "reduce-scatter": "output", "scatter": "output"}


def recognises(source: Source) -> bool:
    """Whether the source is meant to be of this format."""
    return is_trace(source.path) or is_archive(source.path)


def read(source: Source, asked: Asked) -> dict[str, Any]:
    """The workload of the trace in a folder or archive, or one of whose files the source is.

    Raises `InputError` that names the field, or the option that is missing; see also `lightloom.formats.chakra.trace`.
    """
    trace = _trace(source, asked)
    ranks = number_of_ranks(trace, asked)
    groups = groups_of_ranks(source.field, trace, ranks, asked)

    def buffer(collective: str, size: int, members: int) -> int:
        return _buffer(collective, size, members, asked)

    return document(source.field, trace, ranks, groups, buffer, asked.element_bytes or 1)


def _trace(source: Source, asked: Asked) -> Trace:
    field = source.field
    if is_archive(source.path):
        archive = read_archive(field, source.path)
        name, files, text = archive
        is_beside = asked.comm_groups is None and text is not None
        beside = groups_of(field, text or "", f"{name}.json", len(files)) if is_beside else None
    else:
        name, paths = rank_files(field, source.path)
        files = list(read_ranks(field, paths))
        side = paths[0].parent / f"{name}.json"
        is_beside = asked.comm_groups is None and side.is_file()
        beside = read_groups(field, side, len(files)) if is_beside else None
    groups = beside if asked.comm_groups is None else read_groups("comm_groups", asked.comm_groups, len(files))
    return Trace(name, files, groups or None, field)


def _buffer(collective: str, size: int, ranks: int, asked: Asked) -> int:
    """Bytes of the whole buffer, as `size_bytes` counts them, from the trace's sizes."""
    if asked.comm_size is None:
        why = "the trace does not state whether comm_size is a rank's input, its output or the whole buffer"
        raise missing("comm_size", why, ", ".join(COMM_SIZES))
    if asked.element_bytes is None:
        why = "the trace does not state whether comm_size counts bytes or elements"
        raise missing("element_bytes", why, "1 where it counts bytes, else the bytes of an element")
    shares = ranks if SHARES.get(collective) == asked.comm_size else 1
    return size * asked.element_bytes * shares
