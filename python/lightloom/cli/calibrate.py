"""The verb `calibrate`."""

from __future__ import annotations

from typing import Any

import click

from lightloom.cli.options import FORMAT_OPTION
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import with_progress


@click.command("calibrate", short_help="Fit a fabric to measured times.")
@click.argument("measurements", metavar="MEASUREMENTS")
@click.option(
    "--errors",
    metavar="relative|robust|absolute",
    default="relative",
    show_default=True,
    help="What is least: squares of measured over fitted time; the same, rows far off counting less; squares of "
    "seconds, in which the largest sizes decide alone.",
)
@click.option("--confidence", type=float, metavar="P", default=0.95, show_default=True, help="Of the intervals.")
@click.option(
    "--hop-delay", metavar="TIME", help="Delay of a hop where it is known.  [default: fitted where the rows tell, or 0]"
)
@click.option(
    "--collective", metavar="NAME", help="What was run, where no column says it; goes with --algorithm and --gpus."
)
@click.option(
    "--algorithm", metavar="NAME", help="By which algorithm; steps, hops and bytes on the wire follow from it."
)
@click.option("--gpus", metavar="N", help="How many ran it.")
@click.option("--dims", metavar="AxBxC", help="Grid of the GPUs.")
@click.option("--ports", metavar="N", help="Circuits in and out of one GPU.  [default: 1]")
@click.option("--topology", metavar="NAME", help="On which topology: of `lightloom list topologies`.  [default: ring]")
@click.option(
    "--routing",
    metavar="single-path|equal-split",
    default="single-path",
    show_default=True,
    help="One shortest path a transfer, or all of them evenly.",
)
@click.option("--output", metavar="FILE", help="Also write a fabric file, a .toml that --fabric takes.")
@click.option("--plot", metavar="FILE", help="Also draw the measured times and the fit: a .png, .pdf or .svg.")
@FORMAT_OPTION
def command(measurements: str, output: str | None, plot: str | None, output_format: str, **settings: Any) -> None:
    """Fit start-up latency, bandwidth and hop delay to the measured times in a CSV file, MEASUREMENTS.

    \b
    Its header has size_bytes (or size: bytes, or text such as 64MiB) and one of time_s, time_ms, time_us, time_ns or
    time (text such as 35us). A row is one transfer over one hop, unless columns say otherwise:
      steps, hops, wire_bytes   steps; hops summed over them (else as many); bytes on the busiest link, summed (else
                                the size)
      collective, algorithm, gpus, topology, ports, dims
                                what was run: steps, hops and wire_bytes follow from it
    A size may have several rows. Lines that start with # are skipped.

    \b
    The model is  time = start-up * steps + hop delay * hops + 8 / bandwidth * wire_bytes.  Squares of relative errors
    are least by default: start-ups are microseconds and large transfers take milliseconds, so that in squares of
    seconds the noise of the largest size outweighs every start-up.

    \b
    Examples:
      lightloom calibrate examples/single_hop_times.csv
      lightloom calibrate examples/single_hop_times.csv --hop-delay 500ns --output testbed.toml --plot fit.png
      lightloom plan --collective all-reduce --size 1MiB --gpus 8 --fabric testbed.toml
    """  # noqa: D301
    from lightloom.calibration import calibrate
    from lightloom.views.tables.calibration import calibration_table

    if output is not None:
        _check_fabric_path(output)
    if plot is not None:
        from lightloom.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    calibration = with_progress("calibrating", lambda: calibrate(measurements, **settings))
    if output is not None:
        calibration.save_fabric(output)
    if plot is not None:
        calibration.plot(plot)
    click.echo(calibration.to_json() if output_format == "json" else calibration_table(calibration))


def _check_fabric_path(path: str) -> None:
    from lightloom.errors import refuse

    if not path.endswith(".toml"):
        raise refuse("output", f"`{path}` is not accepted; it takes a file that ends in .toml, as --fabric does")
