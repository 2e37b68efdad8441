"""The nodes of a workload in an order in which they can end."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["in_order", "passed_on"]

MOST_WAITS = 1 << 22


def passed_on(field: str, waits: Sequence[set[int]], left_out: Sequence[bool]) -> list[set[int]]:
    """The nodes that each node waits for once some are left out: in their place, the nodes that these waited for.

    Nodes that are left out wait for nothing then. Raises `InputError` that names `field` where nodes wait on each
    other, or for more than `MOST_WAITS` in all.
    """
    found = list(waits)
    left = MOST_WAITS
    for node in in_order(field, waits, [(index,) for index in range(len(waits))], lambda index: f"task {index}"):
        if any(left_out[before] for before in waits[node]):
            found[node] = {before for before in waits[node] if not left_out[before]}
            for before in waits[node]:
                if left_out[before]:
                    found[node] |= found[before]
                    left -= len(found[before])
            if left < 0:
                raise refuse(field, f"nodes wait for more than {MOST_WAITS} others through tasks that take no time")
    return [set() if left_out[node] else found[node] for node in range(len(found))]


def in_order(
    field: str, waits: Sequence[Iterable[int]], first: Sequence[tuple[int, ...]], shown_as: Callable[[int], str]
) -> list[int]:
    """Indices of the nodes, each after all that it waits for; of several that could be next, the first by `first`.

    waits: indices of the nodes that each waits for, each once. Raises `InputError` that names `field` where nodes wait
    on each other. Takes O((nodes + dependencies) log nodes).
    """
    followers: list[list[int]] = [[] for _ in waits]
    missing = [0] * len(waits)
    for node, before in enumerate(waits):
        for other in before:
            followers[other].append(node)
            missing[node] += 1
    ready = [(first[node], node) for node, count in enumerate(missing) if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        _, node = heapq.heappop(ready)
        order.append(node)
        for other in followers[node]:
            missing[other] -= 1
            if not missing[other]:
                heapq.heappush(ready, (first[other], other))
    if len(order) < len(waits):
        stuck = next(node for node, count in enumerate(missing) if count)
        raise refuse(field, f"{shown_as(stuck)} waits for itself through others: a cyclic dependency")
    return order
