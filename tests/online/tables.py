"""Plan tables for tests: small real ones, and ones that are only lines."""

from __future__ import annotations

from functools import cache

import lightloom as ll
from lightloom.online.lines import Line

SIZES, DELAYS = "1MiB:256MiB", "1us:1ms"


@cache
def real_table() -> ll.PlanTable:
    """Recursive doubling with no, some and all changes of circuits."""
    return ll.plan_table(
        "all-reduce", SIZES, DELAYS, fabric=ll.Fabric(gpus=8), algorithm="recursive-doubling", planner="harvest"
    )


def table_of(lines: list[Line], delays_s: tuple[float, float] = (1e-9, 1e1)) -> ll.PlanTable:
    """A table that has only lines."""
    made = ll.PlanTable(0.02, (1, 1 << 30), delays_s, (), ())
    made.__dict__["lines"] = tuple(lines)
    return made
