"""HARVEST, figure 7: times of one-hop sends over their size, and the startup and bandwidth that fit them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from lightloom import Fabric, calibrate, plan
from lightloom.running.sends import send_times
from lightloom.views.axis_units import show_natural
from lightloom.views.charts import show_heights
from lightloom.views.palette import PALETTE, REFERENCE
from lightloom_papers.claims import Claim
from lightloom_papers.figure import RUN, Figure, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from lightloom import Calibration
    from lightloom.running.sends import SendTimes
    from lightloom_papers.figure import Setting

TESTBED = Fabric.preset("harvest-testbed")
RUNS = 5


def _make(setting: Setting) -> Outcome:
    like = plan("all-gather", "1MiB", fabric=TESTBED, algorithm="ring", planner="static")
    times = send_times(like, runs=RUNS, progress=lambda _text: setting.advance(0, 1))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "times.csv"
        times.save_measurements(file)
        fitted = calibrate(file, hop_delay=TESTBED.hop_delay_s)
    columns = times.to_columns()
    names = ("size_bytes", "time_s", "predicted_s", "dilation", "lateness_s", "verdict")
    return Outcome(
        {name: columns[name] for name in names},
        lambda picture: _draw(picture, times, fitted),
        _claims(times, fitted),
        "Two ranks that send to each other over one hop of the testbed's fabric: 30.32 µs and 85.11 Gbit/s are what "
        f"the paper fits, and what is set here; a hop delays by {TESTBED.hop_delay_s * 1e9:g} ns. Processes and a "
        f"switch in shared memory, slowed down and divided again, the middle of {RUNS} runs. `lightloom run PLAN "
        "--calibrate FILE` measures them, `lightloom calibrate` fits them.",
    )


def _claims(times: SendTimes, fitted: Calibration) -> tuple[Claim, ...]:
    r_squared = fitted.r_squared or 0.0
    numbers = (
        ("the startup of a one-hop send is 30.32 µs", 30.32, fitted.startup_s.value * 1e6, "µs"),
        ("its bandwidth is 85.11 Gbit/s", 85.11, fitted.bandwidth_bps.value / 1e9, "Gbit/s"),
    )
    where = "fig. 7, §6.2"
    line = ("times of one-hop sends follow the α-β cost", where)
    if times.verdict != "conclusive":
        found = ", ".join(f"{ours:.2f} {unit}" for _, _, ours, unit in numbers)
        why = f"The machine was too busy: runs were inconclusive. Found: {found}. Make the figure again."
        rows = [(words, where, f"{paper:g} {unit}") for words, paper, _, unit in numbers]
        rows.append((*line, "a line"))
        return tuple(Claim.not_judged(words, at, paper=paper, why=why) for words, at, paper in rows)
    off = "The machine adds to every send what was not set."
    return (
        *(Claim.near(words, where, paper=paper, ours=ours, unit=unit, why=off) for words, paper, ours, unit in numbers),
        Claim.fact(
            *line,
            paper="a line",
            ours=f"R² {r_squared:.6f}, worst residual {np.abs(fitted.residuals).max():.1%}",
            rule="no residual over 5 %",
            holds=bool(np.abs(fitted.residuals).max() <= 0.05),
            why=off if np.abs(fitted.residuals).max() > 0.05 else "",
        ),
    )


def _draw(picture: Picture, times: SendTimes, fitted: Calibration) -> None:
    picture.set_size_inches(6.5, 4.2)
    axes = picture.subplots()
    sizes = np.array([send.size_bytes for send in times.sends])
    measured = [send.time_s for send in times.sends]
    axes.plot(sizes, measured, "o", color=PALETTE[0], markersize=5, label="measured")
    axes.plot(sizes, fitted.fitted_s, color=PALETTE[0], linewidth=1.3, label="our fit")
    paper = 30.32e-6 + TESTBED.hop_delay_s + sizes * 8 / 85.11e9
    axes.plot(sizes, paper, color=REFERENCE, linestyle="--", linewidth=1.3, label="the paper's fit")
    axes.set_xscale("log")
    axes.set_yscale("log")
    show_heights(axes, "time", log=True)
    show_natural(axes.xaxis, "size", sizes, log=True)
    axes.set(xlabel="size of a send", ylabel="time")
    axes.grid(visible=True, alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


FIGURE_7 = Figure("harvest-7", "α and β of one-hop sends", "HARVEST, figure 7, §6.2", _make, (RUN,))
