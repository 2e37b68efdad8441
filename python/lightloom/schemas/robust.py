"""JSON of plans that are made once for many iterations."""

from __future__ import annotations

from lightloom.schemas.forms import Form, number, record, several, text, version, whole, yes_or_no

STRATEGY = record(
    {
        "name": text("once, uniform, previous or each"),
        "mean_s": number("of all iterations"),
        "worst_s": number("of the slowest iteration"),
        "mean_regret_s": number("mean time less that of each", least=None),
        "worst_regret_s": number("largest difference to each in one iteration", least=None),
        "over_each": number("mean time over that of each"),
    }
)
ITERATION = record(
    {
        "iteration": whole("from 0"),
        "traffic_bytes": number("that all ranks send to others"),
        "once_s": number("by one plan for all iterations"),
        "uniform_s": number("by one plan for equal blocks"),
        "previous_s": number("by a plan for the iteration before"),
        "each_s": number("by a plan for this iteration, as if it were known beforehand"),
    }
)
MOVE = record(
    {
        "step": whole("in which the bytes move"),
        "paths": several(
            record({"share": number("of the piece"), "ranks": several(whole("a rank"), "source first")}), "of the piece"
        ),
    }
)
ROBUST = record(
    {
        "schema": version("lightloom.robust/1"),
        "gpus": whole("ranks", least=2),
        "ports": whole("of a GPU", least=1),
        "objective": text("expected or worst"),
        "made_for": text("the bytes for which the circuits were chosen"),
        "optimised": yes_or_no("whether shares are the best for all iterations on these circuits"),
        "initial": text("topology before the first step, free, or repeated"),
        "strategies": several(STRATEGY, "over all iterations"),
        "iterations": several(ITERATION, "in order"),
        "steps": several(
            record(
                {
                    "links": several(several(whole("source, destination, or circuits"), "of a link"), "of the step"),
                    "reconfiguration_s": number("of the change before the step"),
                }
            ),
            "of the plan that is made once",
        ),
        "pieces": several(
            record(
                {
                    "source": whole("a rank"),
                    "destination": whole("a rank"),
                    "share": number("of the bytes of that pair"),
                    "moves": several(MOVE, "by step"),
                }
            ),
            "of the plan that is made once",
        ),
    }
)

DOCUMENTS: dict[str, Form] = {"robust": ROBUST}
