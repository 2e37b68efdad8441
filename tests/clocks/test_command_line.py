"""Timelines on the command line: what is printed, written, judged and refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import lightloom as ll
from tests.picture_checks import faults
from tests.refusals import assert_refused

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli

PROBLEM = ("plan", "--collective", "all-to-all", "--matrix", "zipf:0.4", "--size", "1MiB/pair", "--gpus", "8")
ASYNCHRONOUS = (*PROBLEM, "--ports", "2", "--overlap", "asynchronous")


@pytest.mark.large
def test_a_timeline_is_printed_written_judged_and_drawn(cli: RunCli, tmp_path: Path) -> None:
    file, picture = tmp_path / "timeline.json", tmp_path / "timeline.png"
    ran = cli(*ASYNCHRONOUS, "--output", file, "--plot", picture)
    assert ran.status == 0, ran.err
    found = ll.Timeline.load(file)
    assert "(asynchronous)" in ran.out
    assert "with barriers:" in ran.out
    gain = 100.0 * (1.0 - found.total_s / found.plan.total_s)
    assert f"verdict: switches on clocks of their own gain {gain:.2g}%" in ran.out
    assert picture.stat().st_size > 0
    judged = cli("verify", file, "--format", "json")
    assert judged.status == 0
    assert json.loads(cli(*ASYNCHRONOUS, "--format", "json").out) == json.loads(found.to_json())
    rows = cli(*ASYNCHRONOUS, "--format", "csv").out.splitlines()
    assert len(rows) == 1 + sum(map(len, found.switches))


def test_a_timeline_that_is_wrong_fails_and_is_not_read(cli: RunCli, tmp_path: Path) -> None:
    fabric = ll.Fabric(gpus=8, ports=2)
    told = json.loads(ll.timeline(size="1MiB/pair", matrix="zipf:0.4", fabric=fabric).to_json())
    told["transmissions"][0]["duration_s"] /= 2
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(told))
    ran = cli("verify", file)
    assert ran.status == 1
    assert "rates" in ran.out
    with pytest.raises(ll.InputError, match="check rates fails"):
        ll.Timeline.load(file)


def test_a_timeline_that_gains_nothing_says_so(cli: RunCli) -> None:
    # On one circuit each way there is nothing to overlap.
    ran = cli("plan", "--collective", "all-to-all", "--size", "1MiB", "--gpus", "2", "--overlap", "asynchronous")
    assert "gain nothing here" in ran.out


@pytest.mark.large
@pytest.mark.parametrize(
    ("ports", "delay", "skew"), [(1, "10us", 0.4), (2, "10us", 0.4), (2, "20us", 1.0), (3, "20us", 0.4)]
)
def test_what_goes_on_during_turns_is_said_where_it_happens(cli: RunCli, ports: int, delay: str, skew: float) -> None:
    problem = (*PROBLEM[:4], f"zipf:{skew}", *PROBLEM[5:], "--ports", ports, "--initial", "ring")
    options = ("--reconfiguration-delay", delay, "--overlap", "asynchronous")
    told = json.loads(cli(*problem, *options, "--format", "json").out)
    # Half a turn before circuits are ready their switch is dark, and the bytes of others may be on their way.
    half_s = told["plan"]["fabric"]["reconfiguration_delay_s"] / 2
    dark_s = [at["ready_s"] - half_s for switch in told["switches"] for at in switch["configurations"][1:]]
    sent = [(one["start_s"], one["start_s"] + one["duration_s"]) for one in told["transmissions"]]
    goes_on = any(begin_s < at_s < end_s for at_s in dark_s for begin_s, end_s in sent)
    assert ("go on while others turn" in cli(*problem, *options).out) == goes_on == (delay == "20us")


def test_electrical_switches_are_refused_as_they_were_written(cli: RunCli, tmp_path: Path) -> None:
    refused = assert_refused(cli, tmp_path, *ASYNCHRONOUS, "--electrical", "4:3600Gbps:100ns", field="electrical")
    assert "`4:3600Gbps:100ns`" in refused


def test_a_timeline_is_simulated_and_put_on_ports(cli: RunCli, tmp_path: Path) -> None:
    file, ports = tmp_path / "timeline.json", tmp_path / "circuits.json"
    assert cli(*ASYNCHRONOUS, "--initial", "ring", "--output", file).status == 0
    found = ll.Timeline.load(file)
    told = json.loads(cli("simulate", file, "--header-size", "64B", "--format", "json").out)
    assert told["total_s"] == found.simulate(header_size="64B").total_s > told["predicted_s"] == found.total_s
    assert "store-and-forward" in cli("simulate", file).out
    assert len(cli("simulate", file, "--format", "csv").out.splitlines()) == 1 + sum(map(len, found.switches))
    assert "port-1" in cli("circuits", file, "--output", ports).out
    assert cli("verify", ports, "--plan", file).status == 0
    changed = json.loads(ports.read_text())
    changed["configurations"][-1]["time_s"] += 1e-6
    ports.write_text(json.dumps(changed))
    assert cli("verify", ports, "--plan", file).status == 1


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("sync", ("--sync", "dataflow")),
        ("level", ("--level", "flow")),
        ("uncertain", ("--uncertain", "straggler=0.01:3")),
        ("explain", ("--explain",)),
        ("packet_size", ("--packet-size", "1B")),
        ("forwarding", ("--forwarding", "wormhole")),
    ],
)
def test_the_simulation_of_a_timeline_refuses(
    cli: RunCli, tmp_path: Path, field: str, options: tuple[str, ...]
) -> None:
    file = tmp_path / "timeline.json"
    ll.timeline("all-to-all", "16MiB", fabric=ll.Fabric(gpus=4)).save(file)
    assert_refused(cli, tmp_path, "simulate", file, *options, field=field)


def test_a_timeline_has_switches_of_ports(cli: RunCli, tmp_path: Path) -> None:
    file = tmp_path / "timeline.json"
    ll.timeline("all-reduce", "1MiB", fabric=ll.Fabric(gpus=4)).save(file)
    assert "parallel" in assert_refused(cli, tmp_path, "circuits", file, "--optics", "crossbar", field="optics")


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("barrier", ("--barrier", "1us")),
        ("failed", ("--failed", "port:1.0")),
        ("window", ("--window", "1us")),
        ("initial", ("--initial", "repeated")),
        ("optics", ("--optics", "crossbar")),
        ("reconfiguration_delay", ("--reconfiguration-delay", "1us,2us")),
        ("background_reconfiguration", ("--background-reconfiguration",)),
        ("progress", ("--progress",)),
        ("budget", ("--budget", "1s", "--planner", "weave")),
    ],
)
def test_what_switches_on_clocks_of_their_own_do_not_take(
    cli: RunCli, tmp_path: Path, field: str, options: tuple[str, ...]
) -> None:
    assert "asynchronous" in assert_refused(cli, tmp_path, *ASYNCHRONOUS, *options, field=field)


def test_other_verbs_say_what_takes_asynchronous(cli: RunCli, tmp_path: Path) -> None:
    arguments = ("compare", *ASYNCHRONOUS[1:])
    assert "timelines are made by" in assert_refused(cli, tmp_path, *arguments, field="overlap")


@pytest.mark.large
@pytest.mark.parametrize(("ports", "initial"), [(1, "free"), (2, "ring"), (4, "dark")])
def test_the_picture_is_readable(ports: int, initial: str) -> None:
    fabric = ll.Fabric(gpus=8, ports=ports, initial=initial)
    found = ll.timeline(size="1MiB/pair", matrix="zipf:0.4", fabric=fabric)
    assert faults(found.plot()) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("total_s",), -1),
        (("total_s",), "1"),
        (("switches", 0, "configurations", 0, "ready_s"), None),
        (("switches", 0, "configurations", 0, "circuits", 0), [0]),
        (("transmissions", 0, "path", 0), [0, 1, -1]),
        (("transmissions", 0, "source"), 1.5),
        (("transmissions", 0, "step"), "0"),
        (("plan",), []),
        (("schema",), "lightloom.timeline/9"),
    ],
)
def test_malformed_documents_are_refused_by_their_place(place: tuple[str | int, ...], value: object) -> None:
    told = json.loads(ll.timeline("all-reduce", "1MiB", fabric=ll.Fabric(gpus=4)).to_json())
    at = told
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    with pytest.raises(ll.InputError) as caught:
        ll.Timeline.from_json(json.dumps(told))
    assert "\n" not in str(caught.value)
    assert str(place[0]) in str(caught.value)
