"""HARVEST's figures."""

from lightloom.reproduction.figure import Paper

HARVEST = Paper("harvest", "HARVEST", ())
