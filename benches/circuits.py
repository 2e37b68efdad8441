"""The ports of switches that change under plans of the benchmarks: writes the tables of docs/circuits.md.

    python benches/circuits.py [--every 3]

Every third size and every third delay of each series of `lightloom list benchmarks` is planned, by HARVEST and by
weave; the circuits of each plan are put on a crossbar and, where GPUs have several ports, on a switch for each port.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING

import lightloom as ll
from lightloom.sweeps.benchmarks import all_benchmarks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lightloom.sweeps.benchmarks import Benchmark

PAGE = Path(__file__).parent.parent / "docs" / "circuits.md"
PLANNERS = ("harvest", "weave")
KINDS = ("crossbar", "parallel")


@dataclass(frozen=True)
class Placed:
    """The circuits of one plan on one kind of switches."""

    benchmark: str
    planner: str
    kind: str
    configurations: int
    still: float
    changed: float
    connects: int
    least_connects: int
    planned_s: float
    charged_s: float
    seconds: float


def plans_of(benchmark: Benchmark, planner: str, every: int) -> Iterator[ll.Plan]:
    """The plans of every this many sizes and delays of each series; a series that the planner refuses has none."""
    for series in benchmark.series:
        for size in series.sizes[every // 2 :: every]:
            for delay in series.delays[every // 2 :: every]:
                fabric = replace(series.fabric, reconfiguration_delay=delay)
                try:
                    yield ll.plan(series.collective, size, fabric=fabric, convention=series.convention, planner=planner)
                except ll.InputError:
                    break


def placed(benchmark: str, planner: str, kind: str, plan: ll.Plan) -> Placed:
    """The plan's circuits on switches of this kind."""
    start_s = time.perf_counter()
    circuits = ll.circuits(plan, kind)
    seconds = time.perf_counter() - start_s
    held = circuits.configurations
    lit = sum(len(switch.connections) for one in held[1:] for switch in one.switches)
    return Placed(
        benchmark=benchmark,
        planner=planner,
        kind=kind,
        configurations=len(held),
        still=circuits.still_ports / max(circuits.lit_ports, 1),
        changed=circuits.connects / max(lit, 1),
        connects=circuits.connects,
        least_connects=circuits.least_connects or 0,
        planned_s=sum(step.reconfiguration_s for step in plan.steps),
        charged_s=circuits.charged_s or 0.0,
        seconds=seconds,
    )


def rows_of(found: list[Placed]) -> Iterator[tuple[str, ...]]:
    """A row for each benchmark, planner and kind."""
    for key in dict.fromkeys((one.benchmark, one.planner, one.kind) for one in found):
        group = [one for one in found if (one.benchmark, one.planner, one.kind) == key]
        changing = [one for one in group if one.configurations > 1]
        told = ["-"] * 4
        if changing:
            proved = sum(one.connects == one.least_connects for one in changing)
            told = [
                f"{median(one.configurations for one in changing):g}",
                f"{fmean(one.still for one in changing):.1%}",
                f"{fmean(one.changed for one in changing):.1%}",
                f"{proved} of {len(changing)}",
            ]
        yield (*key, str(len(group)), str(len(group) - len(changing)), *told)


def regular(seed: int, gpus: int, ports: int) -> ll.Topology:
    """A random topology of this many rings through all GPUs."""
    drawn = random.Random(seed)  # noqa: S311
    links: Counter[tuple[int, int]] = Counter()
    for _ in range(ports):
        order = drawn.sample(range(gpus), gpus)
        links.update((order[place - 1], order[place]) for place in range(gpus))
    return ll.Topology.from_links(f"drawn {seed}", gpus, [(src, dst, count) for (src, dst), count in links.items()])


def speed_rows() -> Iterator[tuple[str, ...]]:
    """Times of plans over random topologies, which have nothing in common that would make them easy."""
    for gpus, ports, topologies in ((64, 1, 12), (64, 4, 12), (1024, 1, 20), (1024, 2, 20), (1024, 4, 20)):
        plan = ll.plan(
            "all-reduce",
            "1GiB",
            fabric=ll.Fabric(gpus=gpus, ports=ports, reconfiguration_delay="1ns"),
            algorithm="recursive-doubling",
            planner="harvest",
            candidates=[regular(seed, gpus, ports) for seed in range(topologies)],
            routing="single-path",
        )
        for kind in KINDS if ports > 1 else KINDS[:1]:
            runs = [placed("", "", kind, plan) for _ in range(5)]
            one = runs[0]
            gap = "proved" if one.connects == one.least_connects else f"{one.connects / one.least_connects - 1:.2%}"
            times = f"{1e3 * median(run.seconds for run in runs):.1f} ms"
            yield (f"{gpus} × {ports}", kind, str(one.configurations), times, str(one.connects), gap)


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table whose numbers are aligned to the right."""
    lines = [header, tuple("---:" if name in RIGHT else "---" for name in header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


RIGHT = {
    "plans",
    "of one topology",
    "configurations",
    "never move",
    "set up",
    "fewest, proved",
    "time",
    "connects",
    "gap",
}


def main() -> None:
    """Plan, place, and write both tables into the page, between their marks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=3, help="of a series' sizes and delays")
    every = parser.parse_args().every
    found = []
    for benchmark in all_benchmarks():
        for planner in PLANNERS:
            for plan in plans_of(benchmark, planner, every):
                kinds = KINDS if plan.ports > 1 else KINDS[:1]
                found += [placed(benchmark.name, planner, kind, plan) for kind in kinds]
    moves = ("benchmark", "planner", "switches", "plans", "of one topology", "configurations", "never move", "set up")
    tables = {
        "moves": table((*moves, "fewest, proved"), rows_of(found)),
        "speed": table(("GPUs × ports", "switches", "configurations", "time", "connects", "gap"), speed_rows()),
    }
    text = PAGE.read_text("utf-8")
    for name, made in tables.items():
        marks = re.compile(f"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
        text = marks.sub(f"\n{made}\n\n", text)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
