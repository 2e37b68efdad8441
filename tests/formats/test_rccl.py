"""RCCL: every program is within its limits and does its collective; each is taken where its plan is the fastest."""

from __future__ import annotations

import json
import math
import random
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.formats.schedules import read_schedule
from tests.conftest import RunCli
from tests.draws import cases
from tests.formats.msccl_interpreter import Machine
from tests.formats.plans import document_of, random_plan, random_plans
from tests.formats.rccl_runtime import RefusedError, load, taken
from tests.formats.steps import planned, read


def programs(folder: Path) -> list[Path]:
    return sorted((folder / "algorithms").iterdir())


def ring(gpus: int) -> ll.Plan:
    return ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=gpus), algorithm="ring", planner="static")


@settings(max_examples=25, deadline=None)
@given(index=st.integers(0, 400), seed=st.integers(0, 99))
def test_programs_of_random_plans_load_and_run(index: int, seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    plan = random_plan(index, 10)
    if plan is None:
        return
    folder = tmp_path_factory.mktemp("rccl") / "out"
    try:
        ll.export(plan, "rccl", folder)
    except InputError as error:
        assert re.search("unequal sizes|this format has no|RCCL takes [0-9]+", str(error))
        return
    (program,) = programs(folder)
    load(program.read_text())
    machine = Machine(program.read_text(), seed)
    machine.run()
    machine.check()


@pytest.mark.large
@pytest.mark.parametrize("gpus", [8, 40, 50])
def test_a_ring_has_as_many_thread_blocks_as_its_steps_need(gpus: int, tmp_path: Path) -> None:
    """A ring of n GPUs is 2(n - 1) messages to the next GPU: a channel for 64 of them, or for half where all wait."""
    plan = ring(gpus)
    ll.export(plan, "rccl", tmp_path / "out")
    (program,) = programs(tmp_path / "out")
    text = program.read_text()
    load(text)
    machine = Machine(text, gpus)
    machine.run()
    machine.check()
    messages, channels = 2 * (gpus - 1), len({block.channel for block in machine.blocks})
    assert -(-messages // 64) <= channels <= -(-messages // 32)
    schedule = read_schedule(program).schedule
    assert all(check.passed for check in ll.verify(schedule))
    assert read(schedule) == planned(plan)


@pytest.mark.large
def test_what_msccl_takes_rccl_may_refuse(tmp_path: Path) -> None:
    """The ring on 40 GPUs on one channel has 78 steps, which MSCCL takes, and RCCL does not."""
    ll.export(ring(40), "msccl-xml", tmp_path / "plan.xml")
    with pytest.raises(RefusedError, match="step 64"):
        load((tmp_path / "plan.xml").read_text())


def test_a_plan_beyond_the_limits_is_refused(cli: RunCli, in_tmp: Path) -> None:
    fabric = ll.Fabric(gpus=34)
    plan = ll.plan("all-to-all", "1MiB", fabric=fabric, algorithm="direct", planner="static", topology="ring")
    plan.save("plan.json")
    ran = cli("export", "plan.json", "--to", "rccl", "--output", "out")
    assert (ran.status, ran.out) == (2, "")
    # 33 thread blocks that send, 33 that receive, and one that copies the GPU's own data.
    assert ran.err.startswith("error: plan: a GPU has 67 thread blocks; RCCL takes 64; plan with another algorithm")
    assert [path.name for path in in_tmp.iterdir()] == ["plan.json"]


def cost_s(document: dict[str, Any], size_bytes: int) -> float:
    """The time of a plan at another size: its transmission in proportion, everything else as it is."""
    fixed = sum(
        step[term] for step in document["steps"] for term in ("startup_s", "propagation_s", "reconfiguration_s")
    )
    sent = sum(step["transmission_s"] for step in document["steps"])
    return float(fixed + sent * size_bytes / document["size_bytes"])


def without_sizes(text: str) -> str:
    return re.sub('(minBytes|maxBytes)="\\d+"', "", text)


PROBLEMS = [
    ("all-reduce", "1KiB:64MiB:4", ll.Fabric(gpus=8)),
    ("all-gather", "1KiB:64MiB:8", ll.Fabric(gpus=6, ports=2, reconfiguration_delay="1us")),
    ("all-to-all", "6KiB:48MiB:8", ll.Fabric(gpus=6, ports=2, reconfiguration_delay="100ns")),
]


@pytest.mark.large
@pytest.mark.parametrize(("collective", "sizes", "fabric"), PROBLEMS, ids=lambda one: str(one)[:12])
@pytest.mark.usefixtures("in_tmp")
def test_each_size_gets_the_program_of_its_plan(collective: str, sizes: str, fabric: ll.Fabric, cli: RunCli) -> None:
    """Planned and exported from the command line; at sizes that were planned, and between two of them."""
    options = ["--ports", str(fabric.ports), "--reconfiguration-delay", str(fabric.reconfiguration_delay)]
    problem = ["--collective", collective, "--gpus", str(fabric.gpus), *options]
    assert cli("plan", *problem, "--sizes", sizes, "--output", "plans").status == 0
    files = [str(path) for path in Path("plans").iterdir()]
    random.Random(1).shuffle(files)  # noqa: S311 (an order)
    ran = cli("export", *files, "--to", "rccl", "--output", "out")
    assert (ran.status, ran.err) == (0, "")
    table = ll.plan_sizes(collective, sizes, fabric=fabric)
    rows, gpus = table.rows, table.gpus
    documents = {
        row.size_bytes: json.loads(Path(f"plans/{collective}-{row.size_bytes}.json").read_text()) for row in rows
    }
    assert len(programs(Path("out"))) > 1
    assert len(programs(Path("out"))) == len(list(Path("out/circuits").iterdir()))
    name = collective.replace("-", "")

    def program_at(size_bytes: int) -> str:
        (program,) = taken(Path("out/algorithms"), name, gpus, size_bytes, in_place=name != "alltoall")
        return program.read_text()

    for row in rows:
        plan = ll.plan(collective, row.size_bytes, fabric=fabric)
        assert documents[row.size_bytes]["total_s"] == row.total_s == plan.total_s
        ll.export(plan, "rccl", f"alone-{row.size_bytes}")
        (alone,) = programs(Path(f"alone-{row.size_bytes}"))
        if row.size_bytes % int(re.findall('nchunksperloop="(\\d+)"', alone.read_text())[0]) == 0:
            assert without_sizes(program_at(row.size_bytes)) == without_sizes(alone.read_text())
    chance = random.Random(2)  # noqa: S311 (sizes)
    for low, high in pairwise(rows):
        texts = [programs(Path(f"alone-{row.size_bytes}"))[0].read_text() for row in (low, high)]
        chunks = math.lcm(*(int(re.findall('nchunksperloop="(\\d+)"', text)[0]) for text in texts))
        size_bytes = chance.randrange(low.size_bytes // chunks + 1, high.size_bytes // chunks) * chunks
        costs = [cost_s(documents[row.size_bytes], size_bytes) for row in (low, high)]
        found = without_sizes(program_at(size_bytes))
        chosen = min(cost for cost, text in zip(costs, texts, strict=True) if without_sizes(text) == found)
        assert chosen <= min(costs) * (1 + 1e-6)
        assert ll.plan(collective, size_bytes, fabric=fabric).total_s <= chosen * (1 + 1e-9)
    outside = [rows[0].size_bytes // 2, rows[-1].size_bytes * 2]
    for size_bytes in outside:
        assert taken(Path("out/algorithms"), name, gpus, size_bytes, in_place=name != "alltoall") == []


@settings(max_examples=cases(200), deadline=None)
@given(chosen=st.lists(st.integers(0, 11), min_size=1, max_size=6, unique=True), wide=st.booleans())
def test_ranges_of_sizes_are_neighbours(chosen: list[int], *, wide: bool) -> None:
    from lightloom.formats.size_range import ALL_SIZES, ranges_of

    plans = sorted((RANDOM[index] for index in chosen), key=lambda plan: plan.size_bytes)
    plans = [
        one
        for one, before in zip(plans, [None, *plans], strict=False)
        if before is None or one.size_bytes > before.size_bytes
    ]
    ranges = ranges_of(plans, ALL_SIZES if wide else None)
    assert all(one.first_bytes <= plan.size_bytes <= one.last_bytes for one, plan in zip(ranges, plans, strict=True))
    assert [one.last_bytes + 1 for one in ranges[:-1]] == [one.first_bytes for one in ranges[1:]]
    ends = (ranges[0].first_bytes, ranges[-1].last_bytes)
    alone = len(plans) == 1
    assert ends == (tuple(ALL_SIZES) if wide or alone else (plans[0].size_bytes, plans[-1].size_bytes))
    for (first, second), at in zip(pairwise(plans), ranges, strict=False):
        before, after = (
            cost_s(document_of(first), size) - cost_s(document_of(second), size)
            for size in (at.last_bytes, at.last_bytes + 1)
        )
        within = first.size_bytes < at.last_bytes and at.last_bytes + 1 < second.size_bytes
        if within:
            assert before <= 1e-15
            assert after >= -1e-15


RANDOM = random_plans(12, 12)


def test_sizes_and_several_plans_are_refused_where_they_make_no_sense(tmp_path: Path) -> None:
    plans = [ll.plan("all-reduce", size, fabric=ll.Fabric(gpus=4)) for size in ("64KiB", "1MiB")]
    for what, to, options, said in (
        (
            plans,
            "msccl-xml",
            {},
            r"^plan: format msccl-xml takes one plan, and 2 are given; several go to rccl or nccl-tuner$",
        ),
        (
            plans[0],
            "harvest",
            {"sizes": "1KiB:1MiB"},
            r"^sizes: it is only for msccl-xml and rccl and mscclpp, not for harvest$",
        ),
        (plans[0], "rccl", {"gpus_per_host": 2}, r"^gpus_per_host: it is only for mscclpp, not for rccl$"),
        (plans[0], "rccl", {"sizes": "1MiB:1KiB"}, r"^sizes: `1MiB:1KiB` begins above its end"),
        (plans[0], "rccl", {"sizes": "1MiB"}, r"^sizes: `1MiB` is not accepted; it takes the smallest and"),
        (plans, "rccl", {"sizes": "128KiB:2MiB"}, r"^sizes: the range 128 KiB to 2 MiB excludes a plan for 64 KiB; "),
        ([plans[0], plans[0]], "rccl", {}, r"^plan: two plans are for all-reduce on 4 GPUs of 65536 B; "),
        ([], "rccl", {}, r"^plan: no plan is given"),
    ):
        with pytest.raises(InputError, match=said):
            ll.export(what, to, tmp_path / "out", **options)
        assert not (tmp_path / "out").exists()


def test_a_buffer_of_one_chunk_has_any_number_of_elements(tmp_path: Path) -> None:
    fabric = ll.Fabric(gpus=4)
    for algorithm, said in (
        ("binomial-tree", "in place (one buffer)"),
        ("scatter-allgather", "elements is a multiple of 4"),
    ):
        plan = ll.plan("broadcast", "1MiB", fabric=fabric, algorithm=algorithm)
        notes = ll.export(plan, "rccl", tmp_path / algorithm).notes
        assert notes[1].endswith(said)


def test_the_range_that_is_asked_for_is_written(tmp_path: Path) -> None:
    plan = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=4))
    ll.export(plan, "rccl", tmp_path / "out", sizes="64KiB:4MiB")
    (program,) = programs(tmp_path / "out")
    assert 'minBytes="65536" maxBytes="4194304"' in program.read_text()
    ll.export(plan, "msccl-xml", tmp_path / "plan.xml", sizes="64KiB:4MiB")
    assert 'minBytes="65536" maxBytes="4194304"' in (tmp_path / "plan.xml").read_text()
    ll.export(plan, "mscclpp", tmp_path / "plan.json", sizes="64KiB:4MiB")
    document = json.loads((tmp_path / "plan.json").read_text())
    assert (document["min_message_size"], document["max_message_size"]) == (65536, 4194304)
