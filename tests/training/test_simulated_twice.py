"""`simulate` of iterations against a second simulator of whole iterations, and that one against numbers on paper."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest

import lightloom as ll
from lightloom.simulation.message_packets import MessageTimes
from lightloom.simulation.message_paths import Paths
from lightloom.simulation.settings import SimulationSettings
from tests.reference.iteration_execution import execute
from tests.reference.iteration_ports import Joined, between, wired
from tests.reference.iteration_traffic import Framing, Packet
from tests.reference.packet_network import Batch, Moment, Network
from tests.training import iterations
from tests.training.judge_random_workloads import planned
from tests.training.judge_simulations import POLICIES, compare

MICRO_FS = 10**9


@pytest.mark.parametrize("policy", POLICIES)
def test_a_second_simulator_takes_as_long(policy: str) -> None:
    for one in compare(iter(range(1000)), policy, 1):
        assert abs(one.difference) <= 1e-9, one


@pytest.mark.large
@pytest.mark.parametrize("policy", POLICIES)
def test_a_second_simulator_takes_as_long_on_many(policy: str) -> None:
    for one in compare(iter(range(1000, 2000)), policy, 25):
        assert abs(one.difference) <= 1e-9, one


@pytest.mark.parametrize("layers", [1, 3])
def test_the_second_simulator_meets_an_iteration_on_paper(layers: int) -> None:
    told = iterations.iteration(layers)
    found = execute(told, packet_bytes=100_000)
    for column, times_fs in ((1, found.starts_fs), (2, found.ends_fs)):
        layer_us = [int(str(event[column])) for event in iterations.COURSE]
        assert times_fs == [(248 * layer + time) * MICRO_FS for layer in range(layers) for time in layer_us]
    assert found.total_fs == 248 * layers * MICRO_FS
    # Per layer: two groups of four ranks, six steps of 1 MB; four messages of 1 MB; four groups of two, a step of 1 MB.
    assert found.packets == found.packet_hops == layers * 10 * (2 * 4 * 6 + 4 + 4 * 2)


def _messages(pairs: list[tuple[int, int]], size_bytes: int, policy: str, **given: Any) -> ll.Training:
    nodes: list[dict[str, Any]] = [
        {"id": "c", "kind": "collective", "collective": "all-gather", "axis": "a", "size_bytes": 4000, "after": []}
    ]
    for source, destination in pairs:
        node = {"id": f"m{source}", "kind": "send", "source": source, "destination": destination}
        nodes.append({**node, "size_bytes": size_bytes, "after": ["c"]})
    told = {"schema": "lightloom.workload/1", "ranks": 4, "mesh": {"a": 4}, "groups": {}, "nodes": nodes}
    return planned(told, ll.Fabric(reconfiguration_delay="10ms", **given), policy)


@pytest.mark.parametrize("policy", ["static", "one-shot", "carry"])
def test_messages_that_overlap_share_no_circuit(policy: str) -> None:
    # On a ring both go from 1 to 2: at once, each would take twice as long as planned.
    training = _messages([(0, 2), (1, 3)], 10**6, policy)
    assert not any(event.reconfigured or event.direct for event in training.events)
    one, other = sorted((event.start_s, event.end_s) for event in training.events if event.kind == "send")
    assert one[1] <= other[0] * (1 + 1e-12)
    found = execute(json.loads(training.to_json()), packet_bytes=20_000)
    # Two messages of 1 MB over a link of 100 GB/s, one after the other, and the last packet's second hop, in all
    # 2·(10 + 0.2) µs, besides startups and hop delays.
    assert found.total_fs == pytest.approx(1e15 * ll.simulate(training, packet_size=20_000).total_s, rel=1e-9)
    sends_fs = [end - start for start, end in zip(found.starts_fs[1:], found.ends_fs[1:], strict=True)]
    assert sends_fs == [500_000_000 + 2 * 500_000_000 + 10_200 * 10**6] * 2


@pytest.mark.parametrize(("packets", "expected"), [(1, 2), (2, 4), (5, 10)])
def test_messages_of_one_event_that_share_a_circuit(packets: int, expected: int) -> None:
    """0 to 2 over 1, and 1 to 3 over 2, of k packets each that take a unit of time on a circuit.

    Rank 1 has its own packets at 0, and sends them until k; those of 0 are there at 1 to k, and sent from k to 2·k. The
    packets of 1 are at 2 from 1 to k, and sent on at once. So all is done at 2·k.
    """
    size_bytes, link_bps = 1000, 8e9
    training = _messages([(0, 1)], 1, "static", bandwidth=link_bps, startup=0, hop_delay=0)
    paths = Paths(((0, 1, 2), (1, 2, 3)), {(0, 1): 1, (1, 2): 1, (2, 3): 1}, (0, 1, 2, 3), (link_bps,), {})
    times = MessageTimes(training, SimulationSettings(packet_bytes=size_bytes))
    assert times.seconds(paths, packets * size_bytes) == pytest.approx(expected * 1e-6, rel=1e-9)


def _ring(ranks: int) -> dict[tuple[int, int], Joined]:
    return wired(range(ranks), {(rank, (rank + 1) % ranks, 0): 1 for rank in range(ranks)}, [0])


def _sent(network: Network, packets: list[Packet]) -> int:
    """When the last of these is received, fs."""
    done = Moment()
    network.send(packets, lambda _: done.happen())
    network.run(done)
    return network.now_fs


@pytest.mark.parametrize(
    ("hops", "packets", "delay_fs"), [(1, 4, 500), (3, 4, 500), (3, 4, 5000), (5, 1, 700), (6, 9, 1)]
)
def test_a_burst_on_a_ring_takes_what_the_closed_form_says(hops: int, packets: int, delay_fs: int) -> None:
    # docs/simulation.md: max(h·W + δ, W + h·δ + (h-1)·p).
    ranks, wire_fs = 7, 1000
    ring = _ring(ranks)
    links = between(ring)
    framing = Framing(payload_bytes=1, header_bytes=0, rates_bps=(8e15 / wire_fs,))
    all_packets = []
    for rank in range(ranks):
        way = [links[(rank + hop) % ranks, (rank + hop + 1) % ranks] for hop in range(hops)]
        all_packets += framing.packets(Fraction(packets), rank, [(1.0, way)])
    network = Network(delay_fs)
    network.join(ring)
    message_fs = packets * wire_fs
    closed_fs = max(hops * message_fs + delay_fs, message_fs + hops * delay_fs + (hops - 1) * wire_fs)
    assert _sent(network, all_packets) == closed_fs


def test_no_packet_is_sent_on_a_dark_port_or_to_another_rank() -> None:
    ring = _ring(3)
    packets = Framing(1, 0, (8e15,)).packets(Fraction(2), 0, [(1.0, [[((0, 0), (1, 0))]])])
    with pytest.raises(AssertionError, match="dark port"):
        _sent(Network(1), packets)
    turned = Network(1)
    turned.join(wired([0, 2, 1], {(0, 1, 0): 1, (1, 2, 0): 1, (2, 0, 0): 1}, [0]))
    with pytest.raises(AssertionError, match="arrives elsewhere"):
        _sent(turned, packets)
    busy = Network(1)
    busy.join(ring)
    busy.after(1, lambda: busy.darken(ring))
    with pytest.raises(AssertionError, match="goes dark while it sends"):
        _sent(busy, packets)


def test_bytes_that_are_received_elsewhere_are_found() -> None:
    told = iterations.iteration()
    step = told["plans"][1]["steps"][0]
    # Rank 0 gets what rank 1 should have had: a path of one pair ends where it began.
    step["symmetry"], step["routes"]["symmetry"] = [], []
    step["transfers"] = [[0, 1, "copy", [0]], [1, 0, "copy", [1]]]
    step["routes"]["arcs"] = [[0, 1, [[1.0, [0, 1]]]], [1, 0, [[1.0, [0, 1]]]]]
    with pytest.raises(AssertionError):
        execute(told, packet_bytes=100_000)
    step["routes"]["arcs"][1] = [1, 0, [[1.0, [1, 0]]]]
    assert execute(told, packet_bytes=100_000).total_fs == 248 * MICRO_FS


def test_the_second_simulator_knows_nothing_of_the_first() -> None:
    code = "import sys, tests.reference.iteration_execution as _; print(*sys.modules, sep='\\n')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ran.stdout.split()
    assert "tests.reference.packet_network" in loaded
    assert not [name for name in loaded if name.startswith(("lightloom.simulation", "lightloom.training"))]


def test_a_batch_is_received_once() -> None:
    done: list[Batch] = []
    network = Network(1)
    network.join(_ring(2))
    packets = Framing(3, 0, (8e15,)).packets(Fraction(7), 0, [(1.0, [[((0, 0), (1, 0))]])])
    assert [packet.payload_bytes for packet in packets] == [3, 3, 1]
    finished = Moment()
    finished.then(lambda: None)

    def received(batch: Batch) -> None:
        done.append(batch)
        finished.happen()

    network.send(packets, received)
    network.run(finished)
    (batch,) = done
    assert batch.received == {1: 7}
