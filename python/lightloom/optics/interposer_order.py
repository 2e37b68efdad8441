"""Which GPUs are on which interposer, so that a plan's circuits have little fibre on their way."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

from lightloom import _core
from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.plans import Plan

__all__ = ["with_shortest_order"]

KEY = "interposer_order=shortest"
# Interposers up to which all orders are tried; from how many orders the search by exchanges begins otherwise.
MOST_TRIED, STARTS = 7, 20
SEED = 0

# The pairs of groups of GPUs that circuits join, and how often each; the weight of a step's longest circuit.
Pairs = dict[tuple[int, int], int]
# Seconds of light in fibres, and metres of fibre of all circuits.
Value = tuple[float, float]


def with_shortest_order(plan: Plan, optics: str) -> str:
    """`optics` with the order of interposers in place of `interposer_order=shortest`.

    The order is that in which light is in fibres for the shortest time: the sum over steps of hops times the longest
    circuit, between the positions of interposers; of equals, that with the least fibre in all. Up to 7 interposers
    all orders are tried; of more, interposers change places while that makes it better, from 20 orders.

    plan: whose circuits it is for. optics: `mesh:...` with lengths of fibres. Raises `InputError` that names the key
    where no length is said.
    """
    kind, _, parameters = optics.partition(":")
    kept = ",".join(part for part in parameters.split(",") if part != KEY)
    told = _core.fibre_lengths(kept, plan.gpus) if kind == "mesh" else None
    if told is None:
        raise refuse(
            "interposer_order",
            "`shortest` is not accepted; it takes lengths of fibres next to it: fibre_m, or positions of interposers",
        )
    (rows, columns), row_m, column_m, ns_per_m = told
    # Light goes from neighbour to neighbour, wherever they are.
    along = [[0.0, *itertools.accumulate(abs(b - a) for a, b in itertools.pairwise(one))] for one in (row_m, column_m)]
    places = [(along[0][row], along[1][column]) for row in range(rows) for column in range(columns)]
    search = _Search(places, _loads(plan, len(places)), ns_per_m * 1e-9)
    order = search.best()
    return f"{kind}:{kept},interposer_order={':'.join(map(str, order))}"


def _loads(plan: Plan, interposers: int) -> list[tuple[Pairs, int]]:
    """Per topology, the groups of GPUs that circuits join, and the hops of all its steps."""
    each = -(-plan.gpus // interposers)
    hops = [0] * len(plan.topologies)
    for step in plan.steps:
        hops[step.topology_index] += step.hops
    loads: list[tuple[Pairs, int]] = []
    for topology, weight in zip(plan.topologies, hops, strict=True):
        pairs: Pairs = {}
        for source, destination, count in topology.links.tolist():
            ends = (source // each, destination // each)
            if ends[0] != ends[1]:
                pairs[ends] = pairs.get(ends, 0) + count
        if pairs and weight:
            loads.append((pairs, weight))
    return loads


class _Search:
    """Orders of interposers, and how good they are."""

    def __init__(self, places: Sequence[tuple[float, float]], loads: list[tuple[Pairs, int]], s_per_m: float) -> None:
        self._apart = [[abs(a[0] - b[0]) + abs(a[1] - b[1]) for b in places] for a in places]
        self._loads = loads
        self._s_per_m = s_per_m

    def value(self, order: Sequence[int]) -> Value:
        """Seconds in fibres and metres of all circuits, in this order."""
        seconds = metres = 0.0
        for pairs, hops in self._loads:
            lengths = [(self._apart[order[a]][order[b]], count) for (a, b), count in pairs.items()]
            seconds += hops * self._s_per_m * max(length for length, _ in lengths)
            metres += sum(length * count for length, count in lengths)
        return (seconds, metres)

    def best(self) -> tuple[int, ...]:
        """The best order that is found; the first of equals."""
        count = len(self._apart)
        if count <= MOST_TRIED:
            return min(itertools.permutations(range(count)), key=self.value)
        draws = random.Random(SEED)  # noqa: S311 (no secret)
        starts = [list(range(count))] + [draws.sample(range(count), count) for _ in range(STARTS - 1)]
        best: list[int] = min((self._descended(start) for start in starts), key=self.value)
        return tuple(best)

    def _descended(self, order: list[int]) -> list[int]:
        """The order after exchanges of two interposers, each of which makes it better."""
        now = self.value(order)
        is_better = True
        while is_better:
            is_better = False
            for a, b in itertools.combinations(range(len(order)), 2):
                order[a], order[b] = order[b], order[a]
                value = self.value(order)
                if value < now:
                    now, is_better = value, True
                else:
                    order[a], order[b] = order[b], order[a]
        return order
