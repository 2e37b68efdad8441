"""Numbers in NPY files, whose header is a Python expression: NumPy would evaluate it, and allocate for it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.base.errors import refuse
from lightloom.base.files import MIB, read_bytes

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

__all__ = ["read_npy"]

MAX_FILE_BYTES = 256 * MIB
# The place and size of the header's length in an NPY file of each version.
LENGTHS = {b"\x01\x00": (8, 2), b"\x02\x00": (8, 4), b"\x03\x00": (8, 4)}
MAX_HEADER = 10_000
# The header that NumPy writes for an array of numbers; of anything else, no matrix can be made.
HEADER = re.compile(
    rb"\{'descr': '(?P<order>[<>|=]?)(?P<kind>[a-zA-Z])(?P<width>[0-9]{1,4})', "
    rb"'fortran_order': (?P<fortran>True|False), "
    rb"'shape': \((?P<shape>[0-9]{1,9}(?:, ?[0-9]{1,9}){1,2}),?\),? ?\}\s*"
)
# The axes of an array, from the last one back, as a message counts them.
AXES = ("entries", "rows", "matrices")


def read_npy(field: str, path: str | os.PathLike[str], most: tuple[int, ...], form: str, accepted: str) -> NDArray[Any]:
    """The array of an NPY file, of as many axes as `most` has, none of them longer than it says.

    form: what is accepted, in words; accepted: which lengths of axes are. Raises `InputError` that names `field`.
    """
    content = read_bytes(field, path, MAX_FILE_BYTES)
    if not content.startswith(b"\x93NUMPY"):
        raise refuse(field, f"`{path}` is not an NPY file")
    start, length = LENGTHS.get(content[6:8], (0, 0))
    first = start + length
    size = int.from_bytes(content[start:first], "little")
    header = HEADER.fullmatch(content[first : first + min(size, MAX_HEADER)])
    shape = () if header is None else tuple(int(axis) for axis in header["shape"].split(b","))
    if not start or header is None:
        raise refuse(field, f"`{path}` has no header of an NPY file of numbers; it takes {form}")
    if len(shape) != len(most):
        axes = "1 axis" if len(shape) == 1 else f"{len(shape)} axes"
        raise refuse(field, f"`{path}` has {axes}; it takes {form}")
    kind, width = header["kind"].decode(), int(header["width"])
    names = AXES[len(shape) - 1 :: -1]
    counts = [f"{axis} {name}" for axis, name in zip(shape, names, strict=True)]
    if not all(1 <= axis <= limit for axis, limit in zip(shape, most, strict=True)):
        raise refuse(field, f"`{path}` has {' of '.join(counts)}; it takes {accepted}, and {form}")
    try:
        dtype = np.dtype(f"{header['order'].decode().replace('|', '=')}{kind}{width}")
    except TypeError:
        dtype = np.dtype(object)
    if dtype.hasobject:
        raise refuse(field, f"`{path}` has entries of type {kind}{width}; it takes {form}")
    if len(content) - first - size != math.prod(shape) * dtype.itemsize:
        told = " of ".join([*counts[:-1], str(shape[-1])])
        raise refuse(field, f"`{path}` does not hold the {told} that its header says")
    entries = np.frombuffer(content, dtype, offset=first + size)
    return entries.reshape(shape, order="F" if header["fortran"] == b"True" else "C")
