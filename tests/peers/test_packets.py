"""Packets: ns-3 against closed forms, the additive cost, and our own simulator."""

import pytest

import lightloom as ll
from tests.peers.cases import CLOSED, EXACT_S, OPEN, PACED, TIED, UNLIKE, Case
from tests.peers.closed_form import burst_ends_s
from tests.peers.conftest import Ns3
from tests.peers.verdicts import packet_verdict

pytestmark = pytest.mark.peers
ADDITIVE = 3e-3


def named(case: Case) -> str:
    return case.name.replace(" ", "_")


@pytest.mark.parametrize("case", CLOSED, ids=named)
def test_bursts_on_one_way_rings_take_what_the_closed_form_says(case: Case, ns3: Ns3) -> None:
    run = ns3(case.traffic, header=case.header)
    expected = burst_ends_s(case.traffic, case.header)
    assert run.ends_s == pytest.approx(expected, rel=0, abs=EXACT_S)


@pytest.mark.parametrize("case", PACED, ids=named)
def test_paced_packets_take_the_additive_cost(case: Case, ns3: Ns3) -> None:
    """As far as a packet is small: its own store and forward is no part of the additive cost."""
    run = ns3(case.traffic, header=case.header, injection="paced")
    assert run.total_s == pytest.approx(case.additive_s, rel=ADDITIVE)


@pytest.mark.parametrize("case", [*CLOSED, *PACED], ids=named)
def test_we_take_what_ns3_takes_on_one_way_rings(case: Case, ns3: Ns3) -> None:
    mine = ll.simulate(case.plan, **case.packet_settings).total_s
    run = ns3(case.traffic, header=case.header, injection=case.injection)
    verdict = packet_verdict(case, run, mine)
    assert verdict.agrees, (mine, run.total_s, verdict.words)


@pytest.mark.parametrize("case", [*OPEN, *TIED], ids=named)
def test_we_take_what_ns3_takes_where_circuits_meet(case: Case, ns3: Ns3) -> None:
    mine = ll.simulate(case.plan, **case.packet_settings).total_s
    run = ns3(case.traffic, header=case.header, injection=case.injection)
    verdict = packet_verdict(case, run, mine)
    assert verdict.agrees, (mine, run.total_s, verdict.words)


@pytest.mark.parametrize("case", UNLIKE, ids=named)
def test_we_take_what_ns3_takes_with_ports_of_different_rates_and_around_faults(case: Case, ns3: Ns3) -> None:
    mine = ll.simulate(case.plan, **case.packet_settings).total_s
    verdict = packet_verdict(case, ns3(case.traffic, header=case.header), mine)
    assert verdict.agrees, (mine, verdict.words)


@pytest.mark.parametrize("case", [*OPEN, *TIED], ids=named)
def test_bursts_and_pacing_are_within_what_any_order_of_packets_allows(case: Case, ns3: Ns3) -> None:
    """No step beats its busiest circuit or its longest path, nor takes longer than one packet after the other."""
    run = ns3(case.traffic, header=case.header, injection=case.injection)
    byte_s = 8 / case.traffic.bandwidth_bps
    before = 0.0
    for step, end in zip(case.traffic.steps, run.ends_s, strict=True):
        busy: dict[int, float] = {}
        longest = alone = 0.0
        for flow in (flow for transfer in step.transfers for flow in transfer.flows):
            wire_s = flow.packets.wire_bytes(case.header) * byte_s
            for circuit in flow.circuits:
                busy[circuit] = busy.get(circuit, 0.0) + wire_s
            packet_s = (max(flow.packets.last, 1) + case.header) * byte_s
            longest = max(longest, len(flow.circuits) * (packet_s + case.traffic.hop_delay_s))
            alone += len(flow.circuits) * wire_s
        fixed = step.dark_s + step.startup_s
        pause = step.load * step.transfers[0].size_bytes * byte_s * 2 if case.injection == "paced" else 0.0
        took = end - before - fixed
        assert took >= max(max(busy.values()) + case.traffic.hop_delay_s, longest) - EXACT_S
        assert took <= alone + step.hops * case.traffic.hop_delay_s + pause + EXACT_S
        before = end


def test_ns3_settles_ties_the_same_way_every_time(ns3: Ns3) -> None:
    case = TIED[0]
    times = [ns3(case.traffic, header=case.header, injection=case.injection, ties=1).ends_s for _ in range(2)]
    assert times[0] == times[1]


def test_the_driver_refuses_what_is_no_traffic(ns3: Ns3) -> None:
    case = Case(collective="all-gather", algorithm="ring", gpus=4, size="4097B", topology="ring:one-way", payload=1)
    with pytest.raises(AssertionError, match="smaller on the wire than ns-3's own header"):
        ns3(case.traffic, header=0)
