"""The simulation of a timeline, packet by packet: how late each switch and the last byte are."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lightloom._core import counted, show_time
from lightloom.base.errors import refuse, shown
from lightloom.base.frames import Table
from lightloom.clocks.packets import PacketSettings, PacketTimes, packets_of, times_of
from lightloom.clocks.waiting import waits_of
from lightloom.inputs.quantities import bytes_of

if TYPE_CHECKING:
    from lightloom.clocks.parts import Parts
    from lightloom.plans import Plan

__all__ = ["TimelineSimulation", "simulate_timeline"]

SCHEMA = "lightloom.timeline-simulation/1"
FORWARDING = ("store-and-forward", "cut-through")
# Largest payload or header; packets over circuits that are followed, about ten seconds of them.
MOST_BYTES, MOST_HOPS = 1 << 30, 2_000_000


@dataclass(frozen=True, eq=False)
class TimelineSimulation(Table):
    """When each switch turns, and the last byte is there, if every packet is followed; immutable, seconds and bytes.

    parts: the timeline's content; plan: the plan whose collective it is. settings: of packets. times: of transmissions
    and configurations, in the timeline's order. Made by `Timeline.simulate`.
    """

    parts: Parts
    plan: Plan
    settings: PacketSettings
    times: PacketTimes

    @property
    def total_s(self) -> float:
        """When the last packet is there."""
        return max(self.times.arrivals_s, default=0.0)

    @property
    def predicted_total_s(self) -> float:
        """When the last byte is there by the timeline."""
        return self.parts.total_s

    @property
    def ratio(self) -> float:
        """The simulated time over the timeline's; 1 where nothing takes any time."""
        return self.total_s / self.predicted_total_s if self.predicted_total_s else 1.0

    @cached_property
    def packets(self) -> int:
        """Packets that all GPUs send; one that waits at a GPU on its way is sent again."""
        return sum(packets_of(one.size_bytes, self.settings) for one in self.parts.transmissions)

    @cached_property
    def packet_hops(self) -> int:
        """Packets times the circuits that each crosses."""
        return _hops(self.parts, self.settings)

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a configuration of a switch: simulated, and by the timeline."""
        rows = [(k, i, one) for k, switch in enumerate(self.parts.switches) for i, one in enumerate(switch)]
        return {
            "switch": [k for k, _, _ in rows],
            "configuration": [i for _, i, _ in rows],
            "ready_s": [self.times.ready_s[k][i] for k, i, _ in rows],
            "end_s": [self.times.end_s[k][i] for k, i, _ in rows],
            "predicted_ready_s": [one.ready_s for _, _, one in rows],
            "predicted_end_s": [one.end_s for _, _, one in rows],
        }

    def to_json(self) -> str:
        """The simulation as JSON of schema `lightloom.timeline-simulation/1`."""
        columns = self.to_columns()
        told = {
            "schema": SCHEMA,
            "settings": self.settings._asdict(),
            "total_s": self.total_s,
            "predicted_s": self.predicted_total_s,
            "ratio": self.ratio,
            "packets": self.packets,
            "packet_hops": self.packet_hops,
            "configurations": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        }
        return json.dumps(told, indent=1)

    def __repr__(self) -> str:
        of = f"{self.plan.collective}, {self.plan.gpus} GPUs"
        return f"TimelineSimulation({of}: {show_time(self.total_s)}, {counted(self.packets, 'packet')})"


def simulate_timeline(
    parts: Parts, plan: Plan, packet_size: str | float, header_size: str | float, forwarding: str
) -> TimelineSimulation:
    """Follow every packet of a timeline. Raises `InputError` that names the argument; also where there are too many."""
    settings = PacketSettings(
        bytes_of("packet_size", packet_size, most=MOST_BYTES),
        bytes_of("header_size", header_size, least=0, most=MOST_BYTES),
        forwarding,
    )
    if forwarding not in FORWARDING:
        raise refuse("forwarding", f"`{shown(forwarding)}` is not accepted; it takes {' or '.join(FORWARDING)}")
    if (hops := _hops(parts, settings)) > MOST_HOPS:
        said = f"{hops:,} packets over circuits, of at most {MOST_HOPS:,}; larger packets are fewer"
        raise refuse("packet_size", f"`{shown(packet_size)}` is not accepted here: {said}")
    return TimelineSimulation(parts, plan, settings, times_of(parts, plan, waits_of(parts, plan), settings))


def _hops(parts: Parts, settings: PacketSettings) -> int:
    return sum(packets_of(one.size_bytes, settings) * len(one.path) for one in parts.transmissions)
