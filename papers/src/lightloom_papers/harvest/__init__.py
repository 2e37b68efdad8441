"""HARVEST's figures."""

from lightloom_papers.figure import Paper
from lightloom_papers.harvest.figure_3 import FIGURE_3
from lightloom_papers.harvest.figure_5 import FIGURE_5
from lightloom_papers.harvest.figure_6 import FIGURE_6
from lightloom_papers.harvest.figure_6_ran import FIGURE_6_RAN
from lightloom_papers.harvest.figure_7 import FIGURE_7
from lightloom_papers.harvest.figure_8 import FIGURE_8
from lightloom_papers.harvest.figure_9 import FIGURE_9
from lightloom_papers.harvest.figure_10 import FIGURE_10
from lightloom_papers.harvest.figure_11 import FIGURE_11
from lightloom_papers.harvest.figure_12 import FIGURE_12
from lightloom_papers.harvest.figure_published import FIGURE_PUBLISHED
from lightloom_papers.harvest.figures_measured import MEASURED
from lightloom_papers.harvest.other_claims import OTHER_CLAIMS
from lightloom_papers.harvest.table_1 import TABLE_1
from lightloom_papers.sentences import Sentences

FIGURES = (
    TABLE_1,
    FIGURE_3,
    *FIGURE_5,
    *FIGURE_6,
    FIGURE_6_RAN,
    FIGURE_7,
    FIGURE_8,
    FIGURE_9,
    FIGURE_10,
    FIGURE_11,
    FIGURE_12,
    *MEASURED,
    FIGURE_PUBLISHED,
)
HARVEST = Paper("harvest", "HARVEST", FIGURES, Sentences.read("harvest"), OTHER_CLAIMS)
