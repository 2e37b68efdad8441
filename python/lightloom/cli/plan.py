"""The verb `plan`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from lightloom.cli.options import given_of, problem_arguments, verb
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import Status, with_progress
from lightloom.inputs.options import OF_PLAN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom import Plan
    from lightloom.comparison import Row


@verb("plan")
def command(output: str | None, plot: str | None, output_format: str, baselines: bool, **options: Any) -> None:
    """Plan a collective: its algorithm, the topology of every step, and when to pay for a reconfiguration.

    The plan is verified before it is shown: executed symbolically, its ports, paths and costs recomputed.

    \b
    Examples:
      lightloom plan --collective all-reduce --size 64MiB --gpus 64
      lightloom plan --collective all-to-all --size 1MiB/pair --gpus 16 --ports 2 --fabric mems-3d --format json
      lightloom plan --collective reduce-scatter --size 1GB --dims 4x4x4 --ports 6 --algorithm swing --output plan.json
      lightloom plan --collective all-reduce --size 4MiB --gpus 8 --algorithm swing --planner exact
    """  # noqa: D301
    from lightloom import planning

    if plot is not None:
        from lightloom.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    of_plan = given_of({option.name: options.pop(option.name) for option in OF_PLAN})
    arguments = problem_arguments(options)
    status = Status()
    result = with_progress("planning", lambda: planning.plan(**arguments, **of_plan, report=status.say), status)
    others = with_progress("comparing", lambda: planning.baselines(**arguments)) if baselines else []
    if output_format == "json":
        text = _plan_as_json(result, others if baselines else None)
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
