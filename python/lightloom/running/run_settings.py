"""The settings of a run of a plan, with the values that were chosen for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lightloom.running.pace import Pace
    from lightloom.running.run_options import RunOptions

__all__ = ["RunHost", "RunSettings"]


class RunHost(NamedTuple):
    """A host of a run: its name, how many ranks it had, and by how much moments there may be wrong, seconds."""

    name: str
    ranks: int
    clock_uncertainty_s: float


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """The settings of a run of a plan: the arguments of `lightloom.run`, with the chosen values of those left out.

    dilation: rates are divided and delays multiplied by it. dtype, reduction: of the data. packet_bytes: without
    headers, which take no time. warm_ups: runs before those that are measured. switch: address of an outside switch.
    real_time, locked: whether all processes had real-time priority, and shared memory was locked. packet_rate: packets
    over all hops in a second of the machine; most_packet_rate: that it keeps up with; None where messages go whole.
    hosts: of transport `tcp`.
    """

    transport: str
    dilation: float
    dtype: str
    reduction: str
    runs: int
    warm_ups: int
    packet_bytes: int
    switch: str | None
    real_time: bool
    locked: bool
    packet_rate: float | None = None
    most_packet_rate: float | None = None
    hosts: tuple[RunHost, ...] = ()

    @classmethod
    def chosen(
        cls, options: RunOptions, pace: Pace, granted: tuple[bool, bool], switch: str | None = None
    ) -> RunSettings:
        """The settings of runs at a pace. granted: real-time priority, and locked memory."""
        return cls(
            transport=options.transport,
            dilation=pace.dilation,
            dtype=options.kind.name,
            reduction=options.reduction,
            runs=options.runs,
            warm_ups=options.warm_ups,
            packet_bytes=pace.packet_bytes,
            switch=switch,
            real_time=granted[0],
            locked=granted[1],
            packet_rate=pace.packet_rate,
            most_packet_rate=pace.most_packet_rate,
        )

    @property
    def keeps_up_with_packets(self) -> bool:
        """Whether there were no more packets in a second than the machine passes on in time."""
        return self.packet_rate is None or self.most_packet_rate is None or self.packet_rate <= self.most_packet_rate

    @property
    def has_hop_delay(self) -> bool:
        """Whether packets are held back by the plan's hop delay: the kernel's circuits have no such delay."""
        return self.transport != "kernel"
