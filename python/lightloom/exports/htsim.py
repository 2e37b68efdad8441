"""htsim's connection matrix, `.cm`: a flow for every pair of GPUs in every step, each step set off by the one before.

Its lines are those that htsim's loader takes (Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp): the numbers of
nodes, connections and triggers; `SOURCE->DESTINATION id N start 0 size BYTES send_done_trigger T` for a flow of the
first step, `trigger T` in place of `start 0` for one of a later step; and `trigger id T barrier count N` for each step
but the last, which fires once the step's N flows are done and then starts all of the next. So steps follow each other
as in the plan, with a barrier between two. Flows go from end to end, on the routes of the network that htsim is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.exports.circuits import side_file
from lightloom.exports.exported import MAIN, SIDE, Exported
from lightloom.exports.parcels import whole_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightloom.plans import Plan

__all__ = ["export"]

# htsim reads a size as a C++ `int`.
LARGEST = (1 << 31) - 1


def export(plan: Plan) -> Exported:
    """The connection matrix of a plan, and its side file; a part of a byte counts as a whole one.

    Flows of more bytes than htsim reads are several flows. Raises `InputError` where the plan does not verify.
    """
    steps = [list(_flows(plan, index)) for index in range(len(plan.steps))]
    lines = [
        f"Nodes {plan.gpus}",
        f"Connections {sum(map(len, steps))}",
        f"Triggers {len(steps) - 1}",
    ]
    number = 0
    for index, flows in enumerate(steps):
        begins = f"trigger {index}" if index else "start 0"
        ends = f" send_done_trigger {index + 1}" if index + 1 < len(steps) else ""
        for source, destination, size_bytes in flows:
            number += 1
            lines.append(f"{source}->{destination} id {number} {begins} size {size_bytes}{ends}")
    lines += [f"trigger id {index} barrier count {len(flows)}" for index, flows in enumerate(steps[:-1], 1)]
    return Exported({MAIN: ("\n".join(lines) + "\n").encode(), SIDE: side_file(plan, "htsim")}, SIDE)


def _flows(plan: Plan, index: int) -> Iterator[tuple[int, int, int]]:
    """Source, destination and bytes of every flow of a step."""
    sizes: dict[tuple[int, int], list[float]] = {}
    for transfer in plan.transfers(index):
        sizes.setdefault((transfer.source, transfer.destination), []).append(transfer.size_bytes)
    for (source, destination), parts in sorted(sizes.items()):
        size_bytes = whole_bytes(parts)
        count = -(-size_bytes // LARGEST)
        for part in range(count):
            yield source, destination, size_bytes * (part + 1) // count - size_bytes * part // count
