"""Runs MSCCL XML as MSCCL's interpreter does, and returns the content of every buffer at the end.

Written from microsoft/msccl: thread blocks run their steps in order; a step waits until the steps that it names (its
own `depid` and `deps`, and those of the `nop`s before it) are done, which these say by `hasdep`; a connection (source,
destination, channel) is a queue, here of one message, so that whatever needs more room never ends. Which thread block
goes on next is drawn by chance: faults that depend on it are found by running often.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import deque
from dataclasses import dataclass, field
from random import Random

# The content of a slot: which ranks' contributions to which chunk; None if nothing arrived.
Value = tuple[frozenset[int], int] | None
Place = tuple[str, int]
MAX_COUNT, MAX_PEERS_OF_CHANNEL, ROOM = 72, 32, 1


@dataclass
class Step:
    kind: str
    source: Place
    destination: Place
    count: int
    waits: list[tuple[int, int]]
    index: int
    tells: bool


@dataclass
class Block:
    gpu: int
    send: int
    receive: int
    channel: int
    steps: list[Step] = field(default_factory=list)
    next: int = 0
    done: int = -1


class Machine:
    """The GPUs of a program, with their buffers filled as the collective says."""

    def __init__(self, text: str, seed: int) -> None:
        root = ET.fromstring(text)  # noqa: S314 (it is our own)
        assert root.tag == "algo"
        self.random = Random(seed)  # noqa: S311
        self.collective = root.attrib["coll"]
        self.chunks = int(root.attrib["nchunksperloop"])
        self.ranks = int(root.attrib["ngpus"])
        self.root = int(root.attrib.get("root", 0))
        assert {root.attrib["inplace"], root.attrib["outofplace"]} == {"0", "1"}
        assert int(root.attrib["minBytes"]) < int(root.attrib["maxBytes"])
        self.in_place = root.attrib["inplace"] == "1"
        self.share = self.chunks // self.ranks
        self.memory = [self._memory(gpu) for gpu in root]
        self.blocks = [self._block(gpu, tb) for gpu in root for tb in gpu]
        self.by_id = [[block for block in self.blocks if block.gpu == gpu] for gpu in range(self.ranks)]
        assert int(root.attrib["nchannels"]) == 1 + max(block.channel for block in self.blocks)
        self._check_blocks()
        self.queues: dict[tuple[int, int, int], deque[list[Value]]] = {}

    def _memory(self, gpu: ET.Element) -> dict[str, list[Value]]:
        rank = int(gpu.attrib["id"])
        sizes = {name: int(gpu.attrib[f"{name}_chunks"]) for name in "ios"}
        inputs = self.share if self.collective == "allgather" else self.chunks
        outputs = self.share if self.collective == "reducescatter" else self.chunks
        assert (sizes["i"], sizes["o"]) == (inputs, outputs)
        whole: list[Value] = [None] * self.chunks
        mine = frozenset([rank])
        match self.collective:
            case "allreduce" | "reducescatter":
                whole = [(mine, chunk) for chunk in range(self.chunks)]
            case "allgather":
                for chunk in range(rank * self.share, (rank + 1) * self.share):
                    whole[chunk] = (mine, chunk)
            case "broadcast" if rank == self.root:
                whole = [(mine, chunk) for chunk in range(self.chunks)]
        scratch: list[Value] = [None] * sizes["s"]
        if self.in_place:
            return {"i": whole, "o": whole, "s": scratch}
        assert self.collective == "alltoall"
        sent: list[Value] = [
            (mine, (rank * self.ranks + slot // self.share) * self.share + slot % self.share)
            for slot in range(self.chunks)
        ]
        return {"i": sent, "o": whole, "s": scratch}

    def _block(self, gpu: ET.Element, tb: ET.Element) -> Block:
        told = {name: int(value) for name, value in tb.attrib.items()}
        block = Block(int(gpu.attrib["id"]), told["send"], told["recv"], told["chan"])
        assert told["id"] == list(gpu).index(tb)
        waits: list[tuple[int, int]] = []
        for index, step in enumerate(tb):
            told = {
                name: int(step.attrib[name]) for name in ("s", "srcoff", "dstoff", "cnt", "depid", "deps", "hasdep")
            }
            assert told["s"] == index
            if told["depid"] >= 0:
                waits.append((told["depid"], told["deps"]))
            if step.attrib["type"] == "nop":
                assert told["depid"] >= 0, "a nop is there for what it waits on"
                continue
            # "the last reduction must be a part of the first immediate instruction" (the parser).
            assert told["depid"] >= 0 or not waits
            assert 0 < told["cnt"] < MAX_COUNT
            source, destination = (step.attrib["srcbuf"], told["srcoff"]), (step.attrib["dstbuf"], told["dstoff"])
            kind, count = step.attrib["type"], told["cnt"]
            block.steps.append(Step(kind, source, destination, count, waits, index, told["hasdep"] == 1))
            waits = []
        assert not waits
        return block

    def _check_blocks(self) -> None:
        """A connection has one thread block at either end, a channel room for those of a GPU, a wait its step."""
        for blocks in self.by_id:
            for side in ("send", "receive"):
                ends = [(getattr(block, side), block.channel) for block in blocks if getattr(block, side) >= 0]
                assert len(set(ends)) == len(ends)
                for channel in {channel for _, channel in ends}:
                    assert sum(other == channel for _, other in ends) <= MAX_PEERS_OF_CHANNEL
            for block in blocks:
                for step in block.steps:
                    for other, index in step.waits:
                        awaited = [one for one in blocks[other].steps if one.index == index]
                        assert [one.tells for one in awaited] == [True]

    def run(self) -> None:
        """All steps of all thread blocks. Raises `AssertionError` where they wait for each other for ever."""
        waiting = [block for block in self.blocks if block.steps]
        while waiting:
            self.random.shuffle(waiting)
            done = 0
            for block in waiting:
                if self._can_go_on(block):
                    self._do(block)
                    done += 1
            assert done, "thread blocks wait for each other"
            waiting = [block for block in waiting if block.next < len(block.steps)]
        assert not any(self.queues.values()), "messages that nobody receives"

    def _can_go_on(self, block: Block) -> bool:
        if block.next == len(block.steps):
            return False
        step = block.steps[block.next]
        if any(self.by_id[block.gpu][other].done < index for other, index in step.waits):
            return False
        if step.kind == "s":
            return len(self.queues.get((block.gpu, block.send, block.channel), ())) < ROOM
        if step.kind in {"r", "rrc"}:
            return bool(self.queues.get((block.receive, block.gpu, block.channel)))
        return True

    def _do(self, block: Block) -> None:
        step = block.steps[block.next]
        memory = self.memory[block.gpu]
        source, destination = self._slots(memory, step.source, step.count), None
        match step.kind:
            case "s":
                read = [memory[step.source[0]][slot] for slot in source]
                assert None not in read, "a slot is sent before anything is in it"
                self.queues.setdefault((block.gpu, block.send, block.channel), deque()).append(read)
            case "r" | "rrc":
                arrived = self.queues[block.receive, block.gpu, block.channel].popleft()
                assert len(arrived) == step.count
                destination = self._slots(memory, step.destination, step.count)
                held = memory[step.destination[0]]
                for slot, value in zip(destination, arrived, strict=True):
                    held[slot] = added(held[slot], value) if step.kind == "rrc" else value
            case "cpy" | "re":
                destination = self._slots(memory, step.destination, step.count)
                held = memory[step.destination[0]]
                for come, go in zip(source, destination, strict=True):
                    value = memory[step.source[0]][come]
                    held[go] = added(held[go], value) if step.kind == "re" else value
            case kind:
                raise AssertionError(kind)
        block.done = step.index
        block.next += 1

    @staticmethod
    def _slots(memory: dict[str, list[Value]], place: Place, count: int) -> range:
        buffer, offset = place
        assert offset >= 0
        # The other end's offset is told too; it may be beyond this end's scratch.
        assert offset + count <= len(memory[buffer]) or buffer == "s"
        return range(offset, offset + count)

    def check(self) -> None:
        """Every output is the collective's."""
        everybody = frozenset(range(self.ranks))
        for rank, memory in enumerate(self.memory):
            for slot in range(self.chunks):
                found = memory["o"][slot]
                owner, part = divmod(slot, self.share) if self.share else (0, slot)
                match self.collective:
                    case "allreduce":
                        expected: Value = (everybody, slot)
                    case "reducescatter":
                        expected = (everybody, slot)
                        if owner != rank:
                            continue
                    case "allgather":
                        expected = (frozenset([owner]), slot)
                    case "broadcast":
                        expected = (frozenset([self.root]), slot)
                    case _:
                        expected = (frozenset([owner]), (owner * self.ranks + rank) * self.share + part)
                assert found == expected, (rank, slot, found, expected)


def added(one: Value, other: Value) -> Value:
    """The sum of two values, which have no contribution in common."""
    assert one is not None
    assert other is not None
    assert one[1] == other[1], "chunks of different numbers are added"
    assert not one[0] & other[0], "a contribution is added twice"
    return one[0] | other[0], one[1]
