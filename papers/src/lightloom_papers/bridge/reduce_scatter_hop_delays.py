"""BRIDGE figure 10: ReduceScatter over hop delays and reconfiguration delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.views.axis_units import time_label
from lightloom_papers.bridge.halving_doubling import r_hd
from lightloom_papers.bridge.maps import columns_of, draw_maps
from lightloom_papers.bridge.packets import packet_note
from lightloom_papers.bridge.schemes import KB, MB, REDUCE_SCATTER, RING, STATIC_REDUCE_SCATTER, faster, times
from lightloom_papers.claims import Claim
from lightloom_papers.figure import ENGINES, Figure, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

SIZES = (32 * KB, 16 * MB)
HOP_DELAYS_S = (1e-7, 2e-7, 5e-7, 1e-6, 2e-6)
DELAYS_S = (1e-6, 3e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 1.5e-4, 5e-4)
SLOW_S = 1.5e-4
# Beyond the figure's axis, to find where the claim of §4.3 becomes true.
LONGER_S = tuple(step / 1e7 for step in range(1, 51))
SMALLER = (4 * MB, 6 * MB, 8 * MB, 10 * MB, 12 * MB)


def make(setting: Setting) -> Outcome:
    """Both sizes over Ring and over the better baseline."""
    note = packet_note(setting, STATIC_REDUCE_SCATTER)
    sizes, delays_s = np.array(SIZES)[:, None, None], np.array(DELAYS_S)[:, None]
    hops_s = np.array(HOP_DELAYS_S)
    found = times(setting, [REDUCE_SCATTER, RING], sizes, delays_s, hop_delays_s=hops_s)
    found["R-HD"] = r_hd(setting, sizes, delays_s, hop_delays_s=hops_s)
    ring, both = faster(found, "Ring"), faster(found, "Ring", "R-HD")

    def draw(picture: Picture) -> None:
        panels = {
            "32 KB, over Ring": ring[0],
            "32 KB, over the better of Ring and R-HD": both[0],
            "16 MB, over Ring": ring[1],
            "16 MB, over the better of Ring and R-HD": both[1],
        }
        draw_maps(
            picture,
            HOP_DELAYS_S,
            DELAYS_S,
            panels,
            labels=("hop delay", "reconfiguration delay"),
            kinds=("time", "time"),
        )

    return Outcome(
        columns_of(
            {"size_bytes": SIZES, "reconfiguration_delay_s": DELAYS_S, "hop_delay_s": HOP_DELAYS_S},
            {"over_ring": ring, "over_both": both, "reconfigurations": found["BRIDGE"].reconfigurations},
        ),
        draw,
        (*_trend(found["BRIDGE"].reconfigurations, ring, note), _crossing(setting, both), _competitive(ring, note)),
        "ReduceScatter of 64 GPUs from a one-way ring. The paper's smaller buffer is not named; here it is 32 KB.",
    )


def _trend(changes: NDArray[np.int64], ring: NDArray[np.float64], note: str) -> tuple[Claim, ...]:
    return (
        Claim.fact(
            "Longer hops make reconfiguration more attractive",
            "fig. 10, §4.3",
            paper="more attractive",
            ours=f"at 10 µs and 32 KB {changes[0, DELAYS_S.index(1e-5), 0]} reconfigurations at 0.1 µs a hop, "
            f"{changes[0, DELAYS_S.index(1e-5), -1]} at 2 µs",
            rule="never fewer reconfigurations from one hop delay to the next",
            holds=bool(np.all(np.diff(changes, axis=2) >= 0)),
            why=note,
        ),
        Claim.fact(
            "Longer hops make BRIDGE gain more over Ring at 16 MB",
            "fig. 10b, §4.3",
            paper="gains more",
            ours=f"at 10 µs {ring[1, DELAYS_S.index(1e-5), 0]:.2f}× at 0.1 µs a hop, "
            f"{ring[1, DELAYS_S.index(1e-5), -1]:.2f}× at 2 µs",
            rule="never less from one hop delay to the next",
            holds=bool(np.all(np.diff(ring[1], axis=1) >= -1e-9)),
            why=note,
        ),
    )


def _crossing(setting: Setting, both: NDArray[np.float64]) -> Claim:
    """From which hop delay on BRIDGE is ahead at 16 MB and 0.15 ms, and at which size it would be 1 µs."""
    hops_s = np.array(LONGER_S)
    found = times(setting, [REDUCE_SCATTER, RING], 16 * MB, SLOW_S, hop_delays_s=hops_s)
    ahead = faster(found, "Ring")
    crossing_s = float(hops_s[int(np.argmax(ahead > 1))])
    smaller = np.array(SMALLER)
    at_1 = faster(times(setting, [REDUCE_SCATTER, RING], smaller, SLOW_S, hop_delays_s=1e-6), "Ring")
    at_2 = faster(times(setting, [REDUCE_SCATTER, RING], smaller, SLOW_S, hop_delays_s=2e-6), "Ring")
    fits = [f"{size // MB} MB" for size, one, two in zip(SMALLER, at_1, at_2, strict=True) if one <= 1 < two]
    row = both[1, DELAYS_S.index(SLOW_S)]
    quicker = both[1, DELAYS_S.index(1e-4)]
    return Claim.near(
        "At 16 MB and 0.15 ms BRIDGE is ahead only with hops above 1 µs",
        "fig. 10b, §4.3",
        paper=1.0,
        ours=crossing_s * 1e6,
        unit="µs",
        why=f"BRIDGE is ahead from {time_label(crossing_s)} a hop on: {row[-2]:.2f}× at 1 µs, {row[-1]:.2f}× at 2 µs. "
        f"At 0.1 ms it is {quicker[-2]:.2f}× at 1 µs and {quicker[-1]:.2f}× at 2 µs; at 0.15 ms the lead changes "
        f"between 1 and 2 µs for buffers of {', '.join(fits)}. Were a hop twice what the axis says, it would be "
        f"{row[-1]:.2f}× at its 1 µs and {ahead[LONGER_S.index(4e-6)]:.2f}× at its 2 µs",
    )


def _competitive(ring: NDArray[np.float64], note: str) -> Claim:
    return Claim.fact(
        "For large buffers the benefit is more limited than for small ones: Ring remains competitive",
        "fig. 10, §4.3",
        paper="more limited",
        ours=f"over Ring up to {ring[1].max():.2f}× at 16 MB, {ring[0].max():.2f}× at 32 KB",
        rule="less at 16 MB than at 32 KB in every cell",
        holds=bool(np.all(ring[1] < ring[0])),
        why=note,
    )


FIGURE = Figure(
    "bridge-10", "ReduceScatter over hop delays and reconfiguration delays", "BRIDGE figure 10, §4.3", make, ENGINES
)
