"""Chakra traces as workloads: the ranks joined into one graph, sizes as the contract counts them, refusals."""

from __future__ import annotations

import io
import json
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightloom.base.errors import InputError
from lightloom.formats.chakra import archives
from lightloom.formats.chakra import joint_graph as chakra_joining
from lightloom.formats.chakra.files import Node, written
from lightloom.formats.chakra.schema import CollectiveType, NodeType
from lightloom.formats.chakra.trace import read_trace
from lightloom.inputs.workloads.files import read_workload
from tests.data import FOLDER, needs
from tests.formats.traces import folder_of, receive, send
from tests.reference.workloads import check, groups_of

RING_NAME, PYTORCH_NAME = "chakra/ring_allreduce_8gpus_1MB", "chakra/pytorch_trace_1rank.tar.gz"
STG, RING, PYTORCH = FOLDER / "stg", FOLDER / RING_NAME, FOLDER / PYTORCH_NAME
MIB = 1 << 20
BYTES: dict[str, Any] = {"comm_size": "buffer", "element_bytes": 1}


def compute(number: int, after: tuple[int, ...] = (), duration_us: int = 1, **attributes: Any) -> Node:
    return Node(number, "kernel", NodeType.COMPUTE, after, duration_us, attributes)


def operator(number: int, after: tuple[int, ...] = ()) -> Node:
    return compute(number, after, 100, is_cpu_op=True)


def call(number: int, kind: int = 0, after: tuple[int, ...] = (), size: int = 8, **attributes: Any) -> Node:
    held = {"comm_type": int(kind), "comm_size": size, **attributes}
    return Node(number, "call", NodeType.COLLECTIVE, after, 0, held)


def workload_of(folder: Path, *ranks: list[Node], **options: Any) -> dict[str, Any]:
    workload = read_workload(folder_of(folder, *ranks), **(BYTES | options))
    check(workload)
    return workload


def by_id(workload: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Nodes by the rank and number that their ids begin with."""
    return {node["id"].split()[0]: node for node in workload["nodes"]}


def waits(workload: dict[str, Any]) -> dict[str, set[str]]:
    return {name: {before.split()[0] for before in node["after"]} for name, node in by_id(workload).items()}


@needs("stg")
def test_the_training_iteration_of_8_ranks_is_one_graph() -> None:
    workload = read_workload(STG, comm_size="input", element_bytes=4)
    check(workload)
    trace = read_trace("trace", STG)
    assert workload["ranks"] == 8
    collectives = [node for node in workload["nodes"] if node["kind"] == "collective"]
    # All 46 of a rank have two members, but those of groups 9 to 16 one: each stands in the files of two ranks.
    called = Counter(
        node.attributes["pg_name"] for nodes in trace.ranks for node in nodes if node.kind == NodeType.COLLECTIVE
    )
    pairs = {name: count for name, count in called.items() if len(trace.groups[str(name)]) == 2}
    assert Counter(node["group"] for node in collectives) == {name: count // 2 for name, count in pairs.items()}
    # The generator: AllGather states the shard of 8 388 608 elements, ReduceScatter the whole 16 777 216.
    sizes = {(node["collective"], node["size_bytes"]) for node in collectives}
    assert {size for name, size in sizes if name == "all-gather"} == {2 * 8388608 * 4}
    assert {size for name, size in sizes if name == "reduce-scatter"} == {16777216 * 4}
    sends = [node for node in workload["nodes"] if node["kind"] == "send"]
    assert {(node["source"], node["destination"]) for node in sends} == {
        pair for rank in range(4) for pair in ((rank, rank + 4), (rank + 4, rank))
    }
    assert [node["size_bytes"] for node in sends] == [8388608 * 4] * 16


@needs("stg")
def test_ranks_meet_in_the_collectives_of_one_name() -> None:
    """The generator gives what ranks run together one name, which the reader does not look at."""
    trace = read_trace("trace", STG)
    whole = chakra_joining.joined("trace", trace, trace.groups, same_at_all=False)
    met = [{trace.node(place).name for place in node.places} for node in whole.nodes if node.group]
    assert len(met) == 184
    assert all(len(names) == 1 for names in met)


@needs("stg")
def test_groups_given_apart_are_those_beside(tmp_path: Path) -> None:
    for file in STG.glob("*.et"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    options: dict[str, Any] = {"comm_size": "input", "element_bytes": 4}
    with pytest.raises(InputError, match=r"^comm_groups: it is missing: collectives of `w` name the group 1, "):
        read_workload(tmp_path, **options)
    apart = read_workload(tmp_path, comm_groups=STG / "w.json", **options)
    assert apart == read_workload(STG, **options)


@pytest.mark.large
@needs(PYTORCH_NAME)
def test_the_trace_of_one_pytorch_rank_stands_for_all() -> None:
    workload = read_workload(PYTORCH, ranks=16, **BYTES)
    check(workload)
    collectives = [node for node in workload["nodes"] if node["kind"] == "collective"]
    assert len(collectives) == 7
    assert groups_of(workload, collectives[0]) == [list(range(16))]
    # ResNet-50's gradients: 25 557 032 parameters of 4 bytes.
    assert sum(node["size_bytes"] for node in collectives if node["collective"] == "all-reduce") == 102228128
    assert 102228128 == 4 * 25557032
    nodes = {node["id"]: node for node in workload["nodes"]}
    for one in collectives:
        # Each waits for the kernels that made its data, through the operators that launched them.
        assert any(nodes[before]["kind"] == "compute" for before in one["after"])
    last = collectives[-1]["id"]
    assert any(last in node["after"] for node in workload["nodes"])


@needs(RING_NAME)
def test_sends_alone_are_bytes_and_need_no_options() -> None:
    workload = read_workload(RING)
    check(workload)
    sends = [node for node in workload["nodes"] if node["kind"] == "send"]
    # A ring AllReduce of 8 ranks has 14 steps of 8 sends of an eighth of 1 MiB.
    assert [node["size_bytes"] for node in sends] == [MIB // 8] * (14 * 8)
    assert all((node["source"] + 1) % 8 == node["destination"] for node in sends)
    halves = read_workload(RING, element_bytes=2)
    assert [node["size_bytes"] for node in halves["nodes"] if node["kind"] == "send"] == [MIB // 4] * (14 * 8)


@pytest.mark.parametrize("comm_size", ["input", "output", "buffer"])
def test_sizes_mean_what_was_said(tmp_path: Path, comm_size: str) -> None:
    """AllGather's input and ReduceScatter's output are a quarter of the buffer, the others whole buffers."""
    kinds = {
        CollectiveType.ALL_REDUCE: 1,
        CollectiveType.ALL_GATHER: 4 if comm_size == "input" else 1,
        CollectiveType.REDUCE_SCATTER: 4 if comm_size == "output" else 1,
        CollectiveType.REDUCE_SCATTER_BLOCK: 4 if comm_size == "output" else 1,
        CollectiveType.ALL_TO_ALL: 1,
        CollectiveType.BROADCAST: 1,
        CollectiveType.REDUCE: 1,
        CollectiveType.GATHER: 4 if comm_size == "input" else 1,
        CollectiveType.SCATTER: 4 if comm_size == "output" else 1,
    }
    nodes = [call(number, kind, size=100) for number, kind in enumerate(kinds)]
    workload = workload_of(tmp_path, *[nodes] * 4, comm_size=comm_size, element_bytes=2)
    assert [node["size_bytes"] for node in workload["nodes"]] == [200 * factor for factor in kinds.values()]
    assert workload["mesh"] == {"all": 4}


def test_what_waits_for_a_receive_waits_for_the_message(tmp_path: Path) -> None:
    """Each rank sends before it receives: messages that waited for the receiver too would wait in a circle."""
    ranks = [
        [compute(0), send(1, 1 - r, (0,)), receive(2, 1 - r, (1,)), compute(3, (2,)), compute(4, (3,), 7)]
        for r in range(2)
    ]
    workload = workload_of(tmp_path, *ranks)
    assert waits(workload) == {
        "0.0": set(),
        "1.0": set(),
        "0.1": {"0.0"},
        "1.1": {"1.0"},
        "0.3": {"0.1", "1.1"},
        "1.3": {"0.1", "1.1"},
        "0.4": {"0.3"},
        "1.4": {"1.3"},
    }
    assert by_id(workload)["0.4"]["duration_s"] == 7e-6


def test_what_moves_nothing_is_left_out_and_its_dependencies_stay(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps({"one": [0], "both": [0, 1]}))
    first = [compute(0), call(1, 0, (0,), pg_name="one"), call(2, 0, (1,), size=0, pg_name="both"), compute(3, (2,))]
    second = [call(0, 0, (), size=0, pg_name="both"), compute(1, (0,))]
    workload = workload_of(tmp_path, first, second)
    assert waits(workload) == {"0.0": set(), "0.3": {"0.0"}, "1.1": set()}
    assert workload["groups"] == {}


def test_operators_of_cpus_pass_on_what_they_launched(tmp_path: Path) -> None:
    """Operator 0 launches kernel 1, operator 2 uses its data and launches nothing, operator 3 launches collective 4."""
    nodes = [
        operator(0),
        compute(1, (0,), tid=7),
        operator(2, (0,)),
        operator(3, (2,)),
        call(4, 0, (3, 2), tid=14),
        operator(5, (3,)),
        compute(6, (5,), tid=7),
        compute(8, (5, 0), tid=9),
    ]
    workload = workload_of(tmp_path, nodes, ranks=4)
    assert waits(workload) == {"0.1": set(), "0.4": {"0.1"}, "0.6": {"0.1", "0.4"}, "0.8": {"0.1", "0.4"}}
    assert all("ranks" not in node for node in workload["nodes"])
    assert sum(node.get("duration_s", 0) for node in workload["nodes"]) == pytest.approx(3e-6)


def test_a_barrier_holds_all_ranks_of_its_group(tmp_path: Path) -> None:
    ranks = [
        [compute(0), Node(1, "", NodeType.COLLECTIVE, (0,), 0, {"comm_type": 9}), compute(2, (1,))] for _ in range(3)
    ]
    workload = workload_of(tmp_path, *ranks)
    barrier = by_id(workload)["0.1"]
    assert (barrier["kind"], barrier["duration_s"], barrier["ranks"]) == ("compute", 0.0, [0, 1, 2])
    assert waits(workload)["0.1"] == {"0.0", "1.0", "2.0"}
    assert waits(workload)["2.2"] == {"0.1"}


WRONG: dict[str, tuple[list[list[Node]], str]] = {
    "unmatched collective": (
        [[call(0), call(1, size=0)], [call(0)]],
        "workload: node 1 (call) of rank 0 is collective 2 of group all, but rank 1 calls only 1",
    ),
    "other size": (
        [[call(0)], [call(0, size=9)]],
        "workload: collective 1 of group all differs between ranks: node 0 (call) of rank 0 has comm_type 0 and "
        "comm_size 8, node 0 (call) of rank 1 0 and 9",
    ),
    "other kind": ([[call(0)], [call(0, 2)]], "workload: collective 1 of group all differs between ranks: "),
    "no collective": (
        [[call(0, 99)], [call(0, 99)]],
        "workload: node 0 (call) of rank 0 has comm_type `99`; it takes ",
    ),
    "ranks that wait for each other": (
        [[call(0), send(1, 1, (0,))], [receive(0, 0), call(1, 0, (0,))]],
        "workload: node 0 (call) of rank 0 waits for itself through others: a cyclic dependency",
    ),
    "cyclic": ([[compute(0, (1,)), compute(1, (0,))]], "workload: node 0 (kernel) of rank 0 waits for itself"),
    "unmatched send": ([[send(0, 1)], []], "workload: node 0 (send0) of rank 0 sends to rank 1 with tag 0; rank 1"),
    "only CPUs": ([[operator(0)], [operator(0)]], "workload: `t` has no computation of GPUs, no collectives and no"),
    "no type": (
        [[Node(0, "", NodeType.COLLECTIVE, (), 0, {"comm_size": 8})] for _ in range(2)],
        "workload: node 0 of rank 0 has comm_type `None`; it takes 0 (all-reduce), ",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_traces_are_refused_in_one_line(tmp_path: Path, case: str) -> None:
    ranks, said = WRONG[case]
    with pytest.raises(InputError) as raised:
        read_workload(folder_of(tmp_path, *ranks), **BYTES)
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "comm_size: it is missing: the trace does not state whether comm_size is a rank's input, its output or "),
        (
            {"comm_size": "input"},
            "element_bytes: it is missing: the trace does not state whether comm_size counts ",
        ),
        ({"ranks": 3}, "ranks: 3 differs from the number of ranks in `t`, 2; leave the option out"),
        ({"time_unit": "us"}, "time_unit: it is not used for a workload of format chakra; it takes comm_groups, "),
        ({"comm_size": "inputs"}, "comm_size: unknown name `inputs`, did you mean `input`?; one of input, output, "),
        ({"element_bytes": 0}, "element_bytes: `0` is not accepted; it takes a whole number from 1 to "),
        ({"ranks": True}, "ranks: `True` is not accepted; it takes a whole number from 2 to 65536"),
        ({"ranks": 1}, "ranks: `1` is not accepted; it takes a whole number from 2 to 65536"),
        ({"comm_groups": "none.json"}, "comm_groups: no such file: `none.json`"),
    ],
)
def test_options_are_asked_for(in_tmp: Path, options: dict[str, Any], said: str) -> None:
    folder_of(in_tmp, [call(0)], [call(0)])
    with pytest.raises(InputError) as raised:
        read_workload(in_tmp, **options)
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    ("nodes", "options", "said"),
    [
        ([call(0)], {}, "ranks: it is missing: `t` is the trace of one rank and has collectives; it takes the number "),
        (
            [call(0, pg_name="a"), call(1, pg_name="b")],
            {"ranks": 8},
            "ranks: `t` is of one rank and has several groups",
        ),
    ],
)
def test_one_rank_stands_for_others_where_that_is_said(
    tmp_path: Path, nodes: list[Node], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as raised:
        workload_of(tmp_path, nodes, **options)
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ({"a": [0, 0, 1]}, "comm_groups: group a has a rank twice"),
        ({"a": [0, 2]}, "comm_groups: `g.json` has `2` in group a; ranks are 0 to 1"),
        (
            {"b": [0, 1]},
            "comm_groups: it is missing: collectives of `t` name the group a, whose ranks the trace does ",
        ),
    ],
)
def test_wrong_groups_are_refused(in_tmp: Path, groups: dict[str, list[int]], said: str) -> None:
    folder_of(in_tmp, [call(0, pg_name="a")], [call(0, pg_name="a")])
    (in_tmp / "g.json").write_text(json.dumps(groups))
    with pytest.raises(InputError) as raised:
        read_workload(in_tmp, comm_groups="g.json", **BYTES)
    assert str(raised.value).startswith(said)


def archive_of(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def test_an_archive_is_the_folder_that_it_was_made_of(tmp_path: Path) -> None:
    ranks = [[call(0, pg_name="a"), compute(1, (0,))], [call(0, pg_name="a")]]
    folder = tmp_path / "there"
    folder.mkdir()
    folder_of(folder, *ranks)
    (folder / "t.json").write_text('{"a": [1, 0]}')
    files = {f"some/where/{file.name}": file.read_bytes() for file in sorted(folder.iterdir(), reverse=True)}
    (tmp_path / "t.tar.gz").write_bytes(archive_of(files | {"README": b"text"}))
    packed = read_workload(tmp_path / "t.tar.gz", **BYTES)
    assert packed == read_workload(folder, **BYTES)
    assert packed["groups"] == {"a": [1, 0]}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "must hold the files NAME.RANK.et of one trace; it holds no such files"),
        ({"a.0.et": b"", "b.0.et": b""}, "is empty"),
        ({"a.1.et": written({}, [compute(0)])}, "the file of rank 0 is missing in"),
        ({"x/a.0.et": written({}, [compute(0)]), "y/a.0.et": b""}, "has two files of the name a.0.et"),
    ],
)
def test_wrong_archives_are_refused(tmp_path: Path, files: dict[str, bytes], said: str) -> None:
    (tmp_path / "t.tar.gz").write_bytes(archive_of(files))
    with pytest.raises(InputError, match=said):
        read_workload(tmp_path / "t.tar.gz")


def test_an_archive_is_unpacked_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_UNPACKED", MIB)
    (tmp_path / "t.tar.gz").write_bytes(archive_of({"a.0.et": bytes(2 * MIB)}))
    with pytest.raises(InputError, match="unpacks to more than 1 MiB"):
        read_workload(tmp_path / "t.tar.gz")


def test_dependencies_are_kept_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chakra_joining, "MOST_WAITS", 50)
    count = 10
    nodes = [
        *(compute(number) for number in range(count)),
        operator(count, tuple(range(count))),
        *(compute(number, (0, count)) for number in range(count + 1, 2 * count)),
    ]
    with pytest.raises(InputError, match=r"^workload: `t` has too many dependencies through nodes"):
        read_workload(folder_of(tmp_path, nodes))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), count=st.integers(1, 12), ranks=st.integers(1, 3))
def test_what_waited_still_waits(tmp_path: Path, data: st.DataObject, count: int, ranks: int) -> None:
    """In graphs of computation with nodes left out, a node that is kept waits for the same kept nodes as before."""
    held = []
    for _ in range(ranks):
        nodes = []
        for number in range(count):
            after = tuple(sorted(data.draw(st.sets(st.integers(0, number - 1), max_size=3)))) if number else ()
            # Metadata, unlike operators of CPUs, launch nothing.
            kind = data.draw(st.sampled_from([NodeType.COMPUTE, NodeType.METADATA]))
            nodes.append(Node(number, "", kind, after, 1, {}))
        held.append(nodes)
    if not any(node.kind == NodeType.COMPUTE for nodes in held for node in nodes):
        return
    for file in tmp_path.iterdir():
        file.unlink()
    found = waits(workload_of(tmp_path, *held))
    for rank, nodes in enumerate(held):
        reached: list[set[int]] = []
        for node in nodes:
            reached.append({reach for before in node.after for reach in (before, *reached[before])})
            if node.kind == NodeType.COMPUTE:
                wanted = {f"{rank}.{one}" for one in reached[node.id] if nodes[one].kind == NodeType.COMPUTE}
                assert _reached(found, f"{rank}.{node.id}") == wanted


def _reached(found: dict[str, set[str]], name: str) -> set[str]:
    return {reach for before in found[name] for reach in (before, *_reached(found, before))}
