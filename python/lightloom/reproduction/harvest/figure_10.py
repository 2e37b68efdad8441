"""HARVEST, figure 10: All-to-All with more and more ports, against a static low-diameter topology."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.charts import lines
from lightloom.fabric import Fabric
from lightloom.reproduction.claims import Claim
from lightloom.reproduction.figure import Figure, Outcome
from lightloom.reproduction.harvest.speed_ups import SIZES, SpeedUps, Workload, measure_speed_ups, merged

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from lightloom.reproduction.figure import Setting

PORTS = (1, 2, 3, 4)
DELAYS = ("10ns", "1us", "100us")


def _make(setting: Setting) -> Outcome:
    found: dict[int, SpeedUps] = {}
    for ports in PORTS:
        static = "ring" if ports == 1 else "kautz"
        workload = Workload(
            f"{ports} ports",
            "all-to-all",
            "direct",
            Fabric(gpus=64, ports=ports),
            static=static,
            candidates=f"step-matchings,{static}",
        )
        found[ports] = measure_speed_ups(setting, workload, SIZES, DELAYS)
    largest = [float(one.over_static.max()) for one in found.values()]
    means = [float(np.exp(np.log(one.over_static).mean())) for one in found.values()]

    def draw(picture: Picture) -> None:
        picture.set_size_inches(10.5, 3.6)
        for axes, (row, delay) in zip(picture.subplots(1, len(DELAYS), sharey=True), enumerate(DELAYS), strict=True):
            series = {f"{ports} port{'s' if ports > 1 else ''}": one.over_static[row] for ports, one in found.items()}
            lines(axes, np.array(SIZES), series, y_kind="ratio", log=True)
            axes.set(title=f"reconfiguration delay {delay}", xlabel="buffer of a GPU", ylim=(0.9, 1.3 * max(largest)))
            axes.tick_params(labelsize=7, labelleft=True)
            axes.set_ylabel("times faster than static" if row == 0 else "")
        axes.legend(frameon=False, fontsize=8)

    return Outcome(
        merged([one.table(ports=str(ports)) for ports, one in found.items()]),
        draw,
        (
            Claim.fact(
                "the advantage of All-to-All over static topologies diminishes as ports are added",
                "fig. 10, §6.2",
                paper="diminishes as the number of ports increases",
                ours="largest "
                + ", ".join(f"{value:.1f}×" for value in largest)
                + "; geometric mean "
                + ", ".join(f"{value:.2f}×" for value in means)
                + f" with {', '.join(map(str, PORTS))} ports",
                rule="both fall with every port",
                holds=bool(np.all(np.diff(largest) < 0) and np.all(np.diff(means) < 0)),
                why="Also the static topology's diameter shrinks: a generalised Kautz graph of 64 GPUs has paths "
                "of at most 6, 4 and 3 hops with 2, 3 and 4 ports, the one-way ring 63.",
            ),
        ),
        "Direct All-to-All on 64 GPUs, one shift of the buffer a step on all ports of a GPU. The static "
        "low-diameter topology is the generalised Kautz graph (the ring with one port), every step routed by "
        "maximum concurrent flow; HARVEST has it and the steps' own circuits as candidates. The paper's baseline "
        "sends all flows at once instead, which pays the start-up once: `lightloom plan --planner "
        "direct-connect-kautz`.",
    )


FIGURE_10 = Figure("harvest-10", "All-to-All with more ports", "HARVEST, figure 10, §6.2", _make)
