"""Modules under their old names: `import lightloom.files` gives `lightloom.base.files`, which is the same module."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

# The names below `lightloom` that moved to a folder, by the folder.
MOVED = {
    "base": "errors extras files frames plugins",
    "calibration": "least_squares measurements regimes student",
    "optics": "fibres mesh_light meshes port_maps",
    "planning": "all_to_all bounds problem sequence_checks sequences sizes",
    "plans": "comparison steps transfers",
    "simulation": "differences",
    "sweeps": "benchmark_runs benchmarks",
}
# Folders whose modules went to others. They have no modules of their own.
GONE = {"exports", "inputs.schedules", "traces"}
# Every old name below `lightloom`, and the new one.
OLD_NAMES = {name: f"{folder}.{name}" for folder, names in MOVED.items() for name in names.split()} | {
    "unfinished": "base.temporary_files",
    "cli.measuring": "cli.measurements",
    "exporting": "formats.export",
    "exports.astra_sim": "formats.astra_sim.write",
    "exports.buffers": "formats.buffers",
    "exports.chakra": "formats.chakra.write",
    "exports.circuits": "formats.side_files",
    "exports.exported": "formats.output",
    "exports.graphml": "formats.graphml.write",
    "exports.harvest": "formats.harvest.write",
    "exports.htsim": "formats.htsim.write",
    "exports.msccl_program": "formats.msccl_xml.program",
    "exports.msccl_runtimes": "formats.msccl_xml.runtimes",
    "exports.msccl_xml": "formats.msccl_xml.write",
    "exports.mscclpp": "formats.mscclpp.write",
    "exports.mscclpp_program": "formats.mscclpp.program",
    "exports.parcels": "formats.parcels",
    "exports.rccl": "formats.rccl.write",
    "exports.size_range": "formats.size_range",
    "inputs.schedules.chakra": "formats.chakra.read",
    "inputs.schedules.harvest": "formats.harvest.read",
    "inputs.schedules.harvest_topologies": "formats.harvest_schedule.read",
    "inputs.schedules.htsim": "formats.htsim.read",
    "inputs.schedules.links": "formats.links",
    "inputs.schedules.msccl": "formats.msccl_xml.read",
    "inputs.schedules.reading": "formats.schedules",
    "inputs.schedules.source": "formats.source",
    "inputs.schedules.teccl": "formats.teccl.read",
    "inputs.validation": "base.whole_numbers",
    "inputs.workloads.aicb": "formats.aicb.workload",
    "inputs.workloads.asked": "formats.workload_options",
    "inputs.workloads.chakra": "formats.chakra.workload",
    "inputs.workloads.chakra_joining": "formats.chakra.joint_graph",
    "inputs.workloads.flatbuffer": "formats.topoopt.flatbuffer",
    "inputs.workloads.ordering": "formats.node_order",
    "inputs.workloads.reading": "inputs.workloads.files",
    "inputs.workloads.topoopt": "formats.topoopt.workload",
    "page.asked": "page.arguments",
    "page.interface.answered": "page.interface.answers",
    "page.interface.asked": "page.interface.arguments",
    "page.offered": "page.offer",
    "page.parsing": "page.parser",
    "page.serving": "page.server",
    "page.work.made": "page.work.results",
    "running.prepared": "running.preparation",
    "schemas.judged": "schemas.judgements",
    "schemas.measured": "schemas.measurements",
    "schemas.planned": "schemas.plans",
    "schemas.reported": "schemas.reports",
    "simulating": "simulation.simulator",
    "sweeps.ranges": "inputs.ranges",
    "sweeps.trained": "sweeps.iterations",
    "sweeps.workers": "base.threads",
    "traces.archives": "formats.chakra.archives",
    "traces.building": "formats.chakra.construction",
    "traces.checks": "planning.trace_checks",
    "traces.files": "formats.chakra.files",
    "traces.inferred": "formats.chakra.inference",
    "traces.schedule": "formats.chakra.schedule",
    "traces.schema": "formats.chakra.schema",
    "traces.stated": "formats.chakra.statement",
    "traces.trace": "formats.chakra.trace",
    "training.message_paths": "simulation.message_paths",
    "training.port_uses": "simulation.port_uses",
    "training.retimed": "simulation.retiming",
    "training.simulated": "simulation.iterations",
}


class OldNames:
    """Finder of the import system for the old names of modules; it comes last, since no file has these names."""

    @classmethod
    def find_spec(
        cls, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The import that replaces an old name; None for other names."""
        top, _, name = fullname.partition(".")
        if top != "lightloom" or name not in OLD_NAMES.keys() | GONE:
            return None
        return ModuleSpec(fullname, cls, is_package=name in GONE)  # type: ignore[arg-type]  # `importlib.abc` costs time

    @staticmethod
    def create_module(_spec: ModuleSpec) -> None:
        """A module as Python makes it, for the time until the one of the new name takes its place."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Put the module of the new name in its place."""
        new = OLD_NAMES.get(module.__name__.partition(".")[2])
        if new is not None:
            sys.modules[module.__name__] = import_module(f"lightloom.{new}")
