"""MSCCL XML: exported programs do the collective in MSCCL's interpreter, and are the plan for our own reader."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

import lightloom as ll
from lightloom import _core
from lightloom.base.errors import InputError
from lightloom.formats.schedules import read_schedule
from tests.conftest import RunCli
from tests.formats.msccl_interpreter import Machine
from tests.formats.plans import random_plans
from tests.formats.steps import Sent, earliest, planned, read

RUNS = 3
PLANS = 60
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


def exported(plan: ll.Plan, folder: Path) -> Path:
    ll.export(plan, "msccl-xml", folder / "plan.xml")
    return folder / "plan.xml"


def run(file: Path) -> None:
    for seed in range(RUNS):
        machine = Machine(file.read_text(), seed)
        machine.run()
        machine.check()


def read_back(file: Path) -> list[list[Sent]]:
    schedule = read_schedule(file).schedule
    assert all(check.passed for check in ll.verify(schedule))
    return read(schedule)


@pytest.mark.parametrize(("collective", "algorithm"), ALGORITHMS)
@pytest.mark.parametrize("gpus", [4, 8])
def test_every_algorithm_is_run_and_read_back(collective: str, algorithm: str, gpus: int, tmp_path: Path) -> None:
    fabric = ll.Fabric(gpus=gpus, dims=None if (collective, algorithm) in IN_A_LINE else f"2x{gpus // 2}")
    plan = ll.plan(collective, "1MiB", fabric=fabric, algorithm=algorithm, planner="harvest")
    file = exported(plan, tmp_path)
    run(file)
    found = read_back(file)
    assert found == earliest(planned(plan))
    if collective != "broadcast":
        assert found == planned(plan)


@pytest.mark.large
@pytest.mark.slow
def test_random_plans_are_run_and_read_back(tmp_path: Path) -> None:
    # Chunks of unequal sizes, and collectives that the format has no word for.
    refused = 0
    done: Counter[str] = Counter()
    for index, plan in enumerate(random_plans(PLANS, 12)):
        (tmp_path / str(index)).mkdir()
        try:
            file = exported(plan, tmp_path / str(index))
        except InputError as error:
            assert "unequal sizes" in str(error) or "this format has no" in str(error)
            refused += 1
            continue
        run(file)
        schedule = read_schedule(file).schedule
        assert (schedule.collective, schedule.gpus) == (plan.collective, plan.gpus)
        all_planned = Counter(
            (source, destination, operation, chunk)
            for step in planned(plan)
            for source, destination, operation, chunks in step
            for chunk in chunks
        )
        all_read = Counter(
            (source, destination, operation, chunk)
            for step in read_back(file)
            for source, destination, operation, chunks in step
            for chunk in chunks
        )
        assert all_read == all_planned
        assert len(schedule.shares) <= len(plan.steps)
        done[plan.collective] += 1
    assert len(done) == 5
    assert refused < PLANS / 2


@pytest.mark.parametrize("lost", ["waits", "order of a connection"])
def test_the_interpreter_finds_what_is_missing(lost: str, tmp_path: Path) -> None:
    """Without its waits, or with two messages swapped, a program that is right is wrong in some order of its blocks."""
    plan = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8), algorithm="swing", planner="static")
    text = exported(plan, tmp_path).read_text()
    if lost == "waits":
        wrong = re.sub('depid="\\d+" deps="\\d+"', 'depid="-1" deps="-1"', re.sub(".*nop.*\n", "", text))
        wrong = "\n".join(renumbered(wrong.splitlines()))
    else:
        first, second = re.findall('type="s" srcbuf="i" srcoff="\\d+"', text)[:2]
        wrong = text.replace(first, "X", 1).replace(second, first, 1).replace("X", second, 1)
    found = 0
    for seed in range(20):
        machine = Machine(wrong, seed)
        try:
            machine.run()
            machine.check()
        except AssertionError:
            found += 1
    assert found > 0


def renumbered(lines: list[str]) -> Iterable[str]:
    number = 0
    for line in lines:
        number = 0 if "<tb " in line else number
        if "<step " in line:
            yield re.sub('s="\\d+"', f's="{number}"', line, count=1)
            number += 1
        else:
            yield line


@pytest.mark.large
@pytest.mark.parametrize("gpus", [34, 64])
def test_many_peers_share_channels(gpus: int, tmp_path: Path) -> None:
    """MSCCL serves 32 peers of a GPU on a channel, so that the direct All-to-All takes two."""
    plan = ll.plan(
        "all-to-all", "1MiB", fabric=ll.Fabric(gpus=gpus), algorithm="direct", planner="static", topology="ring"
    )
    machine = Machine(exported(plan, tmp_path).read_text(), 0)
    assert {block.channel for block in machine.blocks} == {0, 1}
    assert read_back(tmp_path / "plan.xml") == planned(plan)


@pytest.mark.large
@pytest.mark.slow
def test_long_messages_are_cut(tmp_path: Path) -> None:
    """The 64 chunks of half a buffer of 128 GPUs are one message; 128 of 256 are two, on two channels."""
    for gpus, channels in ((128, 1), (256, 2)):
        fabric = ll.Fabric(gpus=gpus)
        plan = ll.plan("all-reduce", "1MiB", fabric=fabric, algorithm="halving-doubling", planner="static")
        folder = tmp_path / str(gpus)
        folder.mkdir()
        machine = Machine(exported(plan, folder).read_text(), 0)
        machine.run()
        machine.check()
        assert len({block.channel for block in machine.blocks}) == channels
        assert read_back(folder / "plan.xml") == planned(plan)


@pytest.mark.large
def test_a_thread_block_that_is_full_is_followed_by_another(tmp_path: Path) -> None:
    """262 steps of a ring of 132, each of one message to the next GPU: MSCCL takes 256 of a thread block."""
    plan = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=132), algorithm="ring", planner="static")
    assert ll.export(plan, "msccl-xml", tmp_path / "plan.xml").notes == ()
    text = (tmp_path / "plan.xml").read_text()
    assert set(re.findall('chan="(\\d+)"', text)) == {"0", "1"}
    assert max(map(int, re.findall('<step s="(\\d+)"', text))) < 256


@pytest.mark.large
def test_a_program_beyond_msccls_limits_says_so(tmp_path: Path) -> None:
    fabric = ll.Fabric(gpus=110)
    plan = ll.plan("all-to-all", "1MiB", fabric=fabric, algorithm="direct", planner="static", topology="ring")
    made = ll.export(plan, "msccl-xml", tmp_path / "plan.xml")
    assert made.notes == ("a GPU has 219 thread blocks; MSCCL takes 216 unless it is built for more",)


def test_unequal_chunks_are_refused(cli: RunCli, in_tmp: Path) -> None:
    (in_tmp / "matrix.csv").write_text("0,5,1\n2,0,3\n4,1,0\n")
    assert cli("plan", "--matrix", "matrix.csv", "--output", "plan.json", "--no-baselines").status == 0
    ran = cli("export", "plan.json", "--to", "msccl-xml", "--output", "plan.xml")
    assert (ran.status, ran.out) == (2, "")
    said = "plan: its chunks are of unequal sizes; this format divides buffers into equal chunks"
    assert ran.err == f"error: {said}\n"
    assert not (in_tmp / "plan.xml").exists()
    assert not (in_tmp / "plan.xml.circuits.json").exists()


def test_the_side_file_says_which_circuits(cli: RunCli, in_tmp: Path) -> None:
    plan = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay="100ns"), planner="harvest")
    assert plan.reconfigurations > 0
    plan.save("plan.json")
    ran = cli("export", "plan.json", "--to", "msccl-xml", "--output", "out.xml")
    assert ran.status == 0
    assert "msccl-xml cannot express circuits, reconfigurations" in ran.out
    side = json.loads((in_tmp / "out.xml.circuits.json").read_text())
    assert sum(step["reconfigured"] for step in side["steps"]) == plan.reconfigurations
    assert "transfers" not in side["steps"][0]
