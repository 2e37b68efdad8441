"""BRIDGE figure 1: cost of AllReduce step after step, by Bruck on subrings and by R-HD."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.views.charts import lines
from lightloom_papers.bridge.changes import plan_with
from lightloom_papers.bridge.halving_doubling import costs_s
from lightloom_papers.bridge.schemes import GPUS, HOP_DELAY_S, KB, MB, REDUCE_SCATTER
from lightloom_papers.claims import Claim
from lightloom_papers.figure import MODEL, Figure, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

SIZE = MB
# Sizes at which the claims must hold as well.
OTHER_SIZES = (KB, 64 * MB)
CHANGES = (0, 1, 2)


def step_costs_s(scheme: str, changes: int, size: int) -> NDArray[np.float64]:
    """Times of the steps of an AllReduce without the reconfigurations: ReduceScatter, then its mirror image (§3.5)."""
    if scheme == "HD":
        scatter = costs_s(MODEL, size, GPUS, HOP_DELAY_S, changes)
    else:
        steps = plan_with(changes, REDUCE_SCATTER, size, GPUS, HOP_DELAY_S).steps
        scatter = np.array([step.total_s - step.reconfiguration_s for step in steps])
    return np.concatenate([scatter, scatter[::-1]])


def make(_setting: Setting) -> Outcome:
    """The cumulative costs, and the claims that they show."""
    every = {
        (scheme, size, r): np.cumsum(step_costs_s(scheme, r, size))
        for scheme in ("Bruck", "HD")
        for size in (SIZE, *OTHER_SIZES)
        for r in CHANGES
    }
    shown = {f"{scheme}, R = {r}": cost for (scheme, size, r), cost in every.items() if size == SIZE}
    claims = (_identical_start(every), _earlier(every), _cheaper(every))

    def draw(picture: Picture) -> None:
        picture.set_size_inches(6.4, 4.2)
        axes = picture.subplots()
        lines(axes, range(1, 13), shown, x_kind="count", log=False)
        axes.set_xlabel("steps of the AllReduce done")
        axes.set_ylabel("cumulative cost without reconfigurations")
        axes.set_title(f"{GPUS} GPUs, {SIZE // MB} MB; R reconfigurations in each half", fontsize=10)
        axes.legend(fontsize=8)

    return Outcome(
        {
            "scheme": [name for name in shown for _ in range(12)],
            "steps_done": [step for _ in shown for step in range(1, 13)],
            "cumulative_cost_s": np.concatenate(list(shown.values())),
        },
        draw,
        claims,
        "AllReduce as ReduceScatter and its mirror image, the AllGather, with R reconfigurations in each half; what "
        "these take is left out, as in the paper. The paper does not say its buffer: the picture has "
        f"{SIZE // MB} MB, and the claims must hold with 1 KB and 64 MB as well.",
    )


def _identical_start(every: dict[tuple[str, int, int], NDArray[np.float64]]) -> Claim:
    """Until its first reconfiguration HD costs the same for every R."""
    same = all(
        np.allclose(every["HD", size, r][: 6 - r], every["HD", size, 0][: 6 - r], rtol=1e-12)
        and every["HD", size, r][6 - r] < every["HD", size, 0][6 - r]
        for size in (SIZE, *OTHER_SIZES)
        for r in (1, 2)
    )
    return Claim.fact(
        "For HD all schedules cost the same until reconfigurations start",
        "fig. 1, §1",
        paper="the same",
        ours="the same up to the last R steps, less from there on" if same else "different earlier",
        rule="equal up to the last R steps of a half, cheaper from there on, at every size",
        holds=same,
    )


def _first_difference(every: dict[tuple[str, int, int], NDArray[np.float64]], scheme: str, size: int, r: int) -> int:
    """The first step of which R reconfigurations change the cost."""
    return int(np.argmax(~np.isclose(every[scheme, size, r], every[scheme, size, 0], rtol=1e-12)))


def _earlier(every: dict[tuple[str, int, int], NDArray[np.float64]]) -> Claim:
    first = {
        (scheme, size, r): _first_difference(every, scheme, size, r)
        for scheme in ("Bruck", "HD")
        for size in (SIZE, *OTHER_SIZES)
        for r in (1, 2)
    }
    shown = ", ".join(f"R = {r}: step {first['Bruck', SIZE, r]} against {first['HD', SIZE, r]}" for r in (1, 2))
    return Claim.fact(
        "Bruck reconfigures earlier than HD",
        "fig. 1, §1",
        paper="earlier",
        ours=shown,
        rule="an earlier step for R = 1 and 2, at every size",
        holds=all(first["Bruck", size, r] < first["HD", size, r] for _, size, r in first),
    )


def _cheaper(every: dict[tuple[str, int, int], NDArray[np.float64]]) -> Claim:
    saved = {
        (size, r): 1 - every["Bruck", size, r][-1] / every["HD", size, r][-1]
        for size in (SIZE, *OTHER_SIZES)
        for r in (1, 2)
    }
    return Claim.fact(
        "Bruck's reused links reduce the cost of later steps significantly: cheaper than HD with the same R",
        "fig. 1, §1",
        paper="significantly cheaper",
        ours=f"{min(saved.values()):.0%} to {max(saved.values()):.0%} cheaper",
        rule="at least 20 % for R = 1 and 2, at every size",
        holds=min(saved.values()) >= 0.2,
    )


FIGURE = Figure(
    "bridge-1", "Cumulative cost of AllReduce with 0, 1 and 2 reconfigurations", "BRIDGE figure 1, §1", make
)
