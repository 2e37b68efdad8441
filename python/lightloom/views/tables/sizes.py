"""The table that `plan --sizes` prints, with the columns of NCCL's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import show_size, show_time
from lightloom.views.tables.page import heading, render, table
from lightloom.views.tables.problem import all_fabric_words, gigabytes

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lightloom.inputs.fabric import Fabric
    from lightloom.planning.sizes import SizeTable

NUMBERS = ("size", "time", "algbw GB/s", "busbw GB/s")


def sizes_table(sizes: SizeTable, fabric: Fabric) -> str:
    """The fabric, and a row per size: time, bandwidths, and the choices."""
    title, *rows = size_parts(sizes)
    return render(title, Text(all_fabric_words(fabric)), *rows)


def size_parts(sizes: SizeTable) -> list[RenderableType]:
    """The parts of `sizes_table` without the fabric."""
    made = table(*NUMBERS, "algorithm", "planner", "reconf.", right=(*NUMBERS, "reconf."))
    for row in sizes.rows:
        made.add_row(
            show_size(row.size_bytes),
            show_time(row.total_s),
            gigabytes(row.algbw),
            gigabytes(row.busbw),
            row.algorithm,
            row.planner,
            str(row.reconfigurations),
        )
    return [heading(f"{sizes.collective} on {sizes.gpus} GPUs"), made]
