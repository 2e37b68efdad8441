"""The verb `jobs`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lightloom.cli.options import given_of, verb
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import Status, with_progress
from lightloom.inputs.options import FABRIC_KEYS
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from lightloom import JobPlacements


@verb("jobs")
@click.argument("jobs", metavar="JOBS.toml", type=click.Path())
def command(
    jobs: str,
    output: str | None,
    plot: str | None,
    output_format: str,
    **settings: Any,
) -> None:
    """Place JOBS that arrive and leave on one fabric: who gets which GPUs and when, by several ways to share it.

    A job arrives, runs iterations of a model, a trace or a collective on some GPUs, and leaves. An iteration takes what
    `train` says. Ways: blocks of a torus that was wired once, the first that fits; any free GPUs with circuits that are
    set at a job's start, or that change during iterations; and jobs that share GPUs in turns, or at once with ports of
    their own. The table compares completion times and the connections that switches set up.

    \b
    Examples:
      lightloom jobs examples/jobs/arrivals.toml --gpus 8 --ports 4
      lightloom jobs examples/jobs/arrivals.toml --gpus 8 --ports 4 --order search --plot jobs.png
    """  # noqa: D301
    import lightloom as ll

    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    given = given_of(settings)
    overrides = {name: given.pop(name) for name in FABRIC_KEYS if name in given}
    fabric = ll.Fabric.load(given.pop("fabric", "default"), **overrides)
    status = Status()
    placed = with_progress("planning", lambda: ll.place_jobs(jobs, fabric=fabric, report=status.say, **given), status)
    if output is not None:
        placed.save(output)
    if plot is not None:
        with_progress("drawing", lambda: placed.plot(plot))
    click.echo(_text(placed, output_format))


def _text(placed: JobPlacements, output_format: str) -> str:
    """The text that is printed."""
    if output_format == "json":
        return placed.to_json()
    if output_format == "csv":
        return as_csv(placed.to_columns())
    from lightloom.views.tables.jobs import jobs_table

    return jobs_table(placed)
