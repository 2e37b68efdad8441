"""Circuits through a mesh of MZIs: their routes, and why some have none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom import _core
from lightloom.base.errors import text_of
from lightloom.base.frames import Table
from lightloom.base.views import picture
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.inputs.pairs import pairs_of
from lightloom.optics.mesh_layout import Mesh, read_only
from lightloom.optics.mesh_light import MziState

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["Mesh", "MeshRouting", "Proof", "route_mesh"]

SIDES = ("north", "east", "south", "west")


class Proof(NamedTuple):
    """Why not all circuits of a round can be routed at once.

    kind: `cut`: more circuits must leave a set of MZIs than places, (waveguide or fibre, wavelength), do; `loss`: the
    best path of one loses too much; `lengths`: with places of these lengths the shortest ways of all circuits are
    longer than all places together; `exhausted`: all combinations of paths were tried. reason: the proof in a
    sentence. mzis: those inside the cut; circuits and places: how many must leave them and may. lengths: rows of MZI,
    the next, and the length of each place between them, 0 for parts that are left out. round_index: the round.
    """

    kind: str
    reason: str
    mzis: NDArray[np.int64] | None
    circuits: int | None
    places: int | None
    lengths: NDArray[np.int64] | None
    round_index: int

    def holds(self, mesh: Mesh, ends: Sequence[tuple[int, int]]) -> bool:
        """Whether a cut or lengths prove it of circuits between these MZIs, by the checker; true of other proofs."""
        if self.mzis is not None:
            counts = mesh.core.check_cut(list(ends), self.mzis.tolist())
            return counts == (self.circuits, self.places) and counts[0] > counts[1]
        if self.lengths is not None:
            needed, there = mesh.core.check_lengths(list(ends), [tuple(row) for row in self.lengths.tolist()])
            return needed > there
        return True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MeshRouting(Table):
    """Circuits on a mesh with their routes, as `route_mesh` gives them; immutable.

    mesh, circuits: the request, circuits as pairs of tiles. rounds: how many rounds they take; round_of: the round
    of each. wavelengths: of each circuit, -1 where it has no route. losses_db: of each, NaN where it has no route.
    paths: the MZIs of each from source to destination, empty if it has no route; lanes: from each MZI to the next
    which of the parallel waveguides or fibres. reasons: why a circuit has no route, empty where it has one. proofs: of
    rounds in which not all circuits can be routed, where one was found. method: `one-by-one`, `negotiated` or
    `exhaustive`, the last that was needed; passes: of negotiation. over_budget: by round, which tile or interposer
    launches more than its budget, in a sentence; empty where none does.
    """

    mesh: Mesh
    circuits: NDArray[np.int64]
    rounds: int
    round_of: NDArray[np.int64]
    wavelengths: NDArray[np.int64]
    losses_db: NDArray[np.float64]
    paths: tuple[NDArray[np.int64], ...]
    lanes: tuple[NDArray[np.int64], ...]
    reasons: tuple[str, ...]
    proofs: tuple[Proof, ...]
    method: str
    passes: int
    over_budget: tuple[str, ...]

    @classmethod
    def of(
        cls,
        mesh: Mesh,
        circuits: NDArray[np.int64],
        found: tuple[Sequence[int], Sequence[_core.MeshRoundTuple]],
    ) -> MeshRouting:
        """The routes that the core found for circuits between tiles."""
        import numpy as np

        count, nothing = len(circuits), read_only(np.zeros(0, dtype=np.int64))
        round_of, told = found
        wavelengths, losses_db = np.full(count, -1), np.full(count, math.nan)
        paths, lanes, reasons = [nothing] * count, [nothing] * count, [""] * count
        for routes, *_ in told:
            for index, route, reason in routes:
                if route is None:
                    reasons[index] = reason or ""
                else:
                    (wavelengths[index], cells, numbers), losses_db[index] = route
                    paths[index] = read_only(np.array(cells, dtype=np.int64))
                    lanes[index] = read_only(np.array(numbers, dtype=np.int64))
        return cls(
            mesh,
            read_only(circuits),
            len(told),
            read_only(np.array(round_of, dtype=np.int64)),
            read_only(wavelengths),
            read_only(losses_db),
            tuple(paths),
            tuple(lanes),
            tuple(reasons),
            tuple(_proof(proof, at) for at, (*_, proof, _) in enumerate(told) if proof is not None),
            max((method for _, method, *_ in told), key=_METHODS.index, default=_METHODS[0]),
            sum(passes for _, _, passes, *_ in told),
            tuple(over or "" for *_, over in told),
        )

    @property
    def routed(self) -> int:
        """Circuits that have a route."""
        return int((self.wavelengths >= 0).sum())

    @property
    def is_complete(self) -> bool:
        """Whether every circuit has one."""
        return self.routed == len(self.circuits)

    @property
    def launch_mw(self) -> NDArray[np.float64]:
        """Power that the laser of each circuit launches, mW; NaN without a route or the mesh's sensitivity_dbm."""
        import numpy as np

        told = [self.mesh.core.launch_mw(loss_db) for loss_db in self.losses_db.tolist()]
        return np.array([math.nan if launch_mw is None else launch_mw for launch_mw in told], dtype=np.float64)

    def states(self, round_index: int = 0) -> tuple[MziState, ...]:
        """The state of every MZI that light passes in a round, by MZI, wavelength and input.

        Transmitters and receivers of a tile are numbered from 0 in the order of its circuits.
        """
        whole_number("round_index", round_index, 0, self.rounds - 1)
        routes = [route for route, at in zip(self._routes(), self.round_of, strict=True) if at == round_index and route]
        return tuple(
            MziState(
                mzi,
                wavelength,
                (*SIDES, "transmitter")[enters],
                number,
                (*SIDES, "receiver")[leaves],
                output,
            )
            for mzi, wavelength, enters, number, leaves, output in self.mesh.core.states(routes).tolist()
        )

    def check(self) -> None:
        """Judge the routes by a checker that shares no code with what made them.

        Every route leads over waveguides that there are from its source's MZI to its destination's, no waveguide or
        fibre carries two circuits of one wavelength in a round, losses are those stated and within the limit, light
        that is followed through the states of the MZIs makes the circuits, and proofs by cuts and lengths prove it.
        Raises `RuntimeError` with the first fault.
        """
        ends = _ends(self.mesh, self.circuits)
        routes = self._routes()
        for at in range(self.rounds):
            here = (self.round_of == at).nonzero()[0].tolist()
            losses_db = self.mesh.core.check([ends[index] for index in here], [routes[index] for index in here])
            for index, loss_db in zip(here, losses_db, strict=True):
                if loss_db is not None and not math.isclose(loss_db, self.losses_db[index], abs_tol=1e-9):
                    raise RuntimeError(f"circuit {index} loses {loss_db} dB, not {self.losses_db[index]} dB")
        for proof in self.proofs:
            lit = (self.round_of == proof.round_index).nonzero()[0].tolist()
            if not proof.holds(self.mesh, [ends[index] for index in lit]):
                raise RuntimeError(f"round {proof.round_index}: it is not so that {proof.reason}")

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a circuit.

        source, destination (tiles), round, wavelength, hops, loss_db; None where it has no route; reason, why not.
        """
        lit = (self.wavelengths >= 0).tolist()

        def told(values: list[Any]) -> list[Any]:
            return [value if on else None for value, on in zip(values, lit, strict=True)]

        return {
            "source": self.circuits[:, 0].tolist(),
            "destination": self.circuits[:, 1].tolist(),
            "round": self.round_of.tolist(),
            "wavelength": told(self.wavelengths.tolist()),
            "hops": told([len(path) - 1 for path in self.paths]),
            "loss_db": told(self.losses_db.tolist()),
            "reason": list(self.reasons),
        }

    def plot(self, path: str | os.PathLike[str] | None = None, round_index: int = 0) -> Figure:
        """The mesh with the circuits of a round; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        whole_number("round_index", round_index, 0, self.rounds - 1)
        return picture("MeshRouting.plot", self, path, round_index)

    def _routes(self) -> list[_core.MeshRouteTuple | None]:
        return [
            (wavelength, cells.tolist(), lanes.tolist()) if wavelength >= 0 else None
            for wavelength, cells, lanes in zip(self.wavelengths.tolist(), self.paths, self.lanes, strict=True)
        ]

    def __repr__(self) -> str:
        return f"MeshRouting({self.routed} of {_core.counted(len(self.circuits), 'circuit')}, rounds={self.rounds})"


_METHODS = ("one-by-one", "negotiated", "exhaustive")


def route_mesh(
    mesh: Mesh | str,
    circuits: Sequence[tuple[int, int]] | NDArray[Any],
    *,
    transmitters: int | None = None,
    receivers: int | None = None,
    seed: int = 0,
) -> MeshRouting:
    """Route circuits so that no waveguide or fibre carries two of one wavelength (PCCL, §4.2, algorithm 3).

    mesh: a `Mesh`, or the MZIs of one interposer such as `"16x16"`. circuits: (source, destination) tiles.
    transmitters, receivers: of a tile; where it has more circuits, they are split into as few rounds as there can be.
    seed: of the order in which circuits are routed again; the same gives the same routes.

    Not all circuits may find a route; the result says which, why, and with `proofs` whether more could be routed at
    all. Raises `InputError` that names the argument.
    """
    if not isinstance(mesh, Mesh):
        mesh = Mesh(mzis=text_of("mesh", mesh))
    pairs = pairs_of("circuits", circuits, mesh.tile_count)
    if transmitters is not None:
        transmitters = whole_number("transmitters", transmitters)
    if receivers is not None:
        receivers = whole_number("receivers", receivers)
    ends = _ends(mesh, pairs)
    found = mesh.core.route(ends, transmitters, receivers, whole_number("seed", seed, *WHOLE_RANGES["seed"]))
    return MeshRouting.of(mesh, pairs, found)


def _ends(mesh: Mesh, pairs: NDArray[np.int64]) -> list[tuple[int, int]]:
    return [(source, destination) for source, destination in mesh.mzi_of_tile[pairs].tolist()]


def _proof(told: _core.MeshProofTuple, round_index: int) -> Proof:
    import numpy as np

    kind, reason, cut, of_places = told
    lengths = None if of_places is None else read_only(np.array(of_places, dtype=np.int64))
    if cut is None:
        return Proof(kind, reason, None, None, None, lengths, round_index)
    mzis, circuits, places = cut
    return Proof(kind, reason, read_only(np.array(mzis, dtype=np.int64)), circuits, places, lengths, round_index)
