"""A sampler of its own: every GPU, circuit and port draws for itself, by the plan's routes, one run after the other."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom import Plan


def totals_s(
    plan: Plan,
    samples: int,
    seed: int,
    *,
    startup: float,
    bandwidth: float,
    delay: float,
    straggler: tuple[float, float],
) -> NDArray[np.float64]:
    """Completion times of runs, s.

    Startups are normal of deviation `startup` about the plan's, circuits' rates uniform within the share `bandwidth`,
    delays of changed ports lognormal of deviation `delay`; a GPU is slow with a probability, by a factor.
    """
    random = np.random.default_rng(seed)
    nominal_startup_s, byte_s = plan.steps[0].startup_s, 8 / plan.bandwidth_bps
    made = np.empty(samples)
    steps = [_step(plan, index) for index in range(len(plan.steps))]
    for sample in range(samples):
        slow = np.where(random.random(plan.gpus) < straggler[0], straggler[1], 1.0)
        total_s = 0.0
        for step, (gpus, circuits, changed_ports) in zip(plan.steps, steps, strict=True):
            if step.reconfiguration_s:
                total_s += step.reconfiguration_s * np.exp(delay * random.standard_normal(changed_ports)).max()
            drawn = np.maximum(1 + startup * random.standard_normal(len(gpus)), 0) * slow[gpus]
            total_s += nominal_startup_s * drawn.max() + step.propagation_s
            ends, carried = circuits
            rates = 1 + bandwidth * random.uniform(-1, 1, len(carried))
            slowest = np.maximum(slow[ends[:, 0]], slow[ends[:, 1]])
            total_s += (byte_s * carried / rates * slowest).max()
        made[sample] = total_s
    return made


def _step(plan: Plan, index: int) -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.float64]], int]:
    """GPUs that send or receive; circuits' ends and the bytes on each; ports whose circuit changes before the step."""
    step = plan.steps[index]
    carried: dict[tuple[int, int], float] = {}
    gpus: set[int] = set()
    routes = plan.routes(index)
    for first, last, size_bytes in zip(
        routes.gpu_offsets[:-1].tolist(), routes.gpu_offsets[1:].tolist(), routes.size_bytes.tolist(), strict=True
    ):
        nodes = routes.gpus[first:last].tolist()
        gpus |= {nodes[0], nodes[-1]}
        for hop in pairwise(nodes):
            carried[hop] = carried.get(hop, 0.0) + size_bytes
    now = _matrix(plan, step.topology_index)
    ends = [hop for hop in carried for _ in range(int(now[hop]))]
    load = [carried[hop] / now[hop] for hop in ends]
    changed = 0
    if step.reconfigured and index:
        before = _matrix(plan, plan.steps[index - 1].topology_index)
        new, lost = np.maximum(now - before, 0).sum(1), np.maximum(before - now, 0).sum(1)
        changed = int(np.maximum(new, lost).sum())
    return np.array(sorted(gpus)), (np.array(ends), np.array(load)), changed


def _matrix(plan: Plan, topology: int) -> NDArray[np.float64]:
    made = np.zeros((plan.gpus, plan.gpus))
    for source, destination, count in plan.topologies[topology].links.tolist():
        made[source, destination] += count
    return made
