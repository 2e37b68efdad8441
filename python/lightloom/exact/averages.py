"""A bound on an interval of steps by topologies averaged over a group that keeps the steps, through HiGHS.

Replace every topology by the average of its images under the group: a pair of ranks then has a fraction of a circuit.
Flows averaged with it stay within it, and so does the tree of shortest paths out of a rank. The program over these
averages therefore bounds all topologies, those that the group does not keep included. Its solution is no topology.

The tree: a rank is reached by one hop number, from one parent, over a circuit to it; a parent has at most as many
children as ports. So the tree holds the places of Moore's bound, and in addition says over which circuits.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from lightloom.exact.demands import Demand
from lightloom.exact.program import Capacities, Scope, StepCosts, add_costs, add_flows
from lightloom.exact.solver import LinearProgram

if TYPE_CHECKING:
    from collections.abc import Sequence

# Columns of a program: larger ones are not solved in the time of a budget.
MOST_COLUMNS = 40_000


class Kind(NamedTuple):
    """The kind of an averaged program: which paths and flows it tells apart.

    levels: hops told apart in the tree of shortest paths, in addition to those by which all peers have a place (Moore);
    ranks farther away count as one hop farther. flows: "none", those of "any" length, or those by "hops".
    """

    levels: int
    flows: str


# From the fastest to the one that knows most.
PROGRAMS = (Kind(0, "none"), Kind(0, "any"), Kind(1, "none"), Kind(1, "any"), Kind(1, "hops"))


def least_seconds(
    demands: Sequence[Demand], scope: Scope, upper_s: float, seconds: float, kind: Kind = PROGRAMS[-1]
) -> float:
    """No topology takes less for these demands, without startup.

    scope: with a group that keeps all demands. upper_s: what takes longer is cut off, and no bound is larger.
    seconds: wall-clock limit; the bound proved by then is returned. 0 where the flows that the kind asks for, or
    one level of the tree, are more than `MOST_COLUMNS`.
    """
    alike = Counter(demands)
    several = [
        Demand(demand.arcs, demand.hop_s * count, demand.load_s * count) for demand, count in sorted(alike.items())
    ]
    program = LinearProgram()
    capacities = Capacities(program, scope, integer=False)
    least_s = [demand.least_s(scope.ports) for demand in several]
    spare_s = max(upper_s - math.fsum(least_s), 0.0)
    costs = [
        add_costs(program, capacities, scope, demand, own_s + spare_s, upper_s, [])
        for demand, own_s in zip(several, least_s, strict=True)
    ]
    arcs = len(scope.group.representatives) * (scope.gpus - 1) ** 2
    levels = min(_levels(several, scope, kind.levels), MOST_COLUMNS // arcs)
    columns = {"none": 0, "any": len(costs), "hops": sum(max(len(cost.limits), 1) for cost in costs)}
    if levels < 1 or arcs * columns[kind.flows] > MOST_COLUMNS:
        return 0.0
    _add_tree(program, capacities, scope, several, costs, levels)
    if kind.flows != "none":
        for demand, cost in zip(several, costs, strict=True):
            add_flows(program, capacities, scope, demand, cost, layered=kind.flows == "hops")
    bound, _ = program.solve(seconds)
    return min(max(bound * upper_s, 0.0), upper_s)


def _levels(demands: Sequence[Demand], scope: Scope, spare: int) -> int:
    """Hops by which all peers of a rank have places, and spare ones."""
    sources = scope.group.representatives
    peers = max(len({dst for demand in demands for src, dst, _ in demand.arcs if src == source}) for source in sources)
    levels, places = 1, scope.ports
    while places < peers:
        levels += 1
        places += scope.ports**levels
    return min(levels + spare, scope.gpus - 1)


def _add_tree(
    program: LinearProgram,
    capacities: Capacities,
    scope: Scope,
    demands: Sequence[Demand],
    costs: Sequence[StepCosts],
    levels: int,
) -> None:
    """Add the tree of shortest paths out of every orbit's first rank, and what it says of hops and loads."""
    reached = {source: _tree_from(source, program, capacities, scope, levels) for source in scope.group.representatives}
    for demand, cost in zip(demands, costs, strict=True):
        # The circuits carry each transfer at least as often as its pair is hops apart.
        carried = {cost.load: float(scope.ports * len(reached))}
        weights = 0.0
        for source, target, weight in demand.arcs:
            if source not in reached:
                continue
            weights += weight * (levels + 1)
            for level, here in enumerate(reached[source]):
                carried[here[target]] = carried.get(here[target], 0.0) + weight * (levels - level)
            for limit in range(1, min(levels, len(cost.limits)) + 1):
                row = {here[target]: 1.0 for here in reached[source][:limit]}
                program.row({**row, **dict.fromkeys(cost.limits[:limit], -1.0)}, lower=0)
        program.row(carried, lower=weights)


def _tree_from(
    source: int, program: LinearProgram, capacities: Capacities, scope: Scope, levels: int
) -> list[dict[int, int]]:
    """By hops (from 1) and rank, the share of the group's images in which the rank is that far from a source."""
    others = [rank for rank in range(scope.gpus) if rank != source]
    over: dict[tuple[int, int], list[int]] = {}
    reached: list[dict[int, int]] = []
    for _ in range(levels):
        here = {rank: program.variable(0, 1) for rank in others}
        into: dict[int, dict[int, float]] = {rank: {here[rank]: -1.0} for rank in others}
        for parent in others if reached else [source]:
            children = {rank: program.variable(0, 1) for rank in others if rank != parent}
            for rank, child in children.items():
                into[rank][child] = 1.0
                over.setdefault((parent, rank), []).append(child)
                if reached:
                    program.row({child: 1.0, reached[-1][parent]: -1.0}, upper=0)
            row = dict.fromkeys(children.values(), 1.0)
            if reached:
                program.row({**row, reached[-1][parent]: -float(scope.ports)}, upper=0)
            else:
                program.row(row, upper=scope.ports)
        for row in into.values():
            program.row(row, lower=0, upper=0)
        reached.append(here)
    for rank in others:
        program.row({here[rank]: 1.0 for here in reached}, upper=1)
    for pair, columns in over.items():
        circuits = capacities.variables[capacities.orbit[pair]]
        program.row({**dict.fromkeys(columns, 1.0), circuits: -1.0}, upper=0)
    return reached
