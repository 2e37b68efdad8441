"""PCCL figure 1: AllReduce by 3D bucket and All-to-All by DEX on a 4x4x4 torus, and PCCL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.views.axis_units import size_label
from lightloom.views.charts import lines
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome
from lightloom_papers.looks import looks
from lightloom_papers.pccl.schemes import (
    BUCKET_3,
    DELAY_S,
    DEX,
    GB,
    KB,
    MB,
    PCCL,
    PCCL_DEX,
    PCCL_DEX_DIVIDED,
    PCCL_DIVIDED,
    starts,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting
    from lightloom_papers.pccl.schemes import Start

GPUS = 64
SIZES = (KB, 256 * KB, MB, 4 * MB, 16 * MB, 64 * MB, 128 * MB, 200 * MB, 256 * MB, 512 * MB, GB)
SCHEMES = {
    "all-reduce": (BUCKET_3, PCCL, PCCL_DIVIDED),
    "all-to-all": (DEX, PCCL_DEX, PCCL_DEX_DIVIDED),
}
NAMES = {"all-reduce": "AllReduce", "all-to-all": "All-to-All"}


def make(setting: Setting) -> Outcome:
    """Both collectives over buffers, since the paper names no collective."""
    torus = next(start for start in starts(GPUS) if start.label == "3D torus")
    places = [
        (collective, scheme, size) for collective, schemes in SCHEMES.items() for scheme in schemes for size in SIZES
    ]
    cases = [scheme.case(collective, size, GPUS, torus, DELAY_S) for collective, scheme, size in places]
    times_s = dict(zip(places, (one.total_s for one in setting.measure(cases)), strict=True))
    found = {
        collective: {scheme.name: np.array([times_s[collective, scheme, size] for size in SIZES]) for scheme in schemes}
        for collective, schemes in SCHEMES.items()
    }

    def draw(picture: Picture) -> None:
        picture.set_size_inches(9.5, 4)
        for axes, (collective, schemes) in zip(picture.subplots(1, 2, sharey=True), found.items(), strict=True):
            lines(axes, SIZES, schemes, looks=looks(schemes))
            axes.set_title(NAMES[collective], fontsize=10)
            axes.set_xlabel("buffer")
            if collective == "all-reduce":
                axes.set_ylabel("completion time")
            axes.legend(fontsize=8)

    rows = [
        (collective, name, index)
        for collective, schemes in found.items()
        for name in schemes
        for index in range(len(SIZES))
    ]
    return Outcome(
        {
            "collective": [collective for collective, _, _ in rows],
            "scheme": [name for _, name, _ in rows],
            "size_bytes": [SIZES[index] for _, _, index in rows],
            "time_s": [found[collective][name][index] for collective, name, index in rows],
        },
        draw,
        _claims(found, torus),
        "64 GPUs on a 4x4x4 torus, 3 µs a hop, 450 GB/s a circuit, 5 µs. The paper names no buffer. DEX is the "
        "hypercube All-to-All; ports divided: six circuits to a step's one peer.",
    )


def _claims(found: dict[str, dict[str, NDArray[np.float64]]], torus: Start) -> tuple[Claim, ...]:
    reduce, exchange = found["all-reduce"], found["all-to-all"]
    ratio = reduce["PCCL"] / reduce["3D bucket"]
    single = exchange["DEX"] / exchange["PCCL"]
    divided = exchange["DEX"] / exchange["PCCL, ports divided"]
    closest = int(np.argmin(np.abs(divided - 7.5)))
    also = float(reduce["3D bucket"][closest] / reduce["PCCL, ports divided"][closest])
    worst = int(np.argmax(ratio))
    steps = DEX.plan("all-to-all", GB, GPUS, torus).steps
    hops, loads = sum(step.hops for step in steps), sum(step.load for step in steps)
    return (
        Claim.fact(
            "AllReduce: PCCL matches 3D bucket on its torus",
            "fig. 1",
            paper="matches",
            ours=f"{ratio.min():.2f} to {ratio.max():.2f} of its time, {ratio[-1]:.2f} at 1 GB",
            rule="at most 20 % slower at every buffer, 5 % from 256 MB on",
            holds=bool(np.all(ratio <= 1.2) and np.all(ratio[SIZES.index(256 * MB) :] <= 1.05)),
            why=f"most, {ratio[worst]:.2f}, at {size_label(SIZES[worst])}: reconfigurations, or the hops that it keeps",
        ),
        Claim.near(
            "All-to-All: PCCL is 7.5× faster than the torus",
            "fig. 1, §1",
            paper=7.5,
            ours=float(single.max()),
            unit="×",
            why=f"DEX's {len(steps)} steps have {hops} hops and {loads:g} loads on this torus, so with one circuit "
            f"for each pair nothing can be over {max(hops, loads) / len(steps):g}× faster. With the six ports divided "
            "over a step's peer it is up to "
            f"{divided.max():.2f}×, and 7.5× comes out at {size_label(SIZES[closest])} ({divided[closest]:.2f}×); but "
            f"with the same circuits AllReduce does not match 3D bucket, it is {also:.1f}× faster",
        ),
    )


FIGURE = Figure("pccl-1", "AllReduce and All-to-All on a 4x4x4 torus", "PCCL figure 1, §1", make)
