"""Completion times by their parts, as figures 8 to 10 break them down."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom_papers.pccl import swing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from matplotlib.figure import Figure as Picture

    from lightloom import Plan
    from lightloom_papers.pccl.schemes import Start

PARTS = ("one hop a step", "dilation", "transmission", "congestion", "reconfiguration")


class Parts(NamedTuple):
    """Seconds of each of `PARTS`: the time of direct circuits, and the additions of longer and shared paths."""

    hop_s: float
    dilation_s: float
    transmission_s: float
    congestion_s: float
    reconfiguration_s: float

    @property
    def total_s(self) -> float:
        """Completion time."""
        return sum(self)


def of_plan(made: Plan) -> Parts:
    """The parts of a plan's time; transmission is that of one circuit for each pair."""
    steps = made.steps
    hop_s = sum(step.propagation_s / step.hops for step in steps)
    hops_s = sum(step.propagation_s for step in steps)
    alone_s = sum(step.transmission_s / max(step.load, 1.0) for step in steps)
    bytes_s = sum(step.transmission_s for step in steps)
    dark_s = sum(step.reconfiguration_s for step in steps)
    return Parts(hop_s, hops_s - hop_s, alone_s, bytes_s - alone_s, dark_s)


def of_swing(start: Start, size: float) -> Parts:
    """The parts of Swing with one port."""
    hops_s, bytes_s = swing.parts_s(start, size)
    hop_s = hops_s * len(swing.steps(start)) / sum(one.hops for one in swing.steps(start))
    alone_s = bytes_s / swing.congestion(start)
    return Parts(hop_s, hops_s - hop_s, alone_s, bytes_s - alone_s, 0.0)


def draw_parts(picture: Picture, found: Mapping[str, Mapping[str, Parts]]) -> None:
    """A panel for each topology, `found[topology][scheme]`, with stacked bars."""
    from lightloom.views.charts import bars
    from lightloom.views.fitting import legend_above
    from lightloom_papers.looks import term_looks

    colours = term_looks(PARTS)
    picture.set_size_inches(2.9 * len(found), 4.4)
    all_axes = picture.subplots(1, len(found), squeeze=False)[0]
    for axes, (topology, schemes) in zip(all_axes, found.items(), strict=True):
        series = {part: [parts[index] for parts in schemes.values()] for index, part in enumerate(PARTS)}
        bars(axes, [name.replace(", ", ",\n") for name in schemes], series, stacked=True, looks=colours)
        axes.set_title(topology, fontsize=10)
        axes.tick_params(axis="y", labelsize=8)
    all_axes[0].set_ylabel("completion time")
    handles, labels = all_axes[0].get_legend_handles_labels()
    legend_above(picture, handles, labels)


def parts_table(found: Mapping[str, Mapping[str, Parts]]) -> dict[str, Sequence[Any]]:
    """A row for each topology, scheme and part."""
    rows = [
        (topology, scheme, part, seconds)
        for topology, schemes in found.items()
        for scheme, parts in schemes.items()
        for part, seconds in zip(PARTS, parts, strict=True)
    ]
    columns: tuple[Sequence[Any], ...] = tuple(zip(*rows, strict=True))
    return dict(zip(("topology", "scheme", "part", "time_s"), columns, strict=True))
