"""What a simulation assumes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SimulationSettings:
    """What a simulation assumes beside the plan and its fabric; the arguments of `simulate` in seconds and bytes."""

    level: str = "packet"
    packet_bytes: int = 4096
    header_bytes: int = 0
    injection: str = "burst"
    forwarding: str = "store-and-forward"
    sync: str = "barrier"
    barrier_s: float = 0.0
    reconfiguration: str = "global"
    buffer_bytes: int | None = None
    symmetry: str = "quotient"
