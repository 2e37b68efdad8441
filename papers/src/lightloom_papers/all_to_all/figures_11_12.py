"""Figures 11 and 12: completion time compared with the baselines at the delay of the largest gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.inputs.quantities import bytes_of
from lightloom.views.charts import bars
from lightloom.views.fitting import legend_below
from lightloom_papers.all_to_all.averages import FIGURE_11, FIGURE_12, PAPER, why
from lightloom_papers.all_to_all.figure_11_claims import claims_11
from lightloom_papers.all_to_all.price_lines import (
    BASELINES,
    OURS,
    WORKLOADS,
    Gain,
    Workload,
    gain_of,
)
from lightloom_papers.all_to_all.shown_names import MATRICES, PLANNERS
from lightloom_papers.claims import Claim
from lightloom_papers.figure import MODEL, PACKET, Figure, Outcome
from lightloom_papers.looks import looks

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from lightloom_papers.figure import Setting

Gains = dict[Workload, Gain]
NOTES = (
    "800 Gbit/s, 500 ns a hop, chunks of 4 MB forwarded by index, seed 0; bars at the reconfiguration delay at which "
    "the strategy is farthest below the best baseline. Completion times are lines in the delay, the strategy's for "
    "each number of topologies, so that the gain can only peak where the best baseline changes, and these delays are "
    "found exactly (only n = 8 with two ports and uniform or Zipfian flows has no gain there). Every topology is "
    "charged, the first one too. Above each group: the reduction against the best baseline. The paper simulates "
    "packets; it does not say which delays it sweeps, and its random matrices are not published."
)


def gains(workloads: tuple[Workload, ...], setting: Setting) -> Gains:
    """The largest gain of each workload; with packets, the same plans simulated at that delay."""
    found = {workload: gain_of(workload)[1] for workload in workloads}
    if setting.engine == MODEL:
        return found
    cases = [
        workload.case(name, gain.delay_s) for workload, gain in found.items() for name in (OURS, *workload.baselines)
    ]
    measured = iter(setting.measure(cases))
    simulated = {}
    for workload, gain in found.items():
        # A plan is not charged for its first topology.
        times_s = {name: next(measured).total_s + gain.delay_s for name in (OURS, *workload.baselines)}
        simulated[workload] = gain._replace(ours_s=times_s.pop(OURS), baselines_s=times_s)
    return simulated


def _outcome(found: Gains, groups: str, claims: tuple[Claim, ...]) -> Outcome:
    """Bars over `groups`, a field of the workloads, one panel for each matrix and number of ports."""

    def draw(picture: Picture) -> None:
        picture.set_size_inches(11, 5.6)
        shared = groups == "mean_size"
        panels = picture.subplots(2, 3, sharey=shared)
        for row, ports in zip(panels, (1, 2), strict=True):
            for axes, matrix in zip(row, WORKLOADS, strict=True):
                shown = {one: gain for one, gain in found.items() if (one.ports, one.matrix) == (ports, matrix)}
                heights = {
                    label: [
                        gain.ours_s if name == OURS else gain.baselines_s.get(name, np.nan) for gain in shown.values()
                    ]
                    for name, label in PLANNERS.items()
                }
                names = [str(getattr(one, groups)).replace("MB", " MB") for one in shown]
                bars(axes, names, heights, log=True, looks=looks(heights))
                for place, gain in enumerate(shown.values()):
                    tallest = max(gain.ours_s, *gain.baselines_s.values())
                    axes.annotate(
                        f"{-gain.reduction * 100:+.0f} %",
                        (place, tallest),
                        (0, 3),
                        textcoords="offset points",
                        ha="center",
                        fontsize=7,
                    )
                # Room for the words over the tallest bar.
                axes.set_ylim(top=axes.get_ylim()[1] * 1.25)
                axes.set_title(f"{MATRICES[matrix]}, {ports} port{'s' if ports > 1 else ''}", fontsize=9)
        for axes in panels[1]:
            axes.set_xlabel("GPUs" if groups == "gpus" else "mean flow")
        for axes in panels[:, 0]:
            axes.set_ylabel("completion time")
        legend_below(picture, *panels[1, 1].get_legend_handles_labels())

    rows = [
        {
            "gpus": workload.gpus,
            "ports": workload.ports,
            "workload": workload.matrix,
            "mean_flow_bytes": bytes_of("size", workload.mean_size),
            "reconfiguration_delay_s": gain.delay_s,
            "topologies": gain.line.topologies,
            f"{OURS}_s": gain.ours_s,
            **{f"{name}_s": gain.baselines_s.get(name, "") for name in BASELINES},
            "best_baseline": gain.best,
            "reduction_percent": gain.reduction * 100,
        }
        for workload, gain in found.items()
    ]
    table: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in rows[0]}
    return Outcome(table, draw, claims, NOTES)


def make_11(setting: Setting) -> Outcome:
    """Over numbers of GPUs, 32 MB a pair."""
    found = gains(FIGURE_11, setting)
    return _outcome(found, "gpus", claims_11(found))


def make_12(setting: Setting) -> Outcome:
    """Over flow sizes, 16 GPUs."""
    found = gains(FIGURE_12, setting)
    average = float(np.mean([gain.reduction for gain in found.values()])) * 100
    least = min(gain.reduction for gain in found.values()) * 100
    drifts = [
        abs(found[one._replace(mean_size="64MB")].reduction - gain.reduction) * 100
        for one, gain in found.items()
        if one.mean_size == "8MB"
    ]
    claims = (
        Claim.near(
            "lower completion time on average",
            "fig. 12, §5.2",
            paper=PAPER["12"],
            ours=average,
            unit="%",
            why=why("12"),
        ),
        Claim.at_least(
            "ahead of the baselines across all flow sizes (least gain)",
            "fig. 12, §5.2",
            paper=0,
            ours=least,
            unit="%",
        ),
        Claim.fact(
            "the improvement persists as flows grow",
            "fig. 12, §5.2",
            paper="persists",
            ours=f"gains at 8 and 64 MB differ by at most {max(drifts):.1f} points",
            rule="at most 5 points",
            holds=max(drifts) <= 5,
        ),
    )
    return _outcome(found, "mean_size", claims)


FIGURES = tuple(
    Figure(
        f"all-to-all-{number}",
        title,
        f"To reconfigure or not to reconfigure, fig. {number}, §5.2",
        make,
        (MODEL, PACKET),
    )
    for number, title, make in (
        (11, "completion time over numbers of GPUs", make_11),
        (12, "completion time over flow sizes", make_12),
    )
)
