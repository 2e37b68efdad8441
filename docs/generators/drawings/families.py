"""Every family of topologies, one example each."""

from __future__ import annotations

from typing import NamedTuple

from docs.generators.drawings.svg import Arrow, Panel, Place, drawing, on_a_circle, on_a_grid

from lightloom import Topology, _core


class Example(NamedTuple):
    """The drawing of a family: the parameters after its name, GPUs, ports, and the grid if there is one."""

    parameters: str = ""
    ports: int = 2
    gpus: int = 8
    dims: tuple[int, ...] = ()


# A new family is drawn as two ports make it for eight GPUs, unless it needs something else.
EXAMPLES = {
    "ring": Example(ports=1),
    "shifted-ring": Example(":2", ports=1),
    "block-ring": Example(":2,2", ports=1),
    "circulant": Example(":1,3"),
    "torus": Example(ports=4, gpus=16, dims=(4, 4)),
    "shifted-torus": Example(":4x4:1,2,one-way", ports=2, gpus=16, dims=(4, 4)),
    "twisted-torus": Example(ports=4, gpus=32, dims=(4, 8)),
    "grid": Example(ports=4, gpus=16, dims=(4, 4)),
    "hypercube": Example(ports=3),
    "complete": Example(ports=7),
}


def names() -> list[str]:
    """Every family but the one without circuits, as the registry has them."""
    return [entry["name"] for entry in _core.registry()["topologies"] if entry["name"] != "dark"]


def topology_of(name: str) -> tuple[Topology, Example]:
    """The example of a family."""
    example = EXAMPLES.get(name, Example())
    dims = list(example.dims or (example.gpus,))
    return Topology.named(name + example.parameters, example.gpus, dims, example.ports), example


def families_drawing() -> str:
    """A panel for each family."""
    panels = []
    for name in names():
        topology, example = topology_of(name)
        places: list[Place] = on_a_grid(*example.dims) if example.dims else on_a_circle(example.gpus)
        ports = f"{example.ports} port" + "s" * (example.ports > 1)
        line = f"{example.parameters}, {ports}" if example.parameters else ports
        panels.append(Panel(name, line, places, circuits(topology)))
    return drawing(panels, "One example of every family of topologies")


def circuits(topology: Topology) -> list[Arrow]:
    """An arrow for each circuit, a line without heads for one each way, thicker where several are parallel."""
    count_of = {(int(u), int(v)): int(count) for u, v, count in topology.links}
    return [
        Arrow(u, v, "circuit", 0.6 + 0.8 * count, both_ways=count_of.get((v, u)) == count)
        for (u, v), count in count_of.items()
        if u < v or count_of.get((v, u)) != count
    ]
