"""AICB's text and TopoOpt's task graphs as workloads: published files, groups and order, refusals."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import flatbuffers
import pytest

from lightloom.base.errors import InputError
from lightloom.inputs.workloads.files import read_workload
from tests.data import FOLDER, needs
from tests.reference.workloads import check, groups_of

GPT_NAME, LLAMA_NAME = "aicb/gpt175b_megatron_tp8_pp1.txt", "aicb/llama65b_deepspeed_zero3.txt"
TRANSFORMER_NAME = "topoopt/100transformer_32.fbuf"
GPT, LLAMA, TRANSFORMER = FOLDER / GPT_NAME, FOLDER / LLAMA_NAME, FOLDER / TRANSFORMER_NAME
KIND = "HYBRID_TRANSFORMER_FWD_IN_BCKWD"


def compute_s(workload: dict[str, Any]) -> float:
    return float(sum(node["duration_s"] for node in workload["nodes"] if node["kind"] == "compute"))


def collectives(workload: dict[str, Any]) -> Counter[tuple[str, str, int]]:
    """How many there are by kind, axis or groups, and bytes."""
    return Counter(
        (node["collective"], node.get("axis", "groups"), node["size_bytes"])
        for node in workload["nodes"]
        if node["kind"] == "collective"
    )


@needs(GPT_NAME)
@pytest.mark.parametrize("ranks", [8, 64])
def test_gpt_of_aicb(ranks: int) -> None:
    workload = read_workload(GPT, ranks=ranks)
    check(workload)
    # As its publishers count them.
    assert collectives(workload)["all-reduce", "tp", 50331648] == 24
    forward = [node for node in workload["nodes"] if " forward " in node["id"] and node["size_bytes"] == 50331648]
    assert len(forward) == 24
    assert round(compute_s(workload) * 1e3, 1) == 186.8
    assert workload["mesh"] == ({"tp": 8} if ranks == 8 else {"tp": 8, "dp": 8})
    data_parallel = {kind: count for kind, count in collectives(workload).items() if kind[1] == "dp"}
    expected = {("all-gather", "dp", 1): 1, ("reduce-scatter", "dp", 11175321600): 1}
    assert data_parallel == ({} if ranks == 8 else expected)


@needs(LLAMA_NAME)
def test_zero_3_of_deepspeed() -> None:
    """Its model-parallel group is of one rank: parameters are gathered by data-parallel ranks."""
    workload = read_workload(LLAMA, ranks=32)
    check(workload)
    assert workload["mesh"] == {"dp": 32}
    assert collectives(workload) == {
        ("all-gather", "dp", 357468): 2,
        ("all-gather", "dp", 119162): 2,
        ("all-gather", "dp", 317843): 8,
        ("reduce-scatter", "dp", 1889785610): 1,
    }
    lines = [line.split() for line in LLAMA.read_text().splitlines()[2:]]
    assert compute_s(workload) == pytest.approx(sum(int(line[place]) for line in lines for place in (2, 5, 8)) / 1e9)


LAYERS = [
    "first -1 5 ALLREDUCE 100 7 NONE 0 2 ALLGATHER 300 9",
    "moe   -1 6 ALLTOALL_EP 200 8 ALLTOALL_EP 201 3 REDUCESCATTER_DP_EP 400 9",
]


def text_of(folder: Path, header: str, layers: list[str], count: int | None = None) -> Path:
    (folder / "layers.txt").write_text("\n".join([header, str(len(layers) if count is None else count), *layers]))
    return folder / "layers.txt"


def test_layers_go_forward_and_then_back(tmp_path: Path) -> None:
    header = f"{KIND} model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 1 ga: 1 all_gpus: 16 checkpoints: 0 pp_comm: 9"
    workload = read_workload(text_of(tmp_path, header, LAYERS))
    check(workload)
    assert workload["mesh"] == {"tp": 2, "ep": 2, "dp": 2, "pp": 2}
    assert [(node["id"], *node["after"]) for node in workload["nodes"]] == [
        ("0.first forward",),
        ("0.first forward all-reduce", "0.first forward"),
        ("1.moe forward", "0.first forward all-reduce"),
        ("1.moe forward all-to-all", "1.moe forward"),
        ("1.moe input gradient", "1.moe forward all-to-all"),
        ("1.moe input gradient all-to-all", "1.moe input gradient"),
        ("1.moe weight gradient", "1.moe input gradient all-to-all"),
        ("1.moe weight gradient reduce-scatter", "1.moe weight gradient"),
        ("0.first input gradient", "1.moe weight gradient"),
        ("0.first weight gradient", "0.first input gradient"),
        ("0.first weight gradient all-gather", "0.first weight gradient"),
    ]
    nodes = {node["id"]: node for node in workload["nodes"]}
    streams = {node["id"] for node in workload["nodes"] if node.get("stream") == "gradients"}
    assert streams == {"1.moe weight gradient reduce-scatter", "0.first weight gradient all-gather"}
    assert nodes["1.moe forward"]["duration_s"] == 6e-9
    # SimAI's groups (MockNcclGroup.cc) of the 8 ranks of a stage: TP groups {0, 1}, {2, 3}, ...; EP over two of them;
    # DP_EP over every second; DP over all ranks at one place of their TP groups.
    axes = {name: groups_of(workload, node)[:2] for name, node in nodes.items() if node["kind"] == "collective"}
    assert axes["0.first forward all-reduce"] == [[0, 1], [2, 3]]
    assert axes["1.moe forward all-to-all"] == [[0, 2], [1, 3]]
    assert axes["1.moe weight gradient reduce-scatter"] == [[0, 4], [1, 5]]
    assert axes["0.first weight gradient all-gather"] == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert groups_of(workload, nodes["0.first weight gradient all-gather"])[2:] == [[8, 10, 12, 14], [9, 11, 13, 15]]


@pytest.mark.parametrize(
    ("header", "layers", "options", "said"),
    [
        ("", LAYERS[:1], {}, "ranks: it is missing: line 1 has no all_gpus; it takes a whole number from 2 to 65536"),
        ("", LAYERS[:1], {"ranks": 6}, "workload: 6 ranks do not divide into model_parallel_NPU_group 4 × ep 1 × pp 1"),
        (
            "all_gpus: 8",
            LAYERS[:1],
            {"ranks": 4},
            "ranks: 4 differs from the number of ranks in line 1, all_gpus: 8; leave the option out",
        ),
        (
            "",
            LAYERS,
            {"ranks": 8},
            "workload: line 1 has no `ep`, the size of expert-parallel groups, and collectives run in such groups",
        ),
        ("ep: x", LAYERS, {"ranks": 8}, "workload: line 1 has ep `x`; it takes a whole number"),
        (
            "checkpoints: 2 1 2",
            LAYERS[:1],
            {"ranks": 8},
            "workload: line 1 has checkpoints: 2; it takes 0, since",
        ),
        ("", ["a -1 1 NONE 0"], {"ranks": 8}, "workload.line[3]: it has 5 columns; it takes 12"),
        (
            "",
            [LAYERS[0].replace("ALLREDUCE", "ALLREDUCE_TP")],
            {"ranks": 8},
            "workload.line[3]: `ALLREDUCE_TP` is not a collective; it takes ALLREDUCE, ",
        ),
        (
            "",
            [LAYERS[0].replace(" 7 ", " -7 ")],
            {"ranks": 8},
            "workload.line[3]: `-7` is not accepted; it takes a whole",
        ),
        (
            "",
            LAYERS[:1],
            {"comm_size": "input"},
            "comm_size: it is not used for a workload of format aicb; it takes ranks",
        ),
    ],
)
def test_wrong_texts_are_refused(
    tmp_path: Path, header: str, layers: list[str], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as raised:
        read_workload(text_of(tmp_path, f"{KIND} model_parallel_NPU_group: 4 {header}", layers), **options)
    assert str(raised.value).startswith(said)


def test_wrong_lines_are_counted(tmp_path: Path) -> None:
    header = f"{KIND} model_parallel_NPU_group: 1"
    with pytest.raises(InputError, match=r"^workload: line 2 says that 3 lines follow; 2 do$"):
        read_workload(text_of(tmp_path, header, LAYERS, 3), ranks=8)
    with pytest.raises(InputError, match=f"^workload: line 1 has kind HYBRID_DLRM; it takes {KIND}$"):
        read_workload(text_of(tmp_path, "HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 1", LAYERS), ranks=8)


@pytest.mark.large
@needs(TRANSFORMER_NAME)
def test_the_transformer_of_topoopt() -> None:
    workload = read_workload(TRANSFORMER, time_unit="ms")
    check(workload)
    # As its publishers count them; the rest are biases and norms.
    assert collectives(workload)["all-reduce", "all", 9437184] == 36
    assert collectives(workload)["all-reduce", "all", 2359296] == 48
    assert sum(collectives(workload).values()) == 134
    assert workload["ranks"] == 32
    per_rank: Counter[int] = Counter()
    for node in workload["nodes"]:
        if node["kind"] == "compute":
            per_rank[node["ranks"][0]] += 1
        else:
            assert len(node["after"]) == 32
    # 121 operators, each forward and backward.
    assert per_rank == dict.fromkeys(range(32), 242)
    assert compute_s(read_workload(TRANSFORMER, time_unit="us")) == pytest.approx(compute_s(workload) / 1000)


class Task(NamedTuple):
    """A task as the file has it."""

    type: int
    id: int
    device: int
    run_time: float
    size_bytes: int
    following: list[int]


def graph_of(
    path: Path, tasks: list[Task], devices: list[tuple[int, int, int]], sizes: tuple[int, int, int] = (1, 4, 1)
) -> Path:
    """A file of tasks and of devices (type, id, property); sizes: GPUs of a node, nodes, switches."""
    builder = flatbuffers.Builder(0)

    def vector(offsets: list[int]) -> int:
        builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            builder.PrependUOffsetTRelative(offset)
        return int(builder.EndVector())

    made = []
    for task in tasks:
        builder.StartVector(8, len(task.following), 8)
        for following in reversed(task.following):
            builder.PrependUint64(following)
        after = builder.EndVector()
        builder.StartObject(6)
        builder.PrependInt16Slot(0, task.type, 0)
        builder.PrependUint64Slot(1, task.id, 0)
        builder.PrependUint64Slot(2, task.device, 0)
        builder.PrependFloat32Slot(3, task.run_time, 0.0)
        builder.PrependUint64Slot(4, task.size_bytes, 0)
        builder.PrependUOffsetTRelativeSlot(5, after, 0)
        made.append(builder.EndObject())
    task_vector = vector(made)
    made = []
    for kind, number, held in devices:
        builder.StartObject(5)
        builder.PrependInt16Slot(0, kind, 0)
        builder.PrependUint64Slot(1, number, 0)
        builder.PrependUint32Slot(3, held, 0)
        made.append(builder.EndObject())
    device_vector = vector(made)
    builder.StartObject(11)
    for index, size in enumerate(sizes):
        builder.PrependUint32Slot(index, size, 0)
    builder.PrependUOffsetTRelativeSlot(8, task_vector, 0)
    builder.PrependUOffsetTRelativeSlot(9, device_vector, 0)
    builder.Finish(builder.EndObject())
    path.write_bytes(builder.Output())
    return path


# GPUs 100 to 103, and a path of the network from node 1 to node 3 of 4 nodes and a switch.
DEVICES = [*((0, 100 + gpu, gpu) for gpu in range(4)), (14, 200, 1 * 5 + 3), (8, 300, 0)]
TASKS = [
    Task(0, 10, 101, 2.0, 0, [20, 40]),
    Task(5, 20, 200, 0.0, 4096, [30]),
    Task(1, 30, 103, 3.0, 0, [50, 51]),
    Task(4, 40, 0, 0.0, 0, [41]),
    Task(3, 41, 101, 1.0, 0, []),
    Task(6, 50, 0, 9.0, 1000, [3, 1]),
    Task(6, 51, 0, 9.0, 1000, [2]),
]


def test_tasks_of_every_type(tmp_path: Path) -> None:
    workload = read_workload(graph_of(tmp_path / "small.fbuf", TASKS, DEVICES), time_unit="s")
    check(workload)
    assert workload["groups"] == {"group-0": [3, 1]}
    assert workload["nodes"] == [
        {"id": "0.forward", "kind": "compute", "ranks": [1], "duration_s": 2.0, "after": []},
        {
            "id": "1.communication",
            "kind": "send",
            "source": 1,
            "destination": 3,
            "size_bytes": 4096,
            "after": ["0.forward"],
        },
        {"id": "2.backward", "kind": "compute", "ranks": [3], "duration_s": 3.0, "after": ["1.communication"]},
        {"id": "4.update", "kind": "compute", "ranks": [1], "duration_s": 1.0, "after": ["0.forward"]},
        {
            "id": "5.all-reduce",
            "kind": "collective",
            "collective": "all-reduce",
            "group": "group-0",
            "size_bytes": 1000,
            "after": ["2.backward"],
        },
    ]


def changed(index: int, **values: Any) -> list[Task]:
    return [task._replace(**values) if index == place else task for place, task in enumerate(TASKS)]


@pytest.mark.parametrize(
    ("tasks", "sizes", "said"),
    [
        (changed(0, following=[99]), (1, 4, 1), "workload.tasks[0]: its next task, 99, does not exist"),
        (changed(0, id=20), (1, 4, 1), "workload.tasks[0]: another task has the same id"),
        (
            changed(4, following=[10]),
            (1, 4, 1),
            "workload: task 0 waits for itself through others: a cyclic",
        ),
        (changed(0, type=7), (1, 4, 1), "workload.tasks[0]: type 7 is unknown; it takes 0 to 6"),
        (changed(0, device=200), (1, 4, 1), "workload.tasks[0]: device 200 is not one of the GPUs 0 to 3"),
        (changed(0, run_time=-1.0), (1, 4, 1), "workload.tasks[0]: run time -1.0 is not accepted; it takes a number"),
        (changed(0, run_time=float("nan")), (1, 4, 1), "workload.tasks[0]: run time nan is not accepted"),
        (
            changed(5, following=[1, 1]),
            (1, 4, 1),
            "workload.tasks[5]: its group is not a list of different GPUs from 0 to 3",
        ),
        (
            changed(5, following=[1, 4]),
            (1, 4, 1),
            "workload.tasks[5]: its group is not a list of different GPUs from 0 to 3",
        ),
        (
            TASKS,
            (2, 4, 1),
            "workload.tasks[1]: it is a message between nodes of 2 GPUs; messages are read only where a node has one",
        ),
        (TASKS, (1, 4, 4), None),
        (TASKS, (1, 0, 1), "workload: it has 0 nodes of 1 GPUs; 1 to 65536 GPUs are read"),
        ([], (1, 4, 1), "workload: it has no computation and no communication"),
    ],
)
def test_wrong_task_graphs_are_refused(
    tmp_path: Path, tasks: list[Task], sizes: tuple[int, int, int], said: str | None
) -> None:
    path = graph_of(tmp_path / "small.fbuf", tasks, DEVICES, sizes)
    if said is None:
        # With 8 nodes and switches, 8 is from node 1 to node 0.
        nodes = read_workload(path, time_unit="s")["nodes"]
        assert [(node["source"], node["destination"]) for node in nodes if node["kind"] == "send"] == [(1, 0)]
        return
    with pytest.raises(InputError) as raised:
        read_workload(path, time_unit="s")
    assert str(raised.value).startswith(said)


def test_the_unit_of_run_times_is_asked_for(tmp_path: Path) -> None:
    path = graph_of(tmp_path / "small.fbuf", TASKS, DEVICES)
    with pytest.raises(InputError, match=r"^time_unit: it is missing: the file does not .*; it takes us, ms, s$"):
        read_workload(path)
    with pytest.raises(InputError, match=r"^time_unit: unknown name `min`; one of us, ms, s$"):
        read_workload(path, time_unit="min")
