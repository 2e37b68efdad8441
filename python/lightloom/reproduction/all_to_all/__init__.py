"""The all-to-all paper's figures."""

from lightloom.reproduction.figure import Paper

ALL_TO_ALL = Paper("all-to-all", "To reconfigure or not to reconfigure", ())
