"""One of the ranks of a test: `mpiexec -n N python -m tests.running.mpi_ranks` runs plans of N GPUs, and says which.

Every rank looks at its own output; rank 0 prints a line for each plan with the wrong elements of all ranks.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import lightloom as ll
from lightloom import _core
from lightloom.running.data import DATA_TYPES, DrawnInputs, expected, wrong
from lightloom.running.mpi import MpiRank, message_passing
from lightloom.running.program import program_of


def plans(gpus: int) -> Iterator[ll.Plan]:
    """A plan for each algorithm of each collective, over a ring one way and both ways; and one of unequal blocks."""
    for ports in (1, 2):
        fabric = ll.Fabric(gpus=gpus, ports=ports)
        for entry in _core.registry()["collectives"]:
            for row in _core.algorithm_table(entry["name"], gpus, [gpus], ports, None, None):
                if row["accepted"]:
                    yield ll.plan(
                        entry["name"],
                        4 * 1009,
                        fabric=fabric,
                        algorithm=str(row["algorithm"]),
                        planner="static",
                        topology="ring",
                    )
        matrix = [[8.0 * (3 * source + target) for target in range(gpus)] for source in range(gpus)]
        yield ll.plan(matrix=matrix, fabric=fabric)


class Recorded:
    """Changes of circuits that are none: the steps for which they were asked."""

    longest_s = 0.0

    def __init__(self, steps: range) -> None:
        self.steps = steps
        self.made: list[int] = []

    def make(self, step: int) -> float:
        """Note the step; a second as the time of the switch."""
        self.made.append(step)
        return 1.0


def main() -> None:
    """Run all plans, in every type in turn."""
    communicator = message_passing().COMM_WORLD
    kinds = list(DATA_TYPES.values())
    for index, plan in enumerate(plans(communicator.Get_size())):
        kind, reduction = kinds[index % len(kinds)], ("sum", "max")[index % 3 % 2]
        program = program_of(plan, kind.size_bytes)
        rank = MpiRank(program, kind)
        inputs = DrawnInputs(program, kind, reduction, seed=index)
        changes = Recorded(range(0, program.steps, 2))
        for _ in range(2):
            found = rank.run(inputs[rank.rank], reduction, changes=changes)
        order = np.array(found.moments[:-1])
        assert (np.diff(order, axis=1) > 0).all()
        assert (order[[0, 3, 5, 4, 6]] == np.sort(order[[0, 3, 5, 4, 6]], axis=0)).all()
        assert changes.made == (2 * list(changes.steps) if rank.rank == 0 else [])
        assert found.moments.switch_s.tolist() == [float(step in changes.made) for step in range(program.steps)]
        own = wrong([found.output], expected(program, inputs, kind, reduction, [rank.rank]), kind)
        total = communicator.allreduce(own)
        if rank.rank == 0:
            print(plan.collective, plan.algorithm, plan.ports, kind.name, total, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
