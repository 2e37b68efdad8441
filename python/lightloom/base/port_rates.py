"""Rates of ports: all together, and the one rate of all circuits where nothing else is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

GIGA = 1e9


def all_ports_bps(ports: int, rates_bps: Sequence[float]) -> float:
    """Bit/s of all ports of a GPU together. rates_bps: one rate of all ports, or that of each."""
    return sum(rates_bps) if len(rates_bps) > 1 else ports * rates_bps[0]


def one_rate(field: str, rates_bps: Sequence[float], pair_rates: object) -> float:
    """The rate of all circuits, bit/s.

    field: what the error names; rates_bps: one rate, or that of each port; pair_rates: rates by pair of GPUs, or
    None. Raises `InputError` where rates differ.
    """
    if pair_rates is not None:
        raise refuse(
            field, "pairs of GPUs have different rates, which is not accepted here; it takes one for all circuits"
        )
    if len(set(rates_bps)) > 1:
        shown = ",".join(f"{rate_bps / GIGA:g}Gbps" for rate_bps in rates_bps)
        raise refuse(
            field, f"ports have the rates {shown}, which is not accepted here; it takes one rate for all ports"
        )
    return rates_bps[0]
