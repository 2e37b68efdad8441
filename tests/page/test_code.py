"""The command and the Python that the page shows give the page's results."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

import lightloom as ll
from lightloom.sweeps.description import SweepDescription
from tests.page.served import PATHS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli
    from tests.page.served import Served

pytestmark = pytest.mark.slow

SMALL: dict[str, Any] = {"collective": "all-reduce", "size": "4MiB", "gpus": 8}
PLANS = [
    SMALL,
    {**SMALL, "size": 4194304, "reconfiguration_delay": 1e-5, "bandwidth": 4e11, "baselines": True},
    {**SMALL, "fabric": "mems-3d", "ports": 2, "reconfiguration_delay": ["10us", 1e-3], "hop-delay": "100ns"},
    {"collective": "reduce-scatter", "size": "1MB", "dims": [2, 4], "background_reconfiguration": True, "ports": 2},
    {
        "size": "1MiB/pair",
        "collective": "all-to-all",
        "gpus": 8,
        "ports": 2,
        "initial": "ring",
        "candidates": "ring,circulant:1,3",
    },
    {"matrix": [[0, 1e6, 5], [2.5e5, 0, 0], [1, 1, 1e300 / 1e295]], "planner": "auto"},
    {"collective": "broadcast", "size": "1KiB", "gpus": 8, "root": 3, "seed": 2**63, "window": 2e-5},
]


def code_of(server: Served, folder: Path, verb: str, options: dict[str, Any]) -> tuple[list[list[str]], str]:
    """The words of every command, and the Python; the files are written."""
    answer = server.post("as-code", verb=verb, options=options)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    for name, text in told["files"].items():
        (folder / name).write_text(text)
    commands = [shlex.split(line) for line in told["command"].splitlines()]
    assert all(words[0] == "lightloom" for words in commands)
    return [words[1:] for words in commands], told["python"]


def printed(python: str) -> str:
    """The output of the Python code."""
    words = [sys.executable, "-c", python]
    return subprocess.run(words, capture_output=True, text=True, check=True, env=PATHS).stdout


@pytest.mark.large
@pytest.mark.parametrize("options", PLANS)
def test_plans(server: Served, cli: RunCli, in_tmp: Path, options: dict[str, Any]) -> None:
    (words,), python = code_of(server, in_tmp, "plan", options)
    shown = server.post("plan", **{**options, "baselines": False}).text
    ran = cli(*words, "--no-baselines", "--format", "json")
    assert (ran.out.rstrip("\n"), ran.err) == (shown, "")
    # Numbers that are shown with a plan are no part of its file.
    told = json.loads(shown)
    beside = {key: told.pop(key) for key in ("traffic_bytes", "repeated_s")}
    assert json.loads(printed(python)) == told
    plan = ll.Plan.from_json(shown)
    assert beside == {"traffic_bytes": plan.traffic_bytes, "repeated_s": plan.repeated_s}


def test_comparisons_and_bounds(server: Served, cli: RunCli, in_tmp: Path) -> None:
    for verb in ("compare", "bound"):
        (words,), python = code_of(server, in_tmp, verb, SMALL)
        shown = server.post(verb, **SMALL)
        assert cli(*words, "--format", "json").out.rstrip("\n") == shown.text
        assert printed(python).splitlines()[-1].startswith(str(shown.json()["lower_bound_s"]))


@pytest.mark.large
def test_what_is_made_of_a_plan(server: Served, cli: RunCli, in_tmp: Path) -> None:
    settings = {"header_size": 64, "sync": "dataflow", "links": True}
    for verb, more in (("simulate", settings), ("circuits", {})):
        (first, second), python = code_of(server, in_tmp, verb, {**SMALL, **more})
        shown = server.post(verb, **SMALL, **more).text
        assert cli(*first).status == 0
        assert cli(*second, "--format", "json").out.rstrip("\n") == shown
        assert printed(python).rstrip("\n") == shown
    (first, second), python = code_of(server, in_tmp, "export", {**SMALL, "to": "graphml"})
    assert cli(*first).status == cli(*second).status == 0
    written = sorted(path.read_bytes() for path in (in_tmp / "exported").iterdir())
    for path in (in_tmp / "exported").iterdir():
        path.unlink()
    printed(python)
    assert sorted(path.read_bytes() for path in (in_tmp / "exported").iterdir()) == written


@pytest.mark.large
def test_iterations(server: Served, cli: RunCli, in_tmp: Path) -> None:
    workload = json.loads(ll.Workload.read("bert-pccl", ranks=8).to_json())
    for asked in ({"model": "bert-pccl", "ranks": 8, "policy": "alone"}, {"workload": workload}):
        (words,), python = code_of(server, in_tmp, "train", asked)
        shown = server.post("train", **asked).text
        assert cli(*words, "--format", "json").out.rstrip("\n") == shown
        assert printed(python).rstrip("\n") == shown


@pytest.mark.large
def test_advice(server: Served, cli: RunCli, in_tmp: Path) -> None:
    job = 'gpus = 4\n[[mix]]\ncollective = "all-reduce"\nsize = "1MiB"\n'
    for more in ({}, {"switches": "sirius", "own_switches": '[mine]\nreconfiguration_delay = "2ms"\n', "ports": "2"}):
        asked = {"job": job, **more}
        (words,), python = code_of(server, in_tmp, "advise", asked)
        shown = server.post("advise", **asked).text
        assert cli(*words, "--format", "json").out.rstrip("\n") == shown
        assert printed(python).rstrip("\n") == shown


@pytest.mark.large
def test_many_iterations_and_jobs(server: Served, cli: RunCli, in_tmp: Path) -> None:
    jobs = '[[job]]\ncollective = "all-to-all"\nsize = "1MiB"\nranks = 3\niterations = 9\n'
    asked: dict[str, dict[str, Any]] = {
        "robust": {"matrices": "zipf:0.6", "size": "1MiB/pair", "gpus": 4, "hold-out": 1, "iterations": 3},
        "jobs": {"jobs": jobs, "gpus": 4, "ports": 2, "sharing": "own,changing"},
    }
    for verb, options in asked.items():
        (words,), python = code_of(server, in_tmp, verb, options)
        shown = server.post(verb, **options).text
        assert cli(*words, "--format", "json").out.rstrip("\n") == shown
        assert printed(python).rstrip("\n") == shown


@pytest.mark.large
def test_maps(server: Served, cli: RunCli, in_tmp: Path) -> None:
    asked = {
        "options": SMALL,
        "x": {"option": "size", "from": "1KiB", "to": "1GiB", "points": 3},
        "y": {"option": "reconfiguration-delay", "values": ["1us", "1ms"]},
        "against": {"planner": "static", "topology": "ring"},
    }
    (words,), python = code_of(server, in_tmp, "map", asked)
    cells = server.post("map", **asked).json()["cells"]
    rows = cli(*words, "--format", "csv").out
    assert rows == server.post("table", of="map", **asked).text
    table = [dict(zip(rows.splitlines()[0].split(","), row.split(","), strict=True)) for row in rows.splitlines()[1:]]
    told = {(cell["x"], cell["y"]): (cell["total_s"], cell["against_s"]) for cell in cells}
    found = {
        (float(row["size_bytes"]), float(row["reconfiguration_delay_s"])): (
            float(row["total_s"]),
            float(row["baseline_s"]),
        )
        for row in table
    }
    assert found == told
    assert str(cells[0]["total_s"]) in printed(python)


@pytest.mark.large
def test_a_map_is_beside_circuits_that_never_change(server: Served) -> None:
    axes = {"x": {"option": "size", "values": ["64KiB", "1MiB"]}, "y": {"option": "gpus", "values": [8, 16]}}
    asked = {"options": {"collective": "all-reduce"}, **axes}
    cells = server.post("map", **asked).json()["cells"]
    text = server.post("as-code", verb="map", options=asked).json()["files"]["map.toml"]
    found = ll.sweep(SweepDescription.of(tomllib.loads(text))).to_columns()
    sizes, gpus, baselines_s = found["size_bytes"], found["gpus"], found["baseline_s"]
    assert [(cell["x"], cell["y"], cell["against_s"]) for cell in cells] == list(
        zip(sizes, gpus, baselines_s, strict=True)
    )
    for count, size_bytes, baseline_s in zip(gpus, sizes, baselines_s, strict=True):
        fabric = ll.Fabric(gpus=int(count), reconfiguration_delay="100s")
        assert baseline_s == ll.plan("all-reduce", int(size_bytes), fabric=fabric).total_s
