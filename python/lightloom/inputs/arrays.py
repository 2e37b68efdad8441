"""Arrays as NumPy and others have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.errors import refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray


def array_of(field: str, values: Any) -> NDArray[Any]:
    """The values as an array, whatever its type. Raises `InputError` that names `field` where entries are masked.

    NumPy would take what is under the mask. What an object's own conversion raises goes on.
    """
    import numpy as np

    if any(getattr(part, "mask", None) is not None and np.any(part.mask) for part in (values, *_parts(values))):
        raise refuse(field, "entries of it are masked; it takes an array without a mask, such as array.filled(0)")
    return np.asarray(values)


def _parts(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else []
