"""The thread blocks of a plan as MSCCL++ runs it, within the limits that its executor is built with.

A GPU has a channel for each of its peers, and as many thread blocks as it has peers at once in a step, or as its
channels need. At the start both ends of a channel signal each other, so that nothing is written to a GPU that is still
busy with the plan's last run. In a step every thread block puts its peers' data, signals, and waits for the data that
it receives. Data go straight to where the receiver wants them where nothing was there before, else to scratch that no
other message uses, from where they are copied or added; where another thread block of the GPU sends data to be
overwritten, a barrier comes before. A further barrier ends the step.

Where a thread block would have more operations than the executor takes, further thread blocks go on in its place from
the end of a step on: a barrier of both, at the end of one and at the start of the other, keeps them apart. Channels are
the same, since their counters are in the GPU's memory.

GPUs that share memory have memory channels, others port channels: there the host's proxy sends, and signals, when the
thread block has gone on. The last piece of a message therefore is put, signalled and flushed in one (`pwsf`), so that
sent data may be overwritten.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.formats.buffers import SCRATCH, Buffers, Slot, runs

if TYPE_CHECKING:
    from lightloom.plans import Plan
    from lightloom.plans.transfers import Transfer

__all__ = ["MEMORY", "MOST_BARRIERS", "MOST_OPERATIONS", "PORT", "Operation", "Program"]

REDUCING = {"all-reduce", "reduce-scatter"}
MEMORY, PORT = "memory", "port"
# Limits in `execution_common.hpp`: pieces, and channels, of an operation; channels, buffers of peers and operations of
# a thread block; barriers.
MOST_PIECES, MOST_CHANNELS, MOST_OPERATIONS, MOST_BARRIERS = 8, 16, 64, 16
# Number of a peer's buffers that are written to: in AllReduce and ReduceScatter its scratch, in others its output, too.
BUFFERS_OF_PEER = 2

Operation = dict[str, Any]
NOP: Operation = {"name": "nop"}
# A message's pieces: the source slot, the destination slot and the number of chunks of each.
Pieces = list[tuple[Slot, Slot, int]]


class Gpu:
    """The thread blocks of a GPU: the peers of each, in the order of its channels, and its operations by step."""

    def __init__(self, rank: int, served: list[list[int]], gpus_per_host: int) -> None:
        self.rank = rank
        self.served = served
        self.block = {peer: index for index, peers in enumerate(served) for peer in peers}
        # By step, and before the first one, the operations of each thread block.
        self.steps: list[list[list[Operation]]] = [[[] for _ in served]]
        # Buffers of peers that each thread block writes to, in the order of first use.
        self.remote: list[list[tuple[int, str]]] = [[] for _ in served]
        # Slots that hold something; where nothing does, peers may write at once.
        self.used: set[Slot] = set()
        self._gpus_per_host = gpus_per_host

    @property
    def operations(self) -> list[list[Operation]]:
        """The operations of the current step, by thread block."""
        return self.steps[-1]

    def kind(self, peer: int) -> str:
        """The type of the channel to a peer."""
        return MEMORY if peer // self._gpus_per_host == self.rank // self._gpus_per_host else PORT

    def peers(self, kind: str, block: int) -> list[int]:
        """The peers that a thread block has channels of a type to, in the order of these."""
        return [peer for peer in self.served[block] if self.kind(peer) == kind]

    def buffers(self, kind: str, block: int) -> list[tuple[int, str]]:
        """The buffers of peers that a thread block writes to by channels of a type, in the order of their numbers."""
        return [one for one in self.remote[block] if self.kind(one[0]) == kind]

    def begin(self) -> None:
        """Go on to the next step."""
        self.steps.append([[] for _ in self.served])

    def add(self, peer: int, *operations: Operation) -> None:
        """Append operations to the thread block that serves a peer."""
        self.operations[self.block[peer]] += operations

    def channel(self, peer: int) -> int:
        """The number of the channel to a peer in the thread block that serves it, among those of its type."""
        return self.peers(self.kind(peer), self.block[peer]).index(peer)

    def on_channel(self, name: str, peer: int) -> Operation:
        """A signal or wait on the channel to a peer."""
        return {"name": name, "channel_ids": [self.channel(peer)], "channel_type": self.kind(peer)}

    def greet(self) -> None:
        """Signal all peers, and wait until they have signalled."""
        for block, operations in enumerate(self.operations):
            for name in ("signal", "wait"):
                for kind in (MEMORY, PORT):
                    count = len(self.peers(kind, block))
                    for first in range(0, count, MOST_PIECES):
                        ids = list(range(first, min(first + MOST_PIECES, count)))
                        operations.append({"name": name, "channel_ids": ids, "channel_type": kind})
            operations.append(dict(NOP))

    def synchronise(self) -> None:
        """Every thread block goes on once all have come so far."""
        count = len(self.served)
        for operations in self.operations:
            operations.append(dict(NOP) if count == 1 else barrier(0, count))

    def send(self, peer: int, pieces: Pieces) -> None:
        """Write a message's pieces to a peer, and signal that they are there."""
        kind, is_port = self.kind(peer), self.kind(peer) == PORT
        by_buffer: dict[str, Pieces] = defaultdict(list)
        for piece in pieces:
            by_buffer[piece[0].buffer].append(piece)
        *others, last = by_buffer.values()
        if is_port:
            others, last = [*others, last[:-1]], last[-1:]
        # The pieces of one operation come from one buffer (handlePut).
        for group in others if is_port else [*others, last]:
            for first in range(0, len(group), MOST_PIECES):
                self.add(peer, self._put("put", peer, group[first : first + MOST_PIECES]))
        if not is_port:
            self.add(peer, dict(NOP), {"name": "signal", "channel_ids": [self.channel(peer)], "channel_type": kind})
            return
        if any(others):
            # The puts of the threads go into the proxy's queue before the signal does.
            self.add(peer, dict(NOP))
        self.add(peer, self._put("pwsf", peer, last))

    def _put(self, name: str, peer: int, pieces: Pieces) -> Operation:
        told: Operation = {
            "name": name,
            "src_buff": [piece(slot, count) for slot, _, count in pieces],
            "dst_buff": [
                {"buffer_id": self._remote_buffer(peer, place.buffer), "index": place.offset, "size": count}
                for _, place, count in pieces
            ],
            "channel_type": self.kind(peer),
        }
        if told["channel_type"] == PORT:
            told["channel_ids"] = [self.channel(peer)] * len(pieces)
        return told

    def _remote_buffer(self, peer: int, buffer: str) -> int:
        """The number of a peer's buffer in the thread block that serves the peer, among those of its channel's type."""
        block = self.block[peer]
        if (peer, buffer) not in self.remote[block]:
            self.remote[block].append((peer, buffer))
        return self.buffers(self.kind(peer), block).index((peer, buffer))

    def shifts(self) -> list[list[list[Operation]]]:
        """The operations of each thread block, and of those that go on in their place, shift by shift.

        Steps are not divided: one of more operations than fit is a shift of its own.
        """
        count = len(self.served)
        shifts: list[list[list[Operation]]] = [[[] for _ in self.served]]
        for index, step in enumerate(self.steps):
            longest = max((len(now) + len(more) for now, more in zip(shifts[-1], step, strict=True)), default=0)
            # A shift that is not the last needs one more operation: the barrier before the next one.
            if longest + (index + 1 < len(self.steps)) > MOST_OPERATIONS and any(shifts[-1]):
                number = len(shifts)
                for operations in shifts[-1]:
                    operations.append(barrier(number, 2 * count))
                shifts.append([[barrier(number, 2 * count)] for _ in self.served])
            for operations, more in zip(shifts[-1], step, strict=True):
                operations.extend(more)
        return shifts


class _Stored(NamedTuple):
    """Data that a message left in scratch, to be copied or added: pieces of scratch, where they go, chunks."""

    peer: int
    operation: str
    pieces: Pieces


class Program:
    """The thread blocks of all GPUs; errors as for `Buffers`.

    spread: how many times more thread blocks a GPU has than it needs. gpus_per_host: consecutive GPUs that share
    memory.
    """

    def __init__(self, plan: Plan, spread: int, gpus_per_host: int) -> None:
        self.plan = plan
        self.buffers = Buffers(plan)
        self._reduces = plan.collective in REDUCING
        peers: list[list[set[int]]] = [[] for _ in range(plan.gpus)]
        for step in range(len(plan.steps)):
            transfers = plan.transfers(step)
            at_once: dict[int, set[int]] = defaultdict(set)
            for source, destination in zip(transfers.source.tolist(), transfers.destination.tolist(), strict=True):
                at_once[source].add(destination)
                at_once[destination].add(source)
            for rank, others in at_once.items():
                peers[rank].append(others)
        room = MOST_CHANNELS if self._reduces else MOST_CHANNELS // BUFFERS_OF_PEER
        self.gpus = [Gpu(rank, _served(steps, spread, room), gpus_per_host) for rank, steps in enumerate(peers)]
        for gpu in self.gpus:
            gpu.greet()
        for gpu, (source, destination, count) in zip(self.gpus, self.buffers.own_blocks(), strict=False):
            if gpu.operations:
                gpu.operations[0].append(_local("copy", [(source, count)], (destination, count)))
        for step in range(len(plan.steps)):
            self._step(list(plan.transfers(step)), is_last=step == len(plan.steps) - 1)
        # By GPU and shift, the operations of each thread block.
        self.shifts = [gpu.shifts() for gpu in self.gpus]

    def operations(self) -> int:
        """Operations of the thread block that has most."""
        return max(len(one) for shifts in self.shifts for shift in shifts for one in shift)

    def _step(self, transfers: list[Transfer], *, is_last: bool) -> None:
        # Thread blocks of a GPU that send the content of a slot.
        read: dict[tuple[int, Slot], set[int]] = defaultdict(set)
        for one in transfers:
            for chunk in one.chunks.tolist():
                read[one.source, self.buffers.held(one.source, chunk)].add(self.gpus[one.source].block[one.destination])
        stored: dict[int, list[_Stored]] = defaultdict(list)
        sent: dict[tuple[int, int], Pieces] = defaultdict(list)
        for gpu in self.gpus:
            gpu.begin()
        for one in transfers:
            pieces, left = self._placed(one, read)
            sent[one.source, one.destination] += pieces
            if left is not None:
                stored[one.destination].append(left)
        for (source, destination), pieces in sent.items():
            self.gpus[source].send(destination, pieces)
        for source, destination in sent:
            receiver = self.gpus[destination]
            receiver.add(source, receiver.on_channel("wait", source))
        for index in sorted({destination for _, destination in sent}):
            gpu = self.gpus[index]
            if stored[index]:
                self._apply(gpu, stored[index], read)
            if not is_last:
                gpu.synchronise()

    def _placed(self, transfer: Transfer, read: dict[tuple[int, Slot], set[int]]) -> tuple[Pieces, _Stored | None]:
        """Pieces of a transfer's chunks, and the work left for the receiver."""
        source, destination, buffers = transfer.source, transfer.destination, self.buffers
        receiver = self.gpus[destination]
        held = sorted((buffers.held(source, chunk), chunk) for chunk in transfer.chunks.tolist())
        chunks = [chunk for _, chunk in held]
        wanted = [buffers.wanted(destination, chunk) for chunk in chunks]
        free = [
            not self._reduces and slot is not None and slot not in receiver.used and (destination, slot) not in read
            for slot in wanted
        ]
        scratch = buffers.scratch(destination, free.count(False)).offset
        places: list[Slot] = []
        left: list[tuple[Slot, Slot]] = []
        for chunk, slot, is_free in zip(chunks, wanted, free, strict=True):
            if slot is not None and is_free:
                places.append(slot)
                receiver.used.add(slot)
                continue
            places.append(Slot(SCRATCH, scratch))
            scratch += 1
            if slot is None:
                buffers.passes(destination, chunk, places[-1])
            else:
                left.append((places[-1], slot))
                receiver.used.add(slot)
        slots = [slot for slot, _ in held]
        pieces = [(slots[first], places[first], count) for first, count in runs(slots, places)]
        if not left:
            return pieces, None
        come, go = [come for come, _ in left], [go for _, go in left]
        stored = [(come[first], go[first], count) for first, count in runs(come, go)]
        return pieces, _Stored(source, transfer.operation, stored)

    @staticmethod
    def _apply(gpu: Gpu, stored: list[_Stored], read: dict[tuple[int, Slot], set[int]]) -> None:
        """Copy or add received data; by one thread block, in turn, where messages meet in a slot."""
        written = [
            (Slot(go.buffer, go.offset + k), gpu.block[one.peer])
            for one in stored
            for _, go, count in one.pieces
            for k in range(count)
        ]
        meet = len({slot for slot, _ in written}) < len(written)
        if meet or any(read.get((gpu.rank, slot), set()) - {block} for slot, block in written):
            gpu.synchronise()
        else:
            # Threads of a block go on by themselves.
            for block in sorted({block for _, block in written}):
                gpu.operations[block].append(dict(NOP))
        for index, one in enumerate(stored):
            operations = gpu.operations[0 if meet else gpu.block[one.peer]]
            if meet and index:
                operations.append(dict(NOP))
            for come, go, count in one.pieces:
                if one.operation == "reduce":
                    operations.append(_local("re", [(go, count), (come, count)], (go, count)) | {"reduce_op": "sum"})
                else:
                    operations.append(_local("copy", [(come, count)], (go, count)))


def _served(steps: list[set[int]], spread: int, room: int) -> list[list[int]]:
    """A GPU's peers by thread block, of its peers by step.

    Messages of one step are in different blocks as far as possible; a block has at most `room`. There are `spread`
    times as many blocks as that needs, at most one a peer.
    """
    peers = set().union(*steps)
    count = min(len(peers), spread * max(max(map(len, steps), default=0), -(-len(peers) // room)))
    blocks: list[list[int]] = [[] for _ in range(count)]
    block: dict[int, int] = {}
    for step in steps:
        busy = {block[peer] for peer in step if peer in block}
        for peer in sorted(step - block.keys()):
            open_to = [index for index in range(count) if len(blocks[index]) < room]
            block[peer] = min(open_to, key=lambda index: (index in busy, len(blocks[index]), index))
            blocks[block[peer]].append(peer)
            busy.add(block[peer])
    return blocks


def barrier(number: int, blocks: int) -> Operation:
    """A barrier of this many thread blocks."""
    return {"name": "barrier", "barrier_id": number, "num_threadblocks": blocks}


def piece(slot: Slot, count: int) -> dict[str, Any]:
    """Chunks in a row of a GPU's own buffer."""
    return {"type": slot.buffer, "index": slot.offset, "size": count}


def _local(name: str, sources: list[tuple[Slot, int]], destination: tuple[Slot, int]) -> Operation:
    return {"name": name, "src_buff": [piece(*one) for one in sources], "dst_buff": [piece(*destination)]}
