"""Results cross process boundaries, and a process that was forked plans as its parent does, or says why it cannot."""

# ruff: noqa: S301 (pickles are tested here)

import dataclasses
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import lightloom as ll
from lightloom._core import registry
from lightloom.calibration.measurements import Measurements, Row
from lightloom.formats.export import Export, WrittenFile
from lightloom.inputs.matrix import read_matrix
from lightloom.plans.better import BetterPlan

FABRIC = ll.Fabric(gpus=8, ports=2, initial="ring")
SETTINGS: dict[str, Any] = {"fabric": FABRIC, "algorithm": "swing", "planner": "harvest", "candidates": "shifted-rings"}
# Plans are run only on Linux.
RUNS = sys.platform == "linux"
MATRIX = read_matrix(np.arange(16.0).reshape(4, 4))


def results() -> dict[str, Any]:
    """One of everything that the public functions return."""
    plan = ll.plan("all-reduce", "1MiB", **SETTINGS)
    unequal = ll.plan(matrix=MATRIX, fabric=ll.Fabric(gpus=4), planner="bvn")
    simulation = ll.simulate(plan)
    comparison = ll.compare("all-gather", "1KiB", fabric=ll.Fabric(gpus=6))
    bounds = ll.bound("all-reduce", "1MiB", fabric=FABRIC, algorithm="swing")
    sweep = {"settings": {"collective": "all-gather", "gpus": 8, "algorithm": "ring"}, "axes": {"size": ["1KiB"]}}
    mesh = ll.route_mesh("4x4", [(0, 15), (3, 12), (5, 6)])
    table = ll.plan_table("all-gather", "1MiB", "1us:1ms", tolerance="20%", fabric=ll.Fabric(gpus=4))
    build = ll.Schedule.build
    return {
        "plan": plan,
        "core plan": plan.core,
        "unequal plan": unequal,
        "better plan": better_plan(),
        "step": plan.steps[3],
        "checks": ll.verify(plan),
        "fabric": FABRIC,
        "fabric of a graph": ll.Fabric(initial=ll.from_networkx(nx.cycle_graph(8, create_using=nx.DiGraph))),
        "topology": plan.topologies[0],
        "lopsided topology": ll.Topology.from_links("mine $", 5, [(0, 1, 2), (1, 2, 1), (4, 0, 7)]),
        "torus": ll.Topology.named("torus:4x4x4", 64, [4, 4, 4], 6),
        "schedule": build("swing", "all-reduce", 16),
        "broadcast": build(BROADCAST, "broadcast", 8, root=3),
        "gather": build(BROADCAST, "gather", 8, root=3),
        "schedule of a matrix": ll.Schedule.from_matrix(MATRIX)[0],
        "all-to-all": build("direct", "all-to-all", 6),
        "comparison": comparison,
        "row": comparison.rows[0],
        "sizes": ll.plan_sizes("all-gather", "1KiB:4KiB", fabric=ll.Fabric(gpus=6)),
        "refused row": comparison.rows[-1],
        "bounds": bounds,
        "statement": bounds.largest,
        "profile": ll.profile("ring", [(0, 3, 1.0)], fabric=FABRIC),
        "problem": ll.Problem("all-reduce", "1MiB", **SETTINGS),
        "sweep of a problem": ll.Problem("all-reduce", **SETTINGS).sweep([1e6, 1e7], 1e-6),
        "simulation": simulation,
        "dataflow": ll.simulate(plan, sync="dataflow", level="flow"),
        "simulated step": simulation.steps[2],
        "circuits": simulation.circuits(),
        "circuits of a step": simulation.steps[0].circuits(),
        "GPUs of a step": simulation.steps[0].gpus(),
        "differences": simulation.differences(),
        "circuits on file": ll.Circuits.from_json(ll.circuits(plan).to_json()),
        "sweep result": ll.sweep(sweep),
        "calibration": ll.calibrate(ROWS),
        "circuits on ports": ll.circuits(plan),
        "optics of a hall": ll.Optics(kind="islands:4x2", names=("hall",)),
        "export of graphs": Export("graphml", (WrittenFile(Path("0.graphml"), 12),), Path("side.json"), "nothing", ()),
        "mesh of routes": mesh.mesh,
        "routes through a mesh": mesh,
        "fibres": ll.route_fibres("2x3", [(0, 5), (5, 0), (1, 4)]),
        "workload": WORKLOAD,
        "training": ll.train(WORKLOAD),
        "layouts": ll.best_layout(MODEL, ranks=2),
        "advice": ll.advise({"gpus": 4, "mix": [{"collective": "all-gather", "size": "1MiB"}]}, switches="sirius"),
        **(measured(plan) if RUNS else {}),
        "jobs": ll.place_jobs({"job": [ALL_GATHERS]}, fabric=ll.Fabric(gpus=4)),
        "sampled plan": ll.sample(plan, "startup=normal:0.1", samples=20),
        "sampled plans": ll.sample_plans(
            "all-gather", "1KiB", uncertain="startup=normal:0.1", samples=20, fabric=ll.Fabric(gpus=4)
        ),
        "costs of faults": ll.fault_costs("all-reduce", "1KiB", "any-switch", fabric=ll.Fabric(gpus=4, ports=2)),
        "fallbacks": ll.fallbacks("all-reduce", "1KiB", "any-switch", fabric=ll.Fabric(gpus=4, ports=2)),
        "repair": ll.repair(ll.plan("all-reduce", "1KiB", fabric=ll.Fabric(gpus=4, ports=2)), "port:1.0"),
        "timeline": ll.timeline("all-to-all", "1MiB", fabric=ll.Fabric(gpus=4, ports=2)),
        "simulation of a timeline": ll.timeline("all-gather", "1KiB", fabric=ll.Fabric(gpus=4)).simulate(),
        "plan made once": ll.robust("zipf:0.6", "1MiB/pair", iterations=2, fabric=ll.Fabric(gpus=4)),
        "plan table": table,
        "plan chooser": ll.PlanChooser(table, delay="1us"),
        "adaptation": ll.adapt(table, "step:1us:1ms", "1MiB", calls=3),
        "error": caught(lambda: ll.plan("all-reduce", "no size")),
    }


def better_plan() -> BetterPlan:
    """What a plan's search tells."""
    seen: list[BetterPlan] = []
    ll.plan("all-reduce", "1MiB", **SETTINGS, progress=seen.append)
    return seen[-1]


def measured(plan: ll.Plan) -> dict[str, object]:
    """What runs on processes give."""
    iteration = ll.run_iteration(ll.train(WORKLOAD), iterations=1, warm_ups=0, dilation=100)
    timeline = ll.run_timeline(ll.timeline("all-reduce", "64KiB", fabric=ll.Fabric(gpus=4)), runs=1, warm_ups=0)
    of_plan = ll.run(plan, runs=1, warm_ups=0, dilation=10)
    return {"measurement": of_plan, "measured iteration": iteration, "measured timeline": timeline}


def caught(work: Callable[[], object]) -> BaseException:
    try:
        work()
    except ll.InputError as error:
        return error
    raise AssertionError


MODEL = """
model = { layers = 1, hidden = 64, ffn_hidden = 64, heads = 1, vocabulary = 64, sequence = 16 }
batch = { micro_batch = 1 }
accelerator = { flops = 1e12, utilisation = 0.5 }
parallelism = { data = 2 }
"""
ALL_GATHERS = {"collective": "all-gather", "size": "1MiB", "ranks": 4, "iterations": 10}
WORKLOAD = ll.Workload.of(
    {
        "schema": "lightloom.workload/1",
        "ranks": 4,
        "mesh": {"tp": 4},
        "nodes": [
            {"id": "f", "kind": "compute", "duration_s": 1e-5, "after": []},
            {
                "id": "a",
                "kind": "collective",
                "collective": "all-reduce",
                "axis": "tp",
                "size_bytes": 4096,
                "after": ["f"],
            },
        ],
    }
)
BROADCAST = next(row["name"] for row in registry()["algorithms"] if "broadcast" in row["collectives"].split(", "))
ROWS = Measurements(tuple(Row(i, 1 << i, 1e-5 + (1 << i) * 1e-10, 1.0, 1.0, 1 << i) for i in range(10, 20)))


def seen(value: object) -> object:  # noqa: PLR0911, PLR0912 (a line for each kind)
    """Everything that an object shows of itself, in plain values, without where it is kept."""
    if isinstance(value, (str, int, float, bool, Path, type(None))):
        return repr(value)
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, [repr(item) for item in value.ravel().tolist()])
    if isinstance(value, ll.Plan):
        return value.to_json()
    if isinstance(value, ll.Schedule):
        steps = range(len(value.shares))
        return (repr(value), value.sent_share, seen(value.shares), [value.transfers(step) for step in steps])
    if isinstance(value, ll.Problem):
        return (value.algorithm, value.steps, seen(value.candidates), seen(value.sweep([1e5, 1e8], 1e-6)))
    if isinstance(value, ll.SweepResult):
        return (repr(value), value.found, value.to_arrow().to_pylist(), value["total_s"].flags.writeable)
    if isinstance(value, BaseException):
        return (type(value).__name__, str(value), seen(vars(value)))
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [seen(item) for item in value])
    if isinstance(value, dict):
        return {key: seen(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value):
        return {field.name: seen(getattr(value, field.name)) for field in dataclasses.fields(value)}
    shown = {}
    for name in dir(type(value)):
        if not name.startswith("_") and name not in {"trace", "plot", "from_json", "save"}:
            found = getattr(value, name)
            if not callable(found):
                shown[name] = seen(found)
            elif name in {"circuits", "gpus", "plan", "to_json"}:
                shown[name] = seen(found())
    return shown


def seen_of_pickle(content: bytes) -> object:
    return seen(pickle.loads(content))


@pytest.mark.large
def test_results_are_the_same_in_another_process() -> None:
    made = results()
    # Another interpreter, which has nothing but the bytes.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        for name, value in made.items():
            content = pickle.dumps(value)
            assert pool.submit(seen_of_pickle, content).result(60) == seen(value), name
            assert type(pickle.loads(content)) is type(value)


@pytest.mark.large
def test_results_that_can_be_compared_equal_their_copies() -> None:
    made = results()
    other = {"bounds": ll.bound("all-gather", "3MiB", fabric=ll.Fabric(gpus=8))}
    other["simulation"] = ll.simulate(ll.plan("all-gather", "3MiB", fabric=ll.Fabric(gpus=8)))  # type: ignore[assignment]
    for name in ("plan", "step", "fabric", "comparison", "bounds", "statement", "simulation", "dataflow", "training"):
        copy = pickle.loads(pickle.dumps(made[name]))
        assert copy == made[name], name
        assert hash(copy) == hash(made[name]), name
        assert copy != other.get(name), name
    assert made["simulation"] != made["dataflow"]


@pytest.mark.large
def test_everything_public_pickles() -> None:
    kinds = {type(value).__name__ for value in results().values()}
    public = {name for name in ll.__all__ if isinstance(getattr(ll, name), type)}
    # An executor is no result: it has processes.
    not_here = {"Executor"} if RUNS else {"Executor", "Measurement", "IterationMeasurement"}
    assert public - not_here <= kinds


def test_what_is_pickled_is_checked_when_it_is_read() -> None:
    topology = ll.Topology.named("ring", 8, [8], 1)
    make, (name, gpus, symmetry, links) = reduced(topology)
    wrongs: list[tuple[Any, ...]] = [(name, 0, symmetry, links), (name, gpus, [(3, 5)], links)]
    for wrong in [*wrongs, (name, gpus, [], [(0, 99, 1)])]:
        with pytest.raises(ll.InputError):
            make(*wrong)
    uses = ll.simulate(ll.plan("all-gather", "1KiB", fabric=ll.Fabric(gpus=4))).circuits()
    make, (packed,) = reduced(uses)
    with pytest.raises(ll.InputError, match="pickle"):
        make(packed[:-1])


def reduced(value: object) -> Any:
    """The function that makes an object again, and its arguments."""
    return value.__reduce__()


WORK: dict[str, Callable[[], object]] = {
    "plan": lambda: ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=16)).to_json(),
    "compare": lambda: [row.total_s for row in ll.compare("all-gather", "1MiB", fabric=ll.Fabric(gpus=16)).rows],
    "simulate": lambda: ll.simulate(ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8))).to_json(),
    "bound": lambda: ll.bound("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8), algorithm="swing").lower_bound_s,
    "sweep": lambda: seen(ll.sweep({"settings": {"collective": "all-gather", "gpus": 8}, "axes": {"size": ["1KiB"]}})),
}


def in_fork(work: Callable[[], object], seconds: float = 60) -> object:
    """The result of the work in a forked child, or the error that it raises; the child is ended when it hangs."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = pickle.dumps(work())
        except BaseException as error:
            answer = pickle.dumps(error)
        with os.fdopen(writing, "wb") as stream:
            stream.write(answer)
        os._exit(0)
    os.close(writing)
    timer = threading.Timer(seconds, os.kill, (child, signal.SIGKILL))
    timer.start()
    with os.fdopen(reading, "rb") as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    timer.cancel()
    assert answer, "the child hung, or died"
    return pickle.loads(answer)


@pytest.mark.large
@pytest.mark.parametrize("name", WORK)
def test_a_forked_process_finds_what_its_parent_finds(name: str) -> None:
    wanted = WORK[name]()
    assert in_fork(WORK[name]) == wanted
    # And so does the child of a child, after it worked itself.
    assert in_fork(lambda: (WORK[name](), in_fork(WORK[name], 30))[1]) == wanted


def test_objects_made_before_a_fork_work_after_it() -> None:
    problem = ll.Problem("all-reduce", **SETTINGS)
    wanted = seen(problem.sweep([1e5, 1e8], 1e-6))
    assert in_fork(lambda: seen(problem.sweep([1e5, 1e8], 1e-6))) == wanted


@pytest.mark.large
def test_a_pool_of_forked_processes_works() -> None:
    wanted = WORK["plan"]()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        answers = [pool.apply_async(plan_of, (0,)) for _ in range(4)]
        assert [answer.get(60) for answer in answers] == [wanted] * 4


def plan_of(_: int) -> object:
    return WORK["plan"]()


CUT_OFF = """
import os, sys, threading, time
import lightloom as ll
from lightloom import _core
from lightloom.inputs.requests import build_request
request = build_request("all-to-all", "1GiB", ll.Fabric(gpus=1024, ports=2))
working = threading.Thread(target=lambda: _core.compare(request), daemon=True)
working.start()
time.sleep(0.5)
assert working.is_alive()
if os.fork() == 0:
    try:
        ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8))
    except ll.InputError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
os._exit(0)
"""


def test_a_process_forked_while_another_thread_plans_refuses_at_once() -> None:
    started = time.monotonic()
    ran = subprocess.run([sys.executable, "-c", CUT_OFF], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, f"{ran.stderr} after {time.monotonic() - started:.0f} s"
    assert ran.stdout.startswith("process: it was forked while another of its threads was planning")


def test_requests_on_one_fabric_share_and_find_what_they_find_alone() -> None:
    shared = ll.Fabric(gpus=12, ports=2)
    asked = [("all-gather", "1MiB"), ("all-to-all", "64KiB"), ("all-gather", "1MiB"), ("all-reduce", "1GiB")]
    together = [ll.plan(collective, size, fabric=shared).to_json() for collective, size in asked]
    alone = [ll.plan(collective, size, fabric=ll.Fabric(gpus=12, ports=2)).to_json() for collective, size in asked]
    assert together == alone
    assert pickle.loads(pickle.dumps(shared)) == shared
