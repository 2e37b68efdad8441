"""The page gets the same documents as the command line prints."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.formats import written_formats
from tests.page.streams import events

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli
    from tests.page.served import Served

SMALL: dict[str, Any] = {"collective": "all-reduce", "size": "4MiB", "gpus": 8, "ports": 2}
FLAGS = ("--collective", "all-reduce", "--size", "4MiB", "--gpus", 8, "--ports", 2)

JOB = 'gpus = 4\n[[mix]]\ncollective = "all-reduce"\nsize = "1MiB"\n'
JOBS = """
[[job]]
collective = "all-to-all"
size = "1MiB"
ranks = 4
iterations = 9
[[job]]
arrival = "1us"
collective = "all-reduce"
size = "1MiB"
ranks = 2
iterations = 3
"""


def answered(server: Served, task: str, **asked: Any) -> str:
    answer = server.post(task, **asked)
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.parametrize("baselines", [False, True])
def test_a_plan_is_that_of_the_command_line(server: Served, cli: RunCli, baselines: bool) -> None:
    flag = "--baselines" if baselines else "--no-baselines"
    printed = cli("plan", *FLAGS, flag, "--format", "json").out
    assert answered(server, "plan", **SMALL, baselines=baselines) == printed.rstrip("\n")
    told = server.client.get("/api/options").json()["verbs"]
    (option,) = [option for option in told["plan"]["options"] if option["name"] == "baselines"]
    if option["default"] is baselines:
        assert answered(server, "plan", **SMALL) == printed.rstrip("\n")


@pytest.mark.large
@pytest.mark.parametrize("verb", ["compare", "bound"])
def test_comparisons_and_bounds_are_those_of_the_command_line(server: Served, cli: RunCli, verb: str) -> None:
    assert answered(server, verb, **SMALL) == cli(verb, *FLAGS, "--format", "json").out.rstrip("\n")
    printed = cli(verb, *FLAGS, "--format", "csv").out
    assert answered(server, "table", of=verb, **SMALL) == printed


def test_what_is_made_of_a_plan_is_that_of_the_command_line(server: Served, cli: RunCli, in_tmp: Path) -> None:
    plan = answered(server, "plan", **SMALL)
    (in_tmp / "plan").write_text(plan)
    assert cli("plan", *FLAGS, "--format", "csv").out == answered(server, "table", of="plan", **SMALL)
    for asked in (SMALL, {"plan": json.loads(plan)}):
        for verb in ("simulate", "circuits"):
            assert answered(server, verb, **asked) == cli(verb, "plan", "--format", "json").out.rstrip("\n")
            assert answered(server, "table", of=verb, **asked) == cli(verb, "plan", "--format", "csv").out
        assert answered(server, "verify", **asked) == cli("verify", "plan", "--format", "json").out.rstrip("\n")
        flags = ("--header-size", "64B", "--sync", "dataflow", "--links", "--explain", "--format", "json")
        settings = {"header_size": "64B", "sync": "dataflow", "links": True, "explain": True}
        assert answered(server, "simulate", **asked, **settings) == cli("simulate", "plan", *flags).out.rstrip("\n")


@pytest.mark.large
@pytest.mark.parametrize("to", written_formats())
def test_exports_are_those_of_the_command_line(server: Served, cli: RunCli, in_tmp: Path, to: str) -> None:
    asked = {"collective": "all-gather", "size": "4MiB", "gpus": 4, "algorithm": "ring", "planner": "harvest"}
    answer = server.post("export", **asked, to=to)
    assert answer.headers["content-disposition"] == f'attachment; filename="plan-{to}.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name != "NOTES.txt"}
    words = [word for key, value in asked.items() for word in (f"--{key}", value)]
    assert cli("plan", *words, "--output", "plan.json").status == 0
    told = json.loads(cli("export", "plan.json", "--to", to, "--output", "out", "--format", "json").out)
    written = [in_tmp / file["path"] for file in told["files"]]
    assert sorted(files.values()) == sorted(path.read_bytes() for path in written)


@pytest.mark.large
def test_an_iteration_is_that_of_the_command_line(server: Served, cli: RunCli) -> None:
    flags = ("bert-pccl", "--ranks", 8, "--reconfiguration-delay", "100us")
    asked = {"model": "bert-pccl", "ranks": 8, "reconfiguration-delay": "100us"}
    assert answered(server, "train", **asked) == cli("train", *flags, "--format", "json").out.rstrip("\n")
    assert answered(server, "table", of="train", **asked) == cli("train", *flags, "--format", "csv").out
    workload = json.loads(ll.Workload.read("bert-pccl", ranks=8).to_json())
    same = {"workload": workload, "reconfiguration-delay": "100us"}
    assert answered(server, "train", **same) == answered(server, "train", **asked)


def test_advice_is_that_of_the_command_line(server: Served, cli: RunCli, in_tmp: Path) -> None:
    job = 'name = "one"\ngpus = 4\n[[mix]]\ncollective = "all-to-all"\nsize = "1MiB"\n'
    own = '[mine]\nreconfiguration_delay = "2us"\n'
    (in_tmp / "job.toml").write_text(job)
    (in_tmp / "mine.toml").write_text(own)
    flags = ("advise", "job.toml", "--switches", "sirius,mine.toml", "--ports", "1,2")
    asked = {"job": job, "switches": "sirius", "own_switches": own, "ports": "1,2"}
    assert answered(server, "advise", **asked) == cli(*flags, "--format", "json").out.rstrip("\n")
    assert answered(server, "table", of="advise", **asked) == cli(*flags, "--format", "csv").out


def test_a_plan_for_many_iterations_is_that_of_the_command_line(server: Served, cli: RunCli, in_tmp: Path) -> None:
    flags = ("robust", "--size", "1MiB/pair", "--gpus", 4, "--iterations", 3, "--objective", "worst")
    asked = {"matrices": "zipf:0.6", "size": "1MiB/pair", "gpus": 4, "iterations": 3, "objective": "worst"}
    drawn = ("--matrices", "zipf:0.6")
    assert answered(server, "robust", **asked) == cli(*flags, *drawn, "--format", "json").out.rstrip("\n")
    assert answered(server, "table", of="robust", **asked) == cli(*flags, *drawn, "--format", "csv").out
    given = np.array([[[0, 7, 1], [2, 0, 9], [5, 5, 0]], [[0, 1, 8], [3, 0, 1], [4, 6, 0]]])
    np.save(in_tmp / "given.npy", given)
    printed = cli("robust", "--matrices", "given.npy", "--size", "1MiB", "--format", "json").out.rstrip("\n")
    assert answered(server, "robust", matrices=given.tolist(), size="1MiB") == printed


def test_jobs_are_placed_as_the_command_line_does(server: Served, cli: RunCli, in_tmp: Path) -> None:
    (in_tmp / "jobs.toml").write_text(JOBS)
    flags = ("jobs", "jobs.toml", "--gpus", 4, "--ports", 4, "--order", "backfill", "--sharing", "wired,turns")
    asked = {"jobs": JOBS, "gpus": 4, "ports": 4, "order": "backfill", "sharing": "wired,turns"}
    assert answered(server, "jobs", **asked) == cli(*flags, "--format", "json").out.rstrip("\n")
    assert answered(server, "table", of="jobs", **asked) == cli(*flags, "--format", "csv").out


@pytest.mark.parametrize(
    ("task", "field", "asked"),
    [
        ("jobs", "jobs", {"gpus": 4}),
        ("jobs", "gpus", {"jobs": JOBS}),
        ("jobs", "job[0].workload", {"jobs": '[[job]]\nworkload = "/etc/passwd"\niterations = 1\n', "gpus": 4}),
        ("jobs", "job[0].model", {"jobs": '[[job]]\nmodel = "/etc/a.toml"\niterations = 1\n', "gpus": 4}),
        ("jobs", "output", {"jobs": JOBS, "gpus": 4, "output": "a.json"}),
        ("robust", "matrices", {"gpus": 4}),
        ("robust", "matrices", {"matrices": "/etc", "size": "1MiB", "gpus": 4}),
        ("robust", "matrices", {"matrices": [["/etc/passwd"]]}),
        ("robust", "gpus", {"matrices": "zipf:0.6", "size": "1MiB", "gpus": 8192}),
    ],
)
def test_iterations_and_jobs_name_no_file(server: Served, task: str, field: str, asked: dict[str, object]) -> None:
    answer = server.post(task, **asked)
    assert answer.status_code == 422, answer.text
    assert answer.json()["field"] == field


@pytest.mark.parametrize(
    ("field", "asked"),
    [
        ("job", {}),
        ("job", {"job": "gpus = "}),
        ("fabric", {"job": 'gpus = 4\nfabric = "/etc/passwd.toml"\nmix = []'}),
        ("initial", {"job": 'gpus = 4\ninitial = "/etc/a.edgelist"\nmix = []'}),
        ("mix[0].workload", {"job": 'gpus = 4\nmix = [{ workload = "/etc/passwd" }]'}),
        ("mix[0].model", {"job": 'gpus = 4\nmix = [{ model = "/etc/passwd" }]'}),
        ("switches", {"job": JOB, "switches": "sirius,/etc/a.toml"}),
        ("gpus", {"job": JOB.replace("4", "60000")}),
    ],
)
def test_a_job_that_is_pasted_names_no_file(server: Served, field: str, asked: dict[str, str]) -> None:
    answer = server.post("advise", **asked)
    assert answer.status_code == 422
    assert answer.json()["field"] == field


def test_times_against_the_delay_come_with_progress(server: Served) -> None:
    asked = {"model": "bert-pccl", "ranks": 8, "break_even": True, "delays": "1us,1ms"}
    told = events(server, "train", asked)
    assert [name for name, _ in told] == ["progress"] * 3 + ["end"]
    assert told[-2][1] == {"done": 3, "of": 3}
    found = told[-1][1]["break_even"]
    assert found["delays_s"] == [1e-6, 1e-3]
    for place, delay in enumerate(found["delays_s"]):
        alone = server.post("train", model="bert-pccl", ranks=8, reconfiguration_delay=delay).json()
        assert {name: times[place] for name, times in found["policies_s"].items()} == alone["policies"]
        assert found["lower_bounds_s"][place] == alone["lower_bound_s"]


def test_a_comparison_tells_its_rows_as_they_are_found(server: Served) -> None:
    *rows, (name, whole) = events(server, "compare", {**SMALL, "size": "5MiB"})
    assert name == "end"
    assert {name for name, _ in rows} == {"row"}
    kept = ("planner", "algorithm", "topology", "total_s", "reconfigurations")
    found = [tuple(row[key] for key in kept) for _, row in rows]
    # The comparison keeps the best of several plans of one planner and algorithm.
    assert {tuple(row[key] for key in kept) for row in whole["rows"]} <= set(found)
    again = events(server, "compare", {**SMALL, "size": "5MiB"})
    assert again == [("end", whole)]


def test_the_form_has_the_options_of_the_command_line(server: Served) -> None:
    told = server.client.get("/api/options").json()
    plan = {option["name"]: option for option in told["verbs"]["plan"]["options"]}
    assert plan["collective"]["choices"] == [entry["name"] for entry in told["registries"]["collectives"]]
    assert not {"output", "plot", "schedule", "sequence", "format"} & set(plan)
    assert told["version"] == ll.__version__


@pytest.mark.large
def test_presets_work(server: Served) -> None:
    axes = {
        "x": {"option": "size", "values": ["1KiB", "64MiB"]},
        "y": {"option": "reconfiguration_delay", "values": ["10us"]},
    }
    for preset in server.client.get("/api/options").json()["presets"]:
        asked = {"options": preset["options"], **axes} if preset["verb"] == "map" else preset["options"]
        verb = preset["verb"]
        if verb == "two-fabrics":
            verb = "plan"
            asked = {**asked, **{name.removeprefix("other_"): value for name, value in preset["axes"].items()}}
        assert preset["summary"]
        assert server.post(verb, **asked).status_code == 200, preset


def test_a_plan_on_64_gpus_is_soon_there(server: Served) -> None:
    """No timed test: that the server says how long it took, and whether it knew."""
    first = server.post("plan", collective="all-reduce", size="64MiB", gpus=64)
    again = server.post("plan", gpus="64", size="64MiB", collective="all-reduce")
    same = server.post("plan", collective="all-reduce", gpus=64, size="64MiB")
    assert [answer.headers["x-lightloom-cache"] for answer in (first, same)] == ["miss", "hit"]
    assert again.text == first.text == same.text
    assert all(answer.headers["server-timing"].startswith("work;dur=") for answer in (first, same))
