"""The verb `bound`."""

from __future__ import annotations

import json
from typing import Any

import click

from lightloom.cli.options import problem_arguments, verb
from lightloom.cli.progress import with_progress
from lightloom.views.documents import bound_document
from lightloom.views.rows import rows_as_csv


@verb("bound")
def command(output_format: str, **options: Any) -> None:
    """Lower bounds on a collective's time, term by term, each with the class of schedules that it holds for.

    With --algorithm, also the bounds for its steps as they are. The largest bound that holds for every plan of the
    problem is marked: where a planner splits or joins steps of the algorithm, that is the one for any algorithm.

    \b
    Examples:
      lightloom bound --collective all-gather --size 16MiB --gpus 64
      lightloom bound --collective all-reduce --size 1MiB --gpus 16 --algorithm recursive-doubling --format json
    """  # noqa: D301
    from lightloom.planning.bounds import bound

    arguments = problem_arguments(options)
    bounds = with_progress("bounding", lambda: bound(**arguments))
    if output_format == "json":
        click.echo(json.dumps(bound_document(bounds), indent=1))
    elif output_format == "csv":
        rows = bound_document(bounds)["bounds"]
        click.echo(rows_as_csv({key: value for key, value in row.items() if key != "segments"} for row in rows))
    else:
        from lightloom.views.tables.bound import bound_table

        click.echo(bound_table(bounds))
