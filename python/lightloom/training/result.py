"""A training iteration that was planned: the times of all events, and its time under every policy."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from lightloom import _core
from lightloom.base.errors import refuse
from lightloom.base.files import MIB, read_text, write_bytes
from lightloom.base.frames import Table
from lightloom.base.views import display, html, picture, widget, write_trace
from lightloom.inputs.fabric import Fabric
from lightloom.plans import Plan
from lightloom.training.inference import Inference
from lightloom.training.members import Members

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from anywidget import AnyWidget
    from matplotlib.figure import Figure

__all__ = ["Event", "MessageTopology", "Training"]

MAX_FILE_BYTES = 256 * MIB
EVENT_COLUMNS = (
    "node",
    "kind",
    "label",
    "start_s",
    "end_s",
    "plan",
    "reconfigured",
    "reconfiguration_exposed_s",
)


class Event(NamedTuple):
    """The times of a node of the workload; seconds since the iteration began.

    kind: `compute`, `collective` or `send`. label: the axis or the groups of a collective, `sends` or `compute`.
    plan: place of its plan in `Training.plans`, None for events without one. ports: those that it holds at all its
    ranks; where its messages pass others, at all ranks of their groups.
    reconfigured: whether circuits change before it, of which `reconfiguration_exposed_s` is waited for. waits_for:
    place of the event that its start was the last to wait for, if there is one. returns: whether its ports go back to
    the resting topology after it. direct: of messages, whether they go over circuits of their own. gives_up: places of
    the events whose circuits, used by nothing else, go dark when the change before it begins, so that the optical layer
    has room.
    """

    node: str
    kind: str
    label: str
    start_s: float
    end_s: float
    plan: int | None
    ports: tuple[int, ...]
    reconfigured: bool
    reconfiguration_exposed_s: float
    ranks: tuple[int, ...]
    waits_for: int | None
    returns: bool
    direct: bool
    gives_up: tuple[int, ...] = ()


class MessageTopology(NamedTuple):
    """A topology of groups that messages go over.

    axis: whose groups have it, None where all ranks are one group. rests: whether it is these groups' resting topology.
    topology: that of one group. by_rate: where its ports have different rates, circuits of each of its links by rate,
    the fastest first.
    """

    axis: str | None
    rests: bool
    topology: _core.Topology
    by_rate: dict[tuple[int, int], tuple[int, ...]]


class Training(Table):
    """One iteration of a training job or of inference on a fabric, which repeats; immutable, seconds and bytes.

    Made by `lightloom.train`, or read back by `Training.load` and `Training.from_json`.
    """

    def __init__(self, text: str, told: Mapping[str, Any]) -> None:
        """text: the result of `to_json`; told: its checked content."""
        self._text, self._told = text, told

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The iteration that `to_json` wrote. Raises `InputError` that names the path of the fault."""
        return cls(text, checked(text))

    @classmethod
    def unjudged(cls, text: str) -> Self:
        """The same without checking it, for `lightloom.verify`.

        Raises `InputError` where its parts do not fit each other.
        """
        return cls.of_core(_core.TrainingPlan.from_json(text))

    @classmethod
    def of_core(cls, core: _core.TrainingPlan) -> Self:
        """The iteration that the core planned, or read."""
        text = core.to_json()
        return cls(text, json.loads(text))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The iteration in a JSON file; errors as for `from_json`."""
        return cls.from_json(read_text("training", path, MAX_FILE_BYTES))

    def to_json(self) -> str:
        """The iteration as JSON of schema `lightloom.training/1`."""
        return self._text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file, whole or not at all. Raises `InputError` when it cannot be written."""
        write_bytes("output", path, (self.to_json().rstrip("\n") + "\n").encode())

    def trace(self, path: str | os.PathLike[str]) -> None:
        """Write the iteration as a Perfetto trace: a `.json` or `.json.gz` file.

        Raises `InputError` that names `trace` when the file cannot be written.
        """
        write_trace("Training.trace", self, path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Computation of ranks, and the traffic of every axis and port, over time; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("Training.plot", self, path)

    def widget(self) -> AnyWidget:
        """The iteration in a notebook, as the page shows it: its policies, and a timeline that can be zoomed.

        Raises `InputError` that names `widget` where the extra `notebook` is not installed.
        """
        return widget("Training.widget", self)

    @property
    def name(self) -> str | None:
        """Name of the workload, where it has one."""
        said = self._told["workload"].get("name")
        return None if said is None else str(said)

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return int(self._told["workload"]["ranks"])

    @property
    def mesh(self) -> dict[str, int]:
        """Size of every axis of the mesh of ranks; the first varies fastest."""
        return dict(self._told["workload"].get("mesh", {}))

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """The ranks of every group that has a name."""
        return {name: tuple(ranks) for name, ranks in self._told["workload"].get("groups", {}).items()}

    @cached_property
    def fabric(self) -> Fabric:
        """The fabric that it was planned for; its initial topology is that in which every group rests."""
        told = self._told["fabric"]
        return Fabric(
            gpus=self.ranks,
            ports=told["ports"],
            bandwidth=told["bandwidth_bps"],
            startup=told["startup_s"],
            hop_delay=told["hop_delay_s"],
            reconfiguration_delay=told["reconfiguration_delay_s"],
            initial=told["initial"],
            optics=told.get("optics"),
        )

    @property
    def policy(self) -> str:
        """The policy that decided when circuits change."""
        return str(self._told["policy"])

    @property
    def exact(self) -> bool:
        """Whether nothing takes less, proved.

        Either it is the lower bound, or communications follow each other in groups of one kind, and no other choice
        from the library of plans on all ports is faster.
        """
        return bool(self._told["exact"])

    @property
    def total_s(self) -> float:
        """Time of an iteration."""
        return float(self._told["total_s"])

    @property
    def compute_s(self) -> float:
        """Time of an iteration if communication took no time."""
        return float(self._told["compute_s"])

    @property
    def exposed_communication_s(self) -> float:
        """The time that communication adds to it, with reconfigurations that are waited for."""
        return float(self._told["exposed_communication_s"])

    @property
    def lower_bound_s(self) -> float:
        """No plan of the class `bound_class` takes less."""
        return float(self._told["lower_bound_s"])

    @property
    def bound_class(self) -> str:
        """The plans that `lower_bound_s` bounds."""
        return str(self._told["bound_class"])

    @property
    def order_bound_s(self) -> float:
        """No order of the events takes less with their plans and ports; 0 where the document does not say."""
        return float(self._told.get("order_bound_s", 0.0))

    @property
    def order_exact(self) -> bool:
        """Whether no order of the events is faster with their plans and ports, proved."""
        return bool(self._told.get("order_exact", False))

    @property
    def reconfigurations(self) -> int:
        """The number of changes of circuits in an iteration."""
        return int(self._told["reconfigurations"])

    @property
    def reconfiguration_hidden_s(self) -> float:
        """Dark time hidden behind other waiting, over all changes."""
        return float(self._told["reconfiguration_hidden_s"])

    @property
    def reconfiguration_exposed_s(self) -> float:
        """Dark time that is waited for, over all changes."""
        return float(self._told["reconfiguration_exposed_s"])

    @property
    def critical_path_s(self) -> dict[str, float]:
        """Parts of the iteration's time, by axis or group, `compute`, `sends` and `reconfiguration`."""
        return dict(self._told["critical_path_s"])

    @property
    def policies(self) -> dict[str, float | None]:
        """Time of an iteration under every policy; None where one cannot serve the workload."""
        return dict(self._told["policies"])

    @property
    def policy_notes(self) -> dict[str, str]:
        """The choices of policies, or why they cannot serve."""
        return dict(self._told["policy_notes"])

    @property
    def mfu(self) -> float | None:
        """Modelled share of the ranks' peak: model FLOPs over time, ranks and peak; None where one is not known."""
        workload = self._told["workload"]
        flops, peak = workload.get("model_flops"), workload.get("peak_flops")
        known = flops is not None and peak is not None and self.total_s > 0
        return float(flops / (self.total_s * self.ranks * peak)) if known else None

    @cached_property
    def inference(self) -> Inference | None:
        """The waiting times of requests and the rate of tokens, by policy; None where the workload is no inference."""
        return Inference.of(self._told)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events, one for every node of the workload, in its order."""
        members = self.members
        return tuple(
            Event(
                told["node"],
                node["kind"],
                members.label_of(node),
                told["start_s"],
                told["end_s"],
                told["plan"],
                tuple(told["ports"]),
                told["reconfigured"],
                told["reconfiguration_exposed_s"],
                members.ranks_of(node),
                told["waits_for"],
                told["returns"],
                told["direct"],
                tuple(told.get("gives_up", ())),
            )
            for told, node in zip(self._told["events"], self.nodes, strict=True)
        )

    @cached_property
    def sizes_bytes(self) -> tuple[int | None, ...]:
        """By event, the size of a collective or of each message; None for computation."""
        return tuple(node.get("size_bytes") for node in self.nodes)

    @cached_property
    def group_sizes(self) -> tuple[int | None, ...]:
        """By event, the ranks of one group, 2 for messages; None for computation."""
        members = self.members
        return tuple(None if node["kind"] == "compute" else members.group_size(node) for node in self.nodes)

    @cached_property
    def plans(self) -> tuple[Plan, ...]:
        """The plans of single groups, whose GPUs are the group's ranks in order; events say which is theirs."""
        return tuple(Plan.from_json(json.dumps(told)) for told in self._told["plans"])

    @cached_property
    def message_topologies(self) -> tuple[MessageTopology | None, ...]:
        """By event the topology that messages go over; None for other events, and for circuits of their own."""
        made = [
            MessageTopology(
                told["axis"],
                told["rests"],
                _core.Topology.from_links(
                    told["name"], self._group_ranks(told["axis"]), list(map(tuple, told["links"]))
                ),
                {
                    (source, destination): tuple(by_rate)
                    for (source, destination, _), by_rate in zip(
                        told["links"], told.get("circuits_by_rate", ()), strict=False
                    )
                },
            )
            for told in self._told["topologies"]
        ]
        places = [told["topology"] for told in self._told["events"]]
        return tuple(None if place is None else made[place] for place in places)

    def _group_ranks(self, axis: str | None) -> int:
        return self.ranks if axis is None else self.mesh[axis]

    @property
    def nodes(self) -> tuple[dict[str, Any], ...]:
        """The nodes of the workload by event, as they are in its document."""
        return tuple(self._told["workload"]["nodes"])

    @cached_property
    def members(self) -> Members:
        """Who takes part in them."""
        return Members(self._told["workload"])

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one an event; ports and ranks as their numbers."""
        columns = {name: [getattr(event, name) for event in self.events] for name in EVENT_COLUMNS}
        columns["ports"] = [len(event.ports) for event in self.events]
        columns["ranks"] = [len(event.ranks) for event in self.events]
        columns["size_bytes"] = list(self.sizes_bytes)
        return columns

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Training) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return type(self).from_json, (self._text,)

    def __repr__(self) -> str:
        return (
            f"Training({self.name or 'a workload'}, {self.ranks} ranks, {self.policy}: "
            f"{_core.show_time(self.total_s)}, {_core.counted(self.reconfigurations, 'reconfiguration')})"
        )

    def _repr_html_(self) -> str:
        return html("Training._repr_html_", self)

    def _repr_mimebundle_(self, **_wanted: object) -> tuple[dict[str, Any], dict[str, Any]]:
        return display("Training.widget", self)


def checked(text: str) -> dict[str, Any]:
    """The document, if it is one of schema `lightloom.training/1` and its statements hold.

    Raises `InputError` that names the fault: a key, or a fault that the verifier of iterations finds.
    """
    core = _core.TrainingPlan.from_json(text)
    for name, passed, detail in _core.verify_training(core):
        if not passed:
            raise refuse("training", f"check `{name}` failed: {detail}")
    told: dict[str, Any] = json.loads(core.to_json())
    return told
