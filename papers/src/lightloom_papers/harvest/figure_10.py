"""HARVEST, figure 10: All-to-All with more and more ports, against a static low-diameter topology."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom import Fabric, Topology, to_networkx
from lightloom.inputs.quantities import seconds_of
from lightloom.views.axis_units import time_label
from lightloom.views.charts import lines
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome
from lightloom_papers.harvest.speed_ups import (
    BEST_CANDIDATE,
    SIZES,
    SpeedUps,
    Workload,
    measure_speed_ups,
    merged,
)
from lightloom_papers.measure import Case

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

PORTS = (1, 2, 3, 4)
DELAYS = ("10ns", "1us", "100us")


def _make(setting: Setting) -> Outcome:
    found: dict[int, SpeedUps] = {}
    for ports in PORTS:
        static = _static(ports)
        workload = Workload(
            f"{ports} ports",
            "all-to-all",
            "direct",
            _fabric(ports),
            static=BEST_CANDIDATE,
            candidates=f"step-matchings,{static}",
        )
        found[ports] = measure_speed_ups(setting, workload, SIZES, DELAYS)
    at_once = {ports: _flows_at_once(setting, ports) for ports in PORTS if ports > 1}
    over_flows = {ports: times_s / found[ports].harvest_s for ports, times_s in at_once.items()}
    largest = [float(one.over_static.max()) for one in found.values()]
    means = [float(np.exp(np.log(one.over_static).mean())) for one in found.values()]

    def draw(picture: Picture) -> None:
        picture.set_size_inches(10.5, 3.6)
        for axes, (row, delay) in zip(picture.subplots(1, len(DELAYS), sharey=True), enumerate(DELAYS), strict=True):
            series = {f"{ports} port{'s' if ports > 1 else ''}": one.over_static[row] for ports, one in found.items()}
            lines(axes, np.array(SIZES), series, y_kind="ratio", log=True, ordered=True)
            axes.set(title=f"reconfiguration delay {time_label(seconds_of('delay', delay))}", xlabel="buffer of a GPU")
            axes.tick_params(labelsize=7)
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
                why="The static topologies' diameters shrink as well: "
                + ", ".join(f"{_diameter(ports)} hops" for ports in PORTS)
                + ".",
            ),
            Claim.fact(
                "so does its advantage over the static topology's optimal flow schedule",
                "fig. 10, §6.2",
                paper="diminishes as the number of ports increases",
                ours="largest "
                + ", ".join(f"{ratios.max():.1f}×" for ratios in over_flows.values())
                + f" with {', '.join(map(str, over_flows))} ports",
                rule="falls with every port",
                holds=bool(np.all(np.diff([ratios.max() for ratios in over_flows.values()]) < 0)),
                why="All flows are sent at once there, with one startup, and HARVEST is given the direct "
                "algorithm's 63 steps, so small buffers take it longer: ratios down to "
                + ", ".join(f"{ratios.min():.2f}" for ratios in over_flows.values())
                + ". The paper does not say how many steps its All-to-All has.",
            ),
        ),
        "Direct All-to-All on 64 GPUs, one shift of the buffer a step on all ports of a GPU. The static low-diameter "
        "topology is the generalised Kautz graph (the ring with one port), every step routed by maximum concurrent "
        "flow; HARVEST has it and the steps' own circuits as candidates, of which it is the best that serves all "
        "steps. The second claim is about the same graph with all flows at once (`--planner direct-connect-kautz`).",
    )


def _fabric(ports: int) -> Fabric:
    return Fabric(gpus=64, ports=ports)


def _static(ports: int) -> str:
    return "ring" if ports == 1 else "kautz"


def _flows_at_once(setting: Setting, ports: int) -> NDArray[np.float64]:
    """Times (s) by size of all flows together on the Kautz graph, routed optimally."""
    cases = [Case.of("all-to-all", size, _fabric(ports), planner="direct-connect-kautz") for size in SIZES]
    return np.array([one.total_s for one in setting.measure(cases)])


def _diameter(ports: int) -> int:
    import networkx as nx

    graph = to_networkx(Topology.named(_static(ports), 64, (), ports))
    return int(nx.diameter(nx.DiGraph(graph)))


FIGURE_10 = Figure("harvest-10", "All-to-All with more ports", "HARVEST, figure 10, §6.2", _make)
