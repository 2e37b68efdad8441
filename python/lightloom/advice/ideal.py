"""An ideal packet switch: every pair of GPUs one hop apart, and nothing to reconfigure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightloom.inputs.fabric import Fabric

__all__ = ["at_once_s"]


def at_once_s(collective: str, size_bytes: float, fabric: Fabric) -> float:
    """Time of a collective that sends to all at once, as the policy `packet-switch` of `lightloom.train` has it.

    fabric: its GPUs, ports, rate, startup and hop delay. All ports send side by side; an AllReduce takes the better of
    two steps that share the sum and one that sends everything to everybody. Seconds.
    """
    assert fabric.gpus is not None  # noqa: S101 (a job says it)
    rate = fabric.bandwidth_bps * fabric.ports
    others = fabric.gpus - 1
    share = 1 - 1 / fabric.gpus

    def step_s(sent_bytes: float) -> float:
        return fabric.startup_s + fabric.hop_delay_s + 8 * sent_bytes / rate

    if collective == "all-reduce":
        return min(2 * step_s(size_bytes * share), step_s(size_bytes * others))
    return step_s(size_bytes * (others if collective in {"broadcast", "reduce"} else share))
