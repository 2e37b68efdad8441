"""HARVEST's published schedules by what their heads state, next to ours of the same problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.views.axis_units import show_natural
from lightloom.views.palette import PALETTE
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome
from lightloom_papers.harvest.published import ALGORITHMS, SOLVER, published, question_of
from lightloom_papers.harvest.published_apart import delays_of, why_apart
from lightloom_papers.measure import Case

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting
    from lightloom_papers.harvest.published import Published

__all__ = ["FIGURE_PUBLISHED"]

NOTES = (
    "Figures from github.com/STyGIANet/astra-sim-dev: the time and the number of changes that each published schedule "
    "states, and ours of the same problem, over their candidates and with their charges (`--convention "
    "harvest-published`). Their solver ends within a tolerance, so theirs are off the optimum by up to that; ours is "
    "the optimum."
)


def _make(setting: Setting) -> Outcome:
    theirs = published()
    questions = [question_of(one.name) for one in theirs]
    ours = setting.measure([Case.of(one.collective, one.size, one.fabric, **one.settings()) for one in questions])
    ratios = np.array([mine.total_s / one.total_s for one, mine in zip(theirs, ours, strict=True)])
    table = {
        "name": [one.name for one in theirs],
        "published_s": [one.total_s for one in theirs],
        "ours_s": [one.total_s for one in ours],
        "ratio": ratios.tolist(),
        "published_reconfigurations": [one.reconfigurations for one in theirs],
        "our_reconfigurations": [one.reconfigurations for one in ours],
    }
    return Outcome(table, lambda picture: _draw(picture, theirs, ratios), _claims(theirs, table, ratios), NOTES)


def _claims(
    theirs: Sequence[Published], table: Mapping[str, Sequence[Any]], ratios: NDArray[np.float64]
) -> tuple[Claim, ...]:
    off = np.abs(ratios - 1)
    near = off <= SOLVER
    apart = [one for one, is_near in zip(theirs, near, strict=True) if not is_near]
    counts = [np.array(table[f"{whose}_reconfigurations"]) for whose in ("published", "our")]
    same = counts[0] == counts[1]
    return (
        Claim.fact(
            f"{len(ratios)} published schedules take what they state",
            "§6.1",
            paper="the times in their heads",
            ours=f"{int(np.sum(off <= 1e-6))} within 1e-6, {int(np.sum(near))} within 1e-4"
            + (f"; {len(apart)} state less, as no circuits take, {delays_of(apart)}" if apart else ""),
            rule="all within 1e-4, which their solver leaves",
            holds=not apart,
            why=why_apart(apart),
        ),
        Claim.fact(
            "they change circuits as often",
            "§6.1",
            paper="the counts in their heads",
            ours=f"{int(np.sum(same[near]))} of the {int(np.sum(near))} that take the same time, "
            f"{int(np.sum(same))} of all {len(ratios)}",
            rule="equal where times are",
            holds=bool(np.all(same[near])),
            why="" if np.all(same[near]) else "Schedules of equal time differ in the number of changes.",
        ),
    )


def _draw(picture: Picture, theirs: Sequence[Published], ratios: NDArray[np.float64]) -> None:
    picture.set_size_inches(6.5, 4.2)
    axes = picture.subplots()
    times = np.array([one.total_s for one in theirs])
    for index, name in enumerate(ALGORITHMS):
        of_it = np.array([f"-{name}-" in one.name for one in theirs])
        axes.plot(times[of_it], (ratios[of_it] - 1) * 1e6, "o", color=PALETTE[index], markersize=4, label=name)
    axes.set_xscale("log")
    show_natural(axes.xaxis, "time", times, log=True)
    axes.set_yscale("symlog", linthresh=1)
    reach = 10 ** np.ceil(np.log10(np.abs(ratios - 1).max() * 1e6))
    axes.set_ylim(-reach, reach)
    axes.set(xlabel="time that the schedule states", ylabel="ours over theirs, less 1, in millionths")
    axes.grid(visible=True, alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


FIGURE_PUBLISHED = Figure(
    "harvest-published", "published schedules, ours over theirs", "HARVEST, schedules of §6.1", _make
)
