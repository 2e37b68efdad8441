"""Keyword arguments of everything that plans, with their types: written by `python -m docs.generators.options_page`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import networkx as nx
    from numpy.typing import ArrayLike

    from lightloom import _core

    TopologyLike: TypeAlias = str | os.PathLike[str] | _core.Topology | nx.Graph
    Topologies: TypeAlias = TopologyLike | Sequence[TopologyLike]


class Settings(TypedDict, total=False):
    """Arguments of `plan`, `compare`, `bound` and `Problem` in addition to the collective, the size and the fabric.

    A key a row of `SETTINGS`, which says what each of them means, and so does docs/reference/options.md.
    """

    ranks: str | Sequence[int] | None
    others_forward: bool | None
    root: int | None
    matrix: str | os.PathLike[str] | ArrayLike | None
    schedule: str | os.PathLike[str] | _core.Schedule | None
    algorithm: str | None
    planner: str | None
    candidates: Topologies | None
    topology: Topologies | None
    routing: str | None
    convention: str | None
    overlap: str | None
    radix: int | None
    aggregation: int | None
    chunk_size: str | float | None
    optical_ports: int | None
    seed: int
