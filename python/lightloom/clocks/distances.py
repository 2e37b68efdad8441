"""Cheapest journeys of all pairs through the slots, at prices of circuits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom.clocks.slots import Slot

__all__ = ["Distances"]

# A hop costs this at least, in parts of the largest price, so that no journey has hops for nothing.
LEAST = 1e-12


@dataclass(frozen=True)
class Distances:
    """Least prices `[src][dst]` from the first slot to the last, and what they come from.

    reached: by slot, least prices `[src][gpu]` at its end. backward: by slot, least prices `[gpu][dst]` from its
    beginning on.
    """

    least: NDArray[np.float64]
    reached: tuple[NDArray[np.float64], ...]
    came: tuple[tuple[NDArray[np.int64], tuple[NDArray[np.int64], ...]], ...]
    senders: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, slots: Sequence[Slot], prices: Sequence[NDArray[np.float64]], hops: int) -> Distances:
        """Distances over up to `hops` circuits in each slot, by the recurrence of Bellman and Ford.

        prices: by slot `[switch, src]`, infinite where a switch has no circuit from there.
        """
        gpus = len(slots[0].held[0])
        least = np.full((gpus, gpus), np.inf)
        np.fill_diagonal(least, 0.0)
        came, senders, reached = [], [], []
        for slot, of_slot in zip(slots, prices, strict=True):
            from_gpu = _senders(slot)
            cost = np.where(from_gpu >= 0, np.take_along_axis(of_slot, np.maximum(from_gpu, 0), axis=1), np.inf) + LEAST
            taken, over = np.zeros((gpus, gpus), dtype=np.int64), []
            best, front = least, least
            for hop in range(1, hops + 1):
                options = np.stack([front[:, senders_of] + own for senders_of, own in zip(from_gpu, cost, strict=True)])
                over.append(options.argmin(axis=0))
                front = options.min(axis=0)
                is_less = front < best
                best = np.where(is_less, front, best)
                taken[is_less] = hop
            came.append((taken, tuple(over)))
            senders.append(from_gpu)
            reached.append(best)
            least = best
        return cls(least, tuple(reached), tuple(came), tuple(senders))

    def journey(self, source: int, destination: int) -> tuple[tuple[int, int, int, int], ...]:
        """The circuits of a cheapest journey, which there must be."""
        made = []
        gpu = destination
        for slot in range(len(self.came) - 1, -1, -1):
            taken, over = self.came[slot]
            for hop in range(int(taken[source, gpu]), 0, -1):
                k = int(over[hop - 1][source, gpu])
                before = int(self.senders[slot][k, gpu])
                made.append((slot, k, before, gpu))
                gpu = before
        return tuple(reversed(made))


def _senders(slot: Slot) -> NDArray[np.int64]:
    """By switch, the GPU that each receives from; -1 where there is none."""
    made = np.full((len(slot.held), len(slot.held[0])), -1, dtype=np.int64)
    for k, matching in enumerate(slot.held):
        for u, v in enumerate(matching):
            if v >= 0:
                made[k, v] = u
    return made
