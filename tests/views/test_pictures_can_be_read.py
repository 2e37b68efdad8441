"""Every picture of the product can be read, also for extreme inputs: checked as it is rendered."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import lightloom as ll
from lightloom.views.pictures.sweep import sweep_figures
from tests.picture_checks import faults

pytestmark = pytest.mark.slow

SIZES = {"from": "1KiB", "to": "1GiB", "count": 21}
DELAYS = {"from": "10ns", "to": "10ms", "count": 31}
DOUBLING: dict[str, Any] = {"collective": "all-reduce", "gpus": 16, "algorithm": "recursive-doubling"}
FAST = ll.Fabric(gpus=8, reconfiguration_delay="1ns")
FAST_64 = ll.Fabric(gpus=64, reconfiguration_delay="1us")
LONG = "AllReduce of sixteen GPUs that start on a ring, and what else a title can say that nobody reads to its end " * 3


def plan_of(collective: str, size: str, fabric: ll.Fabric, **settings: Any) -> Callable[[], list[Figure]]:
    return lambda: [ll.plan(collective, size, fabric=fabric, **settings).plot()]


def simulation_of(
    collective: str, size: str, fabric: ll.Fabric, sync: str = "barrier", **settings: Any
) -> Callable[[], list[Figure]]:
    return lambda: [ll.simulate(ll.plan(collective, size, fabric=fabric, **settings), sync=sync, level="flow").plot()]


def circuits_of(
    optics: str, collective: str, size: str, fabric: ll.Fabric, **settings: Any
) -> Callable[[], list[Figure]]:
    return lambda: [ll.circuits(ll.plan(collective, size, fabric=fabric, **settings), optics).plot()]


def sweep_of(**description: Any) -> Callable[[], list[Figure]]:
    return lambda: [figure for _, figure in sweep_figures(ll.sweep(description))]


def calibration_of(sizes: list[int]) -> Callable[[], list[Figure]]:
    def draw() -> list[Figure]:
        rng = np.random.default_rng(1)
        rows = [f"{size},{2e-6 + size * 8e-11 * (1 + rng.normal() / 50)}\n" for size in sizes]
        with TemporaryDirectory() as folder:
            file = Path(folder) / "times.csv"
            file.write_text("size_bytes,time_s\n" + "".join(rows))
            return [ll.calibrate(file, hop_delay="500ns").plot()]

    return draw


PICTURES: dict[str, Callable[[], list[Figure]]] = {
    "plan of two GPUs": plan_of("all-reduce", "1B", ll.Fabric(gpus=2)),
    "plan of many topologies": plan_of(
        "all-to-all", "64MiB", ll.Fabric(gpus=64, ports=2, reconfiguration_delay="1us"), algorithm="bruck"
    ),
    "plan of 512 GPUs": plan_of("all-reduce", "64MiB", ll.Fabric(gpus=512), algorithm="recursive-doubling"),
    "plan of 1022 equal steps": plan_of(
        "all-reduce", "64MiB", ll.Fabric(gpus=512), algorithm="ring", planner="static", topology="ring"
    ),
    "plan of 18 ports": plan_of("all-reduce", "1GiB", ll.Fabric(gpus=64, ports=18)),
    "plan of a torus": plan_of(
        "all-reduce", "64MiB", ll.Fabric(gpus=64, dims=(4, 4, 4), ports=6), planner="static", topology="torus"
    ),
    "plan of an expander": plan_of(
        "all-gather", "1MiB", ll.Fabric(gpus=32, ports=3), planner="static", topology="random-regular"
    ),
    "circuits of two GPUs": circuits_of("crossbar", "all-reduce", "1B", ll.Fabric(gpus=2)),
    "circuits of a small switch": circuits_of("crossbar", "all-reduce", "1MiB", FAST, algorithm="recursive-doubling"),
    "circuits of 64 GPUs": circuits_of(
        "crossbar", "all-reduce", "64MiB", ll.Fabric(gpus=64, reconfiguration_delay="1us"), planner="bvn"
    ),
    "circuits of 256 GPUs on six switches": circuits_of(
        "parallel", "all-reduce", "1GiB", ll.Fabric(gpus=256, ports=6, reconfiguration_delay="1ns"), planner="weave"
    ),
    "circuits of 64 GPUs on a mesh": circuits_of(
        "mesh:16x16,wavelengths=4", "all-gather", "1MiB", FAST_64, algorithm="recursive-doubling"
    ),
    "circuits of 8 GPUs on two interposers": circuits_of(
        "mesh:4x4,interposers=1x2,fibres=4,wavelengths=2", "all-reduce", "1MiB", ll.Fabric(gpus=8)
    ),
    "circuits of many topologies": circuits_of(
        "parallel",
        "all-to-all",
        "64MiB",
        ll.Fabric(gpus=64, ports=2, reconfiguration_delay="1ns"),
        algorithm="direct",
        planner="bvn",
    ),
    "simulation of two GPUs": simulation_of("all-reduce", "1B", ll.Fabric(gpus=2)),
    "simulation of 1022 equal steps": simulation_of(
        "all-reduce", "64MiB", ll.Fabric(gpus=512), algorithm="ring", planner="static", topology="ring"
    ),
    "simulation of many topologies": simulation_of(
        "all-to-all", "64MiB", ll.Fabric(gpus=64, ports=2), sync="dataflow", algorithm="direct", planner="fast"
    ),
    "sweep of one point": sweep_of(
        baseline=["static"], settings={**DOUBLING, "planner": "harvest"}, axes={"size": ["1KiB"]}
    ),
    "sweep over sizes and delays": sweep_of(
        baseline=["static", "bvn"],
        settings={**DOUBLING, "planner": "harvest"},
        axes={"size": SIZES, "reconfiguration-delay": DELAYS},
    ),
    "sweep with a long title": sweep_of(
        summary=LONG,
        baseline=["static", "bvn", "weave", "short-circuit", "pccl"],
        settings={**DOUBLING, "planner": "harvest"},
        axes={"size": SIZES, "reconfiguration-delay": ["1us", "3us", "1ms"]},
    ),
    "sweep of 18 ports": sweep_of(
        baseline=["static"],
        settings={"collective": "all-reduce", "gpus": 20, "algorithm": "ring", "planner": "static"},
        axes={"ports": list(range(1, 19)), "size": SIZES},
        plots=[
            {"kind": "lines", "x": "size", "lines": "ports", "value": "time"},
            {"kind": "heat", "x": "size", "y": "ports", "value": "ratio", "regions": "reconfigurations"},
        ],
    ),
    "sweep to 512 GPUs": sweep_of(
        baseline=["static"],
        settings={"collective": "all-reduce", "planner": "harvest", "algorithm": "recursive-doubling"},
        axes={"gpus": [8, 16, 32, 64, 128, 256, 512], "size": ["1KiB", "1GiB"]},
        plots=[
            {"kind": "heat", "x": "gpus", "y": "size", "value": "reconfigurations"},
            {"kind": "lines", "x": "gpus", "lines": "size", "value": "time"},
            {"kind": "bars", "x": "gpus", "lines": "size", "value": "ratio"},
            {"kind": "bars", "x": "size", "lines": "gpus", "value": "time"},
        ],
    ),
    "sweep of planners that are equally fast": sweep_of(
        baseline=["static"],
        settings=DOUBLING,
        axes={"planner": ["static", "bvn", "harvest", "weave"], "size": SIZES},
        plots=[
            {"kind": "lines", "x": "size", "lines": "planner", "value": "ratio"},
            {"kind": "bars", "x": "planner", "lines": "size", "value": "time"},
        ],
    ),
    "sweep where nothing differs": sweep_of(
        settings={**DOUBLING, "planner": "static"},
        axes={"size": ["1KiB", "1025B"], "reconfiguration-delay": ["1us", "3us", "1ms"]},
    ),
    "calibration": calibration_of([1 << power for power in range(10, 31, 2)]),
    "calibration of sizes close together": calibration_of([1 << 20, 1100000, 1200000]),
}


@pytest.mark.large
@pytest.mark.parametrize("name", PICTURES)
def test_all_that_is_drawn_can_be_read(name: str) -> None:
    found = [fault for figure in PICTURES[name]() for fault in faults(figure)]
    assert not found, "\n".join(found)


def test_faults_are_found() -> None:
    figure = Figure(figsize=(3, 2))
    left, right = figure.subplots(1, 2)
    left.plot([1, 2], [1, 95])
    left.plot([1, 2], [1, 95])
    left.set_yticks([0, 50])
    left.set_title("a title that is wider than the whole picture that it stands in")
    right.bar([0, 1], [3e-6, 2e-3])
    right.set_yscale("log")
    right.set_yticks([1e-4], ["100 µs"])
    right.set_xticks([0.4, 0.5], ["one name", "another name"])
    words = "\n".join(faults(figure))
    for kind in ("cut off", "beyond the ticks", "hidden", "without a tick", "lie on each other", "differ in scale"):
        assert kind in words
