"""How slow runs are made, so that the times are those of the plan and not of the machine."""

import math

import pytest

import lightloom as ll
from lightloom.running.pace import Pace, pace_of
from lightloom.running.program import program_of


def pace(plan: ll.Plan, **given: float) -> Pace:
    """In shared memory, of elements of 4 bytes."""
    return pace_of(plan, program_of(plan, element_bytes=4), "shared-memory", **given)  # type: ignore[arg-type]


def test_packets_over_hops_are_counted_in_the_busiest_step() -> None:
    # A ring of 8 GPUs: messages are passed on.
    fabric = ll.Fabric(gpus=8)
    plan = ll.plan("reduce-scatter", "64KiB", fabric=fabric, algorithm="halving-doubling", planner="static")
    found = pace(plan, dilation=1000.0, packet_bytes=1024)
    by_step = []
    for step in plan.steps:
        hops = sum(len(path.gpus) - 1 for path in plan.routes(step.index))
        by_step.append(hops * math.ceil(step.transfer_bytes / 1024) / (step.total_s * 1000))
    assert found.packet_rate == pytest.approx(max(by_step))
    assert found.dilation == 1000
    assert found.packet_bytes == 1024


@pytest.mark.parametrize(("gpus", "ports", "size"), [(64, 2, "1MiB"), (16, 2, "1MiB"), (8, 1, "4KiB"), (4, 1, "64MiB")])
def test_the_chosen_dilation_leaves_the_cores_enough_time(gpus: int, ports: int, size: str) -> None:
    plan = ll.plan("all-to-all", size, fabric=ll.Fabric(gpus=gpus, ports=ports), planner="harvest")
    found = pace(plan)
    assert found.packet_rate <= found.most_packet_rate
    first_digit = f"{found.dilation:e}"[0]
    assert first_digit in "125"
    # Short packets are more packets, and take longer.
    assert pace(plan, packet_bytes=64).dilation >= found.dilation
    # Twice as slow is half as many a second.
    twice = pace(plan, dilation=found.dilation * 2, packet_bytes=found.packet_bytes)
    assert twice.packet_rate == pytest.approx(found.packet_rate / 2)


def test_more_packets_than_the_cores_keep_up_with_are_inconclusive() -> None:
    plan = ll.plan("all-to-all", "64KiB", fabric=ll.Fabric(gpus=4), algorithm="direct", planner="harvest")
    measurement = ll.run(plan, runs=1, warm_ups=0, dilation=1000, packet_size=64, real_time=False)
    settings = measurement.settings
    assert settings.packet_rate is not None
    assert settings.most_packet_rate is not None
    assert settings.packet_rate > settings.most_packet_rate
    assert measurement.verdict == "inconclusive"
    assert measurement.wrong == 0
