"""The numbers of a planned iteration, compared with numbers that were computed on paper."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.training.communications import changes_within, communications
from lightloom.training.members import Members
from lightloom.training.result import Training
from lightloom.training.timeline import (
    changes,
    dark_before_end,
    labels,
    port_sets,
    rank_classes,
    spans_words,
    within_iteration,
)
from tests.training.iterations import BACK, COURSE, DARK_S, LAYER_S, MFU, MICRO, iteration, planned, shown, workload

ALL = tuple(range(8))


def test_the_parts_of_an_iteration_add_up() -> None:
    training = planned()
    assert training.total_s == pytest.approx(248 * MICRO)
    assert training.exposed_communication_s == pytest.approx(training.total_s - training.compute_s)
    assert sum(training.critical_path_s.values()) == pytest.approx(training.total_s)
    assert training.mfu == pytest.approx(MFU)
    assert (training.name, training.ranks, training.mesh) == ("two axes", 8, {"tp": 4, "dp": 2})
    assert (training.fabric.ports, training.fabric.bandwidth_bps) == (2, 8e11)
    # The plans of one group each take as long as the events of all groups at once.
    assert len(training.plans) == 2
    for event in training.events:
        if event.plan is not None:
            assert event.end_s - event.start_s == pytest.approx(training.plans[event.plan].total_s)


def test_events_say_who_takes_part() -> None:
    found = {event.node: (event.kind, event.label, event.ranks) for event in planned().events}
    assert found == {
        "f0": ("compute", "compute", ALL),
        "a0": ("collective", "tp", ALL),
        "g0": ("compute", "compute", (0, 1, 2, 3)),
        "h0": ("compute", "compute", tuple(BACK)),
        "s0": ("send", "sends", ALL),
        "d0": ("collective", "dp", ALL),
    }


def test_an_axis_within_ranks_has_its_whole_groups_alone() -> None:
    members = Members({**workload(), "groups": {"most": [0, 1, 2, 3, 4, 5], "pair": [1, 6]}})
    within = {"kind": "collective", "axis": "tp", "ranks": "most"}
    # The tp groups are 0–3 and 4–7, the dp groups 0 and 4, 1 and 5, 2 and 6, 3 and 7.
    assert members.ranks_of(within) == (0, 1, 2, 3)
    assert members.ranks_of({**within, "axis": "dp"}) == (0, 1, 4, 5)
    assert members.group_size({**within, "axis": "dp"}) == 2
    named = {"kind": "collective", "group": ["pair"]}
    assert (members.ranks_of(named), members.label_of(named), members.group_size(named)) == ((1, 6), "pair", 2)


def test_without_flops_there_is_no_mfu() -> None:
    told = iteration()
    for key in ("model_flops", "peak_flops"):
        document = {**told, "workload": {name: value for name, value in told["workload"].items() if name != key}}
        assert shown(document).mfu is None


def test_an_iteration_is_what_was_saved(tmp_path: Path) -> None:
    training = planned()
    training.save(tmp_path / "training.json")
    assert json.loads((tmp_path / "training.json").read_text()) == iteration()
    assert repr(training) == "Training(two axes, 8 ranks, carry: 248.0 µs, 2 reconfigurations)"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "lightloom.plan/1"}', "1" * 5000, "[" * 100_000])
def test_what_is_no_iteration_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^training"):
        Training.from_json(text)


def test_columns_have_a_row_an_event() -> None:
    columns = planned(3).to_columns()
    assert {len(values) for values in columns.values()} == {6 * 3}
    assert columns["size_bytes"][:6] == [None, 4_000_000, None, None, 1_000_000, 2_000_000]
    assert columns["ports"][:6] == [len(ports) for _, _, _, ports, _, _ in COURSE]


@pytest.mark.parametrize("layers", [1, 4])
def test_events_that_are_alike_are_one_communication(layers: int) -> None:
    found = communications(planned(layers))
    assert {(one.collective, one.labels, one.group_size, one.count) for one in found} == {
        ("all-reduce", ("tp",), 4, layers),
        ("send", ("sends",), 2, layers),
        ("all-gather", ("dp",), 2, layers),
    }
    assert found[0].collective == "all-reduce"
    assert found[0].each_s == pytest.approx(66 * MICRO)
    assert [one.topologies for one in found if one.plan is not None] == [("ring",), ("ring",)]
    assert sum(one.total_s for one in found) == pytest.approx(layers * 88 * MICRO)


def test_ranks_that_compute_alike_and_ports_that_are_used_alike_share_rows() -> None:
    training = planned(2)
    assert rank_classes(training) == [
        ("ranks 0–3", (0, 1, 2, 3), (0, 2, 6, 8)),
        ("back", (4, 5, 6, 7), (0, 3, 6, 9)),
    ]
    assert port_sets(training) == [("port 1", (0,), (1, 7)), ("port 2", (1,), (4, 5, 10, 11))]
    assert labels(training) == ["tp", "dp", "sends"]


def test_ports_are_dark_from_their_last_use_on() -> None:
    first, second = changes(planned())
    # The AllGather of the iteration before ends when this one begins; the change for the messages hides behind compute.
    assert first == pytest.approx((4, 0.0, DARK_S, DARK_S))
    assert second == pytest.approx((5, 227 * MICRO, 227 * MICRO, 237 * MICRO))


def test_a_change_while_the_iteration_before_ends_is_at_its_end() -> None:
    told = iteration()
    # The AllReduce uses port 1 only from 100 to 166 µs: its change begins 82 µs before the iteration's end.
    told["events"][1]["reconfigured"] = True
    change = changes(shown(told))[0]
    assert change == pytest.approx((1, -82 * MICRO, -72 * MICRO, -72 * MICRO))
    (span,) = within_iteration(change.first_s, change.last_s, LAYER_S)
    assert span == pytest.approx((166 * MICRO, 176 * MICRO))
    assert within_iteration(-1.0, 2.0, 10.0) == [(0.0, 2.0), (9.0, 10.0)]
    assert within_iteration(9.0, 12.0, 10.0) == [(0.0, 2.0), (9.0, 10.0)]
    assert within_iteration(3.0, 3.0, 10.0) == []


def test_ports_that_go_back_are_dark_after_the_event_and_not_usable() -> None:
    told = iteration()
    told["events"][1] |= {"reconfigured": True, "returns": True}
    before, after = changes(shown(told))[:2]
    # Back until 176 µs, and from there on to the AllReduce's circuits again.
    assert before == pytest.approx((1, -72 * MICRO, -62 * MICRO, -62 * MICRO))
    # Nothing that waits for the AllReduce starts 10 µs after it: the change is hidden.
    assert after == pytest.approx((1, 166 * MICRO, 176 * MICRO, 176 * MICRO))


def test_ports_that_end_with_the_resting_topology_are_not_dark_after_it() -> None:
    told = iteration()
    told["events"][1] |= {"returns": True}
    told["events"][5] |= {"returns": True, "reconfigured": False}
    rests = ll.Fabric(gpus=4, initial="ring")
    plan = ll.plan("all-reduce", 4_000_000, fabric=rests, algorithm="ring", planner="static", topology="ring")
    told["plans"][0] = json.loads(plan.to_json())
    # The AllReduce's ring is where it rests; the AllGather's plan says another start, and goes back at the end.
    assert [change.event for change in changes(shown(told))] == [4, 5]
    assert changes(shown(told))[1] == pytest.approx((5, LAYER_S, LAYER_S + DARK_S, LAYER_S + DARK_S))


def test_changes_within_a_plan_are_before_its_steps() -> None:
    fabric = ll.Fabric(gpus=8, reconfiguration_delay="10us")
    plan = ll.plan("all-reduce", "8MiB", fabric=fabric, algorithm="halving-doubling", planner="bvn")
    told = iteration()
    told["plans"][0] = json.loads(plan.to_json())
    assert changes_within(shown(told)) == plan.reconfigurations
    dark = dark_before_end(plan)
    assert len(dark) == plan.reconfigurations > 1
    assert all(first - last == pytest.approx(10e-6) for first, last, _ in dark)
    assert [to for _, _, to in dark] == [
        step.topology_name for step in plan.steps if step.reconfiguration_s and step.index
    ]
    # The last step has no other circuits than the one before the last change.
    changed = [step.index for step in plan.steps if step.reconfigured]
    rest_s = sum(step.total_s for step in plan.steps[changed[-1] :])
    assert dark[-1][0] == pytest.approx(rest_s)


def test_words_for_many_numbers_are_few() -> None:
    assert spans_words([0, 1, 2, 3]) == "0–3"
    assert spans_words((0, 2, 3)) == "0, 2–3"
    assert spans_words(list(range(0, 20, 2))) == "0, 2, … (10)"


def test_reports_say_what_is_planned_and_how_far_it_is() -> None:
    said: list[str] = []
    ll.train(ll.Workload.read("bert-pccl", ranks=4), fabric=ll.Fabric(gpus=4, ports=2), report=said.append)
    counts = [
        re.fullmatch(r"plans for (.+), (\d+ ports?)(?: \(part (\d+) of (\d+)\))?(?:: (\d+) of (\d+))?", one)
        for one in said
    ]
    planned = [count for count in counts if count is not None]
    assert any(count[5] is None for count in planned)
    of_plans = [(int(count[5]), int(count[6])) for count in planned if count[5] is not None]
    assert of_plans
    assert all(1 <= done <= all_ for done, all_ in of_plans)
    assert any(done == all_ for done, all_ in of_plans)
    assert {one for one in said if one.startswith("policy ")} >= {"policy joint", "policy best fixed circuits"}
