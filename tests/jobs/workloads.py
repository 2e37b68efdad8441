"""Workloads of a few nodes, whose iterations take what a person can work out."""

from __future__ import annotations

from typing import Any

import lightloom as ll

SCHEMA = "lightloom.workload/1"


def workload(*nodes: dict[str, Any], mesh: dict[str, int] | None = None, **keys: Any) -> ll.Workload:
    """Nodes that follow each other where they do not say what they come after."""
    named = [{"id": str(index), "after": [str(index - 1)] if index else [], **node} for index, node in enumerate(nodes)]
    axes = {"dp": 4} if mesh is None else mesh
    ranks = 1
    for size in axes.values():
        ranks *= size
    return ll.Workload.of({"schema": SCHEMA, "ranks": ranks, "mesh": axes, "nodes": named, **keys})


def computing(duration_s: float) -> dict[str, Any]:
    return {"kind": "compute", "duration_s": duration_s}


def gathering(size_bytes: int, axis: str = "dp", **keys: Any) -> dict[str, Any]:
    return {"kind": "collective", "collective": "all-gather", "axis": axis, "size_bytes": size_bytes, **keys}
