"""Circuits on meshes and fibres: PCCL's figure 19 and its claims on fibres, each with its reference.

On a grid of 256 x 256 MZIs with one waveguide of one wavelength in each direction: random circuits between different
MZIs, and circuits through a server as in the paper, from a waveguide on one edge of the mesh to one on another, no
waveguide used twice. Algorithm 3 on NetworkX runs in the same process on the same circuits. Fibres on 8 x 8 servers:
the mean over seeds, and how many are proved to be optimal.

    python -m benches.meshes [--against 64 256] [--alone 512 768 896] [--seeds 20]
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING

import numpy as np
from benches.algorithm_3 import algorithm_3, mesh_graph

import lightloom as ll

if TYPE_CHECKING:
    from collections.abc import Callable

    Pairs = list[tuple[int, int]]

SIZE = 256
SERVERS = 8
# For the integer program, where cuts do not prove the paths to be the best.
BUDGET = "60s"
PAPER = {100: 7, 512: 31}


def random_pairs(cells: int, count: int, seed: int) -> Pairs:
    """Pairs of different cells, this many."""
    draw = np.random.default_rng(seed)
    sources = draw.integers(cells, size=count)
    destinations = (sources + draw.integers(1, cells, size=count)) % cells
    return list(zip(sources.tolist(), destinations.tolist(), strict=True))


def anywhere(count: int, seed: int) -> Pairs:
    """Circuits between different MZIs."""
    return random_pairs(SIZE * SIZE, count, seed)


def through_the_server(count: int, seed: int) -> Pairs:
    """Circuits from an edge of the mesh to another, each MZI of an edge once as a source and once as a destination."""
    draw = np.random.default_rng(seed)
    last = SIZE - 1
    edges = [
        list(range(SIZE)),
        [row * SIZE + last for row in range(SIZE)],
        [last * SIZE + column for column in range(SIZE)],
        [row * SIZE for row in range(SIZE)],
    ]
    ends = [(edge, mzi) for edge, mzis in enumerate(edges) for mzi in mzis]
    sources, destinations = ([ends[place] for place in draw.permutation(len(ends))] for _ in range(2))
    apart = [
        (source, destination)
        for (edge, source), (other, destination) in zip(sources, destinations, strict=True)
        if edge != other and source != destination
    ]
    return apart[:count]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=int, nargs="*", default=[64, 256], help="circuits, also by algorithm 3")
    parser.add_argument("--alone", type=int, nargs="*", default=[512, 640, 768, 832, 896, 1024])
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    graph = mesh_graph(SIZE, SIZE)
    print(
        f"{'circuits':<24}{'number':>7}{'routed':>8}{'time':>10}   algorithm 3: {'routed':>8}{'time':>10}{'ratio':>8}"
    )
    draws: dict[str, Callable[[int, int], Pairs]] = {"anywhere": anywhere, "from edge to edge": through_the_server}
    for name, pairs_of in draws.items():
        for count in sorted({*options.against, *options.alone}):
            pairs = pairs_of(count, count)
            if len(pairs) < count:
                continue
            began = time.perf_counter()
            routing = ll.route_mesh(f"{SIZE}x{SIZE}", pairs)
            ours_s = time.perf_counter() - began
            routing.check()
            line = f"{name:<24}{count:>7}{routing.routed:>8}{ours_s:>8.2f} s"
            if count in options.against:
                began = time.perf_counter()
                theirs = sum(path is not None for path in algorithm_3(graph, pairs))
                theirs_s = time.perf_counter() - began
                line += f"{'':>16}{theirs:>8}{theirs_s:>8.2f} s{theirs_s / ours_s:>7.0f}x"
                assert routing.routed >= theirs
            elif routing.proofs:
                line += f"   {routing.proofs[0].reason}"
            print(line, flush=True)
    print(f"\n{'fibres':<12}{'circuits':>9}{'mean':>7}{'largest':>9}{'paper':>7}{'proved':>9}{'slowest':>10}")
    for direction in ("one-way", "both-ways"):
        for count, paper in PAPER.items():
            needed, proved, slowest_s = [], 0, 0.0
            for seed in range(options.seeds):
                pairs = random_pairs(SERVERS**2, count, seed)
                began = time.perf_counter()
                routing_of_fibres = ll.route_fibres(f"{SERVERS}x{SERVERS}", pairs, direction=direction)
                slowest_s = max(slowest_s, time.perf_counter() - began)
                routing_of_fibres.check()
                needed.append(routing_of_fibres.fibres)
                proved += routing_of_fibres.is_optimal
                if not routing_of_fibres.is_optimal:
                    began = time.perf_counter()
                    exact = ll.route_fibres(f"{SERVERS}x{SERVERS}", pairs, direction=direction, budget=BUDGET)
                    taken_s = time.perf_counter() - began
                    print(f"seed {seed}, HiGHS: {exact.fibres} fibres, at least {exact.lower_bound}, {taken_s:.1f} s")
            mean = statistics.mean(needed)
            print(
                f"{direction:<12}{count:>9}{mean:>7.2f}{max(needed):>9}{paper:>7}"
                f"{proved:>5}/{options.seeds}{slowest_s:>8.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
