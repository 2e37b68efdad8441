"""The all-to-all paper's figures."""

from lightloom_papers.all_to_all.averages import FIGURE as AVERAGES
from lightloom_papers.all_to_all.fast_on_servers import FIGURE as FAST_ON_SERVERS
from lightloom_papers.all_to_all.figure_3 import FIGURE as FIGURE_3
from lightloom_papers.all_to_all.figure_13 import FIGURE as FIGURE_13
from lightloom_papers.all_to_all.figure_14 import FIGURE as FIGURE_14
from lightloom_papers.all_to_all.figures_11_12 import FIGURES as FIGURES_11_12
from lightloom_papers.figure import Paper
from lightloom_papers.sentences import Sentences

ALL_TO_ALL = Paper(
    "all-to-all",
    "To reconfigure or not to reconfigure",
    (FIGURE_3, *FIGURES_11_12, AVERAGES, FIGURE_13, FIGURE_14, FAST_ON_SERVERS),
    Sentences.read("all_to_all"),
)
