"""MSCCL XML: algo, gpu, tb, step, as msccl-tools writes it (`msccl/language/ir.py`) and MSCCL's runtime reads it.

The thread blocks are those of `program` in this folder. A step that waits on several others has a `nop` for
each but one (microsoft/msccl, `nop` in the parser and `numDependencies` in the interpreter). A program is taken for
buffers of `minBytes` to `maxBytes` bytes, both included.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lightloom._core import counted
from lightloom.formats.buffers import INPUT, OUTPUT, Slot
from lightloom.formats.msccl_xml.program import Program
from lightloom.formats.msccl_xml.runtimes import MSCCL
from lightloom.formats.output import MAIN, SIDE, Exported
from lightloom.formats.side_files import side_file
from lightloom.formats.size_range import ranges_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lightloom.formats.msccl_xml.program import Block, Step
    from lightloom.formats.size_range import SizeRange
    from lightloom.plans import Plan

__all__ = ["beyond", "export", "xml"]

# Characters that names may not have: readers of these files take no entities, and values up to 255 characters.
NOT_OF_NAMES = re.compile(r"[^\w .:,;()*+/=@\[\]-]", re.ASCII)
MOST_OF_NAME = 200
COLLECTIVES = {
    "all-reduce": "allreduce",
    "reduce-scatter": "reducescatter",
    "all-gather": "allgather",
    "all-to-all": "alltoall",
    "broadcast": "broadcast",
}


def export(plan: Plan, sizes: SizeRange | None = None) -> Exported:
    """The program of a plan, for buffers of these sizes or of all, and its side file.

    Raises `InputError` that names `plan` where it does not verify, has chunks of unequal sizes, or moves more than 2^22
    of them.
    """
    (taken_for,) = ranges_of([plan], sizes)
    program = Program(plan, MSCCL)
    notes = [f"{limit} unless it is built for more" for limit in beyond(program)]
    return Exported({MAIN: xml(program, taken_for).encode(), SIDE: side_file(plan, "msccl-xml")}, SIDE, tuple(notes))


def xml(program: Program, sizes: SizeRange) -> str:
    """The text of a program that is taken for buffers of these sizes."""
    plan, buffers = program.plan, program.buffers
    in_place = int(buffers.is_in_place)
    attributes = {
        "name": NOT_OF_NAMES.sub("_", f"lightloom {plan.algorithm} {plan.planner}")[:MOST_OF_NAME],
        "proto": "Simple",
        "nchannels": _channels(program),
        "nchunksperloop": buffers.per_buffer,
        "ngpus": plan.gpus,
        "coll": COLLECTIVES[plan.collective],
        "inplace": in_place,
        "outofplace": 1 - in_place,
        "redop": "sum" if plan.collective in {"all-reduce", "reduce-scatter"} else "nop",
        "minBytes": sizes.first_bytes,
        "maxBytes": sizes.last_bytes,
    }
    if plan.collective == "broadcast":
        attributes["root"] = buffers.root
    lines = [_element("algo", attributes, 0)]
    for index, blocks in enumerate(program.blocks()):
        chunks = dict(zip(("i_chunks", "o_chunks", "s_chunks"), buffers.sizes(index), strict=True))
        lines.append(_element("gpu", {"id": index, **chunks}, 1))
        numbers = {block: number for number, block in enumerate(blocks)}
        for block in blocks:
            told = {"id": numbers[block], "send": block.send, "recv": block.receive, "chan": block.channel}
            lines.append(_element("tb", told, 2))
            lines += [line for step in block.steps for line in _steps(step, numbers)]
            lines.append("    </tb>")
        lines.append("  </gpu>")
    return "\n".join([*lines, "</algo>", ""])


def beyond(program: Program) -> list[str]:
    """The excesses of a program over the limits of its runtime, a sentence each."""
    runtime, blocks = program.runtime, program.blocks()
    all_blocks = [block for of_gpu in blocks for block in of_gpu]
    steps = max(block.length for block in all_blocks)
    most = max(map(len, blocks))
    ends: dict[tuple[int, bool, int], int] = {}
    for gpu, of_gpu in enumerate(blocks):
        for block in of_gpu:
            for sends in (True, False):
                if (block.send if sends else block.receive) >= 0:
                    key = (gpu, sends, block.channel)
                    ends[key] = ends.get(key, 0) + 1
    elements = max(1 + len(blocks) + len(of_gpu) + sum(block.length for block in of_gpu) for of_gpu in blocks)
    offset = max(sum(program.buffers.sizes(gpu)[2:]) for gpu in range(len(blocks)))
    offset = max(offset, program.buffers.per_buffer) - 1
    name = runtime.name
    found = [
        (steps, runtime.steps, f"a thread block has {counted(steps, 'step')}"),
        (most, runtime.blocks, f"a GPU has {counted(most, 'thread block')}"),
        (max(ends.values()), runtime.peers, f"a GPU has {max(ends.values())} thread blocks on a channel"),
        (_channels(program), runtime.channels, f"it uses {counted(_channels(program), 'channel')}"),
        (len(blocks), runtime.gpus, f"it is for {counted(len(blocks), 'GPU')}"),
        (elements, runtime.elements, f"a rank reads {counted(elements, 'XML element')}"),
        (offset, runtime.offset, f"a buffer has chunks up to number {offset}"),
    ]
    return [f"{what}; {name} takes {limit}" for value, limit, what in found if limit is not None and value > limit]


def _channels(program: Program) -> int:
    return 1 + max(block.channel for blocks in program.blocks() for block in blocks)


def _element(name: str, attributes: Mapping[str, object], depth: int) -> str:
    told = " ".join(f'{key}="{value}"' for key, value in attributes.items())
    return f"{'  ' * depth}<{name} {told}>"


def _steps(step: Step, numbers: dict[Block, int]) -> Iterator[str]:
    """The step, after one `nop` for each step that it waits for but the last."""
    first = step.number - max(0, len(step.waits) - 1)
    for number, wait in enumerate(step.waits[:-1], first):
        yield _step_element(number, "nop", Slot(INPUT, -1), Slot(OUTPUT, -1), 0, wait, numbers, is_awaited=False)
    yield _step_element(
        step.number,
        step.kind,
        step.source,
        step.destination,
        step.count,
        step.waits[-1] if step.waits else None,
        numbers,
        is_awaited=step.is_awaited,
    )


def _step_element(
    number: int,
    kind: str,
    source: Slot,
    destination: Slot,
    count: int,
    wait: Step | None,
    numbers: dict[Block, int],
    *,
    is_awaited: bool,
) -> str:
    block, awaited = (-1, -1) if wait is None else (numbers[wait.block], wait.number)
    return (
        f'      <step s="{number}" type="{kind}" srcbuf="{source.buffer}" srcoff="{source.offset}" '
        f'dstbuf="{destination.buffer}" dstoff="{destination.offset}" cnt="{count}" depid="{block}" '
        f'deps="{awaited}" hasdep="{int(is_awaited)}"/>'
    )
