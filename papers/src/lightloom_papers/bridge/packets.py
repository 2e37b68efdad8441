"""Effects of packets, as the reason why a claim fails only with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.views.axis_units import size_label
from lightloom_papers.bridge.schemes import GPUS, HOP_DELAY_S, KB, MB
from lightloom_papers.figure import MODEL, Setting

if TYPE_CHECKING:
    from lightloom_papers.bridge.schemes import Scheme

SIZES = (32 * KB, MB, 16 * MB)


def packet_note(setting: Setting, static: Scheme) -> str:
    """The static baseline's time by packets, by sizes; empty where times are the model's."""
    if setting.engine == MODEL:
        return ""
    cases = [static.case(size, GPUS, HOP_DELAY_S, 0.0) for size in SIZES]
    parts = [
        f"{packets.total_s / model.total_s:.2f} at {size_label(size)}"
        for size, packets, model in zip(SIZES, setting.measure(cases), Setting().measure(cases), strict=True)
    ]
    return (
        "packets of a step are sent in a burst, and the delays of their hops overlap with their queues: of the time "
        f"that the model gives {static.name}, packets take {', '.join(parts)}. Plans are the model's"
    )
