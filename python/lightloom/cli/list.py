"""The verb `list`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from lightloom.base.errors import refuse
from lightloom.cli.options import verb
from lightloom.views.listings import everything, listings
from lightloom.views.rows import rows_as_csv

if TYPE_CHECKING:
    from lightloom.inputs.fabric import Fabric


class KindName(click.ParamType[str]):
    """A kind of names, which the shell completes."""

    name = "kind"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """The kinds that start so."""
        return [CompletionItem(kind) for kind in listings() if kind.startswith(incomplete)]


@verb("list")
@click.argument("kind", required=False, type=KindName())
def command(
    kind: str | None,
    gpus: int | None,
    collective: str | None,
    dims: str | None,
    ports: int,
    radix: int | None,
    aggregation: int | None,
    output_format: str,
) -> None:
    """List the names of a KIND, or of all kinds.

    KIND is one of algorithms, topologies, candidates, planners, collectives, routings, overlaps, conventions,
    technologies, workloads, optics, drivers, fabrics, models, policies, switches, benchmarks, formats, and figures
    where lightloom-papers is installed.

    \b
    Examples:
      lightloom list
      lightloom list topologies
      lightloom list algorithms --gpus 64 --collective all-reduce
    """  # noqa: D301
    from lightloom.inputs.fabric import Fabric

    fabric = Fabric(gpus=gpus, dims=dims, ports=ports)
    if gpus is not None or dims is not None or collective is not None:
        if kind not in {None, "algorithms"}:
            raise refuse("kind", f"--gpus, --dims and --collective go with `algorithms`, not with `{kind}`")
        _show_algorithms(fabric, collective, {"radix": radix, "aggregation": aggregation}, output_format)
        return
    shown = everything(kind)
    if output_format == "json":
        click.echo(json.dumps(shown, indent=1, ensure_ascii=False))
    elif output_format == "csv":
        click.echo(rows_as_csv({"kind": name, **entry} for name, entries in shown.items() for entry in entries))
    else:
        from lightloom._core import planners_names
        from lightloom.views.tables.registry import registry_table

        given = planners_names()
        for name, entries in shown.items():
            click.echo(registry_table(name, entries, given.get(name, ())))


def _show_algorithms(fabric: Fabric, collective: str | None, given: dict[str, int | None], output_format: str) -> None:
    from lightloom import _core
    from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number

    sized = fabric.sized()
    gpus = whole_number("gpus", sized.gpus, *WHOLE_RANGES["gpus"])
    choices = {
        name: None if value is None else whole_number(name, value, *WHOLE_RANGES[name]) for name, value in given.items()
    }
    rows = _core.algorithm_table(collective, gpus, sized.dimensions, sized.ports, **choices)
    if output_format == "json":
        click.echo(json.dumps({"algorithms": rows}, indent=1, ensure_ascii=False))
    elif output_format == "csv":
        click.echo(rows_as_csv(rows))
    else:
        from lightloom.views.tables.registry import algorithms_table

        click.echo(algorithms_table(rows))
