"""Connected components, by whole arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def components(count: int, starts: NDArray[np.integer], ends: NDArray[np.integer]) -> NDArray[np.intp]:
    """For each of `count` nodes the least node that edges join to it, in either direction.

    starts, ends: the nodes of each edge. Trees are hooked onto smaller roots and flattened until no edge joins two
    (Shiloach and Vishkin 1982).
    """
    parent = np.arange(count)
    while True:
        one, other = parent[starts], parent[ends]
        apart = one != other
        if not apart.any():
            return parent
        np.minimum.at(parent, np.maximum(one, other)[apart], np.minimum(one, other)[apart])
        while not np.array_equal(flat := parent[parent], parent):
            parent = flat
