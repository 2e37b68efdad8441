"""The sends and receives of every rank when a plan runs: columns of numbers, for any transport.

The core makes them (`crates/runtime/src/program/`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from lightloom import _core
from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.plans import Plan

    Integers = NDArray[np.int64]

__all__ = ["Copies", "Messages", "Program", "program_of"]


class Copies(NamedTuple):
    """Copies inside ranks, an entry each: the rank, where from, where to, how much, in bytes, at least one element."""

    rank: Integers
    source_offset: Integers
    destination_offset: Integers
    size: Integers


class Messages(Protocol):
    """Messages as a `Program` has them, whatever they belong to: the step, the path and the bytes of each."""

    @property
    def step(self) -> Integers:
        """The step of each message, in their order."""

    @property
    def gpu_offsets(self) -> Integers:
        """Where the path of each begins, and the last one ends."""

    @property
    def message_bytes(self) -> Integers:
        """Bytes of every message."""

    @property
    def is_reduction(self) -> NDArray[np.bool_]:
        """By segment, whether its destination reduces it with what it has."""


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A plan for data of elements of a given size; sizes and offsets in bytes, whole elements all.

    A rank has an input, an output and a workspace, whose bytes are zero at first. `loads` copies inputs to workspaces;
    then come the steps; then `stores` copies workspaces to outputs. In a step every message carries what its source's
    workspace held when the step began; it is applied when all have arrived.

    collective, ranks, steps: those of the plan; root: of a collective that has one, else None.
    blocks: of All-to-All, elements that rank s has for rank d at `blocks[s, d]`; the input of s has them by d, the
    output of d by s. input_bytes, output_bytes, workspace_bytes: by rank. ReduceScatter, AllGather,
    Gather and Scatter: the share of rank r is elements ⌊r·E/n⌋ to ⌊(r+1)·E/n⌋ of E. Broadcast, Scatter: only the root
    has an input; Reduce, Gather: only the root has an output.

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
        so_far: Integers = np.append(0, np.cumsum(self.size_bytes))
        return np.diff(so_far[self.segment_offsets])

    @property
    def step_offsets(self) -> Integers:
        """The place where the messages of each step begin, and where those of the last one end."""
        return np.searchsorted(self.step, np.arange(self.steps + 1))


def program_of(plan: Plan, element_bytes: int) -> Program:
    """The program of a plan.

    element_bytes: size of an element of the data. Costs a few passes over the chunks that are sent and the GPUs of all
    paths. Raises `InputError` that names `plan` where it does not verify, moves more than 2^22 chunks, has a buffer
    that holds no element, more data than 63 bits count, or sends data through electrical switches.
    """
    if plan.uses_electrical:
        raise refuse("plan", "it sends data through electrical switches, and only circuits are run")
    made = _core.program(plan.core, element_bytes)
    columns = {field.name: getattr(made, field.name) for field in fields(Program)}
    return Program(**{**columns, "loads": Copies(*made.loads), "stores": Copies(*made.stores)})
