"""A plan's steps executed with symbols: who holds which rank's contribution to which chunk."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.reference.plan_document import EVERYBODY, Chunks, Transfer

MAX_RANKS = 64
OWN_BITS = np.left_shift(np.uint64(1), np.arange(MAX_RANKS, dtype=np.uint64))


def execute(collective: str, ranks: int, chunks: Chunks, steps: list[list[Transfer]]) -> list[str]:
    """What is wrong with the schedule of a collective; nothing where it computes it.

    The state is a set of contributors per rank and chunk, as the bits of a word. A step reads the state before it.
    """
    assert ranks <= MAX_RANKS
    reduces = collective in {"all-reduce", "reduce-scatter", "reduce"}
    state = np.zeros((ranks, len(chunks.first)), dtype=np.uint64)
    wanted = np.zeros_like(state)
    for chunk, (first, last) in enumerate(zip(chunks.first, chunks.last, strict=True)):
        if first == EVERYBODY:
            state[:, chunk] = OWN_BITS[:ranks]
        else:
            state[first, chunk] = OWN_BITS[first]
        complete = np.bitwise_or.reduce(state[:, chunk])
        wanted[slice(None) if last == EVERYBODY else last, chunk] = complete
    faults = []
    for index, transfers in enumerate(steps):
        after, wrong = _step(state, transfers, reduces=reduces)
        faults += [f"step {index}: {text}" for text in wrong]
        state = after
    missing = int(((wanted != 0) & (state != wanted)).sum())
    if missing:
        faults.append(f"{missing} chunks are not where and what they must be after the last step")
    return faults


def _step(
    state: NDArray[np.uint64], transfers: list[Transfer], *, reduces: bool
) -> tuple[NDArray[np.uint64], list[str]]:
    faults = []
    after = state.copy()
    copied = np.zeros(state.shape, dtype=bool)
    summed = np.zeros(state.shape, dtype=bool)
    # Where several write a chunk, in the order of their senders: the first may replace the chunk, the others add to it.
    for transfer in sorted(transfers, key=lambda transfer: transfer.src):
        named = np.array(transfer.chunks)
        sent, at = state[transfer.src, named], (transfer.dst, named)
        pair = f"{transfer.src} to {transfer.dst}"
        if len(set(transfer.chunks)) != len(transfer.chunks):
            faults.append(f"{pair} names a chunk twice")
        if (sent == 0).any():
            faults.append(f"{pair} sends what it does not hold")
        if transfer.reduces:
            if not reduces:
                faults.append(f"{pair} reduces, in a collective that does not")
            if (after[at] & sent).any():
                faults.append(f"{pair} adds what is there already")
            after[at] |= sent
            summed[at] = True
        else:
            if (copied[at] & (after[at] != sent)).any() or summed[at].any():
                faults.append(f"{pair} overwrites what another writes")
            after[at] = sent
            copied[at] = True
    return after, faults
