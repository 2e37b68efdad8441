"""Limits of the runtimes of MSCCL programs, by which programs are cut, judged and refused."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MSCCL", "RCCL", "Runtime"]


class Runtime(NamedTuple):
    """The limits of a runtime; None if it has no such limit.

    steps: of a thread block, each `nop` among them. message_chunks: of a message, as it is cut here. blocks: thread
    blocks of a GPU. peers: thread blocks of a GPU that send on one channel, and as many that receive. channels: of a
    program. elements: XML elements that one rank keeps: the program, all GPUs, and its own thread blocks and steps.
    gpus: of a program. offset: the largest of a chunk in a buffer.
    """

    name: str
    steps: int
    message_chunks: int
    blocks: int | None
    peers: int
    channels: int
    elements: int | None
    gpus: int | None
    offset: int


# microsoft/msccl, src/include/msccl.h: MSCCL_MAX_NUM_STEPS, MSCCL_MAX_COUNT (72), MSCCL_MAX_NUM_THREAD_BLOCKS,
# MSCCL_MAX_NUM_THREAD_BLOCKS_PER_CHANNEL; MAXCHANNELS; offsets are of 16 bits.
MSCCL = Runtime("MSCCL", 256, 64, 216, 32, 32, None, None, (1 << 15) - 1)
# ROCm/rccl, src/include/msccl/msccl_struct.h, msccl_parser.h (MAX_NODES, of which the last is never used, and
# MAX_SUBS), device.h (MAXCHANNELS). Messages of fewer chunks than the 71 that it takes, since each of them may need a
# step of its own at either end.
RCCL = Runtime("RCCL", 64, 32, 64, 32, 128, 4095, 1024, (1 << 15) - 1)
