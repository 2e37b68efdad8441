"""Circuits between servers: paths on their grid so that the busiest edge needs few fibres."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom import _core
from lightloom.base.errors import refuse, shown, text_of
from lightloom.base.frames import Table
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.inputs.pairs import pairs_of
from lightloom.inputs.quantities import seconds_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["FibreRouting", "route_fibres"]

DIRECTIONS = ("one-way", "both-ways")
# More are refused by the core.
MOST_SERVERS = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class FibreRouting(Table):
    """Paths of circuits between servers; immutable.

    servers: their grid; direction: one-way or both-ways fibres. circuits: pairs of servers. paths: servers that each
    passes, from source to destination. fibres: circuits on the busiest edge with those already there, which is the
    number of fibres that it needs at one wavelength. lower_bound: no paths need fewer; reason: its proof.
    """

    servers: str
    direction: str
    circuits: NDArray[np.int64]
    existing: tuple[tuple[int, int, int], ...]
    paths: tuple[tuple[int, ...], ...]
    fibres: int
    lower_bound: int
    reason: str

    @property
    def is_optimal(self) -> bool:
        """Whether it is proved that no paths need fewer fibres."""
        return self.fibres == self.lower_bound

    def loads(self) -> dict[tuple[int, int], int]:
        """Circuits of these paths on each edge that they use, from server to server in the direction of the light."""
        loads: dict[tuple[int, int], int] = {}
        for path in self.paths:
            for edge in pairwise(path):
                loads[edge] = loads.get(edge, 0) + 1
        return loads

    def fibres_by(self, direction: str) -> int:
        """Circuits on the busiest edge of these paths where a fibre carries light in that direction or in both."""
        return _check(self.servers, _both_ways(direction), self.existing, self.circuits, self.paths)

    def check(self) -> None:
        """Judge the paths and the count by a checker that shares no code with what made them.

        Raises `RuntimeError` with the first fault.
        """
        counted = self.fibres_by(self.direction)
        if counted != self.fibres:
            raise RuntimeError(f"the busiest edge carries {counted} circuits, not {self.fibres}")

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a circuit: source, destination, hops, path."""
        return {
            "source": self.circuits[:, 0].tolist(),
            "destination": self.circuits[:, 1].tolist(),
            "hops": [len(path) - 1 for path in self.paths],
            "path": [list(path) for path in self.paths],
        }

    def __repr__(self) -> str:
        proved = "optimal" if self.is_optimal else f"at least {self.lower_bound}"
        return f"FibreRouting({_core.counted(len(self.circuits), 'circuit')}, fibres={self.fibres}, {proved})"


def route_fibres(
    servers: str,
    circuits: Sequence[tuple[int, int]] | NDArray[Any],
    *,
    direction: str = "one-way",
    existing: Sequence[tuple[int, int, int]] = (),
    budget: str | float | None = None,
    seed: int = 0,
) -> FibreRouting:
    """Route circuits between servers so that the busiest edge carries few (PCCL, appendix B.1, algorithm 4).

    servers: their grid, such as `"8x8"`, numbered row by row from 0. circuits: (source, destination) servers.
    direction: `one-way`, a fibre carries light in one direction and each directed edge is counted, as in the paper's
        program; `both-ways`: circuits in either direction count together.
    existing: (from, to, circuits) of edges that carry some already.
    budget: time for the integer program, in HiGHS, where the paths that the search finds are not proved to be optimal;
        without it no program is solved. It needs the package `highspy`.
    seed: of the search; the same gives the same paths.

    Raises `InputError` that names the argument.
    """
    both_ways = _both_ways(direction)
    grid = text_of("servers", servers)
    rows, _, columns = grid.partition("x")
    count = int(rows) * int(columns) if (rows + columns).isascii() and rows.isdigit() and columns.isdigit() else 0
    # The core refuses text that is not a grid, with its own message.
    pairs = pairs_of("circuits", circuits, count) if 0 < count <= MOST_SERVERS else np.zeros((0, 2), dtype=np.int64)
    edges = _edges(existing)
    seed = whole_number("seed", seed, *WHOLE_RANGES["seed"])
    paths, fibres, bound, reason, _ = _core.route_fibres(grid, both_ways, edges, _tuples(pairs), seed)
    if budget is not None and fibres > bound:
        from lightloom.exact.fibres import least_fibres

        deadline = time.monotonic() + seconds_of("budget", budget)
        proved = least_fibres((int(rows), int(columns)), both_ways, edges, pairs, (bound, fibres), deadline)
        if proved.lower_bound > bound:
            bound, reason = proved.lower_bound, proved.reason
        if proved.paths is not None:
            paths, fibres = proved.paths, _check(grid, both_ways, edges, pairs, proved.paths)
    pairs.flags.writeable = False
    return FibreRouting(grid, direction, pairs, tuple(edges), tuple(map(tuple, paths)), fibres, bound, reason)


def _check(
    servers: str,
    both_ways: bool,
    existing: Sequence[tuple[int, int, int]],
    circuits: NDArray[np.int64],
    paths: Sequence[Sequence[int]],
) -> int:
    return _core.check_fibres(servers, both_ways, list(existing), _tuples(circuits), [list(path) for path in paths])


def _tuples(pairs: NDArray[np.int64]) -> list[tuple[int, int]]:
    return [(source, destination) for source, destination in pairs.tolist()]


def _both_ways(direction: str) -> bool:
    if not isinstance(direction, str) or direction not in DIRECTIONS:
        raise refuse("direction", f"`{shown(direction)}` is not accepted; it takes one of {', '.join(DIRECTIONS)}")
    return direction == DIRECTIONS[1]


def _edges(existing: Any) -> list[tuple[int, int, int]]:
    try:
        return [
            (int(source), int(destination), whole_number("existing", count, 0))
            for source, destination, count in existing
        ]
    except (TypeError, ValueError) as error:
        raise refuse("existing", f"`{shown(existing)}` is not accepted; it takes edges (from, to, circuits)") from error
