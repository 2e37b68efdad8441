"""Least load on the busiest link when no path has more than this many hops: a layered linear program, solved by HiGHS.

min L  subject to, for each source s and layer t, flow f[s, t, edge] that leaves layer t and arrives in layer t + 1;
what arrives at a destination may be absorbed there in any layer; the flow of an edge over all sources and layers is at
most L times its circuits. Flows of one source may be added up: each absorbs the right amount at each destination.
"""

from collections.abc import Mapping, Sequence

import highspy
import numpy as np


def least_load(
    gpus: int, links: Mapping[tuple[int, int], int], traffic: Sequence[tuple[int, int, float]], max_hops: int
) -> float | None:
    """L for one hop limit; None when a pair cannot be joined within it.

    links: circuits by (source, destination); traffic: (source, destination, weight).
    """
    edges = sorted(links)
    demand: dict[int, dict[int, float]] = {}
    for src, dst, weight in traffic:
        demand.setdefault(src, {})[dst] = demand.get(src, {}).get(dst, 0.0) + weight
    solver = highspy.Highs()
    solver.silent()
    load = solver.addVariable(lb=0.0, obj=1.0)
    crossing: dict[tuple[int, int], list[highspy.highs_var]] = {edge: [] for edge in edges}
    for src, wanted in demand.items():
        absorbed: dict[int, list[highspy.highs_var]] = {dst: [] for dst in wanted}
        arriving: dict[int, list[highspy.highs_var]] = {}
        for layer in range(max_hops + 1):
            leaving: dict[int, list[highspy.highs_var]] = {node: [] for node in range(gpus)}
            next_arriving: dict[int, list[highspy.highs_var]] = {}
            if layer < max_hops:
                for edge in edges:
                    flow = solver.addVariable(lb=0.0)
                    crossing[edge].append(flow)
                    leaving[edge[0]].append(flow)
                    next_arriving.setdefault(edge[1], []).append(flow)
            for node in range(gpus):
                if node in wanted and layer > 0:
                    taken = solver.addVariable(lb=0.0)
                    absorbed[node].append(taken)
                    leaving[node].append(taken)
                starts = sum(wanted.values()) if layer == 0 and node == src else 0.0
                balance = solver.qsum(leaving[node]) - solver.qsum(arriving.get(node, []))
                if leaving[node] or arriving.get(node):
                    solver.addConstr(balance == starts)
                elif starts:
                    return None
            arriving = next_arriving
        for dst, weight in wanted.items():
            solver.addConstr(solver.qsum(absorbed[dst]) == weight)
    for edge, flows in crossing.items():
        solver.addConstr(solver.qsum(flows) - links[edge] * load <= 0.0)
    solver.minimize()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return float(solver.getInfo().objective_function_value)


def front(
    gpus: int, links: Mapping[tuple[int, int], int], traffic: Sequence[tuple[int, int, float]], tolerance: float = 1e-7
) -> list[tuple[int, float]]:
    """(hops, load) where another hop allowed lowers the load; a simple path has at most n - 1 hops."""
    points: list[tuple[int, float]] = []
    for hops in range(1, gpus):
        load = least_load(gpus, links, traffic, hops)
        if load is not None and (not points or load < points[-1][1] * (1 - tolerance)):
            points.append((hops, load))
    return points


def random_case(
    random: np.random.Generator,
) -> tuple[int, dict[tuple[int, int], int], list[tuple[int, int, float]]]:
    """A small topology and traffic: 3 to 6 GPUs, about two links each, one to n transfers."""
    gpus = int(random.integers(3, 7))
    pairs = [(src, dst) for src in range(gpus) for dst in range(gpus) if src != dst]
    chosen = random.choice(len(pairs), size=min(len(pairs), int(random.integers(gpus, 2 * gpus + 2))), replace=False)
    links = {pairs[index]: int(random.integers(1, 3)) for index in sorted(chosen)}
    sending = random.choice(len(pairs), size=int(random.integers(1, gpus + 1)), replace=False)
    traffic = [(*pairs[index], float(random.integers(1, 5)) / 4) for index in sorted(sending)]
    return gpus, links, traffic
