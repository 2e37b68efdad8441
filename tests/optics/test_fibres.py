"""Circuits between servers compared with algorithm 4 of PCCL as written: a variable a circuit and edge, by SciPy."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

import lightloom as ll
from lightloom.exact.fibres import least_fibres

DIRECTIONS = ("one-way", "both-ways")


def algorithm_4(
    rows: int, columns: int, direction: str, existing: list[tuple[int, int, int]], circuits: list[tuple[int, int]]
) -> int:
    """The least z, with the constraints in the order of the paper."""
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns), ordering="sorted")
    edges = list(grid.to_directed().edges)
    key = lambda edge: tuple(sorted(edge)) if direction == "both-ways" else edge  # noqa: E731
    count = len(circuits) * len(edges) + 1
    constraints = []
    for index, (source, destination) in enumerate(circuits):
        for server in grid:
            out, back = np.zeros(count), np.zeros(count)
            for place, (start, end) in enumerate(edges):
                out[index * len(edges) + place] = start == server
                back[index * len(edges) + place] = end == server
            if server == source:
                constraints += [LinearConstraint(out, 1, 1), LinearConstraint(back, 0, 0)]
            elif server == destination:
                constraints += [LinearConstraint(out, 0, 0), LinearConstraint(back, 1, 1)]
            else:
                constraints.append(LinearConstraint(back - out, 0, 0))
    for together in {key(edge) for edge in edges}:
        row = np.zeros(count)
        row[-1] = 1
        for place, edge in enumerate(edges):
            if key(edge) == together:
                row[place : count - 1 : len(edges)] = -1
        there = sum(load for start, end, load in existing if key((start, end)) == together)
        constraints.append(LinearConstraint(row, there, np.inf))
    cost = np.zeros(count)
    cost[-1] = 1
    upper = np.ones(count)
    upper[-1] = np.inf
    found = milp(cost, constraints=constraints, integrality=np.ones(count), bounds=Bounds(0, upper))
    return int(np.rint(found.fun))


@settings(max_examples=30, deadline=None)
@given(
    rows=st.integers(1, 3),
    columns=st.integers(2, 4),
    direction=st.sampled_from(DIRECTIONS),
    load=st.integers(0, 3),
    data=st.data(),
)
def test_fibres_are_those_of_the_papers_program(
    rows: int, columns: int, direction: str, load: int, data: st.DataObject
) -> None:
    servers = st.integers(0, rows * columns - 1)
    pairs = st.tuples(servers, servers).filter(lambda pair: pair[0] != pair[1])
    circuits = data.draw(st.lists(pairs, min_size=1, max_size=8))
    existing = [(0, 1, load)]
    routing = ll.route_fibres(f"{rows}x{columns}", circuits, direction=direction, existing=existing, budget="20s")
    routing.check()
    assert routing.fibres == routing.lower_bound == algorithm_4(rows, columns, direction, existing, circuits)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_program_alone_finds_paths_and_proves_them(direction: str) -> None:
    """From a bound of nothing and paths that are bad, on a grid where cuts do not say it all."""
    circuits = [(place * 5 % 9, (place * 7 + 4) % 9) for place in range(14) if (place * 2 + 4) % 9]
    both_ways = direction == "both-ways"
    proved = least_fibres((3, 3), both_ways, [], np.array(circuits), (0, 14), time.monotonic() + 60)
    assert proved.paths is not None
    for (source, destination), path in zip(circuits, proved.paths, strict=True):
        assert (path[0], path[-1]) == (source, destination)
        assert nx.is_path(nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 3), ordering="sorted"), path)
    loads: dict[Any, int] = {}
    for path in proved.paths:
        for edge in pairwise(path):
            key = frozenset(edge) if both_ways else edge
            loads[key] = loads.get(key, 0) + 1
    assert max(loads.values()) == proved.lower_bound == algorithm_4(3, 3, direction, [], circuits)


def test_both_ways_count_together_where_a_fibre_carries_both() -> None:
    routing = ll.route_fibres("1x3", [(0, 2), (2, 0), (0, 1)])
    assert (routing.fibres, routing.fibres_by("both-ways")) == (2, 3)
    assert routing.loads() == {(0, 1): 2, (1, 2): 1, (2, 1): 1, (1, 0): 1}
    assert routing.is_optimal
    assert routing.reason == "5 steps of shortest paths over 4 edges"
    assert routing.to_columns()["path"] == [[0, 1, 2], [2, 1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"servers": "8"}, "servers"),
        ({"servers": "0x4"}, "servers"),
        ({"servers": "9999x9999"}, "servers"),
        ({"circuits": [(0, 4)]}, r"circuits\[0\]"),
        ({"circuits": [(1, 1)]}, r"circuits\[0\]"),
        ({"direction": "sideways"}, "direction"),
        ({"existing": [(0, 3, 1)]}, r"existing\[0\]"),
        ({"existing": [(0, 1)]}, "existing"),
        ({"existing": 3}, "existing"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_arguments_are_refused_by_name(arguments: dict[str, Any], field: str) -> None:
    given_arguments: dict[str, Any] = {"servers": "2x2", "circuits": [(0, 1)]} | arguments
    with pytest.raises(ll.InputError, match=f"^{field}: ") as refused:
        ll.route_fibres(given_arguments.pop("servers"), given_arguments.pop("circuits"), **given_arguments)
    assert "\n" not in str(refused.value)
