"""Small workloads and fabrics drawn at random, for properties of their plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lightloom as ll
from tests.names import names
from tests.reference.workloads import groups_of

if TYPE_CHECKING:
    import random

COLLECTIVES = names("collectives")
MESHES: tuple[dict[str, int], ...] = (
    {"a": 4},
    {"a": 8},
    {"a": 2, "b": 2},
    {"a": 4, "b": 2},
    {"a": 2, "b": 3},
    {"a": 2, "b": 2, "c": 2},
    {"a": 3, "b": 2, "c": 2},
)
DELAYS_S = (0.0, 1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


def fabric(rng: random.Random) -> ll.Fabric:
    """A fabric of one to four ports, with changes that take 0 to 10 ms."""
    return ll.Fabric(
        ports=rng.randint(1, 4),
        bandwidth=rng.choice((1e11, 8e11)),
        startup=rng.choice((0.0, 1e-6)),
        hop_delay=rng.choice((1e-9, 5e-7, 1e-3)),
        reconfiguration_delay=rng.choice(DELAYS_S),
    )


def workload(
    rng: random.Random, *, serial: bool | None = None, meshes: tuple[dict[str, int], ...] = MESHES, most: int = 9
) -> dict[str, Any]:
    """Two to `most` nodes over one to three axes; one after the other (`serial`), in any order, or either."""
    mesh = rng.choice(meshes)
    ranks = 1
    for size in mesh.values():
        ranks *= size
    members = rng.sample(range(ranks), ranks)
    split = rng.randint(1, ranks - 1)
    groups = {"some": sorted(members[:split]), "others": members[split:], "turned": members[::-1][: max(split, 2)]}
    serial = rng.random() < 0.4 if serial is None else serial
    nodes: list[dict[str, Any]] = []
    for index in range(rng.randint(2, most)):
        node = _node(rng, mesh, groups, members)
        earlier = range(index)
        after = [index - 1] * (index > 0) if serial else rng.sample(earlier, min(index, rng.randint(0, 2)))
        nodes.append({"id": f"n{index}", **node, "after": [f"n{one}" for one in after]})
    return {"schema": "lightloom.workload/1", "ranks": ranks, "mesh": mesh, "groups": groups, "nodes": nodes}


def _node(rng: random.Random, mesh: dict[str, int], groups: dict[str, list[int]], members: list[int]) -> dict[str, Any]:
    """A node without its id and its dependencies."""
    within: dict[str, Any] = {"ranks": rng.choice((*groups, sorted(members[: rng.randint(1, len(members))])))}
    kind = rng.choices(("compute", "axis", "group", "send"), (3, 6, 1, 2))[0]
    if kind == "compute":
        duration_s = rng.choice((0.0, 1e-6, 1e-5, 1e-4, 2e-3)) * rng.choice((1, rng.random()))
        return {"kind": "compute", "duration_s": duration_s, **(within if rng.random() < 0.5 else {})}
    size_bytes = rng.choice((1, 1000, 10**6, 3 * 10**7))
    if kind == "send":
        return {"kind": "send", "size_bytes": size_bytes, **_ends(rng, mesh, members)}
    collective: dict[str, Any] = {"kind": "collective", "collective": rng.choice(COLLECTIVES), "size_bytes": size_bytes}
    if rng.random() < 0.4:
        collective["stream"] = rng.choice(("x", "y"))
    named = [name for name, ranks in groups.items() if len(ranks) > 1]
    if kind == "group" and named:
        both = len(groups["some"]) == len(groups["others"]) > 1 and rng.random() < 0.5
        return {**collective, "group": ["some", "others"] if both else rng.choice(named)}
    axis = rng.choice(list(mesh))
    stride, whole = 1, members
    for name, size in mesh.items():
        if name == axis:
            break
        stride *= size
    if rng.random() < 0.3:
        # The whole groups of some ranks.
        block = stride * mesh[axis]
        bases = sorted(
            {rank // block * block + rank % stride for rank in rng.sample(whole, rng.randint(1, len(whole)))}
        )
        return {
            **collective,
            "axis": axis,
            "ranks": sorted(base + place * stride for base in bases for place in range(mesh[axis])),
        }
    return {**collective, "axis": axis}


def _ends(rng: random.Random, mesh: dict[str, int], members: list[int]) -> dict[str, Any]:
    """Sources and destinations of messages: within each group of an axis alike, or between any ranks."""
    if rng.random() < 0.5:
        axis = rng.choice(list(mesh))
        stride = 1
        for name, size in mesh.items():
            if name == axis:
                break
            stride *= size
        step = rng.randint(1, mesh[axis] - 1)
        places = rng.sample(range(mesh[axis]), rng.randint(1, mesh[axis]))
        pairs = [
            (rank, rank + (((rank // stride + step) % mesh[axis]) - rank // stride % mesh[axis]) * stride)
            for rank in range(len(members))
            if rank // stride % mesh[axis] in places
        ]
    else:
        count = rng.randint(1, len(members) // 2)
        sources, destinations = rng.sample(members, count), rng.sample(members, count)
        pairs = [(one, other) for one, other in zip(sources, destinations, strict=True) if one != other]
        pairs = pairs or [(members[0], members[1])]
    if len(pairs) == 1 and rng.random() < 0.5:
        return {"source": pairs[0][0], "destination": pairs[0][1]}
    return {"source": [one for one, _ in pairs], "destination": [other for _, other in pairs]}


def with_matrices(rng: random.Random, told: dict[str, Any]) -> dict[str, Any]:
    """A workload with All-to-Alls of matrices in place of some collectives, some of them transposed."""
    matrices: dict[str, list[list[int]]] = {}
    nodes = []
    for node in told["nodes"]:
        if node["kind"] != "collective" or rng.random() < 0.3:
            nodes.append(node)
            continue
        places = len(groups_of(told, node)[0])
        named = [name for name, rows in matrices.items() if len(rows) == places]
        if not named or rng.random() < 0.5:
            rows = [[rng.choice((0, 1, 10**4, rng.randrange(10**6))) for _ in range(places)] for _ in range(places)]
            rows[0][1] += 1
            named = [f"m{len(matrices)}"]
            matrices[named[0]] = rows
        changed = {**node, "collective": "all-to-all", "matrix": rng.choice(named), "transposed": rng.random() < 0.5}
        del changed["size_bytes"]
        nodes.append(changed)
    return {**told, "matrices": matrices, "nodes": nodes}
