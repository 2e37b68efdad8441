"""The verb `list`."""

from __future__ import annotations

import json
from typing import Any

import click

from lightloom.cli.options import FORMAT_OPTION
from lightloom.errors import refuse, unknown_name


@click.command("list", short_help="List whatever has a name.")
@click.argument("kind", required=False)
@click.option(
    "--gpus",
    type=click.IntRange(2),
    metavar="N",
    help="algorithms: say which accept so many GPUs, their steps and bytes.",
)
@click.option("--collective", metavar="NAME", help="algorithms: only those of this collective.")
@click.option("--dims", metavar="AxBxC", help="algorithms: grid of the GPUs.")
@click.option(
    "--ports", type=click.IntRange(1), metavar="N", default=1, show_default=True, help="algorithms: ports per GPU."
)
@click.option(
    "--radix",
    type=click.IntRange(2),
    metavar="R",
    show_default="2",
    help="algorithms: base of those that have one.",
)
@FORMAT_OPTION
def command(kind: str | None, gpus: int | None, dims: str | None, output_format: str, **options: Any) -> None:
    """List the names of a KIND, or of all kinds.

    KIND is one of algorithms, topologies, candidates, planners, collectives, routings, conventions, technologies
    and fabrics.

    \b
    Examples:
      lightloom list
      lightloom list topologies
      lightloom list algorithms --gpus 64 --collective all-reduce
    """  # noqa: D301
    from lightloom import Fabric

    fabric = Fabric(gpus=gpus, dims=dims)
    if fabric.gpus is not None or fabric.dims is not None or options["collective"] is not None:
        if kind not in {None, "algorithms"}:
            raise refuse("kind", f"--gpus, --dims and --collective go with `algorithms`, not with `{kind}`")
        _show_algorithms(fabric, output_format, **options)
        return
    kinds = everything()
    if kind is not None and kind not in kinds:
        raise unknown_name("kind", kind, kinds)
    shown = kinds if kind is None else {kind: kinds[kind]}
    if output_format == "json":
        click.echo(json.dumps(shown, indent=1, ensure_ascii=False))
    else:
        from lightloom.tables.registry import registry_table

        for name, entries in shown.items():
            click.echo(registry_table(name, entries))


def everything() -> dict[str, list[dict[str, str]]]:
    """Every name that the command line takes, by kind."""
    from lightloom import _core
    from lightloom.fabric import presets

    return {**_core.registry(), "fabrics": presets()}


def _show_algorithms(fabric: Any, output_format: str, *, collective: str | None, ports: int, radix: int | None) -> None:
    from lightloom import _core

    sized = fabric.sized()
    rows = _core.algorithm_table(collective, sized.gpus, sized.grid, ports, radix)
    if output_format == "json":
        click.echo(json.dumps({"algorithms": rows}, indent=1, ensure_ascii=False))
    else:
        from lightloom.tables.registry import algorithms_table

        click.echo(algorithms_table(rows))
