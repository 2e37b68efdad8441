"""Training iterations of PCCL §6: the time of one when each of its AllReduces takes as long as on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom import Workload
from lightloom_papers.pccl import swing
from lightloom_papers.pccl.schemes import BASELINES, PCCL, PCCL_DIVIDED, starts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lightloom_papers.figure import Setting
    from lightloom_papers.pccl.schemes import Scheme, Start

# When gradients are reduced, which the paper does not say, and the model that has it so.
DURING, AFTER = "during the backward pass", "after the backward pass"
MODELS = {DURING: "bert-pccl-overlapped", AFTER: "bert-pccl"}
GPUS = (32, 64, 128)
# §6, of each GPU.
SAMPLES = 16
PLANNED = (PCCL, PCCL_DIVIDED)
NAMES = (*(scheme.name for scheme in BASELINES), "Swing")


class Reduction(NamedTuple):
    """One AllReduce on its own: its time (s), its reconfigurations, and how long its circuits are dark after it (s)."""

    time_s: float
    reconfigurations: int = 0
    back_s: float = 0.0


class Place(NamedTuple):
    """Where an iteration is compared: when gradients are reduced, how many GPUs, and the start topology."""

    when: str
    gpus: int
    topology: str


# By place and scheme: the iteration's time (s).
Iterations = dict[Place, dict[str, float]]
# By GPUs, start topology and scheme: each size's AllReduce.
Reductions = dict[tuple[int, str, str], dict[int, Reduction]]


def workloads() -> dict[tuple[str, int], Workload]:
    """The iterations' graphs, by when gradients are reduced and the number of GPUs."""
    return {(when, gpus): Workload.read(model, ranks=gpus) for when, model in MODELS.items() for gpus in GPUS}


def iteration_s(workload: Workload, reductions: Mapping[int, Reduction], computing: float = 1.0) -> float:
    """The time of an iteration of data parallelism (s).

    GPUs compute one node at a time and the fabric carries one AllReduce at a time, both in the order of the workload's
    nodes, as soon as their predecessors have ended. `reductions` has the AllReduce of each size (bytes). The way back
    to the start topology after the last one passes while the next iteration computes. `computing` multiplies the times
    of computation.
    """
    ended_s: dict[str, float] = {}
    computed_s = carried_s = 0.0
    for node in workload.nodes:
        ready_s = max((ended_s[name] for name in node["after"]), default=0.0)
        if node["kind"] == "compute":
            computed_s = max(ready_s, computed_s) + computing * node["duration_s"]
            ended_s[node["id"]] = computed_s
        else:
            one = reductions[node["size_bytes"]]
            end_s = max(ready_s, carried_s) + one.time_s
            ended_s[node["id"]] = end_s
            carried_s = end_s + one.back_s
    return max(ended_s.values())


def sizes(workload: Workload) -> tuple[int, ...]:
    """Sizes of its AllReduces, each once, in the order in which they come (bytes)."""
    return tuple(dict.fromkeys(node["size_bytes"] for node in workload.nodes if node["kind"] != "compute"))


def baselines(setting: Setting, of_sizes: Sequence[int]) -> Reductions:
    """AllReduces by the algorithms, on topologies that stay."""
    found = _measured(setting, BASELINES, of_sizes, 0.0)
    for gpus in GPUS:
        for start in starts(gpus):
            found[gpus, start.label, "Swing"] = {
                size: Reduction(2 * sum(swing.parts_s(start, size))) for size in of_sizes
            }
    return found


def planned(setting: Setting, of_sizes: Sequence[int], delay_s: float) -> Reductions:
    """PCCL's AllReduces, each from the start topology.

    One that reconfigures ends on its last step's circuits, so the next must wait for the start topology's.
    """
    return _measured(setting, PLANNED, of_sizes, delay_s)


def _measured(setting: Setting, schemes: Sequence[Scheme], of_sizes: Sequence[int], delay_s: float) -> Reductions:
    places: list[tuple[int, Start, Scheme, int]] = [
        (gpus, start, scheme, size)
        for gpus in GPUS
        for start in starts(gpus)
        for scheme in schemes
        for size in of_sizes
    ]
    cases = [scheme.case("all-reduce", size, gpus, start, delay_s) for gpus, start, scheme, size in places]
    found: Reductions = {}
    for (gpus, start, scheme, size), one in zip(places, setting.measure(cases), strict=True):
        back_s = delay_s if one.reconfigurations else 0.0
        alone = Reduction(one.total_s, one.reconfigurations, back_s)
        found.setdefault((gpus, start.label, scheme.name), {})[size] = alone
    return found


def iterations(
    graphs: Mapping[tuple[str, int], Workload], reductions: Reductions, computing: float = 1.0
) -> Iterations:
    """The iterations' times, by every scheme that `reductions` has; `computing` as for `iteration_s`."""
    found: Iterations = {}
    for (when, gpus), workload in graphs.items():
        for (of_gpus, topology, name), alone in reductions.items():
            if of_gpus == gpus:
                found.setdefault(Place(when, gpus, topology), {})[name] = iteration_s(workload, alone, computing)
    return found
