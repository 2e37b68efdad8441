"""Benchmarks: settings in which planners are compared at many sizes and reconfiguration delays.

A benchmark is a list of series; a series is one collective on one fabric at every pair of a size and a delay. Other
distributions bring them, by entry points of group `lightloom.benchmarks`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightloom import plugins
from lightloom.errors import refuse, unknown_name
from lightloom.inputs.quantities import seconds_of
from lightloom.inputs.requests import buffer_bytes

if TYPE_CHECKING:
    from lightloom.inputs.fabric import Fabric

__all__ = ["Benchmark", "BenchmarkSeries", "all_benchmarks", "find_benchmark"]

# Compared at every point: the best of the planners that are given an algorithm, and the best of all.
PLANNERS = ("auto-given", "auto")


@dataclass(frozen=True)
class BenchmarkSeries:
    """One collective on one fabric: what is planned at every point, and the points.

    sizes: one rank's whole buffers, or per pair; delays: reconfiguration delays. Text, as the command line takes it.
    """

    label: str
    collective: str
    fabric: Fabric
    sizes: tuple[str, ...]
    delays: tuple[str, ...]
    convention: str = "harvest"
    matrix: str | None = None

    @property
    def description(self) -> dict[str, Any]:
        """The sweep of its points: by the best of the planners that are given an algorithm, then by the best of all."""
        matrix = {} if self.matrix is None else {"matrix": self.matrix}
        return {
            "name": re.sub(r"[^a-z0-9]+", "-", self.label.lower()).strip("-"),
            "summary": self.label,
            "metrics": ["time", "gap", "reconfigurations"],
            "settings": {
                "collective": self.collective,
                "convention": self.convention,
                **matrix,
                **self.fabric.to_settings(),
            },
            "axes": {"planner": list(PLANNERS), "size": list(self.sizes), "reconfiguration_delay": list(self.delays)},
        }

    @property
    def points(self) -> list[tuple[int, float]]:
        """Bytes of one rank's whole buffer and seconds, sizes varying slowest."""
        gpus = self.fabric.sized().gpus or 1
        return [
            (buffer_bytes("size", size, self.collective, gpus), seconds_of("delay", delay))
            for size in self.sizes
            for delay in self.delays
        ]


@dataclass(frozen=True)
class Benchmark:
    """The settings of an evaluation: its name, what it is of, where that is described, and its series."""

    name: str
    summary: str
    source: str
    series: tuple[BenchmarkSeries, ...]

    @property
    def plans(self) -> int:
        """How many plans it takes."""
        return len(PLANNERS) * sum(len(series.points) for series in self.series)


def all_benchmarks() -> list[Benchmark]:
    """The benchmarks of every distribution that is installed. Raises `PluginError` for one that does not load."""
    return [benchmark for entry in plugins.brought(plugins.BENCHMARKS).values() for benchmark in plugins.load(entry)]


def find_benchmark(name: str) -> Benchmark:
    """The benchmark of that name. Raises `InputError` that lists the names; `PluginError` as `all_benchmarks`."""
    known = all_benchmarks()
    for benchmark in known:
        if benchmark.name == name:
            return benchmark
    if not known:
        raise refuse("benchmark", "none is installed; those of five papers come with: pip install lightloom-papers")
    raise unknown_name("benchmark", name, [benchmark.name for benchmark in known])
