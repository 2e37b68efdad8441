"""The traffic that the peers are given is the plan's."""

from fractions import Fraction

import pytest

import lightloom as ll
from tests.peers.cases import CLOSED, OPEN, Case
from tests.peers.closed_form import burst_ends_s
from tests.peers.test_packets import named
from tests.peers.traffic import moved, path_of_each, traffic, translations, whole_bytes

SAMPLE = [*CLOSED[::9], *(case for case in OPEN if case.injection == "burst")]


@pytest.mark.large
@pytest.mark.parametrize("case", SAMPLE, ids=named)
def test_flows_carry_what_the_plan_says_over_circuits_that_join_up(case: Case) -> None:
    for step, planned in zip(case.traffic.steps, case.plan.steps, strict=True):
        carried = dict.fromkeys(range(len(step.circuits)), 0)
        largest = 0
        for transfer in step.transfers:
            assert sum(flow.packets.payload_bytes for flow in transfer.flows) == transfer.size_bytes
            largest = max(largest, transfer.size_bytes)
            assert sum(count for _, count in transfer.runs) == sum(flow.packets.count for flow in transfer.flows)
            for flow in transfer.flows:
                hops = [step.circuits[circuit] for circuit in flow.circuits]
                assert [transfer.src, *(hop.dst for hop in hops)] == list(flow.nodes)
                assert [*(hop.src for hop in hops), transfer.dst] == list(flow.nodes)
                for circuit in flow.circuits:
                    carried[circuit] += flow.packets.payload_bytes
        # Packets are dealt out whole: a circuit has up to a packet of each flow more than its share.
        slack = case.payload * len(step.transfers)
        assert max(carried.values()) <= planned.load * planned.transfer_bytes + slack
        assert max(carried.values()) >= planned.load * planned.transfer_bytes - 1e-6 * planned.transfer_bytes
        assert largest == whole_bytes(planned.transfer_bytes)
        fluid = max(len(flow.nodes) for flow in step.fluid) - 1
        assert fluid == planned.hops


def test_packets_of_a_transfer_are_full_but_for_the_last() -> None:
    plan = ll.plan(
        "all-gather", 40_001 * 4, fabric=ll.Fabric(gpus=4), algorithm="ring", planner="static", topology="ring"
    )
    flows = [flow for step in traffic(plan, 4096).steps for transfer in step.transfers for flow in transfer.flows]
    assert {(flow.packets.count, flow.packets.last) for flow in flows} == {(10, 40_001 - 9 * 4096)}
    assert {flow.packets.wire_bytes(64) for flow in flows} == {40_001 + 640}


def test_bytes_are_rounded_up_unless_they_are_whole_but_for_rounding() -> None:
    assert [whole_bytes(size) for size in (1.0, 1.1, 0.2, 2e6 + 0.5, 3 * (1 / 3), 1e7 + 0.4)] == [
        1,
        2,
        1,
        2000000,
        1,
        10**7,
    ]


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.625, 0.375), (1 / 3, 1 / 3, 1 / 3), (0.9, 0.06, 0.04)])
def test_packets_are_dealt_out_by_shares(shares: tuple[float, ...]) -> None:
    taken = path_of_each(shares, 1000)
    for packets in (1, 7, 100, 1000):
        for path, share in enumerate(shares):
            assert abs(taken[:packets].count(path) - share * packets) <= 1.5
    assert taken[0] == shares.index(max(shares)), "the first of equals"


def test_parallel_circuits_take_turns() -> None:
    fabric = ll.Fabric(gpus=4, ports=2)
    plan = ll.plan("all-gather", "64KiB", fabric=fabric, algorithm="ring", planner="static", topology="circulant:1,1")
    (transfer, *_) = traffic(plan, 4096).steps[0].transfers
    assert [flow.packets.count for flow in transfer.flows] == [2, 2]
    assert transfer.runs == ((0, 1), (1, 1), (0, 1), (1, 1))


def test_translations_act_freely_and_form_a_group() -> None:
    symmetry = [(1, 2), (4, 3)]
    elements = translations(symmetry)
    assert len(set(elements)) == 6
    images = {tuple(moved(symmetry, element, rank) for rank in range(12)) for element in elements}
    assert len(images) == 6
    assert all(sorted(image) == list(range(12)) for image in images)
    assert {moved(symmetry, a, b) for a in elements for b in elements} == set(elements)


def test_the_closed_form_is_the_textbook_one() -> None:
    fabric = ll.Fabric(gpus=16)
    plan = ll.plan(
        "reduce-scatter",
        "1MiB",
        fabric=fabric,
        algorithm="recursive-doubling",
        planner="static",
        topology="ring:one-way",
    )
    total = Fraction(0)
    for step in range(4):
        hops = 2**step
        message, packet, delay = Fraction(2**19 >> step) / 10**11, Fraction(4096, 10**11), Fraction(1, 2 * 10**6)
        total += delay + max(hops * message + delay, message + hops * delay + (hops - 1) * packet)
    assert burst_ends_s(traffic(plan, 4096), 0)[-1] == pytest.approx(float(total), rel=1e-14)
    assert float(total) == pytest.approx(24.97152e-6, rel=1e-12)


def test_the_closed_form_refuses_what_it_does_not_hold_for() -> None:
    for case in (OPEN[0], OPEN[4]):
        with pytest.raises(ValueError, match="one distance"):
            burst_ends_s(case.traffic, 0)
