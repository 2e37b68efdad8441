"""Short-circuiting rings's figures."""

from lightloom_papers.claims import Claim
from lightloom_papers.figure import Paper
from lightloom_papers.sentences import Sentences
from lightloom_papers.short_circuit.control_planes import FIGURE as CONTROL_PLANES
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
)

SHORT_CIRCUIT = Paper(
    "short-circuit",
    "Short-circuiting rings",
    (FIGURE_1, *FIGURES_2_3, CONTROL_PLANES),
    Sentences.read("short_circuit"),
    OTHER_CLAIMS,
)
