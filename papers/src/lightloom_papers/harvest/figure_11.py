"""HARVEST, figure 11: how long the dynamic program for recursive doubling takes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from lightloom import Fabric, Problem
from lightloom.views.charts import lines, show_heights
from lightloom.views.palette import REFERENCE
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

GPUS = (8, 16, 32, 64, 128, 256, 512, 1024)
POINTS = 2000
REPETITIONS = 3
# The measured time differs from run to run: the paper's limit is reported, or the next of these above the time.
STEPS_S = (50e-6, 100e-6, 1e-3)


def _make(_setting: Setting) -> Outcome:
    times_s = [_time_of_one(gpus) for gpus in GPUS]

    def draw(picture: Picture) -> None:
        picture.set_size_inches(6.5, 4)
        axes = picture.subplots()
        lines(axes, np.array(GPUS), {"Lightloom": times_s}, x_kind="count", y_kind="time")
        for limit_s, gpus in ((20e-6, 64), (35e-6, 1024)):
            axes.plot([GPUS[0], gpus], [limit_s, limit_s], color=REFERENCE, linestyle=":", linewidth=1)
            words = f"paper: below {limit_s * 1e6:.0f} µs up to {gpus}"
            axes.annotate(words, (GPUS[0], limit_s), (2, 3), textcoords="offset points", fontsize=8)
        show_heights(axes, "time", log=True)
        axes.set(xlabel="GPUs", ylabel="time of one plan")
        axes.legend(frameon=False, loc="center right")

    return Outcome(
        {"gpus": list(GPUS), "dynamic_program_s": times_s},
        draw,
        tuple(_claim(gpus, limit_s, times_s[GPUS.index(gpus)]) for gpus, limit_s in ((64, 20e-6), (1024, 35e-6))),
        "Recursive doubling AllReduce with one port: the wall-clock time of the best sequence of topologies at one "
        f"size and delay, the least of {REPETITIONS} means over {POINTS} points in one call, on one thread. The parts "
        "that do not depend on size and delays are prepared before. Times differ from run to run and machine to "
        "machine.",
    )


def _time_of_one(gpus: int) -> float:
    problem = Problem("all-reduce", fabric=Fabric(gpus=gpus), algorithm="recursive-doubling", planner="harvest")
    delays_s = np.geomspace(1e-8, 1e-2, POINTS)
    sizes = np.geomspace(1 << 10, 1 << 30, POINTS).round()
    problem.sweep(sizes[:8], delays_s[:8])
    return min(_timed(problem, sizes, delays_s) for _ in range(REPETITIONS))


def _timed(problem: Problem, sizes: NDArray[np.float64], delays_s: NDArray[np.float64]) -> float:
    began = time.perf_counter()
    problem.sweep(sizes, delays_s)
    return (time.perf_counter() - began) / POINTS


def _claim(gpus: int, limit_s: float, taken_s: float) -> Claim:
    below = next((step for step in (limit_s, *STEPS_S) if taken_s < step), np.inf)
    return Claim.fact(
        f"the dynamic program for recursive doubling on {gpus} GPUs takes less than {limit_s * 1e6:.0f} µs",
        "fig. 11, §6.2",
        paper=f"below {limit_s * 1e6:.0f} µs",
        ours=f"below {below * 1e6:g} µs",
        rule="less than that",
        holds=taken_s < limit_s,
        why="" if taken_s < limit_s else "The machine that this ran on was slower or busy.",
    )


FIGURE_11 = Figure("harvest-11", "time of the dynamic program", "HARVEST, figure 11, §6.2", _make)
