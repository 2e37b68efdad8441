"""The function `simulate`: of a plan, or of a training iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from lightloom.inputs.quantities import bytes_of, seconds_of
from lightloom.plans import Plan
from lightloom.simulation import Simulation, SimulationSettings
from lightloom.simulation.iterations import TrainingSimulation
from lightloom.training.documents import plan_or_training

if TYPE_CHECKING:
    import os

    from lightloom.training.result import Training

# As the core takes them, header and payload each.
MOST_PACKET_BYTES = 1 << 30


class _Named(TypedDict, total=False):
    """The keyword arguments of `simulate` that are names, but for its level."""

    injection: str
    forwarding: str
    sync: str
    reconfiguration: str
    congestion_control: str
    symmetry: str


class Assumptions(_Named, total=False):
    """The keyword arguments of `simulate` but for its level."""

    packet_size: str | float
    header_size: str | float
    barrier: str | float
    buffer: str | float | None


class _Settings(Assumptions, total=False):
    """The keyword arguments of `simulate`."""

    level: str


@overload
def simulate(plan: Training, **settings: Unpack[_Settings]) -> TrainingSimulation: ...
@overload
def simulate(plan: Plan, **settings: Unpack[_Settings]) -> Simulation: ...
@overload
def simulate(plan: str | os.PathLike[str], **settings: Unpack[_Settings]) -> Any: ...
def simulate(
    plan: Plan | Training | str | os.PathLike[str],
    *,
    level: str = "packet",
    packet_size: str | float = "4096B",
    header_size: str | float = "0B",
    injection: str = "burst",
    forwarding: str = "store-and-forward",
    sync: str = "barrier",
    barrier: str | float = "0s",
    reconfiguration: str = "global",
    buffer: str | float | None = None,
    congestion_control: str = "none",
    symmetry: str = "quotient",
) -> Simulation | TrainingSimulation:
    """Simulate a plan, when each step, GPU and circuit is busy; or an iteration, when its events are.

    plan: a Plan, or a plan's JSON file; one that was read must pass `lightloom.verify`. A Training, or the JSON file of
        one: each of its plans is simulated, and the iteration timed again, in the same order on the same ports.
    level: `"packet"`, every packet in FIFO queues; `"flow"`, flows at max-min fair rates.
    packet_size: payload of a packet, `"4KiB"` or bytes; header_size: bytes on the wire in addition to it.
    injection: `"burst"`, all at the start of the step; `"paced"`, evenly over the time of the step's busiest link.
    forwarding: `"store-and-forward"`, or `"cut-through"`: a packet goes on once its header is there.
    sync: `"barrier"`, all GPUs finish a step before any begins the next; `"dataflow"`, each goes on when it can.
    barrier: time of a barrier between two steps, `"1us"` or seconds.
    reconfiguration: which circuits are dark during a change: `"global"`, all; `"ports"`, those that change.
    buffer: bytes on their way that the far end of a circuit can hold, `"64KiB"` or bytes; no limit when left out.
    congestion_control: `"none"`; `"dcqcn"`, a rate for each flow; `"window"`, a window for each flow; the last two
        with settings such as `"dcqcn:kmin=100KB,pmax=0.2"` (docs/simulation.md).
    symmetry: `"quotient"`, one GPU stands for all that are like it; `"full"`, every GPU; the results are the same.

    Raises `InputError` that names the argument, also where the simulation would take 9223 s or more.
    """
    settings = settings_of(
        level=level,
        packet_size=packet_size,
        header_size=header_size,
        injection=injection,
        forwarding=forwarding,
        sync=sync,
        barrier=barrier,
        reconfiguration=reconfiguration,
        buffer=buffer,
        congestion_control=congestion_control,
        symmetry=symmetry,
    )
    subject = plan_or_training(plan)
    if isinstance(subject, Plan):
        return Simulation(subject, settings)
    return TrainingSimulation(subject, settings)


def settings_of(
    *,
    level: str = "packet",
    packet_size: str | float = "4096B",
    header_size: str | float = "0B",
    barrier: str | float = "0s",
    buffer: str | float | None = None,
    **named: Unpack[_Named],
) -> SimulationSettings:
    """The arguments of `simulate` in seconds and bytes. Raises `InputError` that names the argument."""
    return SimulationSettings(
        level=level,
        packet_bytes=bytes_of("packet_size", packet_size, most=MOST_PACKET_BYTES),
        header_bytes=bytes_of("header_size", header_size, least=0, most=MOST_PACKET_BYTES),
        barrier_s=seconds_of("barrier", barrier),
        buffer_bytes=None if buffer is None else bytes_of("buffer", buffer),
        **named,
    )
