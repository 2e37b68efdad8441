"""Whether a timeline brings all data where they belong, and none before they are there."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lightloom.clocks.parts import Parts, Transmission
    from lightloom.plans import Plan
    from lightloom.plans.transfers import Transfer

__all__ = ["data_fault"]

ROUNDING = 1e-9


def data_fault(parts: Parts, plan: Plan, startup_s: float, hop_s: float) -> str | None:
    """The first fault of the data, if there is one.

    Transmissions either carry the plan's transfers, or what pairs send. A GPU sends on what has been there for a
    startup.
    """
    by_step = [one for one in parts.transmissions if one.step is not None]
    if not by_step:
        return _pairs_fault(parts, plan, startup_s, hop_s)
    if len(by_step) < len(parts.transmissions):
        return "some transmissions have a step, and some have none"
    return _steps_fault(parts, plan, startup_s, hop_s)


def _end_s(one: Transmission, hop_s: float) -> float:
    return one.start_s + one.duration_s + len(one.path) * hop_s


def _steps_fault(parts: Parts, plan: Plan, startup_s: float, hop_s: float) -> str | None:
    """The plan's steps compute its collective; so do these, where each chunk is written and read in their order."""
    slack_s = ROUNDING * parts.total_s
    sent: defaultdict[tuple[int, int, int], list[Transmission]] = defaultdict(list)
    for one in parts.transmissions:
        if one.path[0][1] != one.source or one.path[-1][2] != one.destination:
            return f"a transmission of step {one.step} does not lead from its source to its destination"
        sent[one.step or 0, one.source, one.destination].append(one)
    chunks = len(plan.chunks())
    written, read = np.full((plan.gpus, chunks), -np.inf), np.full((plan.gpus, chunks), -np.inf)
    for step in range(len(plan.steps)):
        ends = []
        of_step: defaultdict[tuple[int, int], list[Transfer]] = defaultdict(list)
        for transfer in plan.transfers(step):
            of_step[transfer.source, transfer.destination].append(transfer)
        for (source, destination), transfers in of_step.items():
            name = f"step {step}, {source} to {destination}"
            of_it = sent.pop((step, source, destination), [])
            size, moved = sum(one.size_bytes for one in transfers), np.concatenate([one.chunks for one in transfers])
            if abs(sum(one.size_bytes for one in of_it) - size) > ROUNDING * size:
                return f"{name}: other bytes are sent than the plan says"
            if not of_it:
                continue
            begin_s, end_s = min(one.start_s for one in of_it), max(_end_s(one, hop_s) for one in of_it)
            if begin_s < written[source, moved].max() + startup_s - slack_s:
                return f"{name}: it begins before its data are there"
            over_s = max(written[destination, moved].max(), read[destination, moved].max())
            if end_s < over_s - slack_s:
                return f"{name}: it ends before what the chunk was used for earlier"
            ends.append((source, destination, moved, end_s))
        for source, destination, moved, end_s in ends:
            for known, gpu in ((written, destination), (read, source)):
                known[gpu, moved] = np.maximum(known[gpu, moved], end_s)
    return f"step {next(iter(sent))[0]}: a transfer is sent that the plan does not have" if sent else None


def _pairs_fault(parts: Parts, plan: Plan, startup_s: float, hop_s: float) -> str | None:
    """Follows the bytes of every pair from GPU to GPU: none leaves where it has not arrived a startup before."""
    chunks = plan.chunks()
    if (chunks.source < 0).any() or (chunks.destination < 0).any():
        return "transmissions without steps, of a collective that is not made of pairs"
    wanted: defaultdict[tuple[int, int], float] = defaultdict(float)
    for source, destination, size in zip(
        chunks.source.tolist(), chunks.destination.tolist(), chunks.size_bytes.tolist(), strict=True
    ):
        if source != destination:
            wanted[source, destination] += size
    moves: defaultdict[tuple[int, int], list[tuple[float, int, int, float]]] = defaultdict(list)
    for one in parts.transmissions:
        begin, end = one.path[0][1], one.path[-1][2]
        # At one moment what arrives counts before what leaves.
        moves[one.source, one.destination].append((one.start_s - startup_s, 1, begin, -one.size_bytes))
        moves[one.source, one.destination].append(
            (_end_s(one, hop_s) - ROUNDING * parts.total_s, 0, end, one.size_bytes)
        )
    for pair in {*wanted, *moves}:
        size = wanted.get(pair, 0.0)
        slack = ROUNDING * max(size, 1.0) * (1 + len(moves[pair]))
        there = defaultdict(float, {pair[0]: size})
        for _, _, gpu, change in sorted(moves[pair]):
            there[gpu] += change
            if there[gpu] < -slack:
                return f"{pair[0]} to {pair[1]}: GPU {gpu} sends on what has not arrived"
        if abs(there[pair[1]] - size) > slack:
            return f"{pair[0]} to {pair[1]}: {there[pair[1]]:.0f} of {size:.0f} bytes arrive"
    return None
