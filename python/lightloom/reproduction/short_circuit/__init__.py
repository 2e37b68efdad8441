"""Short-circuiting rings's figures."""

from lightloom.reproduction.figure import Paper
from lightloom.reproduction.short_circuit.figure_1 import FIGURE as FIGURE_1
from lightloom.reproduction.short_circuit.figures_2_3 import FIGURES as FIGURES_2_3

SHORT_CIRCUIT = Paper("short-circuit", "Short-circuiting rings", (FIGURE_1, *FIGURES_2_3))
