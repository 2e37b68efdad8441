"""The verb `plan`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from lightloom.cli.options import FORMAT_OPTION, problem_arguments, problem_options
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import Status, with_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom import Plan
    from lightloom._core import Row


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
@click.option(
    "--baselines/--no-baselines",
    "with_baselines",
    default=True,
    help="Also plan with every other planner, each at its best algorithm.  [default: yes]",
)
@click.option("--output", metavar="FILE", help="Also write the plan as JSON; nothing is written when planning fails.")
@click.option("--plot", metavar="FILE", help="Also draw topologies and costs: a .png, .pdf or .svg.")
@FORMAT_OPTION
def command(output: str | None, plot: str | None, output_format: str, with_baselines: bool, **options: Any) -> None:
    """Plan a collective: its algorithm, the topology of every step, and when to pay for a reconfiguration.

    The plan is verified before it is shown: executed symbolically, its ports, paths and costs recomputed.

    \b
    Examples:
      lightloom plan --collective all-reduce --size 64MiB --gpus 64
      lightloom plan --collective all-to-all --size 1MiB/pair --gpus 16 --ports 2 --fabric mems-3d --format json
      lightloom plan --collective reduce-scatter --size 1GB --dims 4x4x4 --ports 6 --algorithm swing --output plan.json
      lightloom plan --collective all-reduce --size 4MiB --gpus 8 --algorithm swing --planner exact
    """  # noqa: D301
    from lightloom.planning import baselines, plan

    if plot is not None:
        from lightloom.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    budgets = {name: options.pop(name) for name in ("budget", "invariant_under")}
    arguments = problem_arguments(options)
    status = Status()
    result = with_progress("planning", lambda: plan(**arguments, **budgets, report=status.say), status)
    others = with_progress("comparing", lambda: baselines(**arguments)) if with_baselines else []
    if output_format == "json":
        text = _plan_as_json(result, others if with_baselines else None)
    else:
        from lightloom.views.tables.plan import plan_table

        text = plan_table(result, others, arguments["fabric"])
    if output is not None:
        result.save(output)
    if plot is not None:
        result.plot(plot)
    click.echo(text)


def _plan_as_json(plan: Plan, baselines: Sequence[Row] | None) -> str:
    """The plan's own JSON, with the baselines as a last key where they are asked for."""
    text = plan.to_json().rstrip("\n")
    if baselines is None:
        return text
    rows = [
        {
            "planner": row.planner,
            "algorithm": row.algorithm,
            "topology": row.topology,
            "total_s": row.total_s,
            "reconfigurations": row.reconfigurations,
        }
        for row in baselines
    ]
    lines = ",\n".join(f"    {json.dumps(row)}" for row in rows)
    return text.removesuffix("\n}") + f',\n  "baselines": [\n{lines}\n  ]\n}}'
