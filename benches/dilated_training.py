"""Iterations of PyTorch jobs on a dilated fabric: their times over those that `train` predicts from their traces.

    python -m benches.dilated_training      # where PyTorch is installed: .venv-torch/bin/python after make test-torch

Two small models train by DistributedDataParallel, each twice, on a fabric whose times are so long that communication
dominates. Every iteration of a trace is planned on the fabric whose times are as long, and its time is compared with
the plan's. A row is inconclusive where the machine was not steady: where half of the iterations of a run spread, or its
two runs differ, by more than 5 %.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.torch.launch import check_all_well, ranks_of

import lightloom as ll

DILATION, ITERATIONS, RUNS, STEADY = 200_000, 7, 2, 0.05
MODELS = ("transformer", "convolutional")
# Fabrics in bit/s and seconds. Where hops are costly, circuits change within AllReduces of four ranks.
FABRICS = {
    "default": {"bandwidth": 800e9, "startup": 0.5e-6, "hop_delay": 0.5e-6, "reconfiguration_delay": 10e-6},
    "costly hops": {"bandwidth": 800e9, "startup": 0.5e-6, "hop_delay": 5e-6, "reconfiguration_delay": 1e-6},
}
CASES = ((2, "default"), (4, "default"), (4, "costly hops"))


class Iteration(NamedTuple):
    """The measured and the predicted time of an iteration of a job, s, and the number of changes of circuits in it."""

    measured_s: float
    predicted_s: float
    changes: int


def write_fabric(file: Path, name: str, slower: float) -> None:
    """Write a fabric, its times so many times as long."""
    times = {key: value * slower for key, value in FABRICS[name].items() if key != "bandwidth"}
    lines = [f'bandwidth = "{FABRICS[name]["bandwidth"] / slower:.9g}bps"']
    file.write_text("\n".join(lines + [f'{key} = "{value:.9g}s"' for key, value in times.items()]))


def ends_us(events: list[dict[str, object]]) -> dict[int, float]:
    """The end of each iteration of a rank's trace, by its number; iteration 0 is the time before the first."""
    found: dict[int, float] = {}
    for event in events:
        number = str(event["name"]).removeprefix("ProfilerStep#")
        if number != event["name"]:
            found.setdefault(int(number) - 1, float(str(event["ts"])))
            found[int(number)] = float(str(event["ts"])) + float(str(event["dur"]))
    return found


def run(model: str, ranks: int, name: str) -> list[Iteration]:
    """The iterations of a job, but for the first, in which plans are made."""
    with tempfile.TemporaryDirectory() as folder:
        file, slowed, trace = Path(folder, "fabric.toml"), Path(folder, "slowed.toml"), Path(folder, "trace")
        write_fabric(file, name, 1)
        write_fabric(slowed, name, DILATION)
        settings = {"LIGHTLOOM_FABRIC": str(file), "LIGHTLOOM_TRACE": str(trace), "LIGHTLOOM_DILATION": str(DILATION)}
        check_all_well(ranks_of("iterations", model, str(ITERATIONS), ranks=ranks, **settings))
        events = [json.loads(path.read_text())["traceEvents"] for path in sorted(trace.iterdir())]
        ends = [ends_us(of_rank) for of_rank in events]
        changes = sum(event["args"].get("lightloom", {}).get("changes", 0) for event in events[0])
        found = []
        for number in range(2, ITERATIONS + 1):
            took_us = max(one[number] for one in ends) - max(one[number - 1] for one in ends)
            made = ll.train(trace, fabric=slowed, profile_step=number)
            found.append(Iteration(took_us / 1e6, made.total_s, changes))
        return found


def spread(values: list[float]) -> float:
    """Between the quartiles, over the median."""
    low, middle, high = statistics.quantiles(values, n=4)
    return (high - low) / middle


def main() -> None:
    print("model          ranks  fabric       changes  measured, ms  predicted, ms  ratio  spread  runs differ")
    for model in MODELS:
        for ranks, name in CASES:
            runs = [run(model, ranks, name) for _ in range(RUNS)]
            medians = [statistics.median(one.measured_s for one in made) for made in runs]
            all_of_them = [one for made in runs for one in made]
            measured = statistics.median(one.measured_s for one in all_of_them)
            predicted = statistics.median(one.predicted_s for one in all_of_them)
            ratio = statistics.median(one.measured_s / one.predicted_s for one in all_of_them)
            widest = max(spread([one.measured_s for one in made]) for made in runs)
            differ = (max(medians) - min(medians)) / measured
            verdict = "" if max(widest, differ) <= STEADY else "  inconclusive"
            print(
                f"{model:14} {ranks:5}  {name:11} {runs[0][0].changes:8} {1e3 * measured:13.1f} {1e3 * predicted:14.1f}"
                f" {ratio:6.3f} {widest:7.1%} {differ:12.1%}{verdict}",
                flush=True,
            )


if __name__ == "__main__":
    main()
