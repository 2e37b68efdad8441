"""A timeline in which bytes go from slot to slot, from the journeys that are the best."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from typing import TYPE_CHECKING

from lightloom.clocks.parts import Configuration, Transmission

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.clocks.journeys import Journeys
    from lightloom.clocks.rates import Matching, Rates
    from lightloom.clocks.slots import Slot

__all__ = ["forwarded"]

# Parts of all bytes below which a journey is left out; its pair's others carry them.
LEAST_SHARE = 1e-9


def forwarded(
    slots: Sequence[Slot], found: Journeys, rates: Rates, before: tuple[Matching, ...] | None
) -> tuple[tuple[tuple[Configuration, ...], ...], tuple[Transmission, ...]]:
    """Configurations by switch, and transmissions. before: what the switches hold at first, if that is given.

    All that leaves in a slot leaves at an even rate, a startup after its beginning. A slot over which nothing goes
    takes no time, but that of its turns.
    """
    moves = _moves(found)
    switches = [_Switch(before[k] if before else None, k) for k in range(len(slots[0].held))]
    transmissions = []
    end_s = 0.0
    for s, (slot, length_s) in enumerate(zip(slots, found.lengths_s, strict=True)):
        begin_s, of_slot = end_s, moves[s]
        start_s = begin_s + rates.startup_s
        hops = max((len(path) for _, path in of_slot), default=0)
        over_s = start_s + length_s + hops * rates.hop_s
        end_s = begin_s + rates.turn_s if slot.turns else over_s if of_slot else begin_s
        for switch in switches:
            switch.hold(slot, begin_s, end_s)
        for ((source, destination), path), size in of_slot.items():
            transmissions.append(Transmission(start_s, length_s, size, None, source, destination, path))
    return tuple(switch.history() for switch in switches), tuple(transmissions)


_Path = tuple[tuple[int, int, int], ...]


def _moves(found: Journeys) -> defaultdict[int, dict[tuple[tuple[int, int], _Path], float]]:
    """By slot, the bytes of each pair by path."""
    totals: defaultdict[tuple[int, int], float] = defaultdict(float)
    most = sum(size for _, size in found.sent)
    kept = [(journey, size) for journey, size in found.sent if size > LEAST_SHARE * most]
    for journey, size in found.sent:
        totals[journey[0][2], journey[-1][3]] += size
    carried: defaultdict[tuple[int, int], float] = defaultdict(float)
    for journey, size in kept:
        carried[journey[0][2], journey[-1][3]] += size
    if carried.keys() != totals.keys():
        kept, carried = list(found.sent), totals
    made: defaultdict[int, dict[tuple[tuple[int, int], _Path], float]] = defaultdict(dict)
    for journey, size in kept:
        pair = journey[0][2], journey[-1][3]
        for s, circuits in groupby(journey, key=lambda circuit: circuit[0]):
            path = tuple(circuit[1:] for circuit in circuits)
            made[s][pair, path] = made[s].get((pair, path), 0.0) + size * totals[pair] / carried[pair]
    return made


class _Switch:
    """What a switch holds from slot to slot."""

    def __init__(self, first: Matching | None, index: int) -> None:
        self.matching, self.index = first, index
        self.ready_s = self.end_s = 0.0
        self.made: list[Configuration] = []

    def hold(self, slot: Slot, begin_s: float, end_s: float) -> None:
        """Go on to a slot; the switch keeps its circuits while it turns, or is dark, as long as they were there."""
        matching = slot.held[self.index]
        if not any(v >= 0 for v in matching):
            return
        if matching == self.matching:
            self.end_s = end_s
        else:
            if self.matching is not None:
                self.made.append(self._now())
            self.matching, self.ready_s, self.end_s = matching, begin_s, end_s

    def history(self) -> tuple[Configuration, ...]:
        return (*self.made, self._now()) if self.matching is not None else tuple(self.made)

    def _now(self) -> Configuration:
        circuits = tuple((u, v) for u, v in enumerate(self.matching or ()) if v >= 0)
        return Configuration(self.ready_s, self.end_s, circuits)
