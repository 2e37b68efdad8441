"""A collective among some GPUs of a fabric: what it may use, what stays, and the best plan by brute force."""

from __future__ import annotations

import copy
import itertools
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import lightloom
from lightloom import Fabric, InputError, Plan, Topology

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STARTUP_S, HOP_S, CHANGE_S, BANDWIDTH_BPS = 1e-6, 5e-7, 4e-6, 8e11
SIZES = [64 << 10, 1 << 20, 16 << 20]
# Circuits by source and destination.
Circuits = dict[tuple[int, int], int]


def fabric_of(gpus: int, initial: Circuits | None, *, ports: int = 1, change_s: float = CHANGE_S) -> Fabric:
    """A fabric of this start."""
    start = None if initial is None else topology_of(gpus, initial, "start")
    return Fabric(
        gpus=gpus,
        ports=ports,
        startup=STARTUP_S,
        hop_delay=HOP_S,
        bandwidth=BANDWIDTH_BPS,
        reconfiguration_delay=change_s,
        initial=start,
    )


def topology_of(gpus: int, circuits: Circuits, name: str) -> Topology:
    """A topology of these circuits."""
    return Topology.from_links(name, gpus, [(src, dst, count) for (src, dst), count in circuits.items()])


def matchings(gpus: Sequence[int]) -> list[Circuits]:
    """Every way to give each GPU one circuit out and one in."""
    return [
        dict.fromkeys(zip(gpus, images, strict=True), 1)
        for images in itertools.permutations(gpus)
        if all(src != dst for src, dst in zip(gpus, images, strict=True))
    ]


def paths(circuits: Circuits, src: int, dst: int, through: set[int], most: int) -> Iterator[tuple[int, ...]]:
    """Every path of at most `most` hops that visits no GPU twice and passes only GPUs of `through`."""
    waiting: list[tuple[int, ...]] = [(src,)]
    while waiting:
        path = waiting.pop()
        for start, end in circuits:
            if start != path[-1] or end in path or len(path) > most:
                continue
            if end == dst:
                yield (*path, end)
            elif end in through:
                waiting.append((*path, end))


def least_load(circuits: Circuits, pairs: Sequence[tuple[int, int]], through: set[int], hops: int) -> float:
    """The least load of the busiest circuit when each pair sends one unit; infinite where a pair has no path."""
    found = [[*paths(circuits, src, dst, through, hops)] for src, dst in pairs]
    if not all(found):
        return np.inf
    columns = [(pair, path) for pair, own in enumerate(found) for path in own]
    links = list(circuits)
    # The last variable is the load.
    on_links = np.zeros((len(links), len(columns) + 1))
    sums = np.zeros((len(pairs), len(columns) + 1))
    for column, (pair, path) in enumerate(columns):
        sums[pair, column] = 1
        for link in itertools.pairwise(path):
            on_links[links.index(link), column] = 1 / circuits[link]
    on_links[:, -1] = -1
    aim = np.zeros(len(columns) + 1)
    aim[-1] = 1
    solved = linprog(aim, on_links, np.zeros(len(links)), sums, np.ones(len(pairs)))
    return float(solved.fun)


def step_s(circuits: Circuits, pairs: Sequence[tuple[int, int]], through: set[int], size_bytes: float) -> float:
    """The least time of a step that sends this much between each of the pairs."""
    longest = len(through) + 1
    return min(
        STARTUP_S + HOP_S * hops + size_bytes * 8 / BANDWIDTH_BPS * least_load(circuits, pairs, through, hops)
        for hops in range(1, longest + 1)
    )


def with_others(among: Circuits, start: Circuits, ranks: Sequence[int]) -> Circuits:
    """Circuits among the ranks of one port, with those of the start that end elsewhere and have a port left."""
    sends, receives = {src for src, _ in among}, {dst for _, dst in among}
    stays = {
        (src, dst): 1
        for src, dst in start
        if not (src in ranks and dst in ranks)
        and not (src in ranks and src in sends)
        and not (dst in ranks and dst in receives)
    }
    return {**among, **stays}


def best_s(
    start: Circuits,
    states: Sequence[Circuits],
    steps: Sequence[tuple[Sequence[tuple[int, int]], float]],
    through: set[int],
) -> float:
    """The least time of all sequences of these circuits."""
    costs = [[step_s(state, pairs, through, size_bytes) for state in states] for pairs, size_bytes in steps]
    best = np.inf
    for sequence in itertools.product(range(len(states)), repeat=len(steps)):
        total, before = 0.0, start
        for own, state in zip(costs, sequence, strict=True):
            total += own[state] + (CHANGE_S if states[state] != before else 0.0)
            before = states[state]
        best = min(best, total)
    return best


def doubling(ranks: Sequence[int], size_bytes: int) -> list[tuple[list[tuple[int, int]], float]]:
    """The steps of a ReduceScatter by recursive doubling: pairs of GPUs, and bytes of each."""
    n = len(ranks)
    return [
        ([(ranks[rank], ranks[(rank + distance) % n]) for rank in range(n)], size_bytes / (2 * distance))
        for distance in (1, 2)
    ]


@pytest.mark.parametrize("size_bytes", SIZES)
@pytest.mark.parametrize("forwards", [False, True])
@pytest.mark.parametrize(
    ("ranks", "start"),
    [
        ((0, 1, 3, 4), {(gpu, (gpu + 1) % 6): 1 for gpu in range(6)}),
        ((5, 2, 0, 3), {(0, 2): 1, (2, 0): 1, (3, 1): 1, (1, 5): 1, (5, 4): 1, (4, 3): 1}),
        ((1, 2, 4, 5), {(gpu, (gpu + 5) % 6): 1 for gpu in range(6)}),
    ],
)
def test_harvest_takes_the_best_of_all_sequences(
    ranks: tuple[int, ...], start: Circuits, size_bytes: int, *, forwards: bool
) -> None:
    """Four of six GPUs with one port, over every sequence of circuits, each step by a linear program of its own."""
    place = {gpu: rank for rank, gpu in enumerate(ranks)}
    choices = matchings(range(4))
    plan = lightloom.plan(
        "reduce-scatter",
        size_bytes,
        fabric=fabric_of(6, start),
        algorithm="recursive-doubling",
        planner="harvest",
        ranks=list(ranks),
        others_forward=forwards,
        candidates=[topology_of(4, own, f"own {index}") for index, own in enumerate(choices)],
    )
    moved: list[Circuits] = [{(ranks[src], ranks[dst]): 1 for src, dst in own} for own in choices]
    if forwards:
        states = [start, *(with_others(own, start, ranks) for own in moved)]
        through = set(range(6))
    else:
        among = {pair: count for pair, count in start.items() if set(pair) <= place.keys()}
        states, through = [among, *moved], set(ranks)
    expected = best_s(states[0], states, doubling(ranks, size_bytes), through)
    assert plan.total_s == pytest.approx(expected, rel=1e-9)
    assert plan.ranks == ranks
    assert all(check.passed for check in lightloom.verify(plan))


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_other_gpus_never_slow_a_plan_down(data: st.DataObject) -> None:
    """What other GPUs forward is a choice more; and each plan passes the judge."""
    gpus = data.draw(st.integers(4, 8))
    ports = data.draw(st.integers(1, 2))
    ranks = data.draw(st.permutations(range(gpus)))[: data.draw(st.integers(2, gpus - 1))]
    orders = [data.draw(st.permutations(range(gpus))) for _ in range(ports)]
    start: Circuits = {}
    for order in orders:
        for src, dst in zip(order, [*order[1:], order[0]], strict=True):
            start[src, dst] = start.get((src, dst), 0) + 1
    collective = data.draw(st.sampled_from(["all-reduce", "all-to-all", "all-gather", "broadcast"]))
    asked: dict[str, Any] = {
        "fabric": fabric_of(gpus, start, ports=ports, change_s=data.draw(st.sampled_from([1e-7, 1e-5, 1e-2]))),
        "planner": data.draw(st.sampled_from(["auto", "harvest", "weave"])),
        "ranks": ranks,
    }
    size_bytes = data.draw(st.sampled_from(SIZES))
    among = lightloom.plan(collective, size_bytes, **asked)
    forwarded = lightloom.plan(collective, size_bytes, others_forward=True, **asked)
    assert forwarded.total_s <= among.total_s * (1 + 1e-9)
    for plan in (among, forwarded):
        assert plan.lower_bound_s <= plan.total_s
        assert all(check.passed for check in lightloom.verify(Plan.from_json(plan.to_json())))


def test_all_gpus_in_their_order_are_no_subset() -> None:
    """The document is that without ranks."""
    fabric = Fabric(gpus=8, ports=2, initial="ring")
    plain = lightloom.plan("all-reduce", "1MiB", fabric=fabric)
    assert lightloom.plan("all-reduce", "1MiB", fabric=fabric, ranks="0-7").to_json() == plain.to_json()


def test_ranks_in_another_order_are_other_gpus_of_the_same_plan() -> None:
    """From a free start nothing depends on where the ranks are."""
    fabric = Fabric(gpus=12, ports=1)
    documents = []
    for ranks in ("1,3,5,7,9,11", "9,3,11,1,5,7"):
        told = json.loads(lightloom.plan("all-to-all", "1MiB", fabric=fabric, ranks=ranks).to_json())
        assert told.pop("ranks") == [int(gpu) for gpu in ranks.split(",")]
        assert told["fabric_gpus"] == 12
        documents.append(told)
    assert documents[0] == documents[1]
    among_six = json.loads(lightloom.plan("all-to-all", "1MiB", fabric=Fabric(gpus=6, ports=1)).to_json())
    documents[0].pop("fabric_gpus")
    assert documents[0] == among_six


@pytest.mark.parametrize("optics", ["crossbar", "parallel"])
def test_circuits_are_on_the_ports_of_the_gpus(optics: str) -> None:
    """Ports of other GPUs are in no connection, and those of the ranks join the GPUs that the plan joins."""
    ranks = [6, 1, 4, 3]
    fabric = Fabric(gpus=8, ports=2, reconfiguration_delay="1us")
    plan = lightloom.plan("all-to-all", "16MiB", fabric=fabric, ranks=ranks, planner="bvn")
    held = lightloom.circuits(plan, optics)
    per_switch = 2 if optics == "crossbar" else 1
    for configuration in held.configurations:
        joined: dict[tuple[int, int], int] = {}
        for switch in configuration.switches:
            for ingress, egress in switch.connections.tolist():
                ends = ((ingress - 1) // per_switch, (egress - 1) // per_switch)
                joined[ends] = joined.get(ends, 0) + 1
        topology = plan.topologies[plan.steps[configuration.steps[0]].topology_index]
        wanted = {(ranks[src], ranks[dst]): count for src, dst, count in topology.links.tolist()}
        assert joined == wanted
    assert all(check.passed for check in lightloom.verify(held, plan=plan))


def test_the_judge_finds_circuits_of_other_gpus_that_change() -> None:
    """Circuits that only forwarding GPUs have may not be set up, turned around or given up."""
    fabric = Fabric(gpus=6, ports=2, initial="ring", reconfiguration_delay="1ms")
    plan = lightloom.plan("all-gather", "1KiB", fabric=fabric, ranks="0,2,4", others_forward=True)
    assert (plan.gpus, plan.members) == (6, 3)
    document = json.loads(plan.to_json())
    other = copy.deepcopy(document["topologies"][0])
    document["topologies"].append({**other, "id": len(document["topologies"]), "name": "other"})
    links = document["topologies"][-1]["links"]
    ends = [link for link in links if link[0] >= 3]
    links.remove(ends[0])
    found = {check.name: check.passed for check in lightloom.verify(Plan.from_json(json.dumps(document)))}
    # Every circuit of the ring leads from a rank to another GPU or back, and may be given up.
    assert found["others"]
    links.append([3, 4, 1])
    links.sort()
    found = {check.name: check.passed for check in lightloom.verify(Plan.from_json(json.dumps(document)))}
    assert not found["others"]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (
            {"ranks": "3-1"},
            "ranks: the range `3-1` is not accepted; it takes ranges from the lower GPU to the higher, here 1-3",
        ),
        ({"ranks": "0,,1"}, "ranks: `0,,1` is not accepted; it takes GPUs such as 0-15,32-47"),
        ({"ranks": ""}, "ranks: `` is not accepted; it takes GPUs such as 0-15,32-47"),
        ({"ranks": "0-"}, "ranks: `0-` is not accepted; it takes GPUs such as 0-15,32-47"),
        ({"ranks": "2"}, "ranks: 1 GPU is not accepted; it takes at least two GPUs"),
        ({"ranks": "0-8"}, "ranks: 8 is not accepted; it takes GPUs 0 to 7"),
        ({"ranks": "0,0-2"}, "ranks: GPU 0 twice is not accepted; it takes each GPU once"),
        (
            {"ranks": [1.5, 2]},
            "ranks: `1.5` is not accepted; it takes whole numbers, each a GPU, such as [0, 1, 2, 3]",
        ),
        (
            {"others_forward": True},
            "others_forward: true without ranks is not accepted; it takes the GPUs that take part (`ranks`)",
        ),
        (
            {"ranks": "0-3", "others_forward": True},
            "others_forward: true with initial free is not accepted; it takes an initial topology such as ring, whose "
            "circuits other GPUs have",
        ),
    ],
)
def test_wrong_ranks_are_refused(told: dict[str, Any], message: str) -> None:
    """One line that names the option, the value and what is accepted."""
    with pytest.raises(InputError, match=r"^[^\n]*$") as refused:
        lightloom.plan("all-reduce", "1MiB", fabric=Fabric(gpus=8), **told)
    assert str(refused.value) == message


def test_ranks_are_any_sequence_of_whole_numbers() -> None:
    fabric = Fabric(gpus=8, initial="ring")
    wanted = lightloom.plan("all-gather", "1MiB", fabric=fabric, ranks="0-3").to_json()
    for ranks in ([0, 1, 2, 3], (0, 1, 2, 3), range(4), np.arange(4), np.arange(4, dtype=np.uint8)):
        found = lightloom.plan("all-gather", "1MiB", fabric=fabric, ranks=ranks)  # type: ignore[arg-type]
        assert found.to_json() == wanted


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"fabric_gpus": 20}, "plan.fabric_gpus: it is 20; where other GPUs forward it is 6"),
        ({"fabric_gpus": 70000}, "plan.fabric_gpus: 70000 is not accepted; it takes at most 65536"),
        ({"ranks": [0] * 6}, "plan.ranks: GPU 0 twice is not accepted; it takes each GPU once"),
        ({"ranks": []}, "plan.ranks: 0 GPUs is not accepted; it takes 6, one for a rank"),
        ({"forwarding_gpus": 6}, "plan.forwarding_gpus: it is 6; it must be fewer than the 6 GPUs"),
    ],
)
def test_plans_that_contradict_themselves_are_refused(told: dict[str, Any], message: str) -> None:
    fabric = Fabric(gpus=6, ports=2, initial="ring", reconfiguration_delay="1ms")
    plan = lightloom.plan("all-gather", "1KiB", fabric=fabric, ranks="0,2,4", others_forward=True)
    with pytest.raises(InputError) as refused:
        Plan.from_json(json.dumps(json.loads(plan.to_json()) | told))
    assert str(refused.value) == message


def test_planners_that_see_only_the_ranks_say_so() -> None:
    """Where other GPUs are to forward."""
    with pytest.raises(InputError, match="plans among the ranks alone"):
        lightloom.plan(
            "all-reduce", "1MiB", fabric=Fabric(gpus=8, initial="ring"), ranks="0-3", others_forward=True, planner="bvn"
        )
