"""Figures 3, 4, 5, 7 and 10: costs of strategies for eight GPUs, by hand."""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from lightloom.planning.all_to_all import shift_hops
from lightloom.views.charts import lines
from lightloom_papers.all_to_all.costs import hops_of_order, hops_to_distances, theorem_1
from lightloom_papers.all_to_all.text import text_claims
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

GPUS = 8
# Rounds that figure 7 keeps, by their hops: of the base, then of the 3-shift.
KEPT = ((1, 2, 4, 5), (1, 2, 5))
# The base of figure 6a and the second topology of figure 10a, as cycles.
BASE = (1, 3, 4, 7, 2, 8, 5, 6)
NOT_SHIFTED = (1, 2, 3, 4, 5, 6, 7, 8)
STRATEGIES = {
    "one topology (fig. 4)": (1,),
    "two, evenly split (fig. 3)": (1, 7),
    "base and 3-shift (fig. 7)": (1, 3),
    "seven topologies (fig. 5)": tuple(range(1, GPUS)),
}


def make(_setting: Setting) -> Outcome:
    """Costs of the strategies of figures 3, 4, 5 and 7 over R/T."""
    hops = {name: int(hops_of_order(GPUS, shifts)[-1]) for name, shifts in STRATEGIES.items()}
    topologies = {name: len(shifts) for name, shifts in STRATEGIES.items()}
    ratios = np.geomspace(0.25, 32, 29)
    costs = {name: topologies[name] * ratios + hops[name] for name in STRATEGIES}

    def draw(picture: Picture) -> None:
        picture.set_size_inches(6.4, 4.2)
        axes = picture.subplots()
        lines(axes, ratios, costs, x_kind="ratio", y_kind="number", log=True)
        axes.set_yticks(axes.get_yticks(), [f"{tick:g} T" for tick in axes.get_yticks()])
        places = [0.25, 0.5, 1, 2, 4, 7, 16, 32]
        axes.set_xticks(places, [f"{place:g}" for place in places])
        axes.axvline(7, color="grey", linewidth=0.8, linestyle=":")
        axes.set(xlabel="reconfiguration delay R over the time T of one chunk and hop", ylabel="cost, 8 GPUs, one port")
        axes.legend(fontsize=8)

    table: dict[str, Sequence[object]] = {
        "strategy": list(STRATEGIES),
        "shifts": [" ".join(map(str, shifts)) for shifts in STRATEGIES.values()],
        "topologies": list(topologies.values()),
        "hops": list(hops.values()),
        "theorem_1_hops": [int(theorem_1(GPUS)[count - 1]) for count in topologies.values()],
        "cost_at_7_T": [hops[name] + 7 * topologies[name] for name in STRATEGIES],
    }
    notes = (
        "Σ hops are counted: a flow of distance g goes where a shift reaches g in the fewest hops. The strategies "
        "with one, two and seven topologies are the ones that planner `reconfigure-all-to-all` has for these numbers "
        f"({', '.join(str(count) for count in shift_hops(GPUS))} hops with 1 to 7 topologies)."
    )
    return Outcome(table, draw, _claims(hops), notes)


def _claims(hops: dict[str, int]) -> tuple[Claim, ...]:
    one, two, shifted, seven = hops.values()
    ours = shift_hops(GPUS)
    at_7 = [one + 7, two + 2 * 7, seven + 7 * 7]
    rounds = "+".join(str(count) for kept in KEPT for count in kept)
    in_rounds = sum(map(sum, KEPT))
    (emptied, left), (_, fewest) = (_rounds_left(ties_to_base=ties) for ties in (True, False))
    searched = sum(factorial(GPUS) ** d * d ** (GPUS * (GPUS - 1)) for d in range(1, GPUS))
    rounded = sum(41_000**d * d ** (GPUS * (GPUS - 1)) for d in range(1, GPUS))
    return (
        Claim.equal("two topologies, flows evenly split", "fig. 3, §2.3", paper="16T+2R", ours=_sum(ours[1], 2)),
        Claim.equal("one topology for all flows", "fig. 4, §2.3", paper="28T+R", ours=_sum(ours[0], 1)),
        Claim.equal("a topology for each distance", "fig. 5, §2.3", paper="7T+7R", ours=_sum(ours[6], 7)),
        Claim.equal("the three at R = 7T", "§2.3", paper="35T, 30T, 56T", ours=", ".join(f"{cost}T" for cost in at_7)),
        Claim.near(
            "never reconfiguring takes at least 16 % longer",
            "§2.3",
            paper=16,
            ours=(at_7[0] / at_7[1] - 1) * 100,
            unit="%",
        ),
        Claim.near(
            "always reconfiguring takes at least 86 % longer",
            "§2.3",
            paper=86,
            ours=(at_7[2] / at_7[1] - 1) * 100,
            unit="%",
        ),
        Claim.equal("the bound for two topologies", "theorem 1", paper="16T+2R", ours=_sum(int(theorem_1(GPUS)[1]), 2)),
        Claim.equal(
            "base and 3-shift",
            "fig. 7, §4.3",
            paper="19T+2R",
            ours=_sum(shifted, 2),
            why="the rounds that the figure keeps, 1, 2, 4 and 5 of the base and 1, 2 and 5 of the 3-shift, add up "
            f"to {rounds} = {in_rounds}; the least hops to each distance over both topologies add up to {shifted}, "
            "and no schedule on them takes fewer, since a slot moves each rank's flows by one hop in all",
        ),
        Claim.fact(
            "a second topology that is no shift lets no round of the base be dropped whole",
            "fig. 10, §4.3",
            paper="no round",
            ours=f"{emptied} of 7 rounds",
            rule="of the base's rounds, none is left without flows",
            holds=emptied == 0,
            why=f"flows that the base's rounds keep: {', '.join(map(str, left))} of 8 each; where equally long paths "
            f"go to the second topology {', '.join(map(str, fewest))}",
        ),
        Claim.near(
            "size of the search space",
            "§2.3",
            paper=4.1e79,
            ours=float(searched),
            why=f"Σ (8!)^d·d^56 over d = 1 … 7 is {searched:.3g}; it is {rounded:.3g} with 8! = 40 320 taken as 41 000",
        ),
        *text_claims(),
    )


def _rounds_left(*, ties_to_base: bool) -> tuple[int, list[int]]:
    """Rounds of the base that have no flow left with figure 10's topology, and the flows that each keeps.

    A flow goes where it has fewer hops; `ties_to_base` says where it goes if both are alike.
    """
    base, other = (_hops_on_cycle(cycle) for cycle in (BASE, NOT_SHIFTED))
    keeps = base <= other if ties_to_base else base < other
    left = [int(np.sum(keeps & (base == count))) for count in range(1, GPUS)]
    return left.count(0), left


def _hops_on_cycle(cycle: Sequence[int]) -> NDArray[np.int64]:
    """Hops from each rank to each other along the cycle, by rank from 1."""
    place = np.argsort(np.array(cycle))
    hops: NDArray[np.int64] = hops_to_distances(GPUS, 1)[(place[None, :] - place[:, None]) % GPUS]
    return hops


def _sum(hops: int, topologies: int) -> str:
    return f"{hops}T+{topologies if topologies > 1 else ''}R"


FIGURE = Figure(
    "all-to-all-3",
    "strategies for eight GPUs, by hand (figures 3, 4, 5, 7 and 10)",
    "To reconfigure or not to reconfigure, fig. 3 to 7 and 10, §2.3, §3, §4.3",
    make,
)
