"""A plan at another size and another reconfiguration delay, with the same steps, circuits and paths."""

from __future__ import annotations

import json
import math

from lightloom.plans import Plan

__all__ = ["retimed"]

# Bounds are lowered by this share, so that rounding makes none larger than it is.
ROUNDING = 1e-9


def retimed(plan: Plan, size_bytes: int, delay_s: float) -> Plan:
    """The plan for a buffer of other bytes and a constant reconfiguration delay, s; its time is what `Line` predicts.

    The plan's own lower bound is scaled by the smallest of the ratios of sizes and of delays, if that is below 1: a
    schedule's time, which has no negative terms, shrinks by no more. It may be lower than `lightloom.bound` knows.
    """
    told = json.loads(plan.to_json())
    ratio = size_bytes / told["size_bytes"]
    before_s = told["fabric"]["reconfiguration_delay_s"]
    told["size_bytes"] = size_bytes
    told["fabric"]["reconfiguration_delay_s"] = delay_s
    total_s = 0.0
    for step in told["steps"]:
        step["transfer_bytes"] *= ratio
        step["transmission_s"] *= ratio
        if step["reconfigured"]:
            step["reconfiguration_s"] = delay_s
        total_s += step["startup_s"] + step["propagation_s"] + step["transmission_s"] + step["reconfiguration_s"]
    # In the document the barrier is a number of the fabric, not of steps.
    told["total_s"] = total_s + math.fsum(step.barrier_s for step in plan.steps)
    shrinks = min(1.0, ratio, delay_s / before_s if before_s else 1.0) * (1 - ROUNDING)
    for bound in ("lower_bound_s", "narrow_lower_bound_s"):
        if told.get(bound) is not None:
            told[bound] *= shrinks
    return Plan.from_json(json.dumps(told))
