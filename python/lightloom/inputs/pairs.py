"""Circuits to route, as pairs of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.base.errors import InputError, refuse, shown
from lightloom.inputs.arrays import array_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def pairs_of(field: str, circuits: Any, count: int) -> NDArray[np.int64]:
    """Pairs of different numbers below `count`, as rows. Raises `InputError` that names the field."""
    import numpy as np

    accepts = f"pairs (source, destination) of two different numbers from 0 to {count - 1}"
    try:
        pairs = array_of(field, circuits)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise refuse(field, f"`{shown(circuits)}` is not accepted; it takes {accepts}") from error
    if pairs.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise refuse(field, f"`{shown(circuits)}` is not accepted; it takes {accepts}")
    wrong = np.flatnonzero((pairs < 0).any(1) | (pairs >= count).any(1) | (pairs[:, 0] == pairs[:, 1]))
    if len(wrong) > 0:
        source, destination = pairs[wrong[0]].tolist()
        raise refuse(f"{field}[{wrong[0]}]", f"({source}, {destination}) is not accepted; it takes {accepts}")
    return pairs.astype(np.int64)
