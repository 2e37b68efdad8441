"""The time of a plan as a function of the size of the buffer and the reconfiguration delay."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom.plans import Plan

__all__ = ["Line", "line_of", "times_s"]

# Relative rounding of sums of a plan's terms.
ROUNDING = 1e-9
# Seconds that no clock tells from zero.
LEAST_S = 1e-18


class Line(NamedTuple):
    """The time fixed_s + byte_s · size + changes · delay of a plan whose circuits and paths stay as they are.

    fixed_s: startup and propagation of all steps; byte_s: seconds of transmission for each byte of a rank's buffer;
    changes: reconfigurations that are charged.
    """

    fixed_s: float
    byte_s: float
    changes: int

    def time_s(self, size_bytes: float, delay_s: float) -> float:
        """Seconds at this size, bytes of a rank's whole buffer, and reconfiguration delay, s."""
        return self.fixed_s + self.byte_s * size_bytes + self.changes * delay_s


def line_of(plan: Plan) -> Line:
    """The line of a plan.

    Raises `InputError` that names `plan` if its time is not linear: packets overlap, or a change is charged something
    other than one constant delay.
    """
    told = json.loads(plan.to_json())
    fabric = told["fabric"]
    if told["overlap"] != "additive":
        raise refuse("plan", f"with overlap `{told['overlap']}` its time does not grow in proportion to size and delay")
    delay_s = plan.reconfiguration_delay.scalar_s
    hides = fabric["background_reconfiguration"] or fabric["window_s"] or fabric["windows_s"]
    changed = [step for step in plan.steps if step.reconfigured]
    if delay_s is None or hides or any(not _is_close(step.reconfiguration_s, delay_s) for step in changed):
        raise refuse("plan", "its changes of circuits are not all charged one constant delay")
    return Line(
        math.fsum(step.total_s - step.transmission_s - step.reconfiguration_s for step in plan.steps),
        math.fsum(step.transmission_s for step in plan.steps) / plan.size_bytes,
        len(changed),
    )


def _is_close(seconds: float, delay_s: float) -> bool:
    return math.isclose(seconds, delay_s, rel_tol=ROUNDING, abs_tol=LEAST_S)


def times_s(
    lines: Sequence[Line], size_bytes: float | NDArray[np.float64], delay_s: float | NDArray[np.float64]
) -> NDArray[np.float64]:
    """Seconds of every plan, first axis, at sizes and delays that broadcast against each other."""
    size, delay = np.broadcast_arrays(np.asarray(size_bytes, dtype=np.float64), np.asarray(delay_s, dtype=np.float64))
    return np.stack([line.fixed_s + line.byte_s * size + line.changes * delay for line in lines])
