"""A verified plan, as people hold it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom import _core
from lightloom.base.errors import refuse
from lightloom.base.files import MIB, read_text, write_bytes
from lightloom.base.frames import Table
from lightloom.base.port_rates import one_rate
from lightloom.base.views import display, html, picture, widget
from lightloom.plans.steps import TERMS, Step, stated_terms, steps_of
from lightloom.plans.transfers import Chunks, Routes, Transfers

if TYPE_CHECKING:
    import os

    from anywidget import AnyWidget
    from matplotlib.figure import Figure

MAX_FILE_BYTES = 256 * MIB
# The beginning of a JSON list.
LIST = re.compile(r"\s*\[")
STEP_COLUMNS = (
    "index",
    "topology_name",
    "topology_index",
    "reconfigured",
    "transfer_bytes",
    "hops",
    "load",
    *TERMS,
    "total_s",
)


class NarrowBound(NamedTuple):
    """A lower bound for a class of schedules that is narrower than all algorithms'."""

    lower_bound_s: float
    bound_class: str


class Electrical(NamedTuple):
    """Electrical switches, each inside an island of GPUs: how many, and a GPU's rate and a hop's delay there."""

    gpus: int
    bandwidth_bps: float
    hop_delay_s: float


class Plan(Table):
    """The transfers of every step, its topology, and its cost; immutable, seconds and bytes.

    Made by `lightloom.plan`, or read back by `Plan.load` and `Plan.from_json`.
    """

    __slots__ = ("_core", "_steps", "_topologies")

    def __init__(self, core: _core.Plan) -> None:
        self._core = core
        self._steps: tuple[Step, ...] | None = None
        self._topologies: tuple[_core.Topology, ...] | None = None

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """The plan that `to_json` wrote. Raises `InputError` that names the path of the fault."""
        if isinstance(text, str) and LIST.match(text):
            raise refuse("plan", "it is a list; it takes an object")
        return cls(_core.Plan.from_json(text))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Plan:
        """The plan in a JSON file; errors as for `from_json`."""
        return cls.from_json(read_text("plan", path, MAX_FILE_BYTES))

    def to_json(self) -> str:
        """The plan as JSON of schema `lightloom.plan/1`; reading it back gives the same plan to the last bit."""
        return self._core.to_json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file, whole or not at all. Raises `InputError` when it cannot be written."""
        write_bytes("output", path, (self.to_json().rstrip("\n") + "\n").encode())

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """The topologies in the order of use, over the cost of every step; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("Plan.plot", self, path)

    def widget(self) -> AnyWidget:
        """The plan in a notebook, as the page shows it: its time, its circuits in motion, its steps.

        `time_s` of the widget is the time that is shown, `step` the index of its step; both can be set. Raises
        `InputError` that names `widget` where the extra `notebook` is not installed.
        """
        return widget("Plan.widget", self)

    @property
    def core(self) -> _core.Plan:
        """The compiled object."""
        return self._core

    @property
    def collective(self) -> str:
        """Name of the collective."""
        return self._core.collective

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return self._core.algorithm

    @property
    def planner(self) -> str:
        """Name of the planner."""
        return self._core.planner

    @property
    def gpus(self) -> int:
        """Number of GPUs: those that take part, and those that only forward."""
        return self._core.gpus

    @property
    def members(self) -> int:
        """Number of ranks, the GPUs that take part: the first of `gpus`."""
        return self._core.members

    @property
    def ranks(self) -> tuple[int, ...] | None:
        """The GPUs of the fabric that the ranks are; None where all GPUs take part, each as the rank of its number."""
        ranks = self._core.ranks
        return None if ranks is None else tuple(ranks)

    @property
    def fabric_gpus(self) -> int:
        """Number of GPUs of the fabric, those included that do not take part."""
        return self._core.fabric_gpus

    @property
    def electrical(self) -> Electrical | None:
        """The electrical switches inside islands of GPUs; None where the fabric has none."""
        electrical = self._core.electrical
        return None if electrical is None else Electrical(*electrical)

    @property
    def uses_electrical(self) -> bool:
        """Whether some step sends data through an electrical switch."""
        return self._core.uses_electrical

    @property
    def failed(self) -> tuple[str, ...]:
        """The parts of the fabric that do not work, as `--failed` spells them: `port:5.1`."""
        return tuple(self._core.failed)

    @property
    def size_bytes(self) -> int:
        """Bytes m of one rank's whole buffer."""
        return self._core.size_bytes

    @property
    def traffic_bytes(self) -> int | None:
        """Bytes that all GPUs together send to others in an All-to-All; None for other collectives.

        Where blocks are unequal, `size_bytes` is the busiest GPU's buffer: two matrices of one size may differ in this.
        """
        return self._core.traffic_bytes

    @property
    def total_s(self) -> float:
        """Completion time: the sum of the terms over the steps."""
        return self._core.total_s

    @property
    def repeated_s(self) -> float:
        """Completion time where the plan runs again and again.

        The change from the topology of the last step back to that of the first is charged, in place of the charge
        before the first step.
        """
        return self._core.repeated_s

    @property
    def reconfigurations(self) -> int:
        """Number of steps before which circuits change, at a charge or hidden; a free first topology is no change."""
        return self._core.reconfigurations

    @property
    def lower_bound_s(self) -> float:
        """No schedule of the class `bound_class` takes less."""
        return self._core.lower_bound_s

    @property
    def gap(self) -> float:
        """The completion time over `lower_bound_s`: the plan is at most this far from the best of `bound_class`."""
        return self.total_s / self.lower_bound_s if self.lower_bound_s else math.inf

    @property
    def bound_class(self) -> str:
        """The schedules that `lower_bound_s` bounds."""
        return self._core.bound_class

    @property
    def narrow_bound(self) -> NarrowBound | None:
        """A larger bound for a narrower class of schedules, where one is known.

        The class is the plan's own steps, or what its planner chooses from.
        """
        found = self._core.narrow_bound
        return None if found is None else NarrowBound(*found)

    @property
    def algbw(self) -> float:
        """Bytes per second, as NCCL's tests count it: m over the completion time."""
        return self._core.algbw

    @property
    def busbw(self) -> float:
        """Bytes per second, as NCCL's tests count it: algbw times the collective's bus factor."""
        return self._core.busbw

    @property
    def root(self) -> int | None:
        """The rank that a broadcast or scatter starts from, or a reduce or gather ends at; None for others."""
        return self._core.root

    @property
    def ports(self) -> int:
        """Ports per GPU."""
        return self._core.ports

    @property
    def bandwidth_bps(self) -> float:
        """Rate of one circuit. Raises `InputError` where ports or pairs of GPUs have different rates."""
        return one_rate("plan", self.rates_bps, self.pair_rates)

    @property
    def rates_bps(self) -> tuple[float, ...]:
        """Rate of each port, bit/s; a single one where all have the same."""
        return tuple(self._core.rates_bps)

    @property
    def dims(self) -> tuple[int, ...]:
        """Sizes of the grid of GPUs, the last dimension fastest; one number where there is no grid."""
        return tuple(self._core.dims)

    @property
    def startup_s(self) -> float:
        """Startup latency of a step."""
        return self._core.startup_s

    @property
    def barrier_s(self) -> float:
        """Barrier of all GPUs before a step."""
        return self._core.barrier_s

    @property
    def hop_delay_s(self) -> float:
        """Delay of one hop; the least of a pair of GPUs where these differ."""
        return self._core.hop_delay_s

    @property
    def longest_hop_delay_s(self) -> float:
        """The longest that a hop takes on a topology of a step: light in its longest fibre included."""
        return self._core.longest_hop_delay_s

    @property
    def positions(self) -> str | None:
        """Where the GPUs are, as `Fabric` takes it; None where fibres take no time."""
        return self._core.positions

    @property
    def pair_rates(self) -> str | None:
        """Rates and hop delays by pair of GPUs, of those that are not the best; None where all circuits are alike."""
        return self._core.pair_rates

    @property
    def reconfiguration_delay(self) -> _core.ReconfigurationDelay:
        """The delay of a change of topology on the plan's fabric."""
        return self._core.reconfiguration_delay

    @property
    def optics(self) -> str | None:
        """The optical layer that limits topologies, as `--optics` spells it; None where nothing but ports does."""
        return self._core.optics

    @property
    def initial(self) -> str:
        """Name of the topology before the first step, `free`, or `repeated` for that of the last step."""
        return self._core.initial

    @property
    def routing(self) -> str:
        """The rule by which traffic is divided over paths."""
        return self._core.routing

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps, in order."""
        if self._steps is None:
            self._steps = steps_of(self._core.steps, self.topologies)
        return self._steps

    @property
    def topologies(self) -> tuple[_core.Topology, ...]:
        """The topologies of the steps, and the initial one, each once; `Step.topology_index` is their place."""
        if self._topologies is None:
            self._topologies = tuple(self._core.topologies)
        return self._topologies

    def transfers(self, step: int) -> Transfers:
        """Everything that is sent in the step of that index, from 0.

        Costs O(chunks sent). Raises `InputError` that names `step`, or `plan` where a plan from a file does not verify
        or has more chunks in a step than are written out (2^26).
        """
        return Transfers(*self._core.transfers(step))

    def routes(self, step: int) -> Routes:
        """Every path that the step of that index sends along, with its share; errors as for `transfers`."""
        return Routes(*self._core.routes(step))

    def chunks(self) -> Chunks:
        """The chunks that transfers name: where each begins and must end, and its size; errors as for `transfers`."""
        return Chunks(*self._core.chunks())

    @property
    def explanations(self) -> list[str]:
        """The circuits of each of `topologies`, in a sentence."""
        return self._core.explanations

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a step: topologies by name. `barrier_s` is there where barriers take time."""
        left_out = set(TERMS).difference(stated_terms(self.steps))
        return {name: [getattr(step, name) for step in self.steps] for name in STEP_COLUMNS if name not in left_out}

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, Plan) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return type(self).from_json, (self.to_json(),)

    def __repr__(self) -> str:
        reconfigurations = _core.counted(self.reconfigurations, "reconfiguration")
        return (
            f"Plan({self.collective}, {_core.show_size(self.size_bytes)}, {self.gpus} GPUs, {self.algorithm}, "
            f"{self.planner}: {_core.show_time(self.total_s)}, {reconfigurations})"
        )

    def _repr_html_(self) -> str:
        return html("Plan._repr_html_", self)

    def _repr_mimebundle_(self, **_wanted: object) -> tuple[dict[str, Any], dict[str, Any]]:
        return display("Plan.widget", self)
