"""The figures and tables of the five papers, made again, with each of their claims judged."""

from lightloom.reproduction.claims import Claim, Verdict
from lightloom.reproduction.figure import Figure, Outcome, Paper, Setting
from lightloom.reproduction.measure import Case, Measured

__all__ = ["Case", "Claim", "Figure", "Measured", "Outcome", "Paper", "Setting", "Verdict"]
