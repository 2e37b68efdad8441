"""The verb `compare`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from lightloom.cli.options import FORMAT_OPTION, problem_arguments, problem_options
from lightloom.cli.patience import patiently

if TYPE_CHECKING:
    from lightloom import Comparison


@click.command("compare", short_help="Plan by every planner and baseline.")
@problem_options
@FORMAT_OPTION
def command(output_format: str, **options: Any) -> None:
    """Plan the same problem by every planner and baseline, side by side, with the lower bound.

    Without --algorithm, every algorithm that accepts the problem is compared.

    \b
    Example:
      lightloom compare --collective all-reduce --size 1MiB --gpus 64 --reconfiguration-delay 1us
    """  # noqa: D301
    from lightloom.planning import compare

    comparison = patiently("comparing", lambda: compare(**problem_arguments(options)))
    if output_format == "json":
        click.echo(json.dumps(comparison_as_json(comparison), indent=1))
    else:
        from lightloom.tables.comparison import comparison_table

        click.echo(comparison_table(comparison))


def comparison_as_json(comparison: Comparison) -> dict[str, Any]:
    """Rows that have a time, fastest first; those that could not be served, with the reason; the bound."""
    served = [row for row in comparison.rows if row.total_s is not None]
    best_s = min((row.total_s for row in served if row.total_s is not None), default=0.0)
    return {
        "rows": [
            {
                "planner": row.planner,
                "algorithm": row.algorithm,
                "topology": row.topology,
                "total_s": row.total_s,
                "reconfigurations": row.reconfigurations,
                "ratio": (row.total_s or 0.0) / best_s if best_s else 1.0,
            }
            for row in served
        ],
        "lower_bound_s": comparison.lower_bound_s,
        "bound_class": comparison.bound_class,
        "not_applicable": [
            {"planner": row.planner, "algorithm": row.algorithm, "reason": row.reason}
            for row in comparison.rows
            if row.total_s is None
        ],
    }
