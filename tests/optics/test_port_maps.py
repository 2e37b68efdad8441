"""Circuits on ports: they compose back to every topology, few of them move, and their files name faults."""

import json
import pickle
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import lightloom as ll
from tests.conftest import RunCli
from tests.optics.followed import circuits_of, composed, followed
from tests.planning.test_plan_file import PROBLEMS


def two_port_plan() -> ll.Plan:
    fabric = ll.Fabric(gpus=16, ports=2, reconfiguration_delay="100ns", initial="ring")
    return ll.plan("all-to-all", "4KiB/pair", fabric=fabric)


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_a_crossbar_composes_back_to_every_topology(problem: dict[str, Any]) -> None:
    plan = ll.plan(**problem)
    circuits = ll.circuits(plan)
    ports = plan.ports
    assert circuits.switches == (("crossbar", plan.gpus * ports),)
    held = list(followed(circuits))
    for joined, configuration in zip(held, circuits.configurations, strict=True):
        topology = plan.topologies[configuration.topology_index]
        assert composed(joined, lambda _, port: (port - 1) // ports) == circuits_of(topology)
        for step in configuration.steps:
            assert circuits_of(plan.steps[step].topology) == circuits_of(topology)
    assert [step for configuration in circuits.configurations for step in configuration.steps] == list(
        range(len(plan.steps))
    )


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_a_crossbar_sets_up_what_the_topology_before_lacks_and_no_more(problem: dict[str, Any]) -> None:
    plan = ll.plan(**problem)
    circuits = ll.circuits(plan)
    sequence = [circuits_of(plan.topologies[one.topology_index]) for one in circuits.configurations]
    lacking = sum((after - before).total() for before, after in pairwise(sequence))
    assert circuits.connects == circuits.least_connects == lacking


def test_a_plan_that_leaves_its_start_begins_with_it() -> None:
    plan = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=8, initial="ring", reconfiguration_delay="1us"))
    fixed = ll.plan(
        "all-reduce",
        "1MiB",
        fabric=ll.Fabric(gpus=8, initial="ring", reconfiguration_delay="1ns"),
        algorithm="halving-doubling",
        planner="bvn",
    )
    assert ll.circuits(plan).configurations[0].steps[:1] == (0,)
    first, second = ll.circuits(fixed).configurations[:2]
    assert (first.steps, first.time_s, second.steps, second.time_s) == ((), 0.0, (0,), 0.0)
    assert circuits_of(fixed.topologies[first.topology_index]) == circuits_of(ll.Topology.named("ring", 8, (), 1))


def test_a_start_with_the_circuits_of_a_later_topology_is_among_the_topologies() -> None:
    plan = ll.plan(
        "all-reduce",
        "64MiB",
        fabric=ll.Fabric(gpus=4, reconfiguration_delay="1ns", initial="ring:one-way"),
        algorithm="bruck",
        planner="harvest",
        candidates=["circulant:2", "circulant:1"],
    )
    names = [plan.topologies[one.topology_index].name for one in ll.circuits(plan).configurations]
    assert names[0] == "ring:one-way"
    assert set(names[1:]) == {"circulant:1", "circulant:2"}
    assert [topology["name"] for topology in json.loads(plan.to_json())["topologies"]] == [
        topology.name for topology in plan.topologies
    ]


def test_changes_begin_when_the_step_before_ends() -> None:
    plan = ll.plan(
        "all-reduce",
        "1MiB",
        fabric=ll.Fabric(gpus=64, reconfiguration_delay="1us"),
        algorithm="recursive-doubling",
        planner="harvest",
    )
    circuits = ll.circuits(plan)
    assert len(circuits.configurations) == 9
    for configuration in circuits.configurations[1:]:
        before = sum(step.total_s for step in plan.steps[: configuration.steps[0]])
        assert configuration.time_s == pytest.approx(before, rel=1e-12)


def plan_in_the_background() -> ll.Plan:
    """One that changes by 10 µs behind every step before."""
    return ll.plan(
        "all-reduce",
        "1GiB",
        fabric=ll.Fabric(gpus=8, ports=2, reconfiguration_delay="10us", background_reconfiguration=True),
        algorithm="recursive-doubling",
        candidates=["circulant:1", "circulant:2", "circulant:4"],
        planner="harvest",
    )


def test_a_change_in_the_background_begins_while_the_step_before_runs() -> None:
    plan = plan_in_the_background()
    second = ll.circuits(plan).configurations[1]
    (first,) = second.steps[:1]
    before = sum(step.total_s for step in plan.steps[:first])
    assert plan.steps[first].reconfiguration_s == 0.0
    assert second.time_s == pytest.approx(before - 10e-6, rel=1e-9)


def test_ports_that_the_step_before_uses_are_moved_when_it_ends() -> None:
    plan = plan_in_the_background()
    # A dark port each as the plan has it, then one port each, which the step before uses.
    dark, lit = (ll.circuits(plan, f"islands:1x{ports}") for ports in (2, 1))
    ends = [sum(step.total_s for step in plan.steps[: one.steps[0]]) for one in lit.configurations]
    assert plan.reconfigurations > 1
    assert [one.time_s for one in lit.configurations] == pytest.approx(ends, rel=1e-12)
    assert [one.time_s for one in dark.configurations[1:]] == pytest.approx([end - 10e-6 for end in ends[1:]], rel=1e-9)
    assert dark.charged_s == 0.0
    assert lit.charged_s == pytest.approx(plan.reconfigurations * 10e-6, rel=1e-9)
    assert all(check.passed for circuits in (dark, lit) for check in ll.verify(circuits))
    document = json.loads(lit.to_json())
    for told, early in zip(document["configurations"], dark.configurations, strict=True):
        told["time_s"] = early.time_s
    judged = ll.verify(ll.Circuits.from_json(json.dumps(document)), plan=plan, optics="islands:1x1")
    assert [check.name for check in judged if not check.passed] == ["times"]


def test_a_delay_per_port_is_charged_for_every_transmitter_that_changes() -> None:
    # GPU 0 gives a circuit up and GPU 2 sets one up: transmitters of both change, though one circuit is new.
    ring = [(gpu, (gpu + 1) % 4, 1) for gpu in range(4)]
    start = ll.Topology.from_links("start", 4, [*ring, (0, 2, 1)])
    other = ll.Topology.from_links("other", 4, [*ring, (2, 0, 1)])
    fabric = ll.Fabric(gpus=4, ports=2, reconfiguration_delay="1us+10ns/port", initial=start)
    plan = ll.plan("all-gather", "1MiB", fabric=fabric, algorithm="ring", planner="static", topology=other)
    circuits = ll.circuits(plan)
    (changed,) = circuits.configurations[1].switches
    transmitters = {ingress for ingress, _ in [*changed.connect.tolist(), *changed.disconnect.tolist()]}
    assert len(transmitters) == 2
    assert plan.steps[0].reconfiguration_s == pytest.approx(1e-6 + len(transmitters) * 10e-9, rel=1e-12)
    assert circuits.charged_s == pytest.approx(plan.steps[0].reconfiguration_s, rel=1e-12)


def test_json_has_the_keys_of_the_contract_and_reads_back() -> None:
    circuits = ll.circuits(two_port_plan())
    document = json.loads(circuits.to_json())
    assert list(document) == ["schema", "switches", "configurations"]
    assert document["schema"] == "lightloom.circuits/1"
    assert list(document["switches"][0]) == ["name", "ports"]
    for configuration in document["configurations"]:
        assert list(configuration) == ["topology", "steps", "time_s", "switches"]
        for switch in configuration["switches"]:
            assert list(switch) == ["name", "connections", "connect", "disconnect"]
    again = ll.Circuits.from_json(circuits.to_json())
    assert again == circuits
    assert again.to_json() == circuits.to_json()
    copied = pickle.loads(pickle.dumps(circuits))  # noqa: S301
    assert (copied, copied.least_connects, copied.labels) == (circuits, circuits.least_connects, circuits.labels)
    assert hash(again) == hash(circuits)


def test_arrays_are_read_only() -> None:
    setting = ll.circuits(two_port_plan()).configurations[0].switches[0]
    assert setting.connections.shape[1] == 2
    assert setting.connections.dtype == np.uint32
    with pytest.raises(ValueError, match="read-only"):
        setting.connections[0, 0] = 7


def wrong_documents() -> list[tuple[str, Any]]:
    def changed(change: Any) -> str:
        document = json.loads(ll.circuits(two_port_plan()).to_json())
        change(document)
        return json.dumps(document)

    def at(document: Any) -> Any:
        return document["configurations"][1]["switches"][0]

    place = "circuits.configurations[1].switches[0]"
    return [
        ("circuits", "["),
        ("circuits.schema", changed(lambda d: d.update(schema="lightloom.circuits/2"))),
        ("circuits.switches[0].ports", changed(lambda d: d["switches"][0].update(ports=0))),
        (f"{place}.name", changed(lambda d: at(d).update(name="other"))),
        (f"{place}.connections", changed(lambda d: at(d)["connections"].append([1, 33]))),
        (f"{place}.connect", changed(lambda d: at(d)["connect"].pop())),
        (f"{place}.disconnect", changed(lambda d: at(d)["disconnect"].append([1, 1]))),
        ("circuits.configurations[1].time_s", changed(lambda d: d["configurations"][1].update(time_s=-1))),
        ("circuits.configurations[1]", changed(lambda d: d["configurations"][1].update(colour="red"))),
        ("circuits.configurations[1]", changed(lambda d: d["configurations"][1].pop("steps"))),
    ]


@pytest.mark.parametrize(("field", "text"), wrong_documents())
def test_a_wrong_file_is_refused_with_its_place(field: str, text: str) -> None:
    with pytest.raises(ll.InputError) as refused:
        ll.Circuits.from_json(text)
    assert refused.value.field.startswith(field)
    assert "\n" not in str(refused.value)


def test_the_command_writes_what_it_prints(cli: RunCli, plan_file: Path) -> None:
    made = cli("circuits", plan_file, "--format", "json", "--output", "circuits.json", "--plot", "circuits.png")
    assert made.status == 0
    assert Path("circuits.json").read_text("utf-8") == made.out
    assert ll.Circuits.load("circuits.json") == ll.circuits(ll.Plan.load(plan_file))
    assert Path("circuits.png").stat().st_size > 1000


def test_csv_has_a_row_a_connection(cli: RunCli, plan_file: Path) -> None:
    plan = two_port_plan()
    plan.save(plan_file)
    header, *rows = cli("circuits", plan_file, "--format", "csv").out.splitlines()
    assert header == "configuration,topology_index,time_s,switch,ingress,egress,change"
    circuits = ll.circuits(plan)
    told = [one for configuration in circuits.configurations for one in configuration.switches]
    assert len(rows) == sum(len(one.connections) + len(one.disconnect) for one in told)
    frame = circuits.to_pandas()
    assert frame[frame.change == "connect"].groupby("configuration").size().tolist() == [
        configuration.connects for configuration in circuits.configurations
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('kind = "ring"', "error: optics: unknown name `ring`"),
        ('kind = "crossbar:2"', "error: optics: `crossbar:2` is not accepted; it takes `crossbar` without parameters"),
        ('kind = "crossbar"\nswitch_ports = 4', "error: switch_ports: 4 is not accepted; it takes at least"),
        (
            'kind = "crossbar"\nnames = ["a", "b"]',
            "error: names: a list of 2 names is not accepted; it takes one name for each switch, 1 in all",
        ),
        ('kind = "crossbar"\nnames = ["a\\nb"]', "error: names: it must be one line of 1 to 100 bytes"),
        ('names = ["a"]', "error: kind: it is missing"),
        ('kind = "crossbar"\ncolour = "red"', "error: optics: unknown name `colour`"),
    ],
)
def test_a_wrong_description_is_one_line(cli: RunCli, plan_file: Path, text: str, line: str) -> None:
    Path("optics.toml").write_text(text, "utf-8")
    refused = cli("circuits", plan_file, "--optics", "optics.toml")
    assert refused.status == 2
    assert refused.err.startswith(line)
    assert refused.err.count("\n") == 1


def test_a_description_names_switches_and_their_size(plan_file: Path) -> None:
    Path("optics.toml").write_text('kind = "crossbar"\nnames = ["row 3"]\nswitch_ports = 320\n', "utf-8")
    assert ll.circuits(plan_file, "optics.toml").switches == (("row 3", 320),)
    assert ll.circuits(plan_file, ll.Optics(names=("row 3",), switch_ports=320)).switches == (("row 3", 320),)


def test_a_plan_that_fails_its_judge_is_refused(cli: RunCli, plan_file: Path) -> None:
    document = json.loads(plan_file.read_text("utf-8"))
    document["steps"][0]["load"] = 5.0
    plan_file.write_text(json.dumps(document), "utf-8")
    refused = cli("circuits", plan_file)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith("error: plan: the plan fails the check")


def test_a_file_of_circuits_is_shown_as_its_plan_is(cli: RunCli, in_tmp: Path) -> None:
    two_port_plan().save(in_tmp / "plan.json")
    ofs = {}
    for source in ("plan.json", "circuits.json"):
        more = ["--output", "circuits.json"] if source == "plan.json" else []
        ofs[source] = {form: cli("circuits", source, *more, "--format", form).out for form in ("json", "csv")}
    assert ofs["plan.json"] == ofs["circuits.json"]
    shown, again = (cli("circuits", source, "--all-connections").out for source in ofs)
    # A file of circuits does not know the names of topologies, nor the GPUs at the ports.
    lines = [line for line in again.splitlines() if re.match(r"connect |disconnect |keep ", line)]
    assert lines
    assert lines == [line for line in shown.splitlines() if re.match(r"connect |disconnect |keep ", line)]
    assert cli("circuits", "circuits.json", "--plot", "circuits.png").status == 0


def looks_of(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_a_picture_explains_the_looks_that_it_has() -> None:
    changing = ll.circuits(two_port_plan(), "parallel").plot()
    assert looks_of(changing)[0] == "set up for this configuration"
    still = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=8), algorithm="ring", planner="static")
    figure = ll.circuits(still).plot()
    assert looks_of(figure) == ["set up for this configuration"]
    assert figure.get_suptitle() == "all-gather on 8 GPUs: one configuration of 8 connections"
    texts = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert {"ingress", "egress"} <= texts


@pytest.mark.parametrize("optics", ["crossbar", "parallel"])
def test_a_matrix_marks_what_a_configuration_changes(optics: str) -> None:
    plan = ll.plan("all-reduce", "4MiB", fabric=ll.Fabric(gpus=32, ports=2), algorithm="recursive-doubling")
    circuits = ll.circuits(plan, optics)
    panels = iter(axes for axes in circuits.plot().axes if axes.collections)
    for switch in range(len(circuits.switches)):
        before: set[tuple[int, int]] = set()
        for configuration in circuits.configurations[: 12 if optics == "crossbar" else 4]:
            axes = next(panels)
            now = {(ingress, egress) for ingress, egress in configuration.switches[switch].connections.tolist()}
            marks = [np.asarray(one.get_offsets()).astype(int).tolist() for one in axes.collections]
            shown = [{(ingress, egress) for egress, ingress in places} for places in marks]
            assert shown == [before - now, before & now, now - before]
            assert f"{len(now - before)} set up, {len(before & now)} kept" in axes.get_title()
            before = now
    assert next(panels, None) is None
