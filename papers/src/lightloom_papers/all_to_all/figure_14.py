"""Figure 14: completion time and number of topologies over the reconfiguration delay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom.views.axis_units import time_label
from lightloom.views.charts import cut_above, lines
from lightloom.views.fitting import legend_below
from lightloom_papers.all_to_all.price_lines import (
    BASELINES,
    DIRECT_CONNECT,
    OURS,
    RANDOM,
    Line,
    Lines,
    Workload,
    chosen,
    envelope_s,
    lines_of,
)
from lightloom_papers.all_to_all.shown_names import PLANNERS
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome
from lightloom_papers.looks import looks

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

DELAYS_S = np.geomspace(1e-6, 1.0, 49)
# Both ends are among the delays, which processors round differently in the last bit.
_FROM_10_US_TO_10_MS = (DELAYS_S > 0.99e-5) & (DELAYS_S < 1.01e-2)
# The paper does not name the flow size of its third panel, which is compared with the first.
PANELS = {"a": (64, "128MB"), "b": (64, "64MB"), "c": (16, "128MB")}
FIXED = (*DIRECT_CONNECT, "topo-opt", "mixnet")


class Curve(NamedTuple):
    """One panel with one number of ports."""

    panel: str
    workload: Workload
    lines: Lines

    @property
    def picked(self) -> list[Line]:
        """The line that is chosen at each delay."""
        return [chosen(self.lines.ours, float(delay_s)) for delay_s in DELAYS_S]

    @property
    def static_from_s(self) -> float:
        """The delay from which one topology is the best."""
        one = min(line.rest_s for line in self.lines.ours if line.topologies == 1)
        more = [line for line in self.lines.ours if line.topologies > 1]
        return max((one - line.rest_s) / (line.topologies - 1) for line in more)

    def times_s(self, planner: str) -> NDArray[np.float64]:
        """At each delay."""
        return envelope_s(self.lines.ours if planner == OURS else [self.lines.baselines[planner]], DELAYS_S)


def make(_setting: Setting) -> Outcome:
    """Completion times over the delay, random flows."""
    curves = [
        Curve(panel, workload, lines_of(workload))
        for panel, (gpus, size) in PANELS.items()
        for workload in (Workload(gpus, ports, RANDOM, size) for ports in (1, 2))
    ]

    def draw(picture: Picture) -> None:
        picture.set_size_inches(11, 6.4)
        panels = picture.subplots(2, 3, sharex=True)
        for column, panel in enumerate(PANELS):
            for row, curve in enumerate(one for one in curves if one.panel == panel):
                axes = panels[row][column]
                series = {label: curve.times_s(name) for name, label in PLANNERS.items()}
                lines(axes, DELAYS_S, series, x_kind="time", looks=looks(series))
                for line in axes.get_lines():
                    line.set_marker("")
                axes.get_lines()[0].set_zorder(3)
                # FAST is cut off, as tall bars are in the paper.
                cut_above(axes, "time", 4 * max(float(curve.times_s(name).max()) for name in FIXED))
                _mark_topologies(axes, curve)
                gpus, size = PANELS[panel]
                ports = f"{curve.workload.ports} port{'s' if row else ''}"
                axes.set_title(f"{panel}) {gpus} GPUs, {size[:-2]} MB, {ports}", fontsize=9)
                axes.set_xlabel("reconfiguration delay" if row else "")
        for axes in panels[:, 0]:
            axes.set_ylabel("completion time")
        legend_below(picture, *panels[0, 0].get_legend_handles_labels())

    rows: list[dict[str, Any]] = [
        {
            "panel": curve.panel,
            "gpus": curve.workload.gpus,
            "ports": curve.workload.ports,
            "mean_flow": curve.workload.mean_size,
            "reconfiguration_delay_s": float(delay_s),
            "topologies": line.topologies,
            f"{OURS}_s": line.topologies * float(delay_s) + line.rest_s,
            **{f"{name}_s": float(curve.times_s(name)[index]) for name in BASELINES},
        }
        for curve in curves
        for index, (delay_s, line) in enumerate(zip(DELAYS_S, curve.picked, strict=True))
    ]
    table = {name: [row[name] for row in rows] for name in rows[0]}
    notes = (
        "Random flows, seed 0, settings as for figures 11 and 12, every topology charged; at each delay the number of "
        "topologies that costs least, written along our curve. Ranks are not relabelled for the flows here, which "
        "lowers ours by some per cent more. The paper does not name the flow size of panel c; 128 MB is assumed. Its "
        "curves are from packets and not quite smooth, since transmission varies; these are exact in the cost model."
    )
    return Outcome(table, draw, _claims(curves), notes)


def _mark_topologies(axes: Any, curve: Curve) -> None:
    """Numbers of topologies at some delays."""
    from matplotlib.patheffects import withStroke

    for index in range(0, DELAYS_S.size, 8):
        line = curve.picked[index]
        time_s = line.topologies * float(DELAYS_S[index]) + line.rest_s
        axes.annotate(
            f"{line.topologies}",
            (DELAYS_S[index], time_s),
            (0, 5),
            textcoords="offset points",
            ha="center",
            fontsize=7,
            color="k",
            path_effects=[withStroke(linewidth=2, foreground="w")],
        )


def _claims(curves: list[Curve]) -> tuple[Claim, ...]:
    by = {(curve.panel, curve.workload.ports): curve for curve in curves}
    static_s = {key: curve.static_from_s for key, curve in by.items()}
    falls = all(
        later.topologies <= line.topologies
        for curve in curves
        for line, later in zip(curve.picked, curve.picked[1:], strict=False)
    )
    at_ends = ", ".join(
        f"{panel}, k = {ports}: {curve.picked[0].topologies} to {curve.picked[-1].topologies}"
        for (panel, ports), curve in by.items()
    )
    best_first = {key: _best_at(curve, 0) for key, curve in by.items()}
    best_last = {key: _best_at(curve, -1) for key, curve in by.items()}
    gains = {
        key: 1 - curve.times_s(OURS) / np.min([curve.times_s(name) for name in BASELINES], axis=0)
        for key, curve in by.items()
    }
    middle = _FROM_10_US_TO_10_MS
    ahead = {key: float(np.mean(of[middle] > 0)) for key, of in gains.items()}
    base_s = {key: min(line.rest_s for line in curve.lines.ours if line.topologies == 1) for key, curve in by.items()}
    beaten = {
        panel: [name for name in FIXED if by[panel, 2].lines.baselines[name].rest_s > base_s[panel, 2]]
        for panel in PANELS
    }
    return (
        Claim.fact(
            "as R rises the number of topologies falls",
            "fig. 14, §5.4",
            paper="falls",
            ours=at_ends,
            rule="never rises from one delay to the next",
            holds=falls,
        ),
        Claim.fact(
            "one topology is right from a smaller R with two ports than with one",
            "fig. 14, §5.4",
            paper="earlier",
            ours="; ".join(f"{panel}: {_both(static_s, panel)}" for panel in PANELS),
            rule="in every panel",
            holds=all(static_s[panel, 2] < static_s[panel, 1] for panel in PANELS),
        ),
        Claim.fact(
            "with smaller flows only smaller R justify reconfigurations",
            "fig. 14a, b, §5.4",
            paper="the region moves left",
            ours=f"64 MB: {_both(static_s, 'b')}; 128 MB: {_both(static_s, 'a')}",
            rule="one topology from a smaller R at 64 MB",
            holds=all(static_s["b", ports] < static_s["a", ports] for ports in (1, 2)),
        ),
        Claim.fact(
            "with fewer GPUs only smaller R justify reconfigurations",
            "fig. 14a, c, §5.4",
            paper="the region moves left",
            ours=f"n = 16: {_both(static_s, 'c')}; n = 64: {_both(static_s, 'a')}",
            rule="one topology from a smaller R at n = 16",
            holds=all(static_s["c", ports] < static_s["a", ports] for ports in (1, 2)),
        ),
        Claim.fact(
            "FAST is the best baseline where R is very small",
            "fig. 14, §5.4",
            paper="FAST",
            ours=f"at 1 µs: {_names(best_first)}",
            rule="in every panel at the least delay",
            holds=set(best_first.values()) == {"fast"},
        ),
        Claim.fact(
            "fixed topologies are the best baselines where R is very large",
            "fig. 14, §5.4",
            paper="DirectConnect, TopoOpt, MixNet",
            ours=f"at 1 s: {_names(best_last)}",
            rule="in every panel at the largest delay",
            holds=set(best_last.values()) <= set(FIXED),
        ),
        Claim.fact(
            "at d = 1 ours is still ahead of some baselines",
            "fig. 14, §5.4",
            paper="ahead of some",
            ours="two ports: "
            + "; ".join(
                f"{panel}: ahead of {', '.join(PLANNERS[name] for name in names)}" for panel, names in beaten.items()
            ),
            rule="of at least one fixed topology in every panel with two ports; with one port all are the ring",
            holds=all(beaten.values()),
        ),
        Claim.fact(
            "a clear advantage in the intermediate range of R",
            "fig. 14, §5.4",
            paper="clear advantage",
            ours="largest gain "
            + ", ".join(f"{of.max() * 100:.0f} % ({panel}, k = {ports})" for (panel, ports), of in gains.items())
            + "; ahead at "
            + ", ".join(f"{part * 100:.0f}" for part in ahead.values())
            + " % of the delays from 10 µs to 10 ms",
            rule="a gain of 25 % or more somewhere in each panel, and ahead at most of these delays",
            holds=all(of.max() >= 0.25 for of in gains.values()) and all(part > 0.5 for part in ahead.values()),
            why=_why_eager(by),
        ),
    )


def _best_at(curve: Curve, index: int) -> str:
    at_s = float(DELAYS_S[index])
    of = curve.lines.baselines
    return min(of, key=lambda name: of[name].topologies * at_s + of[name].rest_s)


def _both(static_s: dict[tuple[str, int], float], panel: str) -> str:
    return " and ".join(f"{time_label(static_s[panel, ports])} (k = {ports})" for ports in (1, 2))


def _names(best: dict[tuple[str, int], str]) -> str:
    if len(set(best.values())) == 1:
        return f"{PLANNERS[next(iter(best.values()))]} in all"
    return ", ".join(f"{PLANNERS[name]} ({panel}, k = {ports})" for (panel, ports), name in best.items())


def _why_eager(by: dict[tuple[str, int], Curve]) -> str:
    middle = DELAYS_S[_FROM_10_US_TO_10_MS]
    ahead = {
        key: float(
            np.mean(
                envelope_s(curve.lines.eager, middle) < envelope_s(list(curve.lines.eager_baselines.values()), middle)
            )
        )
        for key, curve in by.items()
    }
    return (
        "unequal flows in rounds wait for the largest flow of their round, DirectConnect's flow for none; with "
        "circuits that never wait ours is ahead at "
        + ", ".join(f"{part * 100:.0f}" for part in ahead.values())
        + " % of these delays"
    )


FIGURE = Figure(
    "all-to-all-14",
    "completion time over the reconfiguration delay",
    "To reconfigure or not to reconfigure, fig. 14, §5.4",
    make,
)
