"""Random iterations by every policy, simulated by `simulate` and by a second simulator.

    python -m tests.training.judge_simulations --iterations 100

The second one (`tests/reference/iteration_execution.py`) reads only the document, and follows every packet of the whole
iteration on one clock, through ports that are dark or joined to others. It ends at the first that differs by more
than 1 %.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum
from typing import Any

import lightloom as ll
from lightloom import _core
from lightloom.base.errors import InputError
from lightloom.training.result import Training
from tests.reference import iteration_execution
from tests.training import random_workloads

POLICIES = tuple(name for name, *_, can_be_chosen in _core.training_policies() if can_be_chosen)
MOST_DIFFERENCE = 0.01
# Packets of the largest message; few of them make the most of what is rounded to whole packets.
PACKETS = (3, 10, 50)
FEMTO = 1e-15
MOST_NODES = 8
# Groups that are planned in a moment, and ranks in three axes.
MESHES: tuple[dict[str, int], ...] = ({"a": 4}, {"a": 6}, {"a": 2, "b": 2}, {"a": 4, "b": 2}, {"a": 2, "b": 2, "c": 2})


@dataclass(frozen=True)
class Compared:
    """An iteration simulated twice: what the second simulator takes over what `simulate` does, less 1."""

    seed: int
    policy: str
    difference: float
    packets: int


def drawn(seed: int) -> tuple[ll.Fabric, dict[str, Any], int, int]:
    """A fabric, a workload, how many packets its largest message has, and bytes of a header."""
    rng = random.Random(seed)  # noqa: S311 (a test's draws, not a secret)
    fabric = random_workloads.fabric(rng)
    told = random_workloads.workload(rng, meshes=MESHES, most=MOST_NODES)
    if rng.random() < 0.5:
        told = random_workloads.with_matrices(rng, told)
    return fabric, told, rng.choice(PACKETS), rng.choice((0, 64))


def planned(fabric: ll.Fabric, told: dict[str, Any], policy: str) -> Training | None:
    """The iteration by a policy; None where it does not serve the workload."""
    try:
        return ll.train(ll.Workload.from_json(json.dumps(told)), fabric=fabric, policy=policy)
    except InputError as error:
        assert "does not serve the workload" in str(error), error
        return None


def compared(training: Training, seed: int, packets: int, header_bytes: int) -> Compared:
    """Both simulations of an iteration, which send the same packets over as many circuits."""
    told = json.loads(training.to_json())
    packet_bytes = max(1, max(node.get("size_bytes", 1) for node in told["workload"]["nodes"]) // packets)
    simulated = ll.simulate(training, packet_size=packet_bytes, header_size=header_bytes)
    executed = iteration_execution.execute(told, packet_bytes, header_bytes)
    assert executed.packets == simulated.packets, seed
    assert executed.packet_hops == simulated.packet_hops, seed
    total_s = executed.total_fs * FEMTO
    difference = total_s / simulated.total_s - 1 if simulated.total_s else total_s
    assert abs(difference) <= MOST_DIFFERENCE, (seed, training.policy, packet_bytes, header_bytes, difference)
    return Compared(seed, training.policy, difference, executed.packets)


def compare(seeds: Iterator[int], policy: str, iterations: int) -> list[Compared]:
    """Iterations of a policy, this many, of the first seeds whose workloads it serves."""
    found: list[Compared] = []
    while len(found) < iterations:
        seed = next(seeds)
        fabric, told, packets, header_bytes = drawn(seed)
        if (training := planned(fabric, told, policy)) is not None:
            found.append(compared(training, seed, packets, header_bytes))
    return found


def main() -> None:
    """Compare this many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=100, help="of each policy")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--policy", choices=POLICIES, action="append", help="only this one; may be repeated")
    options = parser.parse_args()
    print("policy    iterations   packets  largest difference    mean")  # noqa: T201
    for policy in options.policy or POLICIES:
        seeds = iter(range(options.first, 1 << 31))
        found = compare(seeds, policy, options.iterations)
        differences = [abs(one.difference) for one in found]
        print(  # noqa: T201
            f"{policy:<9} {len(found):>10} {sum(one.packets for one in found):>9} {max(differences):>19.1e} "
            f"{fsum(differences) / len(found):>7.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
