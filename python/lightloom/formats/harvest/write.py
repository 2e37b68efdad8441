"""HARVEST's two files: a collective's demands step by step, and the topology of every step. Times in nanoseconds.

`collective.json` is `{schema, collective, n, dims, ports, units, steps: [{id, chunksize, demand: [[source, destination,
bytes], ...]}]}`, with steps counted from 1, where `chunksize` is one circuit's part of the step's largest
transfer, m_i, if it has as many circuits as the ports evenly allow: the unit in which HARVEST's program counts demands,
and the bytes behind its θ. `schedule.json` is `{alpha_r, collective, cost, num_of_reconfigs, reconf_cost_total, steps:
[{step, topology: [[source, destination, multiplicity], ...]}]}`, with `alpha_r` the reconfiguration delay.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from lightloom.formats.harvest.read import SCHEMA
from lightloom.formats.output import Exported
from lightloom.formats.side_files import side_file

if TYPE_CHECKING:
    from lightloom.plans import Plan

__all__ = ["export"]

SECOND_NS = 1e9


def export(plan: Plan) -> Exported:
    """The folder of a plan. Raises `InputError` where a plan from a file does not verify."""
    delay = plan.reconfiguration_delay
    steps = [_demand(plan, index) for index in range(len(plan.steps))]
    collective = {
        "schema": SCHEMA,
        "collective": plan.collective,
        "n": plan.gpus,
        "dims": list(plan.dims),
        "ports": plan.ports,
        "units": "bytes",
        "steps": steps,
    }
    schedule = {
        "alpha_r": delay.fixed_s * SECOND_NS,
        "collective": plan.collective,
        "cost": plan.total_s * SECOND_NS,
        "num_of_reconfigs": plan.reconfigurations,
        "reconf_cost_total": sum(step.reconfiguration_s for step in plan.steps) * SECOND_NS,
        "steps": [{"step": step.index + 1, "topology": step.topology.links.tolist()} for step in plan.steps],
    }
    files = {
        "collective.json": _json(collective),
        "schedule.json": _json(schedule),
        "circuits.json": side_file(plan, "harvest", transfers=True),
    }
    notes = (
        [] if delay.scalar_s is not None else [f"alpha_r is only the fixed part of the reconfiguration delay, {delay}"]
    )
    if any(_is_uneven(size / step["chunksize"]) for step in steps for *_, size in step["demand"]):
        notes.append(
            "some demands are not multiples of their step's chunksize; HARVEST's program rounds them down to multiples"
        )
    return Exported(files, "circuits.json", tuple(notes))


def _demand(plan: Plan, index: int) -> dict[str, Any]:
    sent: dict[tuple[int, int], float] = defaultdict(float)
    transfers = plan.transfers(index)
    for source, destination, size in zip(
        transfers.source.tolist(), transfers.destination.tolist(), transfers.size_bytes.tolist(), strict=True
    ):
        sent[source, destination] += size
    peers = max(*Counter(pair[0] for pair in sent).values(), *Counter(pair[1] for pair in sent).values())
    return {
        "id": index + 1,
        "chunksize": _whole(plan.steps[index].transfer_bytes / max(1, plan.ports // peers)),
        "demand": [[source, destination, _whole(size)] for (source, destination), size in sent.items()],
    }


def _is_uneven(count: float) -> bool:
    return abs(count - round(count)) > 1e-9 * count


def _whole(size: float) -> int | float:
    """A whole number of bytes as such: JSON has both."""
    return int(size) if size.is_integer() else size


def _json(document: dict[str, Any]) -> bytes:
    return (json.dumps(document) + "\n").encode()
