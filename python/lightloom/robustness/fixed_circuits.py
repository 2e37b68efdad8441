"""A plan whose circuits, and the paths and shares of every pair, stay as they are while the bytes change."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from lightloom import _core
    from lightloom.plans import Plan

__all__ = ["FixedPlan", "FixedStep", "Rates", "Sending"]


class Rates(NamedTuple):
    """Seconds of a step, of a hop on its longest path, and of a byte on its busiest circuit."""

    startup_s: float
    hop_s: float
    byte_s: float


class Sending(NamedTuple):
    """A piece that goes from one rank to another in a step.

    piece: its place in the plan's list; paths: the share of its bytes, and the ranks, of each.
    """

    piece: int
    paths: tuple[tuple[float, tuple[int, ...]], ...]


@dataclass(frozen=True, eq=False)
class FixedStep:
    """One step: its topology, what is sent, and what follows from that for any bytes.

    change_s: seconds that circuits need before it. Entry i of the arrays says that of all bytes of the ordered pair
    `pair[i]` (source times ranks plus destination) the share `share[i]` is on each circuit of link `link[i]`.
    hops: by pair, on the longest path that its bytes take in this step; 0 where it sends nothing.
    """

    topology: _core.Topology
    sendings: tuple[Sending, ...]
    change_s: float
    link: NDArray[np.int64]
    pair: NDArray[np.int64]
    share: NDArray[np.float64]
    hops: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FixedPlan:
    """Steps whose circuits, paths and shares do not depend on the bytes.

    pieces: source, destination, and share of that pair's bytes, of everything that is sent.
    """

    gpus: int
    rates: Rates
    pieces: tuple[tuple[int, int, float], ...]
    steps: tuple[FixedStep, ...]

    @classmethod
    def of(
        cls,
        gpus: int,
        rates: Rates,
        pieces: Sequence[tuple[int, int, float]],
        steps: Iterable[tuple[_core.Topology, Sequence[Sending], float]],
    ) -> FixedPlan:
        """The pieces, and for each step its topology, the bytes sent, and the seconds of the change before it."""
        made = tuple(_step(gpus, pieces, topology, sendings, change_s) for topology, sendings, change_s in steps)
        return cls(gpus, rates, tuple(pieces), made)

    @classmethod
    def of_plan(cls, plan: Plan) -> FixedPlan:
        """The circuits, paths and shares of a plan of an All-to-All."""
        chunks = plan.chunks()
        pairs = list(zip(chunks.source.tolist(), chunks.destination.tolist(), strict=True))
        totals: defaultdict[tuple[int, int], float] = defaultdict(float)
        sizes = chunks.size_bytes.tolist()
        for pair, size in zip(pairs, sizes, strict=True):
            totals[pair] += size
        pieces = [(*pair, size / totals[pair] if size else 0.0) for pair, size in zip(pairs, sizes, strict=True)]
        steps = []
        for index, step in enumerate(plan.steps):
            paths: defaultdict[tuple[int, int], list[tuple[float, tuple[int, ...]]]] = defaultdict(list)
            for path in plan.routes(index):
                paths[path.source, path.destination].append((path.share, tuple(path.gpus.tolist())))
            sendings = [
                Sending(chunk, tuple(paths[one.source, one.destination]))
                for one in plan.transfers(index)
                for chunk in one.chunks.tolist()
            ]
            steps.append((plan.topologies[step.topology_index], sendings, step.reconfiguration_s))
        rates = Rates(plan.startup_s, plan.hop_delay_s, 8.0 / plan.bandwidth_bps)
        return cls.of(plan.gpus, rates, pieces, steps)

    @property
    def changes_s(self) -> float:
        """Seconds of all changes of circuits but the one before the first step."""
        return sum(step.change_s for step in self.steps[1:])

    @property
    def hops(self) -> list[int]:
        """The hops of the longest path of each step."""
        return [int(step.hops.max(initial=0)) for step in self.steps]

    @property
    def pairs(self) -> NDArray[np.bool_]:
        """The ordered pairs, source times ranks plus destination, that have paths for all their bytes."""
        served = np.zeros(self.gpus * self.gpus)
        for source, destination, share in self.pieces:
            served[source * self.gpus + destination] += share
        return served > 0.5

    def steps_s(self, matrix: NDArray[np.float64]) -> float:
        """Seconds of all steps for these bytes `[src][dst]`, without changes of circuits."""
        sent = matrix.ravel()
        total_s = 0.0
        for step in self.steps:
            loads = np.bincount(step.link, weights=step.share * sent[step.pair])
            hops = int(step.hops[sent > 0].max(initial=0))
            total_s += self.rates.startup_s + self.rates.hop_s * hops + self.rates.byte_s * loads.max(initial=0.0)
        return float(total_s)


def _step(
    gpus: int,
    pieces: Sequence[tuple[int, int, float]],
    topology: _core.Topology,
    sendings: Sequence[Sending],
    change_s: float,
) -> FixedStep:
    circuits = {(src, dst): (index, count) for index, (src, dst, count) in enumerate(topology.links.tolist())}
    shares: defaultdict[tuple[int, int], float] = defaultdict(float)
    hops = np.zeros(gpus * gpus, dtype=np.int64)
    for piece, paths in sendings:
        source, destination, share = pieces[piece]
        pair = source * gpus + destination
        hops[pair] = max(hops[pair], *(len(path) - 1 for _, path in paths))
        for part, path in paths:
            for link in pairwise(path):
                index, count = circuits[link]
                shares[index, pair] += share * part / count
    entries = sorted(shares.items())
    return FixedStep(
        topology,
        tuple(sendings),
        change_s,
        np.array([link for (link, _), _ in entries], dtype=np.int64),
        np.array([pair for (_, pair), _ in entries], dtype=np.int64),
        np.array([share for _, share in entries]),
        hops,
    )
