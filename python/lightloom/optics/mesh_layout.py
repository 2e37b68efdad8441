"""A mesh of MZIs: its parameters, and the GPUs on its tiles."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom import _core
from lightloom.base.errors import text_of
from lightloom.base.whole_numbers import whole_number
from lightloom.inputs.quantities import number_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Mesh", "PlacedMesh", "read_only"]

# Waveguides, wavelengths or fibres, each at most this.
MOST_LANES = 4096


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

    sensitivity_dbm: power that a receiver needs; a circuit's laser launches that, its loss and margin_db (0 where it is
    left out), and routes are those on which all lasers together launch least. max_launch_dbm: no laser may launch more;
    max_tile_mw, max_interposer_mw: nor all of a tile or an interposer at once. laser_efficiency: light over electrical
    power of a laser, for the energy of a plan. All of these need sensitivity_dbm.
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
    sensitivity_dbm: float | None = None
    margin_db: float | None = None
    max_launch_dbm: float | None = None
    max_tile_mw: float | None = None
    max_interposer_mw: float | None = None
    laser_efficiency: float | None = None

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
                self._given("max_loss_db", "a number of dB"),
            ),
            (
                self._given("sensitivity_dbm", "a number of dBm"),
                self._given("margin_db", "a number of dB"),
                self._given("max_launch_dbm", "a number of dBm"),
                self._given("max_tile_mw", "a number of mW"),
                self._given("max_interposer_mw", "a number of mW"),
                self._given("laser_efficiency", "light over electrical power, up to 1"),
            ),
        )
        object.__setattr__(self, "_core", core)

    def _count(self, field: str) -> int:
        return whole_number(field, getattr(self, field), 1, MOST_LANES)

    def _number(self, field: str, accepts: str) -> float:
        return number_of(field, getattr(self, field), accepts)

    def _given(self, field: str, accepts: str) -> float | None:
        return None if getattr(self, field) is None else self._number(field, accepts)

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
        return read_only(self.core.mzi_of_tile)

    @property
    def tile_count(self) -> int:
        """Tiles of all interposers."""
        return len(self.mzi_of_tile)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the settings."""
        return _of_settings, (asdict(self),)


def _of_settings(settings: dict[str, Any]) -> Mesh:
    return Mesh(**settings)


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
        (mzis, tiles, interposers), numbers, lengths, launch, cells = _core.placed_mesh(parameters, gpus)
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
            sensitivity_dbm=launch[0],
            margin_db=launch[1],
            max_launch_dbm=launch[2],
            max_tile_mw=launch[3],
            max_interposer_mw=launch[4],
            laser_efficiency=launch[5],
        )
        return cls(mesh, tuple(cells))


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    """The same array, which can no longer be written to."""
    values.flags.writeable = False
    return values
