"""The bytes that each transmission of a timeline carries: a program with a step for each."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.base.errors import refuse
from lightloom.clocks.runs.pairs import pieces_of_pairs
from lightloom.running.program import program_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.clocks.parts import Parts
    from lightloom.clocks.runs.pairs import Piece
    from lightloom.plans import Plan
    from lightloom.running.program import Program

__all__ = ["Contents", "contents_of"]


class Contents(NamedTuple):
    """The program of a timeline, whose step i is transmission i; it has no message if it carries no whole element.

    order: transmissions in the order in which they would be carried out one group after the other; those of a group
    read what there was before any of them, and are in the order of sources.
    """

    program: Program
    order: tuple[tuple[int, ...], ...]


def contents_of(parts: Parts, plan: Plan, element_bytes: int) -> Contents:
    """The contents of a timeline that its judge accepts.

    element_bytes: size of an element of the data. Raises `InputError` that names `plan` as `program_of` does, and where
    transmissions between pairs are of another collective than All-to-All.
    """
    program = program_of(plan, element_bytes)
    if any(one.step is not None for one in parts.transmissions):
        pieces, order = _of_transfers(parts, program)
    elif program.blocks is None:
        reason = f"what pairs send of {plan.collective} is not run; it takes transmissions that name their step"
        raise refuse("plan", reason)
    else:
        program, pieces, order = pieces_of_pairs(parts, plan, program)
    return Contents(_assembled(parts, program, pieces), order)


def _of_transfers(parts: Parts, program: Program) -> tuple[list[list[Piece]], tuple[tuple[int, ...], ...]]:
    """A transfer's row of bytes, segment after segment, is dealt out to its transmissions in the order of their times.

    Each takes its share of the bytes, rounded to whole elements.
    """
    rows: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
    firsts, lasts = program.gpus[program.gpu_offsets[:-1]], program.gpus[program.gpu_offsets[1:] - 1]
    keys = zip(program.step.tolist(), firsts.tolist(), lasts.tolist(), strict=True)
    for key, first, end in zip(keys, program.segment_offsets[:-1], program.segment_offsets[1:], strict=True):
        rows[key] += range(first, end)
    sent: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
    for index, one in sorted(enumerate(parts.transmissions), key=lambda entry: entry[1].start_s):
        sent[one.step or 0, one.source, one.destination].append(index)
    pieces: list[list[Piece]] = [[] for _ in parts.transmissions]
    for key, indices in sent.items():
        segments = [
            (
                int(program.source_offset[place]),
                int(program.destination_offset[place]),
                int(program.size_bytes[place]),
                bool(program.is_reduction[place]),
            )
            for place in rows.get(key, ())
        ]
        elements = sum(size for _, _, size, _ in segments) // program.element_bytes
        so_far = np.cumsum([parts.transmissions[index].size_bytes for index in indices])
        ends = np.rint(so_far / so_far[-1] * elements).astype(np.int64) * program.element_bytes
        for index, begin, end in zip(indices, [0, *ends.tolist()], ends.tolist(), strict=False):
            pieces[index] = _cut(segments, begin, end)
    order: defaultdict[int, list[int]] = defaultdict(list)
    for index, one in sorted(enumerate(parts.transmissions), key=lambda entry: (entry[1].source, entry[1].destination)):
        order[one.step or 0].append(index)
    return pieces, tuple(tuple(order[step]) for step in sorted(order))


def _cut(segments: Sequence[Piece], begin: int, end: int) -> list[Piece]:
    """The bytes from `begin` to `end` of a row of segments."""
    made, at = [], 0
    for source, destination, size, is_reduction in segments:
        low, high = max(begin - at, 0), min(end - at, size)
        if low < high:
            made.append((source + low, destination + low, high - low, is_reduction))
        at += size
    return made


def _assembled(parts: Parts, program: Program, pieces: Sequence[Sequence[Piece]]) -> Program:
    """The program whose messages are these pieces; inputs, outputs and workspaces stay."""
    carrying = [index for index, of_it in enumerate(pieces) if of_it]
    paths = [
        (parts.transmissions[index].path[0][1], *(v for _, _, v in parts.transmissions[index].path))
        for index in carrying
    ]
    rows = np.array([piece for index in carrying for piece in pieces[index]], dtype=np.int64).reshape(-1, 4)
    return replace(
        program,
        steps=len(parts.transmissions),
        step=np.array(carrying, dtype=np.int64),
        gpu_offsets=np.cumsum([0, *map(len, paths)], dtype=np.int64),
        gpus=np.array([gpu for path in paths for gpu in path], dtype=np.int64),
        segment_offsets=np.cumsum([0, *(len(pieces[index]) for index in carrying)], dtype=np.int64),
        source_offset=np.ascontiguousarray(rows[:, 0]),
        destination_offset=np.ascontiguousarray(rows[:, 1]),
        size_bytes=np.ascontiguousarray(rows[:, 2]),
        is_reduction=rows[:, 3].astype(np.bool_),
    )
