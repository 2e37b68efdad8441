"""The grid of HARVEST's figure 5, every plan simulated packet by packet.

64 GPUs, 800 Gbit/s, start-up and hop delay 500 ns: 11 sizes, 8 reconfiguration delays, 3 collectives, 3 strategies.
Finished points are kept in the CSV file at once; interrupted at any moment, the next run goes on where it stopped.

    python benches/harvest_figure_5.py [--output FILE] [--workers N]
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import lightloom as ll

if TYPE_CHECKING:
    from collections.abc import Iterable

# Recursive doubling and All-to-All on one port; their Swing has two, a two-way ring.
COLLECTIVES = {
    "recursive doubling": ("all-reduce", "recursive-doubling", 1),
    "swing": ("all-reduce", "swing", 2),
    "all-to-all": ("all-to-all", "direct", 1),
}
SIZES = tuple(1024 * 4**power for power in range(11))
DELAYS = ("10ns", "100ns", "1us", "10us", "100us", "1ms", "10ms", "100ms")
STRATEGIES = ("harvest", "static", "bvn")
COLUMNS = ("collective", "size_bytes", "delay", "strategy", "model_s", "simulated_s", "packets", "packet_hops")


class Point(NamedTuple):
    """One bar of the grid."""

    collective: str
    size_bytes: int
    delay: str
    strategy: str


def simulated(point: Point) -> tuple[Point, float, float, int, int]:
    """The model's time and the packets' time of a point, s; packets and packet-hops."""
    collective, algorithm, ports = COLLECTIVES[point.collective]
    fabric = ll.Fabric(gpus=64, ports=ports, reconfiguration_delay=point.delay)
    topology = "ring" if point.strategy == "static" else None
    plan = ll.plan(
        collective, point.size_bytes, fabric=fabric, algorithm=algorithm, planner=point.strategy, topology=topology
    )
    run = ll.simulate(plan)
    return point, plan.total_s, run.total_s, run.packets, run.packet_hops


def finished(output: Path) -> dict[Point, list[str]]:
    """Points of an earlier run; a last line that was cut off is not one."""
    if not output.exists():
        return {}
    lines = [line for line in output.read_text().splitlines(keepends=True) if line.endswith("\n")]
    rows = list(csv.reader(lines))
    whole = [row for row in rows if len(row) == len(COLUMNS) and row[0] in COLLECTIVES]
    return {Point(row[0], int(row[1]), row[2], row[3]): row for row in whole}


def run(output: Path, workers: int) -> int:
    """Simulate what is not in `output` yet; returns how many points that were."""
    grid = [Point(*parts) for parts in itertools.product(COLLECTIVES, SIZES, DELAYS, STRATEGIES)]
    known = finished(output)
    missing = [point for point in grid if point not in known]
    output.parent.mkdir(parents=True, exist_ok=True)
    # What was cut off goes; everything else is written again, whole.
    _write(output, known.values())
    columns = (TextColumn("simulating"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with (
        output.open("a", newline="") as file,
        # A fork would copy the core's threads in whatever state they are.
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
        Progress(*columns) as progress,
    ):
        task = progress.add_task("grid", total=len(grid), completed=len(known))
        for done in as_completed([pool.submit(simulated, point) for point in missing]):
            point, *values = done.result()
            row = [str(value) for value in (*point, *values)]
            known[point] = row
            csv.writer(file).writerow(row)
            file.flush()
            progress.advance(task)
    _write(output, [known[point] for point in grid])
    return len(missing)


def _write(output: Path, rows: Iterable[list[str]]) -> None:
    temporary = output.with_name(f".{output.name}.{os.getpid()}")
    with temporary.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    temporary.replace(output)


def summary(output: Path) -> str:
    """How far packets are from the model, and the speed-ups of HARVEST in both."""
    rows = {point: (float(row[4]), float(row[5])) for point, row in finished(output).items()}
    lines = ["collective           packets over model         over static, 1 GB, 10 us     over BvN, 1 KB, 100 us"]
    for collective in COLLECTIVES:
        ratios = [packets_s / model_s for point, (model_s, packets_s) in rows.items() if point.collective == collective]

        def gain(size: int, delay: str, rival: str, collective: str = collective) -> str:
            ours = rows[Point(collective, size, delay, "harvest")]
            theirs = rows[Point(collective, size, delay, rival)]
            return f"{theirs[0] / ours[0]:6.2f}x model {theirs[1] / ours[1]:6.2f}x packets"

        lines.append(
            f"{collective:20} {min(ratios):.3f} to {max(ratios):.3f}   {gain(SIZES[-1], '10us', 'static')}   "
            f"{gain(SIZES[0], '100us', 'bvn')}"
        )
    return "\n".join(lines)


def main() -> None:
    """Run the grid and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("out/harvest_figure_5.csv"))
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    began = time.monotonic()
    count = run(arguments.output, arguments.workers)
    print(f"{count} points simulated in {time.monotonic() - began:.1f} s, all of them in {arguments.output}")
    print(summary(arguments.output))


if __name__ == "__main__":
    main()
