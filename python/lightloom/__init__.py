"""Lightloom plans collective communication on fabrics whose topology can change while the collective runs.

import lightloom as ll
fabric = ll.Fabric(gpus=64, reconfiguration_delay="10us")
plan = ll.plan("all-reduce", size="64MiB", fabric=fabric)
plan.total_s, plan.lower_bound_s, plan.reconfigurations
ll.simulate(plan).total_s
"""

from __future__ import annotations

import sys as _sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lightloom.base.old_names import OLD_NAMES as _OLD_NAMES
from lightloom.base.old_names import OldNames as _OldNames
from lightloom.base.views import provide as _provide

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom._core import Schedule, Statement, Topology, __version__
    from lightloom.advice.recommendation import advise
    from lightloom.advice.result import Advice
    from lightloom.base.errors import InputError
    from lightloom.calibration import Calibration, calibrate
    from lightloom.clocks.planning import timeline
    from lightloom.clocks.runs.executor import run_timeline
    from lightloom.clocks.timeline import Timeline
    from lightloom.exact import exact_plan
    from lightloom.faults.costs import FaultCosts, fault_costs
    from lightloom.faults.fallbacks import Fallbacks, fallbacks
    from lightloom.faults.repair import Repair, repair
    from lightloom.formats.export import Export
    from lightloom.inputs.fabric import Fabric
    from lightloom.inputs.graphs import from_networkx, to_networkx
    from lightloom.inputs.optics import Optics
    from lightloom.jobs.placement import place_jobs
    from lightloom.jobs.result import JobPlacements
    from lightloom.online.adaptation import Adaptation
    from lightloom.online.chooser import PlanChooser
    from lightloom.online.preparing import plan_table
    from lightloom.online.replay import adapt
    from lightloom.online.table import PlanTable
    from lightloom.optics.fibres import FibreRouting, route_fibres
    from lightloom.optics.mesh_layout import Mesh
    from lightloom.optics.meshes import MeshRouting, route_mesh
    from lightloom.optics.port_maps import Circuits, circuits
    from lightloom.planning import compare, plan, profile, verify
    from lightloom.planning.bounds import Bounds, bound
    from lightloom.planning.problem import Problem
    from lightloom.planning.sizes import SizeTable, plan_sizes
    from lightloom.plans import Plan
    from lightloom.plans.comparison import Comparison
    from lightloom.plans.steps import Step
    from lightloom.robustness.result import RobustPlan
    from lightloom.robustness.robust import robust
    from lightloom.running.executor import Executor, run
    from lightloom.running.iterations.executor import run_iteration
    from lightloom.running.iterations.measurement import IterationMeasurement
    from lightloom.running.measurement import Measurement
    from lightloom.simulation import Simulation
    from lightloom.simulation.simulator import simulate
    from lightloom.sweeps import SweepResult, sweep
    from lightloom.training.exports import export
    from lightloom.training.layouts import Layouts, best_layout
    from lightloom.training.planning import train
    from lightloom.training.result import Training
    from lightloom.training.workload import Workload
    from lightloom.uncertainty.result import SampledPlan, SampledPlans
    from lightloom.uncertainty.sampling import sample, sample_plans

# Where each public name lives. They are imported on first use, so that `import lightloom` costs nothing.
_HOMES = {
    "Adaptation": "online.adaptation",
    "Advice": "advice.result",
    "Bounds": "planning.bounds",
    "Calibration": "calibration",
    "Circuits": "optics.port_maps",
    "Comparison": "plans.comparison",
    "Executor": "running.executor",
    "Export": "formats.export",
    "Fabric": "inputs.fabric",
    "Fallbacks": "faults.fallbacks",
    "FaultCosts": "faults.costs",
    "FibreRouting": "optics.fibres",
    "InputError": "base.errors",
    "IterationMeasurement": "running.iterations.measurement",
    "Layouts": "training.layouts",
    "JobPlacements": "jobs.result",
    "Measurement": "running.measurement",
    "Mesh": "optics.mesh_layout",
    "MeshRouting": "optics.meshes",
    "Optics": "inputs.optics",
    "Plan": "plans",
    "PlanChooser": "online.chooser",
    "PlanTable": "online.table",
    "Problem": "planning.problem",
    "Repair": "faults.repair",
    "RobustPlan": "robustness.result",
    "SampledPlan": "uncertainty.result",
    "SampledPlans": "uncertainty.result",
    "Schedule": "_core",
    "Simulation": "simulation",
    "SizeTable": "planning.sizes",
    "Statement": "_core",
    "Step": "plans.steps",
    "SweepResult": "sweeps",
    "Timeline": "clocks.timeline",
    "Topology": "_core",
    "Training": "training.result",
    "Workload": "training.workload",
    "__version__": "_core",
    "adapt": "online.replay",
    "advise": "advice.recommendation",
    "best_layout": "training.layouts",
    "bound": "planning.bounds",
    "calibrate": "calibration",
    "circuits": "optics.port_maps",
    "compare": "planning",
    "exact_plan": "exact",
    "export": "training.exports",
    "fallbacks": "faults.fallbacks",
    "fault_costs": "faults.costs",
    "from_networkx": "inputs.graphs",
    "place_jobs": "jobs.placement",
    "plan": "planning",
    "plan_sizes": "planning.sizes",
    "plan_table": "online.preparing",
    "profile": "planning",
    "repair": "faults.repair",
    "robust": "robustness.robust",
    "route_fibres": "optics.fibres",
    "route_mesh": "optics.meshes",
    "run": "running.executor",
    "run_iteration": "running.iterations.executor",
    "run_timeline": "clocks.runs.executor",
    "sample": "uncertainty.sampling",
    "sample_plans": "uncertainty.sampling",
    "simulate": "simulation.simulator",
    "sweep": "sweeps",
    "timeline": "clocks.planning",
    "to_networkx": "inputs.graphs",
    "train": "training.planning",
    "verify": "planning",
}

__all__ = [
    "Adaptation",
    "Advice",
    "Bounds",
    "Calibration",
    "Circuits",
    "Comparison",
    "Executor",
    "Export",
    "Fabric",
    "Fallbacks",
    "FaultCosts",
    "FibreRouting",
    "InputError",
    "IterationMeasurement",
    "JobPlacements",
    "Layouts",
    "Measurement",
    "Mesh",
    "MeshRouting",
    "Optics",
    "Plan",
    "PlanChooser",
    "PlanTable",
    "Problem",
    "Repair",
    "RobustPlan",
    "SampledPlan",
    "SampledPlans",
    "Schedule",
    "Simulation",
    "SizeTable",
    "Statement",
    "Step",
    "SweepResult",
    "Timeline",
    "Topology",
    "Training",
    "Workload",
    "__version__",
    "adapt",
    "advise",
    "best_layout",
    "bound",
    "calibrate",
    "circuits",
    "compare",
    "exact_plan",
    "export",
    "fallbacks",
    "fault_costs",
    "from_networkx",
    "place_jobs",
    "plan",
    "plan_sizes",
    "plan_table",
    "profile",
    "repair",
    "robust",
    "route_fibres",
    "route_mesh",
    "run",
    "run_iteration",
    "run_timeline",
    "sample",
    "sample_plans",
    "simulate",
    "sweep",
    "timeline",
    "to_networkx",
    "train",
    "verify",
]


def _view(name: str) -> Callable[..., Any]:
    from lightloom.widgets import view

    return view(name)


_provide(_view)
_sys.meta_path.append(_OldNames)


def __getattr__(name: str) -> object:
    if name in _OLD_NAMES:
        return import_module(f"lightloom.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module `lightloom` has no attribute `{name}`")
    value = getattr(import_module(f"lightloom.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
