"""The verb `plan`."""

from __future__ import annotations

from typing import Any

import click

from lightloom.cli.options import FORMAT_OPTION, problem_arguments, problem_options


@click.command("plan", short_help="Plan a collective.")
@problem_options
@click.option("--output", metavar="FILE", help="Also write the plan as JSON; nothing is written when planning fails.")
@FORMAT_OPTION
def command(output: str | None, output_format: str, **options: Any) -> None:
    """Plan a collective: its algorithm, the topology of every step, and when to pay for a reconfiguration.

    The plan is verified before it is shown: executed symbolically, its ports, paths and costs recomputed.

    \b
    Examples:
      lightloom plan --collective all-reduce --size 64MiB --gpus 64
      lightloom plan --collective all-to-all --size 1MiB/pair --gpus 16 --ports 2 --fabric mems-3d --format json
      lightloom plan --collective reduce-scatter --size 1GB --dims 4x4x4 --ports 6 --algorithm swing --output plan.json
    """  # noqa: D301
    from lightloom.files import check_writable
    from lightloom.planning import plan

    if output is not None:
        check_writable("output", output)
    arguments = problem_arguments(options)
    result = plan(**arguments)
    text = ""
    if output_format == "table":
        from lightloom.tables.plan import plan_table

        text = plan_table(result, arguments)
    if output is not None:
        result.save(output)
    click.echo((text or result.to_json()).rstrip("\n"))
