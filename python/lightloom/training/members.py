"""The ranks that take part in a node of a workload, and the name of its row."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["COMPUTE", "SENDS", "Members"]

# Rows of events of no axis and no group.
COMPUTE, SENDS = "compute", "sends"
# Groups of a collective that its row names.
MOST_NAMES = 3


class Members:
    """The ranks of a workload's nodes. Nodes of the same ranks share one tuple, so that thousands of them are small.

    workload: a document of schema `lightloom.workload/1` that was checked.
    """

    def __init__(self, workload: Mapping[str, Any]) -> None:
        self._mesh: dict[str, int] = dict(workload.get("mesh", {}))
        self._groups: dict[str, list[int]] = dict(workload.get("groups", {}))
        self._everyone = tuple(range(workload["ranks"]))
        self._known: dict[tuple[Any, ...], tuple[int, ...]] = {}

    def label_of(self, node: Mapping[str, Any]) -> str:
        """The axis or the groups of a collective; `compute` or `sends` for the others."""
        if node["kind"] == "compute":
            return COMPUTE
        if node["kind"] == "send":
            return SENDS
        if "axis" in node:
            return str(node["axis"])
        names = _listed(node["group"])
        return ", ".join(names[:MOST_NAMES]) + ", …" * (len(names) > MOST_NAMES)

    def ranks_of(self, node: Mapping[str, Any]) -> tuple[int, ...]:
        """Every rank that takes part in a node, rising."""
        if node["kind"] == "send":
            ends = (*_listed(node["source"]), *_listed(node["destination"]))
            return self._shared(("send", *ends), ends)
        if "group" in node:
            names = _listed(node["group"])
            return self._shared(("group", *names), [rank for name in names for rank in self._groups[name]])
        within = self._within(node.get("ranks"))
        if node["kind"] == "compute" or len(within) == len(self._everyone):
            return within
        return self._shared(("axis", node["axis"], within), self._whole_groups(node["axis"], within))

    def groups_of(self, node: Mapping[str, Any]) -> tuple[tuple[int, ...], ...]:
        """The groups that run a collective at once, each in the order of its ranks."""
        if "group" in node:
            return tuple(tuple(self._groups[name]) for name in _listed(node["group"]))
        return tuple(map(tuple, self._groups_within(node["axis"], self._within(node.get("ranks")))))

    def groups_along(self, axis: str | None) -> tuple[tuple[int, ...], ...]:
        """All groups of an axis; all ranks as one group without an axis."""
        if axis is None:
            return (self._everyone,)
        return tuple(map(tuple, self._groups_within(axis, self._everyone)))

    def pairs_of(self, node: Mapping[str, Any]) -> list[tuple[int, int]]:
        """Source and destination of every message of a send."""
        return list(zip(_listed(node["source"]), _listed(node["destination"]), strict=True))

    def group_size(self, node: Mapping[str, Any]) -> int:
        """Ranks of one group of a collective; 2 for a send."""
        if node["kind"] == "send":
            return 2
        return self._mesh[node["axis"]] if "axis" in node else len(self._groups[_listed(node["group"])[0]])

    def _within(self, said: str | list[int] | None) -> tuple[int, ...]:
        if said is None:
            return self._everyone
        if isinstance(said, str):
            return self._shared(("group", said), self._groups[said])
        return self._shared(("ranks", *said), said)

    def _whole_groups(self, axis: str, within: Sequence[int]) -> list[int]:
        """The ranks of `within` whose whole group of the axis lies in `within`."""
        return [rank for group in self._groups_within(axis, within) for rank in group]

    def _groups_within(self, axis: str, within: Sequence[int]) -> list[list[int]]:
        """The groups of the axis that lie in these ranks as a whole, each by its coordinate along the axis."""
        names = list(self._mesh)
        stride, size = prod(self._mesh[name] for name in names[: names.index(axis)]), self._mesh[axis]
        groups: dict[tuple[int, int], list[int]] = {}
        for rank in sorted(within):
            groups.setdefault((rank // (stride * size), rank % stride), []).append(rank)
        return [group for group in groups.values() if len(group) == size]

    def _shared(self, key: tuple[Any, ...], ranks: Sequence[int]) -> tuple[int, ...]:
        if key not in self._known:
            made = tuple(sorted(set(ranks)))
            self._known[key] = self._everyone if made == self._everyone else made
        return self._known[key]


def _listed(said: Any) -> list[Any]:
    return said if isinstance(said, list) else [said]
