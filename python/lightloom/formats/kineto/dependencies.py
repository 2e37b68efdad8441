"""Dependencies of a GPU's work, by the times of a profile.

Everything waits for what was launched before it and had ended when it started:

- Work of the GPU that communicates nothing is one sequence of computation. It takes the time in which at least one
  kernel or copy runs; the time in which none does belongs to no node.
- A communication waits for the last computation that was launched before it and had ended when it started.
- Computation waits for the communications that were launched before it and had ended when it started, and so does a
  communication for those of other streams. Where the profile has the calls that let a stream or the program wait
  (`cudaStreamWaitEvent`, `cudaStreamSynchronize`, ...), only if one was made between the two launches; such a call
  within that of a collective lets the collective wait for computation, and does not count.
- Work of one stream runs in its order.

The sequence of computation is cut into nodes where a communication begins to wait for it, and where it begins to wait
for a communication, nowhere else. Takes O(n · streams · log n) for n kernels.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.formats.kineto.profile import Work

__all__ = ["Item", "items_of"]

MOST_STREAMS = 256
NONE = -1


class Item(NamedTuple):
    """A node of a rank: computation, or a communication.

    after: indices of the items that it waits for; work: the communication, None of computation; busy_ns: of
    computation, nanoseconds.
    """

    after: tuple[int, ...]
    work: Work | None
    busy_ns: int = 0


class _Stream:
    """The work of a stream so far: ends and launches, each the latest so far, and places in the order of all work."""

    def __init__(self) -> None:
        self.ends: list[int] = []
        self.launches: list[int] = []
        self.places: list[int] = []

    def add(self, work: Work, place: int) -> None:
        self.ends.append(max(work.end_ns, self.ends[-1] if self.ends else 0))
        self.launches.append(max(work.launched_ns, self.launches[-1] if self.launches else 0))
        self.places.append(place)

    def last_before(self, work: Work, launched_ns: int) -> int:
        """The place of the last work that was launched by then and had ended when this one started, or `NONE`."""
        found = min(bisect_right(self.ends, work.start_ns), bisect_right(self.launches, launched_ns))
        return self.places[found - 1] if found else NONE


def items_of(field: str, path: str, work: Sequence[Work], waits_ns: Sequence[int] | None) -> list[Item]:
    """The nodes of a rank, each after those that it waits for.

    work: in the order in which it began; waits_ns: in order, when a stream or the program was told to wait, None where
    that is not known. Raises `InputError` that names `field` and the profile's `path` for more than
    `MOST_STREAMS` streams.
    """
    waits, cuts = _waits(field, path, work, waits_ns)
    busy_ns = _nodes_of_computation(work, waits, cuts)
    items: list[Item] = []
    # By place of work: the item that it is in.
    item_of: list[int] = []
    computing = NONE
    for place, one in enumerate(work):
        if not one.is_communication and place not in busy_ns:
            item_of.append(computing)
            continue
        after = {item_of[other] for other in waits[place]}
        item_of.append(len(items))
        if one.is_communication:
            items.append(Item(tuple(sorted(after)), one))
            continue
        if computing != NONE:
            after.add(computing)
        computing = len(items)
        items.append(Item(tuple(sorted(after)), None, busy_ns[place]))
    return items


def _nodes_of_computation(work: Sequence[Work], waits: list[list[int]], cuts: set[int]) -> dict[int, int]:
    """Nanoseconds of each node of computation, by the place at which it begins."""
    busy_ns: dict[int, int] = {}
    begin, until, is_cut = NONE, 0, True
    for place, one in enumerate(work):
        if one.is_communication:
            continue
        if is_cut or waits[place]:
            begin = place
            busy_ns[begin] = 0
        busy_ns[begin] += max(0, one.end_ns - max(one.start_ns, until))
        until, is_cut = max(until, one.end_ns), place in cuts
    return busy_ns


def _waits(
    field: str, path: str, work: Sequence[Work], waits_ns: Sequence[int] | None
) -> tuple[list[list[int]], set[int]]:
    """By place the places that work waits for, and the places of computation after which a node ends.

    Computation that waits for a place need not be told again: what follows it in the sequence waits for it too.
    """
    computation: dict[int | str, _Stream] = defaultdict(_Stream)
    communication: dict[int | str, _Stream] = defaultdict(_Stream)
    waits: list[list[int]] = [[] for _ in work]
    cuts: set[int] = set()
    awaited: dict[int | str, int] = {}
    for place, one in enumerate(work):
        told_ns = one.launched_ns
        if waits_ns is not None:
            told = bisect_right(waits_ns, one.launched_ns)
            told_ns = waits_ns[told - 1] if told else NONE
        found = {
            stream: held.last_before(one, one.launched_ns if stream == one.stream else told_ns)
            for stream, held in communication.items()
        }
        if one.is_communication:
            last = max((held.last_before(one, one.launched_ns) for held in computation.values()), default=NONE)
            waits[place] = [other for stream, other in found.items() if other != NONE and stream != one.stream]
            if last != NONE:
                waits[place].append(last)
                cuts.add(last)
            communication[one.stream].add(one, place)
        else:
            waits[place] = [other for stream, other in found.items() if other > awaited.get(stream, NONE)]
            awaited |= {stream: max(other, awaited.get(stream, NONE)) for stream, other in found.items()}
            computation[one.stream].add(one, place)
        if len(computation) + len(communication) > MOST_STREAMS:
            raise refuse(field, f"`{path}` has work on more than {MOST_STREAMS} streams")
    return waits, cuts
