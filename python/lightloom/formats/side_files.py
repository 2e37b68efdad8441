"""The side file of an export: facts that formats of schedules have no place for, above all circuits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse
from lightloom.formats import SIDE_SCHEMA
from lightloom.formats.link_rates import circuits_by_rate

if TYPE_CHECKING:
    from lightloom.plans import Plan

__all__ = ["side_file"]

# Where the runtime of an exported schedule holds a step back; step is an index of `steps`.
GATE = (
    "before a rank sends data of a step: lightloom_gate_wait_for(gate, step, timeout_ns); once it has sent and "
    "received all of the step: lightloom_gate_done(gate, step)"
)
# GPUs of paths and chunks of transfers that are listed: some hundred MiB of text.
MOST_LISTED = 1 << 24


def side_file(plan: Plan, to: str, *, transfers: bool = False) -> bytes:
    """The side file of a plan that is exported to the format `to`: JSON, times in seconds, sizes in bytes.

    `topologies` has every topology once, with its links (source, destination, parallel circuits). `steps` has, for
    every step of the plan in order, its topology, whether circuits change before it and what that takes, its startup,
    propagation, transmission and barrier where that takes time, and its paths: source, destination, share of the data
    between the two, GPUs. The circuits of a step's topology must be up before its data is sent: `gate` says by which
    calls of the library for C.

    transfers: also the data sent, for formats that have no chunks: source, destination, `copy` or `reduce`, chunks.
    `chunks` defines the chunks: equal parts of a block (of AllReduce, of the whole buffer), or pieces with source,
    destination and share of the buffer; and the rank that a Broadcast is from.

    Raises `InputError` that names `plan` where there is more to list than 2^24 GPUs of paths and chunks.
    """
    _check_length(plan, transfers=transfers)
    document: dict[str, Any] = {
        "schema": SIDE_SCHEMA,
        "format": to,
        "collective": plan.collective,
        "algorithm": plan.algorithm,
        "planner": plan.planner,
        "gpus": plan.gpus,
        "dims": list(plan.dims),
        "ports": plan.ports,
        "size_bytes": plan.size_bytes,
        "bandwidth_bps": plan.rates_bps[0] if len(plan.rates_bps) == 1 else list(plan.rates_bps),
        **({} if plan.pair_rates is None else {"pair_rates": plan.pair_rates}),
        "reconfiguration_delay": str(plan.reconfiguration_delay),
        "initial": plan.initial,
        "total_s": plan.total_s,
        "gate": GATE,
        "topologies": [
            {"id": index, "name": topology.name, "links": topology.links.tolist()}
            | ({} if by_rate is None else {"circuits_by_rate": by_rate})
            for index, (topology, by_rate) in enumerate(zip(plan.topologies, circuits_by_rate(plan), strict=True))
        ],
        "steps": [_step(plan, index, transfers=transfers) for index in range(len(plan.steps))],
    }
    if transfers:
        document["chunks"] = _chunks(plan)
    return (json.dumps(document, ensure_ascii=False) + "\n").encode()


def _check_length(plan: Plan, *, transfers: bool) -> None:
    listed = 0
    for index in range(len(plan.steps)):
        listed += len(plan.routes(index).gpus) + (len(plan.transfers(index).chunks) if transfers else 0)
        if listed > MOST_LISTED:
            what = "paths and transfers" if transfers else "paths"
            raise refuse(
                "plan", f"its {what} are too long for a side file, which lists at most {MOST_LISTED} GPUs and chunks"
            )


def _chunks(plan: Plan) -> dict[str, Any]:
    held = plan.chunks()
    root = plan.root or 0
    if held.per_buffer is None:
        ends = zip(held.source.tolist(), held.destination.tolist(), held.size_bytes.tolist(), strict=True)
        pieces = [[source, destination, size / plan.size_bytes] for source, destination, size in ends]
        return {"parts": 1, "root": root, "pieces": pieces}
    whole = plan.collective in {"all-reduce", "broadcast", "reduce"}
    return {"parts": held.per_buffer // (1 if whole else plan.gpus), "root": root, "pieces": None}


def _step(plan: Plan, index: int, *, transfers: bool) -> dict[str, Any]:
    step = plan.steps[index]
    told: dict[str, Any] = {
        "index": index,
        "topology": step.topology_index,
        "reconfigured": step.reconfigured,
        "reconfiguration_s": step.reconfiguration_s,
        "startup_s": step.startup_s,
        "propagation_s": step.propagation_s,
        "transmission_s": step.transmission_s,
        "routes": [[path.source, path.destination, path.share, path.gpus.tolist()] for path in plan.routes(index)],
    }
    if step.barrier_s:
        told["barrier_s"] = step.barrier_s
    if transfers:
        told["transfers"] = [
            [one.source, one.destination, one.operation, one.chunks.tolist()] for one in plan.transfers(index)
        ]
    return told
