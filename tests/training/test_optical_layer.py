"""Iterations on optical layers: turns at shared ports by hand, every course of tiny iterations, and by chance."""

from __future__ import annotations

import itertools
import json
import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.simulation.retiming import retimed
from tests.training.random_workloads import fabric as fabric_by_chance
from tests.training.random_workloads import workload as workload_by_chance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightloom.planning import Check

DELAY_S = 1e-5
SIZE = 1 << 20


def _pairs(groups: Sequence[tuple[int, int]], after: Sequence[Sequence[int]], ranks: int = 4) -> ll.Workload:
    """AllReduces of pairs of ranks, each after others by their places."""
    named = {f"{a}-{b}": [a, b] for a, b in groups}
    nodes = [
        {
            "id": f"n{place}",
            "kind": "collective",
            "collective": "all-reduce",
            "group": f"{a}-{b}",
            "size_bytes": SIZE,
            "after": [f"n{other}" for other in after[place]],
        }
        for place, (a, b) in enumerate(groups)
    ]
    told = {"schema": "lightloom.workload/1", "ranks": ranks, "mesh": {}, "groups": named, "nodes": nodes}
    return ll.Workload.of(told)


def _fabric(optics: str | None, **given: Any) -> ll.Fabric:
    return ll.Fabric(**{"ports": 1, "reconfiguration_delay": DELAY_S, "optics": optics, **given})


def _failed(training: ll.Training) -> list[Check]:
    return [check for check in ll.verify(training) if not check.passed]


def _all_pass(training: ll.Training, *, finds_ports: bool = True) -> None:
    """The plan, read again, and its circuits pass their judges.

    finds_ports: whether circuits of islands have ports that they keep as long as they are needed; else they may not.
    """
    assert _failed(training) == []
    assert ll.Training.from_json(training.to_json()) == training
    try:
        made = ll.circuits(training)
    except InputError as refused:
        assert not finds_ports
        assert re.fullmatch(r"optics: island \d+ has \d+ ports?; none were found [^\n]*", str(refused))
        return
    assert [check for check in ll.verify(made) if not check.passed] == []
    again = ll.Circuits.from_json(made.to_json())
    assert [check for check in ll.verify(again, plan=training) if not check.passed] == []


def test_two_pairs_take_turns_at_the_port_of_their_islands() -> None:
    # Islands {0, 1} and {2, 3} of one port: {0, 2} and {1, 3} cannot both have circuits. Each is set up when the other
    # has ended, the first at the beginning of each iteration, so that an iteration is two changes and two AllReduces.
    read = _pairs([(0, 2), (1, 3)], [(), ()])
    free = ll.train(read, fabric=_fabric(None))
    one_s = free.total_s
    for ports, by_hand_s in ((1, 2 * (DELAY_S + one_s)), (2, one_s)):
        training = ll.train(read, fabric=_fabric(f"islands:2x{ports}"))
        assert training.total_s == pytest.approx(by_hand_s, rel=1e-12)
        _all_pass(training)
    first, second = sorted(ll.train(read, fabric=_fabric("islands:2x1")).events, key=lambda event: event.start_s)
    assert {first.gives_up, second.gives_up} == {(0,), (1,)}


def test_islands_with_a_port_for_each_of_their_gpus_limit_nothing() -> None:
    # The messages leave rank 2 with other circuits than the ring that the others keep. They change back during the
    # messages, over which the ring is shared: circuits of the two are not added.
    told = json.loads(_pairs([(0, 1)], [()], ranks=8).to_json())
    told |= {"mesh": {"a": 4, "b": 2}, "groups": {}}
    told["nodes"] = [
        {"id": "n0", "kind": "collective", "collective": "all-to-all", "axis": "a", "size_bytes": 10**6, "after": []},
        {"id": "n1", "kind": "send", "source": [0, 3, 4, 7], "destination": [1, 0, 5, 4], "size_bytes": 1000}
        | {"after": ["n0"]},
    ]
    given = {"hop_delay": 1e-3, "startup": 1e-6}
    free = ll.train(ll.Workload.of(told), fabric=_fabric(None, **given))
    training = ll.train(ll.Workload.of(told), fabric=_fabric("islands:3x3", **given))
    assert training.events == free.events
    _all_pass(training)


def test_pairs_within_islands_need_no_ports() -> None:
    read = _pairs([(0, 1), (2, 3)], [(), ()])
    assert ll.train(read, fabric=_fabric("islands:2x1")).total_s == ll.train(read, fabric=_fabric(None)).total_s


def test_groups_of_a_node_that_cannot_be_at_once_are_refused_in_a_line() -> None:
    told = json.loads(_pairs([(0, 2)], [()]).to_json())
    told |= {"mesh": {"near": 2, "far": 2}, "groups": {}}
    told["nodes"] = [
        {"id": "n", "kind": "collective", "collective": "all-reduce", "axis": "far", "size_bytes": SIZE, "after": []}
    ]
    with pytest.raises(InputError, match=r"island 0 \(GPUs 0 to 1\) has 1 port; 2 circuits") as refused:
        ll.train(ll.Workload.of(told), fabric=_fabric("islands:2x1"))
    assert refused.value.field == "optics"
    assert "\n" not in str(refused.value)
    assert ll.train(ll.Workload.of(told), fabric=_fabric("islands:2x2")).total_s > 0


# Every course of tiny iterations.


class _Course:
    """Pairs in a given order, with given circuits given up for each, followed until iterations are alike."""

    def __init__(
        self, pairs: Sequence[tuple[int, int]], after: Sequence[Sequence[int]], one_s: float, most: int
    ) -> None:
        self.pairs, self.after, self.one_s, self.most = pairs, after, one_s, most

    def crossing(self, lit: set[tuple[int, int]]) -> int:
        return sum(a // 2 != b // 2 for a, b in lit)

    def total_s(self, order: Sequence[int], given_up: Sequence[frozenset[tuple[int, int]]]) -> float | None:
        """The time of an iteration; None where circuits do not fit, or iterations do not become alike."""
        stands: dict[int, tuple[int, int]] = {}
        free_s = dict.fromkeys(range(4), 0.0)
        ended: list[tuple[tuple[int, int], float]] = []
        before = None
        for _ in range(6):
            ends_s: dict[int, float] = {}
            latest_s = 0.0
            for node in order:
                pair = self.pairs[node]
                ready_s = max([0.0, *(free_s[rank] for rank in pair), *(ends_s[other] for other in self.after[node])])
                kept = all(stands.get(rank) == pair for rank in pair) and not given_up[node]
                start_s = ready_s if kept else max(ready_s, *(free_s[rank] + DELAY_S for rank in pair))
                # Later, when fewer are under way, as long as there is no room.
                waits_s = [end_s + (0.0 if kept else DELAY_S) for _, end_s in ended]
                for begin_s in sorted({start_s, *(wait_s for wait_s in waits_s if wait_s > start_s)}):
                    set_up_s = begin_s - (0.0 if kept else DELAY_S)
                    under_way = {other for other, end_s in ended if end_s > set_up_s + 1e-12}
                    lit = {other for rank, other in stands.items() if rank not in pair} - given_up[node]
                    if self.crossing(lit | under_way | {pair}) <= self.most:
                        break
                else:
                    return None
                if begin_s < latest_s or given_up[node] & under_way:
                    return None
                latest_s = begin_s
                stands = {rank: other for rank, other in stands.items() if other not in given_up[node]}
                # A circuit is there as long as both of its ends have it.
                stands = {rank: other for rank, other in stands.items() if not {*other} & {*pair} or other == pair}
                stands |= dict.fromkeys(pair, pair)
                ends_s[node] = begin_s + self.one_s
                ended.append((pair, ends_s[node]))
                free_s |= dict.fromkeys(pair, ends_s[node])
            total_s = max(ends_s.values())
            free_s = {rank: time_s - total_s for rank, time_s in free_s.items()}
            ended = [(pair, end_s - total_s) for pair, end_s in ended]
            now = (stands, ends_s)
            if before == now or (before and before[0] == stands and before[1] == pytest.approx(ends_s, rel=1e-12)):
                return total_s
            before = now
        return None

    def courses(self) -> Iterator[float]:
        nodes = range(len(self.pairs))
        drops = [
            [
                frozenset(some)
                for count in range(len(others) + 1)
                for some in itertools.combinations(sorted(others), count)
            ]
            for others in ({*self.pairs} - {self.pairs[node]} for node in nodes)
        ]
        for order in itertools.permutations(nodes):
            if any(order.index(other) > order.index(node) for node in nodes for other in self.after[node]):
                continue
            for given_up in itertools.product(*drops):
                if (total_s := self.total_s(order, given_up)) is not None:
                    yield total_s


@pytest.mark.parametrize("seed", range(12))
def test_no_course_of_three_pairs_is_faster(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 (tests)
    pairs = [rng.choice(list(itertools.combinations(range(4), 2))) for _ in range(3)]
    after = [[other for other in range(node) if rng.random() < 0.3] for node in range(3)]
    read = _pairs(pairs, after)
    free = ll.train(read, fabric=_fabric(None))
    one_s = free.events[0].end_s - free.events[0].start_s
    most = rng.choice((1, 2))
    best_s = min(_Course(pairs, after, one_s, most).courses())
    training = ll.train(read, fabric=_fabric(f"islands:2x{most}"))
    assert training.total_s == pytest.approx(best_s, rel=1e-9)
    assert training.total_s >= free.total_s * (1 - 1e-12)
    _all_pass(training)


# By chance.


@pytest.mark.large
@pytest.mark.parametrize("seed", range(8))
def test_layers_that_hold_everything_change_nothing(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 (tests)
    told, fabric = workload_by_chance(rng, most=5), fabric_by_chance(rng)
    read = ll.Workload.of(told)
    free = ll.train(read, fabric=fabric)
    for optics in ("crossbar", "parallel"):
        training = ll.train(read, fabric=_on(fabric, optics))
        assert (training.events, training.policies) == (free.events, free.policies)
        assert training.fabric.optical_layer == optics
        _all_pass(training)
    wide = ll.train(read, fabric=_on(fabric, f"islands:{read.ranks}x1"))
    assert wide.total_s == pytest.approx(free.total_s, rel=1e-9)
    _all_pass(wide)


@pytest.mark.large
@pytest.mark.parametrize("seed", range(30))
def test_iterations_on_islands_pass_the_judge(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 (tests)
    read, fabric = ll.Workload.of(workload_by_chance(rng, most=6)), fabric_by_chance(rng)
    gpus = rng.choice((2, 3, 4))
    optics = f"islands:{gpus}x{rng.randint(1, gpus * fabric.ports)}"
    free = ll.train(read, fabric=fabric)
    try:
        training = ll.train(read, fabric=_on(fabric, optics))
    except InputError as refused:
        assert refused.field in {"optics", "policy"}, refused
        return
    assert training.total_s >= free.lower_bound_s * (1 - 1e-12)
    _all_pass(training, finds_ports=False)
    again = retimed(training, [event.end_s - event.start_s for event in training.events])
    assert again.total_s == pytest.approx(training.total_s, rel=1e-9)
    for policy, time_s in training.policies.items():
        if time_s is not None and policy != "packet-switch":
            _all_pass(ll.train(read, fabric=_on(fabric, optics), policy=policy), finds_ports=False)


def _on(fabric: ll.Fabric, optics: str) -> ll.Fabric:
    return replace(fabric, optics=optics)


# What the judge finds.


def _told() -> dict[str, Any]:
    read = _pairs([(0, 2), (1, 3)], [(), ()])
    return dict(json.loads(ll.train(read, fabric=_fabric("islands:2x1")).to_json()))


def _findings(told: dict[str, Any]) -> set[str]:
    return {check.name for check in _failed(ll.Training.unjudged(json.dumps(told)))}


def test_the_judge_finds_circuits_that_are_not_given_up() -> None:
    assert _findings(_told()) == set()
    told = _told()
    for event in told["events"]:
        event.pop("gives_up")
    assert "optics" in _findings(told)


def test_the_judge_finds_circuits_that_are_given_up_in_use() -> None:
    told = _told()
    later = max(told["events"], key=lambda event: event["start_s"])
    later["start_s"] -= DELAY_S
    later["end_s"] -= DELAY_S
    assert {"circuits", "optics"} & _findings(told)


def test_the_judge_counts_what_is_at_once() -> None:
    # A plan for no layer, said to be for islands of one port.
    told = json.loads(ll.train(_pairs([(0, 2), (1, 3)], [(), ()]), fabric=_fabric(None)).to_json())
    for optics, found in (("islands:2x2", set()), ("islands:2x1", {"optics"}), ("mesh:4x4", set())):
        told["fabric"]["optics"] = optics
        assert _findings(told) == found
