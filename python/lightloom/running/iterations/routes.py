"""The ranks that messages of a send pass on their way over the circuits that are lit."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["routes"]


def routes(
    pairs: Sequence[tuple[int, int]], ends: NDArray[np.int64], used: Sequence[int], ports: int, node: str
) -> tuple[tuple[int, ...], ...]:
    """By pair of source and destination, the shortest path; neighbours are visited in ascending order, as planned.

    ends: by transmitter, rank · ports + port, the receiver that it is joined to, or -1. used: ports that messages leave
    by. Raises `InputError` that names `plan` where a pair is not joined.
    """
    towards: dict[int, list[int]] = {}
    lit = ends.reshape(-1, ports)[:, list(used)]
    for rank, receivers in enumerate(lit.tolist()):
        towards[rank] = sorted({receiver // ports for receiver in receivers if receiver >= 0})
    return tuple(_shortest(towards, source, destination, node) for source, destination in pairs)


def _shortest(towards: dict[int, list[int]], source: int, destination: int, node: str) -> tuple[int, ...]:
    before = {source: source}
    queue = deque([source])
    while queue and destination not in before:
        at = queue.popleft()
        for head in towards[at]:
            if head not in before:
                before[head] = at
                queue.append(head)
    if destination not in before:
        raise refuse("plan", f"no circuits lead from rank {source} to rank {destination} in event `{node}`")
    path = [destination]
    while path[-1] != source:
        path.append(before[path[-1]])
    return tuple(reversed(path))
