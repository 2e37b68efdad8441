"""The schedule that the attributes of Lightloom's own traces state, which their messages must carry out.

Statements are believed where the graphs of the ranks keep to it: every byte of a transfer arrives, by a path of
messages that each wait for the one before; a rank comes to a step after all that it does in the steps before; what is
added, or put where something is sent from, is so by a computation that waits for both.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse
from lightloom.formats.chakra.construction import Transfers, built
from lightloom.formats.chakra.schema import NodeType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lightloom import _core
    from lightloom.formats.chakra.trace import Message, Place, Trace

__all__ = ["SCHEMA", "stated"]

SCHEMA = "lightloom.trace/1"


@dataclass(frozen=True, slots=True)
class _Arc:
    """All that one rank sends another in a step: the chunks, and nodes of both.

    sends: those of the source, by number; receives: those of the destination.
    """

    step: int
    source: int
    destination: int
    copied: tuple[int, ...]
    reduced: tuple[int, ...]
    size_bytes: int
    sends: frozenset[int]
    receives: frozenset[int]

    @property
    def chunks(self) -> frozenset[int]:
        return frozenset((*self.copied, *self.reduced))


def stated(trace: Trace, field_name: str) -> _core.Schedule:
    """The schedule. Raises `InputError` that names `field_name` where the trace does not carry it out."""
    reading = _Reading(trace, field_name)
    arcs = reading.arcs()
    reading.check_steps()
    reading.check_computations(arcs)
    steps: list[Transfers] = []
    for arc in arcs:
        if arc.step > len(steps):
            raise refuse(
                field_name, f"`{trace.name}` has messages of step {arc.step} and no message of step {len(steps)}"
            )
        if arc.step == len(steps):
            steps.append([])
        for operation, held in (("copy", arc.copied), ("reduce", arc.reduced)):
            if held:
                steps[arc.step].append((arc.source, arc.destination, operation, list(held)))
    attributes = trace.attributes
    chunks = reading.chunks()
    reading.check_sizes(arcs, chunks)
    algorithm = attributes.get("lightloom_algorithm", trace.name)
    root = attributes.get("lightloom_root", 0)
    return built(field_name, trace, algorithm, attributes.get("collective"), chunks, root, steps)


@dataclass
class _Reading:
    """A trace with the steps of its nodes, while its statements are checked."""

    trace: Trace
    field_name: str
    steps: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.steps = [
            [self._number((rank, place), "step") for place in range(len(nodes))]
            for rank, nodes in enumerate(self.trace.ranks)
        ]

    def arcs(self) -> list[_Arc]:
        """All arcs, by step, source and destination."""
        held: dict[tuple[int, int, int], list[Message]] = defaultdict(list)
        names = ("step", "source", "destination", "first_byte")
        for message in self.trace.messages:
            sent, received = ([self._number(end, name) for name in names] for end in (message.send, message.receive))
            if sent != received:
                ends = f"{self.trace.at(message.send)} and {self.trace.at(message.receive)}"
                raise refuse(self.field_name, f"{ends} are ends of one message, but state different transfers")
            held[sent[0], sent[1], sent[2]].append(message)
        return [self._arc(key, messages) for key, messages in sorted(held.items())]

    def _arc(self, key: tuple[int, int, int], messages: Sequence[Message]) -> _Arc:
        step, source, destination = key
        what = f"what rank {source} sends to rank {destination} in step {step}"
        hops: dict[tuple[int, int], Message] = {}
        sizes: dict[int, int] = {}
        lists: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
        for message in messages:
            first_byte = self._number(message.send, "first_byte")
            if sizes.setdefault(first_byte, message.size_bytes) != message.size_bytes:
                raise refuse(
                    self.field_name, f"{self.trace.at(message.send)} changes the size of the data that it forwards"
                )
            if (first_byte, message.send[0]) in hops:
                raise refuse(
                    self.field_name, f"{self.trace.at(message.send)} sends data that its rank has already sent"
                )
            hops[first_byte, message.send[0]] = message
            if message.send[0] == source:
                lists.add(self._lists(message.send))
        if len(lists) != 1:
            raise refuse(
                self.field_name,
                f"{what}: its sends must state the same chunks, but they state {len(lists)} different lists",
            )
        end, receives = 0, set()
        for first_byte, size_bytes in sorted(sizes.items()):
            if first_byte != end:
                between = f"{min(end, first_byte)} to {max(end, first_byte)}"
                raise refuse(self.field_name, f"{what}: bytes {between} are sent twice or never")
            end = first_byte + size_bytes
            receives.add(self._path(what, first_byte, hops, source, destination))
        ((copied, reduced),) = lists
        sends = frozenset(self.trace.node(one.send).id for one in messages if one.send[0] == source)
        return _Arc(step, source, destination, copied, reduced, end, sends, frozenset(receives))

    def _path(
        self, what: str, first_byte: int, hops: dict[tuple[int, int], Message], source: int, destination: int
    ) -> int:
        """The receive at the end of the path of an arc's part; every message on it waits for the one before."""
        path = [hops[first_byte, source]] if (first_byte, source) in hops else []
        count = sum(byte == first_byte for byte, _ in hops)
        while path and path[-1].receive[0] != destination and len(path) < count:
            before = path[-1]
            following = hops.get((first_byte, before.receive[0]))
            if following is None:
                break
            if self.trace.node(before.receive).id not in self.trace.node(following.send).after:
                at = self.trace.at(following.send)
                raise refuse(
                    self.field_name, f"{at} must wait for {self.trace.at(before.receive)}, whose data it forwards"
                )
            path.append(following)
        if not path or path[-1].receive[0] != destination or len(path) != count:
            raise refuse(self.field_name, f"{what}: the bytes from {first_byte} on do not arrive over one path")
        return self.trace.node(path[-1].receive).id

    def check_steps(self) -> None:
        """Every rank must come to a step after all that it does in the steps before.

        Messages of a step wait for all ends of the last one before it.
        """
        for rank, nodes in enumerate(self.trace.ranks):
            steps, places = self.steps[rank], self.trace.places[rank]
            within = [
                [one for one in node.after if steps[places[one]] == step]
                for node, step in zip(nodes, steps, strict=True)
            ]
            followed = {one for before in within for one in before}
            ends: dict[int, set[int]] = defaultdict(set)
            for node, step in zip(nodes, steps, strict=True):
                if node.id not in followed:
                    ends[step].add(node.id)
            earlier: dict[int, int | None] = {}
            for step in sorted(set(steps)):
                earlier[step] = max((other for other in ends if other < step), default=None)
            for place, (node, step) in enumerate(zip(nodes, steps, strict=True)):
                last = earlier[step]
                if not within[place] and last is not None and not ends[last] <= set(node.after):
                    raise refuse(
                        self.field_name, f"{self.trace.at((rank, place))} does not wait for all nodes of step {last}"
                    )

    def check_computations(self, arcs: Iterable[_Arc]) -> None:
        """Check that data are added, or replace data that are sent, only in a computation that waits for both."""
        computations = self._computations()
        sent: dict[tuple[int, int], list[_Arc]] = defaultdict(list)
        arrived: dict[tuple[int, int], list[_Arc]] = defaultdict(list)
        for arc in arcs:
            sent[arc.step, arc.source].append(arc)
            arrived[arc.step, arc.destination].append(arc)
        for (step, rank), held in arrived.items():
            adding: dict[int, list[int]] = defaultdict(list)
            for arc in held:
                read = [one for own in sent[step, rank] if not arc.chunks.isdisjoint(own.chunks) for one in own.sends]
                what = f"what rank {arc.source} sends to rank {rank} in step {step}"
                number = computations.pop((step, rank, arc.source), None)
                if number is None:
                    if arc.reduced or read:
                        raise refuse(
                            self.field_name,
                            f"{what} must be reduced, or replace data that are sent, but no computation node does so",
                        )
                    continue
                node = self.trace.ranks[rank][self.trace.places[rank][number]]
                if not arc.receives.union(read) <= set(node.after):
                    at = self.trace.at((rank, self.trace.places[rank][number]))
                    raise refuse(self.field_name, f"{at} does not wait for all of {what}, or for data that it replaces")
                for chunk in arc.reduced:
                    adding[chunk].append(number)
            self._check_order(rank, adding)
        for step, rank, source in computations:
            raise refuse(
                self.field_name,
                f"in step {step} rank {rank} has a computation node for data of rank {source}, which sends none",
            )

    def _check_order(self, rank: int, adding: dict[int, list[int]]) -> None:
        """Sums into one chunk must come one after the other."""
        nodes, places = self.trace.ranks[rank], self.trace.places[rank]
        for chunk, numbers in adding.items():
            for before, after in zip(sorted(numbers), sorted(numbers)[1:], strict=False):
                if before not in nodes[places[after]].after:
                    at = self.trace.at((rank, places[after]))
                    raise refuse(
                        self.field_name, f"{at} adds to chunk {chunk} without waiting for another node that adds to it"
                    )

    def _computations(self) -> dict[tuple[int, int, int], int]:
        """Numbers of the nodes that add or keep data of a rank, by step, rank and source."""
        found: dict[tuple[int, int, int], int] = {}
        for rank, nodes in enumerate(self.trace.ranks):
            for place, node in enumerate(nodes):
                if node.kind == NodeType.COMPUTE and "lightloom_source" in node.attributes:
                    key = (self.steps[rank][place], rank, self._number((rank, place), "source"))
                    if key in found:
                        raise refuse(
                            self.field_name, f"{self.trace.at((rank, place))} adds data that another node adds already"
                        )
                    found[key] = node.id
        return found

    def check_sizes(self, arcs: Iterable[_Arc], chunks: int | list[tuple[int, int, float]]) -> None:
        """An arc must have the bytes of its chunks, rounded up."""
        size_bytes = self.trace.attributes.get("lightloom_size_bytes")
        if type(size_bytes) is not int or size_bytes < 1:
            raise refuse(
                self.field_name, f"`{self.trace.name}` does not state lightloom_size_bytes, a whole number from 1"
            )
        for arc in arcs:
            if isinstance(chunks, int):
                exact = (len(arc.copied) + len(arc.reduced)) * size_bytes / max(chunks, 1)
            else:
                held = (*arc.copied, *arc.reduced)
                exact = math.fsum(chunks[one][2] for one in held if one < len(chunks)) * size_bytes
            if not exact * (1 - 1e-9) <= arc.size_bytes < max(exact, 1) * (1 + 1e-9) + 1:
                what = f"what rank {arc.source} sends to rank {arc.destination} in step {arc.step}"
                raise refuse(
                    self.field_name, f"{what} is {arc.size_bytes} bytes long, but its chunks are {exact:.12g} bytes"
                )

    def chunks(self) -> int | list[tuple[int, int, float]]:
        """The number of equal chunks of a buffer, or source, destination and share of the buffer of each."""
        attributes = self.trace.attributes
        if "lightloom_chunks" in attributes:
            count = attributes["lightloom_chunks"]
            if type(count) is not int or count < 1:
                raise refuse(
                    self.field_name,
                    f"`{self.trace.name}` states {count!r:.60} chunks of a buffer; it takes a whole number from 1",
                )
            return count
        columns = [attributes.get(f"lightloom_chunk_{name}") for name in ("sources", "destinations", "shares")]
        if not all(isinstance(column, tuple) for column in columns):
            said = "states neither the number of chunks, nor sources, destinations and shares of chunks"
            raise refuse(self.field_name, f"`{self.trace.name}` {said}")
        sources, destinations, shares = columns
        if not len(sources) == len(destinations) == len(shares):  # type: ignore[arg-type]  # tuples, as checked
            said = "does not state source, destination and share of every chunk"
            raise refuse(self.field_name, f"`{self.trace.name}` {said}")
        return list(zip(sources, destinations, map(float, shares), strict=True))  # type: ignore[arg-type]

    def _lists(self, place: Place) -> tuple[tuple[int, ...], tuple[int, ...]]:
        attributes = self.trace.node(place).attributes
        lists = [attributes.get(f"lightloom_{name}") for name in ("copied", "reduced")]
        if not all(isinstance(one, tuple) and all(type(chunk) is int and chunk >= 0 for chunk in one) for one in lists):
            raise refuse(self.field_name, f"{self.trace.at(place)} does not state its chunks")
        return lists[0], lists[1]  # type: ignore[return-value]  # checked above

    def _number(self, place: Place, name: str) -> int:
        value = self.trace.node(place).attributes.get(f"lightloom_{name}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            said = f"does not state lightloom_{name}, a whole number from 0"
            raise refuse(self.field_name, f"{self.trace.at(place)} {said}")
        return value
