"""`simulate`: known times, equal results where they must be equal, and what its files and refusals look like."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom import _core
from tests.conftest import RunCli
from tests.printed_tables import covered_steps
from tests.refusals import assert_refused
from tests.simulated_plans import reconfigured, ring, uneven

STEP_KEYS = {"index", "topology", "start_s", "reconfiguration_s", "startup_s", "end_s", "duration_s", "predicted_s"}


def expected_s(plan: ll.Plan, packet_bytes: int) -> float:
    """docs/simulation.md: a burst over h hops of a one-way ring, one transfer of W per GPU."""
    total_s = 0.0
    for step in plan.steps:
        wire_s, packet_s = step.transfer_bytes * 8 / 100e9, packet_bytes * 8 / 100e9
        burst_s = max(step.hops * wire_s + 200e-9, wire_s + step.hops * 200e-9 + (step.hops - 1) * packet_s)
        total_s += 300e-9 + burst_s
    return total_s


@pytest.mark.parametrize("packet_bytes", [1024, 4096])
@pytest.mark.parametrize("size", ["32KiB", "1MiB"])
def test_a_burst_on_a_one_way_ring_has_a_closed_form(cli: RunCli, in_tmp: Path, size: str, packet_bytes: int) -> None:
    plan = ring(size)
    expected = expected_s(plan, packet_bytes)
    assert ll.simulate(plan, packet_size=packet_bytes).total_s == pytest.approx(expected, rel=1e-9)
    plan.save(in_tmp / "plan.json")
    ran = cli("simulate", "plan.json", "--packet-size", f"{packet_bytes}B", "--format", "json")
    assert json.loads(ran.out)["total_s"] == pytest.approx(expected, rel=1e-9)


def test_the_closed_form_in_numbers() -> None:
    """Eight GPUs, 1 MiB: steps of 512, 256, 128 KiB over 1, 2, 4 hops and back; all wait for the busiest link."""
    waits = [(512 << 10) * 8 / 100e9 * 1, (256 << 10) * 8 / 100e9 * 2, (128 << 10) * 8 / 100e9 * 4]
    assert ll.simulate(ring()).total_s == pytest.approx(2 * sum(waits) + 6 * 500e-9, rel=1e-12)


@pytest.mark.parametrize("make", [ring, reconfigured, uneven])
@pytest.mark.parametrize("level", ["packet", "flow"])
@pytest.mark.parametrize("sync", ["barrier", "dataflow"])
@pytest.mark.parametrize("reconfiguration", ["global", "ports"])
def test_one_gpu_of_each_orbit_is_as_good_as_all(make: Any, level: str, sync: str, reconfiguration: str) -> None:
    plan = make()
    assumed = {"level": level, "sync": sync, "reconfiguration": reconfiguration}
    one, all_of_them = (ll.simulate(plan, **assumed, symmetry=symmetry) for symmetry in ("quotient", "full"))
    assert one.total_s == all_of_them.total_s
    assert (one.packets, one.packet_hops, one.wire_bytes) == (
        all_of_them.packets,
        all_of_them.packet_hops,
        all_of_them.wire_bytes,
    )
    for name in ("src", "dst", "circuit", "bytes", "busy_s", "utilisation", "queue_bytes"):
        assert np.array_equal(getattr(one.circuits(), name), getattr(all_of_them.circuits(), name)), name
    for step, other in zip(one.steps, all_of_them.steps, strict=True):
        for name in ("gpu", "ready_s", "first_send_s", "last_sent_s", "last_received_s"):
            assert np.array_equal(getattr(step.gpus(), name), getattr(other.gpus(), name), equal_nan=True), name
        for name in ("src", "dst", "circuit", "bytes", "packets", "first_s", "last_s", "busy_s"):
            assert np.array_equal(getattr(step.circuits(), name), getattr(other.circuits(), name)), name


@pytest.mark.parametrize("make", [ring, reconfigured, uneven])
@pytest.mark.parametrize("reconfiguration", ["global", "ports"])
def test_going_on_early_helps_here(make: Any, reconfiguration: str) -> None:
    plan = make()
    barrier, dataflow = (
        ll.simulate(plan, sync=sync, reconfiguration=reconfiguration) for sync in ("barrier", "dataflow")
    )
    assert dataflow.total_s <= barrier.total_s
    later = ll.simulate(plan, sync="barrier", barrier="1us", reconfiguration=reconfiguration)
    assert later.total_s == pytest.approx(barrier.total_s + (len(plan.steps) - 1) * 1e-6, rel=1e-12)


def test_json_says_everything(cli: RunCli, plan_file: Path) -> None:
    ran = cli("simulate", plan_file, "--format", "json", "--header-size", "64B", "--seed", 7, "--links", "--explain")
    assert (ran.status, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert found["schema"] == "lightloom.simulation/1"
    assert found["settings"] == {
        "level": "packet",
        "packet_bytes": 4096,
        "header_bytes": 64,
        "injection": "burst",
        "forwarding": "store-and-forward",
        "sync": "barrier",
        "barrier_s": 0.0,
        "reconfiguration": "global",
        "buffer_bytes": None,
        "congestion_control": "none",
        "symmetry": "quotient",
    }
    # Without samples a seed is accepted, and changes nothing.
    simulation = ll.simulate(plan_file, header_size="64B")
    assert found["total_s"] == simulation.total_s == found["steps"][-1]["end_s"]
    assert found["predicted_total_s"] == simulation.plan.total_s
    assert all(step.keys() >= STEP_KEYS for step in found["steps"])
    # 2·7/8 of 1 MiB per GPU, in packets of 4 KiB, over 1, 2 and 4 hops.
    assert (found["packets"], found["packet_hops"]) == (8 * 448, 8 * 2 * (128 + 64 * 2 + 32 * 4))
    assert found["payload_bytes"] == 448 * 4096 * 8
    assert found["wire_bytes"] == found["packet_hops"] * (4096 + 64) == sum(link["bytes"] for link in found["links"])
    assert [(link["src"], link["dst"]) for link in found["links"]] == sorted((gpu, (gpu + 1) % 8) for gpu in range(8))
    assert found["highest_utilisation"] == max(link["utilisation"] for link in found["links"])
    parts = sum(part["seconds"] for part in found["differences"])
    assert parts == pytest.approx(found["total_s"] - found["predicted_total_s"], rel=1e-9)
    assert not {"links", "differences"} & json.loads(cli("simulate", plan_file, "--format", "json").out).keys()


@pytest.mark.parametrize(
    ("assumed", "names"),
    [
        ({"injection": "paced"}, ["packets"]),
        ({}, ["packets", "burst"]),
        ({"header_size": 64, "sync": "dataflow"}, ["packets", "headers", "burst", "dataflow"]),
        ({"forwarding": "cut-through", "barrier": "2us"}, ["packets", "cut-through", "burst", "barriers"]),
        ({"reconfiguration": "ports", "buffer": "64KiB"}, ["packets", "burst", "ports", "buffers"]),
        ({"level": "flow", "header_size": 64}, ["fair rates", "headers"]),
        ({"congestion_control": "dcqcn:kmin=1KB,kmax=8KB"}, ["packets", "burst", "congestion control"]),
    ],
)
def test_the_parts_of_the_difference_add_up(assumed: dict[str, Any], names: list[str]) -> None:
    for plan in (reconfigured(), uneven()):
        simulation = ll.simulate(plan, **assumed)
        parts = simulation.differences()
        assert [part.name for part in parts if part.name != "burst" or simulation.settings.level == "packet"] == names
        assert math.fsum(part.seconds for part in parts) == pytest.approx(
            simulation.total_s - simulation.predicted_total_s, abs=1e-15
        )
        for part in parts:
            if part.name == "barriers":
                assert part.seconds == pytest.approx(2e-6 * (len(plan.steps) - 1))
            elif part.name in {"headers", "buffers"}:
                assert part.seconds >= 0


SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "level": st.sampled_from(["packet", "flow"]),
        "packet_size": st.integers(1500, 1 << 16),
        "header_size": st.integers(0, 2000),
        "injection": st.sampled_from(["burst", "paced"]),
        "forwarding": st.sampled_from(["store-and-forward", "cut-through"]),
        "sync": st.sampled_from(["barrier", "dataflow"]),
        "barrier": st.just(0.0) | st.floats(1e-15, 1e-5),
        "reconfiguration": st.sampled_from(["global", "ports"]),
        "buffer": st.integers(1, 1 << 20),
        "congestion_control": st.sampled_from(["none", "dcqcn", "dcqcn:kmin=4KB,kmax=32KB", "window:threshold=8KB"]),
    },
)
UNEVEN = uneven()


@given(SETTINGS)
@settings(max_examples=60, deadline=None)
def test_any_settings_are_simulated_and_explained_or_refused(drawn: dict[str, Any]) -> None:
    for plan in (UNEVEN, ring("64KiB")):
        try:
            simulation = ll.simulate(plan, **drawn)
        except ll.InputError as error:
            assert error.field in drawn
            continue
        assert simulation.total_s == max(step.end_s for step in simulation.steps)
        assert math.fsum(part.seconds for part in simulation.differences()) == pytest.approx(
            simulation.total_s - simulation.predicted_total_s, abs=1e-15
        )
        # With flows, the load of a circuit in a step is rounded to bytes.
        rounded = len(simulation.circuits()) * len(simulation.steps) if simulation.settings.level == "flow" else 0
        assert abs(int(simulation.circuits().bytes.sum()) - simulation.wire_bytes) <= rounded / 2
        assert simulation.circuits().utilisation.max() <= 1


def test_every_option_says_its_default(cli: RunCli) -> None:
    text = " ".join(cli("simulate", "--help").out.partition("Simulation:")[2].split())
    for option, default in {
        "--level": "packet",
        "--packet-size": "4096B",
        "--header-size": "0B",
        "--injection": "burst",
        "--sync": "barrier",
        "--barrier": "0s",
        "--reconfiguration": "global",
        "--buffer": "no limit",
        "--symmetry": "quotient",
    }.items():
        _, _, help_of_option = text.partition(f" {option} " if option != "--level" else f"{option} ")
        assert f"[default: {default}" in help_of_option.split(" --")[0], option


def test_the_table_names_every_step_and_part(cli: RunCli, plan_file: Path) -> None:
    ran = cli("simulate", plan_file, "--header-size", "64B", "--barrier", "1us")
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert covered_steps(ran.out) == [1, 2, 3, 4, 5, 6]
    for name in ("packets", "utilisation", "queue", "plan", "headers", "burst", "barriers", "simulated"):
        assert any(line.startswith(f"{name} ") for line in lines), name
    assert "  +5.000 µs  " in next(line for line in lines if line.startswith("barriers"))


@pytest.mark.usefixtures("in_tmp")
def test_long_plans_fold(cli: RunCli) -> None:
    fabric = ll.Fabric(gpus=96)
    ll.plan("all-gather", size="96KiB", fabric=fabric, algorithm="ring", planner="static").save("plan.json")
    ran = cli("simulate", "plan.json")
    assert covered_steps(ran.out) == list(range(1, 96))
    assert len(ran.out.splitlines()) < 20


@pytest.mark.parametrize("planner", [entry["name"] for entry in _core.registry()["planners"]])
def test_the_plans_of_every_planner(cli: RunCli, in_tmp: Path, planner: str) -> None:
    collective = "all-to-all"
    for collective in ("all-to-all", "reduce-scatter"):
        # One that proves takes one port of few GPUs, and one algorithm.
        few, algorithm = (ll.Fabric(gpus=6), "ring") if planner == "exact" else (ll.Fabric(gpus=8, ports=2), None)
        try:
            plan = ll.plan(collective, size="64KiB", fabric=few, planner=planner, algorithm=algorithm)
        except ll.InputError:
            continue
        plan.save(in_tmp / "plan.json")
        ran = cli("simulate", "plan.json", "--format", "json", "--injection", "paced", "--packet-size", "64B")
        assert ran.status == 0, ran.err
        assert json.loads(ran.out)["total_s"] == pytest.approx(plan.total_s, rel=0.05)
        break
    else:
        pytest.fail(f"no plan of {planner}")


@pytest.mark.large
@pytest.mark.parametrize("format_", ["table", "json"])
def test_the_same_bytes_twice(cli: RunCli, plan_file: Path, format_: str) -> None:
    outputs = []
    for run in "ab":
        files = ["--trace", f"{run}.json.gz", "--plot", f"{run}.png"]
        outputs.append(cli("simulate", plan_file, "--format", format_, "--sync", "dataflow", *files).out)
    assert outputs[0] == outputs[1]
    for suffix in ("json.gz", "png"):
        assert (plan_file.parent / f"a.{suffix}").read_bytes() == (plan_file.parent / f"b.{suffix}").read_bytes()


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("level", ["--level", "packets"]),
        ("packet_size", ["--packet-size", "0B"]),
        ("packet_size", ["--packet-size", "4096 packets"]),
        ("packet_size", ["--packet-size", "2GiB"]),
        ("packet_size", ["--packet-size", "8GiB"]),
        ("header_size", ["--header-size", "-1B"]),
        ("header_size", ["--header-size", "1TiB"]),
        ("injection", ["--injection", "bursty"]),
        ("forwarding", ["--forwarding", "cutthrough"]),
        ("sync", ["--sync", "async"]),
        ("barrier", ["--barrier", "-1us"]),
        ("barrier", ["--barrier", "5"]),
        ("barrier", ["--barrier", "1us", "--sync", "dataflow"]),
        ("reconfiguration", ["--reconfiguration", "none"]),
        ("buffer", ["--buffer", "1KiB"]),
        ("buffer", ["--buffer", "64KiB", "--level", "flow"]),
        ("congestion_control", ["--congestion-control", "dcqn"]),
        ("congestion_control", ["--congestion-control", "dcqcn:kmin=100"]),
        ("congestion_control", ["--congestion-control", "window:kmin=1KB"]),
        ("congestion_control", ["--congestion-control", "dcqcn:kmin=9KB,kmax=8KB"]),
        ("injection", ["--congestion-control", "dcqcn", "--injection", "paced"]),
        ("level", ["--congestion-control", "dcqcn", "--level", "flow"]),
        ("buffer", ["--congestion-control", "window", "--buffer", "64KiB"]),
        ("symmetry", ["--symmetry", "half"]),
        ("trace", ["--trace", "trace.txt"]),
        ("trace", ["--trace", "no/such/folder/trace.json"]),
        ("plot", ["--plot", "plot.txt"]),
        ("plot", ["--plot", "no/such/folder/plot.png"]),
        ("format", ["--format", "xml"]),
        ("--trcae", ["--trcae", "trace.json"]),
    ],
)
def test_wrong_options(cli: RunCli, plan_file: Path, field: str, arguments: list[str]) -> None:
    extra = ["--trace", "t.json", "--plot", "p.png"] if field not in {"trace", "plot"} else []
    assert_refused(cli, plan_file.parent, "simulate", plan_file, *extra, *arguments, field=field)


def test_wrong_plans(cli: RunCli, plan_file: Path) -> None:
    folder = plan_file.parent
    (folder / "empty.json").write_text("")
    (folder / "other.json").write_text('{"schema": "lightloom.plan/2"}')
    for arguments in ([], ["nowhere.json"], ["empty.json"], ["other.json"], ["."], [plan_file, plan_file]):
        field = "arguments" if len(arguments) > 1 else ""
        assert_refused(cli, folder, "simulate", *arguments, "--trace", "t.json", field=field)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("packet_size", {"packet_size": 0}),
        ("packet_size", {"packet_size": 1.5}),
        ("header_size", {"header_size": -1}),
        ("header_size", {"header_size": math.nan}),
        ("barrier", {"barrier": -1e-6}),
        ("barrier", {"barrier": math.inf}),
        ("buffer", {"buffer": 10}),
        ("level", {"level": "bit"}),
    ],
)
def test_wrong_arguments(field: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(ll.InputError) as raised:
        ll.simulate(ring(), **wrong)
    assert raised.value.field == field


def test_packets_that_wait_for_each_other_are_named(cli: RunCli, plan_file: Path) -> None:
    assert_refused(cli, plan_file.parent, "simulate", plan_file, "--buffer", "4KiB", "--plot", "p.png", field="")


def test_bytes_may_be_written_without_a_unit(plan_file: Path) -> None:
    bare = ll.simulate(plan_file, packet_size="1500", header_size="64")
    assert bare.to_json() == ll.simulate(plan_file, packet_size=1500, header_size="64B").to_json()


@pytest.mark.parametrize("ports", [1, 2])
@pytest.mark.parametrize("planner", ["harvest", "static", "bvn", "pccl"])
def test_a_pipelined_plan_takes_what_is_simulated(planner: str, ports: int) -> None:
    fabric = ll.Fabric(gpus=16, ports=ports, reconfiguration_delay="1us")
    plan, additive = (
        ll.plan("all-reduce", "1MiB", fabric=fabric, algorithm="recursive-doubling", planner=planner, overlap=overlap)
        for overlap in ("pipelined", "additive")
    )
    assert ll.simulate(plan).total_s == pytest.approx(plan.total_s, rel=1e-9)
    # Chosen by packets, a plan is no slower in packets than one chosen by the sum.
    assert plan.total_s <= ll.simulate(additive).total_s * (1 + 1e-9) or planner in {"bvn", "pccl"}
    assert all(check.passed for check in ll.verify(plan))


def test_a_trace_does_not_replace_its_plan(cli: RunCli, plan_file: Path) -> None:
    before = plan_file.read_bytes()
    assert_refused(cli, plan_file.parent, "simulate", plan_file, "--trace", plan_file, field="trace")
    assert plan_file.read_bytes() == before


def test_packets_are_delayed_by_hops_under_every_convention() -> None:
    fabric = ll.Fabric(gpus=8, ports=2, reconfiguration_delay="1us")
    for planner in ("reconfigure-all-to-all", "topo-opt", "mixnet"):
        plan = ll.plan(
            "all-to-all", "1MB", fabric=fabric, planner=planner, convention="harvest-published", overlap="pipelined"
        )
        assert plan.lower_bound_s <= plan.total_s == pytest.approx(ll.simulate(plan).total_s, rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"packet_size": 0},
            "packet_size: `0` is not accepted; it takes a size such as 4096B or 4KiB, 1 to 1073741824 ",
        ),
        ({"packet_size": "-1B"}, "packet_size: `-1B` is not accepted; it takes a size such as 4096B or 4KiB, 1 to "),
        ({"packet_size": "1025MiB"}, "packet_size: `1025MiB` is not accepted; it takes a size such as 4096B or 4KiB, "),
        (
            {"header_size": -1},
            "header_size: `-1` is not accepted; it takes a size such as 4096B or 4KiB, 0 to 1073741824",
        ),
        ({"header_size": "2GiB"}, "header_size: `2GiB` is not accepted; it takes a size such as 4096B or 4KiB, 0 to "),
    ],
)
def test_messages_state_the_range_of_the_option(settings: dict[str, Any], said: str) -> None:
    plan = ll.plan("all-gather", "1KiB", fabric=ll.Fabric(gpus=4))
    with pytest.raises(ll.InputError) as error:
        ll.simulate(plan, **settings)
    assert str(error.value).startswith(said)
    # The largest of the range is taken.
    assert ll.simulate(plan, packet_size=1 << 30, header_size=0).total_s > 0
    assert ll.simulate(plan, packet_size=1, header_size=1 << 30).total_s > 0
