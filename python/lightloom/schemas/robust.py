"""JSON of plans that are made once for many iterations."""

from __future__ import annotations

from lightloom.schemas.forms import Form, number, record, several, text, version, whole, yes_or_no

STRATEGY = record(
    {
        "name": text("name of the strategy: once, uniform, previous or each"),
        "mean_s": number("mean time over the iterations"),
        "worst_s": number("time of the slowest iteration"),
        "mean_regret_s": number("mean time less the mean time of the strategy each", least=None),
        "worst_regret_s": number("largest time less that of the strategy each in one iteration", least=None),
        "over_each": number("mean time over the mean time of the strategy each"),
    }
)
ITERATION = record(
    {
        "iteration": whole("number of the iteration, from 0"),
        "held_out": yes_or_no("whether the one plan for all iterations was made without it"),
        "traffic_bytes": number("bytes that all ranks together send to others"),
        "once_s": number("time by one plan for all iterations"),
        "uniform_s": number("time by one plan for equal blocks"),
        "previous_s": number("time by a plan for the iteration before"),
        "each_s": number("time by a plan for this iteration, as if it were known beforehand"),
    }
)
MOVE = record(
    {
        "step": whole("step in which the bytes move"),
        "paths": several(
            record(
                {
                    "share": number("share of the piece's bytes"),
                    "ranks": several(whole("rank"), "ranks on the path, the source first"),
                }
            ),
            "paths of the piece",
        ),
    }
)
ROBUST = record(
    {
        "schema": version("lightloom.robust/1"),
        "gpus": whole("number of GPUs", least=2),
        "ports": whole("ports of a GPU", least=1),
        "objective": text("objective: the expected or the worst time"),
        "made_for": text("bytes for which the planner chose the circuits, in words"),
        "optimised": yes_or_no("whether the shares of paths are the best for all iterations on these circuits"),
        "initial": text("topology before the first step: its name, free or repeated"),
        "strategies": several(STRATEGY, "strategies, each over the iterations for which the one plan was made"),
        "held_out": several(STRATEGY, "strategies, each over the iterations that are held out; empty if none are"),
        "iterations": several(ITERATION, "iterations, in order"),
        "steps": several(
            record(
                {
                    "links": several(
                        several(
                            whole("source, destination, or circuits"),
                            "source, destination and number of circuits of a link",
                        ),
                        "links of the step",
                    ),
                    "reconfiguration_s": number("duration of the change before the step"),
                }
            ),
            "steps of the one plan for all iterations",
        ),
        "pieces": several(
            record(
                {
                    "source": whole("rank"),
                    "destination": whole("rank"),
                    "share": number("share of the pair's bytes"),
                    "moves": several(MOVE, "moves of the piece, by step"),
                }
            ),
            "pieces of the blocks in the one plan for all iterations",
        ),
    }
)

DOCUMENTS: dict[str, Form] = {"robust": ROBUST}
