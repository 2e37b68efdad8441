"""The verb `export`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from lightloom.base.errors import InputError
from lightloom.cli.options import verb
from lightloom.cli.progress import with_progress

if TYPE_CHECKING:
    from lightloom.formats.export import Export


@verb("export")
@click.argument("plans", metavar="PLAN...", nargs=-1, required=True, type=click.Path())
def command(
    plans: tuple[str, ...],
    to: str | None,
    output: str | None,
    output_format: str,
    sizes: str | None,
    gpus_per_host: int | None,
) -> None:
    """Write a PLAN or training iteration (JSON) in the format of another tool.

    For rccl several plans are taken, each for the sizes at which it is the fastest. For a file of `train`, the output
    is a folder: every distinct plan of its collectives in that format, and events.json, which says which groups use it
    and when; in chakra with the graph of every rank too.

    `lightloom list formats` says which formats there are, and what each of them cannot say: that goes to a side file,
    which is named. A plan that `verify` refuses is refused. Everything is written or nothing.

    \b
    Examples:
      lightloom plan --collective all-reduce --size 1MiB --gpus 8 --output plan.json
      lightloom export plan.json --to msccl-xml --output plan.xml
      lightloom export plan.json --to harvest --output plan-harvest
      lightloom export plan.json --to mscclpp --gpus-per-host 4 --sizes 64KiB:4MiB --output plan-mscclpp.json
      lightloom plan --collective all-reduce --sizes 64KiB:1MiB:16 --gpus 8 --output plans
      lightloom export plans/all-reduce-65536.json plans/all-reduce-1048576.json --to rccl --output plans-rccl
      lightloom train bert-pccl --ranks 8 --output iteration.json
      lightloom export iteration.json --to chakra --output iteration-chakra
    """  # noqa: D301
    from lightloom.formats.export import check_export_path
    from lightloom.training.exports import export

    if to is None or output is None:
        raise _refusal_of_missing(to, output)
    for plan in plans:
        check_export_path(to, output, {"plan": plan})
    made = with_progress("exporting", lambda: export(plans, to, output, sizes=sizes, gpus_per_host=gpus_per_host))
    if output_format == "json":
        click.echo(json.dumps(_as_json(made), indent=1, ensure_ascii=False))
    else:
        from lightloom.views.tables.export import export_table

        click.echo(export_table(made))


def _refusal_of_missing(to: str | None, output: str | None) -> InputError:
    missing = [name for name, value in (("to", to), ("output", output)) if value is None]
    fields = ", ".join(missing)
    example = "lightloom export plan.json --to msccl-xml --output plan.xml"
    return InputError(missing[0], f"{fields}: missing; such as: {example} (see `lightloom list formats`)")


def _as_json(made: Export) -> dict[str, Any]:
    return {
        "format": made.format,
        "files": [{"path": str(file.path), "size_bytes": file.size_bytes} for file in made.files],
        "side_file": str(made.side_file),
        "cannot_say": made.cannot_say,
        "notes": list(made.notes),
    }
