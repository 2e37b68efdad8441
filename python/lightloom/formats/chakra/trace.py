"""A trace of all ranks: who sends what to whom, and whether that can be run."""

from __future__ import annotations

import heapq
import json
from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import refuse, shown
from lightloom.base.files import MIB, read_text
from lightloom.formats.chakra.files import Node, RankFile, Value, rank_files, read_ranks
from lightloom.formats.chakra.schema import CollectiveType, NodeType

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

MAX_GROUPS_BYTES = 16 * MIB
# Sends and receives that were matched: a rank and the place of its node.
Place = tuple[int, int]


class Message(NamedTuple):
    """A send and the receive that it is for.

    send, receive: rank and place of the node in the rank's order; size_bytes: the size that both state.
    """

    send: Place
    receive: Place
    tag: int
    size_bytes: int


class Trace:
    """The graphs of all ranks, each complete and without a cycle, and their messages, each sent and received.

    Made by `read_trace`, or of `RankFile`s; `InputError` where anything of that does not hold. `places` has
    the place of each rank's nodes by their number, `order` their places as the rank comes to them, and `progress` all
    nodes, each after what it waits for and a receive after its send.
    """

    __slots__ = ("attributes", "groups", "messages", "name", "order", "places", "progress", "ranks")

    def __init__(
        self,
        name: str,
        files: Sequence[RankFile],
        groups: Mapping[str, Sequence[int]] | None = None,
        field: str = "trace",
    ) -> None:
        self.name = name
        self.attributes: dict[str, Value] = dict(files[0].attributes)
        self.ranks: tuple[tuple[Node, ...], ...] = tuple(file.nodes for file in files)
        self.groups: dict[str, tuple[int, ...]] = {key: tuple(value) for key, value in (groups or {}).items()}
        self.places = [_places(field, rank, nodes) for rank, nodes in enumerate(self.ranks)]
        self.order = [_order(field, rank, nodes, self.places[rank]) for rank, nodes in enumerate(self.ranks)]
        self.messages = self._matched(field)
        self.progress = self._progress(field)
        self._check_groups(field)

    @property
    def collectives(self) -> Counter[str]:
        """The number of nodes of each kind of collective, over all ranks."""
        return Counter(
            _collective_name(node) for nodes in self.ranks for node in nodes if node.kind == NodeType.COLLECTIVE
        )

    def _matched(self, field: str) -> tuple[Message, ...]:
        """Sends and receives of one source, destination and tag match in the order of their ranks."""
        sent: dict[tuple[int, int, int], deque[Place]] = defaultdict(deque)
        received: dict[tuple[int, int, int], deque[Place]] = defaultdict(deque)
        for rank, nodes in enumerate(self.ranks):
            for place in self.order[rank]:
                node = nodes[place]
                if node.kind == NodeType.SEND:
                    own, peer, matched = "comm_src", "comm_dst", sent
                elif node.kind == NodeType.RECEIVE:
                    own, peer, matched = "comm_dst", "comm_src", received
                else:
                    continue
                other = self._rank_of(field, rank, node, peer)
                if own in node.attributes and node.attributes[own] != rank:
                    value = shown(node.attributes[own])
                    raise refuse(field, f"{_at(rank, node)} has {own} {value}; it is a node of rank {rank}")
                ends = (rank, other) if matched is sent else (other, rank)
                matched[*ends, whole_attribute(field, rank, node, "comm_tag", 0)].append((rank, place))
        messages = []
        for key in sorted(sent.keys() | received.keys()):
            sends, receives = sent[key], received[key]
            for send, receive in zip(sends, receives, strict=False):
                sizes = [
                    whole_attribute(field, rank, self.ranks[rank][place], "comm_size")
                    for rank, place in (send, receive)
                ]
                if sizes[0] != sizes[1]:
                    raise refuse(
                        field,
                        f"{self.at(send)} sends {sizes[0]} bytes with tag {key[2]}, {self.at(receive)} receives "
                        f"{sizes[1]}",
                    )
                messages.append(Message(send, receive, key[2], sizes[0]))
            if len(sends) != len(receives):
                is_send = len(sends) > len(receives)
                alone = (sends if is_send else receives)[min(len(sends), len(receives))]
                verb, lacks = ("sends to", "receive") if is_send else ("receives from", "send")
                other = key[1] if is_send else key[0]
                raise refuse(
                    field, f"{self.at(alone)} {verb} rank {other} with tag {key[2]}; rank {other} has no {lacks} for it"
                )
        return tuple(messages)

    def _rank_of(self, field: str, rank: int, node: Node, name: str) -> int:
        other = whole_attribute(field, rank, node, name)
        if other == rank or not 0 <= other < len(self.ranks):
            raise refuse(
                field, f"{_at(rank, node)} has {name} {other}; it takes another of the ranks 0 to {len(self.ranks) - 1}"
            )
        return other

    def node(self, place: Place) -> Node:
        """The node at a place."""
        return self.ranks[place[0]][place[1]]

    def at(self, place: Place) -> str:
        """The place of a node, for messages."""
        return _at(place[0], self.ranks[place[0]][place[1]])

    def _progress(self, field: str) -> tuple[Place, ...]:
        """An order in which all nodes can end; ranks that wait on each other are refused."""
        arrives: dict[Place, list[Place]] = defaultdict(list)
        missing = [[len(node.after) for node in nodes] for nodes in self.ranks]
        for message in self.messages:
            arrives[message.send].append(message.receive)
            missing[message.receive[0]][message.receive[1]] += 1
        followers = [_followers(nodes, self.places[rank]) for rank, nodes in enumerate(self.ranks)]
        ready = [
            (rank, place) for rank, counts in enumerate(missing) for place, count in enumerate(counts) if not count
        ]
        done = []
        while ready:
            rank, place = ready.pop()
            done.append((rank, place))
            for other in [*((rank, next_) for next_ in followers[rank][place]), *arrives[rank, place]]:
                missing[other[0]][other[1]] -= 1
                if not missing[other[0]][other[1]]:
                    ready.append(other)
        if len(done) < sum(map(len, self.ranks)):
            stuck = next(
                (rank, place)
                for rank, nodes in enumerate(self.ranks)
                for place in self.order[rank]
                if missing[rank][place] and nodes[place].kind == NodeType.RECEIVE
            )
            raise refuse(field, f"{self.at(stuck)} never ends: ranks wait for each other's messages (deadlock)")
        return tuple(done)

    def _check_groups(self, field: str) -> None:
        """Refuse a collective that only some ranks of its group call."""
        called: dict[str, dict[int, Counter[tuple[str, int]]]] = defaultdict(lambda: defaultdict(Counter))
        for rank, nodes in enumerate(self.ranks):
            for node in nodes:
                group = node.attributes.get("pg_name")
                if node.kind == NodeType.COLLECTIVE and isinstance(group, str) and group in self.groups:
                    if rank not in self.groups[group]:
                        raise refuse(
                            field, f"{_at(rank, node)} is of group {shown(group)}, which rank {rank} is not in"
                        )
                    size = whole_attribute(field, rank, node, "comm_size", 0)
                    called[group][rank][_collective_name(node), size] += 1
        for group, by_rank in called.items():
            first, *others = self.groups[group]
            for rank in others:
                if by_rank[rank] != by_rank[first]:
                    differ = next(iter((by_rank[rank] - by_rank[first]) or (by_rank[first] - by_rank[rank])))
                    raise refuse(
                        field,
                        f"ranks {first} and {rank} of group {shown(group)} do not call the same collectives: "
                        f"{differ[0]} of {differ[1]}, {by_rank[first][differ]} and {by_rank[rank][differ]} times",
                    )


def read_trace(field: str, path: str | os.PathLike[str]) -> Trace:
    """The trace whose files are in the folder `path`, or one of whose files `path` is.

    A `NAME.json` in the same folder gives the groups of ranks: lists of ranks by the name that nodes give as `pg_name`.
    Raises `InputError` that names `field`: files that are missing or no traces, nodes that wait for missing ones or in
    a circle, sends and receives that do not match, collectives that only some of a group call.
    """
    name, files = rank_files(field, path)
    beside = files[0].parent / f"{name}.json"
    groups = read_groups(field, beside, len(files)) if beside.is_file() else None
    return Trace(name, list(read_ranks(field, files)), groups, field)


def read_groups(field: str, path: str | os.PathLike[str], ranks: int) -> dict[str, list[int]]:
    """Lists of ranks by the name of their group, of a JSON file. Raises `InputError` that names `field`."""
    return groups_of(field, read_text(field, path, MAX_GROUPS_BYTES), str(path), ranks)


def groups_of(field: str, text: str, path: str, ranks: int) -> dict[str, list[int]]:
    """Lists of ranks by the name of their group, of a text. Raises `InputError` that names `field`, and `path`."""
    try:
        groups = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise refuse(field, f"`{path}` is not JSON: {str(error)[:120]}") from error
    if not isinstance(groups, dict) or not all(isinstance(members, list) and members for members in groups.values()):
        raise refuse(field, f"`{path}` must be an object with the list of ranks of every group, by its name")
    for name, members in groups.items():
        for rank in members:
            if type(rank) is not int or not 0 <= rank < ranks:
                raise refuse(field, f"`{path}` has `{shown(rank)}` in group {shown(name)}; ranks are 0 to {ranks - 1}")
    return groups


def _places(field: str, rank: int, nodes: Sequence[Node]) -> dict[int, int]:
    places = {node.id: place for place, node in enumerate(nodes)}
    if len(places) < len(nodes):
        twice = next(node for place, node in enumerate(nodes) if places[node.id] != place)
        raise refuse(field, f"{_at(rank, twice)}: another node has the same id")
    for node in nodes:
        for before in node.after:
            if before not in places:
                raise refuse(field, f"{_at(rank, node)} waits for node {before}, which does not exist")
    return places


def _followers(nodes: Sequence[Node], places: Mapping[int, int]) -> list[list[int]]:
    followers: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        for before in node.after:
            followers[places[before]].append(place)
    return followers


def _order(field: str, rank: int, nodes: Sequence[Node], places: Mapping[int, int]) -> tuple[int, ...]:
    """The order in which a rank comes to its nodes: after all that they wait for, the smaller number first."""
    followers = _followers(nodes, places)
    missing = [len(node.after) for node in nodes]
    ready = [(nodes[place].id, place) for place, count in enumerate(missing) if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        _, place = heapq.heappop(ready)
        order.append(place)
        for other in followers[place]:
            missing[other] -= 1
            if not missing[other]:
                heapq.heappush(ready, (nodes[other].id, other))
    if len(order) < len(nodes):
        stuck = next(node for place, node in enumerate(nodes) if missing[place])
        raise refuse(field, f"{_at(rank, stuck)} waits for itself through others: a cyclic dependency")
    return tuple(order)


def _at(rank: int, node: Node) -> str:
    name = f" ({shown(node.name)})" if node.name else ""
    return f"node {node.id}{name} of rank {rank}"


def whole_attribute(field: str, rank: int, node: Node, name: str, default: int | None = None) -> int:
    """A whole number from 0 that the node states, or `default`. Raises `InputError` that names `field`."""
    value = node.attributes.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        problem = f"has no {name}" if value is None else f"has {name} `{shown(value)}`"
        raise refuse(field, f"{_at(rank, node)} {problem}; it takes a whole number from 0")
    return value


def _collective_name(node: Node) -> str:
    kind = node.attributes.get("comm_type")
    if isinstance(kind, int) and kind in CollectiveType.__members__.values():
        return CollectiveType(kind).name.lower().replace("_", "-")
    return "of no stated type"
