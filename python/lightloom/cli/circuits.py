"""The verb `circuits`."""

from __future__ import annotations

from typing import Any

import click

from lightloom.cli.options import given_of, verb
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import with_progress
from lightloom.views.rows import as_csv


@verb("circuits")
@click.argument("plan", metavar="PLAN", type=click.Path())
def command(
    plan: str, all_connections: bool, output: str | None, plot: str | None, output_format: str, **settings: Any
) -> None:
    """Put the circuits of a PLAN (JSON) on the ports of switches: what to connect and disconnect, and when.

    Circuits that stay from one topology to the next stay on their ports where that is possible. Ports are numbered
    from 1: transmitters are at ingress, receivers at egress ports. A plan that `verify` refuses is refused.

    \b
    Examples:
      lightloom plan --collective all-reduce --size 1MiB --gpus 8 --output plan.json
      lightloom circuits plan.json
      lightloom circuits plan.json --all-connections
      lightloom circuits plan.json --output circuits.json --plot circuits.png
    """  # noqa: D301
    from lightloom.port_maps import circuits

    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    made = with_progress("assigning ports", lambda: circuits(plan, **given_of(settings)))
    if output_format == "json":
        text = made.to_json().rstrip("\n")
    elif output_format == "csv":
        text = as_csv(made.to_columns())
    else:
        from lightloom.views.tables.circuits import circuits_table

        text = circuits_table(made, all_connections=all_connections)
    if output is not None:
        made.save(output)
    if plot is not None:
        made.plot(plot)
    click.echo(text)
