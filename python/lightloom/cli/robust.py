"""The verb `robust`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lightloom.base.errors import refuse
from lightloom.cli.options import given_of, verb
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import Status, with_progress
from lightloom.cli.units import say_tokens
from lightloom.inputs.options import FABRIC_KEYS
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from lightloom import RobustPlan


@verb("robust")
def command(
    matrices: str | None,
    size: str | None,
    objective: str | None,
    iterations: int | None,
    drift: float | None,
    seed: int | None,
    hold_out: float | None,
    output: str | None,
    plot: str | None,
    output_format: str,
    **options: Any,
) -> None:
    """Plan an unequal All-to-All once for many iterations, such as the dispatch of tokens to experts.

    One plan is made for all matrices: circuits of every step, and for every pair the paths and shares of its bytes, for
    any bytes. The table compares it with a plan that knows nothing (uniform), one made anew from the iteration before
    (previous), and one made anew for every iteration as if it were known beforehand (each). Regret is the time less
    that of the last one.

    --hold-out judges the plan by iterations that it was made without.

    With --initial repeated, changes of circuits between iterations are charged, too.

    \b
    Examples:
      lightloom robust --matrices zipf:0.6 --iterations 8 --drift 0.2 --size 1MiB/pair --gpus 8 --ports 2
      lightloom robust --matrices zipf:0.6 --iterations 12 --hold-out 0.25 --size 1MiB/pair --gpus 8 --ports 2
      lightloom robust --matrices hot-experts --size 64MiB --gpus 8 --objective worst --initial repeated --plot a.png
    """  # noqa: D301
    import lightloom as ll

    if matrices is None:
        raise refuse("matrices", "missing; give --matrices FOLDER|FILE|NAME, such as --matrices zipf:0.6")
    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    given = given_of(options)
    overrides = {name: given[name] for name in FABRIC_KEYS if name in given}
    fabric = ll.Fabric.load(given.get("fabric", "default"), **overrides)
    say_tokens("matrices", matrices, size)
    status = Status()
    found = with_progress(
        "planning",
        lambda: ll.robust(
            matrices,
            size,
            fabric=fabric,
            objective=objective or "expected",
            iterations=iterations,
            drift=drift,
            seed=seed,
            hold_out=hold_out,
            report=status.say,
        ),
        status,
    )
    if output is not None:
        found.plan.save(output)
    if plot is not None:
        with_progress("drawing", lambda: found.plot(plot))
    click.echo(_text(found, output_format))


def _text(found: RobustPlan, output_format: str) -> str:
    """The text that is printed."""
    if output_format == "json":
        return found.to_json()
    if output_format == "csv":
        return as_csv(found.to_columns())
    from lightloom.views.tables.robust import robust_table

    return robust_table(found)
