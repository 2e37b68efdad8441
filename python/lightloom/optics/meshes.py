"""Circuits through a mesh of MZIs: its parameters, and the routes of circuits on it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom import _core
from lightloom.base.errors import text_of
from lightloom.base.frames import Table
from lightloom.base.views import picture
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.inputs.pairs import pairs_of
from lightloom.inputs.quantities import number_of
from lightloom.optics.mesh_light import MziState

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["Mesh", "MeshRouting", "PlacedMesh", "Proof", "route_mesh"]

# Waveguides, wavelengths or fibres, each at most this.
MOST_LANES = 4096
SIDES = ("north", "east", "south", "west")


@dataclass(frozen=True, kw_only=True)
class Mesh:
    """Interposers of tiles of MZIs, joined by fibres, and what light loses on its way.

    mzis: MZIs of one interposer, `"ROWSxCOLUMNS"`. tiles: its tiles, whose rows and columns divide those of the MZIs; a
    tile for each MZI when left out. interposers: how they are arranged; neighbours are joined by fibres. All are
    numbered row by row from 0 over all interposers together. waveguides: between neighbouring MZIs, in each direction.
    wavelengths: in each waveguide or fibre. fibres: between facing sides of neighbouring interposers, in each
    direction, attached at even distances. tile_size_cm: the side of a tile. crossing_loss_db: from a tile (reticle) to
    the next; waveguide_loss_db_per_cm: on the way; coupling_loss_db: at each end of a fibre. The defaults are PCCL's,
    §4. max_loss_db: no circuit may lose more.
    """

    mzis: str = "16x16"
    tiles: str | None = None
    interposers: str = "1x1"
    waveguides: int = 1
    wavelengths: int = 1
    fibres: int = 1
    tile_size_cm: float = 1.0
    crossing_loss_db: float = 0.25
    waveguide_loss_db_per_cm: float = 0.4
    coupling_loss_db: float = 0.5
    max_loss_db: float | None = None

    def __post_init__(self) -> None:
        """Check every setting. Raises `InputError` that names it."""
        core = _core.Mesh(
            text_of("mzis", self.mzis),
            text_of("tiles", self.mzis if self.tiles is None else self.tiles),
            text_of("interposers", self.interposers),
            (self._count("waveguides"), self._count("wavelengths"), self._count("fibres")),
            (
                self._number("tile_size_cm", "a number of cm"),
                self._number("crossing_loss_db", "a number of dB"),
                self._number("waveguide_loss_db_per_cm", "a number of dB"),
                self._number("coupling_loss_db", "a number of dB"),
                None if self.max_loss_db is None else self._number("max_loss_db", "a number of dB"),
            ),
        )
        object.__setattr__(self, "_core", core)

    def _count(self, field: str) -> int:
        return whole_number(field, getattr(self, field), 1, MOST_LANES)

    def _number(self, field: str, accepts: str) -> float:
        return number_of(field, getattr(self, field), accepts)

    @property
    def core(self) -> _core.Mesh:
        """The compiled object."""
        return self._core  # type: ignore[attr-defined,no-any-return]

    @property
    def rows(self) -> int:
        """Rows of MZIs of all interposers."""
        return self.core.rows

    @property
    def columns(self) -> int:
        """Columns of MZIs of all interposers."""
        return self.core.columns

    @cached_property
    def mzi_of_tile(self) -> NDArray[np.uint32]:
        """For each tile the MZI that its transmitters and receivers are attached to: the one in its middle."""
        return _read_only(self.core.mzi_of_tile)

    @property
    def tile_count(self) -> int:
        """Tiles of all interposers."""
        return len(self.mzi_of_tile)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the settings."""
        return _of_settings, (asdict(self),)


def _of_settings(settings: dict[str, Any]) -> Mesh:
    return Mesh(**settings)


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


class PlacedMesh(NamedTuple):
    """A mesh, and the MZI that each GPU is attached to."""

    mesh: Mesh
    mzi_of_gpu: tuple[int, ...]

    @classmethod
    def of_optics(cls, optics: str, gpus: int) -> PlacedMesh | None:
        """The mesh that `--optics` describes, such as `mesh:16x16,wavelengths=4`; None if it is no mesh."""
        kind, _, parameters = optics.partition(":")
        if kind != "mesh":
            return None
        (mzis, tiles, interposers), numbers, lengths, cells = _core.placed_mesh(parameters, gpus)
        mesh = Mesh(
            mzis=mzis,
            tiles=tiles,
            interposers=interposers,
            waveguides=numbers[0],
            wavelengths=numbers[1],
            fibres=numbers[2],
            tile_size_cm=lengths[0],
            crossing_loss_db=lengths[1],
            waveguide_loss_db_per_cm=lengths[2],
            coupling_loss_db=lengths[3],
            max_loss_db=lengths[4],
        )
        return cls(mesh, tuple(cells))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MeshRouting(Table):
    """Circuits on a mesh with their routes, as `route_mesh` gives them; immutable.

    mesh, circuits: the request, circuits as pairs of tiles. rounds: how many rounds they take; round_of: the round
    of each. wavelengths: of each circuit, -1 where it has no route. losses_db: of each, NaN where it has no route.
    paths: the MZIs of each from source to destination, empty if it has no route; lanes: from each MZI to the next
    which of the parallel waveguides or fibres. reasons: why a circuit has no route, empty where it has one. proofs: of
    rounds in which not all circuits can be routed, where one was found. method: `one-by-one`, `negotiated` or
    `exhaustive`, the last that was needed; passes: of negotiation.
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

    @classmethod
    def of(
        cls,
        mesh: Mesh,
        circuits: NDArray[np.int64],
        found: tuple[Sequence[int], Sequence[_core.MeshRoundTuple]],
    ) -> MeshRouting:
        """The routes that the core found for circuits between tiles."""
        import numpy as np

        count, nothing = len(circuits), _read_only(np.zeros(0, dtype=np.int64))
        round_of, told = found
        wavelengths, losses_db = np.full(count, -1), np.full(count, math.nan)
        paths, lanes, reasons = [nothing] * count, [nothing] * count, [""] * count
        for routes, *_ in told:
            for index, route, reason in routes:
                if route is None:
                    reasons[index] = reason or ""
                else:
                    (wavelengths[index], cells, numbers), losses_db[index] = route
                    paths[index] = _read_only(np.array(cells, dtype=np.int64))
                    lanes[index] = _read_only(np.array(numbers, dtype=np.int64))
        return cls(
            mesh,
            _read_only(circuits),
            len(told),
            _read_only(np.array(round_of, dtype=np.int64)),
            _read_only(wavelengths),
            _read_only(losses_db),
            tuple(paths),
            tuple(lanes),
            tuple(reasons),
            tuple(_proof(proof, at) for at, (*_, proof) in enumerate(told) if proof is not None),
            max((method for _, method, *_ in told), key=_METHODS.index, default=_METHODS[0]),
            sum(passes for _, _, passes, _ in told),
        )

    @property
    def routed(self) -> int:
        """Circuits that have a route."""
        return int((self.wavelengths >= 0).sum())

    @property
    def is_complete(self) -> bool:
        """Whether every circuit has one."""
        return self.routed == len(self.circuits)

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
    lengths = None if of_places is None else _read_only(np.array(of_places, dtype=np.int64))
    if cut is None:
        return Proof(kind, reason, None, None, None, lengths, round_index)
    mzis, circuits, places = cut
    return Proof(kind, reason, _read_only(np.array(mzis, dtype=np.int64)), circuits, places, lengths, round_index)


def _read_only(values: NDArray[Any]) -> NDArray[Any]:
    values.flags.writeable = False
    return values
