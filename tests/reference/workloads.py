"""The meaning of a workload's communications, from only the contract: which ranks take part, and in which groups."""

from collections.abc import Mapping
from typing import Any

from tests.names import names

Workload = Mapping[str, Any]
Node = Mapping[str, Any]


def ranks_of(workload: Workload, ranks: str | list[int] | None) -> list[int]:
    """A node's `ranks`: a group's name, a list, or all."""
    if ranks is None:
        return list(range(workload["ranks"]))
    return list(workload["groups"][ranks]) if isinstance(ranks, str) else ranks


def axis_groups(workload: Workload, axis: str) -> list[list[int]]:
    """All groups of an axis of the mesh, whose first axis is the fastest."""
    stride = 1
    for name, size in workload["mesh"].items():
        if name == axis:
            starts = [rank for rank in range(workload["ranks"]) if rank // stride % size == 0]
            return [[start + stride * place for place in range(size)] for start in starts]
        stride *= size
    raise AssertionError(axis)


def groups_of(workload: Workload, node: Node) -> list[list[int]]:
    """The groups of ranks of a collective node."""
    if "axis" in node:
        within = set(ranks_of(workload, node.get("ranks")))
        return [group for group in axis_groups(workload, node["axis"]) if within.issuperset(group)]
    names = [node["group"]] if isinstance(node["group"], str) else node["group"]
    return [workload["groups"][name] for name in names]


KEYS = {
    "compute": ({"id", "kind", "duration_s", "after"}, {"ranks"}),
    "collective": (
        {"id", "kind", "collective", "size_bytes", "after"},
        {"axis", "group", "ranks", "stream", "matrix", "transposed"},
    ),
    "send": ({"id", "kind", "source", "destination", "size_bytes", "after"}, set()),
}
COLLECTIVES = {*names("collectives")}


def check(workload: Workload) -> None:
    """Assert everything that the contract says of a workload."""
    size = 1
    for axis in workload["mesh"].values():
        assert axis > 1
        size *= axis
    assert size == workload["ranks"] or not workload["mesh"]
    for group in workload["groups"].values():
        _check_ranks(workload, group)
    ids = [node["id"] for node in workload["nodes"]]
    assert ids
    assert len(set(ids)) == len(ids)
    for node in workload["nodes"]:
        needed, also = KEYS[node["kind"]]
        assert needed <= node.keys() <= needed | also, node
        assert len(set(node["after"])) == len(node["after"])
        if node["kind"] == "compute":
            assert node["duration_s"] >= 0
            continue
        assert isinstance(node["size_bytes"], int)
        assert 1 <= node["size_bytes"] <= 1 << 53
        if node["kind"] == "send":
            ends = [node[end] if isinstance(node[end], list) else [node[end]] for end in ("source", "destination")]
            for ranks in ends:
                _check_ranks(workload, ranks)
            assert all(source != to for source, to in zip(*ends, strict=True))
            continue
        assert node["collective"] in COLLECTIVES
        assert ("axis" in node) != ("group" in node)
        groups = groups_of(workload, node)
        assert len({len(group) for group in groups}) == 1
        assert len(groups[0]) > 1
        _check_ranks(workload, [rank for group in groups for rank in group])
        if "matrix" in node:
            rows = workload["matrices"][node["matrix"]]
            assert node["collective"] == "all-to-all"
            assert [len(row) for row in rows] == [len(groups[0])] * len(groups[0])
            assert node["size_bytes"] == max(*map(sum, rows), *map(sum, zip(*rows, strict=True)))
    _check_acyclic(workload)


def _check_ranks(workload: Workload, ranks: list[int]) -> None:
    assert ranks
    assert len(set(ranks)) == len(ranks)
    assert 0 <= min(ranks) <= max(ranks) < workload["ranks"]


def _check_acyclic(workload: Workload) -> None:
    waits = {node["id"]: set(node["after"]) for node in workload["nodes"]}
    followers: dict[str, list[str]] = {name: [] for name in waits}
    for name, before in waits.items():
        for other in before:
            followers[other].append(name)
    ready = [name for name, before in waits.items() if not before]
    done = 0
    while ready:
        name = ready.pop()
        done += 1
        for follower in followers[name]:
            waits[follower].discard(name)
            if not waits[follower]:
                ready.append(follower)
    assert done == len(waits)
