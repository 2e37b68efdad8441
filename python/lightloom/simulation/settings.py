"""Settings of a simulation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SimulationSettings:
    """Settings of a simulation other than the plan and its fabric: arguments of `simulate` in seconds and bytes."""

    level: str = "packet"
    packet_bytes: int = 4096
    header_bytes: int = 0
    injection: str = "burst"
    forwarding: str = "store-and-forward"
    sync: str = "barrier"
    barrier_s: float = 0.0
    reconfiguration: str = "global"
    buffer_bytes: int | None = None
    congestion_control: str = "none"
    symmetry: str = "quotient"
