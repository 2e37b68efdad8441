"""Claims of HARVEST §5 and §6 about recursive doubling and Bruck's algorithm that no figure shows."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from lightloom import Fabric, plan
from lightloom_papers.claims import Claim

if TYPE_CHECKING:
    from lightloom import Plan, Topology

GPUS, SIZE = 64, 1 << 20
STARTUP_S = HOP_DELAY_S = 500e-9
# 800 Gbit/s, seconds a byte.
BYTE_S = 1e-11
DELAYS_S = (1e-8, 1e-6, 1e-5, 1e-4, 1e-3)
RADIX = 4


def observation_claims() -> tuple[Claim, ...]:
    """Observations 3 and 4, and the sends of a step of Bruck's algorithm."""
    return _connectivity(), _cost_of_an_interval(), _sends()


def _doubling(planner: str, delay_s: float) -> Plan:
    """A ReduceScatter by cyclic recursive doubling."""
    fabric = Fabric(gpus=GPUS, reconfiguration_delay=delay_s)
    return plan("reduce-scatter", SIZE, fabric=fabric, algorithm="recursive-doubling", planner=planner)


def _reached(topology: Topology) -> list[set[int]]:
    """The ranks that each rank reaches."""
    ahead: dict[int, list[int]] = {rank: [] for rank in range(GPUS)}
    for src, dst, _ in topology.links.tolist():
        ahead[src].append(dst)
    reached = []
    for rank in range(GPUS):
        seen, front = {rank}, [rank]
        while front:
            front = sorted({dst for at in front for dst in ahead[at]} - seen)
            seen.update(front)
        reached.append(seen)
    return reached


def _connectivity() -> Claim:
    steps = _doubling("bvn", DELAYS_S[0]).steps
    kept = tried = 0
    for first, step in enumerate(steps):
        reached = _reached(step.topology)
        for later in range(first, len(steps)):
            tried += 1
            kept += all((rank + 2**later) % GPUS in reached[rank] for rank in range(GPUS))
    return Claim.fact(
        "the circuits of a step's pairs connect the pairs of all later steps (observation 3)",
        "observation 3, §5.1",
        paper="all subsequent steps",
        ours=f"{kept} of {tried} pairs of steps",
        rule="every pair reaches each other, for each step's own circuits and every later step of 64 GPUs",
        holds=kept == tried,
    )


def _cost_of_an_interval() -> Claim:
    """Eq. 8: α·l + δ·(2^l - 1) + β·m·l/2^a for l steps from a on the circuits of step a, counted from 1."""
    apart = 0.0
    for delay_s in DELAYS_S:
        made = _doubling("harvest", delay_s)
        for _, run in groupby(made.steps, key=lambda step: step.topology_index):
            steps = list(run)
            first, length = steps[0].index + 1, len(steps)
            found_s = sum(step.total_s - step.reconfiguration_s for step in steps)
            latency_s = STARTUP_S * length + HOP_DELAY_S * (2**length - 1)
            apart = max(apart, abs(found_s / (latency_s + BYTE_S * SIZE * length / 2**first) - 1))
    return Claim.fact(
        "steps a to b on the circuits of step a take α·l + δ·(2^l - 1) + β·m·l/2^a, l = b - a + 1",
        "eq. 8, §5.1",
        paper="the equation",
        ours="the equation" if apart < 1e-9 else f"{apart:.1%} off it",
        rule="to nine digits for every run of steps of HARVEST's plans at 10 ns to 1 ms",
        holds=apart < 1e-9,
    )


def _sends() -> Claim:
    fabric = Fabric(gpus=GPUS, ports=RADIX)
    made = plan("all-to-all", SIZE, fabric=fabric, algorithm="bruck", radix=RADIX, planner="bvn")
    sends = max(sum(src == 0 for src, *_ in made.transfers(step.index)) for step in made.steps)
    return Claim.equal(
        "with r = 4 each node performs four sends a step of Bruck's algorithm",
        "§6.2, fig. 9",
        paper=4,
        ours=sends,
        why="the digits 1, 2 and 3 move, blocks with digit 0 stay: r - 1 sends, as in Bruck et al. 1997",
    )
