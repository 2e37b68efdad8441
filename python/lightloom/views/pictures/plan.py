"""A plan as a picture: its topologies in the order of use, over the costs of the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom._core import counted, show_time
from lightloom.plans.steps import TERMS, stated_terms
from lightloom.views.axis_units import plain
from lightloom.views.charts import check_plot_path, save, show_heights
from lightloom.views.fitting import CAPTION, settle
from lightloom.views.palette import TERM_COLOURS
from lightloom.views.pictures.topology import Forwarding, draw_topology
from lightloom.views.tables.problem import what_is_planned
from lightloom.views.tables.step_groups import StepGroup, group_steps

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom.plans import Plan
    from lightloom.plans.steps import Step

# Topologies that are drawn, and those of them that have room next to the costs.
MAX_DIAGRAMS, MOST_BESIDE = 8, 2
# Bars of a step each, or of a run of equal steps.
MAX_BARS = 40


def plot_plan(plan: Plan, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture of a plan, written to a PNG, PDF or SVG file where one is named.

    Raises `InputError` that names `plot` when the file cannot be written.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    used: dict[int, list[Step]] = {}
    for step in plan.steps:
        used.setdefault(step.topology_index, []).append(step)
    diagrams = list(used.items())[:MAX_DIAGRAMS]
    # Few topologies stand next to the costs, more in a row above them.
    beside = len(diagrams) <= MOST_BESIDE
    figure = Figure(figsize=(12, 4.2 if beside else 6.5), layout="constrained")
    if beside:
        grid = figure.add_gridspec(1, len(diagrams) + 1, width_ratios=[1] * len(diagrams) + [4 - len(diagrams)])
    else:
        grid = figure.add_gridspec(2, len(diagrams), height_ratios=(1, 1.6))
    topologies = plan.topologies
    forwarding = _forwarding(plan)
    for column, (index, steps) in enumerate(diagrams):
        axes = figure.add_subplot(grid[0, column])
        words = draw_topology(axes, topologies[index], forwarding)
        said = f"step{'s' if len(steps) > 1 else ''} {_numbers([step.index + 1 for step in steps])}"
        axes.set_title(f"{said}\n{plain(steps[0].topology_name)}", fontsize=9)
        axes.text(
            0.5, -0.02, words, transform=axes.transAxes, ha="center", va="top", fontsize=7, color="0.3", gid=CAPTION
        )
    _draw_costs(figure.add_subplot(grid[0, -1] if beside else grid[1, :]), plan)
    left = len(used) - len(diagrams)
    more = f" ({counted(left, 'more topology')} not drawn)" if left else ""
    figure.suptitle(
        f"{what_is_planned(plan, plan.root, plan.members)} ({plain(plan.algorithm)}, {plain(plan.planner)}): "
        f"{show_time(plan.total_s)}, {counted(plan.reconfigurations, 'reconfiguration')}{more}",
        fontsize=11,
    )
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _forwarding(plan: Plan) -> Forwarding | None:
    """The GPUs of a plan whose other GPUs forward, in the order in which its topologies number them."""
    ranks = plan.ranks
    if ranks is None or plan.gpus == len(ranks):
        return None
    return Forwarding([*ranks, *sorted(set(range(plan.gpus)) - set(ranks))], len(ranks))


def _numbers(steps: list[int], most: int = 3) -> str:
    """`1–7, 22–28`."""
    runs: list[list[int]] = []
    for number in steps:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    words = [str(first) if first == last else f"{first}–{last}" for first, last in runs]
    return ", ".join(words[:most] + (["…"] if len(words) > most else []))


def _draw_costs(axes: Axes, plan: Plan) -> None:
    """A bar a step or a run of equal steps: the terms on top of each other."""
    groups = group_steps(plan.steps, _appearance, MAX_BARS)
    below = [0.0] * len(groups)
    terms = [term.removesuffix("_s") for term in stated_terms(plan.steps)]
    for term in terms:
        # The mean of the steps of a bar that are not equal.
        heights = [group.total(f"{term}_s") / len(group.steps) for group in groups]
        axes.bar(range(len(groups)), heights, bottom=below, width=0.85, color=TERM_COLOURS[term], label=term)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    several = any(len(group.steps) > 1 for group in groups)
    axes.set_xticks(range(len(groups)), [_group_label(group) for group in groups], fontsize=8)
    show_heights(axes, "time", log=False, base=0.0)
    equal = all(len({_appearance(step) for step in group.steps}) == 1 for group in groups)
    axes.set_ylabel("time of a step" if equal else "time of a step, mean of a bar's")
    axes.set_xlabel("step (runs of equal steps are one bar)" if several and equal else "step")
    axes.set_xlim(-0.6, max(len(groups) - 0.4, 3.6))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(ncols=len(terms), frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1.0))


def _appearance(step: Step) -> tuple[object, ...]:
    """The properties of a step that a bar shows."""
    return step.topology_index, *(getattr(step, term) for term in TERMS)


def _group_label(group: StepGroup[Step]) -> str:
    return group.numbers if len(group.steps) == 1 else f"{group.numbers}\n×{len(group.steps)}"
