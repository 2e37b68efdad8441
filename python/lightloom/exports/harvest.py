"""HARVEST's two files: a collective's demands step by step, and the topology of every step. Times in nanoseconds.

`collective.json` is `{n, dims, collective, steps: [{demand: [[source, destination, bytes], ...], chunksize}]}`, where
`chunksize` is the bytes of the step's largest transfer, m_i. `schedule.json` is `{alpha_r, collective, cost,
num_of_reconfigs, reconf_cost_total, steps: [{step, topology: [[source, destination, multiplicity], ...]}]}`, with steps
counted from 1, and `alpha_r` the reconfiguration delay.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from lightloom.exports.circuits import side_file
from lightloom.exports.exported import Exported

if TYPE_CHECKING:
    from lightloom.plans import Plan

__all__ = ["export"]

SECOND_NS = 1e9


def export(plan: Plan) -> Exported:
    """The folder of a plan. Raises `InputError` where a plan from a file does not verify."""
    delay = plan.reconfiguration_delay
    collective = {
        "n": plan.gpus,
        "dims": list(plan.dims),
        "collective": plan.collective,
        "steps": [_demand(plan, index) for index in range(len(plan.steps))],
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
    notes = () if delay.scalar_s is not None else (f"alpha_r is the fixed part of the delay, which is {delay}",)
    return Exported(files, "circuits.json", notes)


def _demand(plan: Plan, index: int) -> dict[str, Any]:
    sent: dict[tuple[int, int], float] = defaultdict(float)
    transfers = plan.transfers(index)
    for source, destination, size in zip(
        transfers.source.tolist(), transfers.destination.tolist(), transfers.size_bytes.tolist(), strict=True
    ):
        sent[source, destination] += size
    return {
        "demand": [[source, destination, _whole(size)] for (source, destination), size in sent.items()],
        "chunksize": _whole(plan.steps[index].transfer_bytes),
    }


def _whole(size: float) -> int | float:
    """A whole number of bytes as such: JSON has both."""
    return int(size) if size.is_integer() else size


def _json(document: dict[str, Any]) -> bytes:
    return (json.dumps(document) + "\n").encode()
