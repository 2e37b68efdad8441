"""HARVEST, figure 3: schedules between one static topology and a reconfiguration before every step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lightloom import Fabric
from lightloom.views.charts import lines
from lightloom.views.palette import REFERENCE
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome
from lightloom_papers.harvest.observations import observation_claims
from lightloom_papers.harvest.speed_ups import RECURSIVE_DOUBLING
from lightloom_papers.measure import Case

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from lightloom_papers.figure import Setting

SIZE = 1 << 20
DELAYS_S = np.geomspace(1e-8, 1e-3, 61)
# All topologies of this many GPUs are tried.
PROVED_GPUS = 8
PROVED_DELAYS = ("10ns", "1us", "3us", "10us", "100us")


def _make(setting: Setting) -> Outcome:
    workload = RECURSIVE_DOUBLING
    cases = [workload.case(p, SIZE, float(delay)) for p in ("harvest", "bvn", "static") for delay in DELAYS_S]
    measured = setting.measure(cases)
    harvest, bvn, static = (measured[k * len(DELAYS_S) : (k + 1) * len(DELAYS_S)] for k in range(3))
    best_s, changes = np.array([one.total_s for one in harvest]), np.array([one.reconfigurations for one in harvest])
    # The time of a schedule without its reconfigurations does not depend on their delay.
    schedules = {int(k): float((best_s - changes * DELAYS_S)[changes == k][0]) for k in np.unique(changes)}
    every_s, static_s = (np.array([one.total_s for one in group]) for group in (bvn, static))

    def draw(picture: Picture) -> None:
        picture.set_size_inches(8, 4.8)
        axes = picture.subplots()
        names = {0: "0 (static)", bvn[0].reconfigurations: f"{bvn[0].reconfigurations} (BvN)"}
        series = {names.get(k, str(k)): taken + k * DELAYS_S for k, taken in schedules.items()}
        lines(axes, DELAYS_S, series, x_kind="time", y_kind="time", ordered=True)
        # Under the lines, and wider, so that it is seen.
        axes.plot(DELAYS_S, best_s, color=REFERENCE, linewidth=6, alpha=0.3, zorder=1, label="lower bound (HARVEST)")
        axes.set(xlabel="reconfiguration delay", ylabel="completion time")
        axes.legend(title="reconfigurations", frameon=False, fontsize=8, ncols=2)

    between = [k for k in schedules if 0 < k < bvn[0].reconfigurations]
    gain = np.minimum(every_s, static_s) / best_s
    return Outcome(
        {
            "reconfiguration_delay_s": DELAYS_S,
            "harvest_s": best_s,
            "harvest_reconfigurations": changes,
            "bvn_s": every_s,
            "static_s": static_s,
            **{f"with_{k}_reconfigurations_s": taken + k * DELAYS_S for k, taken in schedules.items()},
        },
        draw,
        (
            Claim.fact(
                "the schedules span the whole range from BvN to static",
                "fig. 3, §3.2",
                paper="the full design spectrum between BvN and static",
                ours=f"best numbers of reconfigurations from {changes[0]} to {changes[-1]}, {len(between)} others "
                "between",
                rule="as many as BvN at 10 ns, none at 1 ms, others between",
                holds=changes[0] == bvn[0].reconfigurations and changes[-1] == 0 and len(between) >= 1,
            ),
            Claim.fact(
                "between the extremes, schedules that reconfigure sometimes beat both",
                "fig. 3, §3.2",
                paper="outperform both static and reconfigure-every-step",
                ours=f"up to {gain.max():.2f}× at {DELAYS_S[gain.argmax()] * 1e6:.1f} µs",
                rule="somewhere above 1.1, and 1 at both ends",
                holds=bool(gain.max() > 1.1 and gain[0] < 1.001 and gain[-1] < 1.001),
            ),
            _lower_bound(setting),
            *observation_claims(),
        ),
        "AllReduce of 1 MiB by cyclic recursive doubling on 64 GPUs with one port, 800 Gbit/s, startup and hop "
        "delay 500 ns; the paper does not give this figure's settings. A line for each number of reconfigurations "
        "that is the best at some delay: its schedule at every delay. The lower bound is HARVEST's own time; that "
        f"no schedule is below it is tried on {PROVED_GPUS} GPUs, where all topologies can be.",
    )


def _lower_bound(setting: Setting) -> Claim:
    """Planner `exact` tries every permutation of the ranks as topology."""
    fabric = Fabric(gpus=PROVED_GPUS)
    pairs = [
        Case.of(
            "all-reduce",
            SIZE,
            replace(fabric, reconfiguration_delay=delay),
            algorithm="recursive-doubling",
            planner=planner,
        )
        for delay in PROVED_DELAYS
        for planner in ("harvest", "exact")
    ]
    times = [one.total_s for one in setting.measure(pairs)]
    ratios = [ours / exact for ours, exact in zip(times[::2], times[1::2], strict=True)]
    farthest = max(ratios, key=lambda ratio: abs(ratio - 1))
    return Claim.fact(
        "no reconfiguration schedule is below the lower bound; the step's own ring is the best topology "
        "(observation 4)",
        "fig. 3, §5.1",
        paper="1",
        ours=f"{farthest:.9g}",
        rule="equal to nine digits, as it is proved",
        holds=abs(farthest - 1) <= 1e-9,
        why=f"HARVEST's time over the optimum over all topologies of {PROVED_GPUS} GPUs with one port at "
        f"{', '.join(PROVED_DELAYS)}, the ratio farthest from 1.",
    )


FIGURE_3 = Figure("harvest-3", "schedules between static and BvN", "HARVEST, figure 3, §3.2", _make)
