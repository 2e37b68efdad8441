"""Short-circuiting rings's figures."""

from lightloom.reproduction.figure import Paper

SHORT_CIRCUIT = Paper("short-circuit", "Short-circuiting rings", ())
