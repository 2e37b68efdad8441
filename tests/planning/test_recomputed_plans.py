"""Plans of random problems against a second implementation that sees only their JSON; see docs/robustness.md."""

import json
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from tests.names import names
from tests.recompute.counts import Counts
from tests.recompute.evaluate import recompute
from tests.recompute.problems import question
from tests.reference.plan_document import Arc
from tests.reference.plan_packets import transfer_fs, wire_fs
from tests.reference.recomputed_plan import faults

pytestmark = pytest.mark.slow

SEED, PROBLEMS, MOST_PACKET_HOPS = 7, 300, 30_000
PLANNERS = set(names("planners"))


@cache
def counted() -> Counts:
    counts = Counts()
    for index in range(10 * PROBLEMS):
        # After the first ones, only problems for planners of which there was none.
        if index < PROBLEMS or question(SEED, index).settings["planner"] in PLANNERS - set(counts.planners):
            counts.add(recompute(SEED, index, MOST_PACKET_HOPS))
    return counts


@pytest.mark.large
def test_every_plan_is_what_its_json_says() -> None:
    assert counted().faults == []


@pytest.mark.large
def test_problems_of_every_category_are_recomputed() -> None:
    counts = counted()
    for category in ("pipelined", "hidden", "per-port", "given start"):
        assert counts.outcomes[category, "recomputed"] >= 40
    assert counts.of("refused") < PROBLEMS / 5
    assert set(counts.planners) == PLANNERS
    assert max(counts.gpus) == 64


@cache
def documents() -> tuple[str, ...]:
    """Plans with something of every kind that is recomputed."""
    hiding = ll.Fabric(
        gpus=8, ports=2, background_reconfiguration=True, reconfiguration_delay="1us+20ns/port", initial="dark"
    )
    plain = ll.Fabric(gpus=6, ports=2, reconfiguration_delay="100ns")
    return (
        ll.plan("all-reduce", "64KiB", fabric=hiding, algorithm="recursive-doubling", planner="harvest").to_json(),
        ll.plan("all-to-all", "64KiB", fabric=plain, algorithm="direct", overlap="pipelined").to_json(),
        ll.plan("all-gather", "64KiB", fabric=plain, algorithm="bruck", routing="equal-split").to_json(),
    )


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(
    "key",
    ["total_s", "reconfigurations", "lower_bound_s", "size_bytes"],
)
def test_a_number_of_the_plan_that_is_off_is_found(place: int, key: str) -> None:
    document = json.loads(documents()[place])
    document[key] = document["total_s"] * 1.01 if key == "lower_bound_s" else document[key] * 2 + 1
    assert faults(json.dumps(document))


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(
    "key",
    [
        "transfer_bytes",
        "hops",
        "load",
        "startup_s",
        "propagation_s",
        "transmission_s",
        "reconfiguration_s",
        "reconfigured",
    ],
)
def test_a_number_of_a_step_that_is_off_is_found(place: int, key: str) -> None:
    document = json.loads(documents()[place])
    for index, step in enumerate(document["steps"]):
        before = step[key]
        step[key] = not before if key == "reconfigured" else before * (1 + 1e-9) + (1e-15 if key.endswith("_s") else 0)
        step[key] = before + 1 if key == "hops" else step[key]
        found = faults(json.dumps(document))
        assert any(text.startswith(f"step {index}: {key}") for text in found), found
        step[key] = before


@settings(deadline=None)
@given(st.integers(2, 9), st.integers(1, 8), st.integers(1, 60_000), st.sampled_from([0.0, 2e-8, 5e-7, 3e-5]))
def test_packets_on_a_one_way_ring_take_what_the_closed_form_says(
    gpus: int, hops: int, size: int, hop_delay_s: float
) -> None:
    """max( h·W + δ, W + h·δ + (h-1)·p ), docs/cost-model.md."""
    hops = min(hops, gpus - 1)
    ring = {(gpu, (gpu + 1) % gpus): 1 for gpu in range(gpus)}
    ways = [tuple((gpu + hop) % gpus for hop in range(hops + 1)) for gpu in range(gpus)]
    arcs = [Arc(way[0], way[-1], ((1.0, way),), 0) for way in ways]
    full, rest = divmod(size, 4096)
    message_fs = full * wire_fs(Fraction(4096), 1e11) + wire_fs(Fraction(rest), 1e11)
    packet_fs, delay_fs = wire_fs(Fraction(min(size, 4096)), 1e11), round(hop_delay_s * 1e15)
    taken_fs = transfer_fs(
        arcs, dict.fromkeys([(arc.src, arc.dst) for arc in arcs], Fraction(size)), ring, 1e11, hop_delay_s
    )
    assert taken_fs == max(hops * message_fs + delay_fs, message_fs + hops * delay_fs + (hops - 1) * packet_fs)


def altered(document: dict[str, Any], step: int, kind: str) -> None:
    transfers, arcs = document["steps"][step]["transfers"], document["steps"][step]["routes"]["arcs"]
    match kind:
        case "a transfer left out":
            transfers.pop()
        case "a reduction made a copy, or a copy a reduction":
            transfers[0][2] = "copy" if transfers[0][2] == "reduce" else "reduce"
        case "a share":
            arcs[0][2][0][0] *= 0.99
        case "a path":
            arcs[0][2][0][1] = arcs[0][2][0][1][::-1]
        case "a circuit":
            document["topologies"][document["steps"][step]["topology"]]["links"].pop()
        case "a circuit more":
            document["topologies"][document["steps"][step]["topology"]]["links"][-1][2] += 5


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(
    "kind",
    [
        "a transfer left out",
        "a reduction made a copy, or a copy a reduction",
        "a share",
        "a path",
        "a circuit",
        "a circuit more",
    ],
)
def test_a_plan_that_does_otherwise_is_found(place: int, kind: str) -> None:
    document = json.loads(documents()[place])
    altered(document, 0, kind)
    try:
        assert faults(json.dumps(document))
    except AssertionError as error:
        # The reader of circuits asserts that the symmetry which a topology claims is there.
        assert "circuit" in kind, error
