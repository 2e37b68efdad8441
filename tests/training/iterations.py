"""Planned iterations made by hand, for tests of their views: every number here was computed on paper.

Eight ranks, two axes (tp of 4, dp of 2), two ports of 800 Gbit/s (1e-11 s a byte), startup and hop delay 500 ns,
changes of 10 µs. A layer, in µs:

| node | when | why |
|---|---|---|
| f, computation of all ranks | 0–100 | |
| a, AllReduce of 4 MB on tp, port 1 | 100–166 | ring of 4: 6 steps of 1 + 10 |
| g, computation of ranks 0–3 | 166–196 | |
| h, computation of ranks 4–7 | 166–216 | |
| s, messages of 1 MB, port 2 | 216–227 | 1 + 10; the change before it is hidden |
| d, AllGather of 2 MB on dp, port 2 | 237–248 | 1 step of 1 + 10, 10 µs after the message: the change is waited for |
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import lightloom as ll
from lightloom.training.result import Training

MICRO = 1e-6
LAYER_S, COMPUTE_S, DARK_S = 248 * MICRO, 150 * MICRO, 10 * MICRO
PEAK_FLOPS, MFU = 1e15, 0.4
BACK = [4, 5, 6, 7]
# By node: kind and label, when, ports, whether circuits change before it, and how much of that is waited for.
COURSE: tuple[tuple[str, int, int, list[int], bool, int], ...] = (
    ("f", 0, 100, [], False, 0),
    ("a", 100, 166, [0], False, 0),
    ("g", 166, 196, [], False, 0),
    ("h", 166, 216, [], False, 0),
    ("s", 216, 227, [1], True, 0),
    ("d", 237, 248, [1], True, 10),
)
PLANS = {"a": 0, "d": 1}
WAITS_FOR = {"a": "f", "g": "a", "h": "a", "s": "h", "d": "s"}


@cache
def plans() -> tuple[str, ...]:
    """The plans of one tp group and of one dp group."""
    asked = (("all-reduce", 4_000_000, 4), ("all-gather", 2_000_000, 2))
    return tuple(
        ll.plan(
            collective, size, fabric=ll.Fabric(gpus=gpus), algorithm="ring", planner="static", topology="ring"
        ).to_json()
        for collective, size, gpus in asked
    )


def workload(layers: int = 1, name: str | None = "two axes") -> dict[str, Any]:
    """The workload: this many layers one after the other."""
    nodes: list[dict[str, Any]] = []
    for layer in range(layers):
        f, a, g, h, s, d = (f"{node}{layer}" for node in "faghsd")
        nodes += [
            {"id": f, "kind": "compute", "duration_s": 100 * MICRO, "after": [f"d{layer - 1}"] if layer else []},
            {"id": a, "kind": "collective", "collective": "all-reduce", "axis": "tp", "size_bytes": 4_000_000}
            | {"after": [f]},
            {"id": g, "kind": "compute", "ranks": [0, 1, 2, 3], "duration_s": 30 * MICRO, "after": [a]},
            {"id": h, "kind": "compute", "ranks": "back", "duration_s": 50 * MICRO, "after": [a]},
            {"id": s, "kind": "send", "source": [0, 1, 2, 3], "destination": BACK, "size_bytes": 1_000_000}
            | {"after": [g, h]},
            {"id": d, "kind": "collective", "collective": "all-gather", "axis": "dp", "size_bytes": 2_000_000}
            | {"after": [s], "stream": "dp"},
        ]
    flops = MFU * 8 * PEAK_FLOPS * LAYER_S * layers
    return {
        "schema": "lightloom.workload/1",
        **({} if name is None else {"name": name}),
        "ranks": 8,
        "mesh": {"tp": 4, "dp": 2},
        "groups": {"back": BACK},
        "model_flops": flops,
        "peak_flops": PEAK_FLOPS,
        "nodes": nodes,
    }


def iteration(layers: int = 1, **changed: Any) -> dict[str, Any]:
    """The planned iteration as a document of schema `lightloom.training/1`; `changed` replaces keys of it."""
    made = workload(layers)
    events = []
    for layer in range(layers):
        for place, (node, start, end, ports, reconfigured, exposed) in enumerate(COURSE):
            waits = WAITS_FOR.get(node)
            names = [one[0] for one in COURSE]
            before = 6 * layer + names.index(waits) if waits else (6 * layer - 1 if layer else None)
            events.append(
                {
                    "node": made["nodes"][6 * layer + place]["id"],
                    "start_s": layer * LAYER_S + start * MICRO,
                    "end_s": layer * LAYER_S + end * MICRO,
                    "plan": PLANS.get(node),
                    "ports": ports,
                    "reconfigured": reconfigured,
                    "returns": False,
                    "direct": node == "s",
                    "reconfiguration_exposed_s": exposed * MICRO,
                    "waits_for": before,
                }
            )
    policies = {"carry": 248, "alone": 268, "pccl": 278, "one-shot": 250, "static": None, "packet-switch": 238}
    return {
        "schema": "lightloom.training/1",
        "policy": "carry",
        "exact": True,
        "total_s": layers * LAYER_S,
        "compute_s": layers * COMPUTE_S,
        "exposed_communication_s": layers * (LAYER_S - COMPUTE_S),
        "lower_bound_s": layers * 200 * MICRO,
        "bound_class": "every plan of the workload on these ports",
        "reconfigurations": 2 * layers,
        "reconfiguration_hidden_s": layers * DARK_S,
        "reconfiguration_exposed_s": layers * DARK_S,
        "critical_path_s": {
            name: layers * time * MICRO
            for name, time in (("compute", 150), ("tp", 66), ("sends", 11), ("dp", 11), ("reconfiguration", 10))
        },
        "policies": {name: None if time is None else layers * time * MICRO for name, time in policies.items()},
        "policy_notes": {"one-shot": "port 1 for tp, port 2 for dp", "static": "there is no torus of 8 on 2 ports"},
        "fabric": {
            "ports": 2,
            "bandwidth_bps": 8e11,
            "startup_s": 5e-7,
            "hop_delay_s": 5e-7,
            "reconfiguration_delay_s": DARK_S,
            "initial": "ring",
        },
        "workload": made,
        "events": events,
        "plans": [json.loads(text) for text in plans()],
        **changed,
    }


def shown(told: dict[str, Any]) -> Training:
    """The `Training` of a document, valid or not: no judge sees it."""
    return Training(json.dumps(told), told)


def planned(layers: int = 1, **changed: Any) -> Training:
    """The `Training` of `iteration`."""
    return shown(iteration(layers, **changed))
