"""The verb `plan`."""

from __future__ import annotations

from typing import Any

import click

from lightloom.cli.options import FORMAT_OPTION, problem_arguments, problem_options
from lightloom.cli.patience import Narration, patiently


@click.command("plan", short_help="Plan a collective.")
@problem_options
@click.option(
    "--budget",
    metavar="TIME",
    help="Time of planner weave's local search (plans of up to 32 steps, routed by concurrent flow), none by default; "
    "of planner exact's proof, 60s.",
)
@click.option(
    "--invariant-under",
    metavar="N",
    help="Planner exact: only topologies that translations by N keep, or xor:N; 16 GPUs become tractable.",
)
@click.option("--output", metavar="FILE", help="Also write the plan as JSON; nothing is written when planning fails.")
@click.option("--plot", metavar="FILE", help="Also draw topologies and costs: a .png, .pdf or .svg.")
@FORMAT_OPTION
def command(output: str | None, plot: str | None, output_format: str, **options: Any) -> None:
    """Plan a collective: its algorithm, the topology of every step, and when to pay for a reconfiguration.

    The plan is verified before it is shown: executed symbolically, its ports, paths and costs recomputed.

    \b
    Examples:
      lightloom plan --collective all-reduce --size 64MiB --gpus 64
      lightloom plan --collective all-to-all --size 1MiB/pair --gpus 16 --ports 2 --fabric mems-3d --format json
      lightloom plan --collective reduce-scatter --size 1GB --dims 4x4x4 --ports 6 --algorithm swing --output plan.json
      lightloom plan --collective all-reduce --size 4MiB --gpus 8 --algorithm swing --planner exact
    """  # noqa: D301
    from lightloom.files import check_writable
    from lightloom.planning import plan, plan_with_baselines

    if output is not None:
        check_writable("output", output)
    if plot is not None:
        from lightloom.charts import check_plot_path

        check_plot_path(plot)
    arguments = problem_arguments(options)
    progress = Narration()
    if output_format == "json":
        result = patiently("planning", lambda: plan(**arguments, report=progress.say), progress)
        text = result.to_json().rstrip("\n")
    else:
        from lightloom.tables.plan import plan_table

        result, baselines = patiently(
            "planning", lambda: plan_with_baselines(**arguments, report=progress.say), progress
        )
        text = plan_table(result, baselines, arguments["fabric"])
    if output is not None:
        result.save(output)
    if plot is not None:
        result.plot(plot)
    click.echo(text)
