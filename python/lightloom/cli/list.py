"""The verb `list`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from lightloom.cli.options import verb
from lightloom.errors import refuse, unknown_name
from lightloom.views.rows import rows_as_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.inputs.fabric import Fabric


class KindName(click.ParamType[str]):
    """A kind of names, which the shell completes."""

    name = "kind"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """The kinds that start so."""
        return [CompletionItem(kind) for kind in _listings() if kind.startswith(incomplete)]


@verb("list")
@click.argument("kind", required=False, type=KindName())
def command(
    kind: str | None,
    gpus: int | None,
    collective: str | None,
    dims: str | None,
    ports: int,
    radix: int | None,
    output_format: str,
) -> None:
    """List the names of a KIND, or of all kinds.

    KIND is one of algorithms, topologies, candidates, planners, collectives, routings, overlaps, conventions,
    technologies, workloads, optics, drivers, fabrics, models, policies, benchmarks, formats, and figures where
    lightloom-papers is installed.

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
        _show_algorithms(fabric, collective, radix, output_format)
        return
    shown = everything(kind)
    if output_format == "json":
        click.echo(json.dumps(shown, indent=1, ensure_ascii=False))
    elif output_format == "csv":
        click.echo(rows_as_csv({"kind": name, **entry} for name, entries in shown.items() for entry in entries))
    else:
        from lightloom._core import topology_names
        from lightloom.views.tables.registry import registry_table

        for name, entries in shown.items():
            click.echo(registry_table(name, entries, topology_names() if name == "topologies" else ()))


def everything(kind: str | None = None) -> dict[str, list[dict[str, str]]]:
    """The names of a kind that the command line takes, or of every kind, by kind.

    Without a kind, what another distribution brings and does not load is left out, and standard error says so. Raises
    `InputError` that names `kind`, and `PluginError` where the names of the kind that is asked for do not load.
    """
    from lightloom import plugins

    names = _listings()
    if kind is not None:
        if kind not in names:
            raise plugins.elsewhere("kind", kind) or unknown_name("kind", kind, names)
        return {kind: names[kind]()}
    found = {}
    for name, listed in names.items():
        try:
            found[name] = listed()
        except plugins.PluginError as error:
            click.echo(f"warning: {error}", err=True)
    return found


def _listings() -> dict[str, Callable[[], list[dict[str, str]]]]:
    """What lists the names of a kind, by kind; nothing of another distribution is imported for it."""
    from lightloom import _core, plugins

    # Each imports what it lists, and no other kind does.
    def benchmarks() -> list[dict[str, str]]:
        from lightloom.benchmarks import all_benchmarks

        return [{"name": one.name, "summary": one.summary, "source": one.source} for one in all_benchmarks()]

    def policies() -> list[dict[str, str]]:
        found = _core.training_policies()
        return [{"name": name, "summary": summary} for name, summary, can_be_chosen in found if can_be_chosen]

    def drivers() -> list[dict[str, str]]:
        from lightloom.switches.registry import driver_rows

        return driver_rows()

    def fabrics() -> list[dict[str, str]]:
        from lightloom.inputs.fabric import presets

        return presets()

    def formats() -> list[dict[str, str]]:
        from lightloom.formats import format_rows

        return format_rows()

    def models() -> list[dict[str, str]]:
        from lightloom.inputs.workloads.model import summaries

        return summaries()

    names: dict[str, Callable[[], list[dict[str, str]]]] = {
        **{own: lambda entries=entries: entries for own, entries in _core.registry().items()},  # type: ignore[misc]
        "drivers": drivers,
        "fabrics": fabrics,
        "models": models,
        "policies": policies,
        "benchmarks": benchmarks,
        "formats": formats,
    }
    for name, entry in plugins.brought(plugins.NAMES).items():
        names.setdefault(name, lambda entry=entry: plugins.names_of(entry))  # type: ignore[misc]
    return names


def _show_algorithms(fabric: Fabric, collective: str | None, radix: int | None, output_format: str) -> None:
    from lightloom import _core
    from lightloom.inputs.validation import WHOLE_RANGES, whole_number

    sized = fabric.sized()
    base = None if radix is None else whole_number("radix", radix, *WHOLE_RANGES["radix"])
    rows = _core.algorithm_table(
        collective, whole_number("gpus", sized.gpus, *WHOLE_RANGES["gpus"]), sized.dimensions, sized.ports, base
    )
    if output_format == "json":
        click.echo(json.dumps({"algorithms": rows}, indent=1, ensure_ascii=False))
    elif output_format == "csv":
        click.echo(rows_as_csv(rows))
    else:
        from lightloom.views.tables.registry import algorithms_table

        click.echo(algorithms_table(rows))
