"""Chakra traces decoded from their bytes and run, with symbols for data: who holds whose contribution to which chunk.

Written from the schema (mlcommons/chakra, schema/protobuf/et_def.proto), the encoding of Protocol Buffers, and what
ASTRA-sim does with a node: it begins when all that its `data_deps` name has ended; a send ends at once; a receive ends
when the message with its source, destination and tag is there. Which of the nodes that can begin does so is chosen at
random, so that a dependency that is missing shows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

COMPUTE, SEND, RECEIVE = 4, 5, 6
EVERYBODY = -1
Contributors = frozenset[int]


@dataclass
class Node:
    """A node of the schema, with the fields that are read here."""

    id: int = 0
    kind: int = 0
    waits_for: set[int] = field(default_factory=set)
    values: dict[str, Any] = field(default_factory=dict)


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _fields(content: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(content):
        key, at = _varint(content, at)
        match key & 7:
            case 0:
                value, at = _varint(content, at)
                yield key >> 3, value
            case 1:
                yield key >> 3, content[at : at + 8]
                at += 8
            case 2:
                size, at = _varint(content, at)
                yield key >> 3, content[at : at + size]
                at += size
            case other:
                raise AssertionError(f"wire type {other}")


def _numbers(content: bytes) -> list[int]:
    at, numbers = 0, []
    while at < len(content):
        value, at = _varint(content, at)
        numbers.append(_signed(value))
    return numbers


def _attribute(content: bytes) -> tuple[str, Any]:
    name = ""
    value: Any = None
    for number, found in _fields(content):
        match number:
            case 1:
                name = found.decode()
            case 7 | 9:
                value = _signed(found)
            case 13:
                value = found
            case 27:
                value = bool(found)
            case 29:
                value = found.decode()
            case 10:
                value = [one for _, packed in _fields(found) for one in _numbers(packed)]
            case 4:
                value = found
            case other:
                raise AssertionError(f"attribute {name} has field {other}")
    return name, value


def decode(content: bytes) -> tuple[dict[str, Any], list[Node]]:
    """The attributes of the whole and the nodes of one file."""
    at, parts = 0, []
    while at < len(content):
        size, at = _varint(content, at)
        parts.append(content[at : at + size])
        at += size
    assert at == len(content)
    metadata = dict(_attribute(found) for number, found in _fields(parts[0]) if number == 2)
    nodes = []
    for part in parts[1:]:
        node = Node()
        for number, found in _fields(part):
            match number:
                case 1:
                    node.id = found
                case 3:
                    node.kind = found
                case 5:
                    node.waits_for |= set(_numbers(found)) if isinstance(found, bytes) else {found}
                case 10:
                    name, value = _attribute(found)
                    node.values[name] = value
        nodes.append(node)
    return metadata, nodes


Key = tuple[int, int, int]


@dataclass
class _Run:
    """Data of all ranks while their graphs are run."""

    state: list[dict[int, Contributors]]
    faults: list[str] = field(default_factory=list)
    messages: dict[Key, tuple[int, Any]] = field(default_factory=dict)
    passing: dict[tuple[int, int, int, int, int], Any] = field(default_factory=dict)
    arrived: dict[tuple[int, int, int], list[tuple[int, int, Any]]] = field(default_factory=dict)

    def send(self, rank: int, node: Node) -> None:
        values = node.values
        step, source, first = (values[f"lightloom_{name}"] for name in ("step", "source", "first_byte"))
        destination, size = values["lightloom_destination"], values["comm_size"]
        if rank == source:
            copied, reduced = values["lightloom_copied"] or [], values["lightloom_reduced"] or []
            payload = {
                (chunk, reduces): self.state[rank].get(chunk, frozenset())
                for chunks, reduces in ((copied, False), (reduced, True))
                for chunk in chunks
            }
        else:
            payload = self.passing.pop((rank, step, source, destination, first), None)
            if payload is None:
                self.faults.append(f"rank {rank} sends on what it has not received in step {step}")
        key = (rank, values["comm_dst"], values["comm_tag"])
        if key in self.messages:
            self.faults.append(f"two messages are {key}")
        self.messages[key] = (size, (first, payload))

    def receive(self, rank: int, node: Node, used_by_computation: bool) -> None:
        values = node.values
        size, (first, payload) = self.messages.pop((values["comm_src"], rank, values["comm_tag"]))
        if size != values["comm_size"]:
            self.faults.append(f"rank {rank} receives {values['comm_size']} of {size} bytes")
        step, source, destination = (values[f"lightloom_{name}"] for name in ("step", "source", "destination"))
        if rank != destination:
            self.passing[rank, step, source, destination, first] = payload
            return
        self.arrived.setdefault((rank, step, source), []).append((first, size, payload))
        if not used_by_computation:
            self.apply(rank, step, source, only_copies=True)

    def apply(self, rank: int, step: int, source: int, *, only_copies: bool = False) -> None:
        parts = self.arrived.get((rank, step, source), [])
        payloads = [payload for _, _, payload in parts]
        if not payloads or any(payload != payloads[0] for payload in payloads):
            self.faults.append(f"what {source} sent {rank} in step {step} differs from path to path, or is not there")
            return
        for (chunk, reduces), contributors in payloads[0].items():
            if not contributors:
                self.faults.append(f"{source} sent {rank} chunk {chunk} in step {step} and did not have it")
            held = self.state[rank].get(chunk, frozenset())
            if reduces and (only_copies or held & contributors):
                self.faults.append(f"rank {rank} counts twice what is in chunk {chunk} of {source} in step {step}")
            self.state[rank][chunk] = held | contributors if reduces else contributors


def run(files: list[bytes], first: list[int], last: list[int], seed: int) -> list[str]:
    """Faults of the traces of all ranks; empty if all nodes end and every chunk is right and in its place.

    first, last: by chunk, the rank that has it first and that must have it last, or `EVERYBODY`.
    """
    ranks = [decode(content)[1] for content in files]
    count = len(ranks)
    state: list[dict[int, Contributors]] = [
        {chunk: frozenset({rank}) for chunk, owner in enumerate(first) if owner in {rank, EVERYBODY}}
        for rank in range(count)
    ]
    wanted = {
        (rank, chunk): frozenset(range(count)) if owner == EVERYBODY else frozenset({owner})
        for chunk, (owner, end) in enumerate(zip(first, last, strict=True))
        for rank in (range(count) if end == EVERYBODY else (end,))
    }
    by_id = [{node.id: node for node in nodes} for nodes in ranks]
    uses = [[node for node in nodes if node.kind == COMPUTE and "lightloom_source" in node.values] for nodes in ranks]
    computed = [{before for node in nodes for before in node.waits_for} for nodes in uses]
    running = _Run(state)
    done: list[set[int]] = [set() for _ in ranks]
    left = {(rank, node.id) for rank, nodes in enumerate(ranks) for node in nodes}
    chance = random.Random(seed)  # noqa: S311 (an order, not a secret)
    expected = _bytes_expected(ranks)

    def can_run(rank: int, node: Node) -> bool:
        if not node.waits_for <= done[rank]:
            return False
        return node.kind != RECEIVE or (node.values["comm_src"], rank, node.values["comm_tag"]) in running.messages

    while left:
        ready = sorted(key for key in left if can_run(key[0], by_id[key[0]][key[1]]))
        if not ready:
            rank, number = min(left)
            return [*running.faults, f"{len(left)} nodes never begin, such as node {number} of rank {rank}"]
        chance.shuffle(ready)
        for rank, number in ready[: 1 + len(ready) // 4]:
            node = by_id[rank][number]
            if node.kind == SEND:
                running.send(rank, node)
            elif node.kind == RECEIVE:
                running.receive(rank, node, number in computed[rank])
            elif "lightloom_source" in node.values:
                running.apply(rank, node.values["lightloom_step"], node.values["lightloom_source"])
            done[rank].add(number)
            left.remove((rank, number))
    for key, parts in running.arrived.items():
        covered = sorted((begin, begin + size) for begin, size, _ in parts)
        ends = [0, *(end for _, end in covered)]
        if [begin for begin, _ in covered] != ends[:-1] or ends[-1] != expected[key]:
            running.faults.append(f"the bytes of {key} arrive as {covered}")
    if running.messages or running.passing:
        running.faults.append("messages are left")
    wrong = [key for key, contributors in wanted.items() if state[key[0]].get(key[1]) != contributors]
    if wrong:
        rank, chunk = wrong[0]
        running.faults.append(f"{len(wrong)} chunks are not what they must be, such as chunk {chunk} at rank {rank}")
    return running.faults


def _bytes_expected(ranks: list[list[Node]]) -> dict[tuple[int, int, int], int]:
    """Bytes that each rank sends off to each other in each step, by (destination, step, source)."""
    total: dict[tuple[int, int, int], int] = {}
    for rank, nodes in enumerate(ranks):
        for node in nodes:
            if node.kind == SEND and node.values["lightloom_source"] == rank:
                key = (node.values["lightloom_destination"], node.values["lightloom_step"], rank)
                total[key] = total.get(key, 0) + node.values["comm_size"]
    return total


def hops(files: list[bytes]) -> list[tuple[int, int, int, int]]:
    """Step, source, destination and bytes of every send."""
    return [
        (node.values["lightloom_step"], rank, node.values["comm_dst"], node.values["comm_size"])
        for rank, content in enumerate(files)
        for node in decode(content)[1]
        if node.kind == SEND
    ]
