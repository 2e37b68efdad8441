"""Benchmarks: settings in which planners are compared at many sizes and reconfiguration delays.

A benchmark is a list of series; a series is one collective on one fabric at every pair of a size and a delay. Other
distributions bring them, by entry points of group `lightloom.benchmarks`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightloom.base import plugins
from lightloom.base.errors import refuse, shown, unknown_name
from lightloom.inputs.quantities import seconds_of
from lightloom.inputs.requests import buffer_bytes
from lightloom.plans.comparison import UNCHANGING

if TYPE_CHECKING:
    from lightloom.inputs.fabric import Fabric

__all__ = ["Benchmark", "BenchmarkSeries", "all_benchmarks", "find_benchmark"]

# Compared at every point: the best of the planners that are given an algorithm, the best of all, and the best whose
# circuits never change.
PLANNERS = ("auto-given", "auto", UNCHANGING)
FILE_NAME = re.compile(r"\w[\w-]{0,99}", re.ASCII)


@dataclass(frozen=True)
class BenchmarkSeries:
    """One collective on one fabric: the settings of every point, and the points.

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
    def folder(self) -> str:
        """The label as the name of a sweep and of its folder."""
        return re.sub(r"[^a-z0-9]+", "-", str(self.label).lower()).strip("-")

    @property
    def description(self) -> dict[str, Any]:
        """The sweep of its points: by each of `PLANNERS`."""
        matrix = {} if self.matrix is None else {"matrix": self.matrix}
        return {
            "name": self.folder,
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
    """The settings of an evaluation: its name, a summary, the paper's section, and its series.

    Files and folders have its name. Raises `InputError` that names the field.
    """

    name: str
    summary: str
    source: str
    series: tuple[BenchmarkSeries, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not FILE_NAME.fullmatch(self.name):
            raise refuse("name", f"`{shown(self.name)}` is not accepted; it takes letters, digits, - and _")
        if not isinstance(self.series, tuple) or not self.series:
            raise refuse("series", f"`{shown(self.series)}` is not accepted; it takes a tuple of series")
        folders: set[str] = set()
        for series in self.series:
            if not isinstance(series, BenchmarkSeries) or not series.sizes or not series.delays:
                raise refuse("series", f"`{shown(series)}` is not accepted; it takes series of sizes and delays")
            if not series.folder or series.folder in folders:
                raise refuse(
                    "label", f"`{shown(series.label)}` makes no folder name of its own; it takes another label"
                )
            folders.add(series.folder)

    @property
    def plans(self) -> int:
        """The number of plans that it needs."""
        return len(PLANNERS) * sum(len(series.points) for series in self.series)


def all_benchmarks() -> list[Benchmark]:
    """The benchmarks of every distribution that is installed. Raises `PluginError` for one that does not load."""
    known, failure = _installed()
    if failure is not None:
        raise failure
    return known


def find_benchmark(name: str) -> Benchmark:
    """The benchmark of that name. Raises `InputError` that lists the names.

    If no benchmark that loads has that name, raises `PluginError` for a distribution whose benchmarks do not load.
    """
    known, failure = _installed()
    for benchmark in known:
        if benchmark.name == name:
            return benchmark
    if failure is not None:
        raise failure
    if not known:
        raise refuse(
            "benchmark", "no benchmarks are installed; those of five papers come with: pip install lightloom-papers"
        )
    raise unknown_name("benchmark", name, [benchmark.name for benchmark in known])


def _installed() -> tuple[list[Benchmark], plugins.PluginError | None]:
    """The benchmarks that load, and the error of the first distribution whose benchmarks do not."""
    known: list[Benchmark] = []
    failure: plugins.PluginError | None = None
    for entry in plugins.brought(plugins.BENCHMARKS).values():
        try:
            loaded = plugins.load(entry)
            if not isinstance(loaded, (list, tuple)) or not all(isinstance(one, Benchmark) for one in loaded):
                raise plugins.broken(entry, f"`{entry.value}` is not a sequence of benchmarks")
        except plugins.PluginError as error:
            failure = failure or error
        else:
            known += loaded
    return known, failure
