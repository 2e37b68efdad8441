"""Waits of transmissions for data, so that no byte is read before it is there, or overwritten before it is read."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from lightloom.clocks.runs.contents import Contents

__all__ = ["DataWaits", "data_waits_of"]


class DataWaits(NamedTuple):
    """By transmission: others that have ended when it begins, and others that have ended when its data are kept."""

    after: list[set[int]]
    keeps_after: list[set[int]]


def data_waits_of(contents: Contents) -> DataWaits:
    """The waits for data, byte by byte of workspaces.

    A transmission begins once its bytes are written; its data are kept once bytes in the same place have been written
    by earlier groups, and read by these and its own. In a group, ranks keep data in the order of sources where the
    order makes a difference: where not all of them are reduced.
    """
    program = contents.program
    cells = _cells_of(contents)
    found = DataWaits([set() for _ in range(program.steps)], [set() for _ in range(program.steps)])
    writers: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    readers: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    copied = np.flatnonzero(~program.is_reduction)
    copies = set(program.step[np.searchsorted(program.segment_offsets, copied, side="right") - 1].tolist())
    for group in contents.order:
        for index in group:
            for cell in cells[0][index]:
                found.after[index] |= writers[cell]
                readers[cell].add(index)
        written: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        for index in group:
            for cell in cells[1][index]:
                before = written[cell] if index in copies else written[cell] & copies
                found.keeps_after[index] |= writers[cell] | readers[cell] | before
                written[cell].add(index)
            found.keeps_after[index] -= found.after[index] | {index}
        writers.update(written)
    return found


def _cells_of(contents: Contents) -> tuple[list[list[tuple[int, int]]], list[list[tuple[int, int]]]]:
    """By transmission, the places that it reads and writes: a rank, and a stretch that segments cover whole or not."""
    program = contents.program
    segments = np.diff(program.segment_offsets)
    firsts, lasts = program.gpus[program.gpu_offsets[:-1]], program.gpus[program.gpu_offsets[1:] - 1]
    steps = np.repeat(program.step, segments)
    sides = (
        (np.repeat(firsts, segments), program.source_offset),
        (np.repeat(lasts, segments), program.destination_offset),
    )
    borders: defaultdict[int, list[np.ndarray]] = defaultdict(list)
    for ranks, offsets in sides:
        for rank in np.unique(ranks).tolist():
            of_it = ranks == rank
            borders[rank] += [offsets[of_it], offsets[of_it] + program.size_bytes[of_it]]
    known = {rank: np.unique(np.concatenate(of_it)) for rank, of_it in borders.items()}
    made: list[list[list[tuple[int, int]]]] = []
    for ranks, offsets in sides:
        cells: list[list[tuple[int, int]]] = [[] for _ in range(program.steps)]
        for step, rank, begin, size in zip(
            steps.tolist(), ranks.tolist(), offsets.tolist(), program.size_bytes.tolist(), strict=True
        ):
            low, high = np.searchsorted(known[rank], (begin, begin + size)).tolist()
            cells[step] += [(rank, cell) for cell in range(low, high)]
        made.append(cells)
    return made[0], made[1]
