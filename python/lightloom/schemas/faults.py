"""JSON of what single faults cost, and of plans for all of them."""

from __future__ import annotations

from lightloom.schemas.forms import (
    Form,
    by_name,
    document,
    number,
    one_of,
    or_null,
    record,
    several,
    text,
    version,
    whole,
    yes_or_no,
)

KIND = one_of("kind of faults", "any-gpu", "any-port", "any-receiver", "any-link", "any-switch")
PLANNER = record(
    {
        "planner": text("name of the planner"),
        "algorithm": text("algorithm that is the best of the planner without a single fault"),
        "healthy_s": number("time without a single fault"),
        "mean_s": or_null(number("mean time over the faults that it serves; null where it serves none")),
        "worst_s": or_null(number("longest time over the faults that it serves; null where it serves none")),
        "worst_fault": or_null(text("the fault with the longest time; null where it serves none")),
        "served": whole("number of faults that it serves"),
        "unserved": whole("number of faults that it does not serve"),
    }
)
FAULT = record(
    {
        "failed": text("the fault, as the option failed writes it"),
        "alike": whole("number of faults that cost the same, this one included", least=1),
        "times_s": by_name(number("time"), "times by planner; those that do not serve it are left out [seconds]"),
        "reason": text("reason why no planner serves it; empty where one does"),
    }
)
FAULT_COSTS = record(
    {
        "schema": version("lightloom.fault-costs/1"),
        "collective": text("name of the collective"),
        "size_bytes": whole("size of a rank's buffer", least=1),
        "gpus": whole("number of GPUs of the fabric", least=2),
        "ports": whole("ports of a GPU", least=1),
        "kinds": several(KIND, "kinds of single faults"),
        "given": several(text("a fault"), "faults that are there in any case"),
        "planners": several(PLANNER, "planners, the fastest without a single fault first"),
        "faults": several(FAULT, "single faults"),
        "planners_with_pairs": several(PLANNER, "the same over pairs of faults; empty where none were asked for"),
        "pairs": several(FAULT, "pairs of faults that were drawn, with a comma between the two"),
    }
)
FALLBACKS = record(
    {
        "schema": version("lightloom.fallbacks/1"),
        "kinds": several(KIND, "kinds of single faults"),
        "given": several(text("a fault"), "faults that are there in any case"),
        "gpus": whole("number of GPUs of the fabric", least=2),
        "ports": whole("ports of a GPU", least=1),
        "settings": by_name(text("value"), "settings of planning that were given, by name"),
        "complete": yes_or_no("whether every fault was planned for"),
        "healthy": document("plan"),
        "plans": by_name(document("plan"), "plans by fault"),
        "unserved": by_name(text("reason"), "faults that have no plan"),
    }
)

DOCUMENTS: dict[str, Form] = {"fault-costs": FAULT_COSTS, "fallbacks": FALLBACKS}
