"""The problem and the fabric in words: the lines above a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from lightloom._core import counted, show_size, show_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom._core import ReconfigurationDelay
    from lightloom.inputs.fabric import Fabric

GIGA = 1e9
# The least and the largest rate in bit/s, then hop delay in s.
Ranges = tuple[tuple[float, float], tuple[float, float]]


class Planned(Protocol):
    """The problem of a plan, a comparison or bounds; sizes in bytes."""

    @property
    def collective(self) -> str:
        """Name of the collective."""

    @property
    def size_bytes(self) -> int:
        """Bytes m of one rank's whole buffer."""

    @property
    def gpus(self) -> int:
        """Number of ranks."""

    @property
    def traffic_bytes(self) -> int | None:
        """Bytes that all GPUs together send to others in an All-to-All; None for other collectives."""


class Delays(Protocol):
    """Delays that a `lightloom.Fabric` and the fabric of a plan have in common; seconds."""

    @property
    def startup_s(self) -> float:
        """Startup latency of a step."""

    @property
    def barrier_s(self) -> float:
        """Barrier of all GPUs before a step."""

    @property
    def hop_delay_s(self) -> float:
        """Delay of one hop."""

    @property
    def positions(self) -> object:
        """Where the GPUs are; None where fibres take no time."""

    @property
    def reconfiguration(self) -> ReconfigurationDelay:
        """The delay of a change of topology."""

    @property
    def background_reconfiguration(self) -> bool:
        """Whether a port that carried nothing during a step was set up meanwhile."""

    @property
    def optical_layer(self) -> str | None:
        """The optical layer that limits topologies; None where nothing but ports does."""

    @property
    def windows_s(self) -> tuple[float, dict[int, float]]:
        """Computation before every step, and before single ones by their index from 0."""


def what_is_planned(planned: Planned, root: int | None = None, members: int | None = None) -> str:
    """`all-reduce of 64 MiB on 64 GPUs`; with its root if it has one, an unequal All-to-All with its total traffic.

    members: GPUs that take part, where others only forward.
    """
    gpus = planned.gpus if members is None else members
    way = "to" if planned.collective in {"reduce", "gather"} else "from"
    more = "" if root is None else f" {way} rank {root}"
    whole = planned.traffic_bytes
    if whole is not None and abs(whole - (gpus - 1) * planned.size_bytes) > 1:
        more = f" at the busiest GPU, {show_size(whole)} in all,"
    return f"{planned.collective} of {show_size(planned.size_bytes)}{more} on {gpus} GPUs"


def fabric_words(ports: int, rates_bps: Sequence[float], delays: Delays, pairs: Ranges | None = None) -> str:
    """`1 port of 800 Gbit/s, startup 500.0 ns, hop delay 500.0 ns, reconfiguration delay 10.00 µs`.

    rates_bps: the rate of all ports, or of each. pairs: of all pairs of GPUs the least and the largest rate, then hop
    delay, which are said instead; None where all pairs are alike.
    """
    rates = ", ".join(f"{rate_bps / GIGA:g}" for rate_bps in rates_bps) + " Gbit/s"
    hop = show_time(delays.hop_delay_s)
    if pairs is not None:
        (slowest_bps, fastest_bps), (least_s, longest_s) = pairs
        if slowest_bps < fastest_bps:
            rates = f"{slowest_bps / GIGA:g} to {fastest_bps / GIGA:g} Gbit/s by pair of GPUs"
        if least_s < longest_s:
            hop = f"{show_time(least_s)} to {show_time(longest_s)} by pair of GPUs"
    barrier = f"barrier {show_time(delays.barrier_s)}, " if delays.barrier_s else ""
    fibres = "" if delays.positions is None else " and the light in fibres"
    layer = "" if delays.optical_layer is None else f", optical layer {delays.optical_layer}"
    return (
        f"{counted(ports, 'port')} of {rates}, startup {show_time(delays.startup_s)}, {barrier}"
        f"hop delay {hop}{fibres}, "
        f"reconfiguration delay {delays.reconfiguration}{_hidden_behind(delays)}{layer}"
    )


def all_fabric_words(fabric: Fabric) -> str:
    """The fabric of a plan that is not made yet: `fabric_words`, and what is broken."""
    core = fabric.to_core()
    return fabric_words(fabric.ports, core.rates_bps, core, core.pair_ranges) + failed_words(core.failed)


def failed_words(failed: Sequence[str]) -> str:
    """`, failed: port:5.1 (its receiver works), link:0-7`; empty where everything works.

    failed: the parts that do not work, as `--failed` spells them.
    """
    return f", failed: {', '.join(fault + _other_half(fault, failed) for fault in failed)}" if failed else ""


def _other_half(fault: str, failed: Sequence[str]) -> str:
    """What a transmitter that fails leaves of its port, where no other fault is of its receiver."""
    kind, _, place = fault.partition(":")
    gpu, _, port = place.partition(".")
    concerned = {f"receiver:{place}", f"gpu:{gpu}", f"switch:{port}"}
    return " (its receiver works)" if kind == "port" and concerned.isdisjoint(failed) else ""


def _hidden_behind(delays: Delays) -> str:
    every_s, by_step = delays.windows_s
    windows = [show_time(every_s)] * bool(every_s) + [f"{index + 1}={show_time(it)}" for index, it in by_step.items()]
    behind = ["the step before"] * delays.background_reconfiguration
    behind += [f"windows of {', '.join(windows)}"] * bool(windows)
    return f" (hidden behind {' and '.join(behind)})" if behind else ""


def gigabytes(bytes_per_s: float) -> str:
    """Four digits of GB/s: `50.20`."""
    return f"{bytes_per_s / GIGA:#.4g}".removesuffix(".")
