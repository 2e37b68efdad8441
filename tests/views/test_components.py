"""Parts of pictures: components against NetworkX, the roomiest cell against every cell."""

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lightloom.views.chart_regions import roomiest
from lightloom.views.components import components

EDGES = st.integers(1, 40).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=60),
    )
)
MASKS = arrays(np.bool_, st.tuples(st.integers(1, 12), st.integers(1, 12))).filter(np.any)


@given(EDGES)
def test_components_are_those_of_the_graph(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = drawn
    graph = nx.empty_graph(count)
    graph.add_edges_from(edges)
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    first = components(count, pairs[:, 0], pairs[:, 1])
    for part in nx.connected_components(graph):
        assert {int(first[node]) for node in part} == {min(part)}


@given(MASKS)
def test_the_roomiest_cell_is_the_farthest_from_what_is_outside(mask: np.ndarray) -> None:
    padded = np.pad(mask, 1)
    outside = np.argwhere(~padded) - 1
    square = {tuple(cell): int(((outside - cell) ** 2).sum(axis=1).min()) for cell in np.argwhere(mask)}
    most = max(square.values())
    assert roomiest(mask) == min(cell for cell, value in square.items() if value == most)
