"""The state of a simulated switch: N ingress and N egress ports, each in at most one circuit, and its faults."""

from __future__ import annotations

from enum import Enum
from threading import Event, Lock
from typing import TYPE_CHECKING

from lightloom.switches.simulated.faults import Faults, halved

if TYPE_CHECKING:
    from collections.abc import Collection

    Pair = tuple[int, int]


class After(Enum):
    """The switch's behaviour once a change is over."""

    ANSWER = "answer"
    DROP = "drop"
    GARBAGE = "garbage"


class PortsRefusedError(Exception):
    """Circuits that are not made or unmade; `str(error)` says why. A switch answers it in its interface's own way."""


class Crossbar:
    """Circuits from ingress to egress ports, both numbered from 1.

    ports: of each side. faults: may be replaced at any time. A change is made whole or refused whole,
    but where the fault `half` says otherwise.
    """

    def __init__(self, ports: int, faults: Faults | None = None) -> None:
        self.ports = ports
        self.faults = faults or Faults()
        self.changes = 0
        # State of an interface in addition to the circuits, shared by its connections.
        self.interface: object = None
        self._circuits: dict[int, int] = {}
        self._lock = Lock()
        self._ended = Event()

    @property
    def circuits(self) -> frozenset[Pair]:
        """The circuits that the switch holds."""
        with self._lock:
            return frozenset(self._circuits.items())

    @circuits.setter
    def circuits(self, circuits: Collection[Pair]) -> None:
        with self._lock:
            self._circuits = dict(circuits)

    def end(self) -> None:
        """Changes and answers that take their time end now."""
        self._ended.set()

    def wait_to_answer(self) -> None:
        """The time by which answers are late."""
        if self.faults.late_s:
            self._ended.wait(self.faults.late_s)

    def change(self, unmake: Collection[Pair] = (), make: Collection[Pair] = (), *, all_others: bool = False) -> After:
        """Unmake circuits, all but those of `make` where `all_others` says so, and make others.

        Returns what to do then. Raises `PortsRefusedError`.
        """
        faults = self.faults
        with self._lock:
            self.changes += 1
            number = self.changes
        if number in faults.drop_before:
            return After.DROP
        if faults.slow_s:
            self._ended.wait(faults.slow_s)
        with self._lock:
            self._made(number, unmake, make, all_others=all_others)
        if number in faults.drop_after:
            return After.DROP
        return After.GARBAGE if number in faults.garbage else After.ANSWER

    def _made(self, number: int, unmake: Collection[Pair], make: Collection[Pair], *, all_others: bool) -> None:
        faults = self.faults
        if number in faults.refuse_change:
            raise PortsRefusedError("Settings conflict")
        unmade = {pair for pair in self._circuits.items() if pair not in make} if all_others else set(unmake)
        after = {pair for pair in self._circuits.items() if pair not in unmade}
        for pair in sorted(unmade):
            if self._circuits.get(pair[0]) != pair[1]:
                raise PortsRefusedError(f"Port {pair[0]} is not connected to {pair[1]}")
        for ingress, egress in sorted(make):
            if not (0 < ingress <= self.ports and 0 < egress <= self.ports):
                raise PortsRefusedError("Data out of range")
            if ingress in faults.refuse:
                raise PortsRefusedError(f"Port {ingress} failed")
            if (ingress, egress) in after:
                continue
            if any(ingress == one or egress == other for one, other in after):
                raise PortsRefusedError(f"Port {ingress} or its peer is in use")
            after.add((ingress, egress))
        if number in faults.ignore:
            return
        if number in faults.half:
            kept = set(self._circuits.items()) - set(halved(unmade))
            free = [pair for pair in halved(make) if not any(pair[0] == one or pair[1] == other for one, other in kept)]
            self._circuits = dict(kept | set(free))
            raise PortsRefusedError("Hardware error")
        self._circuits = dict(after)
