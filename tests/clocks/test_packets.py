"""Packets and port maps of timelines, against closed forms and the second simulation."""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from typing import Any

import pytest

import lightloom as ll
from lightloom.clocks.timeline import Timeline
from tests.clocks.problems import drawn
from tests.clocks.simulator import simulate

RATE = 1e11


@pytest.mark.parametrize("forwarding", ["store-and-forward", "cut-through"])
@pytest.mark.parametrize(("payload", "header"), [(4096, 0), (4096, 100), (1 << 20, 64), (3 << 20, 1000)])
def test_one_message_over_hops_takes_its_closed_form(forwarding: str, payload: int, header: int) -> None:
    gpus, size = 5, (1 << 20) + 1000
    matrix = [[0] * gpus for _ in range(gpus)]
    matrix[0][gpus - 1] = size
    fabric = ll.Fabric(gpus=gpus, initial="ring", reconfiguration_delay="1s", startup="2us", hop_delay="300ns")
    found = ll.timeline(fabric=fabric, matrix=matrix)
    hops, packets = gpus - 1, math.ceil(size / payload)
    wire_s = (size + packets * header) / RATE
    # Behind the first hop a packet is a packet's time late at each, and the last one is short: it waits for others.
    whole_s = (min(payload, size) + header) / RATE
    again_s = (hops - 1) * (whole_s if forwarding == "store-and-forward" else header / RATE)
    expected_s = 2e-6 + hops * 300e-9 + wire_s + again_s
    told = found.simulate(packet_size=payload, header_size=header, forwarding=forwarding)
    assert told.packets == packets
    assert told.packet_hops == packets * hops
    assert told.total_s == pytest.approx(expected_s, rel=1e-12)


def as_document(found: Timeline, payload: int, header: int) -> dict[str, Any]:
    """The timeline with the times of its packets in place of its own."""
    told: dict[str, Any] = json.loads(found.to_json())
    times = found.simulate(packet_size=payload, header_size=header).times
    for one, start_s, end_s in zip(told["transmissions"], times.starts_s, times.arrivals_s, strict=True):
        one |= {"start_s": start_s, "duration_s": end_s - start_s - len(one["path"]) * found.plan.hop_delay_s}
    for k, switch in enumerate(told["switches"]):
        for i, one in enumerate(switch["configurations"]):
            one |= {"ready_s": times.ready_s[k][i], "end_s": times.end_s[k][i]}
    return told


@pytest.mark.large
@pytest.mark.parametrize("seed", range(60))
def test_packets_keep_to_circuits_and_data_at_times_of_their_own(seed: int) -> None:
    found, rng = drawn(seed), random.Random(seed)  # noqa: S311 (no secret)
    payload, header = rng.choice([(1 << 16, 0), (1 << 16, 4096), (1 << 18, 0)])
    told = found.simulate(packet_size=payload, header_size=header)
    # The second simulation follows data and turns at the later times.
    assert simulate(as_document(found, payload, header), circuits=False) == pytest.approx(told.total_s, rel=1e-5)
    starts_s, arrivals_s, ready_s, end_s = told.times
    wire: defaultdict[tuple[int, int, int], float] = defaultdict(float)
    slack_s = 1e-9 * told.total_s
    for one, start_s, arrival_s in zip(found.transmissions, starts_s, arrivals_s, strict=True):
        assert start_s >= one.start_s
        for k, u, _ in one.path:
            # The timeline says which configuration carries it; no circuit is used before a startup, or after its end.
            i = max(
                i
                for i, at in enumerate(found.switches[k])
                if at.ready_s <= one.start_s - found.plan.startup_s + slack_s
            )
            assert start_s >= ready_s[k][i] + found.plan.startup_s - slack_s
            assert len(one.path) > 1 or arrival_s <= end_s[k][i] + slack_s
            wire[k, i, u] += one.size_bytes + header * math.ceil(one.size_bytes / payload * (1 - 1e-12))
    for (k, i, _), size in wire.items():
        assert size / RATE <= end_s[k][i] - ready_s[k][i] - found.plan.startup_s - found.plan.hop_delay_s + slack_s
    for switch, ready, ends in zip(found.switches, ready_s, end_s, strict=True):
        assert all(now_s >= one.ready_s for one, now_s in zip(switch, ready, strict=True))
        turn_s = found.plan.reconfiguration_delay.scalar_s or 0.0
        assert all(after_s >= before_s + turn_s - slack_s for before_s, after_s in zip(ends, ready[1:], strict=False))


@pytest.mark.large
@pytest.mark.parametrize("seed", range(30))
def test_small_packets_come_when_the_timeline_says(seed: int) -> None:
    found = drawn(seed)
    size = max((one.size_bytes for one in found.transmissions), default=1.0)
    payload = max(1, int(size / 200))
    told = found.simulate(packet_size=payload)
    # A packet waits for at most one of each other transmission on its circuits, at each of its hops.
    flows = max(
        sum(k == other[0] for one in found.transmissions for other in one.path) for k in range(found.plan.ports)
    )
    hops = sum(len({len(one.path) for one in found.transmissions}) for _ in found.plan.steps) * found.plan.gpus
    assert told.total_s <= found.total_s + payload / RATE * (flows + 1) * hops
    assert told.total_s >= found.total_s - payload / RATE * (flows + 1) * hops


def on_ports(found: Timeline) -> dict[str, Any]:
    """The timeline whose switches hold what their port maps say when these are followed."""
    told: dict[str, Any] = json.loads(found.to_json())
    ports = json.loads(found.circuits().to_json())
    turn_s = told["plan"]["fabric"]["reconfiguration_delay_s"]
    for k, switch in enumerate(told["switches"]):
        held: set[tuple[int, int]] = set()
        rows: list[dict[str, Any]] = []
        for place, one in enumerate(ports["configurations"]):
            setting = one["switches"][k]
            if place and not setting["connect"] and not setting["disconnect"]:
                continue
            held = (held - set(map(tuple, setting["disconnect"]))) | set(map(tuple, setting["connect"]))
            if rows:
                rows[-1]["end_s"] = one["time_s"]
            circuits = [[ingress - 1, egress - 1] for ingress, egress in sorted(held)]
            ready_s = one["time_s"] + turn_s * (place > 0)
            rows.append({"ready_s": ready_s, "end_s": 2 * found.total_s + ready_s, "circuits": circuits})
        switch["configurations"] = rows
    return told


@pytest.mark.large
@pytest.mark.parametrize("seed", range(60))
def test_port_maps_carry_the_timeline(seed: int) -> None:
    found = drawn(seed)
    assert simulate(on_ports(found)) == pytest.approx(found.total_s, rel=1e-5)
    circuits = found.circuits()
    assert [check for check in found.verify_circuits(circuits) if not check.passed] == []
    told = json.loads(circuits.to_json())
    used = {(k, u, v) for one in found.transmissions for k, u, v in one.path}
    if not used:
        return
    k, u, v = sorted(used)[seed % len(used)]
    before: list[list[int]] = []
    for one in told["configurations"]:
        setting = one["switches"][k]
        now = [pair for pair in setting["connections"] if pair != [u + 1, v + 1]]
        setting["connect"] = [pair for pair in now if pair not in before]
        setting["disconnect"] = [pair for pair in before if pair not in now]
        setting["connections"] = before = now
    without = ll.Circuits.from_json(json.dumps(told))
    assert [check.passed for check in found.verify_circuits(without)] == [False]
