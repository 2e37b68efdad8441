"""PCCL, figure 19: how long circuits on a mesh of MZIs take to route; and the fibres of §4.2 and appendix B.1."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from lightloom import route_fibres, route_mesh
from lightloom.views.charts import lines
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

SIZES = (64, 128, 256)
# Circuits for each row of the mesh: where every fourth crosses the middle line one way, four a row would fill it.
LOADS = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5)
LIMIT_S = 2.5
# The measured time differs from run to run, so the next of these above it is reported.
STEPS_S = (1.0, 2.5, 10.0, 60.0)
SERVERS, SEEDS = 8, 20
FIBRES = {100: 7, 512: 31}


def _make(_setting: Setting) -> Outcome:
    rows = [(size, round(load * size)) for size in SIZES for load in LOADS]
    measured = [_routed(size, count) for size, count in rows]
    needed = {count: [_fibres(count, seed) for seed in range(SEEDS)] for count in FIBRES}

    def draw(picture: Picture) -> None:
        picture.set_size_inches(6, 4)
        axes = picture.subplots()
        times_s = {
            f"{size}x{size} MZIs": [
                taken_s for (one, _), (_, taken_s) in zip(rows, measured, strict=True) if one == size
            ]
            for size in SIZES
        }
        lines(axes, np.array(LOADS), times_s, x_kind="number", y_kind="time")
        axes.set(xlabel="circuits for each row of the mesh", ylabel="time to route them all")
        axes.legend(frameon=False)

    slowest_s = max(taken_s for _, taken_s in measured)
    complete = sum(routed == count for (_, count), (routed, _) in zip(rows, measured, strict=True))
    return Outcome(
        {
            "mzis_per_side": [size for size, _ in rows],
            "circuits": [count for _, count in rows],
            "routed": [routed for routed, _ in measured],
            "route_s": [taken_s for _, taken_s in measured],
        },
        draw,
        (
            Claim.fact(
                "routes are found in under 2.5 s on a 256 × 256 grid with 65 000 MZIs",
                "§4.2, fig. 19",
                paper="below 2.5 s",
                ours=f"below {next((step for step in STEPS_S if slowest_s < step), math.inf):g} s, "
                f"{complete} of {len(rows)} sets complete",
                rule="less than that, and complete",
                holds=slowest_s < LIMIT_S and complete == len(rows),
                why="" if slowest_s < LIMIT_S else "The machine that this ran on was slower or busy.",
            ),
            *(
                Claim.at_most(
                    f"{count} random circuits on a grid of 64 servers need at most {paper} fibres",
                    "§4.2, appendix B.1",
                    paper=paper,
                    ours=float(np.mean([fibres for fibres, _ in needed[count]])),
                )
                for count, paper in FIBRES.items()
            ),
        ),
        "Random circuits between different MZIs, one waveguide of one wavelength in each direction; the paper does not "
        f"say how many circuits it routes. Fibres: the mean over {SEEDS} draws of circuits on {SERVERS}x{SERVERS} "
        "servers, each directed edge counted for itself as in algorithm 4 ("
        + ", ".join(f"{count}: {sum(proved for _, proved in needed[count])} of {SEEDS} proved" for count in FIBRES)
        + " to be least). Where a fibre carries light both ways and the circuits of both count, it is "
        + " and ".join(
            f"{np.mean([_fibres(count, seed, 'both-ways')[0] for seed in range(SEEDS)]):g}" for count in FIBRES
        )
        + ", which the paper's numbers are nearer to.",
    )


def _pairs(cells: int, count: int, seed: int) -> NDArray[np.int64]:
    """Pairs of different cells."""
    draw = np.random.default_rng(seed)
    sources = draw.integers(cells, size=count)
    return np.stack([sources, (sources + draw.integers(1, cells, size=count)) % cells], axis=1)


def _routed(size: int, count: int) -> tuple[int, float]:
    """The number of circuits that were routed, and the seconds that it took."""
    pairs = _pairs(size * size, count, count)
    began = time.perf_counter()
    routing = route_mesh(f"{size}x{size}", pairs)
    taken_s = time.perf_counter() - began
    routing.check()
    return routing.routed, taken_s


def _fibres(count: int, seed: int, direction: str = "one-way") -> tuple[int, bool]:
    """The fibres of random circuits, and whether no paths need fewer."""
    routing = route_fibres(f"{SERVERS}x{SERVERS}", _pairs(SERVERS**2, count, seed), direction=direction)
    routing.check()
    return routing.fibres, routing.is_optimal


FIGURE = Figure("pccl-19", "circuits on a mesh of MZIs", "PCCL, figure 19, §4.2, appendix B.1", _make)
