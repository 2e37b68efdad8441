"""Traffic through SimGrid, as flows that share links max-min fairly."""

from __future__ import annotations

import json
import math
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tests.peers.build import simgrid_driver
from tests.peers.traffic import Pair, StepTraffic, Traffic

# SimGrid resolves a billionth of its unit of time and takes whole units of work: both are made small here.
UNITS_PER_S = 1e6
WORK_PER_BYTE = 1024
PROPAGATIONS = ("first", "last")
TIMEOUT_S = 600
# Equal flows that a transfer is cut into.
MOST_PIECES = 64


@dataclass(frozen=True)
class FlowRun:
    """When each step ended, in seconds from the start, and SimGrid's version."""

    ends_s: tuple[float, ...]
    version: str

    @property
    def total_s(self) -> float:
        return self.ends_s[-1]


def run_simgrid(traffic: Traffic, *, propagation: str = "first") -> FlowRun:
    """The whole plan in one run of SimGrid. Packets play no part.

    propagation: whether a flow's bytes take their shares of the links after its propagation (SimGrid's own model) or
        before it.

    Raises `PeerAbsentError` where there is no SimGrid.
    """
    text = "\n".join(_lines(traffic, PROPAGATIONS.index(propagation)))
    command = [str(simgrid_driver()), "--log=root.thresh:warning"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    return FlowRun(tuple(end / UNITS_PER_S for end in result["ends"]), result["version"])


def _pieces(step: StepTraffic) -> list[int]:
    """Into how many equal flows each is cut, so that transfers, and not paths, have equal shares of a link.

    SimGrid treats flows alike: a transfer of one path is as many flows as one of two paths. Shares that make too many
    are left as they are.
    """
    shares = [Fraction(flow.share).limit_denominator(MOST_PIECES) for flow in step.fluid]
    common = math.lcm(*(share.denominator for share in shares))
    if common > MOST_PIECES:
        return [1] * len(shares)
    return [max(1, round(share * common)) for share in shares]


def _lines(traffic: Traffic, propagation: int) -> Iterator[str]:
    """The input of simgrid_driver.cc: `count` parallel circuits are one link of this many times the bandwidth."""
    numbers: dict[tuple[Pair, int], int] = {}
    steps: list[str] = []
    for step in traffic.steps:
        counts = Counter((circuit.src, circuit.dst) for circuit in step.circuits)
        pieces = [(flow, count) for flow, count in zip(step.fluid, _pieces(step), strict=True) for _ in range(count)]
        steps.append(f"{(step.dark_s + step.startup_s) * UNITS_PER_S!r} {len(pieces)}")
        for flow, count in pieces:
            hops = list(pairwise(flow.nodes))
            links = [numbers.setdefault((hop, counts[hop]), len(numbers)) for hop in hops]
            propagation_units = traffic.hop_delay_s * len(hops) * UNITS_PER_S
            work = round(flow.size_bytes * WORK_PER_BYTE / count)
            steps.append(f"{work} {propagation_units!r} {len(links)} {' '.join(map(str, links))}")
    rate = traffic.bandwidth_bps / 8 * WORK_PER_BYTE / UNITS_PER_S
    yield f"{propagation} {len(numbers)}"
    yield from (repr(rate * count) for _, count in numbers)
    yield str(len(traffic.steps))
    yield from steps
