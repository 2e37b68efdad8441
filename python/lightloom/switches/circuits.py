"""The circuits of one switch: sets of (ingress, egress) pairs, both sides numbered from 1, and the ports of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Ingress and egress of a circuit, each numbered from 1 on its own side of the switch.
Circuit = tuple[int, int]
Connections = frozenset[Circuit]

# Most circuits that a line names; it only counts the others.
NAMED = 6


@dataclass(frozen=True)
class Ports:
    """The ports of a switch that a plan's circuits use; None is all ports of that side."""

    ingress: frozenset[int] | None = None
    egress: frozenset[int] | None = None

    @classmethod
    def of(cls, circuits: Iterable[Circuit]) -> Ports:
        """The ports at the ends of these circuits."""
        pairs = list(circuits)
        return cls(frozenset(ingress for ingress, _ in pairs), frozenset(egress for _, egress in pairs))

    def touched_by(self, connections: Connections) -> Connections:
        """The circuits with an end at one of the ports."""
        if self.ingress is None or self.egress is None:
            return connections
        return frozenset(one for one in connections if one[0] in self.ingress or one[1] in self.egress)


def described(circuits: Iterable[Circuit]) -> str:
    """Circuits as a line names them: `3 -> 17, 4 -> 18`, at most six of them."""
    ordered = sorted(circuits)
    named = ", ".join(f"{ingress} -> {egress}" for ingress, egress in ordered[:NAMED])
    return named if len(ordered) <= NAMED else f"{named} and {len(ordered) - NAMED} more"


def counted(circuits: int) -> str:
    """A number of circuits in words: `1 circuit`, `64 circuits`."""
    return f"{circuits} circuit" if circuits == 1 else f"{circuits} circuits"


def crossed(connections: Iterable[Circuit]) -> int | None:
    """The first port that two of the circuits share, or None: a switch holds at most one circuit at a port."""
    seen: tuple[set[int], set[int]] = (set(), set())
    for circuit in sorted(connections):
        for side, port in zip(seen, circuit, strict=True):
            if port in side:
                return port
            side.add(port)
    return None
