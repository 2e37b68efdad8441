"""Refuses packet simulations that would take minutes a point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import refuse
from lightloom.inputs.quantities import bytes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lightloom.sweeps.axes import Axis
    from lightloom.sweeps.keys import Quantity

# Packets of one GPU's buffer; this many take about a minute.
MAX_PACKETS = 1 << 24
DEFAULT_PACKET = "4096B"


def check_packets(
    engine: str,
    axes: Sequence[Axis],
    settings: Iterable[tuple[str, object]],
    numbers: Iterable[tuple[str, Quantity]],
) -> None:
    """Refuse points with too many packets, where these are followed one by one.

    They are where they are paced, where buffers are limited, and under congestion control.
    Bursts cost the number of times that streams meet, for any size (`docs/decisions/0006`).
    Raises `InputError` that names `size`.
    """
    if engine != "packet":
        return
    values = {key: [value] for key, value in settings}
    values |= {axis.key: list(axis.values) for axis in axes if not axis.is_number}
    if "paced" not in values.get("injection", []) and "buffer" not in values and not _is_controlled(values):
        return
    sizes = [quantity.number for key, quantity in numbers if key == "size"]
    sizes += [float(size) for axis in axes if axis.key == "size" for size in axis.values]
    packet_bytes = min(bytes_of("packet_size", str(value)) for value in values.get("packet_size", [DEFAULT_PACKET]))
    packets = max(sizes, default=0.0) / packet_bytes
    if packets > MAX_PACKETS:
        raise refuse(
            "size",
            f"the largest size is {packets:,.0f} packets of {packet_bytes} bytes; with paced injection, limited "
            f"buffers or congestion control at most {MAX_PACKETS:,} packets are simulated: give a larger packet_size, "
            "or engine flow",
        )


def _is_controlled(values: dict[str, list[object]]) -> bool:
    return any(value != "none" for value in values.get("congestion_control", []))
