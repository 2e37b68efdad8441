"""What verbs do for switches on clocks of their own: `plan --overlap asynchronous`, and `simulate` of its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse
from lightloom.base.files import read_beginning
from lightloom.cli.options import given_of, problem_arguments
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import Status, with_progress
from lightloom.inputs.options import OF_PLAN
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from lightloom import Timeline

ASYNCHRONOUS = "asynchronous"
# Settings that the simulation of a timeline takes, and the characters in which a file's schema stands.
OF_TIMELINES = ("packet_size", "header_size", "forwarding")
MOST_BEGINNING = 4096


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
    status = Status()
    found = with_progress("planning", lambda: timeline(**arguments, report=status.say), status)
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


def is_timeline_file(path: str) -> bool:
    """Whether a file is meant to be a timeline, by its beginning; not where it cannot be read."""
    from lightloom.clocks.reader import is_timeline

    return is_timeline(read_beginning(Path(path), MOST_BEGINNING).decode(errors="replace"))


def simulated_timeline(path: str, settings: dict[str, Any], of_plans: dict[str, Any], output_format: str) -> str:
    """The text that `simulate` prints for a timeline. settings: as given. of_plans: options that do not go with it."""
    from lightloom.clocks.timeline import Timeline

    given = given_of(settings)
    for name, value in {**{key: given[key] for key in given if key not in OF_TIMELINES}, **of_plans}.items():
        if value:
            raise refuse(name, "it is only for plans, and the file is a timeline")
    found = Timeline.load(path)
    simulation = with_progress("simulating", lambda: found.simulate(**given))
    if output_format == "json":
        return simulation.to_json()
    if output_format == "csv":
        return as_csv(simulation.to_columns())
    from lightloom.views.tables.timeline_simulation import timeline_simulation_table

    return timeline_simulation_table(simulation)
