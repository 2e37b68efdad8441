"""Lightloom plans collective communication on fabrics whose topology can change while the collective runs.

import lightloom as ll
fabric = ll.Fabric(gpus=64, reconfiguration_delay="10us")
plan = ll.plan("all-reduce", size="64MiB", fabric=fabric)
plan.total_s, plan.lower_bound_s, plan.reconfigurations
ll.simulate(plan).total_s
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightloom._core import Schedule, Statement, Topology, __version__
    from lightloom.bounds import Bounds, bound
    from lightloom.calibration import Calibration, calibrate
    from lightloom.comparison import Comparison
    from lightloom.errors import InputError
    from lightloom.exact import exact_plan
    from lightloom.exporting import Export, export
    from lightloom.fibres import FibreRouting, route_fibres
    from lightloom.inputs.fabric import Fabric
    from lightloom.inputs.graphs import from_networkx, to_networkx
    from lightloom.inputs.optics import Optics
    from lightloom.meshes import Mesh, MeshRouting, route_mesh
    from lightloom.planning import compare, plan, profile, verify
    from lightloom.plans import Plan
    from lightloom.port_maps import Circuits, circuits
    from lightloom.problem import Problem
    from lightloom.running.executor import Executor, run
    from lightloom.running.measurement import Measurement
    from lightloom.simulating import simulate
    from lightloom.simulation import Simulation
    from lightloom.sizes import SizeTable, plan_sizes
    from lightloom.steps import Step
    from lightloom.sweeps import SweepResult, sweep
    from lightloom.training.planning import train
    from lightloom.training.result import Training
    from lightloom.training.workload import Workload

# Where each public name lives. They are imported on first use, so that `import lightloom` costs nothing.
_HOMES = {
    "Bounds": "bounds",
    "Calibration": "calibration",
    "Circuits": "port_maps",
    "Comparison": "comparison",
    "Executor": "running.executor",
    "Export": "exporting",
    "Fabric": "inputs.fabric",
    "FibreRouting": "fibres",
    "InputError": "errors",
    "Measurement": "running.measurement",
    "Mesh": "meshes",
    "MeshRouting": "meshes",
    "Optics": "inputs.optics",
    "Plan": "plans",
    "Problem": "problem",
    "Schedule": "_core",
    "Simulation": "simulation",
    "SizeTable": "sizes",
    "Statement": "_core",
    "Step": "steps",
    "SweepResult": "sweeps",
    "Topology": "_core",
    "Training": "training.result",
    "Workload": "training.workload",
    "__version__": "_core",
    "bound": "bounds",
    "calibrate": "calibration",
    "circuits": "port_maps",
    "compare": "planning",
    "exact_plan": "exact",
    "export": "exporting",
    "from_networkx": "inputs.graphs",
    "plan": "planning",
    "plan_sizes": "sizes",
    "profile": "planning",
    "route_fibres": "fibres",
    "route_mesh": "meshes",
    "run": "running.executor",
    "simulate": "simulating",
    "sweep": "sweeps",
    "to_networkx": "inputs.graphs",
    "train": "training.planning",
    "verify": "planning",
}

__all__ = [
    "Bounds",
    "Calibration",
    "Circuits",
    "Comparison",
    "Executor",
    "Export",
    "Fabric",
    "FibreRouting",
    "InputError",
    "Measurement",
    "Mesh",
    "MeshRouting",
    "Optics",
    "Plan",
    "Problem",
    "Schedule",
    "Simulation",
    "SizeTable",
    "Statement",
    "Step",
    "SweepResult",
    "Topology",
    "Training",
    "Workload",
    "__version__",
    "bound",
    "calibrate",
    "circuits",
    "compare",
    "exact_plan",
    "export",
    "from_networkx",
    "plan",
    "plan_sizes",
    "profile",
    "route_fibres",
    "route_mesh",
    "run",
    "simulate",
    "sweep",
    "to_networkx",
    "train",
    "verify",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module `lightloom` has no attribute `{name}`")
    value = getattr(import_module(f"lightloom.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
