"""Relations between plans that no pair of problems may break, on random fabrics; prints every pair that breaks one.

python -m tests.planning.relations [--pairs 200] [--seed 1] [--most 300] [--relation NAME]

A relation has two sides: a plan, and what a simpler way or an easier problem takes. The first may take no longer. The
fabrics have 3 to --most GPUs, 1 to 8 ports, 4 KiB to 1 GiB, no delay or one of up to 10 ms. The exit code is 1 where
there is a pair that breaks its relation.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import lightloom as ll

STARTS = ("free", "ring")
BLOCKS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast")
# How much longer a plan of a few GPUs more or less may take.
NEIGHBOURS = 1.3
ROUNDING = 1 + 1e-9


class Problem(NamedTuple):
    """A collective on a fabric."""

    collective: str
    gpus: int
    ports: int
    size: int
    delay_s: float
    initial: str
    failed: str = ""
    bandwidth_gbps: float = 800

    def fabric(self) -> ll.Fabric:
        """The fabric on which it runs."""
        return ll.Fabric(
            gpus=self.gpus,
            ports=self.ports,
            reconfiguration_delay=self.delay_s,
            initial=self.initial,
            bandwidth=f"{self.bandwidth_gbps}Gbps",
            failed=self.failed or None,
        )

    def plan(self) -> ll.Plan:
        """The plan of planner auto."""
        return ll.plan(self.collective, self.size, fabric=self.fabric())

    def seconds(self) -> float:
        """What the plan takes, s."""
        return self.plan().total_s


def drawn(draw: np.random.Generator, most: int) -> Problem:
    """A random problem."""

    def evenly(least: float, largest: float) -> float:
        return math.exp(draw.uniform(math.log(least), math.log(largest)))

    delay_s = float(f"{evenly(1e-7, 1e-2):.3g}") if draw.random() < 0.9 else 0.0
    return Problem(
        collective=BLOCKS[int(draw.integers(len(BLOCKS)))],
        gpus=round(evenly(3, most)),
        ports=int(draw.integers(1, 9)),
        size=round(evenly(1 << 12, 1 << 30)),
        delay_s=delay_s,
        initial=STARTS[int(draw.integers(len(STARTS)))],
    )


def of(problem: Problem, collective: str) -> float:
    """What another collective of the buffer takes on the same fabric, s."""
    return problem._replace(collective=collective).seconds()


def broadcast_and_all_reduce(problem: Problem) -> tuple[float, float]:
    """A sum of all buffers of which all but the root's are nothing is a broadcast."""
    return of(problem, "broadcast"), of(problem, "all-reduce")


def gather_and_all_gather(problem: Problem) -> tuple[float, float]:
    """An AllGather of which only what the root gets is wanted is a gather."""
    return of(problem, "gather"), of(problem, "all-gather")


def scatter_and_reduce_scatter(problem: Problem) -> tuple[float, float]:
    """A ReduceScatter of which all buffers but the root's are nothing is a scatter."""
    return of(problem, "scatter"), of(problem, "reduce-scatter")


def broadcast_and_scatter(problem: Problem) -> tuple[float, float]:
    """A scatter, and an AllGather after a change of circuits."""
    gather_s = problem._replace(collective="all-gather", initial="free").seconds()
    return of(problem, "broadcast"), of(problem, "scatter") + problem.delay_s + gather_s


def all_reduce_and_halves(problem: Problem) -> tuple[float, float]:
    """A ReduceScatter, and an AllGather after a change of circuits."""
    gather_s = problem._replace(collective="all-gather", initial="free").seconds()
    return of(problem, "all-reduce"), of(problem, "reduce-scatter") + problem.delay_s + gather_s


def mirror(problem: Problem) -> tuple[float, float]:
    """A ReduceScatter is an AllGather backwards."""
    free = problem._replace(initial="free")
    gather_s, reduce_s = of(free, "all-gather"), of(free, "reduce-scatter")
    return max(gather_s, reduce_s), min(gather_s, reduce_s)


def size(problem: Problem) -> tuple[float, float]:
    """A larger buffer."""
    return problem.seconds(), problem._replace(size=math.ceil(problem.size * 1.1)).seconds()


def delay(problem: Problem) -> tuple[float, float]:
    """A longer delay."""
    return problem.seconds(), problem._replace(delay_s=problem.delay_s * 1.1 + 1e-8).seconds()


def bandwidth(problem: Problem) -> tuple[float, float]:
    """Slower ports."""
    return problem.seconds(), problem._replace(bandwidth_gbps=problem.bandwidth_gbps * 0.9).seconds()


def ports(problem: Problem) -> tuple[float, float]:
    """A port fewer, from a free start."""
    more = problem._replace(initial="free", ports=problem.ports + 1)
    return more.seconds(), more._replace(ports=problem.ports).seconds()


def start(problem: Problem) -> tuple[float, float]:
    """A ring at the start, in place of what is best."""
    return problem._replace(initial="free").seconds(), problem._replace(initial="ring").seconds()


def dead_link(problem: Problem) -> tuple[float, float]:
    """A link that fails."""
    return problem.seconds(), problem._replace(failed=f"link:0-{problem.gpus - 1}").seconds()


def dead_switch(problem: Problem) -> tuple[float, float]:
    """A port fewer at every GPU, in place of a switch that fails."""
    more = problem._replace(initial="free", ports=problem.ports + 1)
    return more._replace(failed="switch:0").seconds(), more._replace(ports=problem.ports).seconds()


def bound_of_dead_switch(problem: Problem) -> tuple[float, float]:
    """The lower bound with a switch that fails is no lower than that where all work."""
    more = problem._replace(ports=problem.ports + 1)
    return more.plan().lower_bound_s, more._replace(failed="switch:0").plan().lower_bound_s


def bound_of_all_reduce(problem: Problem) -> tuple[float, float]:
    """The lower bound of an AllReduce is no lower than that of a broadcast or a reduce of the buffer."""

    def bound(collective: str) -> float:
        return ll.bound(collective, problem.size, fabric=problem.fabric()).largest.lower_bound_s

    return max(bound("broadcast"), bound("reduce")), bound("all-reduce")


def neighbours(problem: Problem) -> tuple[float, float]:
    """A GPU fewer, from a free start, within a factor; six GPUs and more."""
    more = problem._replace(initial="free", gpus=problem.gpus + 5)
    return more.seconds(), NEIGHBOURS * more._replace(gpus=more.gpus - 1).seconds()


Sides = Callable[[Problem], tuple[float, float]]

# By relation, the first side over the second up to which both count as equal: searches from either side may stop at
# graphs that are nearly as good.
RELATIONS: dict[Sides, float] = {
    broadcast_and_all_reduce: 1.05,
    gather_and_all_gather: 1.1,
    scatter_and_reduce_scatter: 1.1,
    broadcast_and_scatter: 1.1,
    all_reduce_and_halves: 1.1,
    mirror: 1.1,
    size: ROUNDING,
    delay: ROUNDING,
    bandwidth: ROUNDING,
    ports: 1.1,
    start: ROUNDING,
    dead_link: 1.1,
    dead_switch: ROUNDING,
    bound_of_dead_switch: 1.1,
    bound_of_all_reduce: ROUNDING,
    neighbours: 1.1,
}


def over(sides: Sides, problem: Problem) -> float:
    """The first side over the second; 1 where a collective or a plan around a fault is refused."""
    try:
        plan_s, other_s = sides(problem)
    except ll.InputError:
        return 1
    return plan_s / other_s


def main() -> int:
    """Draw problems, and hold both sides of every relation against each other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200, help="of each relation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=300, help="GPUs")
    names = [sides.__name__ for sides in RELATIONS]
    parser.add_argument("--relation", choices=names, nargs="+", default=names)
    given = parser.parse_args()
    draw = np.random.default_rng(given.seed)
    broken = dict.fromkeys(given.relation, 0)
    for _ in range(given.pairs):
        problem = drawn(draw, given.most)
        for sides in RELATIONS:
            ratio = over(sides, problem) if sides.__name__ in given.relation else 1
            if ratio > ROUNDING:
                broken[sides.__name__] += 1
                sys.stdout.write(f"{sides.__name__} {ratio:.3f}: {problem}\n")
    for name, count in broken.items():
        sys.stdout.write(f"{name}: {count} of {given.pairs}\n")
    return 1 if any(broken.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
