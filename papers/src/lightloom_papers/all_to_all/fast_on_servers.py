"""FAST in the network that it is made for: servers with an electrical network inside, circuits between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.planning.two_level import ServerTimes, fast_on_servers
from lightloom.views.axis_units import time_label
from lightloom.views.charts import lines
from lightloom_papers.all_to_all.price_lines import WORKLOADS, ZIPF, Workload
from lightloom_papers.all_to_all.shown_names import MATRICES
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure as Picture

    from lightloom_papers.figure import Setting

# GPUs of a server, a GPU's bandwidth inside it (NVLink of a H100, one way) and the delay of a phase.
ELECTRICAL = "8:3600Gbps:100ns"
SIZES = (16, 32, 64)
PORTS = (1, 2)
DELAYS_S = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
SMALL_S, USUAL_S = 1e-6, 1e-4
# The flow size of figure 11.
MEAN_SIZE = "32MB"


class Found(NamedTuple):
    """One workload at one delay."""

    workload: Workload
    delay_s: float
    times: ServerTimes

    @property
    def ratio(self) -> float:
        """Ratio of its time to the least time of any All-to-All that keeps a server's bytes inside the server."""
        return self.times.total_s / self.times.bound_s


def make(setting: Setting) -> Outcome:
    """Times of FAST on servers against the bound of their network."""
    workloads = [Workload(gpus, ports, matrix, MEAN_SIZE) for gpus in SIZES for ports in PORTS for matrix in WORKLOADS]
    found = [
        Found(workload, delay_s, fast_on_servers(workload.bytes(), ELECTRICAL, fabric=workload.fabric(delay_s)))
        for workload in workloads
        for delay_s in DELAYS_S
    ]
    (one_level,) = setting.measure([Workload(64, 1, ZIPF, MEAN_SIZE).case("fast", 0.0)])

    def draw(picture: Picture) -> None:
        picture.set_size_inches(9, 3.4)
        panels = picture.subplots(1, len(WORKLOADS), sharey=True)
        for axes, matrix in zip(panels, WORKLOADS, strict=True):
            series = {
                f"{gpus} GPUs": [one.ratio for one in found if one.workload[:3] == (gpus, 1, matrix)] for gpus in SIZES
            }
            lines(axes, DELAYS_S, series, x_kind="time", y_kind="ratio")
            axes.set_title(f"{MATRICES[matrix]}, one port", fontsize=9)
            axes.set_xlabel("reconfiguration delay")
        panels[0].set_ylabel("time to the bound")
        panels[0].legend(frameon=False)

    table: dict[str, Sequence[Any]] = {
        "gpus": [one.workload.gpus for one in found],
        "ports": [one.workload.ports for one in found],
        "matrix": [one.workload.matrix for one in found],
        "reconfiguration_delay_s": [one.delay_s for one in found],
        "stages": [len(one.times.stages) for one in found],
        "time_s": [one.times.total_s for one in found],
        "bound_s": [one.times.bound_s for one in found],
    }
    notes = (
        f"Servers of 8 GPUs, {ELECTRICAL.split(':')[1]} inside and {ELECTRICAL.split(':')[2]} a phase; {MEAN_SIZE} a "
        "pair and 800 Gbit/s a port as in figure 11, every stage's change charged. The paper compares FAST "
        "in one level, inside a server; the bound is of any All-to-All that keeps bytes of a server inside it."
    )
    return Outcome(table, draw, _claims(found, one_level.reconfigurations + 1), notes)


def _claims(found: list[Found], matchings: int) -> tuple[Claim, ...]:
    worst = {delay_s: max(one.ratio for one in found if one.delay_s == delay_s) for delay_s in DELAYS_S}
    least = {delay_s: min(one.ratio for one in found if one.delay_s == delay_s) for delay_s in DELAYS_S}
    by_size, at_small = (
        {gpus: max(one.ratio for one in found if one.workload.gpus == gpus and one.delay_s == at_s) for gpus in SIZES}
        for at_s in (USUAL_S, SMALL_S)
    )
    stages = max(len(one.times.stages) for one in found if one.workload.matrix == ZIPF and one.workload.gpus == 64)
    spread = "; ".join(f"{time_label(delay_s)}: {least[delay_s]:.2f} to {worst[delay_s]:.2f}×" for delay_s in DELAYS_S)
    return (
        Claim.fact(
            "FAST exhibits high variance (here on servers, for which it is made)",
            "fig. 11, §5.1, §5.2",
            paper="high variance",
            ours=f"time to the bound by delay: {spread}",
            rule="the largest ratio to the bound is over twice the least at some delay",
            holds=any(worst[delay_s] > 2 * least[delay_s] for delay_s in DELAYS_S),
            why=f"every stage changes circuits: 64 GPUs have {stages} matchings of servers for Zipfian flows and 7 for "
            f"uniform ones; in one level the same flows have {matchings}",
        ),
        Claim.fact(
            "FAST performs very poorly at larger scales (here on servers, for which it is made)",
            "fig. 11, §5.1, §5.2",
            paper="very poorly",
            ours=f"at {time_label(USUAL_S)}: up to "
            + ", ".join(f"{ratio:.2f}× the bound (n = {gpus})" for gpus, ratio in by_size.items()),
            rule="over 3× the bound for n = 64 at 100 µs, above the delays of figure 11's largest gains",
            holds=by_size[max(SIZES)] > 3,
            why="its matchings are of servers, so that they are few, and balancing makes them as short as the busiest "
            "server allows",
        ),
        Claim.fact(
            "FAST is the best where R is very small (here on servers, for which it is made)",
            "fig. 14, §5.1, §5.4",
            paper="the best baseline",
            ours=f"at {time_label(SMALL_S)}: up to "
            + ", ".join(f"{ratio:.2f}× the bound (n = {gpus})" for gpus, ratio in at_small.items()),
            rule="within 1.25× the bound at 1 µs for n = 64, and nearer to it with every doubling of n",
            holds=at_small[64] <= 1.25 and at_small[16] > at_small[32] > at_small[64],
            why="two servers have one stage, so that nothing hides its balancing and redistribution",
        ),
    )


FIGURE = Figure(
    "all-to-all-servers",
    "FAST on servers with an electrical network inside",
    "To reconfigure or not to reconfigure, §5.1, §5.2; FAST, arXiv 2505.09764",
    make,
)
