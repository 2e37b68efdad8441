"""MSCCL XML: algo, gpu, tb, step, as msccl-tools writes it (`msccl/language/ir.py`) and MSCCL's runtime reads it.

Every transfer of a step is one message, of chunks that lie in a row at both ends: where they do not, the sender packs
them in scratch, and the receiver takes them apart from there. Messages of more than `MOST_CHUNKS` are cut, each part on
a channel of its own. A thread block sends to one peer or receives from one, on one channel.

Steps of a plan are separated by barriers, which MSCCL does not have. What a GPU sends in a step therefore waits for all
that it received in earlier steps, and for what it sent last. What it receives waits only for what it would overwrite:
for sends of the old value, the same step's too, and for earlier receives. A step that waits on several others has a
`nop` for each but one (microsoft/msccl, `nop` in the parser and `numDependencies` in the interpreter).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import quoteattr

from lightloom._core import counted
from lightloom.exports.buffers import INPUT, OUTPUT, Buffers, Slot, runs
from lightloom.exports.circuits import side_file
from lightloom.exports.exported import MAIN, SIDE, Exported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lightloom.plans import Plan
    from lightloom.transfers import Transfer

__all__ = ["export"]

# Chunks of one message; MSCCL_MAX_COUNT is 72.
MOST_CHUNKS = 64
# What MSCCL's runtime is built with; other values can be compiled in.
MOST_STEPS, MOST_PEERS_OF_CHANNEL, MOST_CHANNELS = 256, 32, 32
MOST_BYTES = 1 << 40
COLLECTIVES = {
    "all-reduce": "allreduce",
    "reduce-scatter": "reducescatter",
    "all-gather": "allgather",
    "all-to-all": "alltoall",
    "broadcast": "broadcast",
}


def export(plan: Plan) -> Exported:
    """The program of a plan and its side file.

    Raises `InputError` that names `plan` where it does not verify, has chunks of unequal sizes, or moves more than 2^22
    of them.
    """
    program = _Program(plan)
    return Exported({MAIN: program.xml().encode(), SIDE: side_file(plan, "msccl-xml")}, SIDE, tuple(program.limits()))


class _Wait(NamedTuple):
    """A step of a thread block of the same GPU."""

    block: _Block
    step: int


@dataclass(eq=False)
class _Step:
    kind: str
    source: Slot
    destination: Slot
    count: int
    wait: _Wait | None
    is_awaited: bool = False


@dataclass(eq=False)
class _Block:
    """A thread block; `awaited` is the last step of each other block that it has waited on, and so knows to be done."""

    send: int
    receive: int
    channel: int
    steps: list[_Step] = field(default_factory=list)
    awaited: dict[_Block, int] = field(default_factory=dict)

    def add(self, kind: str, source: Slot, destination: Slot, count: int, waits: Sequence[_Wait] = ()) -> _Wait:
        """Append a step that waits on others, by `nop` where these are several."""
        last: dict[_Block, int] = {}
        for wait in waits:
            if wait.block is not self and self.awaited.get(wait.block, -1) < wait.step:
                last[wait.block] = max(last.get(wait.block, -1), wait.step)
        self.awaited.update(last)
        needed = [_Wait(block, step) for block, step in last.items()]
        for wait in needed:
            wait.block.steps[wait.step].is_awaited = True
        self.steps += [_Step("nop", Slot(INPUT, -1), Slot(OUTPUT, -1), 0, wait) for wait in needed[:-1]]
        self.steps.append(_Step(kind, source, destination, count, needed[-1] if needed else None))
        return _Wait(self, len(self.steps) - 1)


@dataclass(eq=False)
class _Gpu:
    """A GPU's thread blocks by (is sending, peer, channel), and what later steps may have to wait on."""

    blocks: dict[tuple[bool, int, int], _Block] = field(default_factory=dict)
    # What sends of the next step wait on: a send of the last step with sends, and what was received since.
    sent: list[_Wait] = field(default_factory=list)
    received: list[_Wait] = field(default_factory=list)
    # Who read a slot since it was last written, and who wrote it.
    readers: dict[Slot, list[_Wait]] = field(default_factory=lambda: defaultdict(list))
    writer: dict[Slot, _Wait] = field(default_factory=dict)

    def block(self, channel: int, *, send: int = -1, receive: int = -1) -> _Block:
        """The thread block that sends to a GPU or receives from one."""
        key = (receive < 0, max(send, receive), channel)
        return self.blocks.setdefault(key, _Block(send, receive, channel))

    def writes(self, slots: Sequence[Slot]) -> list[_Wait]:
        """What must be done before slots are written."""
        waits = [wait for slot in slots for wait in self.readers.pop(slot, ())]
        return waits + [self.writer[slot] for slot in slots if slot in self.writer]

    def has_read(self, slots: Sequence[Slot], wait: _Wait) -> None:
        for slot in slots:
            self.readers[slot].append(wait)

    def has_written(self, slots: Sequence[Slot], wait: _Wait) -> None:
        self.writer.update(dict.fromkeys(slots, wait))


class _Message(NamedTuple):
    """What one send sends: the chunks in their order, and where the sender has them."""

    transfer: Transfer
    channel: int
    chunks: list[int]
    slots: list[Slot]


class _Program:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.buffers = Buffers(plan)
        self.gpus = [_Gpu() for _ in range(plan.gpus)]
        peers: dict[int, set[tuple[bool, int]]] = defaultdict(set)
        for step in range(len(plan.steps)):
            transfers = plan.transfers(step)
            for source, destination in zip(transfers.source.tolist(), transfers.destination.tolist(), strict=True):
                peers[source].add((True, destination))
                peers[destination].add((False, source))
        # A channel serves a few peers of a GPU: those at distances that are near each other.
        most = max(sum(sends for sends, _ in found) for found in peers.values())
        self.groups = 1 if most <= MOST_PEERS_OF_CHANNEL else -(-plan.gpus // MOST_PEERS_OF_CHANNEL)
        for gpu, (source, destination, count) in zip(self.gpus, self.buffers.own_blocks(), strict=False):
            block = gpu.block(0)
            for first in range(0, count, MOST_CHUNKS):
                size = min(MOST_CHUNKS, count - first)
                block.add("cpy", _moved(source, first), _moved(destination, first), size)
        for step in range(len(plan.steps)):
            self._step(list(plan.transfers(step)))

    def _step(self, transfers: list[Transfer]) -> None:
        messages = self._messages(transfers)
        ready = {gpu: self.gpus[gpu].sent + self.gpus[gpu].received for gpu in {one.source for one in transfers}}
        senders: dict[int, _Wait] = {}
        # All sends first: what the step receives must not overwrite what it sends.
        sources = []
        for message in messages:
            source, done = self._send(message, ready[message.transfer.source])
            sources.append(source)
            senders[message.transfer.source] = done
        for gpu, done in senders.items():
            self.gpus[gpu].sent, self.gpus[gpu].received = [done], []
        for message, source in zip(messages, sources, strict=True):
            self._receive(message, source)

    def _messages(self, transfers: list[Transfer]) -> list[_Message]:
        used: dict[tuple[int, int], int] = defaultdict(int)
        found = []
        for one in transfers:
            pair = one.source, one.destination
            held = sorted((self.buffers.held(one.source, chunk), chunk) for chunk in one.chunks.tolist())
            group = (one.destination - one.source) % self.plan.gpus // MOST_PEERS_OF_CHANNEL if self.groups > 1 else 0
            for first in range(0, len(held), MOST_CHUNKS):
                part = held[first : first + MOST_CHUNKS]
                channel = group + self.groups * used[pair]
                used[pair] += 1
                found.append(_Message(one, channel, [chunk for _, chunk in part], [slot for slot, _ in part]))
        return found

    def _send(self, message: _Message, ready: list[_Wait]) -> tuple[Slot, _Wait]:
        """The sender's steps: where the message lies, and the send."""
        gpu = self.gpus[message.transfer.source]
        block = gpu.block(message.channel, send=message.transfer.destination)
        pieces = runs(message.slots)
        source = message.slots[0]
        if len(pieces) > 1:
            source = self.buffers.scratch(message.transfer.source, len(message.slots))
            for first, count in pieces:
                done = block.add("cpy", message.slots[first], _moved(source, first), count, ready)
                gpu.has_read(message.slots[first : first + count], done)
        # The offset at the receiver is in the receiver's own step.
        done = block.add("s", source, source, len(message.slots), ready)
        if len(pieces) == 1:
            gpu.has_read(message.slots, done)
        return source, done

    def _receive(self, message: _Message, source: Slot) -> None:
        """The receiver's steps."""
        transfer = message.transfer
        gpu, buffers = self.gpus[transfer.destination], self.buffers
        block = gpu.block(message.channel, receive=transfer.source)
        wanted = [buffers.wanted(transfer.destination, chunk) for chunk in message.chunks]
        kept = [slot for slot in wanted if slot is not None]
        reduces = transfer.operation == "reduce"
        count = len(message.chunks)
        if len(kept) == count and len(runs(kept)) == 1:
            waits = gpu.writes(kept)
            if reduces:
                done = block.add("rrc", kept[0], kept[0], count, waits)
            else:
                done = block.add("r", source, kept[0], count, waits)
            gpu.has_written(kept, done)
        else:
            scratch = buffers.scratch(transfer.destination, count)
            done = block.add("r", source, scratch, count)
            arrived = [_moved(scratch, index) for index in range(count)]
            for chunk, slot, place in zip(message.chunks, wanted, arrived, strict=True):
                if slot is None:
                    buffers.passes(transfer.destination, chunk, place)
            stored = [place for place, slot in zip(arrived, wanted, strict=True) if slot is not None]
            for first, size in runs(stored, kept) if kept else ():
                slots = kept[first : first + size]
                waits = gpu.writes(slots)
                done = block.add("re" if reduces else "cpy", stored[first], slots[0], size, waits)
                gpu.has_written(slots, done)
        gpu.received.append(done)

    def xml(self) -> str:
        channels = 1 + max(channel for gpu in self.gpus for _, _, channel in gpu.blocks)
        in_place = int(self.buffers.is_in_place)
        attributes = {
            "name": f"lightloom {self.plan.algorithm} {self.plan.planner}"[:200],
            "proto": "Simple",
            "nchannels": channels,
            "nchunksperloop": self.buffers.per_buffer,
            "ngpus": self.plan.gpus,
            "coll": COLLECTIVES[self.plan.collective],
            "inplace": in_place,
            "outofplace": 1 - in_place,
            "redop": "sum" if self.plan.collective in {"all-reduce", "reduce-scatter"} else "nop",
            "minBytes": 0,
            "maxBytes": MOST_BYTES,
        }
        if self.plan.collective == "broadcast":
            attributes["root"] = self.buffers.root
        lines = [_element("algo", attributes, 0)]
        for index, gpu in enumerate(self.gpus):
            sizes = dict(zip(("i_chunks", "o_chunks", "s_chunks"), self.buffers.sizes(index), strict=True))
            lines.append(_element("gpu", {"id": index, **sizes}, 1))
            blocks = [block for _, block in sorted(gpu.blocks.items(), key=lambda item: item[0])]
            numbers = {block: number for number, block in enumerate(blocks)}
            for block in blocks:
                told = {"id": numbers[block], "send": block.send, "recv": block.receive, "chan": block.channel}
                lines.append(_element("tb", told, 2))
                lines += [_step_element(number, step, numbers) for number, step in enumerate(block.steps)]
                lines.append("    </tb>")
            lines.append("  </gpu>")
        return "\n".join([*lines, "</algo>", ""])

    def limits(self) -> list[str]:
        """What of the program is beyond what MSCCL's runtime is built with."""
        blocks = [block for gpu in self.gpus for block in gpu.blocks.values()]
        found = []
        steps = max(len(block.steps) for block in blocks)
        if steps > MOST_STEPS:
            found.append(f"a thread block has {steps} steps; MSCCL takes {MOST_STEPS} unless it is built for more")
        channels = 1 + max(block.channel for block in blocks)
        if channels > MOST_CHANNELS:
            found.append(f"it uses {counted(channels, 'channel')}; MSCCL takes {MOST_CHANNELS}")
        return found


def _moved(slot: Slot, by: int) -> Slot:
    return Slot(slot.buffer, slot.offset + by)


def _element(name: str, attributes: Mapping[str, object], depth: int) -> str:
    told = " ".join(f"{key}={quoteattr(str(value))}" for key, value in attributes.items())
    return f"{'  ' * depth}<{name} {told}>"


def _step_element(number: int, step: _Step, numbers: dict[_Block, int]) -> str:
    block, awaited = (-1, -1) if step.wait is None else (numbers[step.wait.block], step.wait.step)
    return (
        f'      <step s="{number}" type="{step.kind}" srcbuf="{step.source.buffer}" srcoff="{step.source.offset}" '
        f'dstbuf="{step.destination.buffer}" dstoff="{step.destination.offset}" cnt="{step.count}" depid="{block}" '
        f'deps="{awaited}" hasdep="{int(step.is_awaited)}"/>'
    )
