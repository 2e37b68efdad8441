"""Tokens that are spread unevenly over experts: a matrix of bytes for the All-to-Alls of every layer.

Layer l sends its tokens to experts by matrix l modulo `matrices`, and the experts' results come back by the transposed
one; so do gradients in the backward pass. All groups of an axis communicate by the same matrix. Of each matrix but the
first a share `drift` is drawn anew, and the rest is that of the matrix before.
Matrices of a trace, which has tokens, are scaled so that ranks send as many bytes on average as the model's do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom.base.errors import InputError, refuse
from lightloom.inputs.matrices import MOST_ENTRIES, drawn_matrices
from lightloom.inputs.matrix import read_matrix
from lightloom.inputs.workloads.model_keys import ROUTING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["ExpertTraffic", "Routing"]

# Keys that say how matrices are drawn.
OF_TRAFFIC = ("matrices", "drift", "seed")


class Routing(NamedTuple):
    """The spread of tokens over experts; the keys of the table `[routing]`."""

    traffic: str | None
    trace: tuple[str, ...] | None
    matrices: int
    drift: float | None
    seed: int
    folder: Path | None = None

    @classmethod
    def of(
        cls, values: Mapping[str, Any], told: Mapping[str, Any], experts: int, folder: Path | None
    ) -> Routing | None:
        """The table of a description `values`, whose keys were read as `told`; None where it has none.

        experts: ranks that share the experts. folder: of the description's file; None of a text. Raises `InputError`
        that names the table where no tokens are sent, or the keys of which not one is given.
        """
        if ROUTING not in values:
            return None
        if experts == 1:
            raise refuse(ROUTING, "it is for experts on several ranks, but here no tokens are sent between ranks")
        made = cls(**{name: told[name] for name in cls._fields if name != "folder"}, folder=folder)
        if (made.traffic is None) == (made.trace is None):
            raise refuse(f"{ROUTING}.traffic", "there must be either traffic or trace")
        if made.trace is not None and folder is None:
            raise refuse(f"{ROUTING}.trace", "a trace is read only for a description that is itself in a file")
        for name in OF_TRAFFIC:
            if made.trace is not None and name in values[ROUTING]:
                raise refuse(f"{ROUTING}.{name}", "it goes with traffic; with trace there is a matrix for each file")
        return made


class ExpertTraffic:
    """The matrices of the All-to-Alls between the ranks of one size of groups."""

    def __init__(
        self, routing: Routing | None, ranks: int, size_bytes: int, layers: int, name: str = "routing"
    ) -> None:
        """For groups of `ranks` ranks whose buffers have `size_bytes` where all blocks are equal; no routing: they are.

        layers: those of a stage, which use no more matrices. Raises `InputError` that names the key where there is no
        such traffic, or the matrices are too large.
        """
        self._size = size_bytes
        self._name = name
        self._rows: list[NDArray[np.int64]] = []
        if routing is not None:
            is_traced = routing.trace is not None
            needed = routing._replace(matrices=min(routing.matrices, layers))
            self._rows = _traced(needed, ranks, size_bytes) if is_traced else _drawn(needed, ranks, size_bytes)
        self._busiest = [int(max(rows.sum(axis=0).max(), rows.sum(axis=1).max())) for rows in self._rows]

    @property
    def matrices(self) -> dict[str, list[list[int]]]:
        """The matrices by name, as a workload has them."""
        return {f"{self._name}-{index}": rows.tolist() for index, rows in enumerate(self._rows)}

    def fields(self, layer: int, *, is_back: bool) -> dict[str, Any]:
        """The fields of a node of a layer's All-to-All that say its bytes; is_back: from the experts."""
        if not self._rows:
            return {"size_bytes": self._size}
        index = layer % len(self._rows)
        turned = {"transposed": True} if is_back else {}
        return {"size_bytes": self._busiest[index], "matrix": f"{self._name}-{index}", **turned}


def _drawn(routing: Routing, ranks: int, size_bytes: int) -> list[NDArray[np.int64]]:
    """Generated matrices in whole bytes, whose mean over the pairs is the size of equal blocks."""
    _check_number("matrices", routing.matrices, ranks)
    mean = max(1, round(size_bytes / ranks))
    drift = 1.0 if routing.drift is None else routing.drift
    try:
        made = drawn_matrices(
            str(routing.traffic), ranks, mean, matrices=routing.matrices, drift=drift, seed=routing.seed
        )
    except InputError as error:
        raise refuse("routing.traffic", str(error).partition(": ")[2]) from error
    return [np.rint(matrix).astype(np.int64) for matrix in made]


def _traced(routing: Routing, ranks: int, size_bytes: int) -> list[NDArray[np.int64]]:
    """Whole bytes of the files' tokens; the mean of the ranks' sums is the buffer."""
    made = []
    files = routing.trace or ()
    _check_number("trace", len(files), ranks)
    for name in files:
        path = name if routing.folder is None else routing.folder / name
        try:
            tokens = read_matrix(path)
        except InputError as error:
            raise refuse("routing.trace", str(error).partition(": ")[2]) from error
        if len(tokens) != ranks:
            raise refuse("routing.trace", f"`{name}` has {len(tokens)} rows; it takes {ranks}, one for each rank of ep")
        if not tokens.any():
            raise refuse("routing.trace", f"`{name}` has no tokens")
        shares = tokens / tokens.max()
        rows = np.rint(shares * (size_bytes * ranks / shares.sum())).astype(np.int64)
        if rows.sum() == np.trace(rows):
            raise refuse("routing.trace", f"`{name}` sends no tokens to experts of other ranks")
        made.append(rows)
    return made


def _check_number(name: str, matrices: int, ranks: int) -> None:
    most = MOST_ENTRIES // (ranks * ranks)
    if matrices > most:
        raise refuse(
            f"{ROUTING}.{name}", f"{matrices} matrices of {ranks} ranks are not accepted; it takes at most {most}"
        )
