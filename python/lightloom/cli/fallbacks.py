"""The verb `fallbacks`."""

from __future__ import annotations

import click

from lightloom.base.errors import refuse
from lightloom.cli.faults import fallbacks_text
from lightloom.cli.options import verb
from lightloom.cli.outputs import check_outputs
from lightloom.views.documents import plan_document
from lightloom.views.rows import as_csv


@verb("fallbacks")
@click.argument("fallbacks", metavar="FILE", type=click.Path())
def command(fallbacks: str, failed: str | None, output: str | None, output_format: str) -> None:
    """Look up the plan for a fault in a FILE of plans for every single fault.

    The FILE is one of `plan --failed any-port` and the like. The plan that is found is judged before it is shown.
    Without --failed, what the file holds: kinds of faults, times, and faults that have no plan.

    \b
    Examples:
      lightloom plan --collective all-reduce --size 1MiB --gpus 8 --ports 2 --failed any-port --output fallbacks.json
      lightloom fallbacks fallbacks.json --failed port:3.1 --output plan.json
    """  # noqa: D301
    from lightloom.faults.fallbacks import Fallbacks

    if output is not None and failed is None:
        raise refuse("output", "it is the file of one plan; it goes with --failed, such as --failed port:3.1")
    check_outputs()
    found = Fallbacks.load(fallbacks)
    if failed is None:
        click.echo(fallbacks_text(found, output_format))
        return
    plan = found.plan(failed)
    if output is not None:
        plan.save(output)
    if output_format == "json":
        click.echo(plan_document(plan, None))
    elif output_format == "csv":
        click.echo(as_csv(plan.to_columns()))
    else:
        from lightloom.views.tables.plan import plan_table

        click.echo(plan_table(plan, []))
