"""Plans as Chakra traces: run as ASTRA-sim does, the collective comes out; read back, the schedule does."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.formats.chakra import write as chakra
from lightloom.formats.chakra.files import written
from lightloom.formats.chakra.schedule import schedule_of
from lightloom.formats.chakra.trace import read_trace
from tests.conftest import RunCli
from tests.formats.plans import document_of, random_plan, random_plans
from tests.reference.chakra_execution import COMPUTE, RECEIVE, SEND, decode, hops, run
from tests.reference.plan_document import chunks_of

PAIR = tuple[int, int, str, tuple[int, ...]]


def joined(step: Iterable[tuple[int, int, str, Sequence[int]]]) -> list[PAIR]:
    """The transfers of a step, those of one pair and operation as one."""
    chunks: dict[tuple[int, int, str], list[int]] = {}
    for source, destination, operation, held in step:
        chunks.setdefault((source, destination, operation), []).extend(held)
    return sorted((*key, tuple(sorted(held))) for key, held in chunks.items())


def transfers(plan: ll.Plan) -> list[list[PAIR]]:
    return [
        joined((one.source, one.destination, one.operation, one.chunks.tolist()) for one in plan.transfers(step))
        for step in range(len(plan.steps))
    ]


def scheduled(schedule: ll.Schedule) -> list[list[PAIR]]:
    return [joined(schedule.transfers(step)) for step in range(len(schedule.shares))]


def written_to(folder: Path, files: list[bytes], name: str = "trace") -> Path:
    for rank, content in enumerate(files):
        (folder / f"{name}.{rank}.et").write_bytes(content)
    return folder


@pytest.mark.large
@settings(max_examples=60, deadline=None)
@given(index=st.integers(0, 400), seed=st.integers(0, 1 << 30))
def test_the_graphs_compute_the_collective_whatever_the_order(index: int, seed: int) -> None:
    plan = random_plan(index, 10)
    if plan is None or plan.gpus > 10:
        return
    told = chunks_of(document_of(plan))
    assert run(chakra.rank_files(plan), told.first, told.last, seed) == []


@pytest.mark.parametrize("plan", random_plans(12, 12), ids=repr)
def test_a_plan_reads_back_as_its_schedule(plan: ll.Plan, tmp_path: Path) -> None:
    schedule = schedule_of(read_trace("trace", written_to(tmp_path, chakra.rank_files(plan))))
    assert (schedule.collective, schedule.algorithm, schedule.gpus) == (plan.collective, plan.algorithm, plan.gpus)
    assert scheduled(schedule) == transfers(plan)
    assert schedule.shares.tolist() == pytest.approx([step.transfer_bytes / plan.size_bytes for step in plan.steps])
    assert all(check.passed for check in ll.verify(schedule))


@pytest.mark.parametrize("plan", random_plans(12, 12), ids=repr)
def test_hops_are_those_of_the_routes_on_circuits_that_are_up(plan: ll.Plan) -> None:
    sent = hops(chakra.rank_files(plan))
    for index, step in enumerate(plan.steps):
        up = {(int(source), int(destination)) for source, destination, _ in step.topology.links}
        expected: dict[tuple[int, int], float] = {}
        paths = 0
        for path in plan.routes(index):
            for hop in pairwise(path.gpus.tolist()):
                expected[hop] = expected.get(hop, 0.0) + path.size_bytes
                paths += 1
        found: dict[tuple[int, int], int] = {}
        for of, source, destination, size in sent:
            if of == index:
                assert (source, destination) in up
                found[source, destination] = found.get((source, destination), 0) + size
        assert found.keys() <= expected.keys()
        # A path's bytes are whole, and a pair's are rounded up.
        for hop, size_bytes in expected.items():
            assert found.get(hop, 0) == pytest.approx(size_bytes, abs=2 * paths)


def test_tags_are_one_a_message() -> None:
    plan = ll.plan("all-to-all", "1MiB", fabric=ll.Fabric(gpus=8), planner="static", topology="ring")
    nodes = [node for content in chakra.rank_files(plan) for node in decode(content)[1]]
    sends, received = ([node.values["comm_tag"] for node in nodes if node.kind == kind] for kind in (SEND, RECEIVE))
    assert len(sends) == len(set(sends))
    assert sorted(sends) == sorted(received)


@pytest.mark.parametrize("kind", [SEND, COMPUTE, RECEIVE])
def test_dependencies_that_are_missing_are_seen(kind: int, tmp_path: Path) -> None:
    """The judge is one: without those on one kind of node, some order of running computes something else."""
    plan = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8), algorithm="dissemination")
    told = chunks_of(document_of(plan))
    files = chakra.rank_files(plan)
    assert run(files, told.first, told.last, 1) == []
    trace = read_trace("trace", written_to(tmp_path, files))
    without = [
        written(
            trace.attributes,
            [
                node._replace(after=tuple(one for one in node.after if nodes[trace.places[rank][one]].kind != kind))
                for node in nodes
            ],
        )
        for rank, nodes in enumerate(trace.ranks)
    ]
    assert any(run(without, told.first, told.last, seed) for seed in range(20))


@pytest.mark.usefixtures("in_tmp")
def test_it_is_written_read_verified_and_planned_for(cli: RunCli) -> None:
    ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8), algorithm="ring").save("plan.json")
    ran = cli("export", "plan.json", "--to", "chakra", "--output", "traces")
    assert (ran.status, ran.err) == (0, "")
    assert sorted(path.name for path in Path("traces").iterdir()) == [
        *(f"all-reduce.{rank}.et" for rank in range(8)),
        "circuits.json",
    ]
    assert "circuits.json" in ran.out
    for what in ("traces", "traces/all-reduce.3.et"):
        ran = cli("verify", what)
        assert (ran.status, ran.err) == (0, "")
        assert "(trace): all 6 checks passed" in ran.out
    ran = cli("plan", "--schedule", "traces", "--size", "1MiB", "--output", "again.json")
    assert ran.status == 0, ran.err
    assert ll.Plan.load("again.json").total_s == ll.Plan.load("plan.json").total_s


def test_too_many_hops_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lightloom.formats.parcels.MAX_HOPS", 100)
    plan = ll.plan("all-to-all", "1MiB", fabric=ll.Fabric(gpus=16), planner="static", topology="ring")
    with pytest.raises(InputError, match=r"^plan: its paths have more than 100 hops"):
        chakra.rank_files(plan)


def test_the_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from lightloom.formats.chakra.schema import messages

    messages.cache_clear()
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    plan = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=4), algorithm="ring")
    with pytest.raises(InputError, match=r"^chakra: .* `protobuf`: pip install 'lightloom\[chakra\]'$"):
        chakra.rank_files(plan)
    messages.cache_clear()


def test_ten_steps_of_many_messages_have_few_dependencies() -> None:
    """Where many nodes end a step and many begin the next, one stands between: linear, not quadratic, in messages."""
    fabric = ll.Fabric(gpus=16)
    plan = ll.plan("all-to-all", "1MiB", fabric=fabric, algorithm="direct", planner="static", topology="ring")
    nodes = [node for content in chakra.rank_files(plan) for node in decode(content)[1]]
    assert sum(len(node.waits_for) for node in nodes) < 3 * len(nodes)
