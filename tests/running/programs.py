"""Plans of little data, and their programs run by the interpreter, for the tests of running."""

from __future__ import annotations

from functools import cache

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.running.data import DATA_TYPES, DataType, DrawnInputs, expected, wrong
from lightloom.running.interpreter import interpret
from lightloom.running.program import Program, program_of
from tests.recompute.problems import question

SEED = 16
# Bytes of a buffer, so that a rank's data are held and compared in no time.
MOST_BYTES = 1 << 15
FLOAT32 = DATA_TYPES["float32"]


@cache
def small_plan(index: int, most_gpus: int = 16) -> ll.Plan | None:
    """The plan of a random problem of few GPUs, brought down to little data; None where nothing serves it."""
    asked = question(SEED, index)
    if asked.fabric["gpus"] > most_gpus:
        return None
    told = dict(asked.settings)
    if "matrix" in told:
        told["matrix"] = told["matrix"] * min(1.0, MOST_BYTES / told["matrix"].sum(axis=1).max())
    else:
        # At least an element of the largest type.
        told["size"] = max(8, told["size"] % MOST_BYTES)
    try:
        return ll.plan(fabric=ll.Fabric(**asked.fabric), **told)
    except InputError:
        return None


def wrong_elements(program: Program, kind: DataType = FLOAT32, reduction: str = "sum", seed: int = 0) -> int:
    """Elements that the program leaves other than NumPy says."""
    inputs = DrawnInputs(program, kind, reduction, seed)
    found = interpret(program, inputs, kind, reduction)
    return wrong(found, expected(program, inputs, kind, reduction), kind)


def wrong_of_plan(plan: ll.Plan, kind: DataType = FLOAT32, reduction: str = "sum") -> int:
    """The same of a plan's program."""
    return wrong_elements(program_of(plan, kind.size_bytes), kind, reduction)
