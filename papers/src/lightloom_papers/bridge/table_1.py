"""BRIDGE table 1: before which steps it reconfigures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.views.charts import heat_map
from lightloom_papers.bridge.changes import plan_with, vector
from lightloom_papers.bridge.extensions import extension_claims
from lightloom_papers.bridge.schedules import schedule_claims
from lightloom_papers.bridge.schemes import ALL_TO_ALL, GPUS, HOP_DELAY_S, KB, MB, REDUCE_SCATTER
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from lightloom_papers.bridge.schemes import Scheme
    from lightloom_papers.figure import Setting

# An AllGather starts in the subring that it needs (§3.5), which is then no reconfiguration.
ALL_GATHER = REDUCE_SCATTER._replace(collective="all-gather", initial="free")
NAMES = {"all-to-all": "All-to-All", "reduce-scatter": "ReduceScatter", "all-gather": "AllGather"}
PAPER = {
    (ALL_TO_ALL, 1): "000100",
    (REDUCE_SCATTER, 1): "001000",
    (ALL_GATHER, 1): "000010",
    (ALL_TO_ALL, 2): "001010",
    (REDUCE_SCATTER, 2): "010100",
    (ALL_GATHER, 2): "000101",
}
SIZE = 64 * MB


def make(_setting: Setting) -> Outcome:
    """The six rows, with only transmission; and the vectors for only latency."""
    ours = {(scheme, r): vector(plan_with(r, scheme, SIZE, GPUS, 0.0)) for scheme, r in PAPER}
    labels = {row: f"{NAMES[row[0].collective]}, R = {row[1]}" for row in PAPER}
    claims = [
        Claim.equal(f"{labels[row]}: the steps before which it reconfigures", "table 1", paper=PAPER[row], ours=found)
        for row, found in ours.items()
    ]
    latency = {
        scheme.collective: vector(plan_with(2, scheme, 1, GPUS, HOP_DELAY_S))
        for scheme in (ALL_TO_ALL, REDUCE_SCATTER, ALL_GATHER)
    }
    claims += [
        Claim.fact(
            "Where latency counts, the reconfigurations of all three collectives are balanced",
            "§3.4, §3.5",
            paper="every 2 steps for R = 2",
            ours=", ".join(f"{NAMES[name]} {found}" for name, found in latency.items()),
            rule="001010 for all three",
            holds=set(latency.values()) == {"001010"},
        ),
        _earlier(ours),
        _closed_form(),
        *extension_claims(),
        *schedule_claims(),
    ]
    rows = list(ours)
    cells = np.array([[int(bit) for bit in ours[row]] for row in rows])

    def draw(picture: Picture) -> None:
        picture.set_size_inches(6.4, 3.2)
        axes = picture.subplots()
        heat_map(
            axes, list(range(6)), [labels[row] for row in rows], cells, x_kind="name", y_kind="name", cell_kind="count"
        )
        axes.invert_yaxis()
        axes.set_xticklabels(axes.get_xticklabels(), rotation=0, ha="center")
        axes.set_xlabel("step k")
        axes.set_title(f"1: reconfigured before the step ({GPUS} GPUs)", fontsize=10)

    return Outcome(
        {
            "collective": [row[0].collective for row in rows for _ in range(6)],
            "reconfigurations": [row[1] for row in rows for _ in range(6)],
            "step": [step for _ in rows for step in range(6)],
            "reconfigured": cells.ravel().tolist(),
        },
        draw,
        tuple(claims),
        "The best plans with one and two reconfigurations on 64 GPUs. The paper's ReduceScatter and AllGather are the "
        f"optima of transmission alone, so hops are free here, with {SIZE // MB} MB. The number of reconfigurations "
        "is set by the reconfiguration delay: the plan at a delay at which that many pay is the best of all with "
        "that number. The claims of §3 and §5 that no figure shows are judged here as well.",
    )


def _earlier(ours: dict[tuple[Scheme, int], str]) -> Claim:
    """ReduceScatter one step before All-to-All, AllGather after it."""
    moved = all(
        ours[REDUCE_SCATTER, r] == ours[ALL_TO_ALL, r][1:] + "0"
        and sum(int(bit) * k for k, bit in enumerate(ours[ALL_GATHER, r]))
        == sum((int(bit) * (k + 1) for k, bit in enumerate(ours[ALL_TO_ALL, r])))
        for r in (1, 2)
    )
    return Claim.fact(
        "ReduceScatter's reconfigurations are one step earlier than All-to-All's, AllGather's correspondingly later",
        "§3.5",
        paper="one step earlier and later for R = 1 and 2",
        ours="one step earlier and later" if moved else "not by one step",
        rule="each by one step",
        holds=moved,
    )


def _closed_form() -> Claim:
    """Theorem 3.2's cost at R = 1 and R = 2, where R + 1 divides the six steps."""
    differences = []
    for r, segment in ((1, 8), (2, 4)):
        made = plan_with(r, ALL_TO_ALL, KB, GPUS, HOP_DELAY_S)
        steps = made.steps
        without = sum(step.total_s - step.reconfiguration_s for step in steps)
        c = HOP_DELAY_S + 8 / 8e11 * KB / 2
        expected = sum(step.startup_s for step in steps) + (r + 1) * c * (segment - 1)
        differences.append(abs(without / expected - 1))
    equal = max(differences) < 1e-9
    return Claim.fact(
        "The cost of All-to-All is C = s·α_s + (R + 1)·c·(n^(1/(R + 1)) - 1) + R·δ with c = α_h + β·m/2",
        "theorem 3.2",
        paper="C",
        ours="C" if equal else f"{max(differences):.1%} off C",
        rule="a relative difference below 1e-9 for R = 1 and 2",
        holds=equal,
    )


FIGURE = Figure("bridge-table-1", "Steps before which BRIDGE reconfigures", "BRIDGE table 1, §3.5", make)
