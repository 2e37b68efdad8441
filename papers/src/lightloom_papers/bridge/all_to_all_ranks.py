"""BRIDGE figure 7: All-to-All over numbers of GPUs and reconfiguration delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.views.axis_units import size_label, time_label
from lightloom_papers.bridge.maps import columns_of, draw_maps
from lightloom_papers.bridge.packets import packet_note
from lightloom_papers.bridge.schemes import ALL_TO_ALL, KB, MB, STATIC_ALL_TO_ALL, faster, times
from lightloom_papers.claims import Claim
from lightloom_papers.figure import ENGINES, Figure, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

SIZES = (KB, MB, 16 * MB, 128 * MB)
GPUS = (16, 32, 64, 128, 256)
DELAYS_S = (1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 1.5e-4, 5e-4, 1e-3, 5e-3)


def make(setting: Setting) -> Outcome:
    """A map for each size."""
    note = packet_note(setting, STATIC_ALL_TO_ALL)
    found = times(
        setting,
        [ALL_TO_ALL, STATIC_ALL_TO_ALL],
        np.array(SIZES)[:, None, None],
        np.array(DELAYS_S)[:, None],
        gpus=np.array(GPUS),
    )
    gain = faster(found, "S-Bruck")

    def draw(picture: Picture) -> None:
        panels = {size_label(size): cells for size, cells in zip(SIZES, gain, strict=True)}
        draw_maps(
            picture,
            GPUS,
            DELAYS_S,
            panels,
            labels=("GPUs", "reconfiguration delay"),
            kinds=("count", "time"),
        )

    return Outcome(
        columns_of(
            {"size_bytes": SIZES, "reconfiguration_delay_s": DELAYS_S, "gpus": GPUS},
            {"over_s_bruck": gain, "reconfigurations": found["BRIDGE"].reconfigurations},
        ),
        draw,
        (*_with_ranks(gain, note), *_large(gain, note)),
        "All-to-All from a one-way ring, 1 µs a hop, over S-Bruck. The paper does not list the figure's buffers.",
    )


def _with_ranks(gain: NDArray[np.float64], note: str) -> tuple[Claim, ...]:
    largest = [DELAYS_S.index(1.5e-4), GPUS.index(256)]
    slowest = float(gain[:, largest[0], largest[1]].min())
    least = gain[:, :, GPUS.index(256)].min(axis=0)
    from_128 = gain[:, : largest[0] + 1, GPUS.index(128) :]
    gains_128 = float((from_128 > 1.01).mean())
    gains_16 = float((gain[:, : largest[0] + 1, : GPUS.index(128)] > 1.01).mean())
    return (
        Claim.fact(
            "The gain grows with the network, most for large buffers",
            "fig. 7, §4.2",
            paper="grows",
            ours=", ".join(
                f"{size_label(size)}: {cells[0, 0]:.1f}× to {cells[0, -1]:.1f}×"
                for size, cells in zip(SIZES, gain, strict=True)
            ),
            rule="never less from one number of GPUs to the next; more at 128 MB than at 1 KB (1 µs)",
            holds=bool(np.all(np.diff(gain, axis=2) >= -1e-3) and np.all(gain[-1, 0] > gain[0, 0])),
            why=note,
        ),
        Claim.near(
            "At least 1.4× with 256 GPUs at every size",
            "fig. 7, §4.2",
            paper=1.4,
            ours=slowest,
            unit="×",
            why="up to 150 µs; the least gain over all sizes is "
            + ", ".join(f"{value:.2f}× at {time_label(delay)}" for value, delay in zip(least, DELAYS_S, strict=True))
            + ". From 500 µs on no reconfiguration pays for 1 KB, so the figure's axis must end before that, or its "
            "buffers must be larger",
        ),
        Claim.fact(
            "The benefit becomes consistent from 128 GPUs on",
            "§4.2",
            paper="consistent",
            ours=f"up to 150 µs a gain in {gains_128:.0%} of the cells from 128 GPUs on, in {gains_16:.0%} below",
            rule="in at least 95 % of the cells up to 150 µs, and more than below 128 GPUs",
            holds=gains_128 >= 0.95 and gains_128 > gains_16,
            why=f"at 1 KB and 128 GPUs the gain is {gain[0, largest[0], GPUS.index(128)]:.2f}× at 150 µs",
        ),
    )


def _large(gain: NDArray[np.float64], note: str) -> tuple[Claim, ...]:
    quick = [DELAYS_S.index(delay) for delay in (1e-6, 5e-6, 1e-5)]
    cells = gain[np.ix_([SIZES.index(16 * MB), SIZES.index(128 * MB)], quick, [2, 3, 4])]
    gaining = gain[gain > 1.01]
    return (
        Claim.fact(
            "10× to 30× for larger networks, low delays and large buffers",
            "§4.2, summary",
            paper="10× to 30×",
            ours=f"{cells.min():.1f}× to {cells.max():.1f}× (64 to 256 GPUs, 1 to 10 µs, 16 and 128 MB)",
            rule="the range within 10 % at both ends",
            holds=bool(abs(cells.min() / 10 - 1) < 0.1 and abs(cells.max() / 30 - 1) < 0.1),
            why=note,
        ),
        Claim.fact(
            "In most settings roughly 2× to 3× over the static baseline",
            "§4.2, summary",
            paper="2× to 3×",
            ours=f"{np.median(gain):.2f}× in the median",
            rule="the median of the figure's cells in the range, or at most 10 % off it",
            holds=bool(2 * 0.9 <= np.median(gain) <= 3 * 1.1),
            why=f"{np.median(gaining):.2f}× among those where BRIDGE gains at all, and a "
            f"quarter of the cells each below {np.quantile(gain, 0.25):.2f}× and above {np.quantile(gain, 0.75):.2f}×",
        ),
    )


FIGURE = Figure(
    "bridge-7", "All-to-All over numbers of GPUs and reconfiguration delays", "BRIDGE figure 7, §4.2", make, ENGINES
)
