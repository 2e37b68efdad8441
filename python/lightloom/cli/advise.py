"""The verb `advise`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lightloom.cli.options import verb
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import Status, with_progress
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from lightloom import Advice


@verb("advise")
@click.argument("job", metavar="JOB.toml", type=click.Path())
def command(
    job: str,
    switches: str | None,
    ports: str | None,
    output: str | None,
    plot: str | None,
    output_format: str,
) -> None:
    """Which optical circuit switch a JOB needs: a mix of collectives, models and traces.

    Every time is that of `plan` or `train` for the same request. The table compares every switch with circuits that
    never change and with an ideal packet switch; below it are the recommendation, the largest reconfiguration delay at
    which changing circuits pays, and the inputs that would change the recommendation.

    A switch of your own takes two lines of TOML: [my-switch] and reconfiguration_delay = "2ms".

    \b
    Examples:
      lightloom advise examples/jobs/decode.toml
      lightloom advise examples/jobs/decode.toml --switches polatis,examples/jobs/my-switch.toml --ports 1,2,4
    """  # noqa: D301
    import lightloom as ll

    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    status = Status()
    advice = with_progress(
        "planning", lambda: ll.advise(job, switches=switches, ports=ports, report=status.say), status
    )
    if output is not None:
        advice.save(output)
    if plot is not None:
        with_progress("drawing", lambda: advice.plot(plot))
    click.echo(_text(advice, output_format))


def _text(advice: Advice, output_format: str) -> str:
    """The text that is printed."""
    if output_format == "json":
        return advice.to_json()
    if output_format == "csv":
        return as_csv(advice.to_columns())
    from lightloom.views.tables.advice import advice_table

    return advice_table(advice)
