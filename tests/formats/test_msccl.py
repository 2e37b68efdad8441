"""MSCCL schedules written by others, planned and verified; the small ring stands in where the data are absent."""

import json
from pathlib import Path

import pytest

import lightloom as ll
from tests.conftest import MSCCL, RunCli
from tests.data import needs

RING = MSCCL / "ring_allreduce_8gpus.xml"
RING_NAME = "msccl/ring_allreduce_8gpus.xml"
TWO_GPUS = """<algo name="swap" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="0">
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
"""


@needs(RING_NAME)
def test_the_ring_is_the_ring() -> None:
    """A ring AllReduce of 8 GPUs: 2·7 steps of m/8 to the neighbour, planned like our own."""
    fabric = ll.Fabric(gpus=8)
    theirs = ll.plan(schedule=RING, size="1MiB", fabric=fabric)
    ours = ll.plan("all-reduce", size="1MiB", fabric=fabric, algorithm="ring")
    assert len(theirs.steps) == 14
    assert theirs.collective == "all-reduce"
    assert theirs.total_s == ours.total_s
    assert all(check.passed for check in ll.verify(theirs))


@needs(RING_NAME)
def test_gpus_come_from_the_schedule_and_must_agree(cli: RunCli) -> None:
    ran = cli("plan", "--schedule", RING, "--size", "1MiB", "--format", "json")
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["gpus"] == 8
    ran = cli("plan", "--schedule", RING, "--size", "1MiB", "--gpus", 16)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: schedule: ")
    ran = cli("plan", "--schedule", RING, "--size", "1MiB", "--collective", "all-gather")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: collective: ")


@needs(RING_NAME)
def test_published_schedules_verify_from_the_command_line(cli: RunCli) -> None:
    ran = cli("verify", *sorted(MSCCL.glob("*.xml")), "--format", "json")
    report = json.loads(ran.out)
    assert [file["kind"] for file in report["files"]] == ["schedule"] * len(report["files"])
    assert ran.status == (0 if report["passed"] else 1)
    verdicts = {Path(file["file"]).name: file["passed"] for file in report["files"]}
    assert verdicts["ring_allreduce_8gpus.xml"]


@pytest.mark.slow
@needs("msccl/amd_32gpus.xml", RING_NAME)
@pytest.mark.parametrize("name", ["amd_32gpus.xml", "ring_allreduce_8gpus.xml"])
def test_published_schedules_are_planned_for(name: str, cli: RunCli) -> None:
    """The transfers of each, chunk by chunk, are in its plan; the synthesised AllGather of 32 GPUs as well."""
    assert cli("verify", MSCCL / name).status == 0
    plan = ll.plan(schedule=MSCCL / name, size="1MiB", planner="static")
    schedule = ll.Schedule.from_msccl((MSCCL / name).read_text())
    assert all(check.passed for check in ll.verify(plan))
    for step in range(len(plan.steps)):
        planned = sorted((*one[:3], one.chunks.tolist()) for one in plan.transfers(step))
        assert planned == sorted((*one[:3], sorted(one[3])) for one in schedule.transfers(step))


def test_a_small_schedule_is_read_verified_and_planned(cli: RunCli, in_tmp: Path) -> None:
    (in_tmp / "swap.xml").write_text(TWO_GPUS)
    assert cli("verify", "swap.xml").status == 0
    plan = ll.plan(schedule="swap.xml", size="1KiB")
    assert (plan.collective, plan.gpus, len(plan.steps)) == ("all-gather", 2, 1)
    assert plan.steps[0].transfer_bytes == 512


def test_a_schedule_that_computes_something_else_is_refused(cli: RunCli, in_tmp: Path) -> None:
    (in_tmp / "wrong.xml").write_text(TWO_GPUS.replace('coll="allgather"', 'coll="allreduce"'))
    ran = cli("verify", "wrong.xml")
    assert ran.status in {1, 2}
    ran = cli("plan", "--schedule", "wrong.xml", "--size", "1KiB", "--output", "plan.json")
    assert ran.status != 0
    assert ran.err.count("\n") == 1
    assert not (in_tmp / "plan.json").exists()


def test_every_line_of_a_schedule_can_be_cut(cli: RunCli, in_tmp: Path) -> None:
    """Cut anywhere, the file is refused in one line or still a schedule that computes its collective."""
    lines = TWO_GPUS.splitlines(keepends=True)
    for cut in range(len(lines)):
        for text in ("".join(lines[:cut]), "".join(lines[:cut] + lines[cut + 1 :])):
            (in_tmp / "cut.xml").write_text(text)
            ran = cli("plan", "--schedule", "cut.xml", "--size", "1KiB", "--format", "json")
            if ran.status == 0:
                assert all(check.passed for check in ll.verify(ll.Plan.from_json(ran.out)))
            else:
                assert ran.err.startswith("error: ")
                assert ran.err.count("\n") == 1
