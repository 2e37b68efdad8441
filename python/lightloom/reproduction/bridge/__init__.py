"""BRIDGE's figures."""

from lightloom.reproduction.figure import Paper

BRIDGE = Paper("bridge", "BRIDGE", ())
