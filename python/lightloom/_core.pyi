"""The compiled core. Everything here is typed, immutable and raises `lightloom.base.errors.InputError`.

Its objects can be pickled. A process that was forked works too, unless another thread was planning at that moment.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypedDict, final

import numpy as np
from numpy.typing import NDArray

__version__: str

def parse_size(field: str, text: str) -> int:
    """Bytes of `64MiB`, `1KB`, `1024B`."""

def parse_time(field: str, text: str) -> float:
    """Seconds of `500ns`."""

def parse_rate(field: str, text: str) -> float:
    """Bits per second of `800Gbps` or `100GB/s`."""

def check_time(field: str, time_s: float) -> float:
    """The seconds, which must be in the range of times."""

def check_rate(field: str, rate_bps: float) -> float:
    """The bits per second, which must be in the range of rates."""

def check_size(field: str, size_bytes: float) -> int:
    """The bytes, which must be whole and in the range of sizes."""

def ranges() -> list[tuple[str, str, float, float, bool, str]]:
    """Which numbers are accepted, by kind: its name, the unit, the least above zero, the largest, whether zero is
    accepted too, and what is accepted in words."""

def whole_ranges() -> list[tuple[str, int, int]]:
    """Which whole numbers options take, by their name: the least and the largest."""

def read_time(field: str, value: object) -> float:
    """Seconds of text with a unit, or a number of them."""

def read_rate(field: str, value: object) -> float:
    """Bits per second of text with a unit, or a number of them."""

def read_bytes(field: str, value: object) -> int:
    """Bytes of text with a unit, or a number of them."""

def planning_options() -> list[dict[str, Any]]:
    """The rows of the table of planning options: the fields of `lightloom.inputs.options.Option`, by name."""

def split_names(names: str) -> list[str]:
    """The items of a list of topologies in one text, such as `ring,circulant:1,5,torus:4x4`."""

def rank_list(field: str, ranks: object) -> list[int]:
    """The GPUs of ranges such as `0-15,32-47`, or of a list of whole numbers, in their order."""

def names_topology_file(name: str) -> bool:
    """Whether a text is taken for a file that holds a topology."""

def show_time(seconds: float) -> str:
    """`41.97 µs`: the unit that keeps the number between 1 and 1000, four significant digits."""

def show_size(size_bytes: float, like_bytes: float | None = None) -> str:
    """`64 MiB`, `1 MB`: in binary or decimal units, as it was written as far as a number tells.

    like_bytes: the size that it is a part of, in whose units it is shown."""

def counted(count: int, noun: str) -> str:
    """`1 port`, `2 ports`: the noun in the singular or the plural."""

class Capabilities(TypedDict):
    """A planner's problems, assumptions and abilities, as far as Python asks."""

    takes_budget: bool
    never_changes: bool
    chooses_algorithm: bool
    calls_solver: bool
    is_fast: bool

def capabilities(planner: str) -> Capabilities | None:
    """The capabilities of the planner of that name; None for a name that stands for several, such as `auto`."""

@final
class Interruption:
    """Tells calls of other threads to end; whatever the thread that makes it heeds tells it, too."""

    def __init__(self) -> None: ...
    def interrupt(self) -> None:
        """End the calls of all threads that heed this, now and from now on; they raise `StoppedError`."""

    def check(self) -> None:
        """Raise `StoppedError` where they were told."""

def heed(interruption: Interruption) -> None:
    """End calls of this thread, from now on, when `interruption` says so.

    Calls of Python's main thread end at signals whose handlers raise something, too.
    """

def limit_threads(threads: int) -> None:
    """Run calls of this thread on so many threads, from now on."""

def registry() -> dict[str, list[dict[str, str]]]:
    """Everything that can be named, by kind: `algorithms`, `topologies`, `candidates`, `planners`,
    `collectives`, `routings`, `overlaps`, `conventions`, `technologies`, `workloads`. Each entry has
    `name`, `summary` and what else its kind has (`source`, `requirement`, `collectives`, `parameters`, `delay`,
    `product`), all as text."""

def planners_names() -> dict[str, list[tuple[str, str]]]:
    """By kind, such as `topologies`: names that planners give, which are printed and not taken, with their meanings."""

def left_out(planner: str, gpus: int, ports: int) -> str | None:
    """Candidates that a planner skips on such a fabric for their effort, in words; None if it skips none."""

def bus_factor(collective: str, gpus: int) -> float:
    """busbw over algbw, as NCCL's tests count them."""

def is_workload(spec: object) -> bool:
    """Whether `spec` is meant to name a generated All-to-All matrix."""

def workload_matrix(spec: str, gpus: int, mean_bytes: float, seed: int) -> NDArray[np.float64]:
    """The matrix `[src][dst]`, bytes, of a specification such as `zipf:0.4:7`."""

def algorithm_table(
    collective: str | None,
    gpus: int,
    dims: Sequence[int],
    ports: int,
    radix: int | None,
    aggregation: int | None = None,
) -> list[dict[str, object]]:
    """A row per (algorithm, collective): `algorithm`, `collective`, `accepted`, `reason` (why not, or
    empty), `steps` (int or None), `sent_share` (bytes that the busiest rank sends over m, or None)."""

def algorithms_of_steps(
    collective: str, gpus: int, dims: Sequence[int], ports: int, radix: int | None, steps: int
) -> list[str]:
    """Names of the algorithms whose schedules have so many steps; no schedule is built for it."""

@final
class Workload:
    """A checked workload: computation, collectives and messages of one training iteration."""

    @staticmethod
    def from_json(json: str) -> Workload:
        """Raises `InputError` that names the path of what is wrong."""

    def to_json(self) -> str: ...
    @property
    def ranks(self) -> int: ...

@final
class TrainingPlan:
    """A planned training iteration."""

    @staticmethod
    def from_json(json: str) -> TrainingPlan:
        """Its parts fit each other; `verify_training` says what they are worth. Raises `InputError`."""

    def to_json(self) -> str: ...

def training_policies() -> list[tuple[str, str, str, bool]]:
    """Name, title, summary, and whether it can be chosen, of every policy."""

def train(
    workload: Workload,
    fabric: Fabric,
    resting: str,
    policy: str,
    progress: Callable[[str], object] | None = None,
    cache: Cache | None = None,
) -> TrainingPlan:
    """Plan an iteration; `resting` names the topology of a group that rests. What is returned passed the judge.

    Raises `InputError` that names what is wrong.
    """

def verify_training(plan: TrainingPlan) -> list[tuple[str, bool, str]]:
    """Check, whether it passed, what was checked or is wrong: by code that knows no planner."""

@final
class Topology:
    """All circuits that are live during a step."""

    @staticmethod
    def named(spec: str, gpus: int, dims: Sequence[int], ports: int) -> Topology: ...
    @staticmethod
    def from_links(name: str, gpus: int, links: Sequence[tuple[int, int, int]]) -> Topology: ...
    @property
    def name(self) -> str: ...
    @property
    def gpus(self) -> int: ...
    @property
    def degree(self) -> int: ...
    @property
    def links(self) -> NDArray[np.uint32]:
        """Shape (k, 3): source, destination, parallel circuits; sorted."""
    @property
    def explanation(self) -> str:
        """Its circuits, in a sentence."""
    @property
    def symmetry_order(self) -> int:
        """Number of translations known to leave the links as they are."""

@final
class ReconfigurationDelay:
    """The delay of a change of topology; `str()` of it is in words."""

    @staticmethod
    def parse(field: str, text: str) -> ReconfigurationDelay:
        """Read the text of the option. Raises `InputError` that names `field`."""
    @property
    def fixed_s(self) -> float:
        """Seconds of it that any change takes, whatever changes."""
    @property
    def scalar_s(self) -> float | None:
        """The number of seconds that says all of it, if one does."""
    @property
    def has_rounds(self) -> bool:
        """Whether it has rounds of signals, whose number depends on that of GPUs."""

@final
class FabricOptions:
    """The options of a fabric, read: in SI units."""

    def __new__(cls, **options: object) -> FabricOptions:
        """Fields of `lightloom.Fabric`, as people write them; None leaves one open."""
    @property
    def dims(self) -> list[int]: ...
    @property
    def rates_bps(self) -> list[float]: ...
    @property
    def startup_s(self) -> float: ...
    @property
    def hop_delay_s(self) -> float: ...
    def reconfiguration(self, gpus: int | None) -> ReconfigurationDelay:
        """The delay of a change on so many GPUs, or as it is written where their number is open."""
    @property
    def windows_s(self) -> tuple[float, dict[int, float]]: ...
    @property
    def has_barrier(self) -> bool:
        """Whether a barrier takes any time."""
    def barrier_s(self, gpus: int) -> float:
        """The barrier of so many GPUs."""
    def fabric(self, gpus: int, initial: str | Topology | None) -> Fabric:
        """The fabric of so many GPUs, with this topology before the first step."""

@final
class Fabric:
    """A fabric in SI units; `lightloom.Fabric` is what people use."""

    @property
    def rates_bps(self) -> list[float]:
        """The rate of all ports, or of each; the fastest, where pairs of GPUs have different ones."""
    @property
    def pair_ranges(self) -> tuple[tuple[float, float], tuple[float, float]] | None:
        """The least and the largest rate of all pairs of GPUs, then hop delay; None where all are alike."""
    @property
    def failed(self) -> list[str]:
        """The parts that do not work, as `--failed` spells them."""
    @property
    def startup_s(self) -> float: ...
    @property
    def barrier_s(self) -> float: ...
    @property
    def hop_delay_s(self) -> float: ...
    @property
    def positions(self) -> str | None: ...
    @property
    def pair_rates(self) -> str | None: ...
    @property
    def reconfiguration(self) -> ReconfigurationDelay: ...
    @property
    def background_reconfiguration(self) -> bool: ...
    @property
    def optical_layer(self) -> str | None:
        """The optical layer that limits topologies, as `--optics` spells it."""
    @property
    def windows_s(self) -> tuple[float, dict[int, float]]:
        """Computation: seconds before every step, and before single ones by their index from 0."""

@final
class Schedule:
    """Steps of transfers, for given ranks; it does not depend on the size."""

    @staticmethod
    def build(
        algorithm: str,
        collective: str,
        gpus: int,
        dims: Sequence[int] | None = None,
        ports: int | None = None,
        radix: int | None = None,
        root: int | None = None,
        aggregation: int | None = None,
    ) -> Schedule: ...
    @staticmethod
    def from_msccl(xml: str) -> Schedule: ...
    @staticmethod
    def from_transfers(
        algorithm: str,
        collective: str,
        gpus: int,
        parts: int,
        steps: Sequence[Sequence[tuple[int, int, str, Sequence[int]]]],
        *,
        whole_buffer: bool = False,
        root: int | None = None,
        pieces: Sequence[tuple[int, int, float]] | None = None,
    ) -> Schedule:
        """The schedule of transfers as `transfers` gives them; a block is `parts` equal chunks.

        A block is a rank's share, a pair's for All-to-All, the buffer of rank `root` for Broadcast, and where
        `whole_buffer` a rank's whole buffer for AllReduce. pieces: in place of equal chunks of an All-to-All, source,
        destination and share of the buffer of each. Raises `InputError`."""
    @staticmethod
    def from_matrix(matrix: NDArray[np.float64]) -> tuple[Schedule, float]:
        """All-to-All of a matrix of bytes, `[src][dst]`, and m: the largest row or column sum."""
    @property
    def algorithm(self) -> str: ...
    @property
    def collective(self) -> str: ...
    @property
    def gpus(self) -> int: ...
    @property
    def shares(self) -> NDArray[np.float64]:
        """m_i / m of every step."""
    @property
    def sent_share(self) -> float: ...
    def transfers(self, step: int) -> list[tuple[int, int, str, list[int]]]:
        """Every transfer of a step: source, destination, `copy` or `reduce`, chunks."""

@final
class Cache:
    """The cache that requests share: phases of compositions by ranks and ports, and bounds."""

    def __new__(cls) -> Cache: ...

@final
class Request:
    """A problem to plan. Every argument but the fabric may be left out where the rest decides it.

    size and options: as people write them, by the names of `lightloom.inputs.options.SETTINGS`, and the budget; files
    and graphs are read first. Raises `InputError` that names the option."""

    def __new__(
        cls,
        fabric: Fabric,
        collective: str | None = None,
        size: object = None,
        cache: Cache | None = None,
        **options: object,
    ) -> Request: ...
    def most_gpus(self) -> int | None:
        """The most GPUs, up to the request's own, for which the algorithm that it names fits in memory."""

    @property
    def ports(self) -> int:
        """Ports of each GPU."""
    @property
    def collective(self) -> str: ...
    @property
    def gpus(self) -> int: ...
    @property
    def size_bytes(self) -> int:
        """Bytes m of one rank's whole buffer. Raises `InputError` for a size per pair of another collective than
        All-to-All."""
    @property
    def traffic_bytes(self) -> int | None:
        """All-to-All: bytes that all ranks together send to others."""

@final
class Series:
    """A request prepared for many points that differ in five numbers, which replace its own; schedules, candidates and
    profiles are shared by all points. Raises `InputError` where nothing serves the request at its own numbers."""

    def __new__(cls, request: Request) -> Series: ...
    @property
    def collective(self) -> str: ...
    @property
    def gpus(self) -> int: ...
    @property
    def fastest(self) -> tuple[float, float]:
        """Rate of the fastest circuit, bit/s, and least hop delay, s: the request's own."""
    @property
    def names(self) -> list[tuple[str, str]]:
        """(planner, algorithm) of all that was chosen so far, in the order of first use; it only becomes longer."""
    @property
    def topologies(self) -> list[str]:
        """Topologies in the order of the steps of all that was chosen so far; it only becomes longer."""
    def evaluate(
        self,
        size_bytes: NDArray[np.float64],
        bandwidth_bps: NDArray[np.float64],
        startup_s: NDArray[np.float64],
        hop_delay_s: NDArray[np.float64],
        reconfiguration_delay_s: NDArray[np.float64],
        bound: bool = False,
    ) -> tuple[
        NDArray[np.float64],
        NDArray[np.uint32],
        NDArray[np.uint32],
        NDArray[np.float64] | None,
        NDArray[np.float64] | None,
        NDArray[np.uint32],
        tuple[NDArray[np.uint32], NDArray[np.uint32]] | None,
    ]:
        """Results of `plan` at every point, all arrays of one length: completion times in seconds, numbers of
        reconfigurations, indices into `names`, lower bounds in seconds where they are asked for, times of the best
        plans whose circuits never change, where the request leaves all algorithms and planners open, indices into
        `topologies`, and both indices of the best plans whose circuits never change, where their times are there.

        size_bytes: whole buffers m, whole bytes; reconfiguration_delay_s: fixed, in addition to the fabric's delay
        per port. Where nothing serves a point its time is NaN, its index 2^32 - 1. On all cores, without the
        lock of the interpreter. Raises `InputError` that names the field of a wrong number."""

# For every transfer of a step: source, destination, whether the receiver adds, bytes, where its chunks begin (and where
# the last ones end); and all chunks.
TransferArrays = tuple[
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.bool_],
    NDArray[np.float64],
    NDArray[np.uint64],
    NDArray[np.uint32],
]
# For every path of a step: source, destination, share, bytes, where its GPUs begin; and all GPUs.
RouteArrays = tuple[
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.uint64],
    NDArray[np.uint32],
]

# The numbers of a step: topology's index, whether it is new, bytes, hops, loads of circuits and of electrical switches,
# the terms (startup, propagation, transmission, reconfiguration, barrier) and their sum.
Terms = tuple[float, float, float, float, float]
StepTuple = tuple[int, bool, float, int, tuple[float, float], Terms, float]

@final
class Plan:
    """A plan that passed `verify`."""

    @staticmethod
    def from_json(text: str) -> Plan: ...
    def to_json(self) -> str: ...
    @property
    def collective(self) -> str: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def planner(self) -> str: ...
    @property
    def gpus(self) -> int: ...
    @property
    def members(self) -> int:
        """Ranks that take part, the first of `gpus`."""
    @property
    def ranks(self) -> list[int] | None:
        """The GPUs of the fabric that the ranks are; None where they are all of them."""
    @property
    def fabric_gpus(self) -> int: ...
    @property
    def electrical(self) -> tuple[int, float, float] | None:
        """GPUs of an island, bit/s of a GPU inside it and delay of a hop; None without electrical switches."""
    @property
    def longest_hop_delay_s(self) -> float:
        """The longest that a hop takes on a topology of a step."""
    @property
    def positions(self) -> str | None:
        """Where the GPUs are; None where fibres take no time."""
    @property
    def pair_rates(self) -> str | None:
        """Rates and hop delays of pairs of GPUs; None where all circuits are alike."""
    @property
    def rates_by_pair(self) -> list[tuple[float, float]]:
        """By source, then destination, bit/s and hop delay in s; empty where all pairs are alike."""
    def shortest_order(self) -> list[int]:
        """The GPU of each rank, so that fibres are short."""
    def has_same_bits(self) -> bool:
        """Whether all ranks end an AllReduce with the same bits, whatever the data."""
    @property
    def uses_electrical(self) -> bool:
        """Whether some step sends data through an electrical switch."""
    @property
    def failed(self) -> list[str]:
        """Parts of the fabric that do not work, as `--failed` spells them."""
    def by_rank(self) -> Plan:
        """The same plan on a fabric that has no other GPUs."""
    @property
    def size_bytes(self) -> int: ...
    @property
    def traffic_bytes(self) -> int | None:
        """All-to-All: bytes that all ranks together send to others."""
    @property
    def total_s(self) -> float: ...
    @property
    def repeated_s(self) -> float:
        """Completion time where the plan runs again and again: the change back to the first topology is charged."""
    @property
    def reconfigurations(self) -> int: ...
    @property
    def lower_bound_s(self) -> float: ...
    @property
    def bound_class(self) -> str: ...
    @property
    def narrow_bound(self) -> tuple[float, str] | None:
        """Seconds and class of a larger bound for a narrower class, where there is one."""
    @property
    def algbw(self) -> float:
        """Bytes per second, as NCCL's tests count it."""
    @property
    def busbw(self) -> float: ...
    @property
    def root(self) -> int | None:
        """The rank that a broadcast or scatter starts from, or a reduce or gather ends at; None for others."""
    @property
    def fabric(self) -> Fabric: ...
    @property
    def ports(self) -> int: ...
    @property
    def rates_bps(self) -> list[float]: ...
    @property
    def optics(self) -> str | None: ...
    @property
    def initial(self) -> str: ...
    @property
    def routing(self) -> str: ...
    @property
    def steps(self) -> list[StepTuple]: ...
    @property
    def topologies(self) -> list[Topology]: ...
    @property
    def explanations(self) -> list[str]:
        """The circuits of each topology, in a sentence."""
    @property
    def dims(self) -> list[int]: ...
    @property
    def startup_s(self) -> float: ...
    @property
    def barrier_s(self) -> float: ...
    @property
    def hop_delay_s(self) -> float: ...
    @property
    def reconfiguration_delay(self) -> ReconfigurationDelay: ...
    def transfers(self, step: int) -> TransferArrays:
        """A plan that was read is verified first, here and in the two below."""
    def routes(self, step: int) -> RouteArrays: ...
    def chunks(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int | None]:
        """For every chunk: the rank that has it first and the one that must have it, -1 for all; its bytes. And the
        equal chunks of a buffer, None where they are not equal."""

Integers = NDArray[np.int64]
# The rank, where from, where to, how much, in bytes.
CopiesTuple = tuple[Integers, Integers, Integers, Integers]

@final
class Program:
    """The program of a plan; `lightloom.running.program.Program` says what each part is. Arrays of whole numbers."""

    @property
    def collective(self) -> str: ...
    @property
    def ranks(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def root(self) -> int | None: ...
    @property
    def element_bytes(self) -> int: ...
    @property
    def blocks(self) -> Integers | None: ...
    @property
    def input_bytes(self) -> Integers: ...
    @property
    def output_bytes(self) -> Integers: ...
    @property
    def workspace_bytes(self) -> Integers: ...
    @property
    def loads(self) -> CopiesTuple: ...
    @property
    def stores(self) -> CopiesTuple: ...
    @property
    def step(self) -> Integers: ...
    @property
    def gpu_offsets(self) -> Integers: ...
    @property
    def gpus(self) -> Integers: ...
    @property
    def segment_offsets(self) -> Integers: ...
    @property
    def source_offset(self) -> Integers: ...
    @property
    def destination_offset(self) -> Integers: ...
    @property
    def size_bytes(self) -> Integers: ...
    @property
    def is_reduction(self) -> NDArray[np.bool_]: ...

def program(plan: Plan, element_bytes: int) -> Program:
    """The program of a plan for elements of so many bytes, at least 1. A plan that was read is verified first.

    Raises `InputError` that names `plan` where its steps move more than 2^22 chunks, its buffer holds no element, or
    its data are more than 63 bits count."""

@final
class Gate:
    """The controller's side of a gate at a path, for the ranks of a plan of so many steps; Linux only.

    Raises `InputError` that names `gate` or `ranks`."""

    def __new__(cls, path: str | os.PathLike[str], ranks: int, steps: int) -> Self: ...
    def publish(self, up: int) -> None:
        """Let the first so many steps begin: their circuits are up."""
    def wait_done(self, steps: int) -> tuple[str, int | None]:
        """`done` where all ranks are done with the first so many steps, `left` where all have closed the gate, `lost`
        with a rank that is not done and is there no more; `waiting` after at most 50 ms."""
    @property
    def done(self) -> int:
        """The steps that all ranks are done with; 0 once it is closed."""
    def fail(self, lost: int | None = None) -> None:
        """Tell the ranks that this rank was lost, or that a switch failed."""
    def close(self) -> None:
        """Tell the ranks that the gate is closed, unless they know of a failure, and remove its file."""

@final
class GateRank:
    """The gate at a path as a rank has it open, once its controller is there; Linux only.

    Raises `OSError` where it is not there within the time, has no such rank, or the rank was opened before."""

    def __new__(cls, path: str | os.PathLike[str], rank: int, timeout_s: float) -> Self: ...
    @property
    def steps(self) -> int:
        """The steps of one run of the plan."""
    @property
    def lost(self) -> int | None:
        """The rank that was lost, after `rank-lost`."""
    def wait_for(self, step: int, timeout_s: float) -> str:
        """`done` once the circuits of a step are up; else `timed-out`, `controller-lost`, `rank-lost`, `switch-failed`
        or `closed`."""
    def done(self, step: int) -> str:
        """Say that this rank has sent and received all of a step, and of all before it; `done`, or `wrong-input` for a
        step whose circuits have not been up."""
    def close(self) -> None:
        """Tell the controller that this rank has left."""

Pairs = NDArray[np.uint32]

@final
class Circuits:
    """The settings of switches, checked; the public class is `lightloom.Circuits`."""

    @staticmethod
    def from_json(text: str) -> Circuits: ...
    def to_json(self) -> str: ...
    @property
    def switches(self) -> list[tuple[str, int]]:
        """Name, and ingress ports, which are as many as egress ports."""
    @property
    def configurations(
        self,
    ) -> list[
        tuple[
            int,
            list[int],
            float,
            tuple[list[str], list[str], list[int]] | None,
            list[tuple[Pairs, Pairs, Pairs, NDArray[np.uint32]]],
        ]
    ]:
        """Index of the topology, steps, seconds, nodes of the events after which it is set and that need it, with the
        steps from which, and per switch rows of ingress and egress port: all that are joined, new, and given up; the
        wavelength of each of all, where there are wavelengths."""
    @property
    def light(
        self,
    ) -> list[
        tuple[
            list[tuple[tuple[int, int], list[int], list[int], int, float, float | None, float | None]],
            list[tuple[int, int, tuple[str, int], tuple[str, int]]],
        ]
    ]:
        """Per configuration the ports, MZIs, waveguides between them, wavelength, dB, mW and metres of fibre of every
        circuit; and MZI, wavelength, where light enters and where it leaves of every state. Empty where no mesh is
        the switch."""

    @property
    def energy(self) -> tuple[list[float], float, float, float, float] | None:
        """Joules of each step, of all changes, of all steps; bits that GPUs send, and picojoules for each; None where
        the efficiency of lasers is not known."""

    @property
    def fibre_delay(self) -> tuple[list[float], float] | None:
        """Seconds of each step, and of all, that light is in fibres; None where nothing is said about lengths."""

@final
class CircuitTotals:
    """Use of circuits over a whole plan; arrays of one entry a circuit, by (src, dst, circuit)."""

    def __len__(self) -> int: ...
    @property
    def src(self) -> NDArray[np.uint32]: ...
    @property
    def dst(self) -> NDArray[np.uint32]: ...
    @property
    def circuit(self) -> NDArray[np.uint32]:
        """Number among the parallel circuits of a link."""
    @property
    def bytes(self) -> NDArray[np.uint64]:
        """Bytes sent, headers included."""
    @property
    def busy_s(self) -> NDArray[np.float64]: ...
    @property
    def utilisation(self) -> NDArray[np.float64]:
        """Busy time over the completion time of the plan."""
    @property
    def queue_bytes(self) -> NDArray[np.uint64]:
        """Most bytes of packets on their way that waited or were being sent at once; 0 at flow level."""

@final
class CircuitUses:
    """Use of circuits in one step; arrays of one entry a circuit, by (src, dst, circuit)."""

    def __len__(self) -> int: ...
    @property
    def src(self) -> NDArray[np.uint32]: ...
    @property
    def dst(self) -> NDArray[np.uint32]: ...
    @property
    def circuit(self) -> NDArray[np.uint32]: ...
    @property
    def bytes(self) -> NDArray[np.uint64]:
        """Bytes sent, headers included; 0 for a circuit that is up and not used."""
    @property
    def packets(self) -> NDArray[np.uint64]: ...
    @property
    def first_s(self) -> NDArray[np.float64]:
        """First bit out; 0 where nothing is sent."""
    @property
    def last_s(self) -> NDArray[np.float64]:
        """Last bit out; 0 where nothing is sent."""
    @property
    def busy_s(self) -> NDArray[np.float64]: ...
    @property
    def queue_bytes(self) -> NDArray[np.uint64]:
        """As in `CircuitTotals`; under dataflow over all steps in which the circuit is up."""

@final
class GpuTimes:
    """Times of GPUs in one step, s; arrays of one entry a GPU, NaN where it sends or receives nothing."""

    def __len__(self) -> int: ...
    @property
    def gpu(self) -> NDArray[np.uint32]: ...
    @property
    def ready_s(self) -> NDArray[np.float64]:
        """When it had everything of the steps before, and the barrier was passed if there is one."""
    @property
    def first_send_s(self) -> NDArray[np.float64]: ...
    @property
    def last_sent_s(self) -> NDArray[np.float64]:
        """When its own last bit was out."""
    @property
    def last_received_s(self) -> NDArray[np.float64]:
        """When the last bit for it was there."""

@final
class SimulatedStep:
    """One step of a simulation; times in seconds."""

    @property
    def index(self) -> int: ...
    @property
    def topology_index(self) -> int: ...
    @property
    def topology_name(self) -> str: ...
    @property
    def reconfigured(self) -> bool: ...
    @property
    def start_s(self) -> float:
        """When the first GPU was ready for it."""
    @property
    def reconfiguration_s(self) -> float:
        """Dark time before it; from when all GPUs are ready for it where reconfiguration is global."""
    @property
    def startup_s(self) -> float: ...
    @property
    def end_s(self) -> float:
        """When the last bit was received."""
    @property
    def duration_s(self) -> float: ...
    @property
    def predicted_s(self) -> float:
        """The step's time by the plan: the sum of its terms."""
    @property
    def symmetry_order(self) -> int:
        """How many GPUs, or circuits, one that was simulated stands for."""
    def circuits(self, expanded: bool = True) -> CircuitUses:
        """Every circuit that is up, or one of each orbit."""
    def gpus(self, expanded: bool = True) -> GpuTimes:
        """Every GPU, or one of each orbit."""

@final
class Simulation:
    """The results of a simulation; the public class is `lightloom.Simulation`."""

    @property
    def total_s(self) -> float: ...
    @property
    def packets(self) -> int: ...
    @property
    def packet_hops(self) -> int: ...
    @property
    def payload_bytes(self) -> int: ...
    @property
    def wire_bytes(self) -> int: ...
    @property
    def marked_packets(self) -> int: ...
    @property
    def notifications(self) -> int: ...
    @property
    def decreases(self) -> int: ...
    @property
    def steps(self) -> list[SimulatedStep]: ...
    def circuits(self) -> CircuitTotals:
        """Every circuit of any step."""

# A line of a comparison: planner, algorithm and topology; whether the planner keeps the best of all,
# and plans this collective at all; time, terms and reconfigurations, if it could serve the problem; else why not, and
# its least time if it is known to be slower than the best.
RowTuple = tuple[tuple[str, str, str], tuple[bool, bool], tuple[float, Terms, int] | None, tuple[str, float | None]]

@final
class Statement:
    """A lower bound with what it is made of."""

    @property
    def name(self) -> str: ...
    @property
    def bound_class(self) -> str:
        """The class of schedules that it bounds."""
    @property
    def why(self) -> str:
        """Why it holds, in a sentence."""
    @property
    def startup_s(self) -> float: ...
    @property
    def propagation_s(self) -> float: ...
    @property
    def transmission_s(self) -> float: ...
    @property
    def reconfiguration_s(self) -> float: ...
    @property
    def lower_bound_s(self) -> float:
        """The sum of the four terms, less what rounding may have added."""
    @property
    def topologies(self) -> int:
        """How many topologies it counts with, one after the other."""
    @property
    def steps(self) -> int: ...
    @property
    def segments(self) -> list[tuple[int, int, float]]:
        """By topology: least steps, least hops, and how many times more ranks hold a block after it; empty for bounds
        that follow no block."""

@final
class Problem:
    """One schedule on one fabric, with its candidate topologies; profiles are kept between calls."""

    def __new__(cls, request: Request) -> Problem: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def steps(self) -> int: ...
    @property
    def candidates(self) -> list[Topology]: ...
    @property
    def gpus(self) -> int: ...
    @property
    def ports(self) -> int: ...
    @property
    def routing(self) -> str: ...
    @property
    def initial(self) -> Topology | None:
        """Topology before the first step; None where the start is free, and where the plan is repeated."""
    @property
    def repeated(self) -> bool:
        """Whether the plan runs again and again, so that it starts on the topology of its last step."""
    @property
    def startup_s(self) -> float:
        """Seconds of every step, in addition to its hops and load."""
    @property
    def hop_s(self) -> float:
        """Seconds per hop of a step's longest path."""
    @property
    def load_s(self) -> list[float]:
        """Seconds per unit of load, by step."""
    @property
    def constant_change_s(self) -> float:
        """Seconds charged for every change. Raises `InputError` where they are not all charged the same."""
    def arcs(self, step: int) -> list[tuple[int, int, float]]:
        """Every (source, destination, weight) of a step, weights relative to its largest transfer."""

def fast_on_servers(
    matrix: NDArray[np.float64],
    server_gpus: int,
    electrical: tuple[float, float],
    optical: tuple[float, float, float],
) -> tuple[float, float, float, float, float, list[tuple[list[tuple[int, int]], float, float]]]:
    """Seconds of FAST on servers, of its bound, before the first stage, after the last, of bytes within servers that
    the stages leave no time for; pairs of servers, seconds of circuits and of the electrical network of every stage.
    electrical: bytes/s of a GPU, seconds of a phase; optical: the same of a stage, seconds of a change."""

def all_to_all_lines(request: Request, delays_s: Sequence[float]) -> list[tuple[str, list[tuple[int, float, float]]]]:
    """By planner that forwards blocks in rounds, (topologies, seconds, seconds if no circuit waited for another) of
    each of its strategies, whose time at a reconfiguration delay R is R·topologies and the seconds. Strategies of
    unequal blocks are relabelled that `reconfigure-all-to-all` takes at one of these delays."""

def shift_hops(gpus: int) -> list[int]:
    """Σ hops of the one-port strategies of `reconfigure-all-to-all` with one topology, two, and so on."""

@final
class Better:
    """A plan that is faster than those before it."""

    elapsed_s: float
    total_s: float
    lower_bound_s: float
    def plan(self) -> Plan: ...

def plan(
    request: Request, warm_start: Plan | None = None, progress: Callable[[Better], None] | None = None
) -> Plan: ...
def plan_with_same_bits(request: Request) -> Plan:
    """The fastest plan; for an AllReduce the fastest one whose result is the same at every rank, to the bit."""

def repair(plan: Plan, failed: list[str], anew: bool) -> tuple[Plan, int, int, bool, Plan | None]:
    """The plan mended for these faults; its circuits that are kept and new; whether nothing was kept, so that it is
    planned anew; with `anew`, a plan made anew."""

def baselines(request: Request, plan: Plan | None = None) -> list[RowTuple]:
    """Every planner at its best algorithm, fastest first, whichever planner the request names; `plan` is the request's,
    where it is known already."""

def bound(request: Request) -> tuple[list[Statement], int]:
    """Every lower bound that is known for the request: that of any algorithm first, then those of the one it names; and
    the index of the largest that holds for every plan of the request."""

def plan_on(request: Request, sequence: Sequence[Topology]) -> Plan:
    """The plan of the request's one schedule on these topologies, one for each step. Raises `InputError`."""

def proved_plan(request: Request, topologies: Sequence[Topology], bound_s: float, bound_class: str) -> Plan:
    """The best plan of the request's one schedule on these topologies, as planner `exact`, with a proved bound."""

def compare(request: Request, seen: Callable[[RowTuple], object] | None = None) -> tuple[list[RowTuple], float, str]:
    """Rows, fastest first, those that could not be served last; the bound in seconds and its class. `seen` is called
    with every row once it is found, in any order and from several threads."""

def simulate(plan: Plan, **settings: object) -> Simulation:
    """settings: the fields of `lightloom.simulation.SimulationSettings`, in seconds and bytes."""

# An estimate with the ends of its confidence interval, s.
EstimateTuple = tuple[float, float | None, float | None]
# Samples of a plan's completion time, s; the time where nothing is uncertain, and the standard deviation; the terms in
# the mean; the mean; probabilities with their quantiles.
SampledTuple = tuple[NDArray[np.float64], tuple[float, float], Terms, EstimateTuple, list[tuple[float, EstimateTuple]]]

def sample(
    plan: Plan,
    uncertain: str,
    read: Callable[[str], str],
    samples: int,
    seed: int,
    settings: dict[str, object] | None = None,
) -> SampledTuple:
    """Samples of a plan's completion time. read: gives the text of a file of samples. settings: of the simulation that
    the times of steps come from, as for `simulate`; without them they are the plan's own."""

def plans_by(
    request: Request, uncertain: str, read: Callable[[str], str], objective: str, samples: int, seed: int
) -> list[tuple[Plan, SampledTuple, float]]:
    """Plans of a request with their samples and mean regrets, s, the best by the objective first."""

def circuits(
    plan: Plan, kind: str, names: list[str], switch_ports: int | None
) -> tuple[Circuits, tuple[int, float], tuple[str, str], list[list[str]]]:
    """The circuits of a plan on ports; the least connections that any assignment sets up after the first configuration,
    and seconds that all changes are charged; the kind with its parameters, and which port is whose, in a sentence; per
    switch and port what is there."""

def iteration_circuits(
    training: TrainingPlan, kind: str, names: list[str], switch_ports: int | None
) -> tuple[Circuits, tuple[str, str], list[list[str]]]:
    """The circuits of an iteration on ports; the kind with its parameters, and which port is whose, in a sentence; per
    switch and port what is there."""

def verify_iteration_circuits(
    circuits: Circuits, training: TrainingPlan, optics: str | None
) -> list[tuple[str, bool, str]]:
    """(check, passed, detail) for each check of circuits against their training iteration."""

def verify_circuits(circuits: Circuits, plan: Plan, optics: str | None) -> list[tuple[str, bool, str]]:
    """(check, passed, detail) for each check of circuits against their plan."""

def barriers() -> list[list[str]]:
    """Name, summary and source of every barrier; empty where plans are not run."""

@final
class Task:
    """A plan for one rank of a group, and data of one size; `Member.carry` carries it out.

    elements: in the whole buffer, where blocks is None; blocks: of an All-to-All, elements by source and destination in
    a row. ports: per rank. configurations: by configuration and transmitter, the receiver, -1 where dark. held:
    the configuration of each step. Seconds for which ports are dark before each step, of a step's startup, of a byte,
    and of a hop, 0 where nothing is held back. Raises `InputError` that names `plan`.
    """

    def __new__(
        cls,
        plan: Plan,
        rank: int,
        element_bytes: int,
        *,
        elements: int | None,
        blocks: Sequence[int] | None,
        ports: int,
        configurations: Sequence[Sequence[int]],
        held: Sequence[int],
        dark_s: Sequence[float],
        startup_s: float,
        s_per_byte: float,
        hop_s: float,
    ) -> Task: ...

@final
class Member:
    """One rank of a group of processes of this machine, which share memory; Linux only.

    call: says what the ranks do, the same at all of them. Raises `OSError` with the fault of the group, which is the
    same at every rank: one that ended or left, that calls something else, or that does not come in time.
    """

    @staticmethod
    def create(ranks: int, ports: int) -> Member:
        """Rank 0, which makes the memory; ports: per rank."""
    @staticmethod
    def join(rank: int, ranks: int, ports: int, address: str) -> Member:
        """Another rank, by the address of rank 0."""
    @property
    def address(self) -> str: ...
    @property
    def failure(self) -> str | None: ...
    def meet(self, call: str, timeout_s: float) -> None:
        """Wait for all ranks."""
    def watch(self, call: str) -> None:
        """Look whether the group can go on."""
    def share(self, call: str, numbers: Sequence[int], timeout_s: float) -> list[list[int]]:
        """The numbers of all ranks, at most one for each rank of the group."""
    def execute(
        self,
        task: Task,
        call: str,
        dtype: str,
        reduction: str,
        input: NDArray[np.uint8] | None,  # noqa: A002
        output: NDArray[np.uint8],
        timeout_s: float,
    ) -> tuple[list[tuple[int, int]], int]:
        """Execute a task; no input: the output holds it. By step, its moment and the ports that changed; its end.

        Nanoseconds of `time.monotonic_ns`.
        """
    def send(self, to: int, tag: int, data: NDArray[np.uint8]) -> int:
        """Ask for a message to be sent: its number."""
    def receive(self, source: int | None, tag: int) -> int:
        """Ask for a message, from a rank or from any: its number."""
    def deliver(self, timeout_s: float) -> list[tuple[int, int, bytes]]:
        """Number, other rank and content of messages that were sent (without content) or came, once some have."""
    def abort(self, why: str) -> None:
        """End the group for all ranks."""
    def leave(self) -> None:
        """Take part in nothing more."""

def barrier_rounds(name: str, ranks: int, rounds: int, owner: int) -> bytes:
    """Nanoseconds of every round of a barrier of so many processes, four bytes each, least first. The calling process
    has one thread, forks them, and ends with the process `owner` that started it. Raises `OSError` in words."""

def change_times(plan: Plan) -> tuple[list[float], list[float]]:
    """Per step, seconds for which ports that change before it are dark, and of computation before it. Raises
    `InputError` that names `plan` where a change is made in the background."""

def free_memory() -> int | None:
    """Bytes of memory that can be had without swapping; None where the system does not say."""

def run_request(
    program: Mapping[str, object],
    steps: Mapping[str, NDArray[np.int64]],
    changes: Mapping[str, NDArray[np.int64]],
    settings: Mapping[str, object],
) -> bytes:
    """The request to the controller process; the fields of `runtime::Request`, columns as arrays of int64, lists as
    their numbers one after the other and, with `_offsets`, where each begins and the last one ends, circuits as the
    receiver of every transmitter, one configuration after the other, -1 for no receiver."""

def serve_runs(descriptor: int) -> None:
    """Be the controller process of whoever has the other end of a socket, until that is closed."""

# Sleeps; nanoseconds by which half, 99 of 100 and all of them were late at most.
LatenessTuple = tuple[int, int, int, int]

def run_report(
    report: bytes,
) -> tuple[NDArray[np.uint64], list[NDArray[np.uint64]], list[LatenessTuple], tuple[bool, bool]]:
    """Nanoseconds that runs took; by run, the moments of steps, of ranks, the use of circuits, and the moments of
    changes, in a row; lateness in the probe, of the switch and of ranks; whether real-time priority and locked memory
    were granted."""

def verify_plan(plan: Plan) -> list[tuple[str, bool, str]]:
    """(check, passed, detail) for each check."""

def verify_schedule(schedule: Schedule) -> list[tuple[str, bool, str]]: ...
def profile(
    topology: Topology, traffic: Sequence[tuple[int, int, float]], routing: str
) -> list[tuple[int, float, float]]:
    """Front of (hops, load, certified lower bound on the load); empty when a pair is not connected."""

# Wavelength, MZIs, and which of the waveguides leads from each to the next.
MeshRouteTuple = tuple[int, list[int], list[int]]
# Kind, sentence, and of a cut the MZIs inside, the circuits that must leave and the places to leave by.
MeshProofTuple = tuple[str, str, tuple[list[int], int, int] | None, list[tuple[int, int, int]] | None]
# Per circuit its index, its route and loss, or why it has no route; method, passes, proof, a budget that is not kept.
MeshRoundTuple = tuple[
    list[tuple[int, tuple[MeshRouteTuple, float] | None, str | None]],
    str,
    int,
    MeshProofTuple | None,
    str | None,
]
# The values of sensitivity_dbm, margin_db, max_launch_dbm, max_tile_mw, max_interposer_mw, laser_efficiency.
MeshLaunchTuple = tuple[float | None, float | None, float | None, float | None, float | None, float | None]

@final
class Mesh:
    """Interposers of tiles of MZIs, joined by fibres; `lightloom.Mesh` has its settings by name."""

    def __new__(
        cls,
        mzis: str,
        tiles: str,
        interposers: str,
        numbers: tuple[int, int, int],
        lengths: tuple[float, float, float, float, float | None],
        launch: MeshLaunchTuple,
    ) -> Mesh: ...
    def launch_mw(self, loss_db: float) -> float | None:
        """Power that the laser of a circuit launches which loses this much, mW; None without a sensitivity."""
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def mzi_of_tile(self) -> NDArray[np.uint32]: ...
    def route(
        self, circuits: list[tuple[int, int]], transmitters: int | None, receivers: int | None, seed: int
    ) -> tuple[list[int], list[MeshRoundTuple]]:
        """The round of each circuit, a pair of MZIs, and what came of each round."""
    def states(self, routes: list[MeshRouteTuple]) -> NDArray[np.int32]:
        """Rows of MZI, wavelength, side and number of the input, side and number of the output; side 4 is the tile."""
    def check(self, circuits: list[tuple[int, int]], routes: list[MeshRouteTuple | None]) -> list[float | None]:
        """Losses in dB by the checker. Raises `RuntimeError` with the first fault."""
    def check_lengths(self, circuits: list[tuple[int, int]], lengths: list[tuple[int, int, int]]) -> tuple[int, int]:
        """The sum of the circuits' distances by lengths (MZI, the next, length), and of the lengths of all places."""
    def check_cut(self, circuits: list[tuple[int, int]], inside: list[int]) -> tuple[int, int]:
        """Circuits that must leave a set of MZIs, and places by which they may, by the checker."""

def route_fibres(
    servers: str,
    both_ways: bool,
    existing: list[tuple[int, int, int]],
    circuits: list[tuple[int, int]],
    seed: int,
) -> tuple[list[list[int]], int, int, str, int]:
    """Paths, circuits on the busiest edge, a bound on that, what proves it, passes."""

def check_fibres(
    servers: str,
    both_ways: bool,
    existing: list[tuple[int, int, int]],
    circuits: list[tuple[int, int]],
    paths: list[list[int]],
) -> int:
    """Circuits on the busiest edge by the checker. Raises `RuntimeError` with the first fault."""

def fibre_lengths(parameters: str, gpus: int) -> tuple[tuple[int, int], list[float], list[float], float] | None:
    """Rows and columns of the interposers of `mesh:...`, their positions in metres, and ns of a metre of fibre."""

def placed_mesh(
    parameters: str, gpus: int
) -> tuple[
    list[str], tuple[int, int, int], tuple[float, float, float, float, float | None], MeshLaunchTuple, list[int]
]:
    """The mesh of `mesh:...` for so many GPUs: grids, numbers, lengths, launch as `Mesh` takes them; each GPU's MZI."""
