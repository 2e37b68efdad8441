"""A plan that is made once, written as a plan for given bytes; and what changes of circuits take."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.inputs.requests import build_request
from lightloom.plans import Plan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lightloom.inputs.fabric import Fabric
    from lightloom.inputs.options.settings import TopologyLike
    from lightloom.robustness.fixed_circuits import FixedPlan, FixedStep

__all__ = ["change_s", "plan_for"]

ALGORITHM = "composed"


def plan_for(fixed: FixedPlan, matrix: NDArray[np.float64], fabric: Fabric) -> Plan:
    """The plan of these circuits, paths and shares for the bytes `matrix[src][dst]`; a step without bytes is left out.

    The core makes it from the schedule and the topologies, with its changes and bounds; its paths are replaced.
    """
    size = math.ceil(max(matrix.sum(axis=0).max(), matrix.sum(axis=1).max()))
    sizes = [matrix[source, destination] * share for source, destination, share in fixed.pieces]
    place = {piece: index for index, piece in enumerate(piece for piece, sent in enumerate(sizes) if sent > 0)}
    steps, topologies, arcs = [], [], []
    for step in fixed.steps:
        of_step = _arcs(step, sizes)
        if of_step:
            steps.append([(*ends, "copy", sorted(place[one] for one in of_step[ends][0])) for ends in sorted(of_step)])
            topologies.append(step.topology)
            arcs.append((step, of_step))
    schedule = _core.Schedule.from_transfers(
        ALGORITHM,
        "all-to-all",
        fixed.gpus,
        1,
        steps,
        pieces=[(*fixed.pieces[piece][:2], sizes[piece] / size) for piece in place],
    )
    request = build_request("all-to-all", size, fabric, schedule=schedule)
    made = json.loads(_core.plan_on(request, topologies).to_json())
    total_s = 0.0
    for told, (step, of_step) in zip(made["steps"], arcs, strict=True):
        told.update(_priced(fixed, step, of_step, told["transfer_bytes"]))
        total_s += told["startup_s"] + told["propagation_s"] + told["transmission_s"] + told["reconfiguration_s"]
    return Plan.from_json(json.dumps(made | {"total_s": total_s}))


def change_s(fabric: Fabric, before: TopologyLike, after: _core.Topology, step: int = 0) -> float:
    """Seconds that the fabric is charged for the change from one topology to another before the step of that index."""
    import numpy as np

    window_s, windows_s = fabric.windows_s
    window_s = windows_s.get(step, window_s)
    gpus = after.gpus
    matrix = np.zeros((gpus, gpus))
    source, destination, _ = after.links[0].tolist()
    matrix[source, destination] = 1024.0
    request = build_request(None, None, replace(fabric, initial=before, window=window_s), matrix=matrix)
    return _core.plan_on(request, [after]).steps[0][5][3]


_Arcs = dict[tuple[int, int], tuple[set[int], dict[tuple[int, ...], float]]]


def _arcs(step: FixedStep, sizes: list[float]) -> _Arcs:
    """By source and destination of what is sent in the step: its pieces, and bytes by path."""
    made: _Arcs = defaultdict(lambda: (set(), defaultdict(float)))
    for piece, paths in step.sendings:
        for share, path in paths if sizes[piece] > 0 else ():
            pieces, by_path = made[path[0], path[-1]]
            pieces.add(piece)
            by_path[path] += share * sizes[piece]
    return dict(made)


def _priced(fixed: FixedPlan, step: FixedStep, arcs: _Arcs, transfer_bytes: float) -> dict[str, Any]:
    """The fields of a step of a plan's JSON that paths and shares decide."""
    loads: defaultdict[tuple[int, int], float] = defaultdict(float)
    routes: list[Any] = []
    for ends in sorted(arcs):
        by_path = arcs[ends][1]
        total = math.fsum(by_path.values())
        routes.append([*ends, [[sent / total, list(path)] for path, sent in sorted(by_path.items()) if sent > 0]])
        for path, sent in by_path.items():
            for link in pairwise(path):
                loads[link] += sent
    counts = {(src, dst): count for src, dst, count in step.topology.links.tolist()}
    busiest = max(sent / counts[link] for link, sent in loads.items())
    hops = max(len(path) - 1 for _, by_path in arcs.values() for path in by_path)
    return {
        "hops": hops,
        "load": busiest / transfer_bytes,
        "propagation_s": fixed.rates.hop_s * hops,
        "transmission_s": fixed.rates.byte_s * busiest,
        "symmetry": [],
        "routes": {"symmetry": [], "arcs": routes},
    }
