"""The program of iterations: the collectives of all groups, and all messages, in one workspace a rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.base.errors import refuse
from lightloom.running.program import Copies, Program, program_of
from lightloom.training.members import COMPUTE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from lightloom.running.iterations.acts import Course
    from lightloom.running.program import Integers
    from lightloom.training.result import Training

__all__ = ["Exchange", "IterationProgram", "iteration_program", "programs_of", "without_scale"]

# Workspaces of exchanges begin at multiples of this many bytes.
ALIGNED = 8


class Exchange(NamedTuple):
    """A collective of one group, or one message, in one iteration, with data of its own.

    program: of the ranks of the group, or of source and destination, for which a message is a broadcast. ranks: these
    in the iteration. offsets: where the workspace of each begins in the workspace of the rank.
    """

    iteration: int
    event: int
    group: int
    program: Program
    ranks: tuple[int, ...]
    offsets: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class IterationProgram:
    """Messages as those of `Program`, by act; sizes and offsets in bytes that are really sent."""

    exchanges: tuple[Exchange, ...]
    workspace_bytes: Integers
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


def programs_of(training: Training, element_bytes: int, scale: int) -> dict[int, Program]:
    """By event that communicates, the program of one of its groups, or of one of its messages.

    scale: elements of the plan for each element that is sent. Raises `InputError` that names `scale` where a
    buffer holds none.
    """
    known: dict[int, Program] = {}
    made: dict[int, Program] = {}
    for event, (told, size_bytes) in enumerate(zip(training.events, training.sizes_bytes, strict=True)):
        if told.kind == COMPUTE or size_bytes is None:
            continue
        if size_bytes < element_bytes * scale:
            most = max(size_bytes // element_bytes, 1)
            reason = f"1/{scale} of that is less than an element of {element_bytes} bytes; it takes at most {most}"
            raise refuse("scale", f"`{told.node}` moves {size_bytes} bytes; {reason}")
        if told.plan is None:
            made[event] = _message(size_bytes // (element_bytes * scale), element_bytes)
            continue
        if told.plan not in known:
            known[told.plan] = without_scale(program_of(training.plans[told.plan], element_bytes * scale), scale)
        made[event] = known[told.plan]
    return made


def without_scale(program: Program, scale: int) -> Program:
    """The program where this many elements of the plan are one that is sent."""
    if scale == 1:
        return program
    columns = {name: getattr(program, name) for name in Program.__slots__}
    for name in ("input_bytes", "output_bytes", "workspace_bytes", "source_offset", "destination_offset", "size_bytes"):
        columns[name] = columns[name] // scale
    for name in ("loads", "stores"):
        rank, *places = columns[name]
        columns[name] = Copies(rank, *(place // scale for place in places))
    return Program(**{**columns, "element_bytes": program.element_bytes // scale})


def _message(elements: int, element_bytes: int) -> Program:
    """A message as a broadcast from the first of two ranks to the second."""
    size = np.array([elements * element_bytes], dtype=np.int64)
    zero, both = np.zeros(1, dtype=np.int64), np.repeat(size, 2)
    places = np.zeros(2, dtype=np.int64)
    return Program(
        collective="broadcast",
        ranks=2,
        steps=1,
        root=0,
        element_bytes=element_bytes,
        blocks=None,
        input_bytes=np.append(size, 0),
        output_bytes=both,
        workspace_bytes=both,
        loads=Copies(zero, zero, zero, size),
        stores=Copies(np.arange(2), places, places, both),
        step=zero,
        gpu_offsets=np.array([0, 2]),
        gpus=np.arange(2),
        segment_offsets=np.array([0, 1]),
        source_offset=zero,
        destination_offset=zero,
        size_bytes=size,
        is_reduction=np.zeros(1, dtype=np.bool_),
    )


def iteration_program(course: Course, programs: dict[int, Program]) -> IterationProgram:
    """The program of a course. Costs a few passes over all messages, segments and ranks on paths."""
    used = np.zeros(course.training.ranks, dtype=np.int64)
    exchanges: list[Exchange] = []
    parts: list[tuple[NDArray[np.int64], ...]] = []
    reductions: list[NDArray[np.bool_]] = []
    for exchange, path in _exchanges(course, programs):
        program, ranks = exchange.program, np.array(exchange.ranks, dtype=np.int64)
        offsets = used[ranks]
        used[ranks] += -(-program.workspace_bytes // ALIGNED) * ALIGNED
        exchanges.append(exchange._replace(offsets=tuple(offsets.tolist())))
        segments = np.diff(program.segment_offsets)
        firsts, lasts = program.gpus[program.gpu_offsets[:-1]], program.gpus[program.gpu_offsets[1:] - 1]
        act = int(course.first_acts[exchange.iteration, exchange.event])
        parts.append(
            (
                program.step + act,
                np.diff(program.gpu_offsets) if path is None else np.array([len(path)]),
                ranks[program.gpus] if path is None else np.array(path),
                segments,
                program.source_offset + np.repeat(offsets[firsts], segments),
                program.destination_offset + np.repeat(offsets[lasts], segments),
                program.size_bytes,
            )
        )
        reductions.append(program.is_reduction)
    if not parts:
        raise refuse("plan", "the iteration has no communication; it takes one that has some")
    step, hops, gpus, segments, sources, destinations, sizes = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    order = np.argsort(step, kind="stable")
    of_gpus, of_segments = _rows(hops, order), _rows(segments, order)
    return IterationProgram(
        tuple(exchanges),
        used,
        step[order],
        np.append(0, np.cumsum(hops[order])),
        gpus[of_gpus],
        np.append(0, np.cumsum(segments[order])),
        sources[of_segments],
        destinations[of_segments],
        sizes[of_segments],
        np.concatenate(reductions)[of_segments],
    )


def _exchanges(course: Course, programs: dict[int, Program]) -> Iterator[tuple[Exchange, tuple[int, ...] | None]]:
    """All exchanges but for their offsets, with the path of a message."""
    training = course.training
    for iteration in range(course.iterations):
        for event, program in programs.items():
            node = training.nodes[event]
            if training.events[event].plan is None:
                for place, path in enumerate(course.paths[event]):
                    yield Exchange(iteration, event, place, program, (path[0], path[-1]), ()), path
                continue
            for place, group in enumerate(training.members.groups_of(node)):
                yield Exchange(iteration, event, place, program, group, ()), None


def _rows(lengths: Integers, order: Sequence[int] | Integers) -> Integers:
    """Indices of the entries of rows of these lengths, where rows are put into an order."""
    begins = np.cumsum(lengths) - lengths
    taken = lengths[order]
    within = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
    return np.repeat(begins[order], taken) + within
