"""The mixed-integer program for the topology of an interval of steps (HARVEST, appendix A), through HiGHS.

Integer variables are the circuits between two GPUs; rows and columns of them sum to the ports at most. Each demand is
routed, scaled by its throughput θ, over capacities that are these variables, one commodity for every source. The load
1/θ that the objective counts is a cone in the paper; here it is bounded from below by tangents, which never cut off a
topology, so that the solver's proof is a bound. Demand is scaled once, and θ is not capped.

Where hops cost something, flows are layered by hops and a binary variable picks the limit of each demand.
Where topologies are held invariant under a group, so may be flows, averaged over it: one variable an orbit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.exact.groups import keeping_group
from lightloom.exact.solver import LinearProgram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.exact.demands import Demand, Links
    from lightloom.exact.groups import RankGroup

# Tangents at every load of a geometric grid undercount what lies between two by (ratio - 1)² / 4 of it.
GRID_RATIO = 1.01


class Proved(NamedTuple):
    """No topology of the class takes less than `lower_s`; `links` is the best that the solver found, if any.

    `lower_s` is infinite if no topology takes less than the time known to be attained.
    """

    lower_s: float
    links: Links | None


class Scope(NamedTuple):
    """The class of topologies: GPUs, ports of each, and the group that they are invariant under."""

    gpus: int
    ports: int
    group: RankGroup


class Capacities:
    """Variables of the circuits, one for every orbit of pairs; whole numbers, or their averages over an orbit."""

    def __init__(self, program: LinearProgram, scope: Scope, *, integer: bool) -> None:
        pairs = [(src, dst) for src in range(scope.gpus) for dst in range(scope.gpus) if src != dst]
        self.orbit: dict[tuple[int, int], int] = {}
        self.pairs: list[list[tuple[int, int]]] = []
        for pair in pairs:
            if pair not in self.orbit:
                images = scope.group.orbit(pair)
                self.orbit.update(dict.fromkeys(images, len(self.pairs)))
                self.pairs.append(images)
        self.variables = [program.variable(0, scope.ports, integer=integer) for _ in self.pairs]
        for rank in scope.group.representatives:
            for at in (0, 1):
                row: dict[int, float] = {}
                for pair in pairs:
                    if pair[at] == rank:
                        variable = self.variables[self.orbit[pair]]
                        row[variable] = row.get(variable, 0.0) + 1.0
                program.row(row, upper=scope.ports)


def solve(
    demands: Sequence[Demand], scope: Scope, upper_s: float, loads: Sequence[Sequence[float]], seconds: float
) -> Proved:
    """The least time of the demands on one topology, without startup.

    upper_s: the least time known to be attained; infinite without one.
    loads: for each demand, loads at which tangents shall be exact.
    seconds: wall-clock limit; the bound proved by then is returned.
    """
    scale_s = upper_s if math.isfinite(upper_s) else sum(demand.load_s * scope.gpus for demand in demands)
    program = LinearProgram()
    capacities = Capacities(program, scope, integer=True)
    _order_images(program, capacities, scope, demands)
    least_s = [demand.least_s(scope.ports) for demand in demands]
    for index, demand in enumerate(demands):
        # The rest of the time known to be attained, after the other demands.
        spare_s = upper_s - (math.fsum(least_s) - least_s[index])
        costs = add_costs(program, capacities, scope, demand, spare_s, scale_s, loads[index])
        add_flows(program, capacities, scope, demand, costs)
    bound, values = program.solve(seconds)
    links = None
    if values is not None:
        counts = np.rint(values[capacities.variables]).astype(int)
        links = tuple(
            sorted(
                (src, dst, int(count))
                for images, count in zip(capacities.pairs, counts, strict=True)
                for src, dst in images
                if count > 0
            )
        )
    return Proved(max(bound * scale_s, math.fsum(least_s)), links)


def _order_images(program: LinearProgram, capacities: Capacities, scope: Scope, demands: Sequence[Demand]) -> None:
    """Keep one of the images of a topology under the symmetries of the demands: that in which rank 0 comes first.

    Ranks are ordered by a weighted sum of their own circuits, the same for all up to the group's elements.
    """
    if len(scope.group.elements) > 1:
        return
    largest = keeping_group(scope.gpus, [demand.arcs for demand in demands])
    for element in largest.elements[1:]:
        row: dict[int, float] = {}
        for place, other in enumerate(range(1, scope.gpus)):
            ours = capacities.variables[capacities.orbit[0, other]]
            theirs = capacities.variables[capacities.orbit[element[0], element[other]]]
            row[ours] = row.get(ours, 0.0) + 0.5**place
            row[theirs] = row.get(theirs, 0.0) - 0.5**place
        program.row(row, lower=0)


class StepCosts(NamedTuple):
    """Variables of a demand: its load, its throughput, and for every limit of hops from 1 whether it is chosen.

    limits: empty where hops cost nothing. least_load: no topology has less.
    """

    load: int
    throughput: int
    limits: list[int]
    least_load: float


def add_costs(
    program: LinearProgram,
    capacities: Capacities,
    scope: Scope,
    demand: Demand,
    spare_s: float,
    scale_s: float,
    loads: Sequence[float],
) -> StepCosts:
    """Add a demand's load, throughput and hops, which are at most those of `spare_s` seconds."""
    least = demand.node_load / scope.ports
    most = math.fsum(weight for *_, weight in demand.arcs)
    if demand.load_s > 0 and math.isfinite(spare_s):
        # The margin keeps rounding from cutting off attained solutions.
        most = max(least, min(most, (spare_s - demand.hop_s) / demand.load_s * (1 + 1e-9)))
    load = program.variable(least, most, cost=demand.load_s / scale_s)
    throughput = program.variable(1 / most, 1 / least)
    steps = math.ceil(math.log(most / least) / math.log(GRID_RATIO)) if most > least else 0
    grid = [least * (most / least) ** (step / max(steps, 1)) for step in range(steps + 1)]
    for at in sorted({*grid, *(value for value in loads if least <= value <= most)}):
        # 1/θ ≥ 2·at - at²·θ, with equality where 1/θ = at.
        program.row({load: 1.0, throughput: at * at}, lower=2 * at)
    if demand.hop_s > 0:
        longest = scope.gpus - 1
        if math.isfinite(spare_s):
            hops = (spare_s - demand.load_s * least) / demand.hop_s
            longest = max(1, min(longest, math.floor(hops * (1 + 1e-9))))
        limits = [
            program.variable(0, 1, cost=demand.hop_s * hops / scale_s, integer=True) for hops in range(1, longest + 1)
        ]
        program.row(dict.fromkeys(limits, 1.0), lower=1, upper=1)
        # One hop is a circuit for every pair; the flows by themselves would accept a fraction of one.
        for orbit in sorted({capacities.orbit[src, dst] for src, dst, _ in demand.arcs}):
            program.row({limits[0]: 1.0, capacities.variables[orbit]: -1.0}, upper=0)
    else:
        limits = []
    return StepCosts(load, throughput, limits, least)


def add_flows(
    program: LinearProgram,
    capacities: Capacities,
    scope: Scope,
    demand: Demand,
    costs: StepCosts,
    *,
    layered: bool = True,
) -> None:
    """Add a demand's flows within the circuits; those of paths of any length where they are not to be `layered`."""
    use: list[dict[int, float]] = [{variable: -1.0} for variable in capacities.variables]
    for source in scope.group.representatives:
        wanted = {dst: weight for src, dst, weight in demand.arcs if src == source}
        if not wanted:
            continue
        if costs.limits and layered:
            flows = _layered(program, scope, source, wanted, costs.throughput, costs.limits, 1 / costs.least_load)
        else:
            flows = _unlimited(program, scope, source, wanted, costs.throughput)
        for pair, variable in flows:
            use[capacities.orbit[pair]][variable] = 1.0
    for row in use:
        program.row(row, upper=0)


def _unlimited(
    program: LinearProgram, scope: Scope, source: int, wanted: dict[int, float], throughput: int
) -> list[tuple[tuple[int, int], int]]:
    """Flows from one source on paths of any length."""
    ranks = range(scope.gpus)
    flows = {(src, dst): program.variable(0, scope.ports) for src in ranks for dst in ranks if dst not in {src, source}}
    for rank in ranks:
        if rank != source:
            row = {flow: 1.0 if dst == rank else -1.0 for (src, dst), flow in flows.items() if rank in {src, dst}}
            if rank in wanted:
                row[throughput] = -wanted[rank]
            program.row(row, lower=0, upper=0)
    return list(flows.items())


def _layered(
    program: LinearProgram,
    scope: Scope,
    source: int,
    wanted: dict[int, float],
    throughput: int,
    limits: list[int],
    most_throughput: float,
) -> list[tuple[tuple[int, int], int]]:
    """Flows from one source, by the hop at which they are: arriving after h hops needs a limit of at least h."""
    others = [rank for rank in range(scope.gpus) if rank != source]
    flows: list[tuple[tuple[int, int], int]] = []
    arrivals: dict[int, dict[int, float]] = {rank: {throughput: -wanted[rank]} for rank in wanted}
    behind: dict[int, list[int]] = {}
    for hop in range(1, len(limits) + 1):
        here: dict[int, list[int]] = {rank: [] for rank in others}
        for src in [source] if hop == 1 else others:
            forwarded = []
            for dst in others:
                if dst != src:
                    flow = program.variable(0, scope.ports)
                    flows.append(((src, dst), flow))
                    here[dst].append(flow)
                    forwarded.append(flow)
            if hop > 1:
                row = {**dict.fromkeys(behind[src], 1.0), **dict.fromkeys(forwarded, -1.0)}
                if src in wanted:
                    row[_arrival(program, arrivals[src], wanted[src] * most_throughput, limits, hop - 1)] = -1.0
                program.row(row, lower=0, upper=0)
        behind = here
    for rank in others:
        row = dict.fromkeys(behind[rank], 1.0)
        if rank in wanted:
            row[_arrival(program, arrivals[rank], wanted[rank] * most_throughput, limits, len(limits))] = -1.0
        program.row(row, lower=0, upper=0)
    for row in arrivals.values():
        program.row(row, lower=0, upper=0)
    return flows


def _arrival(program: LinearProgram, total: dict[int, float], most: float, limits: list[int], hop: int) -> int:
    """Variable of the flow that arrives after `hop` hops, zero where the limit is lower; counted in `total`."""
    arrival = program.variable(0, most)
    total[arrival] = 1.0
    program.row({arrival: 1.0, **dict.fromkeys(limits[hop - 1 :], -most)}, upper=0)
    return arrival
