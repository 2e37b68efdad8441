"""Schemes of BRIDGE §4: a planner and an algorithm each, on its fabric, and their times over whole axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom import Fabric
from lightloom_papers.measure import Case

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from lightloom_papers.figure import Setting

# BRIDGE §4.1; sizes are decimal, with which the ratios that the text prints come out to the last digit.
STARTUP_S = 1.7e-6
HOP_DELAY_S = 1e-6
# With which several numbers of the ReduceScatter's evaluation come out, though its captions say 1 µs.
LONGER_HOP_S = 2e-6
GPUS = 64
KB, MB = 1000, 1_000_000


class Scheme(NamedTuple):
    """A planner with the algorithm that it is given.

    initial: topology before the first step; fixed: whether the reconfiguration delay does not matter.
    """

    name: str
    collective: str
    planner: str
    algorithm: str
    initial: str = "ring"
    fixed: bool = False

    def case(self, size: float, gpus: float, hop_delay_s: float, delay_s: float, startup_s: float = STARTUP_S) -> Case:
        """The plan for a buffer of `size` bytes."""
        fabric = Fabric(
            gpus=int(gpus),
            startup=startup_s,
            hop_delay=float(hop_delay_s),
            reconfiguration_delay=0.0 if self.fixed else float(delay_s),
            initial=self.initial,
        )
        named: dict[str, Any] = {"topology": "ring"} if self.planner == "static" else {}
        return Case.of(
            self.collective,
            int(size),
            fabric,
            algorithm=self.algorithm,
            planner=self.planner,
            convention="bridge",
            **named,
        )


ALL_TO_ALL = Scheme("BRIDGE", "all-to-all", "bridge", "bruck")
STATIC_ALL_TO_ALL = Scheme("S-Bruck", "all-to-all", "static", "bruck", fixed=True)
GREEDY_ALL_TO_ALL = Scheme("G-Bruck", "all-to-all", "bvn", "bruck")
# From no circuits at all the first step's are charged too.
GREEDY_CHARGED = Scheme("G-Bruck, first step charged", "all-to-all", "bvn", "bruck", initial="dark")

REDUCE_SCATTER = Scheme("BRIDGE", "reduce-scatter", "bridge", "bruck-doubling")
STATIC_REDUCE_SCATTER = Scheme("S-Bruck", "reduce-scatter", "static", "bruck-doubling", fixed=True)
GREEDY_REDUCE_SCATTER = Scheme("G-Bruck", "reduce-scatter", "bvn", "bruck-doubling")
HALVING_DOUBLING = Scheme("static HD", "reduce-scatter", "static", "halving-doubling", fixed=True)
# Cyclic partners at distance 1 first, as §2 counts HD's hops: on a ring it then costs what Bruck does.
CYCLIC_DOUBLING = Scheme("static HD, cyclic", "reduce-scatter", "static", "recursive-doubling", fixed=True)
RING = Scheme("Ring", "reduce-scatter", "static", "ring", fixed=True)


class Times(NamedTuple):
    """Completion times (s) and numbers of reconfigurations of one scheme over a grid."""

    total_s: NDArray[np.float64]
    reconfigurations: NDArray[np.int64]


def times(
    setting: Setting,
    schemes: Sequence[Scheme],
    sizes: ArrayLike,
    delays_s: ArrayLike,
    *,
    gpus: ArrayLike = GPUS,
    hop_delays_s: ArrayLike = HOP_DELAY_S,
    startup_s: float = STARTUP_S,
) -> dict[str, Times]:
    """The times of every scheme, by its name; the arrays broadcast against each other, as NumPy does.

    Points at which a scheme's plan is the same are measured once.
    """
    grids = [np.asarray(grid, dtype=float) for grid in np.broadcast_arrays(sizes, gpus, hop_delays_s, delays_s)]
    points = list(zip(*(grid.ravel().tolist() for grid in grids), strict=True))
    cases = {
        scheme.name: [scheme.case(size, ranks, hop_s, delay_s, startup_s) for size, ranks, hop_s, delay_s in points]
        for scheme in schemes
    }
    distinct = {case: None for listed in cases.values() for case in listed}
    measured = dict(zip(distinct, setting.measure(list(distinct)), strict=True))
    shape = grids[0].shape
    return {
        name: Times(
            np.array([measured[case].total_s for case in listed]).reshape(shape),
            np.array([measured[case].reconfigurations for case in listed]).reshape(shape),
        )
        for name, listed in cases.items()
    }


def faster(of: Mapping[str, Times], *others: str) -> NDArray[np.float64]:
    """The time of the best of these schemes over BRIDGE's."""
    best: NDArray[np.float64] = np.minimum.reduce([of[name].total_s for name in others])
    return best / of["BRIDGE"].total_s
