"""Loads MSCCL++ execution plans as MSCCL++ does and runs them, and returns the content of every buffer at the end.

Written from microsoft/mscclpp: `execution_plan.cc` for the meaning of the numbers (channels and remote buffers of a
thread block, by the GPU's), `execution_kernel.hpp` for what operations do. A signal is counted at its channel's other
end; a barrier is passed when all thread blocks have come to it. The threads of a block go on by themselves: whatever
follows what other threads did needs a `nop` or `barrier` before it. What is put or signalled on a port channel goes
into the queue of the GPU's proxy, which takes one after the other at any time, and reads the data only then; `pwsf`
ends when the proxy has come to it. Which thread block or proxy goes on next is drawn by chance. A plan is run twice in
a row, by GPUs that are not in step.
"""

from __future__ import annotations

from collections import Counter, deque
from random import Random
from typing import Any

Value = tuple[frozenset[int], int] | None
MAX_PIECES, MAX_CHANNELS, MAX_BARRIERS = 8, 16, 16
MEMORY, PORT = "memory", "port"
SYNCHRONISING = {"nop", "barrier"}


class Machine:
    def __init__(self, document: dict[str, Any], seed: int, runs: int = 2) -> None:
        self.random = Random(seed)  # noqa: S311
        self.collective = document["collective"]
        self.in_place = document["inplace"]
        assert document["protocol"] == "Simple"
        assert document["min_message_size"] <= document["max_message_size"] < 1 << 64
        self.gpus = document["gpus"]
        self.ranks = len(self.gpus)
        self.runs = runs
        assert [gpu["id"] for gpu in self.gpus] == list(range(self.ranks))
        self.chunks = max(max(gpu["input_chunks"], gpu["output_chunks"]) for gpu in self.gpus)
        self.share = self.chunks // self.ranks
        self.memory = [self._memory(rank) for rank in range(self.ranks)]
        self.blocks = [(rank, block) for rank, gpu in enumerate(self.gpus) for block in gpu["threadblocks"]]
        for rank, block in self.blocks:
            self._check(rank, block)
        # Signals that came and were not waited for, by (receiver, sender).
        self.signals: Counter[tuple[int, int]] = Counter()
        # Thread blocks that are at a barrier, by (GPU, barrier), and those that may pass.
        self.waiting: dict[tuple[int, int], set[tuple[int, int]]] = {}
        self.open: set[tuple[int, int]] = set()
        # The work left for the proxy of each GPU: the thread block, its operation, and which of its pieces; how many
        # it was given, and how many it has done. By thread block, what its `pwsf` waits for.
        self.queues: list[deque[tuple[int, dict[str, Any], int]]] = [deque() for _ in self.gpus]
        self.given, self.taken = [0] * self.ranks, [0] * self.ranks
        self.flushing: dict[int, int] = {}

    def _memory(self, rank: int) -> dict[str, list[Value]]:
        gpu, mine = self.gpus[rank], frozenset([rank])
        scratch: list[Value] = [None] * gpu["scratch_chunks"]
        inputs = self.share if self.collective == "allgather" else self.chunks
        outputs = self.share if self.collective == "reducescatter" else self.chunks
        assert (gpu["input_chunks"], gpu["output_chunks"]) == (inputs, outputs)
        whole: list[Value] = [None] * self.chunks
        match self.collective:
            case "allreduce" | "reducescatter":
                whole = [(mine, chunk) for chunk in range(self.chunks)]
            case "allgather":
                for chunk in range(rank * self.share, (rank + 1) * self.share):
                    whole[chunk] = (mine, chunk)
            case "broadcast" if rank == 0:
                whole = [(mine, chunk) for chunk in range(self.chunks)]
        if self.in_place:
            return {"i": whole, "o": whole, "s": scratch}
        block = self.share
        sent: list[Value] = [
            (mine, (rank * self.ranks + slot // block) * block + slot % block) for slot in range(self.chunks)
        ]
        return {"i": sent, "o": whole, "s": scratch}

    def _peer(self, rank: int, block: dict[str, Any], channel: int, kind: str) -> int:
        """The GPU at the other end of a thread block's channel: channels of a type are numbered peer by peer."""
        ids = [one for told in block["channels"] if told["channel_type"] == kind for one in told["channel_ids"]]
        channels = self.gpus[rank]["channels"]
        peers = [peer for told in channels if told["channel_type"] == kind for peer in told["connected_to"]]
        return int(peers[ids[channel]])

    def _remote(self, rank: int, block: dict[str, Any], buffer: int, kind: str) -> tuple[int, str]:
        references = [told for told in block["remote_buffer_refs"] if told["access_channel_type"] == kind]
        ids = [one for told in references for one in told["remote_buffer_ids"]]
        told = self.gpus[rank]["remote_buffers"][ids[buffer]]
        assert told["access_channel_types"] == [kind]
        return told["rank"], told["type"]

    def _check(self, rank: int, block: dict[str, Any]) -> None:
        """Check `nop`s of threads, channels in both directions, and lengths of operations."""
        assert self.gpus[rank]["threadblocks"][block["id"]] is block
        for kind in (MEMORY, PORT):
            references = [one for one in block["remote_buffer_refs"] if one["access_channel_type"] == kind]
            assert sum(len(one["remote_buffer_ids"]) for one in references) <= MAX_CHANNELS
            count = sum(len(one["channel_ids"]) for one in block["channels"] if one["channel_type"] == kind)
            assert count <= MAX_CHANNELS
            for channel in range(count):
                peer = self._peer(rank, block, channel, kind)
                listed = [one for one in self.gpus[peer]["channels"] if one["channel_type"] == kind]
                assert [one for told in listed for one in told["connected_to"]].count(rank) == 1
        assert all(op["barrier_id"] < MAX_BARRIERS for op in block["ops"] if op["name"] == "barrier")
        has_copied = has_waited = has_given = False
        assert all(len(op.get("channel_ids", ())) <= MAX_PIECES for op in block["ops"])
        written: set[tuple[str, int]] = set()
        for op in block["ops"]:
            if op["name"] in SYNCHRONISING:
                has_copied = has_waited = has_given = False
                written = set()
            elif op["name"] == "pwsf":
                assert op["channel_type"] == PORT, "by memory it puts and does not signal"
                assert len(op["src_buff"]) == len(op["dst_buff"]) == len(op["channel_ids"]) == 1
                assert not has_waited
                assert not has_given, "the proxy may come to it before what other threads give it"
                assert not written & slots(op["src_buff"][0])
            elif op["name"] == "signal":
                assert not has_copied, "a signal may come before what other threads write"
            elif op["name"] == "wait":
                has_waited = True
            else:
                assert not has_waited, "threads that do not wait go on at once"
                assert len(op["src_buff"]) <= MAX_PIECES
                assert len(op["dst_buff"]) <= MAX_PIECES
                has_copied = True
                if op.get("channel_type") == PORT:
                    has_given = True
                    assert len(op["channel_ids"]) == len(op["src_buff"])
                for piece in op["src_buff"]:
                    assert not written & slots(piece), "threads read what others have not written yet"
                for piece in op["dst_buff"]:
                    written |= slots(piece) if "type" in piece else set()

    def run(self) -> None:
        """All operations of all thread blocks, again and again; a GPU begins anew when all its blocks have ended."""
        places = [0] * len(self.blocks)
        rounds = [0] * self.ranks
        while any(done < self.runs for done in rounds):
            ready = [
                index
                for index, (rank, block) in enumerate(self.blocks)
                if rounds[rank] < self.runs
                and places[index] < len(block["ops"])
                and self._can_go_on(index, places[index])
            ]
            ended = [
                rank
                for rank in range(self.ranks)
                if rounds[rank] < self.runs
                and all(places[i] == len(b["ops"]) for i, (r, b) in enumerate(self.blocks) if r == rank)
            ]
            proxies = [rank for rank, queue in enumerate(self.queues) if queue]
            assert ready or ended or proxies, "thread blocks wait for each other"
            if proxies and (not ready or self.random.random() < 0.5):
                self._proxy(self.random.choice(proxies))
                continue
            for rank in ended:
                assert not self.queues[rank], "buffers are given back before they are sent"
                self.check(rank)
                rounds[rank] += 1
                self.memory[rank] = self._memory(rank)
                for index, (other, _) in enumerate(self.blocks):
                    places[index] = 0 if other == rank and rounds[rank] < self.runs else places[index]
            if ready:
                index = self.random.choice(ready)
                op = self.blocks[index][1]["ops"][places[index]]
                if op.get("channel_type") == PORT and op["name"] != "wait":
                    self._do_by_proxy(index, op)
                else:
                    self._do(index, places[index])
                places[index] += 1
        assert not +self.signals

    def _can_go_on(self, index: int, place: int) -> bool:
        rank, block = self.blocks[index]
        op = block["ops"][place]
        if op["name"] == "wait":
            kind = op["channel_type"]
            return all(self.signals[rank, self._peer(rank, block, channel, kind)] for channel in op["channel_ids"])
        if op["name"] == "pwsf":
            if index not in self.flushing:
                self._give(index, op, 0)
                self.flushing[index] = self.given[rank]
            return self.taken[rank] >= self.flushing[index]
        if op["name"] == "barrier":
            key = (rank, op["barrier_id"])
            if (index, place) not in self.open:
                self.waiting.setdefault(key, set()).add((index, place))
                if len(self.waiting[key]) == op["num_threadblocks"]:
                    self.open |= self.waiting.pop(key)
            return (index, place) in self.open
        return True

    def _do(self, index: int, place: int) -> None:
        rank, block = self.blocks[index]
        op = block["ops"][place]
        match op["name"]:
            case "nop":
                pass
            case "barrier":
                self.open.discard((index, place))
            case "signal":
                for channel in op["channel_ids"]:
                    self.signals[self._peer(rank, block, channel, MEMORY), rank] += 1
            case "wait":
                for channel in op["channel_ids"]:
                    self.signals[rank, self._peer(rank, block, channel, op["channel_type"])] -= 1
            case "put":
                assert len({piece["type"] for piece in op["src_buff"]}) == 1
                for come, go in zip(op["src_buff"], op["dst_buff"], strict=True):
                    peer, buffer = self._remote(rank, block, go["buffer_id"], MEMORY)
                    (served,) = [one for one in block["channels"] if one["channel_type"] == MEMORY]
                    channels = range(len(served["channel_ids"]))
                    assert peer in {self._peer(rank, block, channel, MEMORY) for channel in channels}
                    self._write(peer, buffer, go, self._read(rank, come))
            case "copy":
                (come,), (go,) = op["src_buff"], op["dst_buff"]
                self._write(rank, go["type"], go, self._read(rank, come))
            case "re":
                assert op["reduce_op"] == "sum"
                values = [self._read(rank, piece) for piece in op["src_buff"]]
                (go,) = op["dst_buff"]
                sums = values[0]
                for more in values[1:]:
                    sums = [added(one, other) for one, other in zip(sums, more, strict=True)]
                self._write(rank, go["type"], go, sums)
            case name:
                raise AssertionError(name)

    def _do_by_proxy(self, index: int, op: dict[str, Any]) -> None:
        if op["name"] == "pwsf":
            # It was given when the block came to it.
            del self.flushing[index]
            return
        # Each by a thread of its own.
        numbers = list(range(len(op["channel_ids"])))
        self.random.shuffle(numbers)
        for number in numbers:
            self._give(index, op, number)

    def _give(self, index: int, op: dict[str, Any], number: int) -> None:
        rank, _ = self.blocks[index]
        self.queues[rank].append((index, op, number))
        self.given[rank] += 1

    def _proxy(self, rank: int) -> None:
        """The next work of a GPU's proxy."""
        index, op, number = self.queues[rank].popleft()
        _, block = self.blocks[index]
        peer = self._peer(rank, block, op["channel_ids"][number], PORT)
        if op["name"] in {"put", "pwsf"}:
            go = op["dst_buff"][number]
            other, buffer = self._remote(rank, block, go["buffer_id"], PORT)
            assert other == peer, "a signal tells of what went on its own channel"
            self._write(peer, buffer, go, self._read(rank, op["src_buff"][number]))
        if op["name"] in {"signal", "pwsf"}:
            self.signals[peer, rank] += 1
        self.taken[rank] += 1

    def _read(self, rank: int, piece: dict[str, Any]) -> list[Value]:
        held = self.memory[rank][piece["type"]][piece["index"] : piece["index"] + piece["size"]]
        assert len(held) == piece["size"]
        assert None not in held, "a slot is read before anything is in it"
        return held

    def _write(self, rank: int, buffer: str, piece: dict[str, Any], values: list[Value]) -> None:
        assert len(values) == piece["size"]
        held = self.memory[rank][buffer]
        assert piece["index"] + piece["size"] <= len(held)
        held[piece["index"] : piece["index"] + piece["size"]] = values

    def check(self, rank: int) -> None:
        """A GPU's output is the collective's."""
        everybody = frozenset(range(self.ranks))
        for slot in range(self.chunks):
            found = self.memory[rank]["o"][slot]
            owner, part = divmod(slot, self.share) if self.share else (0, slot)
            match self.collective:
                case "allreduce":
                    expected: Value = (everybody, slot)
                case "reducescatter":
                    expected = (everybody, slot) if owner == rank else found
                case "allgather":
                    expected = (frozenset([owner]), slot)
                case "broadcast":
                    expected = (frozenset([0]), slot)
                case _:
                    expected = (frozenset([owner]), (owner * self.ranks + rank) * self.share + part)
            assert found == expected, (rank, slot, found, expected)


def slots(piece: dict[str, Any]) -> set[tuple[str, int]]:
    """The slots of a piece of one of the GPU's own buffers."""
    return {(piece["type"], piece["index"] + offset) for offset in range(piece["size"])}


def added(one: Value, other: Value) -> Value:
    """The sum of two values, which have no contribution in common."""
    assert one is not None
    assert other is not None
    assert one[1] == other[1], "chunks of different numbers are added"
    assert not one[0] & other[0], "a contribution is added twice"
    return one[0] | other[0], one[1]
