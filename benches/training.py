"""Plans training iterations under every policy, and writes docs/training-results.md.

    python benches/training.py

Chains of collectives on one port, with PCCL's numbers, and three models on six ports. Times to plan are processor time
and depend on the machine; all other numbers do not.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lightloom as ll

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = Path(__file__).parent.parent / "docs" / "training-results.md"
MIB = 1 << 20
GATHER, SCATTER, REDUCE = "all-gather", "reduce-scatter", "all-reduce"
CHAINS: dict[str, list[tuple[str, int]]] = {
    "FSDP: 12 AllGathers, then 12 times AllGather and ReduceScatter, 16 MiB": (
        [(GATHER, 16 * MIB)] * 12 + [(GATHER, 16 * MIB), (SCATTER, 16 * MIB)] * 12
    ),
    "12 ReduceScatters, then 12 AllGathers, 1 MiB": [(SCATTER, MIB)] * 12 + [(GATHER, MIB)] * 12,
    "12 times AllReduces of 64, 16 and 16 MiB": [(REDUCE, 64 * MIB), (REDUCE, 16 * MIB), (REDUCE, 16 * MIB)] * 12,
}
CHAIN_DELAYS = ("5us", "10us", "25us", "50us", "100us", "500us")
MODELS = ("llama-3-70b", "gpt-3", "mixtral-8x22b")
MODEL_DELAYS = ("100us", "1ms", "10ms")
PEERS = ("alone", "pccl", "static", "one-shot", "packet-switch")


def chain(collectives: Sequence[tuple[str, int]]) -> ll.Workload:
    """Collectives of 128 ranks one after the other, nothing between them."""
    nodes: list[dict[str, Any]] = []
    for place, (collective, size_bytes) in enumerate(collectives):
        after = [str(place - 1)] if place else []
        made = {"id": str(place), "kind": "collective", "collective": collective, "axis": "dp"}
        nodes.append({**made, "size_bytes": size_bytes, "after": after})
    return ll.Workload.of({"schema": "lightloom.workload/1", "ranks": 128, "mesh": {"dp": 128}, "nodes": nodes})


def rows(workload: ll.Workload, delays: Sequence[str], **fabric: Any) -> list[str]:
    """A line for each delay: the time under `carry`, and how much longer the others take."""
    lines = []
    for delay in delays:
        began = time.process_time()
        made = ll.train(workload, fabric=ll.Fabric(reconfiguration_delay=delay, **fabric))
        spent_s = time.process_time() - began
        peers = [made.policies[name] for name in PEERS]
        factors = ["–" if peer is None else f"{peer / made.total_s:.3f}" for peer in peers]
        cells = [delay.replace("us", " µs").replace("ms", " ms"), f"{made.total_s * 1e3:.3f} ms", *factors]
        plans = len({event.plan for event in made.events if event.plan is not None})
        proof = "yes" if made.exact else "no"
        cells += [f"{made.total_s / made.lower_bound_s:.3f}", proof, str(plans), f"{spent_s:.1f} s"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def table(lines: list[str]) -> str:
    """The lines under their heading."""
    names = ["α_r", "`carry`", *(f"`{name}`" for name in PEERS), "over bound", "exact", "plans", "to plan"]
    return "\n".join([f"| {' | '.join(names)} |", f"|{'---|' * len(names)}", *lines])


def main() -> None:
    """Plan everything and write the page."""
    parts = [
        "# Training iterations: what the policies take",
        "Written by `python benches/training.py`. Columns of policies are their time over that of `carry`; "
        "*over bound* is `carry` over its lower bound; *exact* says whether no other choice from the library is "
        "faster; *plans* are the different plans that the iteration needs; *to plan* is processor time, for all "
        "policies together.",
        "## Chains of collectives, 128 GPUs, one port",
        "3600 Gbit/s, 3 µs a hop, no startup (PCCL's numbers). Nothing is computed between collectives, so that "
        "nothing hides a change. `alone` is the best plan of each collective that begins on the ring and returns "
        "to it.",
    ]
    for name, collectives in CHAINS.items():
        lines = rows(chain(collectives), CHAIN_DELAYS, ports=1, bandwidth="3600Gbps", startup="0s", hop_delay="3us")
        parts += [f"### {name}", table(lines)]
    parts += [
        "## Models, 128 GPUs, six ports of 600 Gbit/s",
        "Tensor, pipeline, expert and data parallel groups as [models](reference/models.md) have them, "
        "600 TFLOP/s a GPU. `static` is a torus whose axes are those of the mesh, `one-shot` the best split of the "
        "ports and the best topologies that stay.",
    ]
    for name in MODELS:
        parts += [f"### {name}", table(rows(ll.Workload.read(name), MODEL_DELAYS, ports=6, bandwidth="600Gbps"))]
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
