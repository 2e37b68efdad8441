"""Pairs of problems that are nearly the same, and the ratio of their plans' times; prints a table.

python benches/cliffs.py [--most 2100]

The second of a pair has a few GPUs more, another collective that is as hard, or a larger buffer. Pairs with more than
--most GPUs are left out.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import lightloom as ll

SMALL = "4KiB"


class Problem(NamedTuple):
    """A collective on a fabric that starts free, or on the torus of `dims`, and then stays."""

    collective: str
    gpus: int
    ports: int
    size: str = SMALL
    dims: str = ""

    def __str__(self) -> str:
        return f"{self.collective}, {self.dims or self.gpus} GPUs, {self.ports} ports, {self.size}"

    def plan(self) -> ll.Plan:
        initial, dims = ("torus", self.dims) if self.dims else ("free", None)
        delay = "1ms" if self.dims else "100us"
        fabric = ll.Fabric(gpus=self.gpus, ports=self.ports, dims=dims, initial=initial, reconfiguration_delay=delay)
        return ll.plan(self.collective, self.size, fabric=fabric)


PAIRS = (
    (Problem("all-reduce", 512, 4, dims="32x16"), Problem("all-reduce", 528, 4, dims="24x22")),
    (Problem("all-reduce", 96, 2), Problem("all-reduce", 97, 2)),
    (Problem("all-reduce", 128, 2), Problem("all-reduce", 131, 2)),
    (Problem("all-reduce", 529, 2, "64KiB"), Problem("all-reduce", 529, 2, "128KiB")),
    (Problem("all-reduce", 512, 4), Problem("all-reduce", 521, 4)),
    (Problem("all-reduce", 1024, 4), Problem("all-reduce", 1031, 4)),
    (Problem("all-reduce", 2052, 2), Problem("all-reduce", 2053, 2)),
    (Problem("all-gather", 512, 2), Problem("all-gather", 521, 2)),
    (Problem("all-gather", 2052, 2), Problem("all-gather", 2053, 2)),
    (Problem("all-gather", 4096, 2), Problem("all-gather", 3547, 2)),
    (Problem("all-gather", 16_384, 4), Problem("reduce-scatter", 16_384, 4)),
    (Problem("all-to-all", 512, 2, "64KiB"), Problem("all-to-all", 521, 2, "64KiB")),
    (Problem("all-to-all", 768, 2, "64KiB"), Problem("all-to-all", 840, 2, "64KiB")),
    (Problem("all-to-all", 1024, 2, "64KiB"), Problem("all-to-all", 1000, 2, "64KiB")),
    (Problem("broadcast", 64, 4, "1MiB"), Problem("broadcast", 67, 4, "1MiB")),
    (Problem("all-reduce", 144, 6, "2500KB"), Problem("broadcast", 144, 6, "2500KB")),
)


def main() -> None:
    """Plan both of every pair."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=2100, help="most GPUs of a pair that is planned")
    most = parser.parse_args().most
    print("| from | µs | gap | to | µs | gap | ratio |\n| --- | ---: | ---: | --- | ---: | ---: | ---: |")
    for pair in PAIRS:
        if max(problem.gpus for problem in pair) <= most:
            first, second = (problem.plan() for problem in pair)
            cells = [
                f"{one} | {plan.total_s * 1e6:.2f} | {plan.gap:.2f}"
                for one, plan in zip(pair, (first, second), strict=True)
            ]
            print(f"| {' | '.join(cells)} | {second.total_s / first.total_s:.2f} |", flush=True)


if __name__ == "__main__":
    main()
