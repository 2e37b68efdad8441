"""HARVEST, figure 12: the cost of a barrier of all GPUs at an array in shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.running.barriers import barrier_costs
from lightloom.views.axis_units import show_range
from lightloom.views.palette import REFERENCE
from lightloom.views.pictures.barriers import draw_barriers
from lightloom_papers.claims import Claim
from lightloom_papers.figure import RUN, Figure, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from lightloom.running.barriers import BarrierCosts
    from lightloom_papers.figure import Setting

ROUNDS = 5000
MOST_RANKS = 16
# About 4 µs for 8 GPUs, on average; below 45 µs for 256.
OF_8_S, OF_256_S = 4e-6, 45e-6


def _make(setting: Setting) -> Outcome:
    costs = barrier_costs(most_ranks=MOST_RANKS, rounds=ROUNDS, progress=lambda _text: setting.advance(0, 1))
    return Outcome(
        costs.to_columns(),
        lambda picture: _draw(picture, costs),
        _claims(costs),
        f"Processes on {costs.cores} cores that do nothing but wait for each other, {ROUNDS} rounds: `flags` is the "
        "paper's barrier, each writes its own entry of an array and looks at all of them; `central` and "
        "`dissemination` sleep (futex). The middle of the rounds, as the first rank has them. Where there are more "
        "ranks than cores, ranks take turns, which GPUs need not, and what is measured is mostly the turns.",
    )


def _claims(costs: BarrierCosts) -> tuple[Claim, ...]:
    at_8 = next(cost for cost in costs.costs if (cost.barrier, cost.ranks) == ("flags", 8))
    shared = f"{at_8.ranks} ranks take turns on {costs.cores} cores." if costs.cores < at_8.ranks else ""
    near = at_8.median_s <= 2 * OF_8_S
    return (
        Claim.fact(
            "8 GPUs have waited for each other within about 4 µs",
            "fig. 12, §6.2",
            paper="about 4 µs",
            ours=f"{at_8.median_s * 1e6:.1f} µs on {costs.cores} cores",
            rule="at most twice that",
            holds=near,
            why=shared if near else shared or "The machine was slower or busy.",
        ),
        Claim.not_judged(
            "256 have within less than 45 µs",
            "fig. 12, §6.2",
            paper="below 45 µs",
            why=f"256 processes on {costs.cores} cores would measure whose turn it is.",
        ),
    )


def _draw(picture: Picture, costs: BarrierCosts) -> None:
    picture.set_size_inches(6.5, 4.2)
    axes = picture.subplots()
    draw_barriers(axes, costs)
    axes.plot([8], [OF_8_S], "*", color=REFERENCE, markersize=11, label="paper: 8 GPUs, about 4 µs")
    medians = [cost.median_s for cost in costs.costs]
    show_range(axes.yaxis, "time", min(OF_8_S, *medians), max(OF_8_S, *medians), log=True)
    axes.set_ylabel("time of a round")
    axes.legend(frameon=False, fontsize=8)


FIGURE_12 = Figure("harvest-12", "synchronisation time", "HARVEST, figure 12, §6.2", _make, (RUN,))
