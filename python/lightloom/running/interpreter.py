"""The meaning of a program: it is run by one process, step by step, with NumPy."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.running.data import reduced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom.running.data import DataType
    from lightloom.running.program import Copies, Program

    Array = NDArray[Any]

__all__ = ["interpret"]


def interpret(program: Program, inputs: Sequence[Array], kind: DataType, reduction: str = "sum") -> list[Array]:
    """The outputs of all ranks.

    inputs: an array a rank, as `data.checked_inputs` has them. kind, reduction: of the elements.
    """
    size = program.element_bytes
    workspaces = [kind.unwritten(count) for count in (program.workspace_bytes // size).tolist()]
    outputs = [np.zeros(count, dtype=kind.storage) for count in (program.output_bytes // size).tolist()]
    _copy(program.loads, inputs, workspaces, size)
    source = program.gpus[program.gpu_offsets[:-1]]
    destination = program.gpus[program.gpu_offsets[1:] - 1]
    counts = np.diff(program.segment_offsets)
    segments = list(
        zip(
            np.repeat(source, counts).tolist(),
            np.repeat(destination, counts).tolist(),
            (program.source_offset // size).tolist(),
            (program.destination_offset // size).tolist(),
            (program.size_bytes // size).tolist(),
            program.is_reduction.tolist(),
            strict=True,
        )
    )
    bounds = program.segment_offsets[program.step_offsets].tolist()
    for begin, end in pairwise(bounds):
        # A step sends data as they were when it began.
        arrived = [
            workspaces[rank][offset : offset + length].copy() for rank, _, offset, _, length, _ in segments[begin:end]
        ]
        for (_, rank, _, offset, length, reduces), values in zip(segments[begin:end], arrived, strict=True):
            place = workspaces[rank][offset : offset + length]
            place[:] = reduced(kind, reduction, place, values) if reduces else values
    _copy(program.stores, workspaces, outputs, size)
    return outputs


def _copy(copies: Copies, sources: Sequence[Array], destinations: Sequence[Array], size: int) -> None:
    rows = zip(copies.rank.tolist(), *((column // size).tolist() for column in copies[1:]), strict=True)
    for rank, source, destination, length in rows:
        destinations[rank][destination : destination + length] = sources[rank][source : source + length]
