"""A series: one problem at points that differ in five numbers, by the cost model, or planned and simulated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from lightloom import _core
from lightloom.base.errors import InputError
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.matrix import busiest_bytes, read_matrix
from lightloom.inputs.options import FABRIC_KEYS
from lightloom.inputs.requests import PER_PAIR, build_request
from lightloom.planning import plan
from lightloom.simulation.simulator import simulate
from lightloom.sweeps.keys import NUMBERS, SIMULATION_KEYS
from lightloom.sweeps.outside_files import located

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from lightloom.sweeps.keys import Value


# Bytes of one GPU's buffer that floats count exactly; the core takes no more.
MAX_BYTES = float(1 << 53)


class Named(NamedTuple):
    """Names of what was taken at a point; topologies in the order of the steps, None where they were not noted."""

    planner: str
    algorithm: str
    topologies: str | None


class Outcome(NamedTuple):
    """Outcomes of points of a series, an entry a point; NaN, and -1 reconfigurations, where there is no plan.

    choice: the index in `names` of the planner and the algorithm that were taken; reasons: by index, why there is no
    plan; simulated_s: None where nothing was simulated; lower_bound_s: None where it was not asked for; exposed_s and
    policies_s: exposed communication, and times by policy, of training iterations; never_change_s: of the best plans
    whose circuits never change, None where they are not found with the others, and never_change: of these what choice
    and circuits are of the best plans; circuits: the index in `topologies` of what the plan goes through, None where
    it was not noted.
    """

    total_s: NDArray[np.float64]
    reconfigurations: NDArray[np.int32]
    choice: NDArray[np.uint32]
    names: tuple[tuple[str, str], ...]
    reasons: dict[int, str]
    simulated_s: NDArray[np.float64] | None = None
    lower_bound_s: NDArray[np.float64] | None = None
    exposed_s: NDArray[np.float64] | None = None
    policies_s: Mapping[str, NDArray[np.float64]] | None = None
    never_change_s: NDArray[np.float64] | None = None
    never_change: tuple[NDArray[np.uint32], NDArray[np.uint32]] | None = None
    circuits: NDArray[np.uint32] | None = None
    topologies: tuple[str, ...] = ()

    def named(self, row: int, *, never_changes: bool = False) -> Named:
        """What was taken at a point that has a plan: of all, or of those whose circuits never change."""
        choice, circuits = (self.choice, self.circuits)
        if never_changes and self.never_change is not None:
            choice, circuits = self.never_change
        planner, algorithm = self.names[choice[row]]
        return Named(planner, algorithm, None if circuits is None else self.topologies[circuits[row]])


class Evaluator(Protocol):
    """An engine that computes the outcomes of points of a series."""

    def evaluate(self, numbers: Mapping[str, NDArray[np.float64]], *, bound: bool) -> Outcome:
        """The outcome at points given by the numbers that vary, by key of `NUMBERS`; `bound`: with lower bounds."""
        ...


class SeriesKey(NamedTuple):
    """The key of a series: all that determines it.

    settings: by key; numbers: the values of numbers that the description has, of the first point where they vary;
    per_pair: whether the size is that of a block between a pair; folder: where files are looked for; digest: of all
    that the sweep depends on, the contents of its files among it.
    """

    engine: str
    settings: tuple[tuple[str, Value], ...]
    numbers: tuple[tuple[str, float], ...]
    per_pair: bool
    folder: Path
    digest: str

    def arguments(self, numbers: Mapping[str, float]) -> dict[str, Any]:
        """The arguments of `plan`, with these numbers over the series' own."""
        settings = {key: located(key, value, self.folder) for key, value in self.settings if key not in SIMULATION_KEYS}
        values: dict[str, Any] = {**settings, **dict(self.numbers), **numbers}
        size = values.pop("size", None)
        if size is not None:
            # Sizes are whole bytes up to 2^53, which floats hold.
            values["size"] = f"{int(size)}B{PER_PAIR}" if self.per_pair else int(size)
        overrides = {key: values.pop(key) for key in FABRIC_KEYS if key in values}
        return {**values, "fabric": Fabric.load(values.pop("fabric", "default"), **overrides)}

    @property
    def simulation(self) -> dict[str, Any]:
        """The arguments of `simulate` other than the plan."""
        return {key: value for key, value in self.settings if key in SIMULATION_KEYS}


def evaluator_of(key: SeriesKey, cache: _core.Cache) -> Evaluator:
    """The evaluator of the series; series of one cache share. Raises `InputError` for a problem that nothing serves."""
    able = _core.capabilities(str(dict(key.settings).get("planner", "auto")))
    if key.engine != "model" or (able and able["calls_solver"]):
        return _PlannedSeries(key)
    matrix = dict(key.settings).get("matrix")
    if key.per_pair and matrix is not None and _core.is_workload(matrix):
        return _WorkloadSeries(key, cache)
    return _ModelSeries(key, cache)


class _ModelSeries:
    """Points of the cost model, by the core: the problem is prepared once."""

    def __init__(self, key: SeriesKey, cache: _core.Cache) -> None:
        self._key = key
        arguments = key.arguments({})
        fabric: Fabric = arguments["fabric"]
        self._arguments = arguments
        others = {name: value for name, value in arguments.items() if name not in {"collective", "size", "fabric"}}
        request = build_request(arguments.get("collective"), arguments.get("size"), fabric, **others, cache=cache)
        self._series = _core.Series(request)
        fastest_bps, least_hop_s = self._series.fastest
        self._own = {
            "size": math.nan,
            "startup": fabric.startup_s,
            "reconfiguration_delay": fabric.reconfiguration.fixed_s,
            **dict(key.numbers),
            "bandwidth": fastest_bps,
            "hop_delay": least_hop_s,
        }
        self._has_pairs = fabric.pair_rates is not None

    def evaluate(self, numbers: Mapping[str, NDArray[np.float64]], *, bound: bool) -> Outcome:
        """See `Evaluator`."""
        points = len(next(iter(numbers.values()))) if numbers else 1
        if self._has_pairs and not numbers.keys().isdisjoint({"bandwidth", "hop_delay"}):
            # Those of pairs in no class: the best of all pairs may stay.
            return _PlannedSeries(self._key).evaluate(numbers, bound=bound)
        values = {name: numbers.get(name, np.full(points, self._own[name])) for name in NUMBERS}
        values["size"] = self._buffer_bytes(values["size"])
        too_large = values["size"] > MAX_BYTES
        total_s, reconfigurations, choice, lower_bound_s, never_change_s, circuits, never_change = (
            self._series.evaluate(
                np.where(too_large, MAX_BYTES, values["size"]),
                values["bandwidth"],
                values["startup"],
                values["hop_delay"],
                values["reconfiguration_delay"],
                bound,
            )
        )
        missing = too_large | np.isnan(total_s)
        changes = reconfigurations.astype(np.int32)
        changes[missing] = -1
        total_s = np.where(missing, np.nan, total_s)
        reasons = {int(row): self._reason(numbers, int(row)) for row in np.flatnonzero(missing)}
        return Outcome(
            total_s,
            changes,
            choice,
            tuple(self._series.names),
            reasons,
            lower_bound_s=lower_bound_s,
            never_change_s=never_change_s,
            never_change=never_change,
            circuits=circuits,
            topologies=tuple(self._series.topologies),
        )

    def _reason(self, numbers: Mapping[str, NDArray[np.float64]], row: int) -> str:
        """Why a single point has no plan, though the series has some."""
        try:
            plan(**self._key.arguments({key: float(values[row]) for key, values in numbers.items()}))
        except InputError as error:
            return str(error)
        return "planner: it serves other points of these settings, not this one"

    def _buffer_bytes(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bytes of the busiest GPU's whole buffer."""
        matrix = self._arguments.get("matrix")
        if matrix is not None and np.isnan(sizes[0]):
            return np.full(len(sizes), float(busiest_bytes(read_matrix(matrix))))
        if self._key.per_pair and matrix is not None and _core.is_workload(matrix):
            # The series has one size, its matrix's.
            gpus, seed = self._series.gpus, self._arguments.get("seed", 0)
            made = _core.workload_matrix(matrix, gpus, float(sizes[0]), seed)
            return np.full(len(sizes), float(busiest_bytes(made)))
        return sizes * self._series.gpus if self._key.per_pair else sizes


class _WorkloadSeries:
    """Points of generated matrices by the mean of their pairs, a series for each size.

    Matrices of two sizes are rounded differently, and may decompose into other matchings.
    """

    def __init__(self, key: SeriesKey, cache: _core.Cache) -> None:
        self._key = key
        self._cache = cache
        # The series of the first point raises the error of a problem that nothing serves at any point.
        self._by_size = {dict(key.numbers)["size"]: _ModelSeries(key, cache)}

    def evaluate(self, numbers: Mapping[str, NDArray[np.float64]], *, bound: bool) -> Outcome:
        """See `Evaluator`."""
        points = len(next(iter(numbers.values()))) if numbers else 1
        sizes = numbers.get("size", np.full(points, dict(self._key.numbers)["size"]))
        others = {key: values for key, values in numbers.items() if key != "size"}
        total_s, lower_bound_s = np.full(points, np.nan), np.full(points, np.nan)
        reconfigurations = np.full(points, -1, dtype=np.int32)
        choice = np.zeros(points, dtype=np.uint32)
        names: dict[tuple[str, str], int] = {}
        reasons: dict[int, str] = {}
        for size in np.unique(sizes).tolist():
            rows = np.flatnonzero(sizes == size)
            try:
                series = self._of(size)
            except InputError as error:
                reasons |= dict.fromkeys(rows.tolist(), str(error))
                continue
            here = {key: values[rows] for key, values in others.items()}
            found = series.evaluate(here or {"size": sizes[rows]}, bound=bound)
            total_s[rows], reconfigurations[rows] = found.total_s, found.reconfigurations
            places = [names.setdefault(name, len(names)) for name in found.names]
            known = found.choice < len(places)
            choice[rows[known]] = np.array(places, dtype=np.uint32)[found.choice[known]]
            reasons |= {int(rows[row]): reason for row, reason in found.reasons.items()}
            if found.lower_bound_s is not None:
                lower_bound_s[rows] = found.lower_bound_s
        return Outcome(
            total_s,
            reconfigurations,
            choice,
            tuple(names) or (("", ""),),
            reasons,
            lower_bound_s=lower_bound_s if bound else None,
        )

    def _of(self, size: float) -> _ModelSeries:
        if size not in self._by_size:
            numbers = tuple({**dict(self._key.numbers), "size": size}.items())
            self._by_size[size] = _ModelSeries(self._key._replace(numbers=numbers), self._cache)
        return self._by_size[size]


class _PlannedSeries:
    """Points planned one by one, and simulated where the engine does."""

    def __init__(self, key: SeriesKey) -> None:
        self._key = key

    def evaluate(self, numbers: Mapping[str, NDArray[np.float64]], *, bound: bool) -> Outcome:
        """See `Evaluator`."""
        points = len(next(iter(numbers.values()))) if numbers else 1
        simulates = self._key.engine != "model"
        total_s, simulated_s, lower_bound_s = (np.full(points, np.nan) for _ in range(3))
        reconfigurations = np.full(points, -1, dtype=np.int32)
        choice = np.zeros(points, dtype=np.uint32)
        names: dict[tuple[str, str], int] = {}
        reasons: dict[int, str] = {}
        for index in range(points):
            try:
                made = plan(**self._key.arguments({key: float(values[index]) for key, values in numbers.items()}))
                if simulates:
                    simulation = simulate(made, level=self._key.engine, **self._key.simulation)
                    simulated_s[index] = simulation.total_s
            except InputError as error:
                reasons[index] = str(error)
                continue
            total_s[index], lower_bound_s[index] = made.total_s, made.lower_bound_s
            reconfigurations[index] = made.reconfigurations
            choice[index] = names.setdefault((made.planner, made.algorithm), len(names))
        return Outcome(
            total_s,
            reconfigurations,
            choice,
            tuple(names) or (("", ""),),
            reasons,
            simulated_s if simulates else None,
            lower_bound_s if bound else None,
        )
