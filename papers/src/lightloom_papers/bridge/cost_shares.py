"""BRIDGE figure 2: parts of completion times on the static ring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom import plan
from lightloom.views.axis_units import size_label
from lightloom.views.charts import bars, lines
from lightloom.views.fitting import legend_above
from lightloom.views.palette import REFERENCE
from lightloom_papers.bridge.schemes import GPUS, KB, MB, RING, STATIC_ALL_TO_ALL, STATIC_REDUCE_SCATTER
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome
from lightloom_papers.looks import term_looks

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

SIZES = (KB, 32 * KB, MB, 32 * MB, 256 * MB)
SCHEMES = {
    "AllReduce, Ring": RING._replace(collective="all-reduce"),
    "AllReduce, Bruck": STATIC_REDUCE_SCATTER._replace(collective="all-reduce"),
    "All-to-All, Bruck": STATIC_ALL_TO_ALL,
}
PARTS = ("startup", "per-hop delay", "transmission", "congestion")


def parts_s(name: str, size: int) -> NDArray[np.float64]:
    """Seconds of each of `PARTS`; congestion is the time that a load above 1 adds to transmission."""
    case = SCHEMES[name].case(size, GPUS, 1e-6, 0.0)
    steps = plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings)).steps
    startup_s = sum(step.startup_s for step in steps)
    hops_s = sum(step.propagation_s for step in steps)
    alone_s = sum(step.transmission_s / step.load for step in steps)
    return np.array([startup_s, hops_s, alone_s, sum(step.transmission_s for step in steps) - alone_s])


def make(_setting: Setting) -> Outcome:
    """The parts of every scheme at every size."""
    parts = {name: np.array([parts_s(name, size) for size in SIZES]) for name in SCHEMES}
    shares = {name: found / found.sum(axis=1, keepdims=True) for name, found in parts.items()}
    ring = shares["AllReduce, Ring"][-1]
    claims = (
        _largest(
            shares, "All-to-All, Bruck", 0, "per-hop delay", "All-to-All: per-hop delay dominates when it is small"
        ),
        _largest(shares, "All-to-All, Bruck", -1, "congestion", "All-to-All: congestion dominates when it is large"),
        _largest(shares, "AllReduce, Bruck", 0, "per-hop delay", "AllReduce by Bruck shows a similar trend: small"),
        _largest(shares, "AllReduce, Bruck", -1, "congestion", "AllReduce by Bruck shows a similar trend: large"),
        Claim.fact(
            "AllReduce by Ring, large: unavoidable transmission dominates, not congestion",
            "fig. 2, §2",
            paper="dominates",
            ours=f"transmission {ring[2]:.0%}, congestion {ring[3]:.0%}",
            rule="transmission above half, congestion below 1 %",
            holds=bool(ring[2] > 0.5 and ring[3] < 0.01),
        ),
    )

    def draw(picture: Picture) -> None:
        picture.set_size_inches(11, 6.2)
        colours = term_looks(PARTS)
        all_axes = picture.subplots(2, 3, sharey="row")
        for column, name in enumerate(SCHEMES):
            upper, lower = all_axes[:, column]
            bars(
                upper,
                [size_label(size) for size in SIZES],
                {part: shares[name][:, index] * 100 for index, part in enumerate(PARTS)},
                y_kind="percent",
                stacked=True,
                looks=colours,
            )
            upper.set_title(name, fontsize=10)
            lines(lower, SIZES, {name: parts[name].sum(axis=1)})
            lower.lines[0].set_color(REFERENCE)
            lower.set_xlabel("buffer")
        all_axes[0, 0].set_ylabel("share of the completion time")
        all_axes[1, 0].set_ylabel("completion time")
        handles, labels = all_axes[0, 0].get_legend_handles_labels()
        legend_above(picture, handles, labels)

    rows = [(name, size, part) for name in SCHEMES for size in range(len(SIZES)) for part in range(len(PARTS))]
    return Outcome(
        {
            "scheme": [name for name, _, _ in rows],
            "size_bytes": [SIZES[size] for _, size, _ in rows],
            "part": [PARTS[part] for _, _, part in rows],
            "time_s": [parts[name][size, part] for name, size, part in rows],
            "share": [shares[name][size, part] for name, size, part in rows],
        },
        draw,
        claims,
        "64 GPUs on a static one-way ring, α = 1.7 µs, 1 µs a hop. Transmission is what the bytes take on links of "
        "their own, congestion what sharing links adds. The paper names no sizes; small is 1 KB, large 256 MB.",
    )


def _largest(shares: dict[str, NDArray[np.float64]], name: str, size: int, part: str, words: str) -> Claim:
    share = shares[name][size]
    ours = ", ".join(f"{label} {value:.0%}" for label, value in zip(PARTS, share, strict=True))
    return Claim.fact(
        words, "fig. 2, §2", paper="dominates", ours=ours, rule="over half", holds=share[PARTS.index(part)] > 0.5
    )


FIGURE = Figure("bridge-2", "Parts of the completion time on the static ring", "BRIDGE figure 2, §2", make)
