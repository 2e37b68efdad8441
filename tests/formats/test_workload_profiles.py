"""Profiles of PyTorch as workloads: expected graphs worked out by hand, dependencies by their rule, refusals."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightloom.base.errors import InputError
from lightloom.formats.kineto import dependencies, files
from lightloom.formats.kineto.profile import Work
from lightloom.inputs.workloads.files import read_workload
from tests.data import FOLDER, needs
from tests.formats.profiles import Event, called, event, folder_of, kernel, launch, nccl, profile, record, step, wait
from tests.reference.workloads import check, groups_of

SUM = record("allreduce", 1000)
RESNET = "kineto/resnet50_ddp_2gpus.json.gz"


def workload_of(folder: Path, *ranks: list[Event], **options: Any) -> dict[str, Any]:
    workload = read_workload(folder_of(folder, *ranks), **options)
    check(workload)
    return workload


def alone(folder: Path, events: list[Event], **options: Any) -> dict[str, Any]:
    (folder / "one.json").write_text(json.dumps(profile(events)))
    workload = read_workload(folder / "one.json", **({"ranks": 2} | options))
    check(workload)
    return workload


def graph(workload: dict[str, Any]) -> dict[str, tuple[float, list[str]]]:
    """Seconds or bytes of each node and what it waits for, by the rank and number that ids begin with."""
    return {
        node["id"].split()[0]: (
            round(node["duration_s"], 12) if node["kind"] == "compute" else node["size_bytes"],
            sorted(before.split()[0] for before in node["after"]),
        )
        for node in workload["nodes"]
    }


def backward(*, waits: bool) -> list[Event]:
    """A backward pass of three kernels that an AllReduce of the first two's gradients overlaps; then an update.

    The CPU launches: a (0), b (2), the AllReduce (4, its own wait at 4.5), c (6), c2 (8), the wait (9), an update (10).
    """
    ends = [wait(9)] if waits else []
    starts = [wait(4.5)] if waits else []
    return [
        *(launch(time, number) for time, number in ((0, 1), (2, 2), (5, 3), (6, 4), (8, 5), (10, 6))),
        called(4, 5.5, SUM, 77),
        *starts,
        *ends,
        kernel(10, 20, number=1),
        kernel(20, 30, number=2),
        nccl(30, 50, SUM, number=3),
        kernel(31, 46, number=4),
        kernel(52, 60, number=5),
        kernel(60, 65, number=6),
    ]


def test_computation_waits_for_a_collective_only_after_a_call_that_says_so(tmp_path: Path) -> None:
    """With such calls the backward pass goes on while the collective runs, though a kernel starts after its end."""
    assert graph(alone(tmp_path, backward(waits=True))) == {
        "0.0": (20e-6, []),
        "0.1": (4000, ["0.0"]),
        "0.2": (23e-6, ["0.0"]),
        "0.3": (5e-6, ["0.1", "0.2"]),
    }


def test_without_such_calls_computation_waits_for_what_had_ended(tmp_path: Path) -> None:
    assert graph(alone(tmp_path, backward(waits=False))) == {
        "0.0": (20e-6, []),
        "0.1": (4000, ["0.0"]),
        "0.2": (15e-6, ["0.0"]),
        "0.3": (13e-6, ["0.1", "0.2"]),
    }


def test_a_wait_within_the_record_of_a_wait_counts(tmp_path: Path) -> None:
    """PyTorch records `work.wait()` too: it lets the stream wait for the collective, not the collective."""
    waited = [called(8.5, 9.5, {"Collective name": "wait"}, 78), *backward(waits=True)]
    assert graph(alone(tmp_path, waited)) == graph(alone(tmp_path, backward(waits=True)))


def test_what_was_launched_later_is_not_waited_for(tmp_path: Path) -> None:
    """The CPU launches a kernel before the collective, another after it, which ends before the collective starts."""
    events = [
        *(launch(time, number) for time, number in ((0, 1), (1, 2), (2, 3), (3, 4))),
        kernel(10, 20, number=1),
        kernel(20, 30, stream=8, number=3),
        nccl(40, 50, SUM, number=2),
        kernel(50, 60, number=4),
    ]
    assert graph(alone(tmp_path, events)) == {
        "0.0": (10e-6, []),
        "0.1": (10e-6, ["0.0"]),
        "0.2": (4000, ["0.0"]),
        "0.3": (10e-6, ["0.1", "0.2"]),
    }


def test_computation_is_the_time_in_which_anything_runs(tmp_path: Path) -> None:
    """10 to 30 and 40 to 45: kernels on three streams, a copy, and one kernel within another."""
    events = [
        kernel(10, 20),
        kernel(15, 30, stream=8),
        event("gpu_memcpy", "Memcpy HtoD", 40, 45, args={"stream": 9, "device": 0}),
        kernel(16, 18, stream=9),
        event("gpu_user_annotation", "ProfilerStep#1", 0, 100, args={"stream": 7, "device": 0}),
        event("cpu_op", "aten::mm", 0, 100),
        nccl(50, 60, SUM),
    ]
    assert graph(alone(tmp_path, events)) == {"0.0": (25e-6, []), "0.1": (4000, ["0.0"])}


def test_ranks_meet_in_collectives_and_messages(tmp_path: Path) -> None:
    """Ranks 0 and 1 sum, 2 and 3 sum, then 0 sends to 2 and 1 to 3: names of groups and sizes as they were recorded."""

    def rank(own: int) -> list[Event]:
        members = "[0, 1]" if own < 2 else "[2, 3]"
        told = record("allreduce", 8, dtype="BFloat16", ranks=members, Process_Group_Description="mesh_tp")
        is_sender = own < 2
        message = record("send" if is_sender else "recv", 6, dtype="Half", ranks="[0, 1, 2, 3]")
        message |= {"Dst Rank": own + 2} if is_sender else {"Src Rank": own - 2}
        return [kernel(0, 10 + own), nccl(20, 30, told), nccl(40, 50, message, stream=21), kernel(60, 61)]

    workload = workload_of(tmp_path, *(rank(own) for own in range(4)))
    assert workload["ranks"] == 4
    assert workload["groups"] == {"mesh_tp": [0, 1], "mesh_tp.1": [2, 3]}
    # Where no calls are recorded, whatever had ended is waited for: a message that follows a collective waits for it.
    assert graph(workload) == {
        **{f"{own}.0": (round((10 + own) * 1e-6, 12), []) for own in range(4)},
        "0.1": (16, ["0.0", "1.0"]),
        "2.1": (16, ["2.0", "3.0"]),
        "0.2": (12, ["0.0", "0.1"]),
        "1.2": (12, ["0.1", "1.0"]),
        "0.3": (1e-6, ["0.0", "0.1", "0.2"]),
        "1.3": (1e-6, ["0.1", "1.0", "1.2"]),
        "2.3": (1e-6, ["0.2", "2.0", "2.1"]),
        "3.3": (1e-6, ["1.2", "2.1", "3.0"]),
    }
    sends = [node for node in workload["nodes"] if node["kind"] == "send"]
    assert sorted((node["source"], node["destination"]) for node in sends) == [(0, 2), (1, 3)]


@pytest.mark.parametrize(
    ("name", "elements", "out", "dtype", "kind", "size"),
    [
        ("allreduce", 10, 10, "Float", "all-reduce", 40),
        ("allreduce_coalesced", 10, 10, "Double", "all-reduce", 80),
        ("_allgather_base", 10, 20, "BFloat16", "all-gather", 40),
        ("all_gather", 10, 20, "Long", "all-gather", 160),
        ("_reduce_scatter_base", 20, 10, "Half", "reduce-scatter", 40),
        ("reduce_scatter_tensor_coalesced", 20, 10, "Byte", "reduce-scatter", 20),
        ("broadcast", 10, 10, "Float8_e4m3fn", "broadcast", 10),
        ("all_to_all", 20, 20, "Int", "all-to-all", 80),
    ],
)
def test_sizes_are_whole_buffers(
    tmp_path: Path, name: str, elements: int, out: int, dtype: str, kind: str, size: int
) -> None:
    """Of two ranks: AllGather's output is twice its input, ReduceScatter's input twice its output."""
    told = record(name, elements, out=out, dtype=dtype)
    (node,) = alone(tmp_path, [nccl(0, 1, told)])["nodes"]
    assert (node["kind"], node["collective"], node["size_bytes"]) == ("collective", kind, size)
    assert node["axis"] == "all"


def test_blocks_of_all_to_alls_are_rows_of_a_matrix(tmp_path: Path) -> None:
    """Splits are rows of a tensor: of rank 0 three of 4 elements, of 2 bytes each; rank 1 has nothing to send."""

    def rank(elements: int, blocks: str, *, equal: str) -> list[Event]:
        told = record("all_to_allv", elements, dtype="Half", In_split_size=blocks, Out_split_size="[1, 1]")
        same = record("all_to_allv", 20, dtype="Half", In_split_size=equal, Out_split_size=equal)
        return [nccl(0, 1, told), nccl(2, 3, same), nccl(4, 5, told)]

    first, same, again = workload_of(tmp_path, rank(12, "[1, 2]", equal="[5, 5]"), rank(0, "[0, 0]", equal="[1, 1]"))[
        "nodes"
    ]
    workload = read_workload(tmp_path)
    assert workload["matrices"] == {"blocks 0": [[8, 16], [0, 0]]}
    # Rank 0 sends 24 bytes, its own among them.
    assert (first["collective"], first["matrix"], first["size_bytes"]) == ("all-to-all", "blocks 0", 24)
    assert again["matrix"] == "blocks 0"
    assert ("matrix" in same, same["size_bytes"]) == (False, 40)
    nothing = rank(0, "[0, 0]", equal="[1, 1]")[:1]
    with pytest.raises(InputError, match=r"has no computation of GPUs, no collectives and no messages$"):
        workload_of(tmp_path, nothing, nothing)


def test_a_barrier_is_computation_of_no_time(tmp_path: Path) -> None:
    barrier = [kernel(0, 5), nccl(5, 6, record("barrier", 0)), kernel(6, 9)]
    workload = workload_of(tmp_path, barrier, barrier)
    node = next(node for node in workload["nodes"] if "barrier" in node["id"])
    assert (node["kind"], node["ranks"], node["duration_s"]) == ("compute", [0, 1], 0.0)
    assert sorted(node["after"]) == ["0.0 computation", "1.0 computation"]


def test_records_are_found_by_their_external_id(tmp_path: Path) -> None:
    """Old profiles have what a collective is only at its call; two kernels of one record are one collective."""
    kernels = [nccl(start, start + 5, None) for start in (10, 20)]
    for one in kernels:
        one["args"]["External id"] = 5
    events = [called(0, 9, SUM, 5), *kernels, kernel(22, 23, stream=20)]
    assert graph(alone(tmp_path, events)) == {"0.0": (4000, []), "0.1": (1e-6, [])}


def batch(own: int) -> list[Event]:
    """A stage of a pipeline that sends 3 and receives 3 elements in one batch, whose kernel has no record."""
    other = 1 - own
    sent = record("send", 3, Dst_Rank=other)
    received = record("recv", 3, Src_Rank=other)
    return [
        kernel(0, 5 + own),
        called(1, 2, sent, 11),
        called(2, 3, received, 12),
        launch(4, 50),
        nccl(10, 20, None, number=50),
        called(21, 22, sent, 13),
        launch(22, 51),
        nccl(25, 30, None, number=51),
        called(31, 32, received, 14),
        launch(33, 52),
        nccl(35, 40, None, number=52),
    ]


def test_messages_of_a_batch_are_those_that_were_recorded_before_its_launch(tmp_path: Path) -> None:
    workload = workload_of(tmp_path, batch(0), batch(1))
    sends = [node for node in workload["nodes"] if node["kind"] == "send"]
    assert sorted((node["id"], node["source"], node["destination"], node["size_bytes"]) for node in sends) == [
        ("0.1 send", 0, 1, 12),
        ("0.3 send", 0, 1, 12),
        ("1.1 send", 1, 0, 12),
        ("1.3 send", 1, 0, 12),
    ]


def test_the_last_step_of_all_ranks_is_taken_unless_another_is_asked_for(tmp_path: Path) -> None:
    """Work is of the step in which it was launched, also where it runs after it."""
    steps = [step(4, 0, 100), step(5, 100, 200), step(6, 200, 300)]

    def rank(*last: Event) -> list[Event]:
        return [
            *steps,
            *(launch(time, number) for time, number in ((10, 1), (20, 2), (110, 3), (120, 4))),
            kernel(50, 60, number=1),
            nccl(150, 160, SUM, number=2),
            kernel(170, 177, number=3),
            nccl(250, 260, record("allreduce", 7), number=4),
            *last,
        ]

    ranks = rank(), rank(kernel(270, 280))
    assert graph(workload_of(tmp_path, *ranks)) == {"0.0": (7e-6, []), "1.0": (7e-6, []), "0.1": (28, ["0.0", "1.0"])}
    former = workload_of(tmp_path, *ranks, profile_step=4)
    assert graph(former) == {"0.0": (10e-6, []), "1.0": (10e-6, []), "0.1": (4000, ["0.0", "1.0"])}
    with pytest.raises(InputError, match=r"^profile_step: 6 is not a step in which .*; it takes 4, 5$"):
        workload_of(tmp_path, *ranks, profile_step=6)


def test_ranks_of_groups_stand_in_the_record_the_groups_or_the_file_that_is_asked_for(tmp_path: Path) -> None:
    shortened = SUM | {"Process Group Ranks": "[0, 1, ..., 1]", "Process Group Name": "5"}
    ranks = [[nccl(0, 1, shortened | {"Group size": 2})]] * 2
    # As many ranks as there are: all of them.
    assert workload_of(tmp_path, *ranks)["groups"] == {"default_pg": [0, 1]}
    of_two = [[nccl(0, 1, shortened)], [nccl(0, 1, shortened)], [kernel(0, 1)]]
    with pytest.raises(
        InputError, match=r"^comm_groups: it is missing: .*is of group 5, whose ranks .*\{\"5\": \[0, 1"
    ):
        workload_of(tmp_path, *of_two)
    (tmp_path / "groups.txt").write_text('{"5": [0, 1]}')
    assert groups_of_two(workload_of(tmp_path, *of_two, comm_groups=tmp_path / "groups.txt")) == [[0, 1]]
    listed = {"pg_config": [{"pg_name": "5", "ranks": [0, 1]}]}
    assert groups_of_two(read_workload(folder_of(tmp_path, *of_two, **listed))) == [[0, 1]]
    with pytest.raises(InputError, match=r"^comm_groups: no group of the profile needs it; leave the option out$"):
        read_workload(folder_of(tmp_path, *of_two, **listed), comm_groups=tmp_path / "groups.txt")
    # PyTorch lists no ranks of a group that all are in.
    listed = {"pg_config": [{"pg_name": "5", "ranks": []}]}
    everyone = [[nccl(0, 1, shortened | {"Group size": 3})]] * 3
    assert groups_of_two(read_workload(folder_of(tmp_path, *everyone, **listed))) == [[0, 1, 2]]


def groups_of_two(workload: dict[str, Any]) -> list[list[int]]:
    check(workload)
    (node,) = (node for node in workload["nodes"] if node["kind"] == "collective")
    return groups_of(workload, node)


def test_two_groups_of_the_same_ranks_have_their_own_order(tmp_path: Path) -> None:
    one, other = (record("allreduce", size, Process_Group_Name=name) for size, name in ((10, "0"), (20, "1")))
    first = [nccl(0, 1, one, stream=20), nccl(0.5, 1.5, other, stream=21)]
    second = [nccl(0, 1, other, stream=21), nccl(0.5, 1.5, one, stream=20)]
    workload = workload_of(tmp_path, first, second)
    assert sorted((node["group"], node["size_bytes"]) for node in workload["nodes"]) == [
        ("default_pg", 40),
        ("default_pg.1", 80),
    ]


def test_sizes_that_are_not_stated_are_asked_for(tmp_path: Path) -> None:
    """Profiles before PyTorch 2.1: kernels by their names alone."""
    kernels = [
        kernel(0, 9, stream=20, name="ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"),
        kernel(10, 19, stream=20, name="ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(...)"),
    ]
    with pytest.raises(
        InputError, match=r"^message_sizes: it is missing: the profile does not state the size of `nccl"
    ):
        alone(tmp_path, kernels)
    sizes = tmp_path / "sizes.txt"
    sizes.write_text("[4096, 512]")
    nodes = alone(tmp_path, kernels, message_sizes=sizes)["nodes"]
    assert [(node["collective"], node["size_bytes"]) for node in nodes] == [
        ("all-reduce", 4096),
        ("reduce-scatter", 512),
    ]
    with pytest.raises(InputError, match=r"^message_sizes: it has 2 sizes; rank 0 has 1 collectives and messages w"):
        alone(tmp_path, kernels[:1], message_sizes=sizes)
    unknown = record("allreduce", 10, dtype="Nested")
    with pytest.raises(
        InputError, match=r"^element_bytes: it is missing: the profile does not state a known dtype of "
    ):
        alone(tmp_path, [nccl(0, 1, unknown)])
    assert alone(tmp_path, [nccl(0, 1, unknown)], element_bytes=3)["nodes"][0]["size_bytes"] == 30


def test_compressed_profiles_are_the_same(tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    for folder in (plain, packed):
        folder.mkdir()
        folder_of(folder, batch(0), batch(1), packed=folder == packed)
    assert read_workload(plain) | {"name": ""} == read_workload(packed) | {"name": ""}


REFUSED: dict[str, tuple[list[list[Event]], dict[str, Any], str]] = {
    "kind": (
        [[nccl(0, 1, record("reduce", 8))]] * 2,
        {},
        "workload: `ncclDevKernel_Generic(ncclDevKernelArgs)` at 0.000 us of `worker0.pt.trace.json` is a collective "
        "`reduce`; schedules are planned for all-reduce, ",
    ),
    "gather": ([[nccl(0, 1, record("gather", 8))]] * 2, {}, "is a collective `gather`; schedules are planned for "),
    "kernel": ([[nccl(0, 1, None)]] * 2, {}, "is a kernel of NCCL, and the profile does not state what it sends"),
    "ranks": ([[nccl(0, 1, SUM)]] * 2, {"ranks": 4}, "ranks: 4 differs from the number of ranks in "),
    "alone": ([[nccl(0, 1, SUM)]], {}, "ranks: it is missing: "),
    "message": (
        [[nccl(0, 1, record("send", 1, Dst_Rank=1))]],
        {},
        "is a message to or from another rank; it takes the profiles of all",
    ),
    "world": ([[nccl(0, 1, SUM)]], {"ranks": 2}, "ranks: 2 differs from the profile's world_size, 1"),
    "differ": (
        [[nccl(0, 1, SUM)], [nccl(0, 1, record("allreduce", 9))]],
        {},
        "workload: ranks 0 and 1 of group default_pg do not call the same collectives: ",
    ),
    "alone blocks": (
        [[nccl(0, 1, record("all_to_allv", 8, In_split_size="[2, 6]"))]],
        {},
        "is an All-to-All of unequal blocks, of one rank; it takes the profiles of all ranks",
    ),
    "shortened blocks": (
        [[nccl(0, 1, record("all_to_allv", 8, In_split_size="[2, ..., 6]"))]] * 2,
        {},
        "has In split size `[2, ..., 6]`; it takes all of them, of at most 30 ranks in PyTorch",
    ),
    "blocks of more ranks": (
        [[nccl(0, 1, record("all_to_allv", 8, In_split_size="[2, 2, 4]"))]] * 2,
        {},
        "has 3 blocks in its In split size, and 2 ranks",
    ),
    "blocks": (
        [[nccl(0, 1, record("all_to_allv", 8, In_split_size="[2, 3]"))]] * 2,
        {},
        "has In split size `[2, 3]`, which do not divide its 8 elements",
    ),
    "member": (
        [[nccl(0, 1, record("allreduce", 8, ranks="[0, 9]"))]] * 2,
        {},
        "has rank 9 in its group; ranks are 0 to",
    ),
    "twice": ([[nccl(0, 1, record("allreduce", 8, ranks="[1, 1]"))]] * 2, {}, "has a rank twice in its group 0"),
    "size": ([[nccl(0, 1, SUM | {"Group size": 3})]] * 2, {}, "has Group size 3, but its group 0 has 2 ranks"),
    "elements": (
        [[nccl(0, 1, SUM | {"In msg nelems": -1})]] * 2,
        {},
        "has In msg nelems `-1`; it takes a whole number",
    ),
    "peer": ([[nccl(0, 1, record("send", 1))]] * 2, {}, "has Dst Rank `None`; it takes a rank"),
    "time": ([[kernel(0, 1) | {"ts": "now"}]] * 2, {}, "event `gemm` has ts `now`; it takes microseconds from 0"),
    "length": ([[kernel(5, 1)]] * 2, {}, "event `gemm` has dur `-4`; it takes microseconds from 0"),
    "gpus": (
        [[kernel(0, 1), kernel(0, 1) | {"args": {"device": 1}}]],
        {},
        "has work of several GPUs; it takes a file a rank, of one GPU",
    ),
    "nothing": (
        [[event("cpu_op", "aten::mm", 0, 1)]],
        {},
        "has no computation of GPUs, no collectives and no messages",
    ),
    "no steps": ([[kernel(0, 1)]] * 2, {"profile_step": 3}, "profile_step: the profile has no ProfilerStep; "),
    "steps": (
        [[step(1, 0, 9), kernel(0, 1)], [step(2, 0, 9), kernel(0, 1)]],
        {},
        "workload: there is no ProfilerStep in which the GPUs of all ranks have work",
    ),
    "option": (
        [[kernel(0, 1)]] * 2,
        {"element_bytes": 4},
        "element_bytes: the profile states the types of all elements",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_refused_in_one_line(tmp_path: Path, case: str) -> None:
    ranks, options, message = REFUSED[case]
    with pytest.raises(InputError) as error:
        read_workload(folder_of(tmp_path, *ranks), **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_every_rank_has_one_file(tmp_path: Path) -> None:
    events = [kernel(0, 1), nccl(1, 2, SUM)]
    folder_of(tmp_path, events, events)
    (tmp_path / "groups.json").write_text('{"0": [0, 1]}')
    assert read_workload(tmp_path)["ranks"] == 2
    (tmp_path / "worker1.pt.trace.json").unlink()
    (tmp_path / "again.json").write_text(json.dumps(profile(events, 0, 2)))
    with pytest.raises(
        InputError, match=r"^workload: `.*again\.json` and `.*worker0.* are of rank 0; it takes one file$"
    ):
        read_workload(tmp_path)
    (tmp_path / "again.json").write_text(json.dumps(profile(events)))
    with pytest.raises(InputError, match=r"^workload: `.*again\.json` states no rank, and its name has none; "):
        read_workload(tmp_path)
    (tmp_path / "again.json").rename(tmp_path / "trace_rank1.json")
    assert read_workload(tmp_path)["ranks"] == 2
    (tmp_path / "trace_rank1.json").rename(tmp_path / "trace_rank2.json")
    with pytest.raises(InputError, match=r"^workload: the profile of rank 1 is missing: `.*` has 2 files, "):
        read_workload(tmp_path)


def test_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "one.json.gz"
    path.write_bytes(gzip.compress(json.dumps(profile([kernel(0, 1)] * 100)).encode()))
    monkeypatch.setattr(files, "MOST_EVENTS", 99)
    with pytest.raises(InputError, match=r"^workload: the profile has more than 99 events of GPUs and launches, "):
        read_workload(path)
    monkeypatch.setattr(files, "MOST_BYTES", 1000)
    with pytest.raises(InputError, match=r"unpacks to more than 0 MiB$"):
        read_workload(path)
    many = [work(at, at + 1, stream=at) for at in range(dependencies.MOST_STREAMS + 1)]
    with pytest.raises(InputError, match=r"^workload: `p` has work on more than 256 streams$"):
        dependencies.items_of("workload", "p", many, None)


def work(start: int, end: int, *, launched: int | None = None, stream: int = 0, is_communication: bool = False) -> Work:
    return Work(start, end, start if launched is None else launched, stream, "k", is_communication)


@st.composite
def streams_of_work(draw: st.DrawFn) -> list[Work]:
    """Work of up to four streams, each in its order: launched in order, and one after another."""
    found = []
    for stream in range(draw(st.integers(1, 4))):
        start = launched = 0
        for _ in range(draw(st.integers(0, 6))):
            launched += draw(st.integers(0, 5))
            start = max(start, launched) + draw(st.integers(0, 5))
            end = start + draw(st.integers(0, 6))
            found.append(work(start, end, launched=launched, stream=stream, is_communication=stream >= 2))
            start = end
    return sorted(found, key=lambda one: (one.start_ns, one.end_ns, one.launched_ns))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(found=streams_of_work(), waits_ns=st.none() | st.lists(st.integers(0, 40), max_size=4).map(sorted))
def test_nodes_wait_for_what_the_rule_says(found: list[Work], waits_ns: list[int] | None) -> None:
    """By brute force over all pairs: what waits directly or through others, and what each node computes."""
    items = dependencies.items_of("workload", "p", found, waits_ns)
    sequence = [place for place, one in enumerate(found) if not one.is_communication]
    calls = [place for place, one in enumerate(found) if one.is_communication]

    def is_told(before: Work, after: Work) -> bool:
        """Whether something was told to wait between the launches."""
        return waits_ns is None or any(before.launched_ns <= at <= after.launched_ns for at in waits_ns)

    def must_wait(later: int, earlier: int) -> bool:
        one, other = found[later], found[earlier]
        had_ended = other.end_ns <= one.start_ns and other.launched_ns <= one.launched_ns
        told = not other.is_communication or one.stream == other.stream or is_told(other, one)
        return earlier < later and had_ended and told

    direct = {place: {other for other in range(place) if must_wait(place, other)} for place in range(len(found))}
    for earlier, later in pairwise(sequence):
        direct[later].add(earlier)
    for earlier in calls:
        for later in calls:
            if earlier < later and found[earlier].stream == found[later].stream:
                direct[later].add(earlier)
    expected = closure(direct)
    # The reader's items as places: those of computation begin where the sequence is cut.
    begins = [item for item in items if item.work is None]
    assert sum(item.busy_ns for item in begins) == len(
        {at for place in sequence for at in range(found[place].start_ns, found[place].end_ns)}
    )
    taken = iter(calls)
    place_of = {index: next(taken) for index, item in enumerate(items) if item.work is not None}
    reached = closure({index: set(item.after) | same_stream(items, index) for index, item in enumerate(items)})
    if begins:
        last = max(index for index, item in enumerate(items) if item.work is None)
        assert {place_of[other] for other in reached[last] if other in place_of} == {
            other for other in expected[sequence[-1]] if found[other].is_communication
        }
    for index, place in place_of.items():
        assert {place_of[other] for other in reached[index] if other in place_of} == {
            other for other in expected[place] if found[other].is_communication
        }
        waited = sum(items[other].busy_ns for other in reached[index] if items[other].work is None)
        before = [other for other in expected[place] if not found[other].is_communication]
        assert waited == len({at for other in before for at in range(found[other].start_ns, found[other].end_ns)})


def same_stream(items: list[dependencies.Item], index: int) -> set[int]:
    one = items[index].work
    if one is None:
        return set()
    return {other for other in range(index) if (held := items[other].work) is not None and held.stream == one.stream}


def closure(direct: dict[int, set[int]]) -> dict[int, set[int]]:
    """All that each waits for, directly or not; each waits only for smaller numbers."""
    found: dict[int, set[int]] = {}
    for place in sorted(direct):
        assert all(other < place for other in direct[place])
        found[place] = direct[place].union(*(found[other] for other in direct[place]))
    return found


@needs(RESNET)
def test_the_profile_of_resnet_50_sums_its_gradients() -> None:
    workload = read_workload(FOLDER / RESNET, ranks=2)
    check(workload)
    sums = [node["size_bytes"] for node in workload["nodes"] if node.get("collective") == "all-reduce"]
    # 25 557 032 parameters of 4 bytes.
    assert sum(sums) == 4 * 25557032
