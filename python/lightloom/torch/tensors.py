"""Tensors as the core takes them: bytes in a row, in memory of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.distributed as dist

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["DEVICES", "check_reduction", "flat_bytes", "joined", "on_host", "put_back", "reduction_of", "shares_memory"]

# The core's name of every type that is reduced; complex numbers are pairs of real ones, which may be added.
ELEMENTS = {
    torch.float32: "float32",
    torch.float64: "float64",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.int8: "int8",
    torch.uint8: "uint8",
    torch.int32: "int32",
    torch.int64: "int64",
    torch.bool: "bool",
    torch.complex64: "float32",
    torch.complex128: "float64",
}
DEVICES = ("cpu", "cuda")
OPERATIONS = (
    (dist.ReduceOp.SUM, "sum"),
    (dist.ReduceOp.AVG, "average"),
    (dist.ReduceOp.PRODUCT, "product"),
    (dist.ReduceOp.MIN, "min"),
    (dist.ReduceOp.MAX, "max"),
    (dist.ReduceOp.BAND, "bit-and"),
    (dist.ReduceOp.BOR, "bit-or"),
    (dist.ReduceOp.BXOR, "bit-xor"),
)


def reduction_of(operation: Any) -> str:
    """The name of a reduction. Raises `ValueError` where it is none of those that are carried out."""
    for known, name in OPERATIONS:
        if operation == known:
            return name
    names = ", ".join(str(known).rsplit(".", maxsplit=1)[-1] for known, _ in OPERATIONS)
    raise ValueError(f"op: `{operation}` is not accepted; the backend lightloom takes {names}")


def check_reduction(tensor: Any, reduction: str) -> str:
    """The core's name of a tensor's type, for a reduction. Raises `ValueError` where the two do not fit."""
    name = ELEMENTS.get(tensor.dtype)
    if name is None:
        known = ", ".join(str(one).removeprefix("torch.") for one in ELEMENTS)
        raise ValueError(f"tensor: `{tensor.dtype}` is not reduced; the backend lightloom reduces {known}")
    if reduction.startswith("bit-") and (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
        raise ValueError(f"op: `{reduction}` is not accepted for {tensor.dtype}; it takes whole numbers")
    if tensor.dtype.is_complex and reduction not in {"sum", "average"}:
        raise ValueError(f"op: `{reduction}` is not accepted for {tensor.dtype}; it takes SUM and AVG")
    return name


def on_host(tensor: Any) -> Any:
    """The tensor in a row in memory of the host: itself where it is, else a copy, which is pinned for a GPU's."""
    if tensor.layout is not torch.strided:
        raise ValueError(f"tensor: a tensor of layout `{tensor.layout}` is not accepted; it takes dense tensors")
    if tensor.device.type not in DEVICES:
        raise ValueError(f"tensor: device `{tensor.device}` is not accepted; it takes {' and '.join(DEVICES)}")
    plain = tensor.detach()
    plain = plain.resolve_conj().resolve_neg() if plain.is_complex() or plain.is_neg() else plain
    if not plain.is_cpu:
        held = torch.empty(plain.shape, dtype=plain.dtype, pin_memory=True)
        held.copy_(plain)
        plain = held
    return plain.contiguous()


def put_back(tensor: Any, result: Any) -> None:
    """Write a result into a tensor, unless it lies there already."""
    if result.data_ptr() == tensor.data_ptr() and tensor.is_contiguous() and tensor.is_cpu:
        return
    with torch.no_grad():
        tensor.detach().copy_(result.view(tensor.shape))
        if not tensor.is_cpu:
            torch.cuda.synchronize(tensor.device)


def flat_bytes(tensor: Any) -> NDArray[np.uint8]:
    """The bytes of a tensor that `on_host` has returned; what is written there is in the tensor."""
    if tensor.numel() == 0:
        return np.empty(0, dtype=np.uint8)
    found: NDArray[np.uint8] = tensor.view(-1).view(torch.uint8).numpy()
    return found


def joined(tensors: Sequence[Any]) -> Any:
    """All elements of tensors of one type, one after the other."""
    return torch.cat([on_host(one).view(-1) for one in tensors])


def shares_memory(one: Any, other: Any) -> bool:
    """Whether tensors of the host may have bytes in common."""
    return bool(one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())
