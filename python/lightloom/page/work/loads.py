"""The load of every circuit of a step, and the paths of the data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.base.errors import refuse
from lightloom.base.whole_numbers import whole_number
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.results import plan_of

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say
    from lightloom.plans import Plan
    from lightloom.plans.transfers import Routes

SCHEMA = "lightloom.loads/1"
# Paths are expanded: beyond this many GPUs they take more memory than a picture of them is worth.
MOST_GPUS = 1024
# Beyond this many, paths are counted, not told.
MOST_PATHS = 20_000


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """Bytes and paths of `step` of the plan that is given, or that the options ask for."""
    asked = dict(asked)
    if "step" not in asked:
        raise refuse("step", "it is missing; it takes a step's index, from 0")
    index = asked.pop("step")
    return Outcome(DONE, json.dumps(loads(plan_of(asked, limits), index)).encode())


def loads(plan: Plan, index: int) -> dict[str, Any]:
    """Bytes and paths of the step of that index, from 0, as the server tells them.

    Raises `InputError` that names `gpus` where there are too many, or `step`.
    """
    if plan.gpus > MOST_GPUS:
        raise refuse("gpus", f"the plan has {plan.gpus} GPUs; paths are reported for at most {MOST_GPUS}")
    step = plan.steps[whole_number("step", index, 0, len(plan.steps) - 1)]
    routes = plan.routes(step.index)
    links = {(int(source), int(target)): int(count) for source, target, count in step.topology.links}
    carried, flows = _carried(routes, plan.gpus)
    return {
        "schema": SCHEMA,
        "step": step.index,
        "topology": step.topology_index,
        "paths": _paths(routes) if len(routes) <= MOST_PATHS else None,
        "links": [
            {
                "source": source,
                "target": target,
                "circuits": count,
                "bytes": carried.get((source, target), 0.0),
                "flows": flows.get((source, target), []) if len(routes) <= MOST_PATHS else None,
            }
            for (source, target), count in links.items()
        ],
        "max_bytes": max(
            (carried.get(link, 0.0) / count for link, count in links.items()),
            default=0.0,
        ),
    }


def _paths(routes: Routes) -> list[dict[str, Any]]:
    return [
        {
            "source": path.source,
            "destination": path.destination,
            "bytes": path.size_bytes,
            "gpus": path.gpus.tolist(),
        }
        for path in routes
    ]


def _carried(routes: Routes, gpus: int) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], list[int]]]:
    """By source and target of a link the bytes that all its circuits carry, and the places of the paths over it."""
    offsets = routes.gpu_offsets.astype(np.int64)
    lengths = offsets[1:] - offsets[:-1]
    path = np.repeat(np.arange(len(routes)), lengths)
    nodes = routes.gpus.astype(np.int64)
    # Hops are between neighbours on one path, not between the end of one and the start of the next.
    inside = path[1:] == path[:-1]
    keys, path = (nodes[:-1] * gpus + nodes[1:])[inside], path[:-1][inside]
    order = np.argsort(keys, kind="stable")
    keys, path = keys[order], path[order]
    unique, first = np.unique(keys, return_index=True)
    sums = np.add.reduceat(routes.size_bytes[path], first) if len(keys) else np.zeros(0)
    bounds = [*first.tolist(), len(keys)]
    links = [divmod(key, gpus) for key in unique.tolist()]
    carried = dict(zip(links, sums.tolist(), strict=True))
    if len(routes) > MOST_PATHS:
        return carried, {}
    return carried, {link: path[a:b].tolist() for link, a, b in zip(links, bounds, bounds[1:], strict=False)}
