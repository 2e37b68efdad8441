"""Jobs and switches from TOML: what is read, and one line for everything that is wrong."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.advice.job import Job, port_counts
from lightloom.base.errors import InputError
from lightloom.inputs.catalogue import catalogue, find_switches, read_switches
from tests.advice.jobs import COLLECTIVES
from tests.conftest import ROOT, RunCli
from tests.refusals import assert_refused

ONE = {"collective": "all-reduce", "size": "1MiB"}
JOB = 'gpus = 4\n[[mix]]\ncollective = "all-reduce"\nsize = "1MiB"\n'


def test_every_switch_of_the_catalogue_has_a_source_and_a_technology() -> None:
    assert len({one.name for one in catalogue()}) == len(catalogue()) >= 10
    assert all(one.source and one.technology for one in catalogue())


def test_a_switch_of_ones_own_takes_two_lines(in_tmp: Path, cli: RunCli) -> None:
    (in_tmp / "mine.toml").write_text('[mine]\nreconfiguration_delay = "2ms"\n')
    (in_tmp / "job.toml").write_text(JOB)
    ran = cli("advise", "job.toml", "--switches", "mine.toml,polatis", "--format", "csv")
    assert ran.status == 0, ran.err
    assert [line.partition(",")[0] for line in ran.out.splitlines()[1:3]] == ["mine", "polatis"]
    (mine,) = read_switches("mine.toml")
    assert mine.reconfiguration_delay_s == 2e-3
    assert mine.radix is None


def test_switches_are_named_in_several_ways() -> None:
    assert find_switches(None) == find_switches("all") == catalogue()
    assert [one.name for one in find_switches("polatis, sirius,polatis")] == ["polatis", "sirius"]
    assert find_switches([catalogue()[0], "polatis"])[0] == catalogue()[0]


def test_a_job_is_read_with_what_it_leaves_open() -> None:
    job = Job.load({"gpus": 4, "mix": [ONE]})
    assert (job.name, job.ports, job.fabric.initial) == ("job", (1,), "repeated")
    assert Job.load(job) is job
    assert job.entries[0].count == 1
    assert Job.load({"gpus": 4, "initial": "ring", "mix": [ONE]}).fabric.initial == "ring"
    assert Job.load({"gpus": 4, "fabric": "bridge", "mix": [ONE]}).fabric.startup_s == pytest.approx(1.7e-6)
    assert port_counts("2,1,2") == (1, 2)


@pytest.mark.parametrize("name", ["decode", "dense-7b", "moe"])
def test_the_examples_are_read(name: str) -> None:
    job = Job.load(ROOT / "examples" / "jobs" / f"{name}.toml")
    assert job.name == name
    assert {one.workload is None for one in job.entries} <= {True, False}


WRONG_JOBS: dict[str, dict[str, Any]] = {
    "gpus": {"mix": [ONE]},
    "gpus ": {"gpus": 0, "mix": [ONE]},
    "gpus  ": {"gpus": math.nan, "mix": [ONE]},
    "gpus   ": {"gpus": np.ma.masked, "mix": [ONE]},
    "mix": {"gpus": 4},
    "mix ": {"gpus": 4, "mix": []},
    "mix  ": {"gpus": 4, "mix": [ONE] * 101},
    "mix[0]": {"gpus": 4, "mix": [7]},
    "mix[0] ": {"gpus": 4, "mix": [{"size": "1MiB"}]},
    "mix[0]  ": {"gpus": 4, "mix": [{**ONE, "model": "gpt-3"}]},
    "mix[0]   ": {"gpus": 4, "mix": [{**ONE, "sise": 1}]},
    "mix[1].count": {"gpus": 4, "mix": [ONE, {**ONE, "count": math.nan}]},
    "mix[0].count": {"gpus": 4, "mix": [{**ONE, "count": -1}]},
    "mix[0].count ": {"gpus": 4, "mix": [{**ONE, "count": 1e300}]},
    "mix[0].count  ": {"gpus": 4, "mix": [{**ONE, "count": 10**400}]},
    "mix[0].count   ": {"gpus": 4, "mix": [{**ONE, "count": True}]},
    "mix[0].size": {"gpus": 4, "mix": [{"collective": "all-reduce"}]},
    "mix[0].size ": {"gpus": 4, "mix": [{**ONE, "size": "-1MiB"}]},
    "mix[0].collective": {"gpus": 4, "mix": [{**ONE, "collective": "all-reduse"}]},
    "mix[0].model": {"gpus": 4, "mix": [{"model": "gpt-33"}]},
    "mix[0].model ": {"gpus": 4, "mix": [{"model": 3}]},
    "mix[0].workload": {"gpus": 4, "mix": [{"workload": "missing.json"}]},
    "ports": {"gpus": 4, "ports": [], "mix": [ONE]},
    "ports ": {"gpus": 4, "ports": [1, -1], "mix": [ONE]},
    "ports  ": {"gpus": 4, "ports": list(range(1, 30)), "mix": [ONE]},
    "bandwidth": {"gpus": 4, "bandwidth": "fast", "mix": [ONE]},
    "bandwidth ": {"gpus": 4, "bandwidth": ["800Gbps", "400Gbps"], "ports": 2, "mix": [ONE]},
    "bandwidth  ": {"gpus": 4, "bandwidth": "800Gbps,400Gbps", "ports": 2, "mix": [ONE]},
    "name": {"gpus": 4, "name": "a\nb", "mix": [ONE]},
    "fabric": {"gpus": 4, "fabric": "nowhere", "mix": [ONE]},
    "job": {"gpus": 4, "gpu": 4, "mix": [ONE]},
}


@pytest.mark.parametrize("field", WRONG_JOBS)
def test_wrong_jobs_are_refused_by_their_field(field: str) -> None:
    with pytest.raises(InputError) as caught:
        Job.load(WRONG_JOBS[field])
    assert caught.value.field == field.strip()
    assert "\n" not in str(caught.value)


WRONG_SWITCHES = {
    "switches": "",
    "switches ": "a = 1",
    "switches  ": '["a/b"]\nreconfiguration_delay = "1us"',
    "switches   ": "".join(f'[s{index}]\nreconfiguration_delay = "1us"\n' for index in range(101)),
    "switches.a.reconfiguration_delay": "[a]",
    "switches.a.reconfiguration_delay ": "[a]\nreconfiguration_delay = nan",
    "switches.a.reconfiguration_delay  ": "[a]\nreconfiguration_delay = -1.0",
    "switches.a.reconfiguration_delay   ": '[a]\nreconfiguration_delay = "20ns/port"',
    "switches.a": '[a]\nreconfiguration_delay = "1us"\nspeed = 1',
    "switches.a.radix": '[a]\nreconfiguration_delay = "1us"\nradix = 1e9',
    "switches.a.price": '[a]\nreconfiguration_delay = "1us"\nprice = inf',
    "switches.a.power_w": '[a]\nreconfiguration_delay = "1us"\npower_w = "much"',
    "switches.a.source": '[a]\nreconfiguration_delay = "1us"\nsource = 7',
}


@pytest.mark.parametrize("field", WRONG_SWITCHES)
def test_wrong_switches_are_refused_by_their_field(field: str, in_tmp: Path) -> None:
    (in_tmp / "mine.toml").write_text(WRONG_SWITCHES[field])
    with pytest.raises(InputError) as caught:
        read_switches("mine.toml")
    assert caught.value.field == field.strip()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("asked", ["polatiss", "", 3, [None], [], np.ma.masked])
def test_wrong_names_of_switches_are_refused(asked: Any) -> None:
    with pytest.raises(InputError) as caught:
        ll.advise(COLLECTIVES, switches=asked)
    assert caught.value.field == "switches"


@pytest.mark.parametrize("ports", ["", "a", "1,,2", "0", 0, -1, 1.5, True, [None], np.ma.masked, "9" * 50])
def test_wrong_ports_are_refused(ports: Any) -> None:
    with pytest.raises(InputError) as caught:
        ll.advise(COLLECTIVES, ports=ports)
    assert caught.value.field == "ports"


def test_the_command_line_refuses_in_one_line(in_tmp: Path, cli: RunCli) -> None:
    (in_tmp / "job.toml").write_text(JOB)
    (in_tmp / "broken.toml").write_text("gpus = ")
    assert_refused(cli, in_tmp, "advise", "missing.toml", field="job: no such file")
    assert_refused(cli, in_tmp, "advise", "broken.toml", field="job")
    (in_tmp / "rates.toml").write_text('ports = 2\nbandwidth = ["800Gbps", "400Gbps"]')
    (in_tmp / "of-rates.toml").write_text(f'fabric = "rates.toml"\n{JOB}')
    assert "ports of one rate" in assert_refused(cli, in_tmp, "advise", "of-rates.toml", field="bandwidth")
    assert_refused(cli, in_tmp, "advise", "job.toml", "--switches", "missing.toml", field="switches: no such file")
    assert_refused(cli, in_tmp, "advise", "job.toml", "--ports", "two", field="ports")
    assert_refused(cli, in_tmp, "advise", "job.toml", "--plot", "a.txt", field="plot")
    assert_refused(cli, in_tmp, "advise", "job.toml", "--output", "job.toml", field="output")


def test_outputs_are_written(in_tmp: Path, cli: RunCli) -> None:
    (in_tmp / "job.toml").write_text(JOB)
    ran = cli("advise", "job.toml", "--switches", "sirius", "--format", "json", "--output", "a.json", "--plot", "a.png")
    assert ran.status == 0, ran.err
    assert (in_tmp / "a.json").read_text() == ran.out
    assert (in_tmp / "a.png").read_bytes().startswith(b"\x89PNG")


def test_keys_of_profiles_and_logs_are_those_of_their_readers(in_tmp: Path) -> None:
    log = ROOT / "examples" / "profiles" / "nccl.log"
    (in_tmp / "job.toml").write_text(f'gpus = 4\n[[mix]]\nworkload = "{log}"\ncompute_time = "4ms"\n')
    (entry,) = Job.load(in_tmp / "job.toml").entries
    assert entry.workload is not None
    times_s = [node["duration_s"] for node in entry.workload.nodes if node["kind"] == "compute"]
    # Each of four ranks computes 2 ms before each of its two calls.
    assert times_s == [0.002] * 8
    (in_tmp / "job.toml").write_text(f'gpus = 4\n[[mix]]\nworkload = "{log}"\nmessage_sizes = "sizes.json"\n')
    with pytest.raises(InputError, match="message_sizes: it is not used for a workload of format nccl-log; it takes "):
        Job.load(in_tmp / "job.toml")
    pasted = 'gpus = 4\n[[mix]]\nworkload = "gpt-3"\nmessage_sizes = "sizes.json"\n'
    with pytest.raises(InputError, match=r"message_sizes: it names a file; a job that is pasted cannot$"):
        Job.of_text(pasted)


def test_a_workload_may_be_in_the_job_itself() -> None:
    node = {"id": "a", "kind": "compute", "duration_s": 1.5, "after": []}
    told = {"schema": "lightloom.workload/1", "ranks": 4, "mesh": {"dp": 4}, "nodes": [node]}
    job = Job.of_text(f"gpus = 4\n[[mix]]\nworkload = '''{json.dumps(told)}'''\n")
    assert [(one.label, one.workload) for one in job.entries] == [("workload", ll.Workload.of(told))]
    entry = {"workload": json.dumps(told)}
    wrong: list[tuple[int, dict[str, Any], str]] = [
        (4, {"workload": "{"}, "mix[0].workload"),
        (8, entry, "mix[0].workload"),
        (4, {**entry, "time_unit": "ns"}, "mix[0].time_unit"),
    ]
    for gpus, one, field in wrong:
        with pytest.raises(InputError, match=f"^{re.escape(field)}: ") as refused:
            Job.load({"gpus": gpus, "mix": [one]})
        assert refused.value.field == field
