"""The verb `calibrate`."""

from __future__ import annotations

from typing import Any

import click

from lightloom.base.files import write_files
from lightloom.cli.options import given_of, verb
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import with_progress


@verb("calibrate")
@click.argument("measurements", metavar="MEASUREMENTS", type=click.Path())
def command(measurements: str, output: str | None, plot: str | None, output_format: str, **settings: Any) -> None:
    """Fit startup latency, bandwidth and hop delay to the measured times in a file, MEASUREMENTS.

    \b
    The header of a CSV file has size_bytes (or size: bytes, or text such as 64MiB) and one of time_s, time_ms, time_us,
    time_ns or time (text such as 35us). A row is one transfer over one hop, unless columns say otherwise:
      steps, hops, wire_bytes   steps; hops summed over them (else as many); bytes on the busiest link, summed (else
                                the size)
      collective, algorithm, gpus, topology, ports, dims
                                what was run: steps, hops and wire_bytes follow from it
    A size may have several rows. Lines that start with # are skipped.

    MEASUREMENTS may be what NVIDIA's nccl-tests print, too: run them with NCCL_ALGO=Ring NCCL_PROTO=Simple, and give
    --algorithm ring, since the output does not say by which algorithm NCCL sent.

    \b
    The model is  time = startup * steps + hop delay * hops + 8 / bandwidth * wire_bytes.  Squares of relative errors
    are least by default: startups are microseconds and large transfers take milliseconds, so that in squares of
    seconds the noise of the largest size outweighs every startup.

    \b
    Examples:
      lightloom calibrate examples/single_hop_times.csv
      lightloom calibrate examples/single_hop_times.csv --hop-delay 500ns --output testbed.toml --plot fit.png
      lightloom plan --collective all-reduce --size 1MiB --gpus 8 --fabric testbed.toml
      lightloom calibrate examples/nccl_tests.txt --algorithm ring
    """  # noqa: D301
    from lightloom.calibration import calibrate
    from lightloom.views.tables.calibration import calibration_table

    if output is not None:
        _check_fabric_path(output)
    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    calibration = with_progress("calibrating", lambda: calibrate(measurements, **given_of(settings)))
    # Both files are written, or neither.
    written = []
    if output is not None:
        written.append(("output", output, calibration.to_toml().encode()))
    if plot is not None:
        from lightloom.views.charts import as_bytes

        written.append(("plot", plot, as_bytes(calibration.plot(), plot[-3:].lower())))
    write_files(written)
    click.echo(calibration.to_json() if output_format == "json" else calibration_table(calibration))


def _check_fabric_path(path: str) -> None:
    from lightloom.base.errors import refuse

    if not path.endswith(".toml"):
        raise refuse("output", f"`{path}` is not accepted; it takes a file that ends in .toml, as --fabric does")
