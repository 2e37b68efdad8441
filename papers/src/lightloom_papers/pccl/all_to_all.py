"""PCCL figure 10a: the time of an All-to-All of 32 MB on 128 GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome
from lightloom_papers.pccl.parts import draw_parts, of_plan, parts_table
from lightloom_papers.pccl.schemes import DEX, MB, PCCL_DEX, PCCL_DEX_DIVIDED, starts

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from lightloom_papers.figure import Setting

GPUS = 128
SIZE = 32 * MB


def make(_setting: Setting) -> Outcome:
    """DEX on every topology, and PCCL with DEX's steps."""
    plans = {
        start.label: {
            scheme.name: scheme.plan("all-to-all", SIZE, GPUS, start) for scheme in (DEX, PCCL_DEX, PCCL_DEX_DIVIDED)
        }
        for start in starts(GPUS)
    }
    found = {label: {name: of_plan(made) for name, made in schemes.items()} for label, schemes in plans.items()}
    gains = {label: parts["DEX"].total_s / parts["PCCL"].total_s for label, parts in found.items()}
    divided = {label: parts["DEX"].total_s / parts["PCCL, ports divided"].total_s for label, parts in found.items()}
    claims = (
        Claim.fact(
            "PCCL outperforms DEX on all topologies",
            "fig. 10a, §5",
            paper="on all",
            ours=", ".join(f"{gain:.1f}× on the {label}" for label, gain in gains.items()),
            rule="over 1.1× on every topology",
            holds=min(gains.values()) > 1.1,
            why="with ports divided " + ", ".join(f"{gain:.1f}× ({label})" for label, gain in divided.items()),
        ),
        Claim.fact(
            "None of the topologies suits DEX",
            "fig. 10a, §5",
            paper="none",
            ours=", ".join(
                f"{parts['DEX'].dilation_s * 1e6:.0f} µs of dilation and {parts['DEX'].congestion_s * 1e6:.0f} µs of "
                f"congestion on the {label}"
                for label, parts in found.items()
            ),
            rule="both above zero on every topology",
            holds=all(parts["DEX"].dilation_s > 0 and parts["DEX"].congestion_s > 0 for parts in found.values()),
        ),
        Claim.fact(
            "DEX has log2(N) steps",
            "§5",
            paper="7",
            ours=str(len(plans["ring"]["DEX"].steps)),
            rule="7 with 128 GPUs",
            holds=len(plans["ring"]["DEX"].steps) == 7,
        ),
    )

    def draw(picture: Picture) -> None:
        draw_parts(picture, found)

    return Outcome(
        parts_table(found),
        draw,
        claims,
        "All-to-All of 32 MB a GPU on 128 GPUs, 3 µs a hop, 450 GB/s a circuit, 5 µs; partners at distance 1 first. "
        "Figure 10b, the buffers of BERT's AllReduces, is measured.",
    )


FIGURE = Figure("pccl-10", "Time of an All-to-All of 32 MB, 128 GPUs, 5 µs", "PCCL figure 10a, §5", make)
