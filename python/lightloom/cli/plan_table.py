"""The verb `plan` for a range of sizes and reconfiguration delays."""

from __future__ import annotations

from typing import Any

from lightloom.base.errors import refuse
from lightloom.cli.options import given_of, problem_arguments
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import Status, with_progress
from lightloom.inputs.options import OF_PLAN
from lightloom.views.rows import as_csv


def planned_table(
    sizes: str,
    delays: str,
    tolerance: str | None,
    plot: str | None,
    output: str | None,
    output_format: str,
    options: dict[str, Any],
) -> str:
    """The text that is printed; the table and its picture are written where they are asked for."""
    from lightloom.online.preparing import TOLERANCE, plan_table

    for option in OF_PLAN:
        if options.pop(option.name, None) is not None:
            raise refuse(option.name, "it applies to a single plan; it cannot be combined with --delays")
    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    if options.get("reconfiguration_delay") is not None:
        raise refuse("reconfiguration_delay", "it cannot be combined with --delays, which says the delays")
    # A matrix has no size of its own to be checked with.
    arguments = problem_arguments({**options, "size": sizes.partition(":")[0]})
    del arguments["size"]
    told = {"tolerance": TOLERANCE if tolerance is None else tolerance, **given_of(arguments)}
    status = Status()
    table = with_progress("planning", lambda: plan_table(sizes=sizes, delays=delays, report=status.say, **told), status)
    if output is not None:
        table.save(output)
    if plot is not None:
        with_progress("drawing", lambda: table.plot(plot))
    if output_format == "json":
        return table.to_json()
    if output_format == "csv":
        return as_csv(table.to_columns())
    from lightloom.views.tables.plan_table import plan_table_text

    return plan_table_text(table)
