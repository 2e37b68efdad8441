"""The simulation of a plan: its assumptions and results."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.frames import Table
from lightloom.base.views import html, picture, write_trace
from lightloom.simulation.differences import Difference, differences
from lightloom.simulation.settings import SimulationSettings

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from lightloom.plans import Plan

__all__ = ["Simulation", "SimulationSettings"]

SCHEMA = "lightloom.simulation/1"


class Simulation(Table):
    """The simulation of a plan, packet by packet or flow by flow; immutable, seconds and bytes.

    Made by `lightloom.simulate`.
    """

    __slots__ = ("_core", "_plan", "_settings", "_steps")

    def __init__(self, plan: Plan, settings: SimulationSettings, found: _core.Simulation | None = None) -> None:
        """Simulate `plan`, unless it was. Raises `InputError` that names the setting which is not accepted."""
        self._plan = plan
        self._settings = settings
        self._core = found or _core.simulate(plan.core, **asdict(settings))
        self._steps = tuple(self._core.steps)

    def __eq__(self, other: object) -> bool:
        # The results follow from these.
        if not isinstance(other, Simulation):
            return NotImplemented
        return self._settings == other._settings and self._plan == other._plan

    def __hash__(self) -> int:
        return hash((self._plan, self._settings))

    def __reduce__(self) -> tuple[type[Simulation], tuple[Plan, SimulationSettings, _core.Simulation]]:
        return type(self), (self._plan, self._settings, self._core)

    @property
    def plan(self) -> Plan:
        """The plan that was simulated."""
        return self._plan

    @property
    def settings(self) -> SimulationSettings:
        """The settings of the simulation."""
        return self._settings

    @property
    def total_s(self) -> float:
        """Completion time: when the last bit of the last step is received."""
        return self._core.total_s

    @property
    def predicted_total_s(self) -> float:
        """Completion time by the plan's additive cost."""
        return self._plan.total_s

    @property
    def steps(self) -> tuple[_core.SimulatedStep, ...]:
        """The steps, in order: when each starts and ends, its circuits and its GPUs."""
        return self._steps

    @property
    def packets(self) -> int:
        """Packets that all GPUs send; at flow level those that the flows stand for."""
        return self._core.packets

    @property
    def packet_hops(self) -> int:
        """Packets times the circuits that each crosses."""
        return self._core.packet_hops

    @property
    def payload_bytes(self) -> int:
        """Bytes that receivers get, without headers."""
        return self._core.payload_bytes

    @property
    def wire_bytes(self) -> int:
        """Bytes on all circuits together, with headers, counted once per circuit."""
        return self._core.wire_bytes

    @property
    def marked_packets(self) -> int:
        """Packets that a circuit marked, each counted once; 0 without congestion control."""
        return self._core.marked_packets

    @property
    def notifications(self) -> int:
        """Notifications of marks that receivers sent; 0 where each packet is acknowledged, and without control."""
        return self._core.notifications

    @property
    def decreases(self) -> int:
        """Cuts of the rate or the window of a flow; 0 without congestion control."""
        return self._core.decreases

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a step: topologies by name."""
        return {key: [getattr(step, name) for step in self._steps] for key, name in _STEP_KEYS.items()}

    def circuits(self) -> _core.CircuitTotals:
        """Use of every circuit of any step over the whole plan, as arrays by (src, dst, circuit)."""
        return self._core.circuits()

    def differences(self) -> list[Difference]:
        """The parts of `total_s - predicted_total_s`, by switching one setting at a time.

        The parts sum up to the difference, but for the rounding of doubles. As many simulations as parts.
        """

        def total_s(settings: SimulationSettings) -> float:
            is_own = settings == replace(self._settings, symmetry=settings.symmetry)
            return (self if is_own else Simulation(self._plan, settings)).total_s

        return differences(self._settings, self.predicted_total_s, total_s)

    def to_json(self, *, links: bool = False, explain: bool = False) -> str:
        """The simulation as JSON of schema `lightloom.simulation/1`; times in seconds, sizes in bytes.

        links: with the use of every circuit. explain: with `differences`.
        """
        used = self.circuits()
        made: dict[str, Any] = {
            "schema": SCHEMA,
            "collective": self._plan.collective,
            "algorithm": self._plan.algorithm,
            "planner": self._plan.planner,
            "gpus": self._plan.gpus,
            "size_bytes": self._plan.size_bytes,
            "settings": asdict(self._settings),
            "total_s": self.total_s,
            "predicted_total_s": self.predicted_total_s,
            "packets": self.packets,
            "packet_hops": self.packet_hops,
            "payload_bytes": self.payload_bytes,
            "wire_bytes": self.wire_bytes,
            "circuits": len(used),
            "highest_utilisation": float(used.utilisation.max(initial=0.0)),
            "mean_utilisation": float(used.utilisation.mean()) if len(used) else 0.0,
            "longest_queue_bytes": int(used.queue_bytes.max(initial=0)),
            "steps": [{key: getattr(step, name) for key, name in _STEP_KEYS.items()} for step in self._steps],
        }
        if self._settings.congestion_control != "none":
            made["congestion"] = {
                "marked_packets": self.marked_packets,
                "notifications": self.notifications,
                "decreases": self.decreases,
            }
        if explain:
            made["differences"] = [part._asdict() for part in self.differences()]
        if links:
            columns = [getattr(used, name).tolist() for name in _LINK_KEYS]
            made["links"] = [dict(zip(_LINK_KEYS, row, strict=True)) for row in zip(*columns, strict=True)]
        return json.dumps(made, indent=1, ensure_ascii=False)

    def trace(self, path: str | os.PathLike[str]) -> None:
        """Write the simulation as a Perfetto trace: a `.json` or `.json.gz` file, whole or not at all.

        Raises `InputError` that names `trace` when the file cannot be written.
        """
        write_trace("Simulation.trace", self, path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """The times at which GPUs send and wait in each step, and the plan's; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("Simulation.plot", self, path)

    def _repr_html_(self) -> str:
        return html("Simulation._repr_html_", self)

    def __repr__(self) -> str:
        return (
            f"Simulation({self._plan.collective}, {self._plan.gpus} GPUs, {self._settings.level} level: "
            f"{_core.show_time(self.total_s)}, {_core.counted(len(self._steps), 'step')}, "
            f"{_core.counted(self.packets, 'packet')})"
        )


# By key of the JSON: the attribute of a step.
_STEP_KEYS = {"index": "index", "topology": "topology_index"} | {
    name: name
    for name in (
        "topology_name",
        "reconfigured",
        "start_s",
        "reconfiguration_s",
        "startup_s",
        "end_s",
        "duration_s",
        "predicted_s",
    )
}
_LINK_KEYS = ("src", "dst", "circuit", "bytes", "busy_s", "utilisation", "queue_bytes")
