"""The circuits of a plan or a training iteration on the ports of switches: what to connect, disconnect, and when."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom import _core
from lightloom.base.files import MIB, read_text, write_bytes
from lightloom.base.frames import Table
from lightloom.base.views import html, picture
from lightloom.inputs.optics import Optics
from lightloom.optics import interposer_order
from lightloom.optics.mesh_layout import PlacedMesh
from lightloom.optics.mesh_light import FibreDelay, LaserEnergy, LightPath, MziState
from lightloom.plans import Plan
from lightloom.training.documents import plan_or_training
from lightloom.training.result import Training

if TYPE_CHECKING:
    import os

    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["Circuits", "Configuration", "ConfigurationEvents", "Switch", "SwitchSetting", "circuits"]

MAX_FILE_BYTES = 256 * MIB


class Switch(NamedTuple):
    """A switch: it joins any of its ingress ports to any of its as many egress ports, both numbered from 1."""

    name: str
    ports: int


@dataclass(frozen=True, eq=False)
class SwitchSetting:
    """Connections of one switch in one configuration; arrays of rows (ingress port, egress port), sorted, read-only.

    name: of the switch. connections: all that it joins. connect: those that the configuration before does not have;
    disconnect: those that only the configuration before has. In the first configuration all are connected, since
        switches are dark before it.
    wavelengths: of the light of each of `connections`, from 0, or the first of its band, where it is led by wavelength;
        else empty.
    """

    name: str
    connections: NDArray[np.uint32]
    connect: NDArray[np.uint32]
    disconnect: NDArray[np.uint32]
    wavelengths: NDArray[np.uint32]

    @property
    def kept(self) -> int:
        """Connections that stay as they were."""
        return len(self.connections) - len(self.connect)

    @property
    def changed_ports(self) -> int:
        """Ports, ingress and egress each counted, that are not joined to the same port as before."""
        import numpy as np

        return sum(len(np.union1d(self.connect[:, side], self.disconnect[:, side])) for side in (0, 1))


class ConfigurationEvents(NamedTuple):
    """The events of a training iteration between which a configuration is set, by the ids of their nodes.

    after: those that used the ports last, which are free once all of these have come so far. before: those that need
    the new circuits; empty where ports go back to the resting topology. steps: by entry of `before`, the step of its
    plan from which it needs them, from 0.
    """

    after: tuple[str, ...]
    before: tuple[str, ...]
    steps: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Configuration:
    """The settings of all switches during some steps of a plan, or between some events of an iteration.

    index: its place, from 0. topology_index: its topology's place in `Plan.topologies`; in an iteration or timeline, a
    number that the same connections have whenever they come back. steps: indices of the plan's steps during which it is
    held; empty if the plan starts on a topology that it leaves at once, and in iterations and timelines. time_s:
    seconds from the start at which it has to begin being set; the first is there from the start. switches: by switch.
    events: those that it is set between; None in a plan, and for the first configuration of an iteration.
    """

    index: int
    topology_index: int
    steps: tuple[int, ...]
    time_s: float
    switches: tuple[SwitchSetting, ...]
    events: ConfigurationEvents | None = None

    @property
    def connects(self) -> int:
        """Connections that all switches set up for it."""
        return sum(len(switch.connect) for switch in self.switches)

    @property
    def disconnects(self) -> int:
        """Connections that all switches give up for it."""
        return sum(len(switch.disconnect) for switch in self.switches)


class PortLabels(NamedTuple):
    """The GPUs at the ports of the switches, where they are known.

    optics: the kind with its parameters. numbering: which port is whose, in a sentence. ends: per switch and port, from
    port 1 on: the GPU, with the number of its own port where it has several, or the island.
    """

    optics: str
    numbering: str
    ends: tuple[tuple[str, ...], ...]


class Circuits(Table):
    """The circuits of a plan, or of a training iteration, on the ports of switches, by configuration; immutable.

    Made by `lightloom.circuits`, or read back by `Circuits.load` and `Circuits.from_json`.
    """

    # No slots: computed properties are kept.
    def __init__(
        self,
        core: _core.Circuits,
        plan: Plan | None = None,
        least_connects: int | None = None,
        charged_s: float | None = None,
        labels: PortLabels | None = None,
        training: Training | None = None,
    ) -> None:
        self._core = core
        self._plan = plan
        self._least_connects = least_connects
        self._charged_s = charged_s
        self._labels = labels
        self._training = training

    @classmethod
    def from_json(cls, text: str) -> Circuits:
        """Read the JSON of `to_json`. Raises `InputError` that names the place of a fault, or what no switch can do."""
        return cls(_core.Circuits.from_json(text))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Circuits:
        """The circuits in a JSON file; errors as for `from_json`."""
        return cls.from_json(read_text("circuits", path, MAX_FILE_BYTES))

    def to_json(self) -> str:
        """JSON of schema `lightloom.circuits/1`; reading it back gives the same to the last bit."""
        return self._core.to_json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file, whole or not at all. Raises `InputError` when it cannot be written."""
        write_bytes("output", path, self.to_json().encode())

    @property
    def core(self) -> _core.Circuits:
        """The compiled object."""
        return self._core

    @property
    def plan(self) -> Plan | None:
        """The plan of the circuits; None if they are an iteration's, or were read from a file."""
        return self._plan

    @property
    def training(self) -> Training | None:
        """The training iteration of the circuits; None if they are a plan's, or were read from a file."""
        return self._training

    @property
    def labels(self) -> PortLabels | None:
        """The GPUs at the ports; None where they were read from a file."""
        return self._labels

    @cached_property
    def switches(self) -> tuple[Switch, ...]:
        """The switches."""
        return tuple(Switch(*told) for told in self._core.switches)

    @cached_property
    def configurations(self) -> tuple[Configuration, ...]:
        """The configurations, in the order of time."""
        return tuple(
            Configuration(
                index,
                topology,
                tuple(steps),
                time_s,
                tuple(
                    SwitchSetting(switch.name, *map(_read_only, lists))
                    for switch, lists in zip(self.switches, settings, strict=True)
                ),
                None if events is None else ConfigurationEvents(tuple(events[0]), tuple(events[1]), tuple(events[2])),
            )
            for index, (topology, steps, time_s, events, settings) in enumerate(self._core.configurations)
        )

    @cached_property
    def light(self) -> tuple[tuple[LightPath, ...], ...]:
        """Per configuration the way of every circuit through the mesh; empty where no mesh of MZIs is the switch."""
        return tuple(
            tuple(
                LightPath(*ports, tuple(mzis), tuple(waveguides), wavelength, loss_db, launch_mw, fibre_m)
                for ports, mzis, waveguides, wavelength, loss_db, launch_mw, fibre_m in paths
            )
            for paths, _ in self._core.light
        )

    @cached_property
    def mzi_states(self) -> tuple[tuple[MziState, ...], ...]:
        """Per configuration the state of every MZI that light passes; empty where no mesh of MZIs is the switch."""
        return tuple(
            tuple(
                MziState(
                    mzi,
                    wavelength,
                    enters.replace("tile", "transmitter"),
                    number,
                    leaves.replace("tile", "receiver"),
                    output,
                )
                for mzi, wavelength, (enters, number), (leaves, output) in states
            )
            for _, states in self._core.light
        )

    @property
    def energy(self) -> LaserEnergy | None:
        """The electrical energy of a plan's lasers; None in an iteration, and without their `laser_efficiency`."""
        told = self._core.energy
        return None if told is None else LaserEnergy(tuple(told[0]), *told[1:])

    @property
    def fibre_delay(self) -> FibreDelay | None:
        """The time that a plan's fibres add to it; None in an iteration, and without lengths of fibres."""
        told = self._core.fibre_delay
        return None if told is None else FibreDelay(tuple(told[0]), told[1])

    @cached_property
    def mesh(self) -> PlacedMesh | None:
        """The mesh of MZIs that is the switch; None if it is another kind, or if the circuits were read from a file."""
        if self._labels is None or self._plan is None:
            return None
        return PlacedMesh.of_optics(self._labels.optics, self._plan.gpus)

    @cached_property
    def connects(self) -> int:
        """Connections that are set up after the first configuration."""
        return sum(configuration.connects for configuration in self.configurations[1:])

    @property
    def least_connects(self) -> int | None:
        """No ports for these circuits on these switches let fewer connections be set up after the first configuration.

        None where the circuits were read from a file.
        """
        return self._least_connects

    @property
    def charged_s(self) -> float | None:
        """Seconds that the plan's rule charges for what changes on these ports, all changes together.

        The plan's own charge is the sum of `Step.reconfiguration_s`. It is another where ports move that need not, such
        as a circuit that changes switches, or where delays by port meet other ports. None where the circuits were read
        from a file.
        """
        return self._charged_s

    @cached_property
    def lit_ports(self) -> int:
        """Ports that are joined to another in some configuration, ingress and egress ports each counted."""
        return sum(len(of_side) for of_side in self._peers())

    @cached_property
    def still_ports(self) -> int:
        """The number of `lit_ports` that are joined to the same port in all configurations."""
        return sum(
            sum(peers == [peers[0]] * len(self.configurations) for peers in of_side.values())
            for of_side in self._peers()
        )

    def _peers(self) -> list[dict[int, list[int]]]:
        """Per switch and side, of each port that is ever joined, those that it is joined to, one a configuration."""
        found: list[dict[int, list[int]]] = []
        for switch in range(len(self.switches)):
            for side in (0, 1):
                peers: dict[int, list[int]] = {}
                for configuration in self.configurations:
                    pairs = configuration.switches[switch].connections
                    for port, peer in zip(pairs[:, side].tolist(), pairs[:, 1 - side].tolist(), strict=True):
                        peers.setdefault(port, []).append(peer)
                found.append(peers)
        return found

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a connection of a configuration, and one that is given up for it.

        configuration, topology_index, time_s, switch, ingress, egress; change: `connect`, `keep` or `disconnect`.
        """
        rows: list[tuple[Any, ...]] = []
        for configuration in self.configurations:
            for switch in configuration.switches:
                new = set(map(tuple, switch.connect.tolist()))
                told = [(pair, "connect" if tuple(pair) in new else "keep") for pair in switch.connections.tolist()]
                told += [(pair, "disconnect") for pair in switch.disconnect.tolist()]
                rows += [
                    (
                        configuration.index,
                        configuration.topology_index,
                        configuration.time_s,
                        switch.name,
                        *pair,
                        change,
                    )
                    for pair, change in told
                ]
        return {name: [row[place] for row in rows] for place, name in enumerate(_COLUMNS)}

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """The connections of every port in every configuration, and the changes; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("Circuits.plot", self, path)

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, Circuits) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[type[Circuits], tuple[Any, ...]]:
        return type(self), (
            self._core,
            self._plan,
            self._least_connects,
            self._charged_s,
            self._labels,
            self._training,
        )

    def __repr__(self) -> str:
        switches = _core.counted(len(self.switches), "switch")
        configurations = _core.counted(len(self.configurations), "configuration")
        return f"Circuits({switches}, {configurations}, connects={self.connects})"

    def _repr_html_(self) -> str:
        return html("Circuits._repr_html_", self)


_COLUMNS = ("configuration", "topology_index", "time_s", "switch", "ingress", "egress", "change")


def circuits(
    plan: Plan | Training | str | os.PathLike[str], optics: Optics | str | os.PathLike[str] | None = None
) -> Circuits:
    """Put the circuits of a plan or a training iteration on the ports of switches, so that few connections change.

    plan: a Plan, or a plan's JSON file; one that was read must pass `lightloom.verify`. A Training, or the JSON file of
        one: the circuits of all its groups together, over one iteration that repeats.
    optics: one of `lightloom list optics` such as `"crossbar"`, an `Optics`, or a TOML file of one; where nothing is
        said, the optical layer that the plan is for, else a crossbar. On a mesh, circuits of an iteration that stay
        keep their paths. `interposer_order=shortest` of a mesh gives a plan's GPUs the interposers between which light
        is in fibres for the shortest time.

    Raises `InputError` that names the argument; also where the switches have too few ports, or cannot have a topology.
    """
    held = plan_or_training(plan)
    known = held.optics if isinstance(held, Plan) else held.fabric.optical_layer
    described = Optics.load(optics if optics is not None else known or "crossbar")
    if interposer_order.KEY in described.kind and isinstance(held, Plan):
        described = replace(described, kind=interposer_order.with_shortest_order(held, described.kind))
    if isinstance(held, Training):
        made, (kind, numbering), ends = _core.iteration_circuits(
            _core.TrainingPlan.from_json(held.to_json()), described.kind, list(described.names), described.switch_ports
        )
        return Circuits(made, labels=PortLabels(kind, numbering, tuple(map(tuple, ends))), training=held)
    core, (least_connects, charged_s), (kind, numbering), ends = _core.circuits(
        held.core, described.kind, list(described.names), described.switch_ports
    )
    return Circuits(core, held, least_connects, charged_s, PortLabels(kind, numbering, tuple(map(tuple, ends))))


def _read_only(pairs: NDArray[np.uint32]) -> NDArray[np.uint32]:
    pairs.flags.writeable = False
    return pairs
