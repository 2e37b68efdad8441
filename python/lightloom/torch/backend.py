"""The backend as PyTorch knows it: how a process group is made."""

from __future__ import annotations

import atexit
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch.distributed as dist

from lightloom import _core
from lightloom.base.errors import refuse
from lightloom.torch.group import LightloomGroup
from lightloom.torch.planning import PlanBook, dilation_of, fabric_of, say_fabric
from lightloom.torch.trace import trace_of

if TYPE_CHECKING:
    from datetime import timedelta

__all__ = ["group_of", "register"]

ADDRESS = "address"
MACHINE = Path("/proc/sys/kernel/random/boot_id")

groups: weakref.WeakSet[LightloomGroup] = weakref.WeakSet()


def register(name: str) -> None:
    """Make the backend known to PyTorch, for tensors of the host, and of GPUs, which are staged through the host."""
    if name not in dist.Backend.backend_list:
        # PyTorch's flight recorder takes groups that it has made; those it leaves out are these.
        recorded: set[str] = getattr(dist.distributed_c10d, "_FR_SELF_RECORDING_BACKENDS", set())
        recorded.add(name)
        dist.Backend.register_backend(name, group_of, extended_api=True, devices=["cpu", "cuda"])
        atexit.register(_leave)


def group_of(options: Any, _backend_options: object = None) -> LightloomGroup:
    """The process group that PyTorch's options describe: all its ranks call this.

    Raises `InputError` that names the setting: `LIGHTLOOM_FABRIC`, `backend` for ranks of several hosts.
    """
    rank, size, store = options.group_rank, options.group_size, options.store
    timeout: timedelta = options.timeout
    store.set_timeout(timeout)
    book = None
    ports = 1
    fabric = fabric_of(size) if size > 1 else None
    if fabric is not None:
        ports = fabric.ports
    machine = MACHINE.read_text().strip()
    if rank == 0:
        member = _core.Member.create(size, ports)
        store.set(ADDRESS, f"{machine} {ports} {member.address}")
    else:
        there, their_ports, address = store.get(ADDRESS).decode().split(" ")
        if there != machine:
            raise refuse("backend", "lightloom takes ranks of one host, and this rank is on another one than rank 0")
        if int(their_ports) != ports:
            raise refuse("LIGHTLOOM_FABRIC", f"it has {ports} ports here and {their_ports} at rank 0; they must agree")
        member = _core.Member.join(rank, size, ports, address)
    if fabric is not None:
        if rank == 0 and not options.global_ranks_in_group:
            say_fabric(fabric)
        book = PlanBook(store, rank, fabric, dilation_of(), member.watch)
    members = options.global_ranks_in_group or list(range(size))
    trace = trace_of(members[rank], options.group_id, members)
    group = LightloomGroup(rank, size, options.group_id, member, book, trace, timeout)
    member.meet("making the group", timeout.total_seconds())
    groups.add(group)
    return group


def _leave() -> None:
    for group in list(groups):
        group.leave()
