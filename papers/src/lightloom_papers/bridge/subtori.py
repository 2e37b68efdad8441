"""BRIDGE §5: subtori over subrings and over circuits that never change, by GPUs and delay; `table_2` has switches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom import Fabric
from lightloom.views.axis_units import size_label, time_label
from lightloom.views.charts import lines
from lightloom_papers.bridge.schemes import HOP_DELAY_S, KB, MB, STARTUP_S
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome
from lightloom_papers.measure import Case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

GRIDS = {16: "4x4", 32: "4x8", 64: "8x8", 128: "8x16", 256: "16x16"}
DELAYS_S = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
SIZES = (KB, MB, 128 * MB)
# Two ports each: a dimension has one, the ring both.
PORTS = 2
SUBTORI, SUBRINGS, UNCHANGING = "subtori", "subrings", "never-change"
SETTINGS = {
    SUBTORI: {"planner": "bridge", "algorithm": "bruck-torus"},
    SUBRINGS: {"planner": "bridge", "algorithm": "bruck"},
    UNCHANGING: {"planner": "never-change"},
}
# A gain that counts.
LEAST_GAIN = 1.1


class _Point(NamedTuple):
    grid: str
    size: int
    delay_s: float

    def case(self, way: str) -> Case:
        """An All-to-All from the circuits that the plan begins with."""
        fabric = Fabric(
            dims=self.grid,
            ports=PORTS,
            startup=STARTUP_S,
            hop_delay=HOP_DELAY_S,
            reconfiguration_delay=self.delay_s,
            initial="free",
        )
        return Case.of("all-to-all", self.size, fabric, **SETTINGS[way])


def _times(setting: Setting, points: Sequence[_Point]) -> dict[str, NDArray[np.float64]]:
    """Completion times (s) of each way at every point."""
    cases = [point.case(way) for way in SETTINGS for point in points]
    measured = np.array([found.total_s for found in setting.measure(cases)]).reshape(len(SETTINGS), -1)
    return dict(zip(SETTINGS, measured, strict=True))


def make(setting: Setting) -> Outcome:
    """The gains by GPUs and delay."""
    points = [_Point(grid, size, delay_s) for size in SIZES for grid in GRIDS.values() for delay_s in DELAYS_S]
    times = _times(setting, points)
    gains = {way: (times[way] / times[SUBTORI]).reshape(len(SIZES), len(GRIDS), -1) for way in (SUBRINGS, UNCHANGING)}

    def draw(picture: Picture) -> None:
        picture.set_size_inches(9, 3.8)
        for axes, (way, gain) in zip(picture.subplots(1, 2), gains.items(), strict=True):
            shown = {f"{gpus} GPUs": gain[-1, index] for index, gpus in enumerate(GRIDS)}
            lines(axes, DELAYS_S, shown, x_kind="time", y_kind="ratio")
            axes.set(xlabel="reconfiguration delay", ylabel=f"gain over {way}, {size_label(SIZES[-1])}")

    return Outcome(
        {
            "size_bytes": [point.size for point in points],
            "gpus": [gpus for _ in SIZES for gpus in GRIDS for _ in DELAYS_S],
            "grid": [point.grid for point in points],
            "reconfiguration_delay_s": [point.delay_s for point in points],
            "subtori_s": times[SUBTORI],
            "over_subrings": gains[SUBRINGS].ravel(),
            "over_never_change": gains[UNCHANGING].ravel(),
        },
        draw,
        (_over_subrings(gains[SUBRINGS], gains[UNCHANGING]),),
        "All-to-All with two ports a GPU, 1.7 µs of startup and 1 µs a hop as in §4.1, free starts. Subtori: planner "
        "bridge with bruck-torus; subrings: bridge with bruck on a line, both ports in parallel; never-change: the "
        "best algorithm and circuits that stay. The paper names subtori as an extension and has no schedule for them.",
    )


def _over_subrings(gain: NDArray[np.float64], over_unchanging: NDArray[np.float64]) -> Claim:
    at = {gpus: gain[:, index] for index, gpus in enumerate(GRIDS)}
    slowest = over_unchanging[-1].max(axis=0)
    return Claim.fact(
        "Tori whose nodes have more ports form several subrings, which together form small subtori",
        "§5",
        paper="an extension",
        ours=", ".join(f"{gpus} GPUs: {cells.min():.2f}× to {cells.max():.2f}×" for gpus, cells in at.items()),
        rule="no slower than subrings of all GPUs with as many ports, and 1.1× faster at some delay for every number",
        holds=bool(np.all(gain >= 1 - 1e-9) and all(cells.max() >= LEAST_GAIN for cells in at.values())),
        why=f"over all sizes and delays; over circuits that never change, {size_label(SIZES[-1])} gains up to "
        + ", ".join(f"{most:.2f}× at {time_label(delay_s)}" for most, delay_s in zip(slowest, DELAYS_S, strict=True)),
    )


FIGURE = Figure("bridge-subtori", "subtori over subrings, by GPUs and delay", "BRIDGE §5", make)
