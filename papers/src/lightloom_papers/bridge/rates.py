"""BRIDGE §4.1: the conclusions with other link bandwidths and packet sizes, by packets under DCQCN."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lightloom import plan, simulate
from lightloom.views.axis_units import size_label
from lightloom.views.charts import lines
from lightloom_papers.bridge.schedules import R_HD
from lightloom_papers.bridge.schemes import (
    ALL_TO_ALL,
    GPUS,
    GREEDY_ALL_TO_ALL,
    HOP_DELAY_S,
    KB,
    MB,
    REDUCE_SCATTER,
    RING,
    STATIC_ALL_TO_ALL,
)
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from lightloom_papers.bridge.schemes import Scheme
    from lightloom_papers.figure import Setting

# §4.1: Gbit/s, and bytes of a packet. The first of each is the configuration that the paper reports.
RATES = (800, 400, 200)
PACKETS = (4500, 1500, 9000)
# Queues are marked only with the last of them, and only those of S-Bruck.
SIZES = (KB, 32 * KB, MB, 16 * MB)
DELAY_S = 1e-5
# Losses of a plan by packets against a baseline that do not count, as where "never slower" is judged by the model.
SLACK = 0.05
BASELINES = {
    ALL_TO_ALL: (STATIC_ALL_TO_ALL, GREEDY_ALL_TO_ALL),
    REDUCE_SCATTER: (RING, R_HD),
}


def make(_setting: Setting) -> Outcome:
    """Gains over each baseline at every rate, packet size and buffer."""
    gains = {
        (scheme, baseline, rate, packet): [
            _time_s(baseline, size, rate, packet) / _time_s(scheme, size, rate, packet) for size in SIZES
        ]
        for scheme, baselines in BASELINES.items()
        for baseline in baselines
        for rate in RATES
        for packet in PACKETS
    }

    def draw(picture: Picture) -> None:
        picture.set_size_inches(10, 3.6)
        panels = picture.subplots(1, 4, sharey=True)
        pairs = [(scheme, baseline) for scheme, baselines in BASELINES.items() for baseline in baselines]
        for axes, (scheme, baseline) in zip(panels, pairs, strict=True):
            series = {f"{rate} Gbit/s": gains[scheme, baseline, rate, PACKETS[0]] for rate in RATES}
            lines(axes, list(SIZES), series, y_kind="ratio")
            axes.set_title(f"{scheme.collective}, over {baseline.name}", fontsize=9)
            axes.set_xlabel("buffer")
        panels[0].legend(frameon=False, fontsize=8)

    rows = [
        (scheme.collective, baseline.name, rate, packet, size, gain)
        for (scheme, baseline, rate, packet), of_sizes in gains.items()
        for size, gain in zip(SIZES, of_sizes, strict=True)
    ]
    names = ("collective", "baseline", "bandwidth_gbps", "packet_bytes", "size_bytes", "gain")
    return Outcome(
        {name: [row[column] for row in rows] for column, name in enumerate(names)},
        draw,
        (_consistent(gains),),
        f"{GPUS} GPUs, reconfigurations of 10 µs, 1 µs a hop, every packet simulated, under DCQCN with the settings of "
        "its model in ns-3, in proportion to the bandwidth. Packets have no headers. Queues reach the thresholds only "
        "with S-Bruck and 16 MB, where DCQCN costs it 6 % at 200 Gbit/s and 4500 B.",
    )


def _time_s(scheme: Scheme, size: int, rate: int, packet: int) -> float:
    case = scheme.case(size, GPUS, HOP_DELAY_S, DELAY_S)
    fabric = replace(case.fabric, bandwidth=f"{rate}Gbps")
    made = plan(case.collective, case.size, fabric=fabric, **dict(case.settings))
    return simulate(made, packet_size=packet, congestion_control="dcqcn").total_s


def _consistent(gains: dict[tuple[Scheme, Scheme, int, int], list[float]]) -> Claim:
    """The order of the schemes that is reported at 800 Gbit/s and 4500 B, at all others."""
    turned = []
    for (scheme, baseline, rate, packet), of_sizes in gains.items():
        reported = gains[scheme, baseline, RATES[0], PACKETS[0]]
        turned += [
            f"{scheme.collective} over {baseline.name} at {size_label(size)}, {rate} Gbit/s and {packet} B: {gain:.2f}×"
            for size, gain, before in zip(SIZES, of_sizes, reported, strict=True)
            if (before >= 1 + SLACK and gain < 1 - SLACK) or (before <= 1 - SLACK and gain > 1 + SLACK)
        ]
    least = min(min(of_sizes) for of_sizes in gains.values())
    spread = [
        f"{scheme.collective} over {baseline.name} {min(found):.2f}× to {max(found):.2f}×"
        for scheme, baselines in BASELINES.items()
        for baseline in baselines
        for found in [[gains[scheme, baseline, rate, packet][-1] for rate in RATES for packet in PACKETS]]
    ]
    return Claim.fact(
        "The same conclusions with 200 and 400 Gbit/s and with MTUs from 1500 B to 9000 B",
        "§4.1",
        paper="consistent",
        ours=f"the faster scheme changes at {len(turned)} of {len(gains) * len(SIZES)} points; gain at least "
        f"{least:.2f}×",
        rule="no baseline that is 5 % slower at 800 Gbit/s and 4500 B is 5 % faster elsewhere, or the reverse",
        holds=not turned,
        why=f"at {size_label(SIZES[-1])}: " + ", ".join(spread) + "".join(f"; {one}" for one in turned[:3]),
    )


FIGURE = Figure("bridge-rates", "other bandwidths and packet sizes", "BRIDGE §4.1", make)
