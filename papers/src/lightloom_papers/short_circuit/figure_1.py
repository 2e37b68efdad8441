"""Figure 1: Ring and recursive doubling on a static ring of 16 GPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.views.axis_units import size_label, time_label
from lightloom.views.charts import lines
from lightloom_papers.claims import Claim
from lightloom_papers.figure import MODEL, PACKET, Figure, Outcome
from lightloom_papers.looks import looks
from lightloom_papers.measure import simulate_case
from lightloom_papers.short_circuit.completion import on_ring, times_s

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

GPUS = 16
HOPS_S = np.array([10e-9, 50e-9, 100e-9, 250e-9, 500e-9, 1e-6])
SIZES = (32, 32_000, 4_000_000, 32_000_000)
ALGORITHMS = {"ring": "Ring", "recursive-doubling": "recursive doubling"}


class Apart(NamedTuple):
    """Part of a cost model's time by which packets differ, by case: of the additive model, and of the pipelined one."""

    additive: NDArray[np.float64]
    pipelined: NDArray[np.float64]


def make(setting: Setting) -> Outcome:
    """Times over the hop delay, a panel for each size."""
    cases = [
        on_ring(algorithm, GPUS, size, float(hop_s)) for algorithm in ALGORITHMS for size in SIZES for hop_s in HOPS_S
    ]
    measured_s = times_s(setting, cases)
    ring_s, doubling_s = measured_s.reshape(len(ALGORITHMS), len(SIZES), len(HOPS_S))
    modelled_s = times_s(replace(setting, engine=MODEL), cases)
    simulated_s = np.array([simulate_case(case).total_s for case in cases])
    pipelined_s = times_s(
        replace(setting, engine=MODEL),
        [case._replace(settings=(*case.settings, ("overlap", "pipelined"))) for case in cases],
    )
    apart = Apart(*(np.abs(simulated_s / model_s - 1) for model_s in (modelled_s, pipelined_s)))

    def draw(picture: Picture) -> None:
        picture.set_size_inches(11, 3.4)
        panels = picture.subplots(1, len(SIZES))
        for axes, size, ring, doubling in zip(panels, SIZES, ring_s, doubling_s, strict=True):
            series = dict(zip(ALGORITHMS.values(), (ring, doubling), strict=True))
            lines(axes, HOPS_S, series, x_kind="time", looks=looks(series))
            axes.set(title=size_label(size), xlabel="delay of a hop")
        panels[0].set_ylabel("ReduceScatter, 16 GPUs")
        panels[0].legend(fontsize=8)

    table: dict[str, Sequence[object]] = {
        "size_bytes": np.repeat(SIZES, HOPS_S.size).tolist(),
        "hop_delay_s": np.tile(HOPS_S, len(SIZES)).tolist(),
        "ring_s": ring_s.ravel().tolist(),
        "recursive_doubling_s": doubling_s.ravel().tolist(),
    }
    notes = (
        "ReduceScatter on a one-way ring of 16 GPUs, 800 Gbit/s, no startup. The values of the paper's axes are not "
        "in its text; these sizes and delays span those of its figure 2, and 32 KB in addition."
    )
    return Outcome(table, draw, _claims(ring_s, doubling_s, apart), notes)


def _claims(ring_s: NDArray[np.float64], doubling_s: NDArray[np.float64], apart: Apart) -> tuple[Claim, ...]:
    ratios = doubling_s / ring_s
    hops = [float(of[0, -1] / HOPS_S[-1]) for of in (ring_s, doubling_s)]
    small = ratios[SIZES.index(32_000)]
    return (
        Claim.fact(
            "Ring is faster than recursive doubling for every size and delay",
            "fig. 1, §2.2",
            paper="for small messages, too",
            ours=f"{ratios.min():.4f}× to {ratios.max():.2f}×",
            rule="recursive doubling takes longer at every point",
            holds=bool(np.all(ratios > 1)),
        ),
        Claim.about(
            "recursive doubling takes about twice as long for large messages",
            "fig. 1, §2.2",
            paper=2.0,
            ours=float(ratios[-1, 0]),
            unit="×",
            why="log2(n)/2 over (n-1)/n is 2.13 for 16 GPUs",
        ),
        Claim.fact(
            "for short messages the gap decreases as the delay grows",
            "fig. 1, §2.2",
            paper="decreases",
            ours=f"32 KB: {small[0]:.2f}× at {time_label(HOPS_S[0])} to {small[-1]:.2f}× at {time_label(HOPS_S[-1])}",
            rule="falls from each delay to the next, for every size",
            holds=bool(np.all(np.diff(ratios, axis=1) < 0)),
        ),
        Claim.fact(
            "hops add up to n-1 in both",
            "§2.3, eq. 2, 3",
            paper="(n-1)·δ",
            ours=f"32 B at 1 µs: {hops[0]:.3f}·δ and {hops[1]:.3f}·δ",
            rule="within 0.1 % of 15·δ, 32 B taking no time to send",
            holds=all(abs(hop / (GPUS - 1) - 1) <= 0.001 for hop in hops),
        ),
        Claim.fact(
            "the cost model closely aligns with the simulation",
            "fig. 1, §2.3",
            paper="closely aligns",
            ours=f"within 5 % at {np.mean(apart.additive <= 0.05):.0%} of the points, at most "
            f"{apart.additive.max():.1%} apart",
            rule="within 5 % of packets of 4096 B at every point",
            holds=bool(apart.additive.max() <= 0.05),
            why="the paper's equations add the delays of hops to the time on the busiest link; packets that queue "
            "for that link spend part of these delays waiting. With the two overlapped the model is at most "
            f"{apart.pipelined.max():.1%} off",
        ),
        Claim.not_judged(
            "how much slower recursive doubling is at the least delay",
            "fig. 1, §2.2",
            paper="a number that the text at hand has lost",
            why=f"the size and the delay are lost, too; ours at {time_label(HOPS_S[0])} are "
            + ", ".join(f"{ratio:.3g}× ({size_label(size)})" for size, ratio in zip(SIZES, ratios[:, 0], strict=True)),
        ),
    )


FIGURE = Figure(
    "short-circuit-1",
    "Ring and recursive doubling on a static ring",
    "Short-circuiting rings, fig. 1, §2.2",
    make,
    (MODEL, PACKET),
)
