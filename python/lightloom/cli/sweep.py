"""The verb `sweep`."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import click

from lightloom.base.errors import printable
from lightloom.cli.options import verb
from lightloom.cli.progress import progress_bar, with_progress
from lightloom.views.rows import as_csv


@verb("sweep")
@click.argument("description", metavar="DESCRIPTION", type=click.Path())
def command(
    description: str,
    engine: str | None,
    output: str | None,
    workers: int | None,
    scheduler: str | None,
    restart: bool,
    plot: str,
    output_format: str,
) -> None:
    """Evaluate every combination of some options' values, as a DESCRIPTION (TOML) says.

    The table goes to FOLDER/NAME.parquet, a row a point, pictures next to it. A run that was stopped goes on from what
    it finished when it is run again.

    \b
    A description:
      baseline = ["static", "bvn"]
      [settings]
      collective = "all-reduce"
      dims = "4x4x4"
      ports = 6
      algorithm = "swing"
      planner = "harvest"
      [axes]
      size = { from = "1KiB", to = "1GiB", count = 31 }
      reconfiguration-delay = { from = "10ns", to = "10ms", count = 31 }

    \b
    Examples:
      lightloom sweep examples/sweeps/when-to-reconfigure.toml
      lightloom sweep examples/sweeps/packets.toml --workers 2 --plot svg --format json
    """  # noqa: D301
    from lightloom.sweeps.description import SweepDescription
    from lightloom.sweeps.run import sweep
    from lightloom.views.pictures.sweep import plot_sweep
    from lightloom.views.tables.sweep import sweep_summary, sweep_table

    made = SweepDescription.load(description, engine)
    folder = Path("out/sweeps") / made.name if output is None else Path(output)
    try:
        with progress_bar(f"sweep {made.name}", made.points) as show:
            result = with_progress(
                None,
                lambda: sweep(
                    made,
                    output=folder,
                    workers=workers,
                    scheduler=scheduler,
                    restart=restart,
                    advance=partial(show, made.engine),
                ),
            )
    except KeyboardInterrupt:
        said = printable(f"interrupted: finished points are kept in {folder}; run the same command again to continue")
        # A terminal shows the keys of an interrupt on the line that it is on.
        click.echo(f"\n{said}" if sys.stderr.isatty() else said, err=True)
        raise click.Abort from None
    assert result.path is not None  # noqa: S101 (a folder was named)
    files = [result.path, *with_progress("drawing", lambda: plot_sweep(result, folder, f".{plot}"))]
    if output_format == "json":
        click.echo(json.dumps({**sweep_summary(result), "files": [str(file) for file in files]}, indent=1))
    elif output_format == "csv":
        click.echo(as_csv(result.to_columns()))
    else:
        click.echo(sweep_table(result, files))
