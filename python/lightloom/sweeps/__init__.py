"""Sweeps: a description of axes becomes a table and pictures.

`description` reads what is swept, `layout` orders its points in rows and chunks, `engines` evaluates a chunk by
`series` of points that share profiles, `workers` and `cluster` say who does, `store` keeps what is finished, and `run`
joins them.
"""

from lightloom.sweeps.result import SweepResult
from lightloom.sweeps.run import sweep

__all__ = ["SweepResult", "sweep"]
