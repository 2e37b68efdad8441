"""Local moves on what switches hold: another matching, or the same as before, while the time falls."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.clocks.distances import Distances
from lightloom.clocks.journeys import best_journeys
from lightloom.clocks.matchings import heaviest_matching
from lightloom.clocks.slots import slots_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lightloom.clocks.journeys import Journeys
    from lightloom.clocks.rates import Rates
    from lightloom.clocks.slots import Held, Slot

__all__ = ["Moved", "moved"]

# Pairs times circuits times programmes that are solved at most: some seconds of work; and pairs times circuits of the
# largest programme that is solved at all.
MOST_WORK, MOST_PROGRAMMES, LARGEST = 600_000, 100, 1_000_000
# By how much of it the time has to fall.
GAIN = 1e-4


class Moved(NamedTuple):
    """What switches hold, the slots of that, and the best journeys on them."""

    held: Held
    slots: tuple[Slot, ...]
    journeys: Journeys


def moved(
    held: Held, sent: NDArray[np.float64], rates: Rates, hops: int, *, first_is_used: bool, kept: int
) -> Moved | None:
    """The best that is found from what switches hold; None where they cannot carry all bytes, or that is too much work.

    kept: how many of what they hold first stays as it is. A move leaves out one time between turns, lets switches turn
    one after another that turn together, or gives a switch, for one time between turns, the
    matching of most worth at the prices of the programme, or the one that it has before or after, so that it need not
    turn. The first that helps is taken; the switches whose circuits have the least price are tried first.
    """
    best = _solved(held, sent, rates, hops, first_is_used=first_is_used)
    if best is None:
        return None
    circuits = sum(len(slot.held) for slot in best.slots) * len(sent)
    left = min(MOST_PROGRAMMES, int(MOST_WORK / (np.count_nonzero(sent) * circuits + 1)))
    tried: set[Held] = {held}
    while left > 0:
        for other in _moves(best, hops, kept=kept):
            if other in tried:
                continue
            tried.add(other)
            left -= 1
            found = _solved(other, sent, rates, hops, first_is_used=first_is_used)
            if found is None:
                continue
            gain = GAIN if len(other) >= len(best.held) else 0.0
            if found.journeys.total_s <= best.journeys.total_s * (1.0 - gain):
                best = found
                break
            if left <= 0:
                break
        else:
            break
    return best


def _solved(held: Held, sent: NDArray[np.float64], rates: Rates, hops: int, *, first_is_used: bool) -> Moved | None:
    slots = slots_of(held, first_is_used=first_is_used)
    if np.count_nonzero(sent) * sum(len(slot.held) for slot in slots) * len(sent) > LARGEST:
        return None
    found = best_journeys(slots, sent, rates, hops) if slots else None
    return None if found is None else Moved(held, slots, found)


def _moves(best: Moved, hops: int, *, kept: int) -> Iterator[Held]:
    """What switches hold after one move, the most promising first."""
    held, found = best.held, best.journeys
    yield from ((*held[:index], *held[index + 1 :]) for index in range(kept, len(held)) if len(held) > 1)
    yield from _apart(held)
    slot_of = {slot.place: s for s, slot in enumerate(best.slots) if not slot.turns and slot.place >= kept}
    places = []
    for index, s in slot_of.items():
        prices = np.where(np.isfinite(found.circuit_prices[s]), found.circuit_prices[s], 0.0)
        places += [(float(prices[k].sum()), index, k) for k in range(len(prices))]
    worths: dict[int, NDArray[np.float64]] = {}
    for _, index, k in sorted(places):
        s = slot_of[index]
        if s not in worths:
            worths[s] = _worth(best, s, hops)
        new = heaviest_matching(worths[s]) if worths[s].any() else None
        beside = [held[near][k] for near in (index - 1, index + 1) if 0 <= near < len(held)]
        for matching in dict.fromkeys([*([] if new is None else [new]), *beside]):
            if matching != held[index][k]:
                row = tuple(matching if switch == k else own for switch, own in enumerate(held[index]))
                yield (*held[:index], row, *held[index + 1 :])
                yield (*held[: index + 1], row, *held[index + 1 :])
                yield (*held[:index], row, *held[index:])


def _apart(held: Held) -> Iterator[Held]:
    """What switches hold where some of those that turn together turn later than the others."""
    for index, (before, after) in enumerate(pairwise(held)):
        turning = [k for k, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        for first in range(1, len(turning)):
            early = set(turning[:first])
            row = tuple(after[k] if k in early else before[k] for k in range(len(after)))
            yield (*held[: index + 1], row, *held[index + 1 :])


def _worth(best: Moved, slot: int, hops: int) -> NDArray[np.float64]:
    """What a second of a circuit `[src][dst]` in a slot is worth: the most that a pair saves on a journey over it."""
    slots, found = best.slots, best.journeys
    to = Distances.of(slots[: slot + 1], found.circuit_prices[: slot + 1], hops).least
    after = Distances.of(slots[slot:], found.circuit_prices[slot:], hops).least
    worth = np.zeros_like(to)
    for gpu in range(len(to)):
        # By destination, what remains of the price of the best source for bytes that are here.
        rest = (found.prices - to[:, gpu][:, None]).max(axis=0)
        worth[gpu] = np.maximum(0.0, (rest[None, :] - after).max(axis=1))
    np.fill_diagonal(worth, 0.0)
    return np.where(np.isfinite(worth), worth, 0.0)
