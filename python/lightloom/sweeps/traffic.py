"""Total traffic of all GPUs of a sweep, which a size does not state if it is the busiest GPU's buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom import _core
from lightloom.base.files import MIB
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.matrix import read_matrix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from lightloom.sweeps.description import SweepDescription

__all__ = ["Traffic", "has_pair_sizes", "traffic_of", "traffic_range"]

# The collective whose blocks have sizes of their own.
EXCHANGE = "all-to-all"


class Traffic(NamedTuple):
    """An All-to-All of a sweep.

    matrix: its name, empty where blocks are equal. gpus: ranks. share: bytes that all of them together send to others,
    over the busiest one's buffer. busiest_bytes: that buffer in the matrix of a file, else None.
    """

    matrix: str
    gpus: int
    share: float
    busiest_bytes: float | None

    @property
    def is_unequal(self) -> bool:
        """Whether the buffer of one GPU does not determine the total traffic."""
        return abs(self.share / (self.gpus - 1) - 1) > 1e-6


def traffic_of(description: SweepDescription) -> list[Traffic]:
    """Every matrix on every number of GPUs; empty where no number of GPUs is known, or nothing is exchanged."""
    if not (matrices := [str(value) for value in _values(description, "matrix")]):
        exchanged = EXCHANGE in _values(description, "collective")
        return [Traffic("", gpus, gpus - 1.0, None) for gpus in _gpus(description) if exchanged]
    return [found for matrix in dict.fromkeys(matrices) for found in _of_matrix(description, matrix)]


def traffic_range(description: SweepDescription) -> tuple[int, int] | None:
    """The least and the most bytes that all GPUs send to others at a point; None where `traffic_of` is empty."""
    sizes = _sizes(description)
    sent = [bytes_ for one in traffic_of(description) for bytes_ in _sent(one, sizes, has_pair_sizes(description))]
    return (round(min(sent)), round(max(sent))) if sent else None


def has_pair_sizes(description: SweepDescription) -> bool:
    """Whether sizes are of a block between a pair, so that matrices of one size send the same together."""
    size = dict(description.numbers).get("size")
    axes = [axis.per_pair for axis in description.axes if axis.key == "size"]
    return any(axes) or (size is not None and size.per_pair)


def _sent(traffic: Traffic, sizes: list[float], per_pair: bool) -> Iterator[float]:
    for size in sizes:
        if per_pair and traffic.busiest_bytes is None:
            yield size * traffic.gpus * (traffic.gpus - 1)
        else:
            yield traffic.share * size * (traffic.gpus if per_pair else 1)
    if not sizes and traffic.busiest_bytes is not None:
        yield traffic.share * traffic.busiest_bytes


def _of_matrix(description: SweepDescription, name: str) -> Iterator[Traffic]:
    if not _core.is_workload(name):
        values = read_matrix(description.folder / name)
        yield Traffic(name, len(values), _share(values), _busiest(values))
        return
    for gpus in _gpus(description):
        for seed in _values(description, "seed") or [0]:
            yield Traffic(name, gpus, _share(_core.workload_matrix(name, gpus, float(MIB), int(seed))), None)


def _share(matrix: NDArray[np.float64]) -> float:
    """Bytes to others over the busiest GPU's buffer."""
    return float(matrix.sum() - matrix.trace()) / _busiest(matrix)


def _busiest(matrix: NDArray[np.float64]) -> float:
    """Bytes that one GPU sends or receives at most, its own block included."""
    return float(max(matrix.sum(axis=0).max(), matrix.sum(axis=1).max()))


def _values(description: SweepDescription, key: str) -> list[Any]:
    """The values of an axis or of a setting."""
    axes = {axis.key: axis.values for axis in description.axes}
    settings = dict(description.settings)
    return list(axes[key]) if key in axes else [settings[key]] if key in settings else []


def _gpus(description: SweepDescription) -> Iterable[int]:
    grids = [Fabric(dims=value).sized().gpus for value in _values(description, "dims")]
    return sorted({int(value) for value in [*_values(description, "gpus"), *grids]})


def _sizes(description: SweepDescription) -> list[float]:
    axes = [[float(value) for value in axis.values] for axis in description.axes if axis.key == "size"]
    size = dict(description.numbers).get("size")
    return axes[0] if axes else [] if size is None else [size.number]
