"""Profiles of PyTorch as workloads: collectives, sizes, groups and steps, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lightloom.base.errors import InputError
from lightloom.inputs.workloads.files import read_workload
from tests.conftest import ROOT
from tests.data import FOLDER, needs
from tests.formats.profiles import (
    Event,
    alone,
    called,
    folder_of,
    graph,
    kernel,
    launch,
    nccl,
    record,
    step,
    workload_of,
)
from tests.reference.workloads import check, groups_of

SUM = record("allreduce", 1000)
RESNET = "kineto/resnet50_ddp_2gpus.json.gz"


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


@pytest.mark.parametrize("told", [{"same_bits": True}, {"same_bits": "yes"}, {}])
def test_a_job_whose_sums_end_with_the_same_bits_says_so(told: dict[str, Any], tmp_path: Path) -> None:
    workload = read_workload(folder_of(tmp_path, *[[nccl(0, 9, SUM)]] * 2, **told))
    check(workload)
    assert workload.get("same_bits", False) is (told.get("same_bits") is True)


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
    listed: dict[str, Any] = {"pg_config": [{"pg_name": "5", "ranks": [0, 1]}]}
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


@needs(RESNET)
def test_the_profile_of_resnet_50_sums_its_gradients() -> None:
    workload = read_workload(FOLDER / RESNET, ranks=2)
    check(workload)
    sums = [node["size_bytes"] for node in workload["nodes"] if node.get("collective") == "all-reduce"]
    # 25 557 032 parameters of 4 bytes.
    assert sum(sums) == 4 * 25557032


def test_the_example_is_two_pairs_that_sum_gradients_behind_the_backward_pass() -> None:
    """Its last step, as drawn by hand. Microseconds of each rank.

    It computes 300, 305, 310 or 315, sums 8 Mi elements of 2 bytes within the pair, computes 200 and 500, sums 16 Mi
    of 4 bytes with the other pair while it computes 400, and computes 100 when all has ended.
    """
    workload = read_workload(ROOT / "examples" / "profiles" / "pytorch")
    check(workload)
    assert graph(workload) == {
        **{f"{rank}.0": (round((300 + 5 * rank) * 1e-6, 12), []) for rank in range(4)},
        "0.1": (16 << 20, ["0.0", "1.0"]),
        "2.1": (16 << 20, ["2.0", "3.0"]),
        **{f"{rank}.2": (700e-6, sorted([f"{rank}.0", f"{rank // 2 * 2}.1"])) for rank in range(4)},
        **{f"{rank}.3": (400e-6, [f"{rank}.2"]) for rank in range(4)},
        "0.4": (64 << 20, ["0.1", "0.2", "2.1", "2.2"]),
        "1.4": (64 << 20, ["0.1", "1.2", "2.1", "3.2"]),
        **{f"{rank}.5": (100e-6, sorted([f"{rank}.3", f"{rank % 2}.4"])) for rank in range(4)},
    }
    assert workload["groups"] == {"mesh_tp": [0, 1], "mesh_dp": [0, 2], "mesh_dp.1": [1, 3], "mesh_tp.1": [2, 3]}
