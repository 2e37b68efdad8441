"""Topologies in which every rank has circuits over the same shifts: where the search for large problems starts."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from lightloom import _core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightloom.exact.demands import Demand
    from lightloom.exact.program import Scope

# The planner whose topologies are taken, too.
START = "weave"
# All pairs of shifts of 64 ranks are 2016; with more ports, the shifts of the steps come first.
MOST_TOPOLOGIES = 3_000


def cayley_topologies(steps: Sequence[Demand], scope: Scope) -> Iterator[_core.Topology]:
    """Every choice of shifts, one a port, of a group that carries rank 0 to each rank once; else nothing.

    At most `MOST_TOPOLOGIES`, of the shifts of the steps first and then of the smallest ones.
    """
    gpus, ports, group = scope
    if len(group.representatives) > 1:
        return
    of_steps = dict.fromkeys(dst for step in steps for src, dst, _ in step.arcs if src == 0)
    shifts = list(dict.fromkeys([*of_steps, *range(1, gpus)]))
    while len(shifts) > 1 and math.comb(len(shifts) + ports - 1, ports) > MOST_TOPOLOGIES:
        shifts.pop()
    for chosen in combinations_with_replacement(sorted(shifts), ports):
        links = [
            (element[0], element[shift], chosen.count(shift)) for element in group.elements for shift in set(chosen)
        ]
        name = ",".join(map(str, chosen))
        yield _core.Topology.from_links(f"shifts:{name}", gpus, sorted(links))
