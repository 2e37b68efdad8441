"""NCCL's debug log as a workload: calls as NCCL counts them, communicators as groups, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lightloom.base.errors import InputError
from lightloom.formats.nccl_log import lines
from lightloom.inputs.workloads.files import read_workload
from tests.conftest import ROOT
from tests.reference.workloads import check


def ready(own: int, rank: int, ranks: int, comm: str, number: str | None = None, *, host: str = "gpu-a") -> str:
    """The line of a communicator that is ready, as NCCL 2.19 writes it, and as 2.12 where it has no number."""
    state = f"comm {comm}{own} rank {rank} nranks {ranks} cudaDev {own % 4}"
    told = f"ncclCommInitRank {state} nvmlDev {own % 4} busId 7000 commId {number}" if number else f"{state} busId 7000"
    return f"{host}:{100 + own}:{200 + own} [{own % 4}] NCCL INFO {told} - Init COMPLETE"


def call(own: int, name: str, count: int, elements: int, comm: str, ranks: int, *, kind: int = 7, root: int = 0) -> str:
    return (
        f"gpu-a:{100 + own}:{100 + own} [{own % 4}] NCCL INFO {name}: opCount {count:x} sendbuff 0x7f{own}0 recvbuff "
        f"0x7f{own}1 count {elements} datatype {kind} op 0 root {root} comm {comm}{own} [nranks={ranks}] stream 0x55"
    )


def job(*calls: str, ranks: int = 2) -> list[str]:
    """Lines of a job with one communicator, 0x5 and the rank, of all ranks."""
    return [*(ready(own, own, ranks, "0x5", "0xabc") for own in range(ranks)), *calls]


def workload_of(folder: Path, log: list[str], **options: Any) -> dict[str, Any]:
    (folder / "job.log").write_text("\n".join(log))
    workload = read_workload(folder / "job.log", **({"compute_time": "0s"} | options))
    check(workload)
    return workload


def split(own: int, rank: int, color: int, comm: str) -> str:
    """The line of a communicator of two ranks that was split off 0x5, as NCCL 2.27 writes it."""
    told = f"ncclCommSplit comm {comm}{own} rank {rank} nranks 2 cudaDev {own % 4} nvmlDev {own % 4} busId 7000"
    told = f"{told} parent 0x5{own} splitCount 1 color {color} key {rank}"
    return f"gpu-a:{100 + own}:{200 + own} [{own % 4}] NCCL INFO {told}- Init COMPLETE"


def test_communicators_that_are_split_off_are_told_apart_by_color(tmp_path: Path) -> None:
    parts = [split(own, own // 2, own % 2, "0x6") for own in range(4)]
    log = job(*parts, *(call(own, "AllReduce", 1, 100, "0x6", 2) for own in range(4)), ranks=4)
    workload = workload_of(tmp_path, log)
    assert sorted(workload["groups"].values()) == [[0, 2], [1, 3]]
    assert [(node["size_bytes"], node["after"]) for node in workload["nodes"]] == [(400, []), (400, [])]


def test_a_broadcast_begins_at_its_root(tmp_path: Path) -> None:
    calls = [
        *(call(own, "Broadcast", 1, 100, "0x5", 3, root=2) for own in range(3)),
        *(call(own, "Broadcast", 2, 100, "0x5", 3) for own in range(3)),
    ]
    workload = workload_of(tmp_path, job(*calls, ranks=3))
    groups = workload["groups"]
    firsts = [groups[node["group"]] if "group" in node else list(range(3)) for node in workload["nodes"]]
    assert firsts == [[2, 0, 1], [0, 1, 2]]


def test_time_of_computation_is_spread_before_the_calls(tmp_path: Path) -> None:
    """Two calls in 20 ms: 10 ms before each of them. The first sums the 25 557 032 gradients of ResNet-50."""
    log = job(
        "step 1: loss 3.2",
        *(call(own, "AllReduce", 16, 25557032, "0x5", 2) for own in range(2)),
        *(call(own, "AllReduce", 17, 1000, "0x5", 2, kind=9) for own in range(2)),
    )
    workload = workload_of(tmp_path, log, compute_time="20ms")
    assert [
        (node["id"], node.get("duration_s", node.get("size_bytes")), node["after"]) for node in workload["nodes"]
    ] == [
        ("0.0 computation", 0.01, []),
        ("1.0 computation", 0.01, []),
        ("0.1 AllReduce", 102228128, ["0.0 computation", "1.0 computation"]),
        ("0.2 computation", 0.01, ["0.1 AllReduce"]),
        ("1.2 computation", 0.01, ["0.1 AllReduce"]),
        ("0.3 AllReduce", 2000, ["0.2 computation", "1.2 computation"]),
    ]
    assert workload["groups"] == {"0xabc": [0, 1]}
    nothing = workload_of(tmp_path, log, compute_time=0)
    assert [(node["id"], node["after"]) for node in nothing["nodes"]] == [
        ("0.0 AllReduce", []),
        ("0.1 AllReduce", ["0.0 AllReduce"]),
    ]


@pytest.mark.parametrize(
    ("name", "kind", "collective", "size"),
    [
        ("AllReduce", 6, "all-reduce", 20),
        ("AllGather", 7, "all-gather", 160),
        ("ReduceScatter", 8, "reduce-scatter", 320),
        ("Broadcast", 0, "broadcast", 10),
        ("AlltoAll", 9, "all-to-all", 80),
    ],
)
def test_counts_are_of_shares_where_nccl_counts_them(
    tmp_path: Path, name: str, kind: int, collective: str, size: int
) -> None:
    """Ten elements on four ranks: AllGather's a rank's input, ReduceScatter's its output, All-to-All's a block."""
    log = job(*(call(own, name, 1, 10, "0x5", 4, kind=kind) for own in range(4)), ranks=4)
    (node,) = workload_of(tmp_path, log)["nodes"]
    assert (node["collective"], node["size_bytes"]) == (collective, size)


def exchange(own: int, count: int, elements: dict[int, int], comm: str = "0x5") -> list[str]:
    return [
        call(own, name, count, size, comm, len(elements), root=peer)
        for peer, size in elements.items()
        for name in ("Send", "Recv")
    ]


def test_messages_with_every_rank_are_an_all_to_all(tmp_path: Path) -> None:
    log = job(*(line for own in range(4) for line in exchange(own, 3, dict.fromkeys(range(4), 8))), ranks=4)
    (node,) = workload_of(tmp_path, log)["nodes"]
    assert (node["collective"], node["size_bytes"]) == ("all-to-all", 4 * 8 * 4)


def test_other_messages_of_a_group_start_together(tmp_path: Path) -> None:
    """A rank's message to itself is left out; the sum that follows waits for both messages."""
    sizes = {0: 5, 1: 8}
    own = [exchange(0, 3, sizes), exchange(1, 3, {0: 8, 1: 6})]
    log = job(*own[0], *own[1], *(call(rank, "AllReduce", 4, 1, "0x5", 2) for rank in range(2)))
    workload = workload_of(tmp_path, log)
    sends = {(node["source"], node["destination"]): node for node in workload["nodes"] if node["kind"] == "send"}
    assert {ends: node["size_bytes"] for ends, node in sends.items()} == {(0, 1): 32, (1, 0): 32}
    assert [node["after"] for node in sends.values()] == [[], []]
    assert sorted(workload["nodes"][-1]["after"]) == sorted(node["id"] for node in sends.values())


def test_ranks_of_communicators_are_those_of_the_job(tmp_path: Path) -> None:
    """Rank 1 of the second communicator of tensors is rank 3 of the job; a send to it goes there."""
    log = [
        *(ready(own, own, 4, "0x5", "0xabc") for own in (2, 0, 3, 1)),
        *(ready(own, own % 2, 2, "0x6", "0x111" if own < 2 else "0x222") for own in range(4)),
        *(call(own, "AllReduce", 1, 4, "0x6", 2) for own in range(4)),
        call(2, "Send", 2, 4, "0x6", 2, root=1),
        call(3, "Recv", 2, 4, "0x6", 2, root=0),
        *(call(own, "AllReduce", 1, 2, "0x5", 4) for own in range(4)),
    ]
    folder = tmp_path / "of-ranks"
    folder.mkdir()
    for own in range(4):
        (folder / f"nccl.{own}.log").write_text("\n".join(line for line in log if f":{100 + own}:" in line))
    (folder / "readme.txt").write_text("four ranks")
    whole, apart = workload_of(tmp_path, log), read_workload(folder, compute_time=0)
    assert whole | {"name": ""} == apart | {"name": ""}
    assert whole["groups"] == {"0xabc": [0, 1, 2, 3], "0x111": [0, 1], "0x222": [2, 3]}
    (send,) = (node for node in whole["nodes"] if node["kind"] == "send")
    assert (send["source"], send["destination"]) == (2, 3)


def test_one_rank_stands_for_all(tmp_path: Path) -> None:
    log = [call(0, "AllReduce", 1, 4, "0x5", 8)]
    (node,) = workload_of(tmp_path, log, ranks=8)["nodes"]
    assert (node["axis"], node["size_bytes"]) == ("all", 16)
    with pytest.raises(InputError, match=r"^ranks: it is missing: `job` is the trace of one rank and has collectives"):
        workload_of(tmp_path, log)
    with pytest.raises(InputError, match=r"^ranks: 4 differs from nranks=8 of line 1 of `job\.log`; the log of one "):
        workload_of(tmp_path, log, ranks=4)


def test_words_before_and_after_do_not_matter(tmp_path: Path) -> None:
    """Launchers put the rank before a line, RCCL the time within and a task behind, old NCCL has no commId."""
    log = [
        *(ready(own, own, 2, "0x5") for own in range(2)),
        *(call(own, "AllReduce", 1, 4, "0x5", 2) for own in range(2)),
    ]
    changed = [f"[rank0]: 10:31:02 {line}".replace("] NCCL INFO", "] 1558545003174220 NCCL INFO") for line in log]
    changed[2:] = [f"{line} task 0 globalrank 0\r" for line in changed[2:]]
    assert workload_of(tmp_path, changed) == workload_of(tmp_path, log)
    assert workload_of(tmp_path, log)["nodes"][0]["size_bytes"] == 16


REFUSED: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "time": (
        job(call(0, "AllReduce", 1, 4, "0x5", 2)),
        {"compute_time": None},
        "compute_time: it is missing: the log ",
    ),
    "unit": (job(call(0, "AllReduce", 1, 4, "0x5", 2)), {"compute_time": "fast"}, "compute_time: "),
    "calls": (
        job(),
        {},
        "workload: the log has no calls of collectives; set NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT",
    ),
    "reduce": (
        job(*(call(own, "Reduce", 1, 4, "0x5", 2) for own in range(2))),
        {},
        "workload: line 3 of `job.log` has a call of Reduce; it takes AllReduce, AllGather, ",
    ),
    "datatype": (
        job(*(call(own, "AllReduce", 1, 4, "0x5", 2, kind=99) for own in range(2))),
        {},
        "workload: line 3 of `job.log` has datatype 99; it takes ncclDataType_t, 0 to 11",
    ),
    "root of a broadcast": (
        job(*(call(own, "Broadcast", 1, 4, "0x5", 2, root=2) for own in range(2))),
        {},
        "workload: line 3 of `job.log` has root 2; it takes one of the ranks 0 to 1",
    ),
    "root": (
        job(call(0, "Send", 1, 4, "0x5", 2, root=2), call(1, "Recv", 1, 4, "0x5", 2)),
        {},
        "workload: line 3 of `job.log` has root 2; it takes one of the ranks 0 to 1",
    ),
    "no init": (
        [call(own, "AllReduce", 1, 4, "0x5", 2) for own in range(2)],
        {},
        "workload: line 1 of `job.log` is of communicator 0x50, of which no `Init COMPLETE` line says the ranks; set ",
    ),
    "ranks": (
        [ready(own, own, 3, "0x5", "0xabc") for own in range(2)] + [call(0, "AllReduce", 1, 4, "0x5", 3)],
        {},
        "workload: the log has `Init COMPLETE` lines of 2 of the 3 ranks of communicator 0xabc",
    ),
    "nranks": (
        job(call(0, "AllReduce", 1, 4, "0x5", 3)),
        {},
        "workload: line 3 of `job.log` has nranks=3; its communicator 0x50 has 2 ranks",
    ),
    "second": (
        [ready(own, 0, 2, "0x5", "0xabc") for own in range(2)],
        {},
        "workload: line 2 of `job.log` is a second rank 0 of communicator `0xabc`",
    ),
    "no id": (
        [ready(own, own % 2, 2, "0x6") for own in range(4)],
        {},
        "line 3 of `job.log` is a second rank 0 of communicator `2 ranks`; a log without commId must have one ",
    ),
    "rank": ([ready(0, 2, 2, "0x5", "0xabc")], {}, "line 1 of `job.log` has rank 2 and nranks 2; ranks are less"),
    "one GPU": (
        [
            *(ready(0, rank, 2, "0x5", "0xabc") for rank in range(2)),
            ready(1, 0, 1, "0x6", "0xdef"),
            call(0, "AllReduce", 1, 4, "0x5", 2),
        ],
        {},
        "workload: two ranks of communicator 0xabc are on one GPU; it takes a GPU a rank",
    ),
    "no world": (
        [
            *(ready(own, own % 2, 2, "0x6", "0x111" if own < 2 else "0x222") for own in range(4)),
            call(0, "AllReduce", 1, 4, "0x6", 2),
        ],
        {},
        "workload: the log has 4 GPUs and no communicator of them all, whose ranks number them; the largest has 2: ",
    ),
    "differ": (
        job(call(0, "AllReduce", 1, 4, "0x5", 2)),
        {},
        "workload: ranks 0 and 1 of group 0xabc do not call the same collectives: all-reduce of 16, 1 and 0 times",
    ),
    "message": ([call(0, "Send", 1, 4, "0x5", 2, root=1)], {"ranks": 2}, "has a message to or from another rank; "),
    "option": (job(call(0, "AllReduce", 1, 4, "0x5", 2)), {"comm_size": "input"}, "comm_size: it is not used for a "),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_refused_in_one_line(tmp_path: Path, case: str) -> None:
    log, options, message = REFUSED[case]
    with pytest.raises(InputError) as error:
        workload_of(tmp_path, log, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = job(*(call(own, "AllReduce", 1, 4, "0x5", 2) for own in range(2)))
    monkeypatch.setattr(lines, "MOST_LINES", 3)
    with pytest.raises(InputError, match=r"^workload: the log has more than 3 lines of NCCL, counted up to `"):
        workload_of(tmp_path, log)
    monkeypatch.setattr(lines, "MOST_BYTES", 100)
    with pytest.raises(InputError, match=r"^workload: `.*` is larger than 0 MiB$"):
        workload_of(tmp_path, log)


def test_the_example_sums_within_pairs_and_then_over_them() -> None:
    workload = read_workload(ROOT / "examples" / "profiles" / "nccl.log", compute_time=0)
    check(workload)
    sums = [(workload["groups"][node["group"]], node["size_bytes"]) for node in workload["nodes"]]
    assert sorted(sums) == [([0, 1], 16 << 20), ([0, 2], 64 << 20), ([1, 3], 64 << 20), ([2, 3], 16 << 20)]
