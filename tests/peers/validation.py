"""Writes docs/validation.md: python -m tests.peers.validation [--full] [--output FILE]."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import lightloom as ll
from lightloom.base.files import write_bytes
from tests.peers.build import ROOT, PeerAbsentError, ns3_version
from tests.peers.cases import CLOSED, EQUAL, FLOW_SETTINGS, OPEN, PACED, TIED, UNEQUAL, Case
from tests.peers.flow_peer import run_simgrid
from tests.peers.packet_peer import run_ns3
from tests.peers.verdicts import flow_verdict, packet_verdict

COMMAND = "python -m tests.peers.validation"
PAGE = ROOT / "docs" / "validation.md"
CLOSED_SHOWN = [case for case in CLOSED if case.gpus in {16, 64} and case.fabric.get("hop_delay") != "50ns"]
PACED_SHOWN = [case for case in PACED if case.gpus in {16, 64} and case.fabric.get("hop_delay") != "50ns"]
CASE_COLUMNS = ["collective", "algorithm", "n", "topology", "size", "settings"]


def main(arguments: list[str] | None = None) -> int:
    """Run every case and write the page, whole or not at all."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Compares our simulators with ns-3 and SimGrid.")
    parser.add_argument("--full", action="store_true", help="measure ns-3's speed on 64 MiB instead of 4 MiB")
    parser.add_argument("--output", type=Path, default=PAGE, help="the page (default: docs/validation.md)")
    chosen = parser.parse_args(arguments)
    try:
        text = page(full=chosen.full)
    except PeerAbsentError as absent:
        sys.stderr.write(f"error: {absent}\n")
        return 2
    write_bytes("output", chosen.output, text.encode())
    return 0


def page(*, full: bool) -> str:
    """The whole page. Raises `PeerAbsentError` where a peer is missing."""
    version = run_simgrid(CLOSED[0].traffic).version
    return "\n".join(
        [
            "# Validation",
            "",
            f"Written by `{COMMAND}{' --full' if full else ''}`, with Lightloom {ll.__version__}, ns-3 (PyPI wheel",
            f"{ns3_version()}) and SimGrid {version}. `make test-peers` asserts what is shown here, on more cases.",
            "",
            "*plan* is the plan's additive cost, headers not counted; *ours* is `lightloom.simulate`.",
            "",
            "## Packets: ns-3",
            "",
            "Raw packets on point-to-point devices, first in first out, store and forward, the whole collective in one",
            "run with a barrier after every step. The closed form of a step is startup +",
            "max(h·W + δ, W + h·δ + (h - 1)·p), with h hops, W the wire time of a message, p that of a packet; it",
            "holds for bursts where all ranks send the same distance on one-way rings.",
            "",
            *_table([*CASE_COLUMNS, "plan", "ours", "ns-3", "difference", "verdict"], _packet_rows()),
            "",
            "## Flows: SimGrid",
            "",
            "Model CM02 without cross-traffic: max-min fair shares of the links. A flow's propagation comes before its",
            "bytes (*first*, as SimGrid has it) or after them (*last*).",
            "",
            *_table([*CASE_COLUMNS, "plan", "ours", "SimGrid first", "SimGrid last", "verdict"], _flow_rows()),
            "",
            "## Speed",
            "",
            *_speed("64MiB" if full else "4MiB"),
            "",
        ]
    )


def _packet_rows() -> Iterator[list[str]]:
    for case in [*CLOSED_SHOWN, *PACED_SHOWN, *OPEN, *TIED]:
        run = run_ns3(case.traffic, header=case.header, injection=case.injection)
        ours_s = ll.simulate(case.plan, **case.packet_settings).total_s
        verdict = packet_verdict(case, run, ours_s).words
        difference = f"{(ours_s / run.total_s - 1):+.3%}"
        yield [*_about(case), _us(case.plan.total_s), _us(ours_s), _us(run.total_s), difference, verdict]


def _flow_rows() -> Iterator[list[str]]:
    for case in [*CLOSED_SHOWN, *EQUAL, *UNEQUAL]:
        first, last = (run_simgrid(case.traffic, propagation=which).total_s for which in ("first", "last"))
        ours_s = ll.simulate(case.plan, **FLOW_SETTINGS).total_s
        verdicts = {which: flow_verdict(peer, ours_s) for which, peer in (("first", first), ("last", last))}
        agreeing = [which for which, verdict in verdicts.items() if verdict.agrees]
        verdict = f"ours agrees with {' and '.join(agreeing)}, {verdicts[agreeing[0]].words}" if agreeing else ""
        if not agreeing:
            verdict = f"ours is {(ours_s / first - 1):+.2%} of first, {(ours_s / last - 1):+.2%} of last"
        yield [*_about(case)[:-1], case.fabric_settings, *map(_us, (case.plan.total_s, ours_s, first, last)), verdict]


def _speed(size: str) -> list[str]:
    case = Case(collective="all-reduce", algorithm="recursive-doubling", gpus=64, size=size, topology="ring:one-way")
    run = run_ns3(case.traffic, header=0)
    times_s = []
    for _ in range(5):
        began_s = time.process_time()
        ours = ll.simulate(case.plan, symmetry="full")
        times_s.append(time.process_time() - began_s)
    speed = ours.packet_hops / median(times_s)
    return [
        f"Recursive doubling AllReduce of {size} on 64 GPUs in a one-way ring, packets of 4096 B, every GPU simulated,",
        "in processor time of the machine that wrote this page:",
        "",
        f"- ns-3: {run.packet_hops:,} packet-hops in {run.cpu_s:.2f} s, {run.packet_hops_per_s / 1e6:.2f} million/s;",
        f"- ours: {ours.packet_hops:,} in {median(times_s) * 1e3:.1f} ms, {speed / 1e6:.0f} million/s, "
        f"{speed / run.packet_hops_per_s:,.0f} times as many.",
    ]


def _about(case: Case) -> list[str]:
    topology = case.topology or f"chosen by {case.planner}"
    return [case.collective, case.algorithm, str(case.gpus), topology, case.size, case.settings]


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.4f} µs"


def _table(header: list[str], rows: Iterator[list[str]]) -> Iterator[str]:
    for cells in (header, ["---"] * len(header), *rows):
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
