"""The verb `adapt`."""

from __future__ import annotations

from typing import Any

import click

from lightloom.base.errors import refuse
from lightloom.cli.options import given_of, verb
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import Status, with_progress
from lightloom.views.rows import as_csv


@verb("adapt")
@click.argument("table", metavar="TABLE", type=click.Path())
def command(
    table: str, size: str | None, delays: str | None, plot: str | None, output_format: str, **options: Any
) -> int:
    """Choose a plan of a TABLE (JSON) at every call, by measured reconfiguration delays that drift; its regret.

    The TABLE is one of `plan --sizes --delays`. The estimate is the median of the delays measured last; a plan is
    changed when it is no better to have kept it than to have had the other one and to pay for a change, so that delays
    that flicker change nothing. Regret is the time above that of the best changes of plan, all delays known.

    Exit status 1: elements of results of calls on processes are wrong.

    \b
    Examples:
      lightloom plan --collective all-reduce --sizes 64KiB:16MiB --delays 1us:10ms --gpus 8 --output table.json
      lightloom adapt table.json --size 1MiB --delays step:1us:1ms
      lightloom adapt table.json --size 64KiB,1MiB --delays ramp:1us:1ms
      lightloom adapt table.json --size 1MiB --delays walk:4us:0.3 --calls 1000 --seed 7 --plot regret.png
    """  # noqa: D301
    from lightloom.online.replay import adapt

    if delays is None:
        raise refuse("delays", "missing; give --delays RULE|FILE, such as --delays step:20us:2ms")
    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    status = Status()
    found = with_progress("calling", lambda: adapt(table, delays, size, report=status.say, **given_of(options)), status)
    if plot is not None:
        with_progress("drawing", lambda: found.plot(plot))
    if output_format == "json":
        text = found.to_json()
    elif output_format == "csv":
        text = as_csv(found.to_columns())
    else:
        from lightloom.views.tables.adaptation import adaptation_table

        text = adaptation_table(found)
    click.echo(text)
    return 1 if found.wrong else 0
