"""The backend as PyTorch knows it: how a process group is made."""

from __future__ import annotations

import atexit
import sys
import weakref
from pathlib import Path
from typing import Any

import torch.distributed as dist

from lightloom import _core
from lightloom.base.errors import InputError, refuse
from lightloom.torch.group import LightloomGroup
from lightloom.torch.planning import FABRIC, PlanBook, dilation_of, fabric_of, say_fabric
from lightloom.torch.tensors import DEVICES
from lightloom.torch.trace import trace_of

__all__ = ["group_of", "register"]

ADDRESS, FAULT = "address", "fault"
MACHINE = Path("/proc/sys/kernel/random/boot_id")

groups: weakref.WeakSet[LightloomGroup] = weakref.WeakSet()


def register(name: str) -> None:
    """Make the backend known to PyTorch, for tensors of the host, and of GPUs, which are staged through the host."""
    if name not in dist.Backend.backend_list:
        # PyTorch's flight recorder takes groups that it has made; those it leaves out are these.
        recorded: set[str] = getattr(dist.distributed_c10d, "_FR_SELF_RECORDING_BACKENDS", set())
        recorded.add(name)
        dist.Backend.register_backend(name, group_of, extended_api=True, devices=list(DEVICES))
        atexit.register(_leave)


def group_of(options: Any, _backend_options: object = None) -> LightloomGroup:
    """The process group that PyTorch's options describe: all its ranks call this.

    Raises `DistBackendError` that names what is wrong, the same at every rank: a setting such as `LIGHTLOOM_FABRIC`, or
    a rank that did not come.
    """
    try:
        return _made(options)
    except (OSError, InputError) as error:
        raise dist.DistBackendError(f"init_process_group: {error}") from error


def _made(options: Any) -> LightloomGroup:
    rank, size, timeout = options.group_rank, options.group_size, options.timeout
    options.store.set_timeout(timeout)
    # A group may be made again while a rank is still in the one before: what they say there is of another making.
    store = dist.PrefixStore(str(options.store.add(f"made/{rank}", 1)), options.store)
    members = options.global_ranks_in_group or list(range(size))
    fabric, trace, fault, dilation = None, None, "", 0.0
    try:
        fabric = fabric_of(size) if size > 1 else None
        dilation = dilation_of()
        trace = trace_of(members[rank], options.group_id, members)
    except InputError as error:
        fault = str(error)
    ports = 1 if fabric is None else fabric.ports
    if rank == 0:
        member = _core.Member.create(size, ports)
        store.set(ADDRESS, f"{_machine()} {ports} {member.address}")
    else:
        there, their_ports, address = store.get(ADDRESS).decode().split(" ")
        if there != _machine():
            raise refuse("backend", "lightloom takes ranks of one host, and this rank is on another one than rank 0")
        if not fault and int(their_ports) != ports:
            fault = f"{FABRIC}: it has {ports} ports here and {their_ports} at rank 0; they must agree"
        member = _joined(store, rank, size, int(their_ports), address)
    if fault:
        store.set(FAULT, f"rank {rank}: {fault}")
        member.abort(f"rank {rank}: {fault}")
    member.meet("making the group", timeout.total_seconds())
    if fabric is not None and rank == 0 and not options.global_ranks_in_group:
        say_fabric(fabric)
    book = None if fabric is None else PlanBook(store, rank, fabric, dilation, member)
    group = LightloomGroup(rank, size, options.group_id, member, book, trace, timeout)
    groups.add(group)
    return group


def _joined(store: Any, rank: int, size: int, ports: int, address: str) -> Any:
    try:
        return _core.Member.join(rank, size, ports, address)
    except OSError:
        # Rank 0 may have heard of a fault, and ended, before this rank came.
        if store.check([FAULT]):
            raise InputError("group", store.get(FAULT).decode()) from None
        raise


def _machine() -> str:
    return MACHINE.read_text().strip()


def _leave() -> None:
    for group in list(groups):
        try:
            group.leave()
        except InputError as error:
            print(f"lightloom: {error}", file=sys.stderr)  # noqa: T201 - the only place where a job's user sees it
