"""Lightloom's own traces with something changed: schedules read from them compute their collective in any order."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.formats.chakra import write as chakra
from lightloom.formats.chakra.files import Node, RankFile, written
from lightloom.formats.chakra.schedule import schedule_of
from lightloom.formats.chakra.schema import NodeType
from lightloom.formats.chakra.trace import Trace, read_trace
from tests.draws import cases
from tests.formats.plans import document_of
from tests.reference.chakra_execution import run
from tests.reference.plan_document import chunks_of

ASKED = (
    ("all-reduce", {"algorithm": "dissemination"}),
    ("all-reduce", {"algorithm": "recursive-doubling", "planner": "static"}),
    ("reduce-scatter", {"algorithm": "halving-doubling"}),
    ("all-to-all", {"algorithm": "direct", "planner": "static", "topology": "ring"}),
    ("broadcast", {"root": 2, "planner": "static"}),
)


@cache
def traced(index: int) -> tuple[ll.Plan, Trace]:
    collective, settings_ = ASKED[index]
    plan = ll.plan(collective, "1000B", fabric=ll.Fabric(gpus=4), **settings_)
    with TemporaryDirectory() as folder:
        for rank, content in enumerate(chakra.rank_files(plan)):
            (Path(folder) / f"t.{rank}.et").write_bytes(content)
        return plan, read_trace("trace", folder)


def changed(node: Node, count: int, chance: random.Random) -> Node:
    """The node with a dependency less or more, another kind, or another value of an attribute."""
    match chance.randrange(4):
        case 0 if node.after:
            left_out = chance.randrange(len(node.after))
            return node._replace(after=node.after[:left_out] + node.after[left_out + 1 :])
        case 1:
            return node._replace(after=tuple(dict.fromkeys((*node.after, chance.randrange(count)))))
        case 2:
            return node._replace(kind=chance.choice([NodeType.COMPUTE, NodeType.SEND, NodeType.RECEIVE]))
    name = chance.choice(sorted(node.attributes))
    value = node.attributes[name]
    if isinstance(value, tuple):
        put: object = tuple(chance.sample(range(6), chance.randrange(3)))
    else:
        put = value if isinstance(value, bool) else max(0, int(value) + chance.choice([-1, 1, 2]))
    return node._replace(attributes={**node.attributes, name: put})  # type: ignore[dict-item]


@settings(max_examples=cases(300), deadline=None)
@given(index=st.integers(0, len(ASKED) - 1), seed=st.integers(0, 1 << 30), changes=st.integers(1, 2))
def test_what_is_read_computes_its_collective(index: int, seed: int, changes: int) -> None:
    plan, trace = traced(index)
    chance = random.Random(seed)  # noqa: S311 (what is changed, not a secret)
    ranks = [list(nodes) for nodes in trace.ranks]
    for _ in range(changes):
        nodes = chance.choice([nodes for nodes in ranks if nodes])
        place = chance.randrange(len(nodes))
        if chance.randrange(5) == 0:
            del nodes[place]
        else:
            nodes[place] = changed(nodes[place], len(nodes), chance)
    try:
        schedule = schedule_of(Trace("t", [RankFile(trace.attributes, tuple(nodes)) for nodes in ranks]))
    except InputError as error:
        assert "\n" not in str(error)
        return
    if all(check.passed for check in ll.verify(schedule)):
        told = chunks_of(document_of(plan))
        files = [written(trace.attributes, nodes) for nodes in ranks]
        for order in range(4):
            assert run(files, told.first, told.last, order) == []


def without(kind: int, after: int, ranks: tuple[tuple[Node, ...], ...]) -> list[RankFile]:
    """The ranks, with nodes of one kind not waiting for those of another that their rank has in the same step."""
    files = []
    for nodes in ranks:
        steps = {node.id: (node.kind, node.attributes["lightloom_step"]) for node in nodes}
        files.append(
            RankFile(
                {},
                tuple(
                    node._replace(
                        after=tuple(one for one in node.after if steps[one] != (after, steps[node.id][1]))
                        if node.kind == kind
                        else node.after
                    )
                    for node in nodes
                ),
            )
        )
    return files


@pytest.mark.parametrize(
    ("index", "kind", "after", "message"),
    [
        (0, NodeType.COMPUTE, NodeType.SEND, "does not wait for all nodes of"),
        (1, NodeType.COMPUTE, NodeType.RECEIVE, "does not wait for all nodes of"),
        (3, NodeType.SEND, NodeType.RECEIVE, r"must wait for .* whose data it forwards"),
    ],
)
def test_dependencies_that_are_missing_are_named(index: int, kind: int, after: int, message: str) -> None:
    _, trace = traced(index)
    files = without(kind, after, trace.ranks)
    files[0] = files[0]._replace(attributes=trace.attributes)
    with pytest.raises(InputError, match=message):
        schedule_of(Trace("t", files))


def test_bytes_and_lists_are_those_of_the_chunks() -> None:
    _, trace = traced(1)
    for attributes, message in (
        (
            {"lightloom_size_bytes": 2000},
            r"^schedule: what rank . sends .* is \d+ bytes long, but its chunks are",
        ),
        ({"lightloom_size_bytes": "x"}, "does not state lightloom_size_bytes, a whole number from 1"),
        ({"lightloom_chunks": 0}, "states 0 chunks of a buffer"),
        ({"lightloom_chunks": 1}, "its chunks are|do not divide"),
        ({"lightloom_schema": "lightloom.trace/2"}, "is of schema `lightloom.trace/2`; lightloom.trace/1 is read"),
    ):
        files = [RankFile({**trace.attributes, **attributes}, nodes) for nodes in trace.ranks]
        with pytest.raises(InputError, match=message):
            schedule_of(Trace("t", files))
