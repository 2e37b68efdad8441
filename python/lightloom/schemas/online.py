"""JSON of plan tables, and of calls whose plans are chosen from them."""

from __future__ import annotations

from lightloom.schemas.forms import Form, document, number, one_of, or_null, record, row, several, text, version, whole

BOX = record(
    {
        "sizes_bytes": row(
            "first and last size of a rank's buffer in the box [bytes]", whole("first size"), whole("last size")
        ),
        "delays_s": row(
            "first and last reconfiguration delay in the box [seconds]", number("first delay"), number("last delay")
        ),
        "plan": whole("place of the plan that is within the tolerance in the box"),
        "best_s": row(
            "best times at the corners, found by the planner [seconds]",
            number("first size and delay"),
            number("first size, last delay"),
            number("last size, first delay"),
            number("last size and delay"),
        ),
    }
)
PLAN_TABLE = record(
    {
        "schema": version("lightloom.plan-table/1"),
        "collective": text("name of the collective"),
        "gpus": whole("number of GPUs", least=2),
        "tolerance": number("share of the best time by which the plan of a box may be longer"),
        "sizes_bytes": row("first and last size of a rank's buffer [bytes]", whole("first size"), whole("last size")),
        "delays_s": row("first and last reconfiguration delay [seconds]", number("first delay"), number("last delay")),
        "boxes": several(BOX, "boxes that cover the range"),
        "plans": several(document("plan"), "plans, each at a size and delay for which it is the best"),
    }
)
WAY = record(
    {
        "name": text("name of the way to choose: adaptive, latest, first, single, known or each"),
        "total_s": number("time of all calls, changes of plan and measurements outside of calls included"),
        "changes": whole("changes of plan"),
        "regret_s": number("time above that of the way known", least=None),
        "over_known": number("time over that of the way known"),
    }
)
CALL = record(
    {
        "call": whole("number of the call, from 0"),
        "size_bytes": whole("size of a rank's buffer", least=1),
        "delay_s": number("reconfiguration delay"),
        "estimate_s": number("delay that was estimated when the plan was chosen"),
        **{
            key: form
            for name in ("adaptive", "latest", "first", "single", "known", "each")
            for key, form in (
                (f"{name}_plan", whole(f"place of the plan by the way {name}")),
                (f"{name}_s", number(f"time of the call by the way {name}, and of a change before it")),
            )
        },
        "predicted_s": or_null(number("time of the adaptive plan by the cost model, where the call ran on processes")),
    }
)
ADAPTATION = record(
    {
        "schema": version("lightloom.adaptation/1"),
        "collective": text("name of the collective"),
        "gpus": whole("number of GPUs", least=2),
        "sizes_bytes": several(whole("size of a rank's buffer in bytes", least=1), "sizes of calls [bytes], rising"),
        "plans": several(text("algorithm and number of changes"), "plans of the table, in words"),
        "change_cost_s": number("time that a change of plan counts as"),
        "window": whole("measured delays whose median is the estimate", least=1),
        "probe": number("share of the time that is given to measuring delays outside of calls"),
        "probes": whole("measurements outside of calls"),
        "engine": one_of("engine: how calls were made", "model", "processes"),
        "wrong": whole("elements of results on processes that were wrong"),
        "ways": several(WAY, "ways to choose, each over all calls"),
        "calls": several(CALL, "calls, in order"),
    }
)

DOCUMENTS: dict[str, Form] = {"plan-table": PLAN_TABLE, "adaptation": ADAPTATION}
