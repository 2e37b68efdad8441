"""Topologies as NetworkX graphs and as files: both ways."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import InputError, printable, refuse, shown, text_of
from lightloom.base.files import MIB, read_lines, read_text
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.formats.graphml.graph import graph_of
from lightloom.inputs.options import FABRIC, by_name
from lightloom.inputs.quantities import rate_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import networkx as nx

    from lightloom.inputs.options.settings import TopologyLike

EDGE_LIST_SUFFIXES = (".edgelist", ".csv", ".txt")
GRAPHML_SUFFIX = ".graphml"
MAX_FILE_BYTES = 64 * MIB
MAX_LINE, MAX_LINES = 1000, 1_000_000
# XML takes some hundred times as long and as much memory for each of its elements.
MAX_GRAPHML_BYTES, MAX_ELEMENTS = 32 * MIB, 300_000


def resolve(field: str, value: TopologyLike, gpus: int | None) -> str | _core.Topology:
    """A topology for the core: a name stays a name; files and graphs become topologies.

    `gpus` is the size of the fabric; without it, the largest GPU that has a circuit is the last one. A string is a file
    when it ends in `.edgelist`, `.csv`, `.txt` or `.graphml`. Raises `InputError` that names `field`.
    """
    if isinstance(value, _core.Topology):
        return value
    if isinstance(value, str) and not is_topology_file(value):
        return text_of(field, value)
    if isinstance(value, (str, os.PathLike)):
        return read_topology(field, value, gpus)
    return from_networkx(value, gpus=gpus, field=field)


def is_topology_file(text: str) -> bool:
    """Whether the text is taken for a file and not for a topology's name."""
    return _core.names_topology_file(text)


def from_networkx(
    graph: nx.Graph, *, gpus: int | None = None, name: str | None = None, field: str = "topology"
) -> _core.Topology:
    """The topology that a NetworkX graph describes.

    Nodes are GPUs 0, 1, ...; an edge of a directed graph is a circuit, an edge of an undirected graph one circuit each
    way; parallel edges are parallel circuits, and so is an edge attribute `circuits` (or `count`). Raises `InputError`
    that names `field` when nodes or circuits are anything else.
    """
    field = text_of("field", field)
    gpus = None if gpus is None else whole_number("gpus", gpus, *WHOLE_RANGES["gpus"])
    name = None if name is None else text_of("name", name)
    if not all(hasattr(graph, method) for method in ("nodes", "edges", "is_directed")):
        raise refuse(
            field,
            f"a {type(graph).__name__} is not a topology; it takes the name of a topology, a file, a NetworkX graph "
            "or a Topology",
        )
    for node in graph.nodes:
        if isinstance(node, bool) or not hasattr(node, "__index__") or node < 0:
            raise refuse(
                field,
                f"node `{shown(node)}` is not a GPU; nodes are 0, 1, ..., "
                "as networkx.convert_node_labels_to_integers makes them",
            )
    circuits: Counter[tuple[int, int]] = Counter()
    for source, destination, attributes in graph.edges(data=True):
        count = attributes.get("circuits", attributes.get("count", 1))
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 1:
            raise refuse(
                field,
                f"edge {shown(source)} → {shown(destination)} has `{shown(count)}` circuits; "
                "it takes a whole number of at least 1",
            )
        circuits[int(source), int(destination)] += int(count)
        if not graph.is_directed():
            circuits[int(destination), int(source)] += int(count)
    size = gpus if gpus is not None else 1 + max((int(node) for node in graph.nodes), default=-1)
    return _build(field, name or str(graph.name or "graph"), size, circuits)


def to_networkx(
    topology: _core.Topology,
    create_using: type[nx.Graph] | None = None,
    *,
    bandwidth: str | float | None = None,
) -> nx.Graph:
    """The topology as a NetworkX graph, of class `MultiDiGraph` unless another is asked for.

    A multigraph has one edge per circuit; other classes have one edge per link. Edges have the attributes `circuits`,
    how many they stand for, and `bandwidth_bps`, what these carry together where one carries `bandwidth` (`"800Gbps"`,
    or bit/s; the default of `Fabric`). An undirected graph stands for as many circuits one way as the other:
    `InputError` when the topology has not.
    """
    import networkx as nx

    default = by_name(FABRIC)["bandwidth"].default
    circuit_bps = rate_of("bandwidth", str(default) if bandwidth is None else bandwidth)
    if not isinstance(topology, _core.Topology):
        raise refuse("topology", f"`{shown(topology)}` is not accepted; it takes a Topology")
    return graph_of(topology, create_using or nx.MultiDiGraph, circuit_bps)


def read_topology(field: str, path: str | os.PathLike[str], gpus: int | None) -> _core.Topology:
    """The topology in an edge list (`src dst [count]` a line) or a GraphML file, named after the file."""
    suffix = Path(path).suffix.lower()
    if suffix == GRAPHML_SUFFIX:
        return _read_graphml(field, path, gpus)
    if suffix not in EDGE_LIST_SUFFIXES:
        raise refuse(
            field,
            f"`{path}` is not accepted; it takes a file that ends in "
            f"{', '.join((*EDGE_LIST_SUFFIXES, GRAPHML_SUFFIX))}",
        )
    circuits: Counter[tuple[int, int]] = Counter()
    for number, line in read_lines(field, path, MAX_FILE_BYTES, longest=MAX_LINE, most=MAX_LINES):
        cells = line.partition("#")[0].replace(",", " ").replace(";", " ").split()
        if not cells:
            continue
        if len(cells) not in {2, 3} or not all(cell.isascii() and cell.isdigit() and len(cell) < 10 for cell in cells):
            raise refuse(
                field, f"line {number} of `{path}` is {line.strip()[:40]!r}; it takes `src dst` or `src dst count`"
            )
        source, destination = int(cells[0]), int(cells[1])
        circuits[source, destination] += int(cells[2]) if len(cells) == 3 else 1
    size = gpus if gpus is not None else 1 + max((max(pair) for pair in circuits), default=-1)
    return _build(field, Path(path).stem, size, circuits, str(path))


def _read_graphml(field: str, path: str | os.PathLike[str], gpus: int | None) -> _core.Topology:
    import networkx as nx

    text = read_text(field, path, MAX_GRAPHML_BYTES)
    # Each element has a start; an attribute adds no element.
    if text.count("<") > 2 * MAX_ELEMENTS or text.count("=") > 4 * MAX_ELEMENTS:
        raise refuse(field, f"`{path}` has more than {MAX_ELEMENTS} elements; give an edge list, which may be larger")
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise refuse(field, f"`{path}` declares a document type; it takes GraphML without one")
    try:
        graph: Any = nx.parse_graphml(text, node_type=int)
    except Exception as error:  # NetworkX lets every parser's own errors through
        raise refuse(field, f"`{path}` is not GraphML with nodes 0, 1, ...: {str(error)[:120]}") from error
    return from_networkx(graph, gpus=gpus, name=Path(path).stem, field=field)


def _build(
    field: str, name: str, gpus: int, circuits: Counter[tuple[int, int]], place: str | None = None
) -> _core.Topology:
    """The topology; `place` is the file that it is from, which errors name."""
    place = name if place is None else place
    links: Iterable[tuple[int, int, int]] = (
        (source, destination, count) for (source, destination), count in sorted(circuits.items())
    )
    largest = 1 << 32
    checked = list(links)
    if gpus >= largest or any(max(link) >= largest for link in checked):
        raise refuse(field, f"`{place}` has GPUs or counts of 2^32 and above; it takes numbers below")
    if not checked:
        raise refuse(field, f"`{place}` has no circuits")
    try:
        return _core.Topology.from_links(text_of(field, printable(name)), gpus, checked)
    except InputError as error:
        raise refuse(field, f"`{place}`: {str(error).removeprefix(f'{error.field}: ')}") from error
