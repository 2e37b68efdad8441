"""Completion times as lines in the reconfiguration delay R: R·topologies + the seconds of everything else (§3.1).

A baseline's topologies do not depend on R, and the strategy's best is the lower envelope of its lines, so that a sweep
of R needs no plan for each of its delays.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom import Fabric
from lightloom.inputs.matrix import generated_matrix
from lightloom.planning.all_to_all import strategy_costs
from lightloom_papers.figure import Setting
from lightloom_papers.measure import Case

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

OURS = "reconfigure-all-to-all"
# Strategies other than ours that forward blocks in rounds on one topology.
ON_ONE_TOPOLOGY = ("topo-opt", "mixnet")
DIRECT_CONNECT = ("direct-connect-kautz", "direct-connect-circulant")
BASELINES = ("fast", *DIRECT_CONNECT, *ON_ONE_TOPOLOGY)
UNIFORM, RANDOM, ZIPF = "uniform", "random", "zipf:0.4"
WORKLOADS = (UNIFORM, RANDOM, ZIPF)
CHUNK = "4MB"
HOP_DELAY_S = 500e-9
# From the fastest switches to the slowest that do not take minutes (§1).
LEAST_DELAY_S, MOST_DELAY_S = 1e-6, 1.0


class Workload(NamedTuple):
    """One bar group of figures 11 and 12, one panel of figure 14; `mean_size` for a pair, such as `32MB`."""

    gpus: int
    ports: int
    matrix: str
    mean_size: str
    seed: int = 0

    def case(self, planner: str, delay_s: float) -> Case:
        """The plan with this reconfiguration delay; all topologies are charged but the first."""
        chunked = planner == OURS or planner in ON_ONE_TOPOLOGY
        return Case.of(
            "all-to-all",
            f"{self.mean_size}/pair",
            self.fabric(delay_s),
            planner=planner,
            matrix=self.matrix,
            seed=self.seed,
            chunk_size=CHUNK if chunked else None,
        )

    def fabric(self, delay_s: float = 0.0) -> Fabric:
        """800 Gbit/s a port; T of a chunk is 500 ns and its transmission, so there is no other startup (§5.1)."""
        return Fabric(
            gpus=self.gpus,
            ports=self.ports,
            startup=0.0,
            hop_delay=HOP_DELAY_S,
            reconfiguration_delay=delay_s,
            initial="free",
        )

    @property
    def baselines(self) -> tuple[str, ...]:
        """The baselines that the paper shows: no MixNet where all flows are alike and its ties open."""
        return tuple(name for name in BASELINES if not (name == "mixnet" and self.matrix == UNIFORM))

    def bytes(self) -> NDArray[np.float64]:
        """Bytes `[src][dst]`."""
        return generated_matrix(self.matrix, self.gpus, self.mean_size, seed=self.seed)


class Line(NamedTuple):
    """Topologies, the first one counted, and the seconds without reconfigurations."""

    topologies: int
    rest_s: float


class Lines(NamedTuple):
    """A workload's lines: by baseline one, of the strategy one for each number of topologies and base.

    eager, eager_baselines: the same, if no circuit waited for another of the same topology.
    """

    ours: tuple[Line, ...]
    baselines: dict[str, Line]
    eager: tuple[Line, ...]
    eager_baselines: dict[str, Line]


@cache
def lines_of(workload: Workload, relabelled_at_s: float | None = None) -> Lines:
    """The lines of a workload, by the additive model.

    relabelled_at_s: a reconfiguration delay at which the strategy's ranks are relabelled for the flows, as its planner
    does (§4.4); those of other delays stay as they are. None relabels nothing.
    """
    direct = _by_concurrent_flow_or_matchings(workload)
    forwarding = strategy_costs(
        f"{workload.mean_size}/pair",
        fabric=workload.fabric(),
        relabelled_at=[] if relabelled_at_s is None else [relabelled_at_s],
        planner=OURS,
        matrix=workload.matrix,
        seed=workload.seed,
        chunk_size=CHUNK,
    )

    def of(planner: str, column: int) -> tuple[Line, ...]:
        return tuple(Line(found.topologies, (found.rounds_s, found.busiest_s)[column]) for found in forwarding[planner])

    baselines, eager = (
        {name: direct[name] if name in direct else of(name, column)[0] for name in workload.baselines}
        for column in (0, 1)
    )
    return Lines(of(OURS, 0), baselines, of(OURS, 1), eager)


@cache
def _by_concurrent_flow_or_matchings(workload: Workload) -> dict[str, Line]:
    """The baselines whose plans are no rounds of forwarded blocks."""
    names = ("fast", *(DIRECT_CONNECT if workload.ports > 1 else DIRECT_CONNECT[:1]))
    measured = Setting().measure([workload.case(name, 0.0) for name in names])
    found = {name: Line(one.reconfigurations + 1, one.total_s) for name, one in zip(names, measured, strict=True)}
    # With one port both are the ring.
    return {name: found.get(name, found[names[-1]]) for name in ("fast", *DIRECT_CONNECT)}


def envelope_s(lines: tuple[Line, ...] | list[Line], delays_s: ArrayLike) -> NDArray[np.float64]:
    """The least time of any line at each of a list of delays, every topology charged, the first one too (§2.1)."""
    times: NDArray[np.float64] = _times_s(lines, delays_s).min(axis=0)
    return times


def chosen(lines: tuple[Line, ...], delay_s: float) -> Line:
    """The line of least time at a delay, of fewest topologies among equals."""
    return min(lines, key=lambda line: (line.topologies * delay_s + line.rest_s, line.topologies))


def _times_s(lines: tuple[Line, ...] | list[Line], delays_s: ArrayLike) -> NDArray[np.float64]:
    slopes, rests = np.array(lines, dtype=np.float64).T
    times: NDArray[np.float64] = np.multiply.outer(slopes, np.asarray(delays_s)) + rests[:, None]
    return times


class Gain(NamedTuple):
    """The delay at which the strategy is farthest below the best baseline, its line there, and all times (s)."""

    delay_s: float
    line: Line
    ours_s: float
    baselines_s: dict[str, float]

    @property
    def best(self) -> str:
        """The fastest baseline."""
        return min(self.baselines_s, key=lambda name: self.baselines_s[name])

    @property
    def reduction(self) -> float:
        """Part of the best baseline's time that is saved; below zero where that is faster."""
        return 1 - self.ours_s / self.baselines_s[self.best]

    @property
    def mean_reduction(self) -> float:
        """Part of a baseline's time that is saved, on average over the baselines."""
        return float(np.mean([1 - self.ours_s / time_s for time_s in self.baselines_s.values()]))


def largest_gain(ours: tuple[Line, ...], baselines: dict[str, Line], delays_s: ArrayLike | None = None) -> Gain:
    """The largest gain over these delays; without them, over those from 1 µs to 1 s at which the best baseline changes.

    Both sides are concave in the delay and made of lines, so that the gain can only peak where the best baseline
    changes.
    """
    best = list(baselines.values())
    if delays_s is None:
        delays_s = changes_s(best) or [LEAST_DELAY_S, MOST_DELAY_S]
    delays = np.asarray(delays_s, dtype=np.float64)
    reductions = 1 - envelope_s(ours, delays) / envelope_s(best, delays)
    delay_s = float(delays[int(reductions.argmax())])
    line = chosen(ours, delay_s)
    times_s = {name: line.topologies * delay_s + line.rest_s for name, line in baselines.items()}
    return Gain(delay_s, line, line.topologies * delay_s + line.rest_s, times_s)


def changes_s(lines: list[Line]) -> list[float]:
    """The delays from 1 µs to 1 s at which two of these lines cross and are the least of all."""
    slopes, rests = np.array(lines, dtype=np.float64).T
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = np.subtract.outer(rests, rests) / -np.subtract.outer(slopes, slopes)
    inside = np.isfinite(crossings) & (crossings > LEAST_DELAY_S) & (crossings < MOST_DELAY_S)
    first, second = np.nonzero(np.triu(inside))
    at_s = crossings[first, second]
    meets = slopes[first] * at_s + rests[first] <= envelope_s(lines, at_s) * (1 + 1e-12)
    return sorted(set(at_s[meets].tolist()))


def gain_of(workload: Workload) -> tuple[Lines, Gain]:
    """The largest gain of a workload, its ranks relabelled at the delay of the largest gain without."""
    lines = lines_of(workload)
    if workload.matrix != UNIFORM:
        lines = lines_of(workload, largest_gain(lines.ours, lines.baselines).delay_s)
    return lines, largest_gain(lines.ours, lines.baselines)
