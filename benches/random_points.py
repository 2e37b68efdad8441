"""Gaps and seconds of the best plans at random points; every point is kept, so that two versions can be compared.

python benches/random_points.py --kept FILE [--before FILE] [--points 625] [--seed 1]

The points have 6 to 1024 GPUs, 1 to 8 ports, 4 KiB to 1 GiB, no delay or one of up to 10 ms, and start free, on a ring
or on a torus; the collectives take turns. Points that FILE has are not planned again. With --before, every point at
which the plan of that file was faster is printed, and the exit code is 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.progress import track

import lightloom as ll

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COLLECTIVES = ("all-reduce", "broadcast", "all-to-all", "all-gather", "reduce-scatter")
STARTS = ("free", "ring", "torus")
# Above this part of a plan's time a later one is slower, not rounded otherwise.
ROUNDING = 1 + 1e-9

Row = dict[str, Any]


def points(number: int, seed: int) -> Iterator[Row]:
    """The points in order; the first of more points are those of fewer."""
    drawn = np.random.default_rng(seed)
    for index in range(number):
        start = STARTS[int(drawn.integers(3))]
        ports = int(drawn.integers(1, 9))
        gpus = round(math.exp(drawn.uniform(math.log(6), math.log(1024))))
        size = round(math.exp(drawn.uniform(math.log(1 << 12), math.log(1 << 30))))
        delay = float(f"{10 ** drawn.uniform(-7, -2):.3g}") if drawn.random() < 0.9 else 0.0
        dims = ""
        if start == "torus":
            sides = [side for side in range(2, math.isqrt(gpus) + 1) if gpus % side == 0]
            # A torus of two dimensions has as many GPUs as the nearest product of two sides, and two ports at least.
            side = sides[-1] if sides else 2
            gpus, ports = side * (gpus // side), max(ports, 2)
            dims = f"{side}x{gpus // side}"
        yield {
            "collective": COLLECTIVES[index % len(COLLECTIVES)],
            "gpus": gpus,
            "dims": dims,
            "ports": ports,
            "size_bytes": size,
            "delay_s": delay,
            "initial": start,
        }


def planned(point: Row) -> Row:
    """The point with its plan's time, its bound and the seconds that planning took."""
    fabric = ll.Fabric(
        gpus=point["gpus"],
        ports=point["ports"],
        reconfiguration_delay=point["delay_s"],
        initial=point["initial"],
        dims=point["dims"] or None,
    )
    began = time.perf_counter()
    plan = ll.plan(point["collective"], point["size_bytes"], fabric=fabric)
    return point | {
        "planner": plan.planner,
        "algorithm": plan.algorithm,
        "total_s": plan.total_s,
        "gap": plan.gap,
        "took_s": round(time.perf_counter() - began, 3),
    }


def key(row: Row) -> str:
    """What tells points apart."""
    return json.dumps({name: row[name] for name in ("collective", "gpus", "dims", "ports", "size_bytes")} | starts(row))


def starts(row: Row) -> Row:
    """The start and the reconfiguration delay."""
    return {name: row[name] for name in ("delay_s", "initial")}


def kept(path: Path) -> dict[str, Row]:
    """The rows of a file, by point; none where there is no such file."""
    if not path.exists():
        return {}
    return {key(row): row for row in map(json.loads, path.read_text().splitlines())}


def table(rows: Sequence[Row]) -> str:
    """Geometric means and counts by collective."""
    lines = [
        "| collective | points | mean gap | above 1.5 | above 2 | largest |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for collective in (*COLLECTIVES, "all"):
        gaps = np.array([row["gap"] for row in rows if collective in (row["collective"], "all")])
        if len(gaps):
            mean = math.exp(float(np.log(gaps).mean()))
            counts = f"{(gaps > 1.5).sum()} | {(gaps > 2).sum()} | {gaps.max():.2f}"
            lines.append(f"| {collective} | {len(gaps)} | {mean:.3f} | {counts} |")
    return "\n".join(lines)


def main() -> int:
    """Plan the points that are not kept, print the table, and the points that are slower than before."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, required=True, help="JSON lines, a line a point")
    parser.add_argument("--before", type=Path, help="JSON lines of another version")
    parser.add_argument("--points", type=int, default=625)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rows = kept(given.kept)
    with given.kept.open("a") as file:
        for point in track(list(points(given.points, given.seed)), "points"):
            if key(point) not in rows:
                rows[key(point)] = planned(point)
                file.write(json.dumps(rows[key(point)]) + "\n")
                file.flush()
    asked = [rows[key(point)] for point in points(given.points, given.seed)]
    print(table(asked))
    before = kept(given.before) if given.before else {}
    slower = [row for row in asked if key(row) in before and row["total_s"] > before[key(row)]["total_s"] * ROUNDING]
    for row in slower:
        print(f"slower: {before[key(row)]['total_s']:.6g} → {json.dumps(row)}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
