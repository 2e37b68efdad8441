"""Parts of programs: ranks that do theirs, and nothing else, together give the interpreter's results."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lightloom.running.data import DrawnInputs, reduced
from lightloom.running.interpreter import interpret
from lightloom.running.part import StepPart, part_of
from lightloom.running.program import Program, program_of
from tests.running.programs import FLOAT32, small_plan

Array = NDArray[Any]


def exchanged(parts: list[StepPart], workspaces: list[Array]) -> None:
    """One step of all ranks: every message is put where its tag says, and taken from there once."""
    wire: dict[tuple[int, int, int], Array] = {}

    def put(origin: int, to: int, tag: int, values: Array) -> None:
        assert (origin, to, tag) not in wire, "two messages of one tag"
        wire[origin, to, tag] = values

    for rank, part in enumerate(parts):
        for send in part.sends:
            pieces = [workspaces[rank][one.offset : one.offset + one.size] for one in send.segments]
            put(rank, send.to, send.to_tag, np.concatenate(pieces))
            assert len(wire[rank, send.to, send.to_tag]) == send.size
    waiting = deque((rank, onward) for rank, part in enumerate(parts) for onward in part.forwards)
    idle = 0
    while waiting:
        rank, onward = waiting.popleft()
        values = wire.pop((onward.origin, rank, onward.origin_tag), None)
        if values is None:
            waiting.append((rank, onward))
            idle += 1
            assert idle <= len(waiting), "messages that nobody sends"
        else:
            idle = 0
            put(rank, onward.to, onward.to_tag, values)
    for rank, part in enumerate(parts):
        for receive in part.receives:
            values = wire.pop((receive.origin, rank, receive.origin_tag))
            for segment in receive.segments:
                place = workspaces[rank][segment.offset : segment.offset + segment.size]
                arrived, values = values[: segment.size], values[segment.size :]
                place[:] = reduced(FLOAT32, "sum", place, arrived) if segment.is_reduction else arrived
            assert len(values) == 0
    assert not wire, "messages that nobody takes"


def outputs(program: Program, inputs: DrawnInputs) -> list[Array]:
    workspaces = [np.zeros(size // 4, dtype=np.float32) for size in program.workspace_bytes]
    found = [np.zeros(size // 4, dtype=np.float32) for size in program.output_bytes]
    for rank, source, destination, size in zip(*program.loads, strict=True):
        workspaces[rank][destination // 4 : (destination + size) // 4] = inputs[rank][
            source // 4 : (source + size) // 4
        ]
    parts = [part_of(program, rank) for rank in range(program.ranks)]
    for step in range(program.steps):
        exchanged([part[step] for part in parts], workspaces)
    for rank, source, destination, size in zip(*program.stores, strict=True):
        found[rank][destination // 4 : (destination + size) // 4] = workspaces[rank][source // 4 : (source + size) // 4]
    return found


@pytest.mark.large
@settings(max_examples=60, deadline=None)
@given(index=st.integers(0, 2000))
def test_ranks_that_do_their_parts_do_the_program(index: int) -> None:
    plan = small_plan(index)
    if plan is None:
        return
    program = program_of(plan, 4)
    inputs = DrawnInputs(program, FLOAT32)
    for one, other in zip(outputs(program, inputs), interpret(program, inputs, FLOAT32), strict=True):
        assert np.array_equal(one, other)
