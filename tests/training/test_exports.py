"""Training iterations in other tools' formats, read back: the same work on every rank, in an order that holds."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.formats import written_formats
from lightloom.formats.chakra.schema import CollectiveType, NodeType
from lightloom.formats.chakra.trace import Trace, read_trace
from lightloom.training.exports.iterations import GRAPHS
from tests.training.iterations import workload
from tests.training.random_workloads import fabric as fabric_by_chance
from tests.training.random_workloads import workload as workload_by_chance

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli


def _iteration() -> ll.Training:
    return ll.train(ll.Workload.of(workload(2)), fabric=ll.Fabric(ports=2, reconfiguration_delay="10us"))


def _work_of(training: ll.Training, rank: int) -> Counter[tuple[Any, ...]]:
    """What a rank does in an iteration, by its workload."""
    done: Counter[tuple[Any, ...]] = Counter()
    for event, node in zip(training.events, training.nodes, strict=True):
        if event.kind == "compute" and rank in event.ranks:
            done["compute", round((event.end_s - event.start_s) * 1e6)] += 1
        elif event.kind == "collective":
            groups = [group for group in training.members.groups_of(node) if rank in group]
            done.update((node["collective"], group, node["size_bytes"]) for group in groups)
        elif event.kind == "send":
            pairs = training.members.pairs_of(node)
            done.update(("send", pair, node["size_bytes"]) for pair in pairs if rank in pair)
    return done


def _work_in(trace: Trace, rank: int) -> Counter[tuple[Any, ...]]:
    """What a rank does in a trace."""
    done: Counter[tuple[Any, ...]] = Counter()
    for node in trace.ranks[rank]:
        said = node.attributes
        if node.kind == NodeType.COMPUTE:
            done["compute", node.duration_us] += 1
        elif node.kind == NodeType.COLLECTIVE:
            name = CollectiveType(int(str(said["comm_type"]))).name.lower().replace("_", "-")
            done[name, trace.groups[str(said["pg_name"])], said["comm_size"]] += 1
        else:
            done["send", (said["comm_src"], said["comm_dst"]), said["comm_size"]] += 1
    return done


def _before(trace: Trace, rank: int) -> dict[str, set[str]]:
    """By event of a rank, those that end before it begins."""
    found: dict[int, set[str]] = {}
    by_name: dict[str, set[str]] = {}
    names = {node.id: node.name for node in trace.ranks[rank]}
    for node in trace.ranks[rank]:
        found[node.id] = {names[other] for other in node.after}.union(*(found[other] for other in node.after))
        by_name.setdefault(node.name, set()).update(found[node.id])
    return by_name


@pytest.mark.large
@pytest.mark.parametrize("seed", range(8))
def test_every_rank_does_in_its_trace_what_it_does_in_the_iteration(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)  # noqa: S311 (tests)
    training = ll.train(ll.Workload.of(workload_by_chance(rng, serial=True, most=6)), fabric=fabric_by_chance(rng))
    ll.export(training, "chakra", tmp_path / "out")
    trace = read_trace("trace", tmp_path / "out")
    assert len(trace.ranks) == training.ranks
    for rank in range(training.ranks):
        assert _work_in(trace, rank) == _work_of(training, rank)
        before = _before(trace, rank)
        for event, node in zip(training.events, training.nodes, strict=True):
            here = {name for name in node["after"] if name in before}
            assert event.node not in before or here <= before[event.node]


@pytest.mark.large
def test_an_iteration_that_is_read_back_takes_as_long(tmp_path: Path) -> None:
    # All ranks take part in all events, which take whole microseconds: nothing is lost in the trace.
    nodes: list[dict[str, Any]] = []
    for index, axis in enumerate(("tp", "dp", "tp")):
        after = [nodes[-1]["id"]] if nodes else []
        nodes.append({"id": f"compute-{index}", "kind": "compute", "duration_s": 3e-4, "after": after})
        shape = {"kind": "collective", "collective": "all-reduce", "axis": axis, "size_bytes": (1 + index) << 22}
        nodes.append({"id": f"reduce-{index}", **shape, "after": [nodes[-1]["id"]]})
    told = {"schema": "lightloom.workload/1", "ranks": 8, "mesh": {"tp": 4, "dp": 2}, "nodes": nodes}
    training = ll.train(ll.Workload.of(told), fabric=ll.Fabric(ports=2, reconfiguration_delay="10us"))
    ll.export(training, "chakra", tmp_path / "out")
    read = ll.Workload.read(tmp_path / "out", comm_size="buffer", element_bytes=1)
    again = ll.train(read, fabric=ll.Fabric(ports=2, reconfiguration_delay="10us"))
    assert again.total_s == pytest.approx(training.total_s, rel=1e-9)


def test_every_format_has_the_plans_that_events_name(tmp_path: Path) -> None:
    training = _iteration()
    for name in written_formats():
        try:
            made = ll.export(training, name, tmp_path / name)
        except InputError as error:
            # A format may not hold one of the plans; then it says which.
            assert "plan-" in str(error)
            continue
        told = json.loads((tmp_path / name / "events.json").read_text())
        assert made.side_file == tmp_path / name / "events.json"
        assert {event["plan"] for event in told["events"] if "plan" in event} == set(told["plans"])
        here = {path.relative_to(tmp_path / name).parts[0] for path in (tmp_path / name).rglob("*") if path.is_file()}
        assert set(told["plans"]) <= {part.split(".")[0] for part in here}
        assert ("ranks.0.et" in here) == (name in GRAPHS)


def test_two_iterations_are_refused(cli: RunCli, in_tmp: Path) -> None:
    _iteration().save(in_tmp / "one.json")
    ran = cli("export", "one.json", "one.json", "--to", "rccl", "--output", "out")
    assert ran.status == 2
    assert "by itself" in ran.err
    assert not (in_tmp / "out").exists()
