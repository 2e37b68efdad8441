"""Short-circuiting rings's figures."""

from lightloom_papers.claims import Claim
from lightloom_papers.figure import Paper
from lightloom_papers.short_circuit.figure_1 import FIGURE as FIGURE_1
from lightloom_papers.short_circuit.figures_2_3 import FIGURES as FIGURES_2_3

OTHER_CLAIMS = (
    Claim.not_judged(
        "simulations extend Astra-Sim, with ns-3 below, by a reconfigurable circuit switch",
        "§4, methodology",
        paper="times of these simulators",
        why="the extended simulator is not published; `--engine packet` simulates the same plans with a simulator of "
        "ours, which docs/validation.md compares with ns-3",
    ),
    Claim.not_judged(
        "synchronisation before every step is practical in scale-up domains that share memory",
        "§5",
        paper="flags in shared memory",
        why="it would take measurements on such hardware; the model has reconfiguration delays alone",
    ),
)

SHORT_CIRCUIT = Paper("short-circuit", "Short-circuiting rings", (FIGURE_1, *FIGURES_2_3), OTHER_CLAIMS)
