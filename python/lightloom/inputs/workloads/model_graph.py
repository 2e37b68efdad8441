"""A workload's nodes as they are made: a chain, each waiting for the last, and nodes that run parallel to it."""

from __future__ import annotations

from typing import Any

from lightloom.base.errors import refuse

__all__ = ["Graph"]

MOST_NODES = 1 << 18
# Ranks and groups that nodes list, over all of them.
MOST_LISTED = 1 << 23
MOST_BYTES = 1 << 53
MOST_SECONDS = 1e6


class Graph:
    """Nodes in order, and the ids that the next one of the chain waits for."""

    def __init__(self, layers: int) -> None:
        """For at least this many passes of layers. Raises `InputError` where they are too many."""
        self.nodes: list[dict[str, Any]] = []
        self.last: tuple[str, ...] = ()
        self._listed = 0
        self._check(layers)

    def then(self, name: str, **fields: Any) -> None:
        """The chain's next node."""
        self.last = (self.beside(name, self.last, **fields),)

    def beside(self, name: str, after: tuple[str, ...], **fields: Any) -> str:
        """A node that the chain does not wait for; returns its id.

        Raises `InputError` where the iteration becomes too large, or the node's numbers are out of range.
        """
        self._listed += len(fields.get("source", ())) + len(fields.get("group", ()))
        self._check(len(self.nodes) + 1)
        if fields.get("size_bytes", 1) > MOST_BYTES:
            raise refuse("model", f"`{name}` has {fields['size_bytes']} bytes; it takes at most 2^53")
        if fields.get("duration_s", 0.0) > MOST_SECONDS:
            raise refuse("model", f"`{name}` lasts {fields['duration_s']:g} s; the limit is {MOST_SECONDS:g} s")
        self.nodes.append({"id": name, **fields, "after": list(after)})
        return name

    def compute(self, name: str, seconds: float, **fields: Any) -> None:
        """The chain's next node, of computation; no node if it takes no time."""
        if seconds:
            self.then(name, kind="compute", **fields, duration_s=seconds)

    def _check(self, nodes: int) -> None:
        if nodes > MOST_NODES or self._listed > MOST_LISTED:
            raise refuse("model", f"its iteration is too large; it takes at most {MOST_NODES} nodes")
