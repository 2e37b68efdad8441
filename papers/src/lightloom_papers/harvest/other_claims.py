"""HARVEST's claims that no model and no simulation can judge."""

from lightloom_papers.claims import Claim

OTHER_CLAIMS = (
    Claim.not_judged(
        "the mixed-integer program is practical up to 64 GPUs",
        "§4.4",
        paper="64 GPUs",
        why="That is Gurobi's time over all topologies, and the paper reports none. The evaluation restricts "
        "topologies to candidates (appendix A), as ours does. `--planner exact` is the program over all, in HiGHS: "
        "whole circuits to 8 GPUs of two ports, and a plan and a bound to 64 (`benches/exact_gaps.py`).",
    ),
)
