"""The graph of one rank: nodes as those of a Chakra trace, of its GPU's work in one iteration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse
from lightloom.formats.chakra.files import Node, RankFile
from lightloom.formats.chakra.joint_graph import ALL, BLOCKS
from lightloom.formats.chakra.schema import CollectiveType, NodeType
from lightloom.formats.kineto.communication import communication_of
from lightloom.formats.kineto.profile import COLLECTIVE_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.formats.chakra.files import Value
    from lightloom.formats.kineto.communication import Communication
    from lightloom.formats.kineto.dependencies import Item
    from lightloom.formats.kineto.groups import Groups
    from lightloom.formats.kineto.profile import Profile, Work
    from lightloom.formats.kineto.sizes import Sizes

__all__ = ["rank_file"]

# Names of NCCL's kernels that say which collective they are, and the collective as PyTorch names it.
KERNEL = re.compile(r"nccl(?:DevKernel_|Kernel_)?(AllReduce|AllGather|ReduceScatter|Broadcast)")
OF_KERNELS = {
    "AllReduce": "allreduce",
    "AllGather": "allgather",
    "ReduceScatter": "reduce_scatter",
    "Broadcast": "broadcast",
}
COMPUTATION = "computation"


def rank_file(
    field: str, profile: Profile, items: Sequence[Item], groups: Groups, sizes: Sizes, *, is_alone: bool
) -> RankFile:
    """The nodes of a rank, numbered in the order in which they began.

    is_alone: whether the profile is the only one, of all ranks. Raises `InputError` that names the fault's option, or
    `field`.
    """
    nodes: list[Node] = []
    # By item: its nodes, of a batch of messages several.
    numbers: list[tuple[int, ...]] = []
    for item in items:
        after = tuple(number for other in item.after for number in numbers[other])
        first = len(nodes)
        if item.work is None:
            nodes.append(Node(first, COMPUTATION, NodeType.COMPUTE, after, item.busy_ns / 1000, {}))
        else:
            where = f"`{item.work.name[:60]}` at {item.work.start_ns / 1000:.3f} us of `{profile.path.name}`"
            for one in _communications(field, where, item.work):
                if isinstance(one.kind, NodeType) and is_alone:
                    raise refuse(field, f"{where} is a message to or from another rank; it takes the profiles of all")
                group, size = groups.name_of(where, profile, one), sizes.bytes_of(where, one)
                told = {"tid": item.work.stream, **_size(field, where, one, groups.members.get(group), size)}
                told |= _attributes(one, group, groups)
                kind = one.kind if isinstance(one.kind, NodeType) else NodeType.COLLECTIVE
                nodes.append(Node(len(nodes), one.name, kind, after, 0, told))
        numbers.append(tuple(range(first, len(nodes))))
    return RankFile({}, tuple(nodes))


def _communications(field: str, where: str, work: Work) -> list[Communication]:
    if work.records:
        return [communication_of(field, where, record) for record in work.records]
    match = KERNEL.search(work.name)
    if match is None:
        why = "and the profile does not state what it sends, as those of recent PyTorch do"
        raise refuse(field, f"{where} is a kernel of NCCL, {why}")
    return [communication_of(field, where, {COLLECTIVE_NAME: OF_KERNELS[match[1]]})]


def _size(field: str, where: str, one: Communication, members: tuple[int, ...] | None, size: int) -> dict[str, Value]:
    """The attribute with the bytes of a communication: the whole buffer, or the blocks of an All-to-All if they differ.

    members: the ranks of its group, None where the profile is the only one.
    """
    if one.blocks is None or (members is None and len(set(one.blocks)) == 1):
        return {"comm_size": size}
    if members is None:
        raise refuse(
            field, f"{where} is an All-to-All of unequal blocks, of one rank; it takes the profiles of all ranks"
        )
    if len(one.blocks) != len(members):
        raise refuse(field, f"{where} has {len(one.blocks)} blocks in its In split size, and {len(members)} ranks")
    element_bytes = size // one.elements if one.elements else 0
    return {BLOCKS: tuple(elements * element_bytes for elements in one.blocks)}


def _attributes(one: Communication, group: str, groups: Groups) -> dict[str, Value]:
    """The attributes that say what a communication is, and with whom."""
    if isinstance(one.kind, CollectiveType):
        named: dict[str, Value] = {} if group == ALL else {"pg_name": group}
        return {"comm_type": int(one.kind), **named}
    peer = "comm_dst" if one.kind is NodeType.SEND else "comm_src"
    return {peer: one.peer or 0, "comm_tag": groups.numbers[group]}
