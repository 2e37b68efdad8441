"""Results as the JSON that verbs print and the page's server answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightloom.plans.steps import stated_terms
from lightloom.views.verdict import unchanging

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.faults.repair import Repair
    from lightloom.planning import Check
    from lightloom.planning.bounds import Bounds
    from lightloom.plans import Plan
    from lightloom.plans.comparison import Comparison, Row
    from lightloom.uncertainty.result import SampledPlans

__all__ = ["bound_document", "checks_document", "comparison_document", "comparison_row", "plan_document"]


def plan_document(
    plan: Plan, baselines: Sequence[Row] | None, sampled: SampledPlans | None = None, repair: Repair | None = None
) -> str:
    """The plan's own JSON, an All-to-All's traffic, its time when repeated, and baselines with a time, if asked for.

    sampled: the plans with samples that it was chosen from, where times are uncertain. repair: what it was mended from.

    The best plan whose circuits never change is one of the baselines; its time is a key of its own, null without one.
    """
    text = plan.to_json().rstrip("\n").removesuffix("\n}")
    text += f',\n  "traffic_bytes": {json.dumps(plan.traffic_bytes)}'
    text += f',\n  "repeated_s": {json.dumps(plan.repeated_s)}'
    if sampled is not None:
        text += f',\n  "sampled": {sampled.to_json()}'
    if repair is not None:
        text += f',\n  "repair": {json.dumps(repair.told())}'
    if baselines is None:
        return text + "\n}"
    still = unchanging(baselines)
    text += f',\n  "never_change_s": {json.dumps(None if still is None else still.total_s)}'
    rows = [
        {
            "planner": row.planner,
            "algorithm": row.algorithm,
            "topology": row.topology,
            "total_s": row.total_s,
            "reconfigurations": row.reconfigurations,
        }
        for row in baselines
        if row.total_s is not None
    ]
    lines = ",\n".join(f"    {json.dumps(row)}" for row in rows)
    return text + f',\n  "baselines": [\n{lines}\n  ]\n}}'


def comparison_document(comparison: Comparison) -> str:
    """Rows that have a time, fastest first; rows without a time, with the reason; the bound."""
    served = [row for row in comparison.rows if row.total_s is not None]
    best_s = min((row.total_s for row in served if row.total_s is not None), default=0.0)
    told = {
        "rows": [
            {
                **comparison_row(row),
                "ratio": (row.total_s or 0.0) / best_s if best_s else 1.0,
                "gap": _gap(row.total_s or 0.0, comparison.lower_bound_s),
            }
            for row in served
        ],
        "lower_bound_s": comparison.lower_bound_s,
        "bound_class": comparison.bound_class,
        "traffic_bytes": comparison.traffic_bytes,
        "not_applicable": [
            {
                "planner": row.planner,
                "algorithm": row.algorithm,
                "topology": row.topology,
                "at_least_s": row.at_least_s,
                "reason": row.reason,
            }
            for row in comparison.rows
            if row.total_s is None
        ],
    }
    return json.dumps(told, indent=1)


def comparison_row(row: Row) -> dict[str, Any]:
    """A row by itself, independent of the others."""
    return {
        "planner": row.planner,
        "algorithm": row.algorithm,
        "topology": row.topology,
        "total_s": row.total_s,
        "reconfigurations": row.reconfigurations,
        **{term: getattr(row, term) for term in stated_terms([row])},
    }


def _gap(total_s: float, lower_bound_s: float) -> float | None:
    return total_s / lower_bound_s if lower_bound_s else None


def bound_document(bounds: Bounds) -> dict[str, Any]:
    """The largest bound with its class, and all of them with their terms."""
    return {
        "lower_bound_s": bounds.lower_bound_s,
        "bound_class": bounds.bound_class,
        "traffic_bytes": bounds.traffic_bytes,
        "bounds": [
            {
                "name": statement.name,
                "bound_class": statement.bound_class,
                "why": statement.why,
                "lower_bound_s": statement.lower_bound_s,
                "startup_s": statement.startup_s,
                "propagation_s": statement.propagation_s,
                "transmission_s": statement.transmission_s,
                "reconfiguration_s": statement.reconfiguration_s,
                "topologies": statement.topologies,
                "steps": statement.steps,
                "segments": [
                    {"steps": steps, "hops": hops, "growth": growth} for steps, hops, growth in statement.segments
                ],
            }
            for statement in bounds.statements
        ],
    }


def checks_document(checked: Sequence[tuple[str, str, Sequence[Check]]]) -> str:
    """The verified files: name, kind and checks."""
    files = [
        {
            "file": file,
            "kind": subject,
            "passed": all(check.passed for check in checks),
            "checks": [check._asdict() for check in checks],
        }
        for file, subject, checks in checked
    ]
    passed = all(file["passed"] for file in files)
    return json.dumps({"passed": passed, "files": files}, indent=1, ensure_ascii=False)
