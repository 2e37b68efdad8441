"""Plans in which a sum replaces a rank's data, and others of the same step are added to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import lightloom as ll
from lightloom.formats.chakra import write as chakra
from lightloom.running.data import DrawnInputs, data_type, expected, wrong
from lightloom.running.interpreter import interpret
from lightloom.running.program import program_of
from tests.formats import test_msccl_xml, test_mscclpp
from tests.formats.plans import document_of
from tests.reference.chakra_execution import run
from tests.reference.plan_document import chunks_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module", params=[(8, 2, "64KiB"), (9, 3, "64KiB"), (12, 2, "16KiB")], ids=repr)
def plan(request: pytest.FixtureRequest) -> ll.Plan:
    """An AllReduce over walks, whose sums are passed on."""
    gpus, ports, size = request.param
    fabric = ll.Fabric(gpus=gpus, ports=ports, reconfiguration_delay="10us")
    return ll.plan("all-reduce", size, fabric=fabric, planner="weave")


def test_sums_are_replaced(plan: ll.Plan) -> None:
    def written(step: int, operation: str) -> set[tuple[int, int]]:
        named = (one for one in plan.transfers(step) if one.operation == operation)
        return {(one.destination, chunk) for one in named for chunk in one.chunks.tolist()}

    assert any(written(step, "copy") & written(step, "reduce") for step in range(len(plan.steps)))
    assert all(check.passed for check in ll.verify(plan))


def test_the_program_computes_it(plan: ll.Plan) -> None:
    program, kind = program_of(plan, 4), data_type("int32")
    inputs = list(DrawnInputs(program, kind, "sum", 7))
    outputs = interpret(program, inputs, kind, "sum")
    assert not np.any(wrong(outputs, expected(program, inputs, kind, "sum"), kind))


def test_the_graphs_of_chakra_compute_it_whatever_the_order(plan: ll.Plan) -> None:
    told = chunks_of(document_of(plan))
    for seed in range(20):
        assert run(chakra.rank_files(plan), told.first, told.last, seed) == []


def test_exported_programs_compute_it(plan: ll.Plan, tmp_path: Path) -> None:
    test_msccl_xml.run(test_msccl_xml.exported(plan, tmp_path))
    test_mscclpp.run(test_mscclpp.exported(plan, tmp_path))
