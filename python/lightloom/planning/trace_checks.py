"""Checks of a trace of any tool, as `verify` shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom import _core
from lightloom.formats.chakra.schedule import schedule_of
from lightloom.formats.chakra.trace import read_trace
from lightloom.planning import Check, verify
from lightloom.training.exports.chakra import ITERATION

if TYPE_CHECKING:
    import os

    from lightloom.formats.chakra.trace import Trace

__all__ = ["verify_trace"]


def verify_trace(path: str | os.PathLike[str], field: str = "trace") -> list[Check]:
    """The checks of the trace in a folder, or one of whose files `path` is.

    A trace of only sends and receives is executed symbolically too: they must compute a collective, but not where it is
    that of an exported iteration. Raises
    `InputError` that names `field` where the trace cannot be run: see `lightloom.formats.chakra.trace.read_trace`.
    """
    trace = read_trace(field, path)
    checks = [Check("graphs", True, _graphs(trace)), Check("messages", True, _messages(trace))]
    if trace.collectives:
        return [*checks, Check("collectives", True, _collectives(trace))]
    if ITERATION in trace.attributes:
        return checks
    return [*checks, *verify(schedule_of(trace, field))]


def _graphs(trace: Trace) -> str:
    nodes = sum(map(len, trace.ranks))
    ranks = _core.counted(len(trace.ranks), "rank")
    return f"{ranks}, {nodes} nodes; all nodes that one waits for exist, and none waits for itself"


def _messages(trace: Trace) -> str:
    if not trace.messages:
        return "none"
    size_bytes = sum(message.size_bytes for message in trace.messages)
    return f"{len(trace.messages)}, each sent once and received once; {_core.show_size(size_bytes)} in all"


def _collectives(trace: Trace) -> str:
    held = ", ".join(f"{count} {name}" for name, count in trace.collectives.most_common())
    if trace.groups:
        return f"{held}; the same at all ranks of {_core.counted(len(trace.groups), 'group')}"
    return f"{held}; no file next to them states the groups, which are not compared"
