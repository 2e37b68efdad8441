"""HARVEST's claims that no model and no simulation can judge."""

from lightloom_papers.claims import Claim

OTHER_CLAIMS = (
    Claim.not_judged(
        "single-hop times between GPUs of the testbed fit 30.32 µs and 85.11 Gbit/s",
        "fig. 7, §6.2",
        paper="30.32 µs, 85.11 Gbit/s",
        why="The measured times are not published. `lightloom calibrate` makes the fit from a CSV file of them; "
        "figure 6 is computed with the paper's two numbers (`--fabric harvest-testbed`), and `lightloom reproduce "
        "harvest-7` finds them in sends between processes.",
    ),
    Claim.not_judged(
        "a barrier of 8 GPUs takes about 4 µs, of 256 less than 45 µs",
        "fig. 12, §6.2",
        paper="4 µs, 45 µs",
        why="Measured on GPUs that share memory; it needs them. `lightloom reproduce harvest-12` measures it on "
        "processes; `lightloom simulate --barrier 4us` charges such a barrier.",
    ),
    Claim.not_judged(
        "the mixed-integer program is practical up to 64 GPUs",
        "§4.4",
        paper="64 GPUs",
        why="That is Gurobi's time over all topologies, and the paper reports none. The evaluation restricts "
        "topologies to candidates (appendix A), as ours does; `--planner exact` is the program over all, in HiGHS.",
    ),
)
