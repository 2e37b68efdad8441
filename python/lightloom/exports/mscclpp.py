"""MSCCL++ execution plans: the JSON that `mscclpp::ExecutionPlan` loads (microsoft/mscclpp, `execution_plan.cc`).

The loader reads no version; what is written here are the keys of its test plans of 2025 (`threadblocks`, `ops`,
`remote_buffers`, `remote_buffer_refs`), not those of plans before (`threadblocks`, `i_cids`, `o_cids`).

A GPU has a memory channel for each of its peers, and as many thread blocks as it has peers at once in a step, or as its
channels need. At the start both ends of a channel signal each other, so that nothing is written to a GPU that is still
busy with the plan's last run. In a step every thread block puts what its peers are sent, signals, and waits for what it
receives. Data go straight to where the receiver wants them where nothing was there before, else to scratch that no
other message uses: there they wait until all thread blocks of the GPU have sent what is to be overwritten (a barrier),
and are then copied or added. A further barrier ends the step.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.exports.buffers import SCRATCH, Buffers, Slot, runs
from lightloom.exports.circuits import side_file
from lightloom.exports.exported import MAIN, SIDE, Exported

if TYPE_CHECKING:
    from lightloom.plans import Plan
    from lightloom.transfers import Transfer

__all__ = ["export"]

COLLECTIVES = {
    "all-reduce": "allreduce",
    "reduce-scatter": "reducescatter",
    "all-gather": "allgather",
    "all-to-all": "alltoall",
    "broadcast": "broadcast",
}
REDUCING = {"all-reduce", "reduce-scatter"}
MEMORY = "memory"
# Of `execution_common.hpp`: pieces, and channels, of an operation; channels and operations of a thread block.
MOST_PIECES, MOST_CHANNELS, MOST_OPERATIONS = 8, 16, 64
# How many times more thread blocks are tried than a GPU needs, where these have too many operations.
SPREADS = (2, 4, 8)
# Bytes that chunks are aligned to.
ALIGNMENT = 16
MOST_BYTES = (1 << 64) - 1

Operation = dict[str, Any]
NOP: Operation = {"name": "nop"}


def export(plan: Plan) -> Exported:
    """The execution plan of a plan and its side file.

    Raises `InputError` that names `plan` where it does not verify, has chunks of unequal sizes, or moves more than 2^22
    of them.
    """
    program = _shortest(plan)
    content = json.dumps(program.document()).encode() + b"\n"
    return Exported({MAIN: content, SIDE: side_file(plan, "mscclpp")}, SIDE, tuple(program.limits()))


def _shortest(plan: Plan) -> _Program:
    """The program on as few thread blocks as have no more operations each than MSCCL++ takes, or the least."""
    best = _Program(plan, 1)
    # Barriers alone are up to two operations of every step, on however many thread blocks.
    spreads = SPREADS if 2 * len(plan.steps) < MOST_OPERATIONS else ()
    for spread in spreads:
        if best.operations() <= MOST_OPERATIONS:
            break
        best = min(best, _Program(plan, spread), key=_Program.operations)
    return best


class _Gpu:
    """The thread blocks of a GPU: the peers of each, in the order of its channels, and its operations."""

    def __init__(self, served: list[list[int]]) -> None:
        self.served = served
        self.block = {peer: index for index, peers in enumerate(served) for peer in peers}
        self.operations: list[list[Operation]] = [[] for _ in served]
        # Buffers of peers that each thread block writes to, in the order of first use.
        self.remote: list[list[tuple[int, str]]] = [[] for _ in served]
        # Slots that hold something; where nothing does, peers may write at once.
        self.used: set[Slot] = set()

    def add(self, peer: int, *operations: Operation) -> None:
        """Append operations to the thread block that serves a peer."""
        self.operations[self.block[peer]] += operations

    def on_channel(self, name: str, peer: int) -> Operation:
        """A signal or wait on the channel to a peer."""
        channel = self.served[self.block[peer]].index(peer)
        return {"name": name, "channel_ids": [channel], "channel_type": MEMORY}

    def greet(self) -> None:
        """Signal all peers, and wait until they have signalled."""
        for peers, operations in zip(self.served, self.operations, strict=True):
            for name in ("signal", "wait"):
                for first in range(0, len(peers), MOST_PIECES):
                    ids = list(range(first, min(first + MOST_PIECES, len(peers))))
                    operations.append({"name": name, "channel_ids": ids, "channel_type": MEMORY})
            operations.append(dict(NOP))

    def synchronise(self) -> None:
        """Every thread block goes on once all have come so far."""
        count = len(self.served)
        barrier = NOP if count == 1 else {"name": "barrier", "barrier_id": 0, "num_threadblocks": count}
        for operations in self.operations:
            operations.append(dict(barrier))

    def remote_buffer(self, peer: int, buffer: str) -> int:
        """The number of a peer's buffer in the thread block that serves the peer."""
        known = self.remote[self.block[peer]]
        if (peer, buffer) not in known:
            known.append((peer, buffer))
        return known.index((peer, buffer))


def _served(steps: list[set[int]], spread: int) -> list[list[int]]:
    """A GPU's peers by thread block, of its peers by step.

    Those of one step are in different blocks as far as can be; a block has no more than its channels serve. There are
    `spread` times as many blocks as that needs, at most one a peer.
    """
    peers = set().union(*steps)
    count = min(len(peers), spread * max(max(map(len, steps), default=0), -(-len(peers) // MOST_CHANNELS)))
    blocks: list[list[int]] = [[] for _ in range(count)]
    block: dict[int, int] = {}
    for step in steps:
        busy = {block[peer] for peer in step if peer in block}
        for peer in sorted(step - block.keys()):
            open_to = [index for index in range(count) if len(blocks[index]) < MOST_CHANNELS]
            block[peer] = min(open_to, key=lambda index: (index in busy, len(blocks[index]), index))
            blocks[block[peer]].append(peer)
            busy.add(block[peer])
    return blocks


class _Stored(NamedTuple):
    """What a message left in scratch, to be copied or added: pieces of scratch, where they go, chunks."""

    peer: int
    operation: str
    pieces: list[tuple[Slot, Slot, int]]


class _Program:
    def __init__(self, plan: Plan, spread: int) -> None:
        self.plan = plan
        self.buffers = Buffers(plan)
        self.reduces = plan.collective in REDUCING
        peers: list[list[set[int]]] = [[] for _ in range(plan.gpus)]
        for step in range(len(plan.steps)):
            transfers = plan.transfers(step)
            at_once: dict[int, set[int]] = defaultdict(set)
            for source, destination in zip(transfers.source.tolist(), transfers.destination.tolist(), strict=True):
                at_once[source].add(destination)
                at_once[destination].add(source)
            for rank, others in at_once.items():
                peers[rank].append(others)
        self.gpus = [_Gpu(_served(steps, spread)) for steps in peers]
        for gpu in self.gpus:
            gpu.greet()
        for gpu, (source, destination, count) in zip(self.gpus, self.buffers.own_blocks(), strict=False):
            if gpu.operations:
                gpu.operations[0].append(_local("copy", [(source, count)], (destination, count)))
        for step in range(len(plan.steps)):
            self._step(list(plan.transfers(step)), is_last=step == len(plan.steps) - 1)

    def _step(self, transfers: list[Transfer], *, is_last: bool) -> None:
        read = {
            (one.source, self.buffers.held(one.source, chunk)) for one in transfers for chunk in one.chunks.tolist()
        }
        stored: dict[int, list[_Stored]] = defaultdict(list)
        between: dict[tuple[int, int], None] = {}
        for one in transfers:
            left = self._put(one, read)
            between[one.source, one.destination] = None
            if left is not None:
                stored[one.destination].append(left)
        for source, destination in between:
            sender = self.gpus[source]
            sender.add(destination, dict(NOP), sender.on_channel("signal", destination))
        for source, destination in between:
            receiver = self.gpus[destination]
            receiver.add(source, receiver.on_channel("wait", source))
        for index in sorted({destination for _, destination in between}):
            gpu = self.gpus[index]
            if stored[index]:
                gpu.synchronise()
                self._apply(gpu, stored[index])
            if not is_last:
                gpu.synchronise()

    def _put(self, transfer: Transfer, read: set[tuple[int, Slot]]) -> _Stored | None:
        """Write a transfer's chunks to the receiver; what it still has to do with them."""
        source, destination, buffers = transfer.source, transfer.destination, self.buffers
        receiver = self.gpus[destination]
        held = sorted((buffers.held(source, chunk), chunk) for chunk in transfer.chunks.tolist())
        chunks = [chunk for _, chunk in held]
        wanted = [buffers.wanted(destination, chunk) for chunk in chunks]
        free = [
            not self.reduces and slot is not None and slot not in receiver.used and (destination, slot) not in read
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
        sender = self.gpus[source]
        by_buffer: dict[str, list[tuple[Slot, Slot, int]]] = defaultdict(list)
        for first, count in runs(slots, places):
            by_buffer[slots[first].buffer].append((slots[first], places[first], count))
        # The pieces of one operation come from one buffer (handlePut).
        for pieces in by_buffer.values():
            for first in range(0, len(pieces), MOST_PIECES):
                sender.add(destination, self._put_operation(sender, destination, pieces[first : first + MOST_PIECES]))
        if not left:
            return None
        come, go = [come for come, _ in left], [go for _, go in left]
        return _Stored(source, transfer.operation, [(come[first], go[first], count) for first, count in runs(come, go)])

    @staticmethod
    def _put_operation(sender: _Gpu, peer: int, pieces: list[tuple[Slot, Slot, int]]) -> Operation:
        return {
            "name": "put",
            "src_buff": [_piece(slot, count) for slot, _, count in pieces],
            "dst_buff": [
                {"buffer_id": sender.remote_buffer(peer, place.buffer), "index": place.offset, "size": count}
                for _, place, count in pieces
            ],
            "channel_type": MEMORY,
        }

    @staticmethod
    def _apply(gpu: _Gpu, stored: list[_Stored]) -> None:
        """Copy or add what came; by one thread block, in turn, where messages meet in a slot."""
        slots = [Slot(go.buffer, go.offset + k) for one in stored for _, go, count in one.pieces for k in range(count)]
        meet = len(set(slots)) < len(slots)
        for index, one in enumerate(stored):
            operations = gpu.operations[0 if meet else gpu.block[one.peer]]
            if meet and index:
                operations.append(dict(NOP))
            for come, go, count in one.pieces:
                if one.operation == "reduce":
                    operations.append(_local("re", [(go, count), (come, count)], (go, count)) | {"reduce_op": "sum"})
                else:
                    operations.append(_local("copy", [(come, count)], (go, count)))

    def document(self) -> dict[str, Any]:
        """The execution plan."""
        return {
            "name": f"lightloom {self.plan.algorithm} {self.plan.planner}",
            "collective": COLLECTIVES[self.plan.collective],
            "protocol": "Simple",
            "inplace": self.buffers.is_in_place,
            "reuse_resources": False,
            "gpus": [self._gpu(index, gpu) for index, gpu in enumerate(self.gpus)],
            "num_threads_per_block": 1024,
            "use_double_scratch_buffer": False,
            "buffer_alignment": ALIGNMENT,
            "min_message_size": 0,
            "max_message_size": MOST_BYTES,
        }

    def _gpu(self, index: int, gpu: _Gpu) -> dict[str, Any]:
        inputs, outputs, scratch = self.buffers.sizes(index)
        peers = sorted(gpu.block)
        remote = [one for known in gpu.remote for one in known]
        blocks = []
        for number, (served, operations) in enumerate(zip(gpu.served, gpu.operations, strict=True)):
            ids = [remote.index(one) for one in gpu.remote[number]]
            channels = [peers.index(peer) for peer in served]
            blocks.append(
                {
                    "id": number,
                    "ops": operations,
                    "channels": [{"channel_type": MEMORY, "channel_ids": channels}],
                    "remote_buffer_refs": [{"access_channel_type": MEMORY, "remote_buffer_ids": ids}] if ids else [],
                }
            )
        return {
            "id": index,
            "input_chunks": inputs,
            "output_chunks": outputs,
            "scratch_chunks": scratch,
            "threadblocks": blocks,
            "channels": [{"channel_type": MEMORY, "connected_to": peers}],
            "remote_buffers": [
                {"rank": peer, "type": buffer, "access_channel_types": [MEMORY]} for peer, buffer in remote
            ],
            "semaphores": [],
        }

    def operations(self) -> int:
        """Operations of the thread block that has most."""
        return max(len(operations) for gpu in self.gpus for operations in gpu.operations)

    def limits(self) -> list[str]:
        """What of the plan is beyond what MSCCL++ is built with, or sizes that it refuses."""
        found = []
        most = self.operations()
        if most > MOST_OPERATIONS:
            found.append(
                f"a thread block has {most} operations; MSCCL++ takes {MOST_OPERATIONS} unless it is built for more"
            )
        if self.plan.size_bytes % (self.buffers.per_buffer * ALIGNMENT):
            found.append(
                f"MSCCL++ takes chunks of whole {ALIGNMENT} bytes, of which a buffer has {self.buffers.per_buffer}"
            )
        return found


def _piece(slot: Slot, count: int) -> dict[str, Any]:
    return {"type": slot.buffer, "index": slot.offset, "size": count}


def _local(name: str, sources: list[tuple[Slot, int]], destination: tuple[Slot, int]) -> Operation:
    return {"name": name, "src_buff": [_piece(*one) for one in sources], "dst_buff": [_piece(*destination)]}
