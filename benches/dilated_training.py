"""Iterations of PyTorch jobs on a dilated fabric: what they took, over what `train` predicts from their traces.

    python -m benches.dilated_training      # where PyTorch is installed: .venv-torch/bin/python after make test-torch

Two small models train by DistributedDataParallel, twice each. Every iteration of a trace is planned on the fabric whose
times are as long as the job's, and the time that it took is held against that. A row is inconclusive where the machine
was not steady: iterations of a run spread, or its two runs differ, by more than `STEADY`.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import lightloom as ll
from tests.torch.launch import check_all_well, ranks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

FABRIC, DILATION, RATE_GBPS, DELAY_US = "default", 20000, 800, {"startup": 0.5, "hop_delay": 0.5}
RECONFIGURATION_US = {"default": 10.0}
MODELS, RANKS, ITERATIONS, RUNS = ("transformer", "convolutional"), (2, 4), 8, 1
STEADY = 0.05


class Iteration(NamedTuple):
    """An iteration of a job: what it took and what was predicted of it, s."""

    measured_s: float
    predicted_s: float


def slowed(ranks: int) -> ll.Fabric:
    """The fabric, its times as many times as long as the job's."""
    fabric = ll.Fabric.load(FABRIC, gpus=ranks)
    return ll.Fabric.load(
        FABRIC,
        gpus=ranks,
        bandwidth=f"{fabric.bandwidth_bps / DILATION}bps",
        startup=f"{fabric.startup_s * DILATION}s",
        hop_delay=f"{fabric.hop_delay_s * DILATION}s",
        reconfiguration_delay="200ms",
    )


def ends_us(path: Path) -> dict[int, float]:
    """When each iteration of a rank's trace ended, by its number; 0 is what came before the first."""
    found: dict[int, float] = {}
    for event in json.loads(path.read_text())["traceEvents"]:
        number = event["name"].removeprefix("ProfilerStep#")
        if number != event["name"]:
            found.setdefault(int(number) - 1, event["ts"])
            found[int(number)] = event["ts"] + event["dur"]
    return found


def run(model: str, ranks: int, policy: str) -> Iterator[Iteration]:
    with tempfile.TemporaryDirectory() as folder:
        settings: dict[str, Any] = {"LIGHTLOOM_FABRIC": FABRIC, "LIGHTLOOM_DILATION": str(DILATION)}
        check_all_well(ranks_of("iterations", model, str(ITERATIONS), ranks=ranks, LIGHTLOOM_TRACE=folder, **settings))
        ends = [ends_us(path) for path in Path(folder).iterdir()]
        for number in range(2, ITERATIONS + 1):
            took = max(one[number] for one in ends) - max(one[number - 1] for one in ends)
            made = ll.train(folder, fabric=slowed(ranks), policy=policy, profile_step=number)
            if number == 2 and "-v" in sys.argv:
                print({n: v for n, v in made.policies.items()})
                for e in made.events: print(e)
            yield Iteration(took / 1e6, made.total_s)

for model in MODELS:
    for ranks in RANKS:
      for _ in range(RUNS):
        its = list(run(model, ranks, "carry"))
        m=[i.measured_s for i in its]; r=[i.measured_s/i.predicted_s for i in its]
        q=statistics.quantiles(m, n=4)
        print(model, ranks, "median ms %.2f" % (1e3*statistics.median(m)), "ratio %.4f" % statistics.median(r), "iqr %.3f" % ((q[2]-q[0])/q[1]), [round(x,3) for x in r], flush=True)
