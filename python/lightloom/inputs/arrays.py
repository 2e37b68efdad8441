"""Arrays as NumPy and others have them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray


def array_of(field: str, values: Any) -> NDArray[Any]:
    """The values as an array of any type. Raises `InputError` that names `field` where entries are masked.

    NumPy would take the values under the mask, and NaN, with a warning, for a masked
    entry within lists. Errors of an object's own conversion are passed on.
    """
    import numpy as np

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Warning: converting a masked element to nan")
        array = np.asarray(values)
    if any(getattr(part, "mask", None) is not None and np.any(part.mask) for part in (values, *_parts(values))):
        raise refuse(field, "entries of it are masked; it takes an array without a mask, such as array.filled(0)")
    return array


def _parts(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else []
