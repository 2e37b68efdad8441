"""MSCCL++ execution plans: exported plans do the collective, loaded and run as MSCCL++ does."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom import _core
from lightloom.base.errors import InputError
from tests.conftest import RunCli
from tests.formats.mscclpp_interpreter import Machine
from tests.formats.plans import random_plans

PLANS = 60
# Keys of a plan, a GPU, a thread block, and of a GPU's lists, as in microsoft/mscclpp, test/executor-tests.
KEYS = {
    "plan": "name collective protocol inplace reuse_resources gpus num_threads_per_block use_double_scratch_buffer "
    "buffer_alignment min_message_size max_message_size",
    "gpu": "id input_chunks output_chunks scratch_chunks threadblocks channels remote_buffers semaphores",
    "block": "id ops channels remote_buffer_refs",
    "remote": "rank type access_channel_types",
}
OPERATIONS = {
    "nop": set(),
    "barrier": {"barrier_id", "num_threadblocks"},
    "signal": {"channel_ids", "channel_type"},
    "wait": {"channel_ids", "channel_type"},
    "put": {"src_buff", "dst_buff", "channel_type"},
    "copy": {"src_buff", "dst_buff"},
    "re": {"src_buff", "dst_buff", "reduce_op"},
}
ALGORITHMS = sorted(
    {
        (collective["name"], row["algorithm"])
        for collective in _core.registry()["collectives"]
        if collective["name"] not in {"reduce", "gather", "scatter"}  # these formats refuse them
        for row in _core.algorithm_table(collective["name"], 8, [2, 4], 1, None)
        if row["accepted"]
    }
)
# Those of them that need no grid.
IN_A_LINE = {
    (collective["name"], row["algorithm"])
    for collective in _core.registry()["collectives"]
    for row in _core.algorithm_table(collective["name"], 8, [8], 1, None)
    if row["accepted"]
}


def exported(plan: ll.Plan, folder: Path) -> dict[str, Any]:
    ll.export(plan, "mscclpp", folder / "plan.json")
    document: dict[str, Any] = json.loads((folder / "plan.json").read_text())
    return document


def run(document: dict[str, Any], seeds: int = 3) -> None:
    for seed in range(seeds):
        Machine(document, seed).run()


@pytest.mark.large
@pytest.mark.parametrize(("collective", "algorithm"), ALGORITHMS)
@pytest.mark.parametrize("gpus", [4, 8])
def test_every_algorithm_is_run(collective: str, algorithm: str, gpus: int, tmp_path: Path) -> None:
    fabric = ll.Fabric(gpus=gpus, dims=None if (collective, algorithm) in IN_A_LINE else f"2x{gpus // 2}")
    plan = ll.plan(collective, "1MiB", fabric=fabric, algorithm=algorithm, planner="harvest")
    document = exported(plan, tmp_path)
    assert document["collective"] == collective.replace("-", "")
    run(document)


@pytest.mark.large
@pytest.mark.slow
def test_random_plans_are_run(tmp_path: Path) -> None:
    done: Counter[str] = Counter()
    for index, plan in enumerate(random_plans(PLANS, 12)):
        (tmp_path / str(index)).mkdir()
        file = tmp_path / str(index) / "plan.json"
        try:
            notes = ll.export(plan, "mscclpp", file).notes
        except InputError as error:
            assert "unequal sizes" in str(error) or "this format has no" in str(error)
            continue
        # The interpreter has as many barriers as MSCCL++ has unless it is built for more.
        if not any("barriers; MSCCL++ takes" in note for note in notes):
            run(json.loads(file.read_text()), 2)
        done[plan.collective] += 1
    assert len(done) == 5


def test_keys_are_those_of_the_loader(tmp_path: Path) -> None:
    plan = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8), algorithm="swing", planner="static")
    document = exported(plan, tmp_path)
    assert document.keys() == set(KEYS["plan"].split())
    for gpu in document["gpus"]:
        assert gpu.keys() == set(KEYS["gpu"].split())
        for remote in gpu["remote_buffers"]:
            assert remote.keys() == set(KEYS["remote"].split())
        for block in gpu["threadblocks"]:
            assert block.keys() == set(KEYS["block"].split())
            for op in block["ops"]:
                assert op.keys() - {"name"} == OPERATIONS[op["name"]]


def test_an_all_gather_needs_no_scratch(tmp_path: Path) -> None:
    """Every slot is written once, so that all data go where they belong at once."""
    plan = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=8), algorithm="recursive-doubling", planner="static")
    document = exported(plan, tmp_path)
    assert {gpu["scratch_chunks"] for gpu in document["gpus"]} == {0}
    names = {op["name"] for gpu in document["gpus"] for block in gpu["threadblocks"] for op in block["ops"]}
    assert names == {"put", "signal", "wait", "barrier", "nop"}


@pytest.mark.parametrize("lost", ["wait", "barrier", "signal", "nop"])
def test_the_machine_finds_what_is_missing(lost: str, tmp_path: Path) -> None:
    plan = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8), algorithm="ring", planner="static")
    document = exported(plan, tmp_path)
    for gpu in document["gpus"]:
        for block in gpu["threadblocks"]:
            block["ops"] = [op for op in block["ops"] if op["name"] != lost]
    found = 0
    for seed in range(10):
        try:
            Machine(document, seed).run()
        except AssertionError:
            found += 1
    assert found > 0


WITHIN = ", memory channels within one"


def longest(document: dict[str, Any]) -> int:
    return max(len(block["ops"]) for gpu in document["gpus"] for block in gpu["threadblocks"])


@pytest.mark.large
@pytest.mark.parametrize("gpus", [8, 12])
@pytest.mark.parametrize("gpus_per_host", [None, 1, 4])
def test_a_ring_has_as_many_thread_blocks_as_its_operations_need(
    gpus: int, gpus_per_host: int | None, tmp_path: Path
) -> None:
    """MSCCL++ throws where a thread block has more than 64; the ring on 8 GPUs had 72."""
    plan = ll.plan("all-reduce", "960KiB", fabric=ll.Fabric(gpus=gpus), algorithm="ring", planner="static")
    made = ll.export(plan, "mscclpp", tmp_path / "plan.json", gpus_per_host=gpus_per_host)
    hosts = {1: "port channels between hosts of 1 GPU", 4: f"port channels between hosts of 4 GPUs{WITHIN}"}
    assert list(made.notes) == ([] if gpus_per_host is None else [hosts[gpus_per_host]])
    document = json.loads((tmp_path / "plan.json").read_text())
    assert longest(document) <= 64
    run(document, 2)


def kinds_of(document: dict[str, Any]) -> dict[tuple[int, int], str]:
    """By GPU and peer, the type of their channel."""
    return {
        (gpu["id"], peer): channel["channel_type"]
        for gpu in document["gpus"]
        for channel in gpu["channels"]
        for peer in channel["connected_to"]
    }


@pytest.mark.large
@pytest.mark.parametrize(("collective", "algorithm"), ALGORITHMS)
@pytest.mark.parametrize("gpus_per_host", [1, 2])
def test_gpus_of_different_hosts_have_port_channels(
    collective: str, algorithm: str, gpus_per_host: int, tmp_path: Path
) -> None:
    fabric = ll.Fabric(gpus=8, dims=None if (collective, algorithm) in IN_A_LINE else "2x4")
    plan = ll.plan(collective, "1MiB", fabric=fabric, algorithm=algorithm, planner="harvest")
    ll.export(plan, "mscclpp", tmp_path / "plan.json", gpus_per_host=gpus_per_host)
    document = json.loads((tmp_path / "plan.json").read_text())
    for (rank, peer), kind in kinds_of(document).items():
        assert kind == ("memory" if rank // gpus_per_host == peer // gpus_per_host else "port")
    run(document, 2)


@pytest.mark.parametrize("gpus_per_host", [3, 9, 16])
def test_hosts_that_the_gpus_do_not_fill_are_refused(gpus_per_host: int, cli: RunCli, in_tmp: Path) -> None:
    ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8), algorithm="ring", planner="static").save("plan.json")
    ran = cli("export", "plan.json", "--to", "mscclpp", "--output", "x.json", "--gpus-per-host", gpus_per_host)
    said = f"`{gpus_per_host}` is not accepted; it takes a divisor of the plan's 8 GPUs: 1, 2, 4, 8"
    assert (ran.status, ran.out, ran.err) == (2, "", f"error: gpus_per_host: {said}\n")
    assert not (in_tmp / "x.json").exists()
    ran = cli("export", "plan.json", "--to", "mscclpp", "--output", "x.json", "--gpus-per-host", 1 << 17)
    assert ran.err.endswith("it takes a whole number from 1 to 65536\n")


def test_channels_and_sizes_are_named(cli: RunCli, in_tmp: Path) -> None:
    ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8), algorithm="ring", planner="static").save("plan.json")
    options = ("--gpus-per-host", 4, "--sizes", "64KiB:4MiB")
    ran = cli("export", "plan.json", "--to", "mscclpp", "--output", "x.json", *options)
    assert f"port channels between hosts of 4 GPUs{WITHIN}\n" in ran.out
    assert "taken for sizes: 64 KiB to 4 MiB\n" in ran.out
    assert (
        "buffers of multiples of 128 B, 8 chunks, each of a multiple of 16 B; "
        "the plan's size, 1048576 B, is such a size\n" in ran.out
    )
    assert (in_tmp / "x.json").exists()


def test_the_machine_finds_what_is_overwritten_before_it_is_sent(tmp_path: Path) -> None:
    """By port, `pwsf` without its flush is a put and a signal: buffers are changed, or given back, too early."""
    plan = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=4), algorithm="recursive-doubling", planner="static")
    ll.export(plan, "mscclpp", tmp_path / "plan.json", gpus_per_host=1)
    document = json.loads((tmp_path / "plan.json").read_text())
    for gpu in document["gpus"]:
        for block in gpu["threadblocks"]:
            block["ops"] = [
                part
                for op in block["ops"]
                for part in (
                    (
                        {**op, "name": "put"},
                        {"name": "nop"},
                        {"name": "signal", "channel_type": "port", "channel_ids": op["channel_ids"]},
                    )
                    if op["name"] == "pwsf"
                    else (op,)
                )
            ]
    found = 0
    for seed in range(20):
        try:
            Machine(document, seed).run()
        except AssertionError:
            found += 1
    assert found > 0


@pytest.mark.large
def test_limits_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = ll.plan("all-reduce", "1MB", fabric=ll.Fabric(gpus=24), algorithm="ring", planner="static")
    with monkeypatch.context() as patched:
        patched.setattr("lightloom.formats.mscclpp.write.MOST_OPERATIONS", 20)
        notes = ll.export(plan, "mscclpp", tmp_path / "plan.json").notes
    assert notes[0].endswith("operations; MSCCL++ takes 20 unless it is built for more")
    # 1 000 000 bytes are not a multiple of 24 chunks of 16.
    takes = "buffers of multiples of 384 B, 24 chunks, each of a multiple of 16 B"
    said = f"MSCCL++ takes {takes}; the plan's size, 1000000 B, is not such a size"
    assert notes[1] == said
    plan = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=8), algorithm="recursive-doubling", planner="static")
    assert ll.export(plan, "mscclpp", tmp_path / "small.json").notes == ()
    plan = ll.plan("all-gather", "8GiB", fabric=ll.Fabric(gpus=8), algorithm="recursive-doubling", planner="static")
    (note,) = ll.export(plan, "mscclpp", tmp_path / "large.json").notes
    assert note == "MSCCL++ counts the bytes of a buffer in 32 bits; the plan's size is 8589934592 B"
    assert json.loads((tmp_path / "large.json").read_text())["max_message_size"] == (1 << 32) - 1
