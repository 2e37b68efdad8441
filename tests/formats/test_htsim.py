"""Plans as htsim's connection matrices: run as htsim does, every byte of every step is sent, step by step."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.formats.htsim import write as htsim
from lightloom.formats.htsim.read import parsed, read, recognises
from lightloom.formats.output import MAIN
from lightloom.formats.source import Source
from tests.conftest import RunCli
from tests.draws import cases
from tests.formats.plans import random_plan, random_plans
from tests.reference.htsim_execution import Stopped, load, run

Sent = dict[tuple[int, int, int], float]


def matrix_of(plan: ll.Plan) -> str:
    return htsim.export(plan).files[MAIN].decode()


def sent_by(plan: ll.Plan) -> Sent:
    sent: Sent = {}
    for index in range(len(plan.steps)):
        for one in plan.transfers(index):
            key = (index, one.source, one.destination)
            sent[key] = sent.get(key, 0.0) + one.size_bytes
    return sent


@settings(max_examples=60, deadline=None)
@given(index=st.integers(0, 400), seed=st.integers(0, 1 << 30))
def test_every_byte_is_sent_step_by_step(index: int, seed: int) -> None:
    plan = random_plan(index, 16)
    if plan is None:
        return
    ended = run(matrix_of(plan), seed)
    found: Sent = {}
    for round_, flow in ended:
        key = (round_, flow.src, flow.dst)
        found[key] = found.get(key, 0) + flow.size
    expected = sent_by(plan)
    assert found.keys() == expected.keys()
    for key, size_bytes in expected.items():
        assert size_bytes - 1e-6 * size_bytes <= found[key] < max(1.0, size_bytes) + 1
    # A flow ends before any of the next step begins.
    rounds = [round_ for round_, _ in ended]
    assert rounds == sorted(rounds)
    assert load(matrix_of(plan))[0] == plan.gpus


# Keys that the loader requires of every tier, in fat_tree_topology.cpp.
TIER = {"Downlink_speed_Gbps", "Downlink_Latency_ns", "Radix_Down"}


def tree_of(content: bytes) -> tuple[dict[str, int], list[dict[str, int]]]:
    """The header and the tiers of a .topo file, by the rules of FatTreeTopology::load and set_custom_params."""
    header: dict[str, int] = {}
    tiers: list[dict[str, int]] = []
    for line in content.decode().splitlines():
        if line.startswith("#"):
            continue
        name, value = line.split(" ")
        if name == "Tier":
            assert int(value) == len(tiers)
            tiers.append({})
        else:
            of = tiers[-1] if tiers else header
            assert name not in of
            of[name] = int(value)
    assert set(header) == {"Nodes", "Tiers", "Podsize"}
    assert len(tiers) == header["Tiers"] == 2
    assert [set(tier) for tier in tiers] == [TIER | {"Radix_Up"}, TIER]
    assert all(value > 0 for tier in tiers for value in tier.values())
    lower, upper = tiers
    assert header["Nodes"] % header["Podsize"] == 0
    assert header["Podsize"] % lower["Radix_Down"] == 0
    assert lower["Radix_Down"] // lower["Radix_Up"] == 1
    assert lower["Downlink_speed_Gbps"] == upper["Downlink_speed_Gbps"]
    pods = header["Nodes"] // header["Podsize"]
    assert header["Nodes"] % (pods * upper["Radix_Down"]) == 0
    assert header["Nodes"] // (pods * upper["Radix_Down"]) == lower["Radix_Up"]
    return header, tiers


@pytest.mark.parametrize(("gpus", "tiers"), [(6, None), (8, 2), (12, None), (16, 3), (32, 2), (54, 3)])
@pytest.mark.parametrize("ports", [1, 3])
def test_the_command_and_the_topology_are_htsim_s(gpus: int, tiers: int | None, ports: int, tmp_path: Path) -> None:
    fabric = ll.Fabric(gpus=gpus, ports=ports, bandwidth="100Gbps", hop_delay="600ns")
    plan = ll.plan("all-reduce", "1GiB", fabric=fabric, algorithm="ring", planner="static", topology="ring")
    made = ll.export(plan, "htsim", tmp_path / "plan.cm")
    header, (lower, _) = tree_of((tmp_path / "plan.cm.topo").read_bytes())
    assert (header["Nodes"], lower["Downlink_speed_Gbps"], lower["Downlink_Latency_ns"]) == (gpus, 100 * ports, 300)
    command = shlex.split(made.notes[0].removeprefix("run with: "))
    assert command[0] == "htsim_ndp"
    given = dict(zip(command[1::2], command[2::2], strict=True))
    assert given["-nodes"] == str(gpus)
    assert given["-tm"] == str(tmp_path / "plan.cm")
    assert given["-topo"] == str(tmp_path / "plan.cm.topo")
    assert float(given["-linkspeed"]) == 100_000 * ports
    assert given["-strat"] == "perm"
    assert int(given["-end"]) * 1e-6 > plan.total_s
    # Its own fat trees have K^2/2 hosts on two tiers and K^3/4 on three.
    own = [note for note in made.notes if "own fat tree" in note]
    assert (f"-tiers {tiers} " in own[0]) if tiers else own == []
    assert any("one network card" in note for note in made.notes) == (ports > 1)


def test_rates_that_a_topology_cannot_say_go_into_the_command(tmp_path: Path) -> None:
    plan = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8, bandwidth="12.5Gbps"), algorithm="ring")
    made = ll.export(plan, "htsim", tmp_path / "plan.cm")
    assert not (tmp_path / "plan.cm.topo").exists()
    assert "-linkspeed 12500 " in made.notes[0]
    assert " -tiers 2 " in made.notes[0]
    assert made.notes[1] == "no .topo: its rates are whole Gbit/s, and a GPU has 12.5 Gbit/s"


def test_flows_beyond_what_htsim_reads_are_several() -> None:
    plan = ll.plan("all-gather", "10GiB", fabric=ll.Fabric(gpus=2), algorithm="ring")
    sizes = [flow.size for _, flow in run(matrix_of(plan), 0)]
    assert len(sizes) == 6
    assert max(sizes) < 2**31
    assert sum(sizes) == 10 << 30


@pytest.mark.parametrize("plan", random_plans(10, 12), ids=repr)
def test_a_matrix_reads_back_as_its_flows(plan: ll.Plan, tmp_path: Path) -> None:
    (tmp_path / "plan.cm").write_text(matrix_of(plan))
    source = Source("schedule", tmp_path / "plan.cm")
    assert recognises(source)
    schedule = read(source)
    assert all(check.passed for check in ll.verify(schedule))
    found = {
        (step, source_, destination)
        for step in range(len(schedule.shares))
        for source_, destination, _, _ in schedule.transfers(step)
    }
    assert found == sent_by(plan).keys()
    flows = [(flow.source, flow.destination, flow.size_bytes) for flow in parsed("file", matrix_of(plan)).flows]
    assert flows == [(one.src, one.dst, one.size) for one in load(matrix_of(plan))[1]]
    largest = max(size for size in sent_by(plan).values())
    assert schedule.shares.max() * _most(flows) == pytest.approx(largest, abs=1)


def _most(flows: list[tuple[int, int, int]]) -> int:
    total: dict[tuple[str, int], int] = {}
    for source, destination, size in flows:
        for key in (("from", source), ("to", destination)):
            total[key] = total.get(key, 0) + size
    return max(total.values())


# As gen_allreduce.py of htsim writes them: the next hop of a ring once the one before is done.
CHAIN = """Nodes 16
# four nodes of sixteen
Connections 4
Triggers 3

0->1 id 1 start 0 size 1000 send_done_trigger 1
1->2 id 2 trigger 1 size 1000 send_done_trigger 2
2->3 id 3 trigger 2 size 1000 recv_done_trigger 3
3->0 id 4 trigger 3 size 500
trigger id 1 oneshot
trigger id 2 multishot
trigger id 3 barrier count 1
"""


def test_a_chain_of_others_is_planned_for(tmp_path: Path, cli: RunCli) -> None:
    (tmp_path / "chain.cm").write_text(CHAIN)
    ran = cli("plan", "--schedule", tmp_path / "chain.cm", "--size", "2000B", "--output", tmp_path / "plan.json")
    assert ran.status == 0, ran.err
    plan = ll.Plan.load(tmp_path / "plan.json")
    assert (plan.collective, plan.gpus, plan.algorithm) == ("all-to-all", 16, "chain")
    # Node 2 receives and sends 1000 B, node 3 receives 1000 B and sends 500: m is 1000 B, here twice as much.
    assert [step.transfer_bytes for step in plan.steps] == [2000, 2000, 2000, 1000]
    assert cli("verify", tmp_path / "chain.cm").status == 0


WRONG = {
    "Connections": (("Connections 4", "Connections 5"), "the head states Connections 5, and the file has 4"),
    "Triggers": (("Triggers 3", ""), "the head states Triggers 0, and the file has 3"),
    "Nodes": (("Nodes 16", "Nodes 3"), "line 8 is from 2 to 3; it takes two of the nodes 0 to 2"),
    "size": (("size 500", "size 0"), "line 9 has no size; without one a flow never ends"),
    "word": (("size 500", "sise 500"), "line 9 has `sise`; it takes id, prio, recv_done_trigger, "),
    "start": (("id 4 trigger 3", "id 4"), "line 9 must have either start or trigger"),
    "both": (("id 4 trigger 3", "id 4 start 0 trigger 3"), "line 9 must have either start or trigger"),
    "id": (("id 4 trigger 3", "trigger 3"), "line 9 has a trigger and no id before the trigger"),
    "twice": (("id 4", "id 3"), "line 9 has id 3; it takes an id above 0 that no other flow has"),
    "no trigger": (("trigger 3 size", "trigger 4 size"), "line 9 names trigger 4, which no line defines"),
    "kind": (("id 3 barrier count 1", "id 3"), "line 12 takes one of oneshot, multishot and barrier"),
    "count": (("count 1", "count 2"), "line 12: trigger 3 waits for 2 flows, but 1 set it off"),
    "oneshot": (
        ("id 2 multishot", "id 1 oneshot"),
        "line 11 has id 1; it takes an id above 0 that no other trigger has",
    ),
    "circle": (
        ("0->1 id 1 start 0 size 1000 send_done_trigger 1", "0->1 id 1 trigger 3 size 1000 send_done_trigger 1"),
        "line 6 never starts: triggers wait for each other (deadlock)",
    ),
    "int": (
        ("size 500", "size 2147483648"),
        "line 9 has size `2147483648`; it takes a whole number from 0 to",
    ),
    "line": (("trigger id 1", "triggers id 1"), "line 10 begins with `triggers`; it takes SOURCE->DESTINATION or tri"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_wrong_matrices_are_refused_in_a_line(
    change: tuple[str, str], message: str, tmp_path: Path, cli: RunCli
) -> None:
    assert change[0] in CHAIN
    text = CHAIN.replace(change[0], change[1], 1)
    (tmp_path / "wrong.cm").write_text(text)
    ran = cli("plan", "--schedule", tmp_path / "wrong.cm", "--size", "1KB")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"error: schedule: {message}")
    assert ran.err.count("\n") == 1
    if change[0] != "Nodes 16":  # which it does not compare flows with
        with pytest.raises((Stopped, StopIteration)):
            run(text, 0)


PLAN = ll.plan("all-reduce", "1000B", fabric=ll.Fabric(gpus=4), algorithm="recursive-doubling", planner="static")
LINES = matrix_of(PLAN).splitlines()
TOKENS = ["0", "1", "9", "-1", "x", "", "id", "trigger", "oneshot", "barrier", "count", "size", "start", "1->2", "#"]


@settings(max_examples=cases(400), deadline=None)
@given(seed=st.integers(0, 1 << 30), changes=st.integers(1, 3))
def test_what_is_read_is_what_htsim_runs(seed: int, changes: int) -> None:
    """Tokens replaced, put in and left out: files at which htsim stops are refused; others run as they were read."""
    chance = random.Random(seed)  # noqa: S311 (what is changed, not a secret)
    lines = list(LINES)
    for _ in range(changes):
        place = chance.randrange(len(lines))
        tokens = lines[place].split(" ")
        where = chance.randrange(len(tokens))
        tokens[where : where + chance.randrange(2)] = [chance.choice(TOKENS)] * chance.randrange(2)
        lines[place] = " ".join(tokens)
    text = "\n".join(lines) + "\n"
    try:
        matrix = parsed("file", text)
        from lightloom.formats.htsim.read import _steps

        steps = _steps("file", matrix)
    except InputError as error:
        assert error.field == "file"
        assert "\n" not in str(error)
        return
    ended = run(text, seed)
    assert sorted((round_, one.src, one.dst, one.size) for round_, one in ended) == sorted(
        (step, flow.source, flow.destination, flow.size_bytes) for step, flow in zip(steps, matrix.flows, strict=True)
    )
