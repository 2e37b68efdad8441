"""The table that Lightloom's tuner plugin for NCCL reads: the times of NCCL's algorithms on each topology of a plan.

A line for each topology and algorithm that NCCL has and Lightloom prices: the fixed part of the time and the part by
size, both at the plan's size. NCCL's tree is priced as Reduce and Broadcast by a binary tree one after the other, which
is no less than what NCCL's pipelined tree takes. NVIDIA/nccl, src/include/plugin/tuner/tuner_v5.h has NCCL's names.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from lightloom import _core
from lightloom.base.errors import InputError, refuse
from lightloom.formats.output import MAIN, OUTPUT_NAME, SIDE, Exported
from lightloom.formats.side_files import side_file
from lightloom.plans import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["export"]

FIRST = "lightloom-nccl-tuner 1"
COLUMNS = "# topology collective ranks algorithm protocol channels fixed_us us_per_mib"
MIB = 1 << 20
# NCCL's algorithms by collective: what Lightloom runs one after the other in place of each, as (collective, algorithm).
ALGORITHMS: dict[str, dict[str, tuple[tuple[str, str], ...]]] = {
    "all-reduce": {
        "ring": (("all-reduce", "ring"),),
        "tree": (("reduce", "binary-tree"), ("broadcast", "binary-tree")),
    },
    "all-gather": {"ring": (("all-gather", "ring"),), "pat": (("all-gather", "pat"),)},
    "reduce-scatter": {"ring": (("reduce-scatter", "ring"),), "pat": (("reduce-scatter", "pat"),)},
}


class Time(NamedTuple):
    """Microseconds of a collective that do not depend on the size, and those for each MiB of the buffer."""

    fixed_us: float
    us_per_mib: float


def export(plans: Sequence[Plan]) -> Exported:
    """The table for several plans, of which the first one's first topology is up unless it is said otherwise.

    Raises `InputError` that names `plan`: a collective that NCCL has no choice of algorithms for, or no topology on
    which its algorithms have paths.
    """
    lines: dict[str, None] = {}
    names: dict[str, bytes] = {}
    for plan in plans:
        if plan.collective not in ALGORITHMS:
            able = ", ".join(ALGORITHMS)
            raise refuse("plan", f"NCCL has no choice of algorithms for {plan.collective}; it takes plans of {able}")
        for topology in _in_order(plan):
            timed = {
                algorithm: time
                for algorithm, parts in ALGORITHMS[plan.collective].items()
                if (time := _time(plan, topology, parts)) is not None
            }
            # Circuits that do not join all GPUs serve steps of the plan alone.
            if timed:
                name = _named(topology, names)
                lines |= {_line(name, plan, algorithm, time): None for algorithm, time in timed.items()}
    if not lines:
        raise refuse("plan", "no algorithm of NCCL has paths for all its transfers on one of the plan's topologies")
    files = {MAIN: "\n".join([FIRST, COLUMNS, *lines, ""]).encode()}
    for number, plan in enumerate(plans, 1):
        files[SIDE if number == 1 else f".circuits-{number}.json"] = side_file(plan, "nccl-tuner")
    environment = f"NCCL_TUNER_PLUGIN=libnccl_tuner_lightloom.so LIGHTLOOM_TUNER_TABLE={OUTPUT_NAME}"
    notes = [
        f"run with {environment}, the same at all ranks",
        f"topologies on which NCCL's algorithms have paths: {', '.join(names)}; where another than the first is up, "
        "LIGHTLOOM_TUNER_TOPOLOGY says so",
    ]
    return Exported(files, SIDE, tuple(notes))


def _in_order(plan: Plan) -> list[_core.Topology]:
    """The topologies of the steps, in the order in which they are first up."""
    return [plan.topologies[index] for index in dict.fromkeys(step.topology_index for step in plan.steps)]


def _named(topology: _core.Topology, names: dict[str, bytes]) -> str:
    """The name of a topology in the table: without blanks, and another one where other links have that name."""
    links = topology.links.tobytes()
    name = stem = "_".join(topology.name.split())
    number = 1
    while names.setdefault(name, links) != links:
        number += 1
        name = f"{stem}-{number}"
    return name


def _time(plan: Plan, topology: _core.Topology, parts: Sequence[tuple[str, str]]) -> Time | None:
    """The time of the parts on a topology that stays; None where a transfer has no path there."""
    fabric = _core.FabricOptions(
        ports=plan.ports,
        dims=list(plan.dims),
        bandwidth=plan.bandwidth_bps,
        startup=plan.startup_s,
        hop_delay=plan.hop_delay_s,
        barrier=plan.barrier_s,
    ).fabric(plan.gpus, None)
    settings: dict[str, object] = {"planner": "static", "topology": [topology], "routing": plan.routing}
    fixed_s: list[float] = []
    sent_s: list[float] = []
    for collective, algorithm in parts:
        try:
            request = _core.Request(fabric, collective, plan.size_bytes, None, algorithm=algorithm, **settings)
            steps = Plan(_core.plan(request)).steps
        except InputError as error:
            if error.field not in {"topology", "gpus"}:
                raise
            return None
        fixed_s += [step.startup_s + step.propagation_s + step.barrier_s for step in steps]
        sent_s += [step.transmission_s for step in steps]
    return Time(math.fsum(fixed_s) * 1e6, math.fsum(sent_s) * 1e6 * MIB / plan.size_bytes)


def _line(topology: str, plan: Plan, algorithm: str, time: Time) -> str:
    # With fewer channels than circuits at a GPU, some circuits would stay idle; with one circuit NCCL chooses.
    channels = plan.ports if plan.ports > 1 else 0
    cells = (topology, plan.collective, plan.gpus, algorithm, "auto", channels, f"{time.fixed_us:.9g}")
    return " ".join(map(str, (*cells, f"{time.us_per_mib:.9g}")))
