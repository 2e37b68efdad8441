"""A planned iteration simulated: every plan packet by packet, then the iteration timed again with what they take."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import fsum
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.frames import Table
from lightloom.plans import Plan
from lightloom.simulation import Simulation, SimulationSettings
from lightloom.simulation.message_packets import MessageTimes, packets_each
from lightloom.simulation.message_paths import paths_of
from lightloom.simulation.retiming import retimed

if TYPE_CHECKING:
    from lightloom.training.result import Training

__all__ = ["TrainingSimulation"]

SCHEMA = "lightloom.training-simulation/1"


class TrainingSimulation(Table):
    """The simulation of an iteration, packet by packet or flow by flow; immutable, seconds and bytes.

    Made by `lightloom.simulate`. Communications that overlap hold ports of their own and share no circuit, so that each
    plan is simulated by itself, once for all groups and events that have it.
    """

    def __init__(self, training: Training, settings: SimulationSettings) -> None:
        """Simulate `training`. Raises `InputError` that names the setting which is not accepted."""
        self._training, self._settings = training, settings
        self._plans = tuple(Simulation(_begun(plan), settings) for plan in training.plans)
        messages = MessageTimes(training, settings)
        durations_s, packets, packet_hops = [], 0, 0
        for index, (event, size) in enumerate(zip(training.events, training.sizes_bytes, strict=True)):
            if event.plan is not None:
                found = self._plans[event.plan]
                groups = len(event.ranks) // found.plan.gpus
                durations_s.append(found.total_s)
                packets += groups * found.packets
                packet_hops += groups * found.packet_hops
            elif size is not None:
                paths = paths_of(training, index, event)
                durations_s.append(messages.seconds(paths, size))
                each = packets_each(size, settings)
                packets += each * len(paths.paths)
                packet_hops += each * sum(paths.hops)
            else:
                durations_s.append(event.end_s - event.start_s)
        self._times = retimed(training, durations_s)
        self._packets, self._packet_hops = packets, packet_hops

    def __reduce__(self) -> tuple[type[TrainingSimulation], tuple[Training, SimulationSettings]]:
        return type(self), (self._training, self._settings)

    @property
    def training(self) -> Training:
        """The iteration that was simulated."""
        return self._training

    @property
    def settings(self) -> SimulationSettings:
        """The settings of the simulation."""
        return self._settings

    @property
    def plans(self) -> tuple[Simulation, ...]:
        """The simulation of each of the iteration's plans, whose first circuits are there when it begins."""
        return self._plans

    @property
    def total_s(self) -> float:
        """Time of an iteration."""
        return self._times.total_s

    @property
    def predicted_total_s(self) -> float:
        """Time of an iteration by the additive cost."""
        return self._training.total_s

    @property
    def ratio(self) -> float:
        """The simulated time over the predicted one; 1 where nothing takes any time."""
        return self.total_s / self.predicted_total_s if self.predicted_total_s else 1.0

    @property
    def packets(self) -> int:
        """Packets that all ranks send; at flow level those that the flows stand for."""
        return self._packets

    @property
    def packet_hops(self) -> int:
        """Packets times the circuits that each crosses."""
        return self._packet_hops

    @property
    def by_label(self) -> dict[str, tuple[float, float]]:
        """Simulated and predicted seconds of all events by their label: `compute`, axes, groups, `sends`."""
        starts_s, ends_s = self._times.starts_s.tolist(), self._times.ends_s.tolist()
        simulated: dict[str, list[float]] = {}
        predicted: dict[str, list[float]] = {}
        for event, start_s, end_s in zip(self._training.events, starts_s, ends_s, strict=True):
            simulated.setdefault(event.label, []).append(end_s - start_s)
            predicted.setdefault(event.label, []).append(event.end_s - event.start_s)
        return {label: (fsum(times), fsum(predicted[label])) for label, times in simulated.items()}

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one an event."""
        events = self._training.events
        return {
            **{name: [getattr(event, name) for event in events] for name in ("node", "kind", "label")},
            "start_s": self._times.starts_s.tolist(),
            "end_s": self._times.ends_s.tolist(),
            "predicted_start_s": [event.start_s for event in events],
            "predicted_end_s": [event.end_s for event in events],
        }

    def to_json(self) -> str:
        """The simulation as JSON of schema `lightloom.training-simulation/1`; times in seconds."""
        columns = self.to_columns()
        made = {
            "schema": SCHEMA,
            "name": self._training.name,
            "ranks": self._training.ranks,
            "policy": self._training.policy,
            "settings": asdict(self._settings),
            "total_s": self.total_s,
            "predicted_s": self.predicted_total_s,
            "ratio": self.ratio,
            "packets": self.packets,
            "packet_hops": self.packet_hops,
            "by_label": {
                label: {"simulated_s": simulated_s, "predicted_s": predicted_s}
                for label, (simulated_s, predicted_s) in self.by_label.items()
            },
            "events": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        }
        return json.dumps(made, indent=1, ensure_ascii=False)

    def __repr__(self) -> str:
        return (
            f"TrainingSimulation({self._training.name or 'a workload'}, {self._training.ranks} ranks, "
            f"{self._settings.level} level: {_core.show_time(self.total_s)}, {_core.counted(self.packets, 'packet')})"
        )


def _begun(plan: Plan) -> Plan:
    """The plan with its first circuits in place: changes before it belong to the iteration."""
    if not plan.steps[0].reconfigured:
        return plan
    told = json.loads(plan.to_json())
    first = told["steps"][0]
    told["total_s"] -= first["reconfiguration_s"]
    told["reconfigurations"] -= 1
    told["fabric"]["initial"] = "free"
    told["initial_topology"] = None
    # A bound for other first circuits does not hold for it.
    told |= {"lower_bound_s": 0.0, "bound_class": "none"}
    first |= {"reconfigured": False, "reconfiguration_s": 0.0}
    return Plan.from_json(json.dumps(told))
