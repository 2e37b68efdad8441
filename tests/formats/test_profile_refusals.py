"""Profiles of PyTorch that are wrong, not all there, or too large: refused in one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from lightloom.base.errors import InputError
from lightloom.formats.kineto import files
from lightloom.inputs.workloads.files import read_workload
from tests.formats.profiles import (
    Event,
    alone,
    event,
    folder_of,
    kernel,
    nccl,
    profile,
    record,
    step,
)

SUM = record("allreduce", 1000)
RESNET = "kineto/resnet50_ddp_2gpus.json.gz"


REFUSED: dict[str, tuple[list[list[Event]], dict[str, Any], str]] = {
    "kind": (
        [[nccl(0, 1, record("reduce", 8))]] * 2,
        {},
        "workload: `ncclDevKernel_Generic(ncclDevKernelArgs)` at 0.000 us of `worker0.pt.trace.json` is a collective "
        "`reduce`; it takes all-reduce, ",
    ),
    "gather": ([[nccl(0, 1, record("gather", 8))]] * 2, {}, "is a collective `gather`; it takes "),
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
        "has work of several GPUs; it takes one file for each GPU",
    ),
    "nothing": (
        [[kernel(0, 1)], [event("cpu_op", "aten::mm", 0, 1)]],
        {},
        "worker1.pt.trace.json` has no work of a GPU; it takes a profile with ProfilerActivity.CUDA",
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


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("no", "distributedInfo is `no`; it takes an object with rank and world_size"),
        ({"rank": "zero"}, "distributedInfo.rank is `zero`; it takes a whole number from 0 to 1048575"),
        ({"rank": 0, "world_size": 0}, "distributedInfo.world_size is `0`; it takes a whole number from 1 to 1048576"),
        ({"rank": 2, "world_size": 2}, "distributedInfo.rank is `2`; it takes a rank below its world_size, 2"),
        ({"pg_config": {"0": [0]}}, "distributedInfo.pg_config is `{'0': [0]}`; it takes a list of objects with "),
        ({"pg_config": [3]}, "distributedInfo.pg_config is `[3]`; it takes a list of objects with pg_name and ranks"),
    ],
)
def test_a_rank_that_makes_no_sense_is_refused(tmp_path: Path, stated: object, said: str) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(profile([kernel(0, 1)]) | {"distributedInfo": stated}))
    with pytest.raises(InputError) as error:
        read_workload(path)
    assert str(error.value).startswith(f"workload: `{path}`: {said}")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rank2.json", b"", "is not JSON: "),
        ("more.json", b'{"half": [1, ', "is not JSON: "),
        ("rank2.json.gz", b"no archive", "is not a .json.gz file, or a damaged one"),
        ("worker2.pt.trace.json", b"{}", "is named like a profile and has no list `traceEvents`; it takes a whole one"),
    ],
)
def test_a_damaged_file_next_to_profiles_is_refused(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    folder_of(tmp_path, [kernel(0, 1)], [kernel(0, 1)])
    assert read_workload(tmp_path)["ranks"] == 2
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        read_workload(tmp_path)
    assert str(error.value).startswith(f"workload: `{tmp_path / name}` {said}")


def test_a_profile_that_begins_with_much_else_is_one(tmp_path: Path) -> None:
    folder_of(tmp_path, [kernel(0, 1)], [kernel(0, 1)])
    third = {"metadata": "x" * files.HEAD} | profile([kernel(0, 1)], 2, 3)
    (tmp_path / "late.json").write_text(json.dumps(third))
    assert read_workload(tmp_path)["ranks"] == 3


def test_more_than_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "one.json.gz"
    path.write_bytes(gzip.compress(json.dumps(profile([kernel(0, 1)] * 100)).encode()))
    monkeypatch.setattr(files, "MOST_EVENTS", 99)
    with pytest.raises(InputError, match=r"^workload: the profile has more than 99 events of GPUs and launches, "):
        read_workload(path)
    monkeypatch.setattr(files, "MOST_BYTES", 1000)
    with pytest.raises(InputError, match=r"unpacks to more than 0 MiB$"):
        read_workload(path)
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"^workload: `.*` has work on more than 256 streams$"):
        alone(tmp_path, [kernel(at, at + 1, stream=at) for at in range(257)])
