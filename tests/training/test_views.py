"""Views of a planned iteration: the table, the pictures and the trace agree with the iteration."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from lightloom.base.errors import InputError
from lightloom.training.break_even import DELAYS_S, BreakEven, break_even, delay_list
from lightloom.training.result import Training
from lightloom.views.pictures.training import part_shown
from lightloom.views.tables.break_even import break_even_table
from lightloom.views.tables.training import training_table
from tests.picture_checks import faults
from tests.training.iterations import LAYER_S, MICRO, iteration, planned, shown


def at_delay(delay_s: float) -> Training:
    """An iteration of 238 µs and two changes; `one-shot` changes nothing and takes 12 µs more for it."""
    base, change = 238 * MICRO, delay_s
    policies = {
        "carry": base + min(2 * change, 12 * MICRO),
        "alone": base + 3 * change,
        "one-shot": base + 12 * MICRO,
        "static": None,
        "packet-switch": base,
    }
    return planned(policies=policies)


def test_the_table_has_every_number() -> None:
    lines = training_table(planned()).splitlines()
    assert lines[0] == "two axes on 8 ranks (tp 4 · dp 2): 248.0 µs, 2 reconfigurations (joint, exact)"
    assert lines[1].startswith("2 ports of 800 Gbit/s, startup 500.0 ns, ")
    assert lines[1].endswith("resting topology ring")
    words = [" ".join(line.split()) for line in lines]
    for row in (
        "compute 150.0 µs ██████ 60.5%",
        "iteration 248.0 µs",
        "communication 98.00 µs exposed, 39.5% of the iteration",
        "reconfiguring 10.00 µs hidden, 10.00 µs waited for",
        "modelled MFU 40.0% of the ranks' peak",
        "* joint 248.0 µs 1.00×",
        "per-collective 268.0 µs 1.08×",
        "fixed tori - - there is no torus of 8 on 2 ports",
        "ideal packet switch 238.0 µs 0.960× for reference",
        "all-reduce tp 4 4 MB 1 1 ring ring 66.00 µs 66.00 µs",
        "send sends 2 1 MB 1 1 - circuits of their own 11.00 µs 11.00 µs",
    ):
        assert row in words, row
    bound = next(line for line in words if line.startswith("lower bound"))
    assert bound.startswith("lower bound 200.0 µs, 80.6% of the iteration, which takes 1.24×")


def test_of_many_kinds_the_longest_are_shown_and_the_others_counted() -> None:
    told = iteration(40)
    for layer in range(40):
        told["workload"]["nodes"][6 * layer + 5]["size_bytes"] += layer
    training = shown(told)
    text = training_table(training)
    # 40 AllGathers, the AllReduce and the message, of which 24 are shown.
    assert "and 18 more kinds of 198.0 µs in all: --all-communications" in text
    assert training_table(training, all_communications=True).count("all-gather") == 40


def test_a_workload_without_communication_or_name_has_a_table_and_a_picture() -> None:
    told = iteration()
    told["workload"] = {**told["workload"], "nodes": told["workload"]["nodes"][:1], "mesh": {}}
    del told["workload"]["name"]
    told |= {"events": told["events"][:1], "plans": [], "critical_path_s": {"compute": told["total_s"]}}
    training = shown(told)
    assert training_table(training).startswith("an iteration on 8 ranks: ")
    assert faults(training.plot()) == []


def test_an_iteration_that_takes_no_time_has_a_table_and_a_picture() -> None:
    told = iteration(total_s=0.0, compute_s=0.0, lower_bound_s=0.0, plans=[], critical_path_s={"compute": 0.0})
    told["workload"] = {**told["workload"], "nodes": told["workload"]["nodes"][:1]}
    told |= {"events": [{**told["events"][0], "end_s": 0.0}], "policies": {"carry": 0.0, "static": None}}
    training = shown(told)
    assert training.mfu is None
    assert "two axes on 8 ranks (tp 4 · dp 2): 0 s" in training_table(training)
    assert faults(training.plot()) == []


@pytest.mark.parametrize("layers", [1, 12, 300])
def test_the_picture_can_be_read(layers: int) -> None:
    training = planned(layers)
    figure = training.plot()
    assert faults(figure) == []
    # With many events a part is drawn too, with every axis in it.
    part = part_shown(training)
    assert (part is None) == (6 * layers <= 120)
    assert len(figure.axes) == (1 if part is None else 2)
    if part is not None:
        within = [event for event in training.events if part[0] <= event.start_s and event.end_s <= part[1]]
        assert {event.label for event in within} == {"compute", "tp", "dp", "sends"}
        assert part[1] - part[0] < 10 * LAYER_S


def test_names_in_the_picture_stand_as_they_are_written() -> None:
    told = iteration()
    told["workload"] = {**told["workload"], "name": "$\\frac"}
    assert faults(shown(told).plot()) == []


def test_many_groups_and_many_ports_are_a_few_rows() -> None:
    told = iteration()
    names = [f"g{index}" for index in range(28)]
    pairs = [[a, b] for a in range(8) for b in range(a + 1, 8)]
    told["workload"]["groups"] |= dict(zip(names, pairs, strict=True))
    last = told["workload"]["nodes"][-1]
    for index, name in enumerate(names):
        node = {**{key: value for key, value in last.items() if key != "axis"}, "id": name, "group": name}
        told["workload"]["nodes"].append(node)
        told["events"].append({**told["events"][-1], "node": name, "ports": [index]})
    told["fabric"]["ports"] = 28
    figure = shown(told).plot()
    assert faults(figure) == []
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(rows) <= 2 + 10 + 8
    assert {"22 other groups", "sends", "tp"} <= set(rows)


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_the_trace_has_every_event_in_its_rows(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"trace{suffix}"
    planned(2).trace(file)
    content = gzip.decompress(file.read_bytes()) if suffix.endswith("gz") else file.read_bytes()
    events = json.loads(content)["traceEvents"]
    rows = {(one["pid"], one["tid"]): one["args"]["name"] for one in events if one["name"] == "thread_name"}
    drawn = [one for one in events if one["ph"] == "X"]
    count = Counter(rows[one["pid"], one["tid"]] for one in drawn)
    # Two layers: f and g, f and h; port 2 has two communications and two changes a layer.
    assert count == {"ranks 0–3": 4, "back": 4, "tp": 2, "dp": 2, "sends": 2, "port 1": 2, "port 2": 8}
    dark = [(one["ts"], one["dur"]) for one in drawn if one["name"] == "reconfiguration"]
    assert dark == [(0, 10), (227, 10), (248, 10), (475, 10)]
    told = [one["args"] for one in drawn if one["name"] == "reconfiguration"]
    # As the table of `iterations.py` has it: hidden before messages, waited for before the AllGathers.
    assert [(one["before"], one["to"]) for one in told] == [
        ("s0", "circuits of their own"),
        ("d0", "ring"),
        ("s1", "circuits of their own"),
        ("d1", "ring"),
    ]
    assert [one["exposed_s"] for one in told] == pytest.approx([0.0, 1e-5, 0.0, 1e-5])
    assert all(one["reconfiguration_s"] == pytest.approx(1e-5) for one in told)
    reduced = next(one for one in drawn if one["name"] == "tp: all-reduce of 4 MB")
    assert (reduced["ts"], reduced["dur"]) == (100, 66)
    assert reduced["args"]["waits for"] == "f0"
    # Intervals of one row do not overlap.
    for row in rows:
        spans = sorted((one["ts"], one["ts"] + one["dur"]) for one in drawn if (one["pid"], one["tid"]) == row)
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_outputs_of_other_kinds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^trace: "):
        planned().trace(tmp_path / "trace.txt")
    with pytest.raises(InputError, match=r"^plot: "):
        planned().plot(tmp_path / "picture.json")


def test_break_even_is_where_changing_no_longer_pays() -> None:
    done: list[int] = []
    found = break_even(at_delay, report=done.append)
    assert sum(done) == len(DELAYS_S) == 13
    assert (found.delays_s[0], found.delays_s[-1]) == (1e-6, 1e-2)
    # From 6 µs on two changes cost as much as they save: of 5 and 10 µs, the second.
    assert found.as_long_from_s("one-shot") == 1e-5
    assert found.as_long_from_s("alone") is None
    assert found.as_long_from_s("static") is None
    assert found.over_ours("one-shot")[0] == pytest.approx(250 / 240)
    text = break_even_table(found)
    assert "best fixed circuits: within 0.1% of joint from 10 µs on" in text
    assert "per-collective: slower than joint at every delay" in text
    assert "fixed tori: within" not in text
    columns = found.to_columns()
    assert columns["static_s"] == [None] * 13
    assert columns["carry_s"][0] == pytest.approx(240 * MICRO)


def test_the_picture_of_break_even_can_be_read(tmp_path: Path) -> None:
    found = break_even(at_delay)
    figure = found.plot(tmp_path / "break-even.svg")
    assert faults(figure) == []
    assert any(text.get_text() == "↑ beyond: per-collective to 121×" for text in figure.axes[1].texts)
    near = BreakEven("near $", 8, (1e-6, 1e-3), {"carry": (1.0, 1.1), "one-shot": (1.2, 1.1)}, (0.9, 0.9))
    assert faults(near.plot()) == []


def test_delays_are_a_rising_list() -> None:
    assert delay_list("1ms, 10us,1us,10us") == (1e-6, 1e-5, 1e-3)
    for text in ("", "1us", "0s,1us", "1us,soon", ",".join(f"{n}us" for n in range(1, 1002))):
        with pytest.raises(InputError, match=r"^delays: "):
            delay_list(text)
