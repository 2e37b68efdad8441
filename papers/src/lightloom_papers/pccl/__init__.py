"""PCCL's figures."""

from lightloom_papers.figure import Paper
from lightloom_papers.pccl import all_to_all, breakdown, buffer_sizes, figure_6, figure_19, torus_4x4x4, training
from lightloom_papers.pccl.other_claims import OTHER_CLAIMS
from lightloom_papers.sentences import Sentences

PCCL = Paper(
    "pccl",
    "PCCL",
    (
        torus_4x4x4.FIGURE,
        figure_6.FIGURE,
        buffer_sizes.SEVEN,
        breakdown.EIGHT,
        breakdown.NINE,
        all_to_all.FIGURE,
        *training.FIGURES,
        buffer_sizes.SEVENTEEN,
        buffer_sizes.EIGHTEEN,
        figure_19.FIGURE,
    ),
    Sentences.read("pccl"),
    OTHER_CLAIMS,
)
