"""The table that the verb `simulate` prints for an iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import show_time
from lightloom.views.policy_titles import title_of
from lightloom.views.tables.page import heading, render, table
from lightloom.views.tables.simulation import settings_line

if TYPE_CHECKING:
    from lightloom.simulation.iterations import TrainingSimulation


def training_simulation_table(simulation: TrainingSimulation) -> str:
    """The simulated and the planned time of an iteration, and the times of its events by axis or group."""
    training = simulation.training
    against = _ratio(simulation.total_s, simulation.predicted_total_s)
    title = f"{training.name or 'an iteration'} on {training.ranks} ranks ({title_of(training.policy)})"
    made = table("events of", "simulated", "plan", "ratio", right=("simulated", "plan", "ratio"), footer=True)
    for label, (simulated_s, predicted_s) in simulation.by_label.items():
        made.add_row(label, show_time(simulated_s), show_time(predicted_s), _ratio(simulated_s, predicted_s))
    footers = ["iteration", show_time(simulation.total_s), show_time(simulation.predicted_total_s), against]
    for column, text in zip(made.columns, footers, strict=True):
        column.footer = text
    sent = f"{simulation.packets:,} packets, {simulation.packet_hops:,} over all circuits on their paths"
    return render(
        heading(f"{title}: simulated {show_time(simulation.total_s)}, {against} of the plan's"),
        Text(settings_line(simulation.settings)),
        made,
        Text(f"{sent}; events may overlap"),
    )


def _ratio(simulated_s: float, predicted_s: float) -> str:
    return f"{simulated_s / predicted_s:.1%}" if predicted_s else "-"
