"""The table of `run --calibrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import show_size, show_time
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from lightloom.running.sends import SendTimes

HOPS = "; the startup that it fits includes the delay of the hop, unless --hop-delay states that delay"
COLUMNS = ("size", "measured", "set", "ratio", "slowed down", "lateness", "verdict")


def sends_table(times: SendTimes) -> str:
    """Every size with its measured time, the fabric's settings, and the timer jitter of the machine."""
    # Other transports send at their own speed.
    columns = [name for name in COLUMNS if name != "slowed down" or times.transport in {"shared-memory", "kernel"}]
    made = table(*columns, right=columns[:-1])
    for send in times.sends:
        cells = (
            show_size(send.size_bytes),
            show_time(send.time_s),
            show_time(send.predicted_s),
            f"{send.time_s / send.predicted_s:.1%}" if send.predicted_s else "-",
            f"{send.dilation:g} times",
            show_time(send.lateness_s),
            send.verdict,
        )
        shown = dict(zip(COLUMNS, cells, strict=True))
        made.add_row(*(shown[name] for name in columns))
    return render(
        heading(f"{len(times.sends)} one-hop sends by {times.transport}: {times.verdict}"),
        made,
        Text(""),
        Text(f"`lightloom calibrate` reads the file{'' if times.transport == 'kernel' else HOPS}"),
    )
