"""The table that the verb `simulate` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from lightloom._core import counted, show_size, show_time
from lightloom.views.tables.explanations import explanation_lines
from lightloom.views.tables.page import bar, heading, render, table
from lightloom.views.tables.problem import what_is_planned
from lightloom.views.tables.step_groups import group_steps, reconfiguration_caption

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from lightloom._core import CircuitTotals, SimulatedStep
    from lightloom.simulation import Simulation, SimulationSettings
    from lightloom.views.tables.step_groups import StepGroup

COLUMNS = ("step", "topology", "start", "reconfig.", "simulated", "plan", "ratio", "")
RIGHT = COLUMNS[:1] + COLUMNS[2:-1]
# Parts of the difference below this share of the time are not worth a line; nobody could read them in the digits.
NIL = 5e-5


def simulation_table(simulation: Simulation, *, all_steps: bool = False) -> str:
    """A simulation, a row per run of equal steps, the data sent, and the parts of the difference to the plan.

    all_steps: a row per step.
    """
    return render(*simulation_parts(simulation, all_steps=all_steps), *map(Text, _differences(simulation)))


def simulation_parts(simulation: Simulation, *, all_steps: bool = False) -> list[RenderableType]:
    """The parts of `simulation_table` without the differences."""
    lines = [heading(_title(simulation)), Text(settings_line(simulation.settings))]
    below = [*explanation_lines(simulation.plan, simulation.steps, every=all_steps), "", *_summary(simulation)]
    return [*lines, _steps(simulation, all_steps=all_steps), *map(Text, below)]


def _title(simulation: Simulation) -> str:
    plan = simulation.plan
    ratio = _ratio(simulation.total_s, simulation.predicted_total_s)
    against = "as planned" if ratio == "100.0%" else f"{ratio} of the plan's {show_time(plan.total_s)}"
    return (
        f"{what_is_planned(plan, plan.root, plan.members)} ({plan.algorithm}, {plan.planner}): "
        f"simulated {show_time(simulation.total_s)}, {against}"
    )


def settings_line(settings: SimulationSettings) -> str:
    """The settings of a simulation, in a line."""
    header = f" + {show_size(settings.header_bytes)}" if settings.header_bytes else ""
    said = [f"{settings.level} level", f"packets of {show_size(settings.packet_bytes)}{header}"]
    if settings.level == "packet":
        said += [settings.injection, settings.forwarding]
    said += [
        f"{settings.sync}{f' of {show_time(settings.barrier_s)}' if settings.barrier_s else ''}",
        f"{settings.reconfiguration} reconfiguration",
        "no buffer limit" if settings.buffer_bytes is None else f"buffers of {show_size(settings.buffer_bytes)}",
    ]
    if settings.congestion_control != "none":
        said.append(settings.congestion_control)
    return ", ".join(said)


def _steps(simulation: Simulation, *, all_steps: bool) -> Table:
    groups = group_steps(simulation.steps, _appearance, all_steps=all_steps)
    made = table(*COLUMNS, right=RIGHT, footer=True)
    longest = max((_quotient(group.total("duration_s"), group.total("predicted_s")) for group in groups), default=1.0)
    for group in groups:
        made.add_row(*_row(group, max(longest, 1.0)))
    made.columns[1].footer = "whole plan"
    total_s, predicted_s = simulation.total_s, simulation.predicted_total_s
    dark_s = sum(step.reconfiguration_s for step in simulation.steps)
    footers = [show_time(dark_s) if dark_s else "-", show_time(total_s), show_time(predicted_s)]
    for column, text in zip(made.columns[3:7], [*footers, _ratio(total_s, predicted_s)], strict=True):
        column.footer = text
    notes = [reconfiguration_caption(groups)]
    if simulation.settings.sync == "dataflow":
        notes.append("a step lasts from when its first GPU is ready to the last bit received; steps may overlap")
    made.caption, made.caption_justify = "\n".join(note for note in notes if note), "left"
    return made


def _appearance(step: SimulatedStep) -> tuple[object, ...]:
    """The properties of a step that a row shows in addition to its number, topology and start."""
    return step.reconfigured, f"{step.duration_s:.6g} {step.predicted_s:.6g} {step.reconfiguration_s:.6g}"


def _row(group: StepGroup[SimulatedStep], longest: float) -> list[str | Text]:
    spent_s, predicted_s, dark_s = (group.total(name) for name in ("duration_s", "predicted_s", "reconfiguration_s"))
    return [
        group.numbers,
        group.marked_topologies,
        show_time(group.steps[0].start_s),
        show_time(dark_s) if dark_s else "-",
        show_time(spent_s),
        show_time(predicted_s),
        _ratio(spent_s, predicted_s),
        bar(_quotient(spent_s, predicted_s) / longest),
    ]


def _quotient(simulated_s: float, predicted_s: float) -> float:
    return simulated_s / predicted_s if predicted_s else 1.0


def _ratio(simulated_s: float, predicted_s: float) -> str:
    return f"{_quotient(simulated_s, predicted_s):.1%}"


def _summary(simulation: Simulation) -> list[str]:
    used = simulation.circuits()

    def size(size_bytes: float) -> str:
        return show_size(size_bytes, simulation.plan.size_bytes)

    lines = [
        f"packets      {simulation.packets:,} sent over {simulation.packet_hops:,} hops",
        f"bytes        {size(simulation.payload_bytes)} received, {size(simulation.wire_bytes)} on circuits",
    ]
    if len(used):
        busiest = int(np.argmax(used.utilisation))
        lines.append(
            f"utilisation  busiest circuit {_circuit(used, busiest)} {used.utilisation[busiest]:.2%}, "
            f"mean {used.utilisation.mean():.2%} of {len(used):,} circuits"
        )
        if simulation.settings.level == "packet":
            longest = int(np.argmax(used.queue_bytes))
            queue_bytes = int(used.queue_bytes[longest])
            at = f"{show_size(queue_bytes)} of forwarded packets waiting for {_circuit(used, longest)}"
            lines.append(f"queue        longest {at}" if queue_bytes else "queue        no packet is forwarded")
    if simulation.settings.congestion_control != "none":
        told = f", {counted(simulation.notifications, 'notification')}" if simulation.notifications else ""
        marked = counted(simulation.marked_packets, "marked packet")
        lines.append(f"congestion   {marked}{told}, {counted(simulation.decreases, 'cut')} of rates or windows")
    return lines


def _circuit(used: CircuitTotals, index: int) -> str:
    number = used.circuit[index]
    return f"{used.src[index]}→{used.dst[index]}" + (f" ({number + 1})" if number else "")


def _differences(simulation: Simulation) -> list[str]:
    total_s, predicted_s = simulation.total_s, simulation.predicted_total_s
    parts = [part for part in simulation.differences() if abs(part.seconds) > NIL * max(total_s, predicted_s)]
    rows = [("plan", show_time(predicted_s), "startup, propagation, transmission and reconfiguration added up")]
    rows += [(part.name, _signed(part.seconds), part.reason) for part in parts]
    rows.append(("simulated", show_time(total_s), "" if parts else "as the plan says"))
    names, times = (max(len(row[column]) for row in rows) for column in (0, 1))
    return [f"{name:<{max(names, 11)}}  {time:>{times}}  {reason}".rstrip() for name, time, reason in rows]


def _signed(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{show_time(abs(seconds))}"
