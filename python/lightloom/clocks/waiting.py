"""What each transmission of a timeline waits for: the transmissions that bring its data, and configurations."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lightloom.clocks.parts import Parts, Transmission
    from lightloom.plans import Plan

__all__ = ["Waits", "waits_of"]

# Largest difference of bytes and times that counts as rounding, over all of them.
ROUNDING = 1e-9


class Waits(NamedTuple):
    """By transmission: the circuits that it takes, and what brings its data.

    circuits: switch, configuration of the switch, transmitting and receiving GPU, for each hop. data: the transmissions
    whose bytes or chunks it sends on.
    """

    circuits: tuple[tuple[tuple[int, int, int, int], ...], ...]
    data: tuple[frozenset[int], ...]


def waits_of(parts: Parts, plan: Plan) -> Waits:
    """The waits of a timeline that its judge accepts."""
    ready_s = [[one.ready_s - ROUNDING * parts.total_s for one in switch] for switch in parts.switches]
    circuits = tuple(
        tuple((k, bisect_right(ready_s[k], one.start_s - plan.startup_s) - 1, u, v) for k, u, v in one.path)
        for one in parts.transmissions
    )
    by_step = any(one.step is not None for one in parts.transmissions)
    data = _of_chunks(parts.transmissions, plan) if by_step else _of_pairs(parts.transmissions, plan)
    return Waits(circuits, tuple(map(frozenset, data)))


def _of_chunks(sent: tuple[Transmission, ...], plan: Plan) -> list[set[int]]:
    """A transfer waits for all that wrote its chunks at its source in earlier steps."""
    of_transfer: defaultdict[tuple[int | None, int, int], list[int]] = defaultdict(list)
    for index, one in enumerate(sent):
        of_transfer[one.step, one.source, one.destination].append(index)
    found: list[set[int]] = [set() for _ in sent]
    writers: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for step in range(len(plan.steps)):
        transfers = list(plan.transfers(step))
        for moved in transfers:
            needed = {index for chunk in moved.chunks.tolist() for index in writers[moved.source, chunk]}
            for index in of_transfer[step, moved.source, moved.destination]:
                found[index] |= needed
        for moved in transfers:
            for chunk in moved.chunks.tolist():
                writers[moved.destination, chunk] += of_transfer[step, moved.source, moved.destination]
    return found


def _of_pairs(sent: tuple[Transmission, ...], plan: Plan) -> list[set[int]]:
    """What leaves a GPU on the way waits for the first arrivals there that have as many bytes as left it so far."""
    found: list[set[int]] = [set() for _ in sent]
    arrivals: defaultdict[tuple[int, int, int], list[tuple[float, int]]] = defaultdict(list)
    leaving: defaultdict[tuple[int, int, int], list[tuple[float, int]]] = defaultdict(list)
    for index, one in enumerate(sent):
        end_s = one.start_s + one.duration_s + len(one.path) * plan.hop_delay_s
        arrivals[one.source, one.destination, one.path[-1][2]].append((end_s, index))
        leaving[one.source, one.destination, one.path[0][1]].append((one.start_s, index))
    for (source, destination, gpu), parts in leaving.items():
        if gpu == source:
            continue
        there = iter(sorted(arrivals[source, destination, gpu]))
        arrived, left, needed = 0.0, 0.0, set[int]()
        for _, index in sorted(parts):
            left += sent[index].size_bytes
            while arrived < left * (1.0 - ROUNDING) and (brought := next(there, None)) is not None:
                needed.add(brought[1])
                arrived += sent[brought[1]].size_bytes
            found[index] |= needed
    return found
