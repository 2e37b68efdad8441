"""The all-to-all paper's figures."""

from lightloom_papers.all_to_all.averages import FIGURE as AVERAGES
from lightloom_papers.all_to_all.figure_3 import FIGURE as FIGURE_3
from lightloom_papers.all_to_all.figure_13 import FIGURE as FIGURE_13
from lightloom_papers.all_to_all.figure_14 import FIGURE as FIGURE_14
from lightloom_papers.all_to_all.figures_11_12 import FIGURES as FIGURES_11_12
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Paper

OTHER_CLAIMS = (
    Claim.not_judged(
        "communication of MoE training that All-to-All can take",
        "§1",
        paper="33 % to 55 % of an iteration",
        why="quoted from measurements of training on hardware (MixNet), which none of our models contains",
    ),
    Claim.not_judged(
        "curves are not quite smooth, since transmission times vary with the order of chunks",
        "fig. 14, §5.4",
        paper="slight variation",
        why="it would take the paper's extension of htsim and its matrices; ours runs rounds one after the other, "
        "without variation",
    ),
    Claim.not_judged(
        "schedules are generated more efficiently than by constraint solvers",
        "§4.1",
        paper="more efficiently",
        why="the paper gives no times, and TACCL and TE-CCL with their commercial solver are not at hand",
    ),
)

ALL_TO_ALL = Paper(
    "all-to-all",
    "To reconfigure or not to reconfigure",
    (FIGURE_3, *FIGURES_11_12, AVERAGES, FIGURE_13, FIGURE_14),
    OTHER_CLAIMS,
)
