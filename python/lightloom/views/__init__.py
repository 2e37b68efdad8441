"""Views of results: tables, pictures, traces and HTML. `VIEWS` has those that are methods of results."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# The functions, below this folder, that make what methods of results show. Nothing is imported before it is needed.
VIEWS = {
    "Adaptation.plot": "pictures.adaptation.plot_adaptation",
    "Advice.plot": "pictures.advice.plot_advice",
    "BarrierCosts.plot": "pictures.barriers.plot_barriers",
    "Bounds._repr_html_": "notebook.bounds_html",
    "BreakEven.plot": "pictures.break_even.plot_break_even",
    "Calibration.plot": "pictures.calibration.plot_calibration",
    "Circuits._repr_html_": "notebook.circuits_html",
    "Circuits.plot": "pictures.circuits.plot_circuits",
    "Comparison._repr_html_": "notebook.comparison_html",
    "FaultCosts.plot": "pictures.fault_costs.plot_fault_costs",
    "IterationMeasurement.plot": "pictures.iteration_run.plot_iteration_run",
    "JobPlacements.plot": "pictures.jobs.plot_jobs",
    "Measurement.plot": "pictures.run.plot_run",
    "Measurement.trace": "perfetto.run.write_run_trace",
    "MeshRouting.plot": "pictures.mesh.plot_mesh",
    "Plan._repr_html_": "notebook.plan_html",
    "Plan.plot": "pictures.plan.plot_plan",
    "PlanTable.plot": "pictures.plan_table.plot_plan_table",
    "RobustPlan.plot": "pictures.robust.plot_robust",
    "SampledPlan.plot": "pictures.samples.plot_sampled_plan",
    "SampledPlans.plot": "pictures.samples.plot_sampled_plans",
    "Simulation._repr_html_": "notebook.simulation_html",
    "Simulation.plot": "pictures.simulation.plot_simulation",
    "Simulation.trace": "perfetto.simulation.write_trace",
    "SizeTable._repr_html_": "notebook.sizes_html",
    "Step._repr_html_": "notebook.step_html",
    "SweepResult._repr_html_": "notebook.sweep_html",
    "SweepResult.plot": "pictures.sweep.draw_sweep",
    "Timeline.plot": "pictures.timeline.plot_timeline",
    "Training._repr_html_": "notebook.training_html",
    "Training.plot": "pictures.training.plot_training",
    "Training.trace": "perfetto.training.write_training_trace",
}


def view(name: str) -> Callable[..., Any]:
    """The function that makes the view of a name in `VIEWS`."""
    module, _, function = VIEWS[name].rpartition(".")
    made: Callable[..., Any] = getattr(import_module(f"{__name__}.{module}"), function)
    return made
