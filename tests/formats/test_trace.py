"""Traces of other tools: reading them, and the one-line errors of wrong ones."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.formats.chakra import write as chakra
from lightloom.formats.chakra.files import Node, written
from lightloom.formats.chakra.schedule import schedule_of
from lightloom.formats.chakra.schema import NodeType
from lightloom.formats.chakra.trace import read_trace
from lightloom.planning.trace_checks import verify_trace
from tests.conftest import MSCCL, RunCli
from tests.data import FOLDER, needs
from tests.draws import cases
from tests.formats.traces import add, collective, folder_of, receive, send

RING_NAME, PYTORCH_NAME = "chakra/ring_allreduce_8gpus_1MB", "chakra/pytorch_trace_1rank.tar.gz"
RING, STG, PYTORCH = FOLDER / RING_NAME, FOLDER / "stg", FOLDER / PYTORCH_NAME


@needs(RING_NAME, "msccl/ring_allreduce_8gpus.xml")
def test_the_ring_of_astra_sim_is_the_ring(cli: RunCli) -> None:
    """ASTRA-sim made it of an MSCCL program, which is next to it: the same schedule, planned for like our own."""
    theirs = schedule_of(read_trace("trace", RING))
    assert (theirs.collective, theirs.gpus, len(theirs.shares)) == ("all-reduce", 8, 14)
    assert theirs.shares.tolist() == [1 / 8] * 14
    program = ll.Schedule.from_msccl((MSCCL / "ring_allreduce_8gpus.xml").read_text())
    for step in range(14):
        pairs = [[one[:3] for one in schedule.transfers(step)] for schedule in (theirs, program)]
        assert pairs[0] == pairs[1]
    ours = ll.plan("all-reduce", size="1MiB", fabric=ll.Fabric(gpus=8), algorithm="ring")
    assert ll.plan(schedule=RING, size="1MiB").total_s == ours.total_s
    ran = cli("verify", RING)
    assert (ran.status, ran.err) == (0, "")
    assert "14 steps" not in ran.err
    assert "112, each sent once and received once; 14 MiB in all" in ran.out


@needs("stg")
def test_the_training_iteration_has_its_collectives_in_groups(cli: RunCli) -> None:
    trace = read_trace("trace", STG)
    assert len(trace.ranks) == 8
    assert trace.groups["5"] == (0, 2)
    # 16 messages between the two pipeline stages, as the generator makes them; 46 collectives a rank.
    assert len(trace.messages) == 16
    assert {message.size_bytes for message in trace.messages} == {8388608}
    assert sum(trace.collectives.values()) == 8 * 46
    ran = cli("verify", STG)
    assert (ran.status, ran.err) == (0, "")
    assert "the same at all ranks of 16 groups" in " ".join(ran.out.split())
    ran = cli("plan", "--schedule", STG, "--size", "1MiB")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: schedule: `w` has nodes of whole collectives (192 all-gather, ")


@needs(PYTORCH_NAME)
def test_a_real_trace_of_pytorch_is_read(tmp_path: Path, cli: RunCli) -> None:
    with tarfile.open(PYTORCH) as archive:
        archive.extractall(tmp_path, filter="data")
    (file,) = tmp_path.rglob("*.et")
    trace = read_trace("trace", file)
    # Counted by those who published it.
    assert len(trace.ranks[0]) == 3664
    assert sum(trace.collectives.values()) == 21
    assert trace.collectives["of no stated type"] == 14
    ran = cli("verify", file)
    assert (ran.status, ran.err) == (0, "")


RING_OF_3 = [
    [send(0, 1), receive(1, 2, (0,)), add(2, (1,)), send(3, 1, (2,)), receive(4, 2, (3,)), add(5, (4,))],
    [send(0, 2), receive(1, 0, (0,)), add(2, (1,)), send(3, 2, (2,)), receive(4, 0, (3,)), add(5, (4,))],
    [send(0, 0), receive(1, 1, (0,)), add(2, (1,)), send(3, 0, (2,)), receive(4, 1, (3,)), add(5, (4,))],
]


def test_what_is_not_stated_is_inferred(tmp_path: Path) -> None:
    """A ring ReduceScatter of 3 ranks: the chunk that rank r sends first ends at rank r + 2."""
    schedule = schedule_of(read_trace("trace", folder_of(tmp_path, *RING_OF_3)))
    assert (schedule.collective, schedule.algorithm) == ("reduce-scatter", "t")
    assert schedule.transfers(0) == [(0, 1, "reduce", [2]), (1, 2, "reduce", [0]), (2, 0, "reduce", [1])]
    assert schedule.transfers(1) == [(0, 1, "reduce", [1]), (1, 2, "reduce", [2]), (2, 0, "reduce", [0])]


def test_a_tree_that_sends_one_buffer_twice_is_a_broadcast(tmp_path: Path) -> None:
    ranks = [[send(0, 1), send(1, 2, (0,))], [receive(0, 0), send(1, 3, (0,))], [receive(0, 0)], [receive(0, 1)]]
    schedule = schedule_of(read_trace("trace", folder_of(tmp_path, *ranks, collective="Broadcast")))
    assert schedule.collective == "broadcast"
    assert [schedule.transfers(step) for step in range(2)] == [
        [(0, 1, "copy", [0]), (0, 2, "copy", [0])],
        [(1, 3, "copy", [0])],
    ]


def test_blocks_sent_straight_are_an_all_to_all(tmp_path: Path) -> None:
    """Rank r sends to r + 1, then to r + 2, and waits for its receive between: nothing is passed on."""
    ranks = [
        [send(0, (r + 1) % 3), receive(1, (r - 1) % 3), send(2, (r + 2) % 3, (0, 1)), receive(3, (r - 2) % 3)]
        for r in range(3)
    ]
    schedule = schedule_of(read_trace("trace", folder_of(tmp_path, *ranks, collective="ALL_TO_ALL")))
    assert schedule.collective == "all-to-all"
    assert schedule.transfers(0) == [(0, 1, "copy", [1]), (1, 2, "copy", [5]), (2, 0, "copy", [6])]
    assert schedule.transfers(1) == [(0, 2, "copy", [2]), (1, 0, "copy", [3]), (2, 1, "copy", [7])]


WRONG = {
    "unmatched send": (
        [[send(0, 1)], [add(0, ())]],
        r"node 0 \(send0\) of rank 0 sends to rank 1 with tag 0; rank 1 has no receive for it",
    ),
    "unmatched receive": (
        [[add(0, ())], [receive(5, 0, comm_tag=3)]],
        r"node 5 \(receive5\) of rank 1 receives from rank 0 with tag 3; rank 0 has no send for it",
    ),
    "sizes": (
        [[send(0, 1, comm_size=9)], [receive(1, 0)]],
        r"node 0 \(send0\) of rank 0 sends 9 bytes with tag 0, node 1 \(receive1\) of rank 1 receives 8",
    ),
    "cycle": (
        [[add(0, (1,)), add(1, (0,))], []],
        r"node 0 \(add0\) of rank 0 waits for itself through others: a cyclic dependency",
    ),
    "deadlock": (
        [[receive(0, 1), send(1, 1, (0,))], [receive(0, 0), send(1, 0, (0,))]],
        r"node 0 \(receive0\) of rank 0 never ends: ranks wait for each other's messages \(deadlock\)",
    ),
    "absent": ([[add(0, (7,))], []], r"node 0 \(add0\) of rank 0 waits for node 7, which does not exist"),
    "twice": ([[add(0, ()), add(0, ())], []], r"node 0 \(add0\) of rank 0: another node has the same id"),
    "itself": ([[send(0, 0)], []], r"node 0 \(send0\) of rank 0 has comm_dst 0; it takes another of the ranks 0 to 1"),
    "no rank": ([[send(0, 2)], []], r"node 0 \(send0\) of rank 0 has comm_dst 2; it takes another of the ranks 0 to 1"),
    "another's": ([[send(0, 1, comm_src=1)], []], r"node 0 \(send0\) of rank 0 has comm_src 1; it is a node of rank 0"),
    "no size": (
        [[send(0, 1, comm_size=-1)], [receive(0, 0)]],
        r"node 0 \(send0\) of rank 0 has comm_size `-1`; it takes a whole number from 0",
    ),
}


@pytest.mark.parametrize(("ranks", "message"), WRONG.values(), ids=WRONG)
def test_wrong_traces_are_refused_in_a_line(ranks: list[list[Node]], message: str, tmp_path: Path, cli: RunCli) -> None:
    folder_of(tmp_path, *ranks)
    with pytest.raises(InputError, match=f"^trace: {message}$"):
        verify_trace(tmp_path)
    ran = cli("verify", tmp_path)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("error: file: node ")


def test_files_that_are_missing_or_of_others_are_named(tmp_path: Path, cli: RunCli) -> None:
    folder_of(tmp_path, *RING_OF_3)
    (tmp_path / "t.1.et").unlink()
    ran = cli("verify", tmp_path / "t.0.et")
    assert (ran.status, ran.err) == (2, f"error: file: the file of rank 1 is missing: {tmp_path / 't.1.et'}\n")
    (tmp_path / "u.0.et").write_bytes(b"")
    ran = cli("plan", "--schedule", tmp_path, "--size", "1MiB")
    assert ran.err.startswith(f"error: schedule: `{tmp_path}` must hold the files NAME.RANK.et of one trace;")
    assert ran.err.endswith("it holds files of 2, t, u: give a file of one trace\n")
    for system in ("{", "[]", '{"all-reduce-implementation-custom": [7]}', '{"all-reduce-implementation-custom": 7}'):
        (tmp_path / "system.json").write_text(system)
        assert cli("verify", tmp_path).err == ran.err.replace("schedule:", "file:")
    (tmp_path / "system.json").write_text('{"all-reduce-implementation-custom": ["../u"]}')
    assert "`" + str(tmp_path / "u.0.et") + "` is empty" in cli("verify", tmp_path).err
    ran = cli("verify", tmp_path / "u.0.et")
    assert ran.err == f"error: file: `{tmp_path / 'u.0.et'}` is empty; a trace begins with its metadata\n"
    (tmp_path / "u.0.et").write_bytes(b"\x07no trace")
    ran = cli("verify", tmp_path / "u.0.et")
    assert ran.err.startswith(f"error: file: `{tmp_path / 'u.0.et'}` is not a Chakra trace: its messages end or break")
    ran = cli("verify", tmp_path / "v.0.et")
    assert ran.err == f"error: file: no such file: `{tmp_path / 'v.0.et'}`\n"


def test_groups_call_the_same_collectives(tmp_path: Path) -> None:
    ranks = [[collective(0, 0, "1"), collective(1, 2, "1")], [collective(0, 0, "1"), collective(1, 2, "1", 16)]]
    folder_of(tmp_path, *ranks)
    assert [check.name for check in verify_trace(tmp_path)] == ["graphs", "messages", "collectives"]
    (tmp_path / "t.json").write_text(json.dumps({"1": [0, 1]}))
    with pytest.raises(InputError, match=r"^trace: ranks 0 and 1 of group 1 do not call the same collectives: all-ga"):
        verify_trace(tmp_path)
    (tmp_path / "t.json").write_text(json.dumps({"1": [0, 2]}))
    with pytest.raises(InputError, match=r"has `2` in group 1; ranks are 0 to 1$"):
        verify_trace(tmp_path)
    (tmp_path / "t.json").write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        verify_trace(tmp_path)


PLAN = ll.plan("all-reduce", "1000B", fabric=ll.Fabric(gpus=4), algorithm="recursive-doubling", planner="static")
FILES = chakra.rank_files(PLAN)


@settings(max_examples=cases(400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, len(FILES[1]) - 1), put=st.binary(max_size=4), cut=st.integers(0, 4))
def test_any_bytes_are_a_trace_or_one_error(at: int, put: bytes, cut: int, tmp_path: Path) -> None:
    """Bytes replaced in the file of a rank: the schedule it was, another that is judged, or one line."""
    changed = FILES[1][:at] + put + FILES[1][at + cut :]
    for rank, content in enumerate((FILES[0], changed, *FILES[2:])):
        (tmp_path / f"t.{rank}.et").write_bytes(content)
    try:
        schedule = schedule_of(read_trace("trace", tmp_path))
    except InputError as error:
        assert error.field in {"trace", "schedule"}
        assert "\n" not in str(error)
        return
    assert schedule.gpus == 4
    ll.verify(schedule)


VALUES = st.one_of(
    st.integers(-2, 9), st.just(1 << 62), st.booleans(), st.text(max_size=4), st.floats(), st.lists(st.integers(-1, 9))
)


@settings(max_examples=cases(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), value=VALUES)
def test_any_value_is_a_trace_or_one_error(data: st.DataObject, value: object, tmp_path: Path) -> None:
    """An attribute of a node or of the trace replaced: if it passes, it computes the collective, or verify says why."""
    for rank, content in enumerate(FILES):
        (tmp_path / f"t.{rank}.et").write_bytes(content)
    trace = read_trace("trace", tmp_path)
    nodes, attributes = list(trace.ranks[1]), dict(trace.attributes)
    changed = tuple(value) if isinstance(value, list) else value
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(nodes) - 1))
        name = data.draw(st.sampled_from([*nodes[place].attributes, "after"]))
        if name == "after":
            nodes[place] = nodes[place]._replace(after=(data.draw(st.integers(0, 20)),))
        else:
            nodes[place] = nodes[place]._replace(attributes={**nodes[place].attributes, name: changed})  # type: ignore[dict-item]
    else:
        attributes[data.draw(st.sampled_from(list(attributes)))] = changed  # type: ignore[assignment]
    try:
        content = written(attributes, nodes)
    except (TypeError, ValueError):
        return  # a value that the field cannot hold
    (tmp_path / "t.1.et").write_bytes(content)
    (tmp_path / "t.0.et").write_bytes(written(attributes, trace.ranks[0]))
    try:
        ll.verify(schedule_of(read_trace("trace", tmp_path)))
    except InputError as error:
        assert error.field in {"trace", "schedule"}
        assert "\n" not in str(error)


def test_nodes_beyond_the_bound_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder_of(tmp_path, *RING_OF_3)
    monkeypatch.setattr("lightloom.formats.chakra.files.MAX_NODES", 10)
    with pytest.raises(InputError, match="has more than 10 nodes, counted up to"):
        read_trace("trace", tmp_path)
    monkeypatch.setattr("lightloom.formats.chakra.files.MAX_NODES", 18)
    assert len(read_trace("trace", tmp_path).messages) == 6


def test_a_kind_of_node_that_is_not_known_is_read(tmp_path: Path) -> None:
    folder_of(tmp_path, [Node(0, "", 99, (), 0, {}), Node(1, "", NodeType.METADATA, (0,), 0, {})])
    assert len(read_trace("trace", tmp_path).ranks[0]) == 2
