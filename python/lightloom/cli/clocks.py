"""What the verb `plan` does for switches on clocks of their own (`--overlap asynchronous`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse
from lightloom.cli.options import given_of, problem_arguments
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import with_progress
from lightloom.inputs.options import OF_PLAN
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from lightloom import Timeline

ASYNCHRONOUS = "asynchronous"


def planned_timeline(
    options: dict[str, Any], others: dict[str, Any], output: str | None, plot: str | None, output_format: str
) -> str:
    """The text that `plan` prints for a timeline; its file and picture are written where that is asked for.

    others: options that do not go with it.
    """
    from lightloom.clocks.planning import timeline

    for name, value in {
        **others,
        **given_of({option.name: options.pop(option.name, None) for option in OF_PLAN}),
    }.items():
        if value:
            raise refuse(name, f"it cannot be combined with --overlap {ASYNCHRONOUS}")
    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    arguments = problem_arguments(options)
    found = with_progress("planning", lambda: timeline(**arguments))
    if output is not None:
        found.save(output)
    if plot is not None:
        found.plot(plot)
    return _text(found, output_format)


def _text(found: Timeline, output_format: str) -> str:
    if output_format == "json":
        return found.to_json()
    if output_format == "csv":
        return as_csv(found.to_columns())
    from lightloom.views.tables.timeline import timeline_table

    return timeline_table(found)
