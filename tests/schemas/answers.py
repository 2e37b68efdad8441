"""JSON that the verbs print, by the kind of document: real answers, which the schemas are held to."""

from __future__ import annotations

import io
import json
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

from lightloom.cli import main
from lightloom.switches.simulated import start_switch
from tests.conftest import ROOT

# Problems whose plans have every key that a plan may have.
PLANS = {
    "a": "all-reduce --gpus 8 --size 1MiB --algorithm recursive-doubling --planner harvest --reconfiguration-delay 1us",
    "b": "all-gather --gpus 6 --size 1MiB --ports 2 --window 1=1us --background-reconfiguration --initial ring",
    "c": "all-to-all --gpus 5 --size 1MiB --matrix zipf:0.4:1 --no-baselines",
    "d": "broadcast --gpus 4 --size 64KiB --ports 2 --reconfiguration-delay 1us,2us --overlap pipelined --barrier 1us "
    "--no-baselines",
    "e": "reduce-scatter --gpus 8 --size 1MiB --optics islands:4x2 --no-baselines",
    "f": "all-to-all --gpus 8 --size 1MiB --planner reconfigure-all-to-all --no-baselines",
    "g": "all-to-all --gpus 4 --size 1MiB --optics mesh:8x8 --no-baselines",
    "h": "broadcast --gpus 10000 --size 1MiB --algorithm binomial-tree --topology ring --planner static --no-baselines "
    "--ports 2 --bandwidth 800Gbps,400Gbps",
    "k": "all-to-all --gpus 4 --size 1MiB --optics awgr:4 --no-baselines",
    "l": "all-reduce --gpus 4 --size 64KiB --electrical 2:3600Gbps:100ns --no-baselines",
    "i": "gather --gpus 4 --size 1MiB --root 1 --no-baselines",
    "m": "all-gather --gpus 4 --size 1MiB --uncertain startup=uniform:0.5 --objective mean --samples 100",
    "j": "all-gather --gpus 6 --size 1KiB --ports 2 --initial ring --ranks 0,2,4 --others-forward "
    "--reconfiguration-delay 1ms --no-baselines",
    "o": "all-reduce --gpus 4 --size 64KiB --positions 0:0,3:0,6:0,9:1:2,switch=middle --placement shortest "
    "--no-baselines",
    "p": "all-gather --gpus 4 --size 1MiB --ports 2 --bandwidth 800Gbps,400Gbps --no-baselines",
    "q": "all-gather --gpus 4 --size 1MiB --bandwidth 400Gbps --pair-rates inside:2:800Gbps:100ns --no-baselines",
    "n": "all-reduce --gpus 6 --size 1MiB --ports 2 --failed gpu:5,port:1.0,link:2-3 --no-baselines",
}
# Prefill and decode on pools of ranks, whose tokens go unevenly to experts.
SERVED = """
model = { layers = 2, hidden = 1024, ffn_hidden = 4096, heads = 8, vocabulary = 100, experts = 4 }
prefill = { prompt = 128, expert = 2 }
decode = { context = 128, requests = 2, expert = 2 }
routing = { traffic = "zipf:1" }
accelerator = { flops = 1e14, utilisation = 0.5, memory_bandwidth = 1e12 }
"""
# A model whose layouts are searched.
TRAINED = """
name = "small"
model = { layers = 2, hidden = 64, ffn_hidden = 64, heads = 2, vocabulary = 64, sequence = 16 }
batch = { micro_batch = 1 }
parallelism = { data = 4 }
accelerator = { flops = 1e12, utilisation = 0.5 }
"""
# Pairs of ranks that take turns at the ports of islands.
PAIRS: dict[str, Any] = {
    "schema": "lightloom.workload/1",
    "ranks": 4,
    "mesh": {},
    "groups": {"one": [0, 2], "other": [1, 3]},
    "nodes": [
        {
            "id": name,
            "after": [],
            "kind": "collective",
            "collective": "all-reduce",
            "group": name,
            "size_bytes": 4096,
        }
        for name in ("one", "other")
    ],
}
# Messages between neighbours, over the ring that a collective keeps.
OVER_RING: dict[str, Any] = {
    "schema": "lightloom.workload/1",
    "ranks": 4,
    "mesh": {"a": 4},
    "groups": {},
    "nodes": [
        {"id": "c", "kind": "collective", "collective": "all-gather", "axis": "a", "size_bytes": 4096, "after": []},
        {"id": "s", "kind": "send", "source": 0, "destination": 1, "size_bytes": 4096, "after": ["c"]},
    ],
}
WORKLOAD: dict[str, Any] = {
    "schema": "lightloom.workload/1",
    "name": "small",
    "ranks": 4,
    "mesh": {"tp": 2, "dp": 2},
    "groups": {"first": [0, 1], "last": [2, 3]},
    "same_bits": True,
    "model_flops": 1e12,
    "peak_flops": 1e14,
    "inference": {"prompts": 1, "requests": 2, "steps": 1, "first_token": "g", "caches": "s"},
    "nodes": [
        {"id": "f", "kind": "compute", "ranks": "first", "duration_s": 1e-5, "after": []},
        {
            "id": "a",
            "kind": "collective",
            "collective": "all-reduce",
            "axis": "tp",
            "size_bytes": 1 << 20,
            "after": ["f"],
            "ranks": [0, 1],
            "stream": "tp",
        },
        {
            "id": "g",
            "kind": "collective",
            "collective": "all-gather",
            "group": ["first", "last"],
            "size_bytes": 4096,
            "after": ["a"],
        },
        {"id": "h", "kind": "compute", "ranks": [1, 2], "duration_s": 1e-6, "after": ["g"]},
        {
            "id": "b",
            "kind": "collective",
            "collective": "broadcast",
            "axis": "tp",
            "ranks": "last",
            "size_bytes": 4096,
            "after": ["h"],
        },
        {
            "id": "c",
            "kind": "collective",
            "collective": "broadcast",
            "group": "first",
            "size_bytes": 4096,
            "after": ["b"],
        },
        {"id": "s", "kind": "send", "source": 1, "destination": 3, "size_bytes": 65536, "after": ["g"]},
        {"id": "t", "kind": "send", "source": [0, 2], "destination": [2, 0], "size_bytes": 4096, "after": ["s"]},
    ],
}
# An All-to-All with a matrix for each group.
OF_EACH: dict[str, Any] = {
    "schema": "lightloom.workload/1",
    "ranks": 4,
    "mesh": {"tp": 2, "ep": 2},
    "matrices": {"first": [[0, 4096], [512, 0]], "last": [[0, 64], [8192, 0]]},
    "nodes": [
        {
            "id": "d",
            "kind": "collective",
            "collective": "all-to-all",
            "axis": "ep",
            "matrix": ["first", "last"],
            "after": [],
        },
    ],
}
SWEEP = """\
metrics = ["time", "ratio"]
baseline = [{ planner = "static", algorithm = "ring", topology = "ring" }]

[settings]
collective = "all-gather"
gpus = 8

[axes]
size = ["1KiB", "1MiB"]
reconfiguration-delay = ["1us", "1ms"]
"""
JOB = """\
gpus = 4

[[mix]]
collective = "all-to-all"
size = "1MiB"
"""
ARRIVALS = """\
[[job]]
collective = "all-to-all"
size = "1MiB"
ranks = 4
iterations = 10000

[[job]]
arrival = "1ms"
collective = "all-reduce"
size = "4MiB"
ranks = 4
iterations = 1000
"""
EXCHANGE = """\
[settings]
collective = "all-to-all"
gpus = 4

[axes]
size = ["1KiB", "1MiB"]
"""
RANGES = "--collective all-reduce --sizes 1KiB:64KiB --delays 1us:1ms --tolerance 20% --gpus 4"


def answers(folder: Path) -> dict[str, list[Any]]:
    """Documents of every kind, made in a folder, which files go to as well."""
    with chdir(folder):
        made = {**_planned(), **_iterations(), **_measured(), **_listed()}
        made["circuits"], made["sent"] = _circuits()
    return made


def printed(command: str, *more: str) -> Any:
    """The JSON that a command prints."""
    arguments = [*command.split(), *more, "--format", "json"]
    text = io.StringIO()
    with redirect_stdout(text):
        status = main(arguments)
    assert status == 0, arguments
    return json.loads(text.getvalue())


def _planned() -> dict[str, list[Any]]:
    plans = [printed(f"plan --collective {told} --output {name}.json") for name, told in PLANS.items()]
    problem = "--collective all-to-all --gpus 8 --size 64KiB"
    return {
        "plan": [*plans, printed("plan --repair a.json --failed link:0-1")],
        "plan-table": [printed(f"plan {RANGES} --output table.json")],
        "adaptation": [printed("adapt table.json --size 64KiB --delays step:1us:1ms --calls 4")],
        "sizes": [printed("plan --collective all-gather --gpus 8 --sizes 1KiB:4KiB")],
        "comparison": [
            printed(f"compare {problem}"),
            printed("compare --collective all-reduce --gpus 6 --size 1B --barrier 1us"),
        ],
        "bounds": [printed(f"bound {problem}"), printed(f"bound {problem} --algorithm direct")],
        "checks": [printed("verify a.json b.json")],
        "simulation": [
            printed("simulate a.json --explain --links --buffer 64KiB"),
            printed("simulate b.json --level flow"),
            printed("simulate a.json --congestion-control dcqcn"),
        ],
        "samples": [
            printed("simulate a.json --uncertain startup=normal:0.1 --samples 100"),
            printed("simulate b.json --uncertain bandwidth=normal:0.1 --samples 1000 --level flow"),
        ],
        "sampled-plans": [
            printed(
                f"compare {problem} --uncertain control=exponential:2us,straggler=0.1:3 --objective p95 --samples 99"
            )
        ],
        "fault-costs": [
            printed("compare --collective broadcast --gpus 4 --size 64KiB --failed any-port,any-gpu,link:2-3"),
            printed("compare --collective all-gather --gpus 4 --ports 2 --size 64KiB --failed any-port,any-two:3"),
        ],
        "fallbacks": [
            printed("plan --collective all-gather --gpus 4 --size 64KiB --failed any-port,any-gpu,any-link"),
        ],
        "timeline": [
            printed(
                "plan --collective all-to-all --gpus 5 --ports 2 --size 1MiB --matrix zipf:0.4 --overlap asynchronous"
            ),
            printed(
                "plan --collective all-reduce --gpus 8 --ports 2 --size 4MiB --overlap asynchronous "
                "--output timeline.json"
            ),
        ],
        "timeline-simulation": [
            printed("simulate timeline.json --header-size 64B"),
            printed("simulate timeline.json --forwarding cut-through"),
        ],
        "export": [printed("export a.json --to msccl-xml --output a.xml")],
    }


def _iterations() -> dict[str, list[Any]]:
    _written("workload.json", json.dumps(WORKLOAD))
    training = printed("train workload.json --output training.json")
    _written("of_each.json", json.dumps(OF_EACH))
    of_each = printed("train of_each.json")
    _written("job.toml", JOB)
    _written("served.toml", SERVED)
    _written("arrivals.toml", ARRIVALS)
    served = printed("train served.toml --ports 2")
    _written("pairs.json", json.dumps(PAIRS))
    shared = printed("train pairs.json --optics islands:2x1")
    _written("over_ring.json", json.dumps(OVER_RING))
    mixed = printed("train over_ring.json --ports 2 --bandwidth 800Gbps,400Gbps --policy fixed-tori")
    _written("model.toml", TRAINED)
    printed("train model.toml --layout auto --layouts layouts.json")
    return {
        "advice": [printed("advise job.toml --switches sirius,thermo-optic --ports 1,2")],
        "jobs": [printed("jobs arrivals.toml --gpus 4 --ports 2")],
        "robust": [
            printed("robust --matrices zipf:0.6 --size 1MiB/pair --iterations 3 --gpus 4"),
            printed("robust --matrices zipf:0.6 --size 1MiB/pair --iterations 3 --hold-out 1 --gpus 4"),
        ],
        "workload": [WORKLOAD, OF_EACH, of_each["workload"], training["workload"], served["workload"]],
        "training": [training, printed("train workload.json --ports 2 --policy carry"), served, shared, mixed],
        "layouts": [json.loads(Path("layouts.json").read_text())],
        "training-simulation": [printed("simulate training.json")],
    }


def _measured() -> dict[str, list[Any]]:
    times = str(ROOT / "examples" / "single_hop_times.csv")
    return {
        "run": [printed("run a.json --runs 1 --warm-ups 0 --transport shared-memory")],
        "iteration-run": [printed("run training.json --iterations 1 --warm-ups 0")],
        "timeline-run": [printed("run timeline.json --runs 1 --warm-ups 0")],
        "sends": [printed("run a.json --runs 1 --calibrate times.csv")],
        "barriers": [printed("run --barriers --most-ranks 2 --rounds 10")],
        "calibration": [printed("calibrate", times)],
    }


def _listed() -> dict[str, list[Any]]:
    _written("sweep.toml", SWEEP)
    _written("exchange.toml", EXCHANGE)
    return {
        "sweep": [printed("sweep sweep.toml --output swept"), printed("sweep exchange.toml --output exchanged")],
        "names": [printed("list"), printed("list formats")],
        "algorithms": [printed("list algorithms --gpus 12 --collective all-gather")],
    }


def _circuits() -> tuple[list[Any], list[Any]]:
    circuits = [printed(f"circuits {name}.json") for name in ("a", "g", "k", "training")]
    lasers = "sensitivity_dbm=-8,max_launch_dbm=20,max_tile_mw=99,max_interposer_mw=99,laser_efficiency=0.1"
    fibres = "interposers=1x2,fibres=4,wavelengths=4,fibre_m=2,interposer_order=shortest"
    circuits += [printed(f"circuits g.json --optics mesh:8x8,{lasers},{fibres}")]
    switch = start_switch("scpi", 16, listen="127.0.0.1:0")
    try:
        return circuits, [printed("circuits a.json --send", switch.address)]
    finally:
        switch.close()


def _written(name: str, text: str) -> None:
    with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123 (the folder that this process is in)
        file.write(text)
