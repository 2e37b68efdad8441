"""Figure 13: how far strategies of one port are from theorem 1."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from lightloom.planning.all_to_all import shift_hops
from lightloom.views.axis_units import show_natural
from lightloom.views.charts import lines
from lightloom_papers.all_to_all.costs import ascending, cycles_first, hops_of_order, theorem_1
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome
from lightloom_papers.looks import looks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

# The paper's practical sizes, all of them; beyond, powers of two, their neighbours below, and numbers of many divisors
# or of one, where orders of shifts differ most.
SMALL = tuple(range(2, 65))
LARGE = (96, 127, 128, 210, 255, 256, 360, 509, 511, 512, 720, 1021, 1023, 1024, 1260, 2039, 2047, 2048, 2520)
LARGEST = (3600, 4093, 4095, 4096)
EXAMPLES = (32, 512)
# Orders of shifts that the paper's words allow, for comparison; O(n²) each.
ORDERS = {"1, n-1, 2, 3, … in turn": ascending, "all n-cycles first": cycles_first}
ORDERED = (*SMALL[2:], 128, 256, 512, 1024)


@cache
def _worst(gpus: int) -> tuple[float, int]:
    """The largest ratio of Σ hops to theorem 1 over the numbers of topologies, and where it is."""
    ratios = np.array(shift_hops(gpus)) / theorem_1(gpus)
    return float(ratios.max()), int(ratios.argmax()) + 1


def make(_setting: Setting) -> Outcome:
    """The worst ratio by n, and cost compared with the bound for two n."""
    sizes = (*SMALL, *LARGE, *LARGEST)
    worst = [_worst(gpus) for gpus in sizes]
    others = {
        name: [float((hops_of_order(gpus, order(gpus)) / theorem_1(gpus)).max()) for gpus in ORDERED]
        for name, order in ORDERS.items()
    }
    examples = {gpus: (np.array(shift_hops(gpus)), theorem_1(gpus)) for gpus in EXAMPLES}

    def draw(picture: Picture) -> None:
        picture.set_size_inches(11, 3.6)
        first, *rest = picture.subplots(1, 3)
        (ours_style,) = looks(["ours"])
        both = [ours_style, ours_style._replace(colour="#E69F00", dash="--")]
        for name, values in {"ours": (sizes, [ratio for ratio, _ in worst])}.items():
            first.plot(*values, label=name, color=ours_style.colour, marker="o", markersize=3, linestyle="")
        for (name, ratios), colour, marker in zip(others.items(), ("#0072B2", "#CC79A7"), "s^", strict=True):
            first.plot(ORDERED, ratios, label=name, color=colour, marker=marker, markersize=3, linestyle="")
        first.set_xscale("log", base=2)
        first.set_xticks(ticks := [2, 8, 32, 128, 512, 4096], [str(tick) for tick in ticks])
        first.axhline(2.22, color="grey", linewidth=0.8, linestyle=":")
        first.text(2, 2.26, "paper, n ≤ 64: 2.22", fontsize=7, color="grey")
        first.axhline(4.54, color="grey", linewidth=0.8, linestyle=":")
        first.text(2, 4.58, "paper, n ≤ 4096: 4.54", fontsize=7, color="grey")
        first.set(xlabel="GPUs n", ylabel="worst Σ hops over theorem 1", ylim=(0.9, 5))
        first.legend(fontsize=7, loc="upper left", bbox_to_anchor=(0, 0.88))
        for axes, (gpus, (ours, bound)) in zip(rest, examples.items(), strict=True):
            lines(
                axes,
                np.arange(1, gpus),
                {"ours": ours, "theorem 1": bound},
                x_kind="count",
                y_kind="number",
                log=True,
                looks=both,
            )
            for line in axes.get_lines():
                line.set_marker("")
            axes.set_xscale("log")
            show_natural(axes.xaxis, "count", np.arange(1.0, gpus), log=True)
            axes.set_yticks(axes.get_yticks(), [f"{tick:g} T" for tick in axes.get_yticks()])
            axes.set(xlabel="topologies d'", ylabel="Σ hops", title=f"n = {gpus}")
            axes.legend(fontsize=8)

    claims = _claims(dict(zip(sizes, worst, strict=True)), others, examples)
    table: dict[str, Sequence[object]] = {
        "gpus": list(sizes),
        "worst_ratio": [ratio for ratio, _ in worst],
        "at_topologies": [topologies for _, topologies in worst],
    }
    notes = (
        "Σ hops of the shifts that planner `reconfigure-all-to-all` adds, the one that saves most first, n-cycles "
        f"counting twice, over theorem 1, for every number of topologies d' from 1 to n-1. Every n up to {SMALL[-1]}; "
        f"beyond, {', '.join(map(str, (*LARGE, *LARGEST)))}: powers of two, the numbers below them, primes, and "
        "numbers "
        'of many divisors. The paper leaves the order of shifts open beyond "n-1 second, n-cycles preferred"; two '
        f"simple orders are drawn in addition to ours, for every n up to {SMALL[-1]} and for 128, 256, 512 and 1024."
    )
    return Outcome(table, draw, claims, notes)


def _claims(
    worst: dict[int, tuple[float, int]],
    others: dict[str, list[float]],
    examples: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> tuple[Claim, ...]:
    small = max(worst[gpus][0] for gpus in SMALL)
    large = max(ratio for ratio, _ in worst.values())
    in_turn, cycles = (
        max(ratio for gpus, ratio in zip(ORDERED, ratios, strict=True) if gpus <= SMALL[-1])
        for ratios in others.values()
    )
    at_64 = others["1, n-1, 2, 3, … in turn"][ORDERED.index(64)]
    doubling = [worst[2 * gpus][0] - worst[gpus][0] for gpus in (64, 128, 256, 512, 1024, 2048)]
    _, bound = examples[512]
    few, many = float(bound[0] / bound[7]), float(bound[255] / bound[510])
    last = int(bound[-2] - bound[-1])
    nearest = {gpus: float((ours / least).max()) for gpus, (ours, least) in examples.items()}
    return (
        Claim.at_most(
            "worst ratio of cost to the bound up to n = 64",
            "fig. 13a, §5.3",
            paper=2.22,
            ours=small,
            unit="×",
            why=f"the order of shifts decides: taken in turn (1, n-1, 2, 3, …) the worst is {in_turn:.2f}, "
            f"{at_64:.3f} at n = 64; with all n-cycles first {cycles:.2f}",
        ),
        Claim.at_most("worst ratio up to n = 4096", "fig. 13a, §5.3", paper=4.54, ours=large, unit="×"),
        Claim.fact(
            "the worst ratio grows very slowly with n",
            "fig. 13a, §5.3",
            paper="slowly",
            ours=f"at most {max(doubling):.2f} more for each doubling of n from 64 to 4096",
            rule="less than 0.5 more for twice as many GPUs",
            holds=max(doubling) < 0.5,
        ),
        Claim.fact(
            "the bound falls sharply for few topologies, then flattens",
            "fig. 13b, §5.3",
            paper="sharply, then flat",
            ours=f"n = 512: {few:.1f}× from 1 to 8 topologies, {many:.1f}× from 256 to 511",
            rule="more than 5× over the first eight, less than 2.5× over the second half",
            holds=few > 5 and many < 2.5,
        ),
        Claim.equal(
            "with many topologies each further one saves the cost of one hop", "fig. 13b, §5.3", paper=1, ours=last
        ),
        Claim.fact(
            "cost stays near the bound for n = 32 and 512, at few topologies too",
            "fig. 13b, §5.3",
            paper="a small gap between the two lines",
            ours=", ".join(f"n = {gpus}: at most {ratio:.2f}×" for gpus, ratio in nearest.items()),
            rule="at most 2× at every number of topologies",
            holds=max(nearest.values()) <= 2,
        ),
    )


FIGURE = Figure(
    "all-to-all-13",
    "cost of one-port strategies over theorem 1",
    "To reconfigure or not to reconfigure, fig. 13, §5.3",
    make,
)
