"""HARVEST, figure 6, from runs: plans of the testbed on processes of this machine, compared with planned times."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.views.axis_units import size_label, time_label
from lightloom.views.charts import colour_bar, heat_map
from lightloom.views.colour_norms import ratio_norm
from lightloom_papers.claims import Claim
from lightloom_papers.figure import RUN, Figure, Outcome
from lightloom_papers.harvest.figure_6 import TESTBED
from lightloom_papers.harvest.speed_ups import OVER, SpeedUps
from lightloom_papers.ran import ran

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure as Picture

    from lightloom_papers.figure import Setting
    from lightloom_papers.ran import Ran

# A small part of the paper's grid: around the regime in which HARVEST beats both.
SIZES = (256 << 10, 1 << 20, 4 << 20)
DELAYS = ("10us", "100us", "1ms")
DELAYS_S = (10e-6, 100e-6, 1e-3)
RUNS = 3
# Steps take 35 ms and more, so that the machine need not be quiet for them to be as planned.
DILATION = 1000.0
PLANNERS = ("harvest", "static", "bvn")
# Measured speed-ups are as predicted within this part, and times that are closer than this to each other are a tie.
AGREE, TIE = 0.10, 0.02


class Grids(NamedTuple):
    """Predicted and measured times of the three schedules, and whether all runs say something."""

    predicted: SpeedUps
    measured: SpeedUps
    ratios: list[float]
    is_conclusive: bool


def measure_grids(setting: Setting, sizes: Sequence[int] = SIZES, delays: Sequence[str] = DELAYS) -> Grids:
    """Run HARVEST's schedule, the static ring and BvN at every size and delay, the ring only at the first delay."""
    cases = {
        planner: [
            TESTBED.case(planner, size, delays[0] if planner == "static" else delay)
            for delay in delays
            for size in sizes
        ]
        for planner in PLANNERS
    }
    found = ran([case for planner in PLANNERS for case in cases[planner]], setting, runs=RUNS, dilation=DILATION)
    count = len(sizes) * len(delays)
    by_planner = {planner: found[place * count :][:count] for place, planner in enumerate(PLANNERS)}

    def speed_ups(time_of: Callable[[Ran], float]) -> SpeedUps:
        def grid(planner: str, value: Callable[[Ran], float], kind: type) -> np.ndarray:
            return np.array([value(one) for one in by_planner[planner]], dtype=kind).reshape(len(delays), len(sizes))

        times = [grid(planner, time_of, np.float64) for planner in PLANNERS]
        changes = [grid(planner, lambda one: one.reconfigurations, np.int64) for planner in ("harvest", "bvn")]
        delays_s = np.array(DELAYS_S[: len(delays)])
        return SpeedUps(np.array(sizes, dtype=np.int64), delays_s, *times, *changes)

    return Grids(
        speed_ups(lambda one: one.predicted_s),
        speed_ups(lambda one: one.measured_s),
        sorted(one.measured_s / one.predicted_s for one in dict.fromkeys(found)),
        all(one.is_conclusive for one in found),
    )


def _make(setting: Setting) -> Outcome:
    grids = measure_grids(setting)
    predicted = grids.predicted.table(times="predicted")
    measured = grids.measured.table(times="measured")
    return Outcome(
        {name: predicted[name] + measured[name] for name in predicted},
        lambda picture: _draw(picture, grids),
        (_agree(grids), _winners(grids), _beats_both(grids)),
        "8 ranks, each a process of this machine, with the testbed's 30.32 µs and 85.11 Gbit/s: shared memory, a "
        "switch process that holds packets back and is dark while circuits change, ranks that pass packets on. Slowed "
        f"down {DILATION:g} times and divided by that again; the middle of {RUNS} runs after a warm-up. "
        f"Measured over predicted times: {grids.ratios[0]:.3f} to {grids.ratios[-1]:.3f}, in the middle "
        f"{float(np.median(grids.ratios)):.3f}. Recursive doubling in the order of §5.1, as harvest-6a to 6d have it "
        "by the model; the paper timed each step on GPUs by itself and added the delays.",
    )


def _judged(grids: Grids, words: str, where: str, *, paper: str, ours: str, rule: str, holds: bool) -> Claim:
    """A claim; not judged where the machine was too busy for its times to say anything."""
    if not grids.is_conclusive:
        why = f"The machine was too busy: runs were inconclusive. Found: {ours}. Make the figure again."
        return Claim.not_judged(words, where, paper=paper, why=why)
    why = "" if holds else "The machine adds to every step what the plans do not have."
    return Claim.fact(words, where, paper=paper, ours=ours, rule=rule, holds=holds, why=why)


def _agree(grids: Grids) -> Claim:
    off = [
        float(np.abs(getattr(grids.measured, over) / getattr(grids.predicted, over) - 1).max())
        for over in ("over_bvn", "over_static", "over_best")
    ]
    return _judged(
        grids,
        "the estimated speed-ups closely match those measured",
        "fig. 6d, §6.2",
        paper="closely match",
        ours=f"at most {off[0]:.1%} apart over BvN, {off[1]:.1%} over the static ring, {off[2]:.1%} over the better",
        rule=f"measured within {AGREE:.0%} of predicted at every point",
        holds=max(off) <= AGREE,
    )


def _winners(grids: Grids) -> Claim:
    """The winner of the static ring and BvN, where the plans are not a tie."""
    (planned, found) = (np.log(one.static_s / one.bvn_s) for one in (grids.predicted, grids.measured))
    clear = np.abs(planned) > TIE
    same = int(np.sum(np.sign(planned[clear]) == np.sign(found[clear])))
    return _judged(
        grids,
        "the same schedule wins on hardware as by the cost model",
        "fig. 6, §6.2",
        paper="the regimes closely match",
        ours=f"the same of static ring and BvN at {same} of {int(clear.sum())} points",
        rule=f"at all points where they differ by more than {TIE:.0%}",
        holds=same == int(clear.sum()),
    )


def _beats_both(grids: Grids) -> Claim:
    best = grids.measured.over_best
    row, column = np.unravel_index(int(best.argmax()), best.shape)
    planned = float(grids.predicted.over_best[row, column])
    where = f"{size_label(SIZES[column])} and {time_label(DELAYS_S[row])}"
    return _judged(
        grids,
        "there is a transitional regime in which HARVEST beats both",
        "fig. 6c, §6.2",
        paper="a transitional regime",
        ours=f"up to {best.max():.3f}× at {where} (predicted {planned:.3f}×), nowhere below {best.min():.3f}×",
        rule=f"measured above {1 + TIE} somewhere, and nowhere below {1 - TIE}",
        holds=bool(best.max() > 1 + TIE and best.min() > 1 - TIE),
    )


def _draw(picture: Picture, grids: Grids) -> None:
    """Above the measured speed-ups, below the predicted ones, over BvN, the static ring, and the better of both."""
    columns = ("over_bvn", "over_static", "over_best")
    rows = (("measured", grids.measured), ("predicted", grids.predicted))
    picture.set_size_inches(11, 6.4)
    all_axes = picture.subplots(2, 3, squeeze=False)
    for column, over in enumerate(columns):
        cells = np.concatenate([np.ravel(getattr(found, over)) for _, found in rows])
        norm = ratio_norm(cells, 1.0, 100.0)
        for row, (name, found) in enumerate(rows):
            axes = all_axes[row, column]
            mesh = heat_map(
                axes, found.sizes, found.delays_s, getattr(found, over), norm=norm, centre=1.0, numbers=".2f"
            )
            axes.set_title(name, fontsize=9)
            axes.set_xlabel("buffer of a GPU" if row else "", fontsize=8)
            axes.set_ylabel("reconfiguration delay" if column == 0 else "", fontsize=8)
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


FIGURE_6_RAN = Figure(
    "harvest-6", "testbed: measured and predicted speed-ups", "HARVEST, figure 6, §6.2", _make, (RUN,)
)
