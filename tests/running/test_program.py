"""Programs: every plan's, interpreted, gives what NumPy says of its collective; a corrupted one's does not."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom import _core
from lightloom.base.errors import InputError
from lightloom.running.data import DATA_TYPES, REDUCTIONS, DataType, DrawnInputs
from lightloom.running.program import Program, program_of
from tests.conftest import MSCCL
from tests.data import needs
from tests.draws import cases
from tests.running.programs import FLOAT32, small_plan, wrong_elements, wrong_of_plan

COLLECTIVES = [entry["name"] for entry in _core.registry()["collectives"]]
PLANNERS = [entry["name"] for entry in _core.registry()["planners"]]


def shapes(gpus: int) -> list[tuple[int, ...]]:
    """GPUs in a row, this many, and as grids where they can be."""
    return [(gpus,)] + [(gpus // side, side) for side in (2, 3, 4) if gpus % side == 0 and gpus > side]


def planned(collective: str, size: str | int, gpus: int, **settings: Any) -> ll.Plan | None:
    """None where no planner serves it."""
    fabric = ll.Fabric(gpus=gpus, dims=settings.pop("dims", None), ports=settings.pop("ports", 1))
    try:
        return ll.plan(collective, size, fabric=fabric, **settings)
    except InputError:
        return None


@pytest.mark.large
@pytest.mark.parametrize("gpus", range(2, 17))
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_every_algorithm_gives_what_numpy_says(collective: str, gpus: int) -> None:
    done = set()
    for dims in shapes(gpus):
        for ports in (1, 2, 4):
            for row in _core.algorithm_table(collective, gpus, list(dims), ports, None):
                if row["accepted"]:
                    # A prime number of elements, so that no chunks are all equal.
                    plan = planned(
                        collective,
                        4 * 1009,
                        gpus,
                        dims=dims,
                        ports=ports,
                        algorithm=str(row["algorithm"]),
                        planner="static",
                        topology="ring",
                    )
                    assert plan is not None
                    assert wrong_of_plan(plan) == 0, (row["algorithm"], dims, ports)
                    done.add(row["algorithm"])
    assert len(done) >= 2


@pytest.mark.large
@settings(max_examples=cases(200), deadline=None)
@given(
    index=st.integers(0, 2000),
    kind=st.sampled_from(list(DATA_TYPES.values())),
    reduction=st.sampled_from(REDUCTIONS),
)
def test_random_plans_give_what_numpy_says(index: int, kind: DataType, reduction: str) -> None:
    plan = small_plan(index)
    if plan is not None:
        assert wrong_of_plan(plan, kind, reduction) == 0


def test_plans_of_every_planner_are_run() -> None:
    collective_of = dict.fromkeys(PLANNERS, "all-to-all") | {
        "bridge": "all-reduce",
        "short-circuit": "all-reduce",
        "synthesize": "all-reduce",
    }
    done = set()
    for planner in PLANNERS:
        for ports in (1, 2):
            plan = planned(collective_of[planner], "4KiB", 4, ports=ports, planner=planner, seed=1)
            if plan is not None:
                assert plan.planner == planner
                assert wrong_of_plan(plan) == 0, planner
                done.add(planner)
    assert done == set(PLANNERS)


@pytest.mark.parametrize("root", range(5))
@pytest.mark.parametrize("collective", ["broadcast", "reduce", "gather", "scatter"])
@pytest.mark.parametrize("algorithm", ["one-step", "binomial-tree", "binary-tree", "scatter-allgather"])
def test_what_the_root_alone_has_or_gets_is_there(collective: str, algorithm: str, root: int) -> None:
    if algorithm == "scatter-allgather" and collective in {"gather", "scatter"}:
        return
    plan = planned(collective, 4 * 17, 5, algorithm=algorithm, root=root)
    assert plan is not None
    program = program_of(plan, 4)
    assert program.root == root
    everywhere, own = [4 * 17] * 5, [4 * 3, 4 * 3, 4 * 4, 4 * 3, 4 * 4]
    at_root = [4 * 17 if rank == root else 0 for rank in range(5)]
    ends = {"broadcast": (at_root, everywhere), "reduce": (everywhere, at_root), "gather": (own, at_root)}
    given, got = ends.get(collective, (at_root, own))
    assert program.input_bytes.tolist() == given
    assert program.output_bytes.tolist() == got
    assert wrong_elements(program) == 0


@pytest.mark.parametrize("kind", DATA_TYPES.values(), ids=DATA_TYPES)
def test_unequal_blocks_have_the_elements_of_the_matrix(kind: DataType) -> None:
    """Bytes of the matrix that are whole elements are these; the own block counts too, and pairs without bytes."""
    elements = np.array([[3, 40, 0, 1], [7, 0, 9, 200], [0, 0, 5, 1], [1, 1, 1, 1]])
    for planner in ("auto", "bvn", "fast"):
        plan = ll.plan(matrix=elements * kind.size_bytes, fabric=ll.Fabric(gpus=4, ports=2), planner=planner)
        program = program_of(plan, kind.size_bytes)
        assert program.blocks is not None
        assert program.blocks.tolist() == elements.tolist()
        assert (program.input_bytes // kind.size_bytes).tolist() == elements.sum(axis=1).tolist()
        assert (program.output_bytes // kind.size_bytes).tolist() == elements.sum(axis=0).tolist()
        assert wrong_elements(program, kind) == 0


@needs("msccl/ring_allreduce_8gpus.xml", "msccl/amd_32gpus.xml")
@pytest.mark.parametrize("name", ["ring_allreduce_8gpus.xml", pytest.param("amd_32gpus.xml", marks=pytest.mark.slow)])
def test_schedules_of_others_give_what_numpy_says(name: str) -> None:
    plan = ll.plan(schedule=MSCCL / name, size=4 * 2003, planner="static")
    assert wrong_of_plan(plan) == 0


@pytest.mark.large
@settings(max_examples=60, deadline=None)
@given(index=st.integers(0, 2000))
def test_messages_go_the_ways_of_the_plan_with_their_shares(index: int) -> None:
    plan = small_plan(index)
    if plan is None:
        return
    program = program_of(plan, 1)
    messages = program.message_bytes
    found: dict[tuple[int, ...], int] = {}
    for message, size in enumerate(messages.tolist()):
        ways = program.gpus[program.gpu_offsets[message] : program.gpu_offsets[message + 1]].tolist()
        key = (int(program.step[message]), *ways)
        found[key] = found.get(key, 0) + size
    wanted: defaultdict[tuple[int, ...], float] = defaultdict(float)
    chunks = 0
    for step in range(len(plan.steps)):
        chunks = max(chunks, len(plan.transfers(step).chunks))
        for path in plan.routes(step):
            wanted[step, *path.gpus.tolist()] += path.size_bytes
    assert found.keys() <= wanted.keys()
    for key, size in wanted.items():
        # A chunk is at most a byte off, and so is where a path's share ends.
        assert abs(found.get(key, 0) - size) <= chunks + 1


def test_a_row_that_takes_several_paths_is_split_by_their_shares() -> None:
    """Over a ring both ways, the far side of 4 GPUs is reached both ways round, with half of it each."""
    plan = planned("all-reduce", "4KiB", 4, ports=2, algorithm="recursive-doubling", planner="static", topology="ring")
    assert plan is not None
    program = program_of(plan, 4)
    ways = {
        tuple(program.gpus[begin:end].tolist()): size
        for begin, end, size, step in zip(
            program.gpu_offsets[:-1].tolist(),
            program.gpu_offsets[1:].tolist(),
            program.message_bytes.tolist(),
            program.step.tolist(),
            strict=True,
        )
        if step == 1
    }
    assert ways[0, 1, 2] == ways[0, 3, 2] == 512
    assert wrong_elements(program) == 0


def corrupted(program: Program, message: int, how: str) -> Program:
    """The program with a message left out, or with its first segment put, got or added otherwise than it must be."""
    segment = int(program.segment_offsets[message])
    columns: dict[str, Any] = {}
    match how:
        case "left out":
            last = int(program.segment_offsets[message + 1])
            keep = np.ones(len(program.size_bytes), dtype=bool)
            keep[segment:last] = False
            offsets = program.segment_offsets.copy()
            offsets[message + 1 :] -= last - segment
            names = ("source_offset", "destination_offset", "size_bytes", "is_reduction")
            columns = {name: getattr(program, name)[keep] for name in names} | {"segment_offsets": offsets}
        case "source_offset" | "destination_offset":
            column = getattr(program, how).copy()
            end = int(program.message_bytes[message])
            column[segment] = column[segment] - 4 if column[segment] else end
            columns = {how: column}
        case "is_reduction":
            column = program.is_reduction.copy()
            column[segment] = not column[segment]
            columns = {how: column}
    return dataclasses.replace(program, **columns)


@pytest.mark.large
@settings(max_examples=60, deadline=None)
@given(
    algorithm=st.sampled_from(["ring", "recursive-doubling", "bruck", "halving-doubling"]),
    message=st.integers(0, 1 << 20),
    how=st.sampled_from(["left out", "source_offset", "destination_offset", "is_reduction"]),
    kind=st.sampled_from([DATA_TYPES["float32"], DATA_TYPES["int32"]]),
)
def test_a_corrupted_program_leaves_wrong_elements(algorithm: str, message: int, how: str, kind: DataType) -> None:
    plan = planned("all-reduce", "4KiB", 8, algorithm=algorithm)
    assert plan is not None
    program = program_of(plan, 4)
    spoilt = corrupted(program, message % len(program.step), how)
    assert wrong_elements(spoilt, kind) > 0
    assert wrong_elements(program, kind) == 0


@pytest.mark.parametrize("collective", ["all-gather", "all-to-all", "broadcast"])
@pytest.mark.parametrize("kind", DATA_TYPES.values(), ids=lambda kind: kind.name)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_reducing_where_nothing_was_leaves_wrong_elements(collective: str, kind: DataType, reduction: str) -> None:
    plan = planned(collective, "1KiB", 4)
    assert plan is not None
    program = program_of(plan, kind.size_bytes)
    assert not program.is_reduction.any()
    spoilt = dataclasses.replace(program, is_reduction=np.ones_like(program.is_reduction))
    assert wrong_elements(program, kind, reduction) == 0
    assert wrong_elements(spoilt, kind, reduction) > 0


def test_a_corrupted_plan_makes_no_program() -> None:
    plan = planned("all-reduce", "1MiB", 4, algorithm="ring")
    assert plan is not None
    text = plan.to_json()
    assert text.count('"reduce"') == 3
    spoilt = text.replace('"reduce"', '"copy"', 1)
    with pytest.raises(InputError, match=r"^plan"):
        program_of(ll.Plan.from_json(spoilt), 4)


def test_what_cannot_be_run_is_refused() -> None:
    plan = planned("all-reduce", 7, 2)
    assert plan is not None
    with pytest.raises(InputError, match=r"^plan: its buffer of 7 bytes holds no element of 8 bytes$"):
        program_of(plan, 8)
    assert program_of(plan, 4).input_bytes.tolist() == [4, 4]


def test_workspaces_hold_what_ranks_have_and_pass_on() -> None:
    """All-to-All between pairs needs an input and an output less the own block; Bruck's passes blocks on besides."""
    sizes = {}
    for algorithm in ("direct", "bruck"):
        plan = planned("all-to-all", "8KiB", 8, algorithm=algorithm)
        assert plan is not None
        sizes[algorithm] = program_of(plan, 4).workspace_bytes.tolist()
    assert sizes["direct"] == [8192 + 7168] * 8
    # Bruck, radix 2, 8 ranks: block at distance k is received once per 1 in k's digits, by others but the last time.
    passed = sum(math.prod([1024, distance.bit_count() - 1]) for distance in range(1, 8))
    assert sizes["bruck"] == [8192 + 7168 + passed] * 8


def test_chunks_without_elements_make_no_message() -> None:
    plan = planned("all-gather", 4 * 3, 8, algorithm="ring")
    assert plan is not None
    program = program_of(plan, 4)
    assert len(program.step) == 3 * 7
    assert (program.message_bytes == 4).all()
    assert (np.diff(program.segment_offsets) == 1).all()
    assert wrong_elements(program, FLOAT32) == 0
    assert len(DrawnInputs(program, FLOAT32)) == 8
