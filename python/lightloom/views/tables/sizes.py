"""The table that `plan --sizes` prints, with the columns of NCCL's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom._core import show_size, show_time
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lightloom.sizes import SizeTable

NUMBERS = ("size", "time", "algbw GB/s", "busbw GB/s")
GB = 1e9


def sizes_table(sizes: SizeTable) -> str:
    """A row per size: time, bandwidths, and what was chosen."""
    return render(*size_parts(sizes))


def size_parts(sizes: SizeTable) -> list[RenderableType]:
    """What `sizes_table` shows, part by part."""
    made = table(*NUMBERS, "algorithm", "planner", "reconf.", right=(*NUMBERS, "reconf."))
    for row in sizes.rows:
        made.add_row(
            show_size(row.size_bytes),
            show_time(row.total_s),
            f"{row.algbw / GB:.4g}",
            f"{row.busbw / GB:.4g}",
            row.algorithm,
            row.planner,
            str(row.reconfigurations),
        )
    return [heading(f"{sizes.collective} on {sizes.gpus} GPUs"), made]
