"""The sends and receives of every rank when a plan runs: columns of numbers, for any transport.

All steps are done at once, with arrays. The data from a rank to another in a step are one row of elements, chunk after
chunk; a path takes its share of the row, and what lies in a row at both ends is one segment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom.base.errors import refuse
from lightloom.running.layout import Copies, layout_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom.plans import Plan
    from lightloom.running.layout import Integers

__all__ = ["MOST_MOVED", "Program", "program_of"]

# Chunks that all steps of a plan move together; MSCCL's reader takes as many.
MOST_MOVED = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A plan for data of elements of a given size; sizes and offsets in bytes, whole elements all.

    A rank has an input, an output and a workspace, whose bytes are zero at first. `loads` copies inputs to workspaces;
    then come the steps; then `stores` copies workspaces to outputs. In a step every message carries what its source's
    workspace held when the step began; it is applied when all have arrived.

    collective, ranks, steps: those of the plan; root: of a broadcast, else None.
    blocks: of All-to-All, elements that rank s has for rank d at `blocks[s, d]`; the input of s has them by d, the
    output of d by s. input_bytes, output_bytes, workspace_bytes: by rank. ReduceScatter and AllGather: the share of
    rank r is elements ⌊r·E/n⌋ to ⌊(r+1)·E/n⌋ of E. Broadcast: only the root has an input.

    Messages, by step, source and destination; one for each path with something on it:
    step[i]; its ranks `gpus[gpu_offsets[i]:gpu_offsets[i + 1]]`, source first, destination last; its segments, in
    order, `segment_offsets[i]` to `segment_offsets[i + 1]`.
    Segments: source_offset and destination_offset in the two workspaces, size_bytes, and is_reduction: whether the
    destination reduces arriving data with its own, or keeps them instead.
    """

    collective: str
    ranks: int
    steps: int
    root: int | None
    element_bytes: int
    blocks: Integers | None
    input_bytes: Integers
    output_bytes: Integers
    workspace_bytes: Integers
    loads: Copies
    stores: Copies
    step: Integers
    gpu_offsets: Integers
    gpus: Integers
    segment_offsets: Integers
    source_offset: Integers
    destination_offset: Integers
    size_bytes: Integers
    is_reduction: NDArray[np.bool_]

    @property
    def message_bytes(self) -> Integers:
        """Bytes of every message."""
        return _sums(self.size_bytes, self.segment_offsets)

    @property
    def step_offsets(self) -> Integers:
        """Where the messages of each step begin, and where those of the last one end."""
        return np.searchsorted(self.step, np.arange(self.steps + 1))


def program_of(plan: Plan, element_bytes: int) -> Program:
    """The program of a plan.

    element_bytes: size of an element of the data. Costs a few passes over the chunks that are sent and the GPUs of all
    paths. Raises `InputError` that names `plan` where it does not verify, moves more than 2^22 chunks, or has a buffer
    that holds no element.
    """
    sent, paths = _sent(plan), _paths(plan)
    sources, destinations = sent.source[sent.transfer], sent.destination[sent.transfer]
    layout = layout_of(plan, destinations, sent.chunks, element_bytes)
    pieces = _Pieces(
        sent.transfer,
        layout.slots.offsets(sources, sent.chunks),
        layout.slots.offsets(destinations, sent.chunks),
        layout.chunks[sent.chunks],
    )
    runs = _joined(pieces)
    row = sent.row[runs.transfer]
    ends = np.cumsum(runs.size)
    # Where the row of each pair begins and ends, of all elements that are sent.
    path_begins, path_ends = _path_spans(paths, row, ends - runs.size, ends)
    used = path_ends > path_begins
    # The data of a path are cut at the ends of runs.
    begins = np.union1d(ends - runs.size, path_begins[used])
    run = np.searchsorted(ends, begins, side="right")
    within = begins - (ends - runs.size)[run]
    gpu_offsets, gpus = _chosen(paths.gpu_offsets, paths.gpus, used)
    return Program(
        collective=plan.collective,
        ranks=plan.gpus,
        steps=len(plan.steps),
        root=plan.root,
        element_bytes=element_bytes,
        blocks=layout.blocks,
        input_bytes=layout.inputs * element_bytes,
        output_bytes=layout.outputs * element_bytes,
        workspace_bytes=layout.workspaces * element_bytes,
        loads=_in_bytes(layout.loads, element_bytes),
        stores=_in_bytes(layout.stores, element_bytes),
        step=paths.row[used] // plan.gpus**2,
        gpu_offsets=gpu_offsets,
        gpus=gpus,
        segment_offsets=np.searchsorted(begins, np.append(path_begins[used], _last(ends))),
        source_offset=(runs.source_offset[run] + within) * element_bytes,
        destination_offset=(runs.destination_offset[run] + within) * element_bytes,
        size_bytes=np.diff(begins, append=_last(ends)) * element_bytes,
        is_reduction=sent.is_reduction[runs.transfer[run]],
    )


class _Sent(NamedTuple):
    """The transfers of all steps, with row (step·n + source)·n + destination; and their chunks, ascending by row."""

    source: Integers
    destination: Integers
    is_reduction: NDArray[np.bool_]
    row: Integers
    transfer: Integers
    chunks: Integers


class _Pieces(NamedTuple):
    """What is sent, in elements, in the order of rows: the transfer, where it lies at both ends, and how much it is."""

    transfer: Integers
    source_offset: Integers
    destination_offset: Integers
    size: Integers


class _Paths(NamedTuple):
    """The paths of all steps, ascending by row."""

    row: Integers
    share: NDArray[np.float64]
    gpu_offsets: Integers
    gpus: Integers


def _sent(plan: Plan) -> _Sent:
    steps, moved = [], 0
    for index in range(len(plan.steps)):
        steps.append(plan.transfers(index))
        moved += len(steps[-1].chunks)
        if moved > MOST_MOVED:
            raise refuse("plan", f"its steps move more than {MOST_MOVED} chunks; fewer are run")
    source = _joined_columns([step.source for step in steps])
    destination = _joined_columns([step.destination for step in steps])
    counts = _joined_columns([np.diff(step.chunk_offsets.astype(np.int64)) for step in steps])
    return _Sent(
        source,
        destination,
        np.concatenate([step.is_reduction for step in steps]),
        _rows(plan.gpus, [len(step) for step in steps], source, destination),
        np.repeat(np.arange(len(counts)), counts),
        _joined_columns([step.chunks for step in steps]),
    )


def _paths(plan: Plan) -> _Paths:
    steps = [plan.routes(index) for index in range(len(plan.steps))]
    counts = _joined_columns([np.diff(step.gpu_offsets.astype(np.int64)) for step in steps])
    source = _joined_columns([step.source for step in steps])
    destination = _joined_columns([step.destination for step in steps])
    return _Paths(
        _rows(plan.gpus, [len(step) for step in steps], source, destination),
        np.concatenate([step.share for step in steps]),
        np.append(0, np.cumsum(counts)),
        _joined_columns([step.gpus for step in steps]),
    )


def _joined_columns(columns: Sequence[NDArray[Any]]) -> Integers:
    return np.concatenate(columns).astype(np.int64)


def _rows(ranks: int, lengths: Sequence[int], source: Integers, destination: Integers) -> Integers:
    step = np.repeat(np.arange(len(lengths)), lengths)
    return (step * ranks + source) * ranks + destination


def _joined(pieces: _Pieces) -> _Pieces:
    """Pieces with something in them, those of a transfer that follow each other at both ends as one."""
    some = pieces.size > 0
    transfer, source, destination, size = (column[some] for column in pieces)
    follows = (
        (transfer[1:] == transfer[:-1])
        & (source[1:] == (source + size)[:-1])
        & (destination[1:] == (destination + size)[:-1])
    )
    first = np.flatnonzero(np.append(True, ~follows)[: len(size)])
    return _Pieces(transfer[first], source[first], destination[first], _sums(size, np.append(first, len(size))))


def _path_spans(paths: _Paths, row: Integers, begins: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """Where the data of each path begin and end among all elements; row, begins, ends: of the runs of these."""
    first = np.searchsorted(row, paths.row)
    past = np.searchsorted(row, paths.row, side="right")
    bounds = np.append(begins, _last(ends))
    row_begins, row_sizes = bounds[first], bounds[past] - bounds[first]
    # A pair's paths end at the sums of their shares, rounded; the last one takes the rest.
    is_last = np.append(paths.row[1:] != paths.row[:-1], True)
    so_far = np.cumsum(paths.share)
    before = (so_far - paths.share)[np.searchsorted(paths.row, paths.row)]
    span_ends = np.rint((so_far - before) * row_sizes).astype(np.int64)
    span_ends = row_begins + np.where(is_last, row_sizes, np.minimum(span_ends, row_sizes))
    return np.where(np.append(True, is_last[:-1]), row_begins, np.append(0, span_ends[:-1])), span_ends


def _chosen(offsets: Integers, items: Integers, chosen: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """The parts that are chosen of a joined array, with their own offsets."""
    counts = np.diff(offsets)
    return np.append(0, np.cumsum(counts[chosen])), items[np.repeat(chosen, counts)]


def _sums(values: Integers, offsets: Integers) -> Integers:
    so_far: Integers = np.append(0, np.cumsum(values))
    return so_far[offsets[1:]] - so_far[offsets[:-1]]


def _last(ends: Integers) -> int:
    return int(ends[-1]) if len(ends) else 0


def _in_bytes(copies: Copies, element_bytes: int) -> Copies:
    rank, *elements = copies
    return Copies(rank, *(column * element_bytes for column in elements))
