"""PyTorch's record of a collective or message: its kind, its bytes and its group."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import refuse, shown
from lightloom.formats.chakra.schema import CollectiveType, NodeType
from lightloom.formats.kineto.profile import COLLECTIVE_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Communication", "communication_of", "ranks_in"]

# Names of PyTorch's records (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp), without underscores around.
KINDS: dict[str, CollectiveType | NodeType] = {
    "allreduce": CollectiveType.ALL_REDUCE,
    "all_reduce": CollectiveType.ALL_REDUCE,
    "allreduce_coalesced": CollectiveType.ALL_REDUCE,
    "allgather": CollectiveType.ALL_GATHER,
    "all_gather": CollectiveType.ALL_GATHER,
    "allgather_base": CollectiveType.ALL_GATHER,
    "allgather_into_tensor": CollectiveType.ALL_GATHER,
    "all_gather_into_tensor": CollectiveType.ALL_GATHER,
    "allgather_into_tensor_coalesced": CollectiveType.ALL_GATHER,
    "all_gather_into_tensor_coalesced": CollectiveType.ALL_GATHER,
    "reduce_scatter": CollectiveType.REDUCE_SCATTER,
    "reduce_scatter_base": CollectiveType.REDUCE_SCATTER,
    "reduce_scatter_tensor": CollectiveType.REDUCE_SCATTER,
    "reduce_scatter_tensor_coalesced": CollectiveType.REDUCE_SCATTER,
    "broadcast": CollectiveType.BROADCAST,
    "broadcast_oop": CollectiveType.BROADCAST,
    "alltoall": CollectiveType.ALL_TO_ALL,
    "alltoall_base": CollectiveType.ALL_TO_ALL,
    "all_to_all": CollectiveType.ALL_TO_ALL,
    "all_to_allv": CollectiveType.ALL_TO_ALL,
    "barrier": CollectiveType.BARRIER,
    "send": NodeType.SEND,
    "recv": NodeType.RECEIVE,
}
# Bytes of an element by its type, as PyTorch names it (c10/core/ScalarType.h) and as `torch.dtype` does.
ELEMENT_BYTES = {
    **dict.fromkeys(("byte", "char", "bool", "uint8", "int8"), 1),
    **dict.fromkeys(("float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"), 1),
    **dict.fromkeys(("short", "int16", "uint16", "half", "float16", "bfloat16"), 2),
    **dict.fromkeys(("int", "int32", "uint32", "float", "float32", "complexhalf"), 4),
    **dict.fromkeys(("long", "int64", "uint64", "double", "float64", "complexfloat"), 8),
    "complexdouble": 16,
}
# The side whose elements are the whole buffer, where it is not what goes in.
OUTPUT = {CollectiveType.ALL_GATHER}
MOST_ELEMENTS = 1 << 53
# Blocks of an All-to-All.
INPUTS, OUTPUTS = "In split size", "Out split size"
LIST = re.compile(r"\[\s*([0-9]{1,9}(?:\s*,\s*[0-9]{1,9})*)\s*\]")
MOST_LISTED = 1 << 20


class Communication(NamedTuple):
    """A collective or message of a rank.

    name: as PyTorch names it; elements: of the whole buffer or of the message, None where they are not stated;
    element_bytes: None for a type that is not stated, or not known; group: the name of its process group, empty where
    it has none; members: the ranks of the group, and group_size: their number, None where they are not stated; peer: of
    a message, the other rank; blocks: of an All-to-All, elements for each rank of the group, None where they are equal.
    """

    kind: CollectiveType | NodeType
    name: str
    elements: int | None
    element_bytes: int | None
    group: str
    description: str
    members: tuple[int, ...] | None
    group_size: int | None
    peer: int | None
    blocks: tuple[int, ...] | None


def communication_of(field: str, where: str, record: Mapping[str, Any]) -> Communication:
    """The communication that a record says. Raises `InputError` that names `field`, and `where` it is."""
    name = str(record.get(COLLECTIVE_NAME))
    kind = KINDS.get(name.lower().strip("_"))
    if kind is None:
        known = "all-reduce, all-gather, reduce-scatter, broadcast, all-to-all, barriers, send and recv"
        raise refuse(field, f"{where} is a collective `{shown(name)}`; it takes {known}")
    elements = _elements(field, where, record, "Out msg nelems" if kind in OUTPUT else "In msg nelems")
    peer = None
    if isinstance(kind, NodeType):
        key = "Dst Rank" if kind is NodeType.SEND else "Src Rank"
        peer = _whole(record.get(key))
        if peer is None:
            raise refuse(field, f"{where} has {key} `{shown(record.get(key))}`; it takes a rank")
    group = record.get("Process Group Name", record.get("Process Group ID"))
    description = record.get("Process Group Description")
    return Communication(
        kind,
        name,
        elements,
        ELEMENT_BYTES.get(str(record.get("dtype")).lower()),
        str(group) if isinstance(group, int | str) else "",
        description if isinstance(description, str) else "",
        ranks_in(record.get("Process Group Ranks")),
        _whole(record.get("Group size")),
        peer,
        _blocks(field, where, record, elements) if kind is CollectiveType.ALL_TO_ALL else None,
    )


def ranks_in(told: object) -> tuple[int, ...] | None:
    """The whole numbers of a list, or of its text; None if it is shortened (`[0, 1, ..., 63]`), empty, or no list."""
    if isinstance(told, str):
        match = LIST.fullmatch(told.strip())
        if match is None or len(told) > 8 * MOST_LISTED:
            return None
        told = [int(one) for one in match[1].split(",")]
    if not isinstance(told, list) or not told or len(told) > MOST_LISTED:
        return None
    found = tuple(one for one in told if type(one) is int and one >= 0)
    return found if len(found) == len(told) else None


def _elements(field: str, where: str, record: Mapping[str, Any], key: str) -> int | None:
    value = record.get(key)
    if value is None:
        return None
    elements = _whole(value)
    if elements is None or elements > MOST_ELEMENTS:
        raise refuse(field, f"{where} has {key} `{shown(value)}`; it takes a whole number from 0 to {MOST_ELEMENTS}")
    return elements


def _blocks(field: str, where: str, record: Mapping[str, Any], elements: int | None) -> tuple[int, ...] | None:
    """Elements that an All-to-All sends to each rank; None where it states no blocks, which then are equal.

    PyTorch states them in units of the tensor's first dimension, of `elements` in all.
    """
    if record.get(OUTPUTS) not in (None, [], "[]") and record.get(INPUTS) in (None, [], "[]"):
        raise refuse(field, f"{where} has {OUTPUTS} `{shown(record[OUTPUTS])}`, and no {INPUTS}; it takes both")
    told = record.get(INPUTS)
    if told in (None, [], "[]"):
        return None
    units = ranks_in(told)
    if units is None:
        raise refuse(
            field, f"{where} has {INPUTS} `{shown(told)}`; it takes all of them, of at most 30 ranks in PyTorch"
        )
    total = sum(units)
    if elements is None or (elements % total if total else elements):
        raise refuse(field, f"{where} has {INPUTS} `{shown(told)}`, which do not divide its {elements} elements")
    return tuple(one * (elements // total) for one in units) if total else units


def _whole(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None
