"""Circuits through meshes of MZIs, by numbers of the results, recounted here in another way."""

from __future__ import annotations

import copy
import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.optics.meshes import MeshRouting, Proof

SIDES = {"north": (-1, 0), "east": (0, 1), "south": (1, 0), "west": (0, -1)}


def graph_of(mesh: ll.Mesh) -> nx.DiGraph:
    """One interposer's MZIs, an edge in each direction with as many places as (waveguide, wavelength)."""
    graph = nx.DiGraph(nx.grid_2d_graph(mesh.rows, mesh.columns).to_directed())
    number = {place: place[0] * mesh.columns + place[1] for place in graph}
    nx.set_edge_attributes(graph, mesh.waveguides * mesh.wavelengths, "places")
    return nx.relabel_nodes(graph, number)


def followed(routing: MeshRouting) -> list[tuple[int, int]]:
    """The circuits that light makes which is followed from every transmitter through the states of the MZIs."""
    columns = routing.mesh.columns
    states = routing.states()
    through = {(one.mzi, one.wavelength, one.enters, one.input): (one.leaves, one.output) for one in states}
    assert len(through) == len(states)
    opposite = dict(zip(SIDES, ("south", "west", "north", "east"), strict=True))
    circuits = []
    for mzi, wavelength, enters, number in list(through):
        if enters == "transmitter":
            at, side, lane = mzi, enters, number
            while True:
                side, lane = through.pop((at, wavelength, side, lane))
                if side == "receiver":
                    break
                down, right = SIDES[side]
                at += down * columns + right
                side = opposite[side]
            circuits.append((mzi, at))
    assert not through
    return sorted(circuits)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 5),
    columns=st.integers(2, 5),
    waveguides=st.integers(1, 2),
    wavelengths=st.integers(1, 2),
    data=st.data(),
)
def test_what_is_claimed_of_a_routing_holds(
    rows: int, columns: int, waveguides: int, wavelengths: int, data: st.DataObject
) -> None:
    mesh = ll.Mesh(mzis=f"{rows}x{columns}", waveguides=waveguides, wavelengths=wavelengths)
    mzis = st.integers(0, rows * columns - 1)
    pairs = data.draw(st.lists(st.tuples(mzis, mzis).filter(lambda pair: pair[0] != pair[1]), max_size=24))
    routing = ll.route_mesh(mesh, pairs)
    routing.check()
    lit = [index for index, path in enumerate(routing.paths) if len(path) > 0]
    assert followed(routing) == sorted(pairs[index] for index in lit)
    graph = graph_of(mesh)
    for index in lit:
        assert nx.is_path(graph, routing.paths[index].tolist())
        hops = len(routing.paths[index]) - 1
        assert routing.losses_db[index] == pytest.approx(hops * (0.25 + 0.4))
    assert [bool(reason) for reason in routing.reasons] == [len(path) == 0 for path in routing.paths]
    for proof in routing.proofs:
        if proof.mzis is not None:
            inside = set(proof.mzis.tolist())
            must_leave = sum(source in inside and destination not in inside for source, destination in pairs)
            places = sum(graph.edges[edge]["places"] for edge in nx.edge_boundary(graph, inside))
            assert (proof.circuits, proof.places) == (must_leave, places)
            assert must_leave > places
        assert_lengths_prove_it(graph, pairs, proof)
        assert not routing.is_complete


def assert_lengths_prove_it(graph: nx.DiGraph, pairs: list[tuple[int, int]], proof: Proof) -> None:
    """Where the proof is by lengths, the circuits' shortest ways are longer than all places."""
    if proof.lengths is None:
        return
    weighed = graph.copy()
    nx.set_edge_attributes(weighed, 0, "length")
    for here, there, length in proof.lengths.tolist():
        weighed.edges[here, there]["length"] = length
    needed = sum(nx.dijkstra_path_length(weighed, *pair, weight="length") for pair in pairs)
    assert needed > sum(edge["places"] * edge["length"] for *_, edge in weighed.edges(data=True))


def test_five_circuits_that_no_cut_stops_are_stopped_by_lengths() -> None:
    pairs = [(7, 2), (5, 7), (6, 2), (5, 7), (8, 3)]
    mesh = ll.Mesh(mzis="3x3")
    routing = ll.route_mesh(mesh, pairs)
    (proof,) = routing.proofs
    assert (proof.kind, proof.mzis, routing.routed) == ("lengths", None, 4)
    assert_lengths_prove_it(graph_of(mesh), pairs, proof)
    assert proof.reason.startswith(
        "with lengths by how many circuits seek a waveguide, the shortest paths of 5 circuits are "
    )
    routing.check()
    assert proof.holds(mesh, pairs)
    assert not proof.holds(mesh, pairs[1:])


def test_circuits_from_one_tile_are_as_many_as_its_largest_flow() -> None:
    """From one source, paths of integer flows are all that matters: the largest flow says how many are routed."""
    mesh = ll.Mesh(mzis="3x3")
    pairs = [(0, 8), (0, 4), (0, 2), (0, 6)]
    routing = ll.route_mesh(mesh, pairs)
    assert routing.routed == nx.maximum_flow_value(graph_of(mesh), 0, 8, capacity="places") == 2
    (proof,) = routing.proofs
    assert proof.reason == "4 circuits must leave row 0, column 0, and the waveguides out of there carry at most 2"


def test_rounds_are_as_few_as_transmitters_allow() -> None:
    routing = ll.route_mesh("4x4", [(5, other) for other in range(5)] + [(6, 5)], transmitters=2)
    assert routing.rounds == 3
    assert max(np.bincount(routing.round_of[:5])) <= 2
    assert routing.is_complete
    routing.check()
    assert ll.route_mesh("4x4", [(other, 5) for other in range(4)], receivers=1).rounds == 4


def test_a_limit_on_the_loss_is_said_to_be_why() -> None:
    mesh = ll.Mesh(mzis="1x8", max_loss_db=2.0)
    routing = ll.route_mesh(mesh, [(0, 3), (7, 0)])
    assert routing.reasons[0] == ""
    assert routing.reasons[1] == "its best path loses 4.55 dB, more than the limit max_loss_db of 2 dB"
    assert (routing.proofs[0].kind, routing.proofs[0].mzis) == ("loss", None)
    assert math.isnan(routing.losses_db[1])


def test_tiles_lie_side_by_side_and_are_joined_by_fibres() -> None:
    mesh = ll.Mesh(mzis="4x4", tiles="2x2", interposers="1x2", fibres=2, tile_size_cm=2.5)
    assert mesh.mzi_of_tile.tolist() == [9, 11, 13, 15, 25, 27, 29, 31]
    routing = ll.route_mesh(mesh, [(0, 3)])
    routing.check()
    # Two MZIs a tile: a step is 1.25 cm. Fibres are in rows 1 and 3, the circuit in row 1; a fibre has two couplings.
    assert routing.paths[0].tolist() == [9, 10, 11, 12, 13, 14, 15]
    assert routing.losses_db[0] == pytest.approx(5 * 1.25 * 0.4 + 2 * 0.25 + 2 * 0.5)


def test_results_are_immutable_and_the_same_again() -> None:
    pairs = [(index, (index * 7 + 3) % 16) for index in range(16) if index != (index * 7 + 3) % 16]
    first, second = (ll.route_mesh("4x4", pairs, seed=5) for _ in range(2))
    assert first.to_columns() == second.to_columns()
    for values in (first.circuits, first.wavelengths, first.losses_db, first.paths[0], first.mesh.mzi_of_tile):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0
    with pytest.raises(AttributeError):
        first.rounds = 2  # type: ignore[misc]
    assert copy.deepcopy(first.mesh) == first.mesh
    again = copy.deepcopy(first)
    assert again.to_columns() == first.to_columns()
    again.check()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"mzis": "16"}, "mzis"),
        ({"mzis": 16}, "mzis"),
        ({"mzis": "5000x1"}, "mzis"),
        ({"tiles": "3x3"}, "tiles"),
        ({"interposers": "0x1"}, "interposers"),
        ({"waveguides": 0}, "waveguides"),
        ({"wavelengths": 2.5}, "wavelengths"),
        ({"fibres": "many"}, "fibres"),
        ({"tile_size_cm": -1}, "tile_size_cm"),
        ({"crossing_loss_db": math.inf}, "crossing_loss_db"),
        ({"max_loss_db": math.nan}, "max_loss_db"),
    ],
)
def test_wrong_settings_are_refused_by_name(change: dict[str, Any], field: str) -> None:
    with pytest.raises(ll.InputError, match=f"^{field}: ") as refused:
        ll.Mesh(**change)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "circuits", [[(0, 16)], [(0, 0)], [(-1, 2)], [(0, 1, 2)], [0, 1], [(0.5, 1.0)], "nonsense", [(0, 1), (2,)], None]
)
def test_wrong_circuits_are_refused(circuits: Any) -> None:
    with pytest.raises(ll.InputError, match=r"^circuits"):
        ll.route_mesh("4x4", circuits)


@pytest.mark.parametrize("field", ["transmitters", "receivers", "seed"])
def test_wrong_limits_are_refused(field: str) -> None:
    limits: dict[str, Any] = {field: -1}
    with pytest.raises(ll.InputError, match=f"^{field}: "):
        ll.route_mesh("4x4", [(0, 1)], **limits)
