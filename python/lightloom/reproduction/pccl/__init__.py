"""PCCL's figures."""

from lightloom.reproduction.figure import Paper

PCCL = Paper("pccl", "PCCL", ())
