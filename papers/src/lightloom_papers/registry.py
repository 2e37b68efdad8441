"""The papers, each with its list of figures. Adding a figure is one file and one line in its paper's list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import unknown_name
from lightloom_papers.all_to_all import ALL_TO_ALL
from lightloom_papers.bridge import BRIDGE
from lightloom_papers.harvest import HARVEST
from lightloom_papers.pccl import PCCL
from lightloom_papers.short_circuit import SHORT_CIRCUIT

if TYPE_CHECKING:
    from lightloom_papers.figure import Figure, Paper

PAPERS: tuple[Paper, ...] = (HARVEST, ALL_TO_ALL, PCCL, BRIDGE, SHORT_CIRCUIT)


def find_figures(name: str) -> list[Figure]:
    """The figure of that name; all of a paper for a paper's name; all of all for `all`. Raises `InputError`."""
    figures = [figure for paper in PAPERS for figure in paper.figures]
    found = [figure for paper in PAPERS if name in {paper.name, "all"} for figure in paper.figures]
    found = found or [figure for figure in figures if figure.name == name]
    if not found:
        papers = [paper.name for paper in PAPERS]
        raise unknown_name("figure", name, ["all", *papers, *(figure.name for figure in figures)])
    return found
