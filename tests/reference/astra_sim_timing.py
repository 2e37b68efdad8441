"""When ASTRA-sim ends a collective that runs by traces, on its congestion-aware analytical network.

Written from astra-sim (system/astraccl/custom_collectives/CustomAlgorithm.cc) and astra-network-analytical
(congestion_aware/network/Link.cpp). A node is issued when all that it waits for has ended. A send ends when its message
has arrived, a receive when it was issued and the message is there, a computation of no time after 1 ns. A link carries
one message after the other: it is free again after the time of its bytes, and the message arrives its latency later.
Times are whole nanoseconds, rounded down.
"""

from __future__ import annotations

import heapq
from collections import defaultdict

import yaml

from tests.reference.chakra_execution import COMPUTE, RECEIVE, SEND, Node, decode

GIB = 1 << 30


def end_ns(traces: list[bytes], network: bytes) -> int:
    """Nanoseconds until the last node of all ranks has ended; network: the content of `network.yml`."""
    told = yaml.safe_load(network)
    (bytes_per_ns,), (latency_ns,) = [rate * GIB / 1e9 for rate in told["bandwidth"]], told["latency"]
    ranks = [{node.id: node for node in decode(content)[1]} for content in traces]
    waiting = [{number: len(node.waits_for) for number, node in nodes.items()} for nodes in ranks]
    followers: list[dict[int, list[int]]] = [defaultdict(list) for _ in ranks]
    for rank, nodes in enumerate(ranks):
        for number, node in nodes.items():
            for before in node.waits_for:
                followers[rank][before].append(number)
    free: dict[tuple[int, int], int] = defaultdict(int)
    arrived: dict[tuple[int, int, int], int] = {}
    awaited: dict[tuple[int, int, int], int] = {}
    events: list[tuple[int, int, int, int]] = []
    ended = now = 0

    def at(time: int, rank: int, number: int) -> None:
        heapq.heappush(events, (time, len(ended_nodes) + len(events), rank, number))

    def issue(rank: int, node: Node) -> None:
        if node.kind == COMPUTE:
            at(now + 1, rank, node.id)
            return
        values = node.values
        if node.kind == SEND:
            link = rank, values["comm_dst"]
            start = max(now, free[link])
            bytes_ns = values["comm_size"] / bytes_per_ns
            free[link] = start + int(bytes_ns)
            arrival = start + int(latency_ns + bytes_ns)
            at(arrival, rank, node.id)
            key = (*link, values["comm_tag"])
            arrived[key] = arrival
            if key in awaited:
                at(arrival, link[1], awaited.pop(key))
            return
        assert node.kind == RECEIVE
        key = values["comm_src"], rank, values["comm_tag"]
        if key in arrived:
            at(max(now, arrived[key]), rank, node.id)
        else:
            awaited[key] = node.id

    ended_nodes: list[tuple[int, int]] = []
    for rank, nodes in enumerate(ranks):
        for number in sorted(nodes):
            if waiting[rank][number] == 0:
                issue(rank, nodes[number])
    while events:
        now, _, rank, number = heapq.heappop(events)
        ended = max(ended, now)
        ended_nodes.append((rank, number))
        for follower in sorted(followers[rank][number]):
            waiting[rank][follower] -= 1
            if waiting[rank][follower] == 0:
                issue(rank, ranks[rank][follower])
    assert len(ended_nodes) == sum(map(len, ranks)), "nodes wait for each other"
    return ended
