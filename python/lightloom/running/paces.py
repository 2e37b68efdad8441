"""The rates of a plan's circuits as runs take them: that of the fastest, and how much slower others are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightloom.plans import Plan

__all__ = ["ALIKE", "fastest_bps", "slowness_of"]

# Circuits that are alike, as a request has them.
ALIKE: dict[str, list[float]] = {"port_slowness": [], "pair_slowness": [], "pair_hop_ns": []}


def fastest_bps(plan: Plan) -> float:
    """Bit/s of the fastest circuit of a plan."""
    return max(plan.rates_bps)


def slowness_of(plan: Plan) -> dict[str, list[float]]:
    """The time of a byte on a circuit over that on the fastest: by port, and by source and destination.

    Empty lists where circuits are alike.
    """
    fastest, by_port = fastest_bps(plan), plan.rates_bps
    return {
        "port_slowness": [fastest / rate_bps for rate_bps in by_port] if len(by_port) > 1 else [],
        "pair_slowness": [fastest / rate_bps for rate_bps, _ in plan.core.rates_by_pair],
    }
