"""Benchmarks: settings in which planners are compared at many sizes and reconfiguration delays.

A benchmark is a list of series; a series is one collective on one fabric at every pair of a size and a delay. Other
distributions bring them, by entry points of group `lightloom.benchmarks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lightloom import plugins
from lightloom.errors import refuse, unknown_name
from lightloom.quantities import seconds_of
from lightloom.requests import buffer_bytes

if TYPE_CHECKING:
    from lightloom.fabric import Fabric
    from lightloom.inputs.options import Settings

__all__ = ["Benchmark", "BenchmarkSeries", "all_benchmarks", "find_benchmark"]


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
    def settings(self) -> Settings:
        """What `plan` takes beside the collective, the size and the fabric."""
        return {"convention": self.convention, "matrix": self.matrix}

    @property
    def points(self) -> list[tuple[int, float]]:
        """Bytes of one rank's whole buffer and seconds, sizes varying slowest."""
        gpus = self.fabric.sized().gpus or 1
        return [(buffer_bytes(size, gpus), seconds_of("delay", delay)) for size in self.sizes for delay in self.delays]


@dataclass(frozen=True)
class Benchmark:
    """The settings of an evaluation: its name, what it is of, where that is described, and its series."""

    name: str
    summary: str
    source: str
    series: tuple[BenchmarkSeries, ...]


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
