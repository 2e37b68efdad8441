"""RCCL's use of a folder of MSCCL programs: which files it refuses, and which program it takes for a call.

Written from ROCm/rccl of October 2024, and held against its parser, compiled by itself: src/misc/msccl/msccl_parser.cc
and src/include/msccl/ (msccl_parser.h: MAX_NODES, MAX_SUBS, MAX_STR_LEN, MAX_ATTR_COUNT; msccl_struct.h:
MSCCL_MAX_NUM_STEPS, MSCCL_MAX_NUM_THREAD_BLOCKS, MSCCL_MAX_NUM_THREAD_BLOCKS_PER_CHANNEL, MSCCL_MAX_COUNT; device.h:
MAXCHANNELS), and src/misc/msccl/msccl_lifecycle.cc for the programs that are taken.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

NODES, SUBS, VALUE, ATTRIBUTES = 4096, 1024, 255, 16
STEPS, BLOCKS, BLOCKS_OF_CHANNEL, COUNT, CHANNELS = 64, 64, 32, 72, 128
# Whether a kind of step sends, and whether it receives.
KINDS = {"s": (1, 0), "r": (0, 1), "rrc": (0, 1), "cpy": (0, 0), "re": (0, 0), "nop": (0, 0)}
MULTIPLIED = {"reducescatter", "allgather", "alltoall"}


class RefusedError(Exception):
    """RCCL does not start with this file."""


def load(text: str) -> None:
    """Read a program as every rank does. Raises `RefusedError`."""
    root = ET.fromstring(text)  # noqa: S314 (it is our own)
    _check_text(root, text)
    for name in ("nchunksperloop", "nchannels", "ngpus", "minBytes", "maxBytes", "inplace", "outofplace"):
        int(root.attrib[name])
    for rank in range(int(root.attrib["ngpus"])):
        own = [gpu for gpu in root if int(gpu.attrib["id"]) == rank]
        if 1 + len(root) + sum(1 + len(block) for gpu in own for block in gpu) >= NODES:
            raise RefusedError(f"rank {rank} reads more than {NODES} elements")
        for gpu in own:
            _check_gpu(gpu)


def _check_text(root: ET.Element, text: str) -> None:
    """Values are read up to a double quote, as they are, without a check of their length."""
    assert "'" not in text
    assert "&" not in text
    for element in root.iter():
        if len(element) > SUBS or len(element.attrib) > ATTRIBUTES:
            raise RefusedError(f"<{element.tag}> has too much in it")
        if any(len(value) > VALUE for value in element.attrib.values()):
            raise RefusedError(f"<{element.tag}> has a value that is too long")


def _check_gpu(gpu: ET.Element) -> None:
    told = [{key: int(value) for key, value in block.attrib.items()} for block in gpu]
    if [block["id"] for block in told] != list(range(len(told))) or len(told) > BLOCKS:
        raise RefusedError(f"{len(told)} thread blocks")
    chunks = {name: int(gpu.attrib[f"{name}_chunks"]) for name in "ios"}
    peers: Counter[tuple[str, int]] = Counter()
    for block, steps in zip(told, gpu, strict=True):
        if not 0 <= block["chan"] <= CHANNELS:
            raise RefusedError(f"channel {block['chan']}")
        dependencies = False
        for step in steps:
            dependencies = _check_step(step, block, chunks, peers, dependencies=dependencies)
        peers += Counter((side, block["chan"]) for side in ("send", "recv") if block[side] >= 0)


def _check_step(
    step: ET.Element,
    block: dict[str, int],
    chunks: dict[str, int],
    peers: Counter[tuple[str, int]],
    *,
    dependencies: bool,
) -> bool:
    """Whether dependencies of `nop`s are left for the next step."""
    number = int(step.attrib["s"])
    if number >= STEPS:
        raise RefusedError(f"step {number}")
    kind, depends = step.attrib["type"], int(step.attrib["depid"]) >= 0
    for side, does in zip(("send", "recv"), KINDS[kind], strict=True):
        if does and (block[side] < 0 or peers[side, block["chan"]] >= BLOCKS_OF_CHANNEL):
            raise RefusedError(f"{side} of thread block {block['id']} on channel {block['chan']}")
    if kind == "nop":
        return dependencies or depends
    if not 0 <= int(step.attrib["cnt"]) < COUNT:
        raise RefusedError(f"count {step.attrib['cnt']}")
    if dependencies and not depends:
        raise RefusedError("the last of several dependencies is not the step's own")
    for end, checked in (("src", kind in {"s", "cpy", "re"}), ("dst", kind in {"r", "cpy", "re"})):
        offset = int(step.attrib[f"{end}off"])
        assert offset < 1 << 15, "offsets are of 16 bits"
        if checked and offset >= chunks[step.attrib[f"{end}buf"]]:
            raise RefusedError(f"offset {offset}")
    return False


def taken(folder: Path, collective: str, ranks: int, size_bytes: int, *, in_place: bool) -> list[Path]:
    """The programs that a call of one-byte elements may get: the first of the directory, whose order is anything."""
    found = []
    for path in sorted(folder.iterdir()):
        root = ET.fromstring(path.read_text()).attrib  # noqa: S314 (it is our own)
        per_rank, left = divmod(size_bytes, ranks if root["coll"] in MULTIPLIED else 1)
        fits = not left and per_rank > 0 and size_bytes % int(root["nchunksperloop"]) == 0
        last = int(root["maxBytes"])
        in_range = int(root["minBytes"]) <= size_bytes and (last == 0 or size_bytes <= last)
        place = root["inplace" if in_place else "outofplace"] == "1"
        if fits and in_range and place and (root["coll"], int(root["ngpus"])) == (collective, ranks):
            found.append(path)
    return found
