"""A collective in continuous time on switches that turn on clocks of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lightloom._core import counted, show_time
from lightloom.base.errors import refuse
from lightloom.base.files import read_text, write_bytes
from lightloom.base.frames import Table
from lightloom.base.views import picture
from lightloom.clocks.checks import checks_of
from lightloom.clocks.port_maps import circuit_checks, circuits_of
from lightloom.clocks.reader import MAX_FILE_BYTES, SCHEMA, parts_of
from lightloom.clocks.simulation import TimelineSimulation, simulate_timeline
from lightloom.plans import Plan

if TYPE_CHECKING:
    import os
    from typing import Self

    from matplotlib.figure import Figure

    from lightloom.clocks.parts import Configuration, Parts, Transmission
    from lightloom.inputs.optics import Optics
    from lightloom.optics.port_maps import Circuits
    from lightloom.planning import Check

__all__ = ["Timeline"]


@dataclass(frozen=True, eq=False)
class Timeline(Table):
    """What each switch holds, and what is sent, at any time; immutable, seconds and bytes.

    parts: the content of its file. Made by `lightloom.timeline`, or read back by `Timeline.load` and
    `Timeline.from_json`, which judge it.
    """

    parts: Parts

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What `to_json` wrote. Raises `InputError` that names the place of a fault, or the check that fails."""
        made = cls(parts_of(text))
        for check in made.verify():
            if not check.passed:
                raise refuse("timeline", f"check {check.name} fails: {check.detail}")
        return made

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The timeline in a JSON file; errors as for `from_json`."""
        return cls.from_json(read_text("timeline", path, MAX_FILE_BYTES))

    def to_json(self) -> str:
        """The timeline as JSON of schema `lightloom.timeline/1`."""
        parts = self.parts
        switches = [{"configurations": [one._asdict() for one in switch]} for switch in parts.switches]
        sent = [one._asdict() for one in parts.transmissions]
        told = parts._asdict() | {"switches": switches, "transmissions": sent}
        return json.dumps({"schema": SCHEMA, **told})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file, whole or not at all. Raises `InputError` when it cannot be written."""
        write_bytes("output", path, (self.to_json() + "\n").encode())

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """A row a switch: when it turns, and how busy its circuits are; written to a file where one is named."""
        return picture("Timeline.plot", self, path)

    def verify(self) -> list[Check]:
        """The checks of the plan and of the timeline, in continuous time.

        They share no code with planning, but for the lower bound, which is computed again by the code that stated it.
        """
        return checks_of(self.parts)

    def simulate(
        self,
        *,
        packet_size: str | float = "4096B",
        header_size: str | float = "0B",
        forwarding: str = "store-and-forward",
    ) -> TimelineSimulation:
        """Follow every packet: switches turn, and data go on, once packets are through, none before its time.

        With few packets a transmission may end earlier than in the timeline, whose rates are fluid.

        packet_size: payload of a packet; header_size: bytes on the wire in addition to it; forwarding:
        `"store-and-forward"`, or `"cut-through"`: a packet goes on once its header is there. Raises `InputError` that
        names the argument, also where more than two million packets over circuits were to be followed.
        """
        return simulate_timeline(self.parts, self.plan, packet_size, header_size, forwarding)

    def circuits(self, optics: Optics | str | os.PathLike[str] | None = None) -> Circuits:
        """What each switch is told to connect whenever one of them begins to turn; port k of each GPU is on switch k.

        optics: a TOML file with the switches' names. Raises `InputError` where it is another kind than `parallel`.
        """
        return circuits_of(self.parts, self.plan, optics)

    def verify_circuits(self, circuits: Circuits) -> list[Check]:
        """The check of circuits that were made for this timeline: all traffic has its connections, in time."""
        return circuit_checks(circuits, self.parts, self.plan)

    @cached_property
    def plan(self) -> Plan:
        """The plan with barriers whose collective this is."""
        return Plan.from_json(json.dumps(self.parts.plan))

    @property
    def planner(self) -> str:
        """How it was made: `relaxed`, `journeys` or `listed`."""
        return self.parts.planner

    @property
    def total_s(self) -> float:
        """When the last byte is there."""
        return self.parts.total_s

    @property
    def lower_bound_s(self) -> float:
        """No timeline of the class `bound_class` takes less."""
        return self.parts.lower_bound_s

    @property
    def bound_class(self) -> str:
        """The timelines that the bound holds for."""
        return self.parts.bound_class

    @property
    def turns(self) -> int:
        """Turns of all switches, each counted."""
        from_dark = sum(bool(switch) and switch[0].ready_s > 0.0 for switch in self.parts.switches)
        return from_dark + sum(max(0, len(switch) - 1) for switch in self.parts.switches)

    @property
    def switches(self) -> tuple[tuple[Configuration, ...], ...]:
        """By switch, its configurations in the order of time."""
        return self.parts.switches

    @property
    def transmissions(self) -> tuple[Transmission, ...]:
        """Everything that is sent."""
        return self.parts.transmissions

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a configuration of a switch; size_bytes: what its circuits carry."""
        rows = [(k, i, one) for k, switch in enumerate(self.switches) for i, one in enumerate(switch)]
        carried = self.carried_bytes()
        return {
            "switch": [k for k, _, _ in rows],
            "configuration": [i for _, i, _ in rows],
            "ready_s": [one.ready_s for _, _, one in rows],
            "end_s": [one.end_s for _, _, one in rows],
            "circuits": [len(one.circuits) for _, _, one in rows],
            "size_bytes": [carried[k][i] for k, i, _ in rows],
        }

    def carried_bytes(self) -> list[list[float]]:
        """By switch and configuration, the bytes that all its circuits carry."""
        carried = [[0.0] * len(switch) for switch in self.switches]
        for one in self.transmissions:
            for k, _, _ in one.path:
                held = [i for i, at in enumerate(self.switches[k]) if at.ready_s <= one.start_s]
                carried[k][held[-1]] += one.size_bytes
        return carried

    def __repr__(self) -> str:
        of = f"{self.plan.collective}, {self.plan.gpus} GPUs, {self.planner}"
        return f"Timeline({of}: {show_time(self.total_s)}, {counted(self.turns, 'turn')} of switches)"
