"""One rank's part of a program, step by step: data that it sends, passes on, and receives for itself.

Messages from one rank to the next in a step are told apart by tags: both ends count the messages between them in the
order of the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from lightloom.running.program import Integers, Program

__all__ = ["Forward", "Receive", "Send", "StepPart", "part_of"]


class Segment(NamedTuple):
    """Elements of this rank's workspace; is_reduction: whether they are reduced with what arrives."""

    offset: int
    size: int
    is_reduction: bool


class Send(NamedTuple):
    """A message that begins here; size in elements."""

    to: int
    to_tag: int
    size: int
    segments: list[Segment]


class Forward(NamedTuple):
    """A message of others; size in elements."""

    origin: int
    origin_tag: int
    to: int
    to_tag: int
    size: int


class Receive(NamedTuple):
    """A message that ends here; size in elements."""

    origin: int
    origin_tag: int
    size: int
    segments: list[Segment]


class StepPart(NamedTuple):
    """All that a rank does in a step."""

    sends: list[Send]
    forwards: list[Forward]
    receives: list[Receive]

    @property
    def incoming(self) -> list[Receive | Forward]:
        """All that arrives: data for this rank, then data to be passed on."""
        return [*self.receives, *self.forwards]

    @property
    def buffered(self) -> int:
        """Elements that it takes in, or packs before it sends them."""
        packed = sum(send.size for send in self.sends if len(send.segments) > 1)
        return packed + sum(message.size for message in self.incoming)


def part_of(program: Program, rank: int) -> list[StepPart]:
    """The rank's part of every step. Costs a few passes over the GPUs of all messages, and more for the rank's own."""
    parts = [StepPart([], [], []) for _ in range(program.steps)]
    sizes = (program.message_bytes // program.element_bytes).tolist()
    steps, firsts = program.step.tolist(), program.gpu_offsets.tolist()
    # A message of k ranks has k - 1 hops, which follow each other here.
    message = np.repeat(np.arange(len(steps)), np.diff(program.gpu_offsets) - 1)
    at = np.arange(len(message)) + message
    sender, receiver = program.gpus[at], program.gpus[at + 1]
    tags = _counted((program.step[message] * program.ranks + sender) * program.ranks + receiver)
    for hop in np.flatnonzero(sender == rank).tolist():
        index = int(message[hop])
        if at[hop] == firsts[index]:
            segments = _segments(program, index, program.source_offset)
            parts[steps[index]].sends.append(Send(int(receiver[hop]), int(tags[hop]), sizes[index], segments))
    for hop in np.flatnonzero(receiver == rank).tolist():
        index, origin, tag = int(message[hop]), int(sender[hop]), int(tags[hop])
        if at[hop] + 2 == firsts[index + 1]:
            segments = _segments(program, index, program.destination_offset)
            parts[steps[index]].receives.append(Receive(origin, tag, sizes[index], segments))
        else:
            onward = Forward(origin, tag, int(receiver[hop + 1]), int(tags[hop + 1]), sizes[index])
            parts[steps[index]].forwards.append(onward)
    return parts


def _counted(keys: Integers) -> Integers:
    """For every key, how many before it are the same."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    counts = np.empty_like(keys)
    counts[order] = np.arange(len(keys)) - np.searchsorted(ordered, ordered)
    return counts


def _segments(program: Program, message: int, offsets: Integers) -> list[Segment]:
    own = slice(*program.segment_offsets[message : message + 2].tolist())
    size = program.element_bytes
    columns = (offsets[own] // size, program.size_bytes[own] // size, program.is_reduction[own])
    return [Segment(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
