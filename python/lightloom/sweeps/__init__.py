"""Sweeps: a description of axes becomes a table and pictures.

`description` reads a sweep's description, `layout` orders its points in rows and chunks, `engines` evaluates a chunk by
`series` of points that share profiles, `workers` and `cluster` say who does, `store` keeps finished chunks, and `run`
joins them.
"""

from lightloom.sweeps.result import SweepResult
from lightloom.sweeps.run import sweep

__all__ = ["SweepResult", "sweep"]
