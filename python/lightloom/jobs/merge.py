"""Two workloads on the same GPUs as one, so that both are planned together."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from lightloom.training.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["merged", "nodes_of"]


def nodes_of(first: Workload, second: Workload, iterations: tuple[int, int]) -> int:
    """The number of nodes of `merged`."""
    return len(first.nodes) * iterations[0] + len(second.nodes) * iterations[1]


def merged(first: Workload, second: Workload, iterations: tuple[int, int]) -> Workload:
    """Iterations of two workloads of the same number of ranks: those of each in a row, next to the other's.

    A GPU computes for one of them at a time, and every collective has ports of its own while it runs: both follow from
    the meaning of a workload, in which computation and streams of one rank are serial and ports are held.
    """
    groups: dict[str, list[int]] = {}
    matrices: dict[str, Any] = {}
    nodes: list[dict[str, Any]] = []
    for job, (workload, count) in enumerate(zip((first, second), iterations, strict=True)):
        part = _Part(workload, str(job))
        groups |= part.groups
        matrices |= part.matrices
        nodes += part.nodes(count)
    told: dict[str, Any] = {
        "schema": "lightloom.workload/1",
        "ranks": first.ranks,
        "mesh": {},
        "groups": groups,
        "same_bits": first.same_bits or second.same_bits,
        "nodes": nodes,
    }
    return Workload.of({**told, **({"matrices": matrices} if matrices else {})})


class _Part:
    """One of the two workloads, its names made its own and its axes made groups."""

    def __init__(self, workload: Workload, job: str) -> None:
        self._workload, self._job = workload, job
        told = json.loads(workload.to_json())
        self.groups = {self._named(name): list(ranks) for name, ranks in workload.groups.items()}
        self.matrices = {self._named(name): rows for name, rows in told.get("matrices", {}).items()}
        self._axes = {}
        for axis in workload.mesh:
            lines = list(self._lines(axis))
            names = [self._named(f"{axis} {index}") for index in range(len(lines))]
            self.groups |= dict(zip(names, lines, strict=True))
            self._axes[axis] = dict(zip(names, map(frozenset, lines), strict=True))

    def nodes(self, count: int) -> Iterator[dict[str, Any]]:
        """The nodes of this many iterations, each of which begins after the one before."""
        nodes = self._workload.nodes
        followed = {name for node in nodes for name in node["after"]}
        last = [node["id"] for node in nodes if node["id"] not in followed]
        for iteration in range(count):
            before = [self._id(iteration - 1, name) for name in last] if iteration else []
            for node in nodes:
                made = {**node, "id": self._id(iteration, node["id"])}
                made["after"] = [self._id(iteration, name) for name in node["after"]] or before
                for key in ("stream", "matrix"):
                    if key in node:
                        made[key] = self._named(node[key])
                if isinstance(named := node.get("ranks"), str):
                    made["ranks"] = self._named(named)
                if "group" in node:
                    named = node["group"]
                    made["group"] = self._named(named) if isinstance(named, str) else [*map(self._named, named)]
                if "axis" in node:
                    made["group"] = self._groups_on(made.pop("axis"), made.pop("ranks", None))
                yield made

    def _named(self, name: str) -> str:
        return f"{self._job} {name}"

    def _id(self, iteration: int, name: str) -> str:
        return f"{self._job}.{iteration} {name}"

    def _groups_on(self, axis: str, ranks: object) -> list[str]:
        """The names of the groups of an axis, those that lie in some ranks where these are told."""
        lines = self._axes[axis]
        if ranks is None:
            return list(lines)
        within = set(self.groups[ranks]) if isinstance(ranks, str) else set(ranks)  # type: ignore[call-overload]
        return [name for name, line in lines.items() if line <= within]

    def _lines(self, axis: str) -> Iterator[list[int]]:
        """The ranks of every group of an axis; the first axis of the mesh varies fastest."""
        mesh = self._workload.mesh
        axes = list(mesh)
        stride = math.prod(mesh[name] for name in axes[: axes.index(axis)])
        for rank in range(self._workload.ranks):
            if rank // stride % mesh[axis] == 0:
                yield [rank + step * stride for step in range(mesh[axis])]
