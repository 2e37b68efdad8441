"""Topologies explain themselves; names that planners give are explained by `list topologies`."""

import re

import pytest

import lightloom as ll
from lightloom import _core


@pytest.mark.parametrize(
    ("spec", "gpus", "ports", "said"),
    [
        ("shifted-ring:4", 16, 1, "4 rings of 4 GPUs, 4 apart"),
        ("circulant:1^6,2^6", 32, 12, "every GPU to those 1 and 2 ahead, 6 circuits in parallel"),
        ("complete", 4, 3, "every GPU to every other"),
    ],
)
def test_a_topology_says_what_its_circuits_are(spec: str, gpus: int, ports: int, said: str) -> None:
    topology = ll.Topology.named(spec, gpus, (), ports)
    assert (topology.name, topology.explanation) == (spec, said)


def test_equal_generators_are_written_once() -> None:
    long, short = (ll.Topology.named(f"circulant:{spec}", 16, (), 6) for spec in ("1,1,1,5,5,1", "1^3,5^2,1"))
    assert long.name == short.name == "circulant:1^3,5^2,1"
    assert (long.links == short.links).all()
    plan = ll.plan("all-gather", size="1MiB", fabric=ll.Fabric(gpus=16, ports=6), candidates="circulant:1^3,5^3,ring")
    assert {step.topology_name for step in plan.steps} <= {"circulant:1^3,5^3", "ring"}


def test_a_contraction_says_what_it_contracts() -> None:
    plan = ll.plan(
        "all-to-all",
        size="1MiB",
        fabric=ll.Fabric(gpus=16, ports=2, reconfiguration_delay="1us"),
        planner="reconfigure-all-to-all",
    )
    said = {topology.name: text for topology, text in zip(plan.topologies, plan.explanations, strict=True)}
    contractions = [name for name in said if name.startswith("contraction-")]
    assert contractions
    for name in contractions:
        assert re.search(r"; direct circuits for flows of \d+( to \d+)? hops on the topologies before$", said[name])


def test_every_name_that_planners_give_has_a_meaning() -> None:
    for given in _core.planners_names().values():
        assert len(dict(given)) == len(given)
        assert all(meaning for _, meaning in given)
    entries = [entry["name"] for entry in _core.registry()["topologies"]]
    entries += [name for given in _core.planners_names().values() for name, _ in given]
    specs = {name.partition(":")[0] for name in entries}
    shapes = [re.compile(r"(\d+x)*\[\d+\](x\d+)*:[-\d^,]+"), re.compile(r"(matching|contraction)-\d+")]
    for collective, ports in (("all-reduce", 1), ("all-to-all", 2), ("broadcast", 3)):
        fabric = ll.Fabric(gpus=16, ports=ports, reconfiguration_delay="1us")
        for topology in ll.plan(collective, size="64MiB", fabric=fabric).topologies:
            known = topology.name.partition(":")[0] in specs
            assert known or any(shape.fullmatch(topology.name) for shape in shapes), topology.name
