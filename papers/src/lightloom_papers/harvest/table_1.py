"""HARVEST, table 1 and figure 2: three sequences of topologies for recursive doubling on 8 GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom import Fabric, plan
from lightloom.views.axis_units import time_label
from lightloom.views.charts import bars
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from lightloom_papers.figure import Setting

# Delays at which each sequence is the best, and the table's numbers: congestion, propagation, reconfigurations.
ROWS = (
    ("G1, G1, G1", "1ms", 4, 4, 0),
    ("G1, G2, G2", "4us", 2, 2, 1),
    ("G1, G2, G3", "10ns", 1, 1, 2),
)
SIZE = "1MiB"


def _make(_setting: Setting) -> Outcome:
    table: dict[str, list[object]] = {
        name: []
        for name in ("sequence", "reconfiguration_delay_s", "congestion", "hops", "reconfigurations", "total_s")
    }
    claims = []
    for sequence, delay, congestion, propagation, changes in ROWS:
        fabric = Fabric(gpus=8, reconfiguration_delay=delay)
        made = plan("reduce-scatter", SIZE, fabric=fabric, algorithm="recursive-doubling", planner="harvest")
        loads, hops = [step.load for step in made.steps], [step.hops for step in made.steps]
        in_use = ", ".join(f"G{1 + topology}" for topology in _numbered([step.topology_index for step in made.steps]))
        row = in_use, fabric.reconfiguration.fixed_s, max(loads), max(hops), made.reconfigurations, made.total_s
        for values, value in zip(table.values(), row, strict=True):
            values.append(value)
        claims.append(
            Claim.equal(
                f"{sequence}: congestion, propagation and reconfigurations",
                "table 1, fig. 2, §3.2",
                paper=f"{sequence}: {congestion}x, {propagation}x, {changes}x",
                ours=f"{in_use}: {max(loads):g}x, {max(hops)}x, {made.reconfigurations}x",
                why=f"The plan that is best for {SIZE} at {time_label(fabric.reconfiguration.fixed_s)}; loads "
                f"{', '.join(f'{load:g}' for load in loads)}.",
            )
        )

    def draw(picture: Picture) -> None:
        picture.set_size_inches(6.5, 3.6)
        axes = picture.subplots()
        names = {"congestion": "congestion", "hops": "hops", "reconfigurations": "reconfigurations"}
        series = {shown: [float(str(value)) for value in table[name]] for name, shown in names.items()}
        bars(axes, [str(name) for name in table["sequence"]], series, y_kind="count")
        axes.set(xlabel="topologies of the three steps", ylabel="worst of the steps, or number")
        axes.legend(frameon=False, fontsize=8)

    return Outcome(
        table,
        draw,
        tuple(claims),
        "Cyclic recursive doubling (the ReduceScatter half) on 8 GPUs with one port. The rows are HARVEST's own "
        "plans for 1 MiB at three reconfiguration delays: each of the table's sequences is the best at one of "
        "them. Congestion and propagation are the largest load and the longest path of the steps.",
    )


def _numbered(topologies: list[int]) -> list[int]:
    """Topologies by the order of their first use."""
    order = list(dict.fromkeys(topologies))
    return [order.index(topology) for topology in topologies]


TABLE_1 = Figure(
    "harvest-table-1", "three sequences of topologies for recursive doubling", "HARVEST, table 1, §3.2", _make
)
