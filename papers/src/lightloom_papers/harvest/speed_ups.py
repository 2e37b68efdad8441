"""HARVEST's speed-up over a static topology, over reconfiguring at every step, and over the better of the two.

Figures 5, 6, 8 and 9 are such maps over sizes and reconfiguration delays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom import Fabric
from lightloom.inputs.quantities import seconds_of
from lightloom.views.charts import colour_bar, heat_map
from lightloom.views.colour_norms import ratio_norm
from lightloom_papers.measure import Case

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

# 1 KB to 1 GB and 10 ns to 10 ms (§6.1), as 1024-based sizes, which the published schedules have.
SIZES = tuple(1024 * 4**power for power in range(11))
DELAYS = ("10ns", "100ns", "1us", "10us", "100us", "1ms", "10ms")
# Sizes that the paper calls small: up to 256 KB.
SMALL_BYTES = 256 * 1024
BEST_CANDIDATE = "best candidate"
# A delay that no schedule of the figures pays.
NEVER = "1000s"
# A ratio above this is a faster schedule, not rounding.
FASTER = 1.01


@dataclass(frozen=True)
class Workload:
    """A collective by one algorithm, and the static topology that it is compared on.

    static: a topology, or None for the best of the ring, tori and generalised Kautz graph that fit the ports, or
        `BEST_CANDIDATE` for the best of HARVEST's candidates, whose flows are then routed once for both.
    candidates: HARVEST's, all families where None; radix: of algorithms that have one; convention: HARVEST's eq. 4
        where None.
    """

    name: str
    collective: str
    algorithm: str
    fabric: Fabric
    static: str | None = "ring"
    candidates: str | None = None
    radix: int | None = None
    convention: str | None = None

    def case(self, planner: str, size: int, delay: str | float, **more: str) -> Case:
        """The plan of a planner at one point; `more` are settings in addition to the workload's."""
        if planner == "static" and self.static == BEST_CANDIDATE:
            return self.case("harvest", size, NEVER, **more)
        settings: dict[str, Any] = {"algorithm": self.algorithm, "planner": planner, **more}
        for name in ("radix", "convention"):
            if getattr(self, name) is not None:
                settings[name] = getattr(self, name)
        if planner == "static" and self.static is not None:
            settings["topology"] = self.static
        if planner == "harvest" and self.candidates is not None:
            settings["candidates"] = self.candidates
        fabric = replace(self.fabric, reconfiguration_delay=delay)
        return Case.of(self.collective, size, fabric, **settings)

    def with_hop_delay(self, hop_delay: str) -> Workload:
        """The same on a fabric of another hop delay."""
        return replace(self, fabric=replace(self.fabric, hop_delay=hop_delay))


RECURSIVE_DOUBLING = Workload("recursive doubling AllReduce", "all-reduce", "recursive-doubling", Fabric(gpus=64))
# HARVEST's Swing has two ports, a two-way ring.
SWING = Workload("Swing AllReduce", "all-reduce", "swing", Fabric(gpus=64, ports=2))
ALL_TO_ALL = Workload("direct All-to-All", "all-to-all", "direct", Fabric(gpus=64))


class SpeedUps(NamedTuple):
    """Times (s) and HARVEST's reconfigurations, `[delay][size]`; delays in seconds, sizes in bytes.

    bvn_reconfigurations: those that the schedule of one topology a step is charged; fewer than its steps less one
    where neighbouring steps have the same circuits.
    """

    sizes: NDArray[np.int64]
    delays_s: NDArray[np.float64]
    harvest_s: NDArray[np.float64]
    static_s: NDArray[np.float64]
    bvn_s: NDArray[np.float64]
    reconfigurations: NDArray[np.int64]
    bvn_reconfigurations: NDArray[np.int64]

    @property
    def over_static(self) -> NDArray[np.float64]:
        """Static over HARVEST."""
        return self.static_s / self.harvest_s

    @property
    def over_bvn(self) -> NDArray[np.float64]:
        """Reconfiguring at every step over HARVEST."""
        return self.bvn_s / self.harvest_s

    @property
    def over_best(self) -> NDArray[np.float64]:
        """The faster of the two over HARVEST."""
        return np.minimum(self.static_s, self.bvn_s) / self.harvest_s

    def part(self, low_s: float, high_s: float, largest: int = SMALL_BYTES) -> tuple[NDArray[Any], ...]:
        """Index of the points with delays from low to high and sizes up to the largest."""
        rows = np.flatnonzero((self.delays_s >= low_s * 0.999) & (self.delays_s <= high_s * 1.001))
        return np.ix_(rows, np.flatnonzero(self.sizes <= largest))

    def at(self, delay_s: float, size: int) -> tuple[int, int]:
        """Index of one point."""
        return int(np.argmin(np.abs(self.delays_s - delay_s))), int(np.argmin(np.abs(self.sizes - size)))

    def table(self, **labels: str) -> dict[str, list[Any]]:
        """A row for each point; labels are columns before the others."""
        rows, columns = self.harvest_s.shape
        named: dict[str, Any] = {
            "size_bytes": np.tile(self.sizes, rows),
            "reconfiguration_delay_s": np.repeat(self.delays_s, columns),
            "harvest_s": self.harvest_s,
            "static_s": self.static_s,
            "bvn_s": self.bvn_s,
            "harvest_reconfigurations": self.reconfigurations,
            "over_static": self.over_static,
            "over_bvn": self.over_bvn,
            "over_best": self.over_best,
        }
        lists = {name: np.ravel(values).tolist() for name, values in named.items()}
        return {**{name: [label] * (rows * columns) for name, label in labels.items()}, **lists}


def measure_speed_ups(
    setting: Setting, workload: Workload, sizes: Sequence[int] = SIZES, delays: Sequence[str] = DELAYS
) -> SpeedUps:
    """Times of HARVEST, the static topology and the schedule of one topology a step at every size and delay."""
    points = [(size, delay) for delay in delays for size in sizes]
    moving = [workload.case(planner, size, delay) for planner in ("harvest", "bvn") for size, delay in points]
    # A topology that never changes takes as long at every delay.
    still = [workload.case("static", size, delays[0]) for size in sizes]
    measured = setting.measure([*moving, *still])
    shape = len(delays), len(sizes)
    harvest, bvn, static = measured[: len(points)], measured[len(points) : 2 * len(points)], measured[2 * len(points) :]

    def grid(values: list[Any], kind: Any) -> NDArray[Any]:
        return np.array(values, dtype=kind).reshape(shape)

    return SpeedUps(
        np.array(sizes, dtype=np.int64),
        np.array([seconds_of("delay", delay) for delay in delays]),
        grid([one.total_s for one in harvest], np.float64),
        grid([one.total_s for one in static] * len(delays), np.float64),
        grid([one.total_s for one in bvn], np.float64),
        grid([one.reconfigurations for one in harvest], np.int64),
        grid([one.reconfigurations for one in bvn], np.int64),
    )


def merged(tables: Sequence[Mapping[str, list[Any]]]) -> dict[str, list[Any]]:
    """Tables of the same columns under each other."""
    return {name: [value for table in tables for value in table[name]] for name in tables[0]}


OVER = {
    "over_static": "times faster than the static topology",
    "over_bvn": "times faster than reconfiguring at every step",
    "over_best": "times faster than the better of the two",
}


def draw_maps(
    picture: Picture, rows: Sequence[tuple[str, SpeedUps]], columns: Sequence[str], *, most: float = 100.0
) -> None:
    """A heat map for each row and each column of `OVER`; the maps of a column share their colours.

    most: the largest factor that has a colour of its own.
    """
    picture.set_size_inches(4.6 * len(columns) + 0.6, 2.9 * len(rows) + 1.0)
    all_axes = picture.subplots(len(rows), len(columns), squeeze=False)
    for column, over in enumerate(columns):
        maps = [getattr(speed_ups, over) for _, speed_ups in rows]
        norm = ratio_norm(np.concatenate([np.ravel(cells) for cells in maps]), 1.0, most)
        meshes = []
        for row, ((name, speed_ups), cells) in enumerate(zip(rows, maps, strict=True)):
            axes = all_axes[row, column]
            meshes.append(heat_map(axes, speed_ups.sizes, speed_ups.delays_s, cells, norm=norm, centre=1.0))
            axes.set_title(name, fontsize=9)
            axes.set_xlabel("buffer of a GPU" if row == len(rows) - 1 else "", fontsize=8)
            axes.set_ylabel("reconfiguration delay" if column == 0 else "", fontsize=8)
            axes.tick_params(labelsize=7)
        # The bar ends at the largest of the values that it is given.
        mesh = meshes[int(np.argmax([cells.max() for cells in maps]))]
        colour_bar(
            picture,
            mesh,
            all_axes[:, column].tolist(),
            OVER[over],
            "ratio",
            location="bottom",
            aspect=40,
            fraction=0.03,
        )
