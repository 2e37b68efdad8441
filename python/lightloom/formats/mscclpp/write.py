"""MSCCL++ execution plans: the JSON that `mscclpp::ExecutionPlan` loads (microsoft/mscclpp, `execution_plan.cc`).

The loader reads no version; this module writes the keys of its test plans of 2025 (`threadblocks`, `ops`,
`remote_buffers`, `remote_buffer_refs`), not those of plans before (`threadblocks`, `i_cids`, `o_cids`). The thread
blocks are those of `lightloom.formats.mscclpp.program`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightloom._core import counted
from lightloom.base.errors import refuse
from lightloom.formats.mscclpp.program import MEMORY, MOST_BARRIERS, MOST_OPERATIONS, PORT, Program
from lightloom.formats.output import MAIN, SIDE, Exported
from lightloom.formats.side_files import side_file
from lightloom.formats.size_range import SizeRange, ranges_of

if TYPE_CHECKING:
    from lightloom.formats.mscclpp.program import Gpu
    from lightloom.plans import Plan

__all__ = ["export"]

COLLECTIVES = {
    "all-reduce": "allreduce",
    "reduce-scatter": "reducescatter",
    "all-gather": "allgather",
    "all-to-all": "alltoall",
    "broadcast": "broadcast",
}
# Largest factor of thread blocks that are tried over those that a GPU needs, where a step has too many operations for
# these.
SPREADS = (1, 2, 4, 8)
# Bytes that chunks are aligned to, and the most that its offsets count.
ALIGNMENT, MOST_BYTES = 16, (1 << 32) - 1


def export(plan: Plan, sizes: SizeRange | None = None, gpus_per_host: int | None = None) -> Exported:
    """The execution plan of a plan and its side file.

    sizes: the buffers that it is taken for; all, where it is None. gpus_per_host: as for `Program`; all GPUs, where it
    is None. Raises `InputError` that names `plan` where it does not verify, has chunks of unequal sizes, or moves more
    than 2^22 of them; and `gpus_per_host` where the plan's GPUs do not fill hosts of this many.
    """
    (taken_for,) = ranges_of([plan], sizes)
    hosts = plan.gpus if gpus_per_host is None else _checked_hosts(plan.gpus, gpus_per_host)
    program = _least_spread(plan, hosts)
    content = json.dumps(_document(program, taken_for)).encode() + b"\n"
    notes = _limits(program, states_sizes=sizes is not None)
    if hosts < plan.gpus:
        within = "" if hosts == 1 else ", memory channels within one"
        notes.append(f"port channels between hosts of {counted(hosts, 'GPU')}{within}")
    if sizes is not None:
        notes.append(f"taken for sizes: {SizeRange(taken_for.first_bytes, min(MOST_BYTES, taken_for.last_bytes))}")
    return Exported({MAIN: content, SIDE: side_file(plan, "mscclpp")}, SIDE, tuple(notes))


def _checked_hosts(gpus: int, gpus_per_host: int) -> int:
    """Refuse hosts that the GPUs do not fill. Raises `InputError` that names `gpus_per_host`."""
    if gpus % gpus_per_host:
        fitting = ", ".join(str(count) for count in range(1, gpus + 1) if gpus % count == 0)
        said = f"it takes a divisor of the plan's {gpus} GPUs: {fitting}"
        raise refuse("gpus_per_host", f"`{gpus_per_host}` is not accepted; {said}")
    return gpus_per_host


def _least_spread(plan: Plan, gpus_per_host: int) -> Program:
    """The program on as few thread blocks as have no more operations each than MSCCL++ takes, or the least."""
    programs = []
    for spread in SPREADS:
        programs.append(Program(plan, spread, gpus_per_host))
        if programs[-1].operations() <= MOST_OPERATIONS:
            break
    return min(programs, key=Program.operations)


def _document(program: Program, sizes: SizeRange) -> dict[str, Any]:
    """The execution plan."""
    return {
        "name": f"lightloom {program.plan.algorithm} {program.plan.planner}",
        "collective": COLLECTIVES[program.plan.collective],
        "protocol": "Simple",
        "inplace": program.buffers.is_in_place,
        "reuse_resources": False,
        "gpus": [_gpu(program, gpu) for gpu in program.gpus],
        "num_threads_per_block": 1024,
        "use_double_scratch_buffer": False,
        "buffer_alignment": ALIGNMENT,
        "min_message_size": sizes.first_bytes,
        "max_message_size": min(MOST_BYTES, sizes.last_bytes),
    }


def _gpu(program: Program, gpu: Gpu) -> dict[str, Any]:
    inputs, outputs, scratch = program.buffers.sizes(gpu.rank)
    peers = {kind: [peer for peer in sorted(gpu.block) if gpu.kind(peer) == kind] for kind in (MEMORY, PORT)}
    remote = [one for known in gpu.remote for one in known]
    blocks: list[dict[str, Any]] = []
    for shift in program.shifts[gpu.rank]:
        for block, operations in enumerate(shift):
            channels, references = [], []
            for kind, all_peers in peers.items():
                ids = [all_peers.index(peer) for peer in gpu.peers(kind, block)]
                if ids:
                    channels.append({"channel_type": kind, "channel_ids": ids})
                buffers = [remote.index(one) for one in gpu.buffers(kind, block)]
                if buffers:
                    references.append({"access_channel_type": kind, "remote_buffer_ids": buffers})
            blocks.append(
                {"id": len(blocks), "ops": operations, "channels": channels, "remote_buffer_refs": references}
            )
    return {
        "id": gpu.rank,
        "input_chunks": inputs,
        "output_chunks": outputs,
        "scratch_chunks": scratch,
        "threadblocks": blocks,
        "channels": [{"channel_type": kind, "connected_to": found} for kind, found in peers.items() if found],
        "remote_buffers": [
            {"rank": peer, "type": buffer, "access_channel_types": [gpu.kind(peer)]} for peer, buffer in remote
        ],
        "semaphores": [],
    }


def _limits(program: Program, *, states_sizes: bool) -> list[str]:
    """The excesses of a program over the limits that MSCCL++ is built with, and sizes that it refuses.

    states_sizes: whether to report the accepted sizes, even if the plan's own size is one of them.
    """
    plan, chunks = program.plan, program.buffers.per_buffer
    found = []
    most = program.operations()
    if most > MOST_OPERATIONS:
        found.append(
            f"a thread block has {most} operations; MSCCL++ takes {MOST_OPERATIONS} unless it is built for more"
        )
    barriers = max(map(len, program.shifts))
    if barriers > MOST_BARRIERS:
        found.append(f"a GPU has {barriers} barriers; MSCCL++ takes {MOST_BARRIERS} unless it is built for more")
    unit = chunks * ALIGNMENT
    is_taken = plan.size_bytes % unit == 0
    if states_sizes or not is_taken:
        own = f"the plan's size, {plan.size_bytes} B, is {'' if is_taken else 'not '}such a size"
        takes = f"buffers of multiples of {unit} B, {chunks} chunks, each of a multiple of {ALIGNMENT} B"
        found.append(f"MSCCL++ takes {takes}; {own}")
    if plan.size_bytes > MOST_BYTES:
        found.append(f"MSCCL++ counts the bytes of a buffer in 32 bits; the plan's size is {plan.size_bytes} B")
    return found
