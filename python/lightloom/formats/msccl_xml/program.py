"""The thread blocks of a plan as MSCCL runs it, within the limits of a runtime.

Every transfer of a step is one message, of chunks that lie in a row at both ends: where they do not, the sender packs
them in scratch, and the receiver takes them apart from there. Messages of more chunks than the runtime takes are cut,
each part on a channel of its own. A thread block sends to one peer or receives from one, on one channel. Where either
end of a channel has no room for the steps of a message, it goes on a further channel, and so in further thread blocks.

Steps of a plan are separated by barriers, which MSCCL does not have. A send of a step therefore waits for all
that the GPU received in earlier steps, and for its last send. A receive waits only for uses of what it overwrites:
for sends of the old value, the same step's too, and for earlier receives.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from lightloom.formats.buffers import Buffers, Slot, runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lightloom.formats.msccl_xml.runtimes import Runtime
    from lightloom.plans import Plan
    from lightloom.plans.transfers import Transfer

__all__ = ["Block", "Program", "Step"]


@dataclass(eq=False)
class Step:
    """A step of a thread block. waits: steps of other thread blocks of its GPU that are done before it begins.

    Where it waits for several, steps `nop` go before it, one for each but one; number is its own place behind them.
    """

    block: Block
    number: int
    kind: str
    source: Slot
    destination: Slot
    count: int
    waits: list[Step]
    is_awaited: bool = False


@dataclass(eq=False)
class Block:
    """A thread block; `awaited` is the last step of each other block that it has waited on, and so knows to be done."""

    send: int
    receive: int
    channel: int
    steps: list[Step] = field(default_factory=list)
    awaited: dict[Block, int] = field(default_factory=dict)

    @property
    def length(self) -> int:
        """The number of its steps, with each `nop` among them."""
        return self.steps[-1].number + 1 if self.steps else 0

    def needed(self, waits: Iterable[Step]) -> list[Step]:
        """The waits of a step that the thread block does not know to be done: the last of each block."""
        last: dict[Block, Step] = {}
        for wait in waits:
            if wait.block is not self and self.awaited.get(wait.block, -1) < wait.number:
                known = last.get(wait.block)
                last[wait.block] = wait if known is None or known.number < wait.number else known
        return list(last.values())

    def add(self, kind: str, source: Slot, destination: Slot, size: int, waits: Sequence[Step] = ()) -> Step:
        """Append a step of this many chunks that waits on others."""
        needed = self.needed(waits)
        for wait in needed:
            self.awaited[wait.block] = wait.number
            wait.is_awaited = True
        number = self.length + max(0, len(needed) - 1)
        self.steps.append(Step(self, number, kind, source, destination, size, needed))
        return self.steps[-1]


@dataclass(eq=False)
class _Gpu:
    """A GPU's thread blocks by (is sending, peer, channel), and what later steps may have to wait on."""

    blocks: dict[tuple[bool, int, int], Block] = field(default_factory=dict)
    # Waits of the next step's sends: a send of the last step with sends, and receives since.
    sent: list[Step] = field(default_factory=list)
    received: list[Step] = field(default_factory=list)
    # Who read a slot since it was last written, and who wrote it.
    readers: dict[Slot, list[Step]] = field(default_factory=lambda: defaultdict(list))
    writer: dict[Slot, Step] = field(default_factory=dict)

    def block(self, channel: int, *, send: int = -1, receive: int = -1) -> Block:
        """The thread block that sends to a GPU or receives from one."""
        key = (receive < 0, max(send, receive), channel)
        return self.blocks.setdefault(key, Block(send, receive, channel))

    def before_writing(self, slots: Sequence[Slot]) -> list[Step]:
        """The steps that must be done before slots are written."""
        waits = [wait for slot in slots for wait in self.readers.get(slot, ())]
        return waits + [self.writer[slot] for slot in slots if slot in self.writer]

    def has_read(self, slots: Sequence[Slot], wait: Step) -> None:
        for slot in slots:
            self.readers[slot].append(wait)

    def has_written(self, slots: Sequence[Slot], wait: Step) -> None:
        for slot in slots:
            self.readers.pop(slot, None)
        self.writer.update(dict.fromkeys(slots, wait))


class _Message(NamedTuple):
    """The data of one send: the chunks in their order, and where the sender has them."""

    transfer: Transfer
    channel: int
    chunks: list[int]
    slots: list[Slot]


class Program:
    """The thread blocks of all GPUs; errors as for `Buffers`."""

    def __init__(self, plan: Plan, runtime: Runtime) -> None:
        self.plan = plan
        self.runtime = runtime
        self.buffers = Buffers(plan)
        self._gpus = [_Gpu() for _ in range(plan.gpus)]
        peers: dict[int, set[tuple[bool, int]]] = defaultdict(set)
        for step in range(len(plan.steps)):
            transfers = plan.transfers(step)
            for source, destination in zip(transfers.source.tolist(), transfers.destination.tolist(), strict=True):
                peers[source].add((True, destination))
                peers[destination].add((False, source))
        # A channel serves a few peers of a GPU: those at distances that are near each other.
        most = max(sum(sends for sends, _ in found) for found in peers.values())
        self._groups = 1 if most <= runtime.peers else -(-plan.gpus // runtime.peers)
        size = runtime.message_chunks
        for gpu, (source, destination, chunks) in zip(self._gpus, self.buffers.own_blocks(), strict=False):
            block = gpu.block(0)
            for first in range(0, chunks, size):
                block.add("cpy", _moved(source, first), _moved(destination, first), min(size, chunks - first))
        for step in range(len(plan.steps)):
            self._step(list(plan.transfers(step)))

    def blocks(self) -> list[list[Block]]:
        """By GPU, its thread blocks, by number."""
        return [[block for _, block in sorted(gpu.blocks.items(), key=lambda item: item[0])] for gpu in self._gpus]

    def _step(self, transfers: list[Transfer]) -> None:
        ready = {gpu: self._gpus[gpu].sent + self._gpus[gpu].received for gpu in {one.source for one in transfers}}
        messages = self._messages(transfers, ready)
        senders: dict[int, Step] = {}
        # All sends first: receives of the step must not overwrite data that it sends.
        sources = []
        for message in messages:
            source, done = self._send(message, ready[message.transfer.source])
            sources.append(source)
            senders[message.transfer.source] = done
        for gpu, done in senders.items():
            self._gpus[gpu].sent, self._gpus[gpu].received = [done], []
        for message, source in zip(messages, sources, strict=True):
            self._receive(message, source)

    def _messages(self, transfers: list[Transfer], ready: dict[int, list[Step]]) -> list[_Message]:
        used: dict[tuple[int, int], set[int]] = defaultdict(set)
        found = []
        for one in transfers:
            held = sorted((self.buffers.held(one.source, chunk), chunk) for chunk in one.chunks.tolist())
            for first in range(0, len(held), self.runtime.message_chunks):
                part = held[first : first + self.runtime.message_chunks]
                message = _Message(one, 0, [chunk for _, chunk in part], [slot for slot, _ in part])
                taken = used[one.source, one.destination]
                channel = self._channel(message, ready[one.source], taken)
                taken.add(channel)
                found.append(message._replace(channel=channel))
        return found

    def _channel(self, message: _Message, ready: list[Step], taken: set[int]) -> int:
        """The first channel that no other message of the step goes on and whose thread blocks have room at both ends.

        A message that fits in no thread block, not even in one that is empty, goes where they are empty.
        """
        transfer = message.transfer
        sender, receiver = self._gpus[transfer.source], self._gpus[transfer.destination]
        distance = (transfer.destination - transfer.source) % self.plan.gpus
        group = distance // self.runtime.peers if self._groups > 1 else 0
        for turn in count():
            channel = group + self._groups * turn
            if channel in taken:
                continue
            sends = sender.blocks.get((True, transfer.destination, channel))
            receives = receiver.blocks.get((False, transfer.source, channel))
            if all(block is None or not block.steps for block in (sends, receives)):
                return channel
            lengths = self._lengths(message, ready, sends or Block(-1, -1, channel), receives or Block(-1, -1, channel))
            if max(lengths) <= self.runtime.steps:
                return channel
        raise AssertionError

    def _lengths(self, message: _Message, ready: list[Step], sends: Block, receives: Block) -> tuple[int, int]:
        """Steps of the thread blocks with the message, of the receiver's at most this many."""
        pieces = len(runs(message.slots))
        sent = max(1, len(sends.needed(ready))) + (pieces if pieces > 1 else 0)
        gpu, kept = self._gpus[message.transfer.destination], self._kept(message)
        # Sends and receives of the same step are not there yet: each piece may have to wait for one of each.
        waits = [max(1, len(receives.needed(gpu.before_writing([slot]))) + 2) for slot in kept]
        received = 1 + len(receives.needed(gpu.before_writing(kept))) + 2
        if not self._is_stored_at_once(message, kept):
            received = 1 + sum(waits)
        return sends.length + sent, receives.length + received

    def _kept(self, message: _Message) -> list[Slot]:
        """The place where the receiver keeps chunks of the message, in the order of these."""
        wanted = (self.buffers.wanted(message.transfer.destination, chunk) for chunk in message.chunks)
        return [slot for slot in wanted if slot is not None]

    @staticmethod
    def _is_stored_at_once(message: _Message, kept: list[Slot]) -> bool:
        return len(kept) == len(message.chunks) and len(runs(kept)) == 1

    def _send(self, message: _Message, ready: list[Step]) -> tuple[Slot, Step]:
        """The sender's steps: where the message lies, and the send."""
        gpu = self._gpus[message.transfer.source]
        block = gpu.block(message.channel, send=message.transfer.destination)
        pieces = runs(message.slots)
        source = message.slots[0]
        if len(pieces) > 1:
            source = self.buffers.scratch(message.transfer.source, len(message.slots))
            for first, size in pieces:
                done = block.add("cpy", message.slots[first], _moved(source, first), size, ready)
                gpu.has_read(message.slots[first : first + size], done)
        # The offset at the receiver is in the receiver's own step.
        done = block.add("s", source, source, len(message.slots), ready)
        if len(pieces) == 1:
            gpu.has_read(message.slots, done)
        return source, done

    def _receive(self, message: _Message, source: Slot) -> None:
        """The receiver's steps."""
        transfer = message.transfer
        gpu, buffers = self._gpus[transfer.destination], self.buffers
        block = gpu.block(message.channel, receive=transfer.source)
        kept = self._kept(message)
        reduces = transfer.operation == "reduce"
        size = len(message.chunks)
        if self._is_stored_at_once(message, kept):
            waits = gpu.before_writing(kept)
            if reduces:
                done = block.add("rrc", kept[0], kept[0], size, waits)
            else:
                done = block.add("r", source, kept[0], size, waits)
            gpu.has_written(kept, done)
        else:
            scratch = buffers.scratch(transfer.destination, size)
            done = block.add("r", source, scratch, size)
            stored = []
            for index, chunk in enumerate(message.chunks):
                place = _moved(scratch, index)
                if buffers.wanted(transfer.destination, chunk) is None:
                    buffers.passes(transfer.destination, chunk, place)
                else:
                    stored.append(place)
            for first, number in runs(stored, kept) if kept else ():
                slots = kept[first : first + number]
                waits = gpu.before_writing(slots)
                done = block.add("re" if reduces else "cpy", stored[first], slots[0], number, waits)
                gpu.has_written(slots, done)
        gpu.received.append(done)


def _moved(slot: Slot, by: int) -> Slot:
    return Slot(slot.buffer, slot.offset + by)
