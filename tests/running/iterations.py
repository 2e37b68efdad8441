"""Small training iterations for the tests of running."""

from __future__ import annotations

import json
from typing import Any

import lightloom as ll

# Seconds of computation, and bytes, so that an iteration takes some tens of microseconds.
COMPUTE_S = 2e-5
SIZE = 1 << 16
TOKENS = 1 << 12
# Bytes from each rank to each.
UNEVEN = [[0 if source in {5, to} else 4 * TOKENS if to == 0 else TOKENS for to in range(6)] for source in range(6)]


def compute(name: str, *after: str, ranks: list[int] | None = None) -> dict[str, Any]:
    made = {"id": name, "kind": "compute", "duration_s": COMPUTE_S, "after": list(after)}
    return made if ranks is None else {**made, "ranks": ranks}


def collective(name: str, axis: str, *after: str, kind: str = "all-reduce", size: int = SIZE) -> dict[str, Any]:
    return {
        "id": name,
        "kind": "collective",
        "collective": kind,
        "axis": axis,
        "size_bytes": size,
        "after": list(after),
    }


def send(name: str, pairs: list[tuple[int, int]], *after: str) -> dict[str, Any]:
    sources, destinations = zip(*pairs, strict=True)
    return {
        "id": name,
        "kind": "send",
        "source": list(sources),
        "destination": list(destinations),
        "size_bytes": SIZE,
        "after": list(after),
    }


def trained(
    mesh: dict[str, int], nodes: list[dict[str, Any]], matrices: dict[str, Any] | None = None, **fabric: Any
) -> ll.Training:
    ranks = 1
    for size in mesh.values():
        ranks *= size
    workload = {"schema": "lightloom.workload/1", "ranks": ranks, "mesh": mesh, "nodes": nodes}
    if matrices is not None:
        workload["matrices"] = matrices
    settings = {"gpus": ranks, "reconfiguration_delay": "5us", **fabric}
    policy = settings.pop("policy", "joint")
    return ll.train(ll.Workload.from_json(json.dumps(workload)), fabric=ll.Fabric(**settings), policy=policy)


def data_parallel(ranks: int = 4, **fabric: Any) -> ll.Training:
    """A gradient that is reduced while the next one is computed, and one at the end."""
    nodes = [compute("f"), collective("a", "dp", "f"), compute("g", "f"), collective("b", "dp", "g", size=SIZE // 2)]
    return trained({"dp": ranks}, nodes, **fabric)


def two_axes(**fabric: Any) -> ll.Training:
    """Tensor-parallel collectives between computations, and data-parallel ones behind them, on 8 ranks."""
    nodes = [
        compute("f"),
        collective("t", "tp", "f", kind="all-gather"),
        compute("g", "t"),
        collective("d", "dp", "g"),
        collective("u", "tp", "g", kind="reduce-scatter"),
        compute("h", "u"),
        collective("e", "dp", "h", kind="all-to-all"),
    ]
    return trained({"tp": 2, "dp": 4}, nodes, **{"ports": 2, **fabric})


def stages(**fabric: Any) -> ll.Training:
    """Two pipeline stages of 4 ranks, with messages there and back, and collectives of each."""
    first, last = [0, 1, 2, 3], [4, 5, 6, 7]
    there = [(rank, rank + 4) for rank in first]
    nodes = [
        compute("f", ranks=first),
        send("s", there, "f"),
        compute("g", "s", ranks=last),
        send("r", [(b, a) for a, b in there], "g"),
        collective("d", "dp", "r"),
    ]
    return trained({"dp": 4, "pp": 2}, nodes, **fabric)


def uneven_experts(**fabric: Any) -> ll.Training:
    """Tokens to experts and back on 6 ranks: rank 0's experts are wanted most, and rank 5 has no tokens."""
    out = {"id": "out", "kind": "collective", "collective": "all-to-all", "axis": "ep", "matrix": "m", "after": ["f"]}
    back = {**out, "id": "back", "transposed": True, "after": ["g"]}
    return trained({"ep": 6}, [compute("f"), out, compute("g", "out"), back], {"m": UNEVEN}, **fabric)
