"""Plan tables: plans are timed elsewhere as their judge does, and one of a table is close to the best anywhere."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lightloom as ll
from lightloom.online.checks import checks_of
from lightloom.online.covering import Box, covered
from lightloom.online.lines import Line, line_of
from lightloom.online.retiming import retimed
from tests.online.tables import DELAYS, SIZES, real_table
from tests.refusals import assert_refused

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli

FABRICS = {
    "free": ll.Fabric(gpus=8, ports=2),
    "from a ring": ll.Fabric(gpus=8, initial="ring"),
    "repeated": ll.Fabric(gpus=8, initial="repeated"),
    "barrier": ll.Fabric(gpus=8, barrier="1us"),
}


@pytest.mark.large
@pytest.mark.parametrize("collective", ["all-reduce", "all-to-all", "broadcast"])
@pytest.mark.parametrize("fabric", FABRICS.values(), ids=FABRICS)
def test_the_judge_finds_the_time_of_a_plan_at_another_size_and_delay(fabric: ll.Fabric, collective: str) -> None:
    plan = ll.plan(collective, "64MiB", fabric=fabric)
    line = line_of(plan)
    for size_bytes, delay_s in ((3 << 15, 2.5e-4), (64 << 20, 1e-5), ((1 << 30) + 1, 1e-7)):
        made = retimed(plan, size_bytes, delay_s)
        assert all(check.passed for check in ll.verify(made))
        assert made.total_s == pytest.approx(line.time_s(size_bytes, delay_s), rel=1e-12)
        assert (made.size_bytes, made.reconfiguration_delay.scalar_s) == (size_bytes, delay_s)
        # A bound is below the time of every other plan, too.
        other = ll.plan(collective, size_bytes, fabric=replace(fabric, reconfiguration_delay=delay_s))
        assert 0 < made.lower_bound_s <= other.total_s


@pytest.mark.parametrize(
    "fabric",
    [
        ll.Fabric(gpus=4, reconfiguration_delay="1us+1us/port"),
        ll.Fabric(gpus=4, window="1us"),
        ll.Fabric(gpus=4, background_reconfiguration=True),
    ],
    ids=["by port", "window", "background"],
)
def test_plans_whose_time_is_not_linear_are_refused(fabric: ll.Fabric) -> None:
    plan = ll.plan("all-reduce", "64MiB", fabric=fabric, algorithm="recursive-doubling")
    with pytest.raises(ll.InputError, match="not all charged one constant delay"):
        line_of(plan)
    with pytest.raises(ll.InputError):
        ll.plan_table("all-reduce", SIZES, DELAYS, fabric=fabric)


PROBLEMS: dict[str, tuple[str, dict[str, Any], str | float]] = {
    "all-to-all": ("all-to-all", {"fabric": ll.Fabric(gpus=6, ports=2)}, "2%"),
    "recursive doubling": (
        "all-reduce",
        {"fabric": ll.Fabric(gpus=16), "algorithm": "recursive-doubling", "planner": "harvest"},
        0.005,
    ),
    "all-reduce": ("all-reduce", {"fabric": ll.Fabric(gpus=4, initial="ring")}, 0.1),
}


@pytest.mark.large
@pytest.mark.parametrize(("collective", "given", "tolerance"), PROBLEMS.values(), ids=PROBLEMS)
def test_one_plan_is_within_the_tolerance_anywhere(collective: str, given: dict[str, Any], tolerance: Any) -> None:
    table = ll.plan_table(collective, SIZES, DELAYS, tolerance=tolerance, **given)
    assert all(check.passed for check in table.verify())
    random = np.random.default_rng(7)
    (smallest, largest), (least_s, most_s) = table.sizes_bytes, table.delays_s
    sizes = np.rint(np.exp(random.uniform(np.log(smallest), np.log(largest), 80)))
    delays = np.exp(random.uniform(np.log(least_s), np.log(most_s), 80))
    best_s = ll.Problem(collective, **given).sweep(sizes, delays).total_s
    for size, delay_s, least_s in zip(sizes.tolist(), delays.tolist(), best_s.tolist(), strict=True):
        boxes = [
            box
            for box in table.boxes
            if box.sizes_bytes[0] <= size <= box.sizes_bytes[1] and box.delays_s[0] <= delay_s <= box.delays_s[1]
        ]
        assert boxes
        # The plan of the box, and so the one that is chosen, is that close; none is better than the best.
        for box in boxes:
            assert table.lines[box.plan].time_s(size, delay_s) <= least_s * (1 + table.tolerance) * (1 + 1e-9)
        assert table.lines[table.choose(size, delay_s)].time_s(size, delay_s) >= least_s * (1 - 1e-9)


def test_the_chosen_plan_is_the_one_of_least_time_of_all() -> None:
    table = real_table()
    for size in ("1MiB", "7654321", "256MiB"):
        for delay in ("1us", "80us", "1ms"):
            times_s = [table.plan(size, delay, place).total_s for place in range(len(table.plans))]
            assert table.plan(size, delay).total_s == pytest.approx(min(times_s), rel=1e-12)


@pytest.mark.parametrize(("given", "field"), [(("none", 0), "size"), (("1MiB", "soon"), "delay")])
def test_a_wrong_size_or_delay_is_refused(given: tuple[str, str | float], field: str) -> None:
    with pytest.raises(ll.InputError) as error:
        real_table().plan(*given)
    assert error.value.field == field
    with pytest.raises(ll.InputError, match=r"^place: `99` is not accepted; it takes a whole number from 0 to"):
        real_table().plan("1MiB", "1us", 99)


def test_a_choice_reads_sizes_and_delays_as_plan_does() -> None:
    table = real_table()
    chosen = table.choose(64 << 20, 1e-5)
    asked: list[tuple[Any, Any]] = [
        ("64MiB", "10us"),
        (float(64 << 20), "0.01ms"),
        (np.int64(64 << 20), np.float64(1e-5)),
    ]
    for size, delay in asked:
        assert table.choose(size, delay) == chosen
    assert table.choose("64MiB", 0) == table.choose("64MiB", 1e-9) == len(table.plans) - 1


@pytest.mark.parametrize(
    ("size", "delay", "field"),
    [
        *((size, 1e-5, "size") for size in (math.nan, -1, 0, True, 1.5, "none", 1 << 19, "512MiB", 10**400, None)),
        *((64 << 20, delay, "delay") for delay in (math.nan, -1e-5, True, "soon", math.inf, None)),
    ],
)
def test_a_choice_refuses_what_is_no_size_of_the_table_and_no_delay(size: Any, delay: Any, field: str) -> None:
    with pytest.raises(ll.InputError) as error:
        real_table().choose(size, delay)
    assert error.value.field == field
    assert "\n" not in str(error.value)


def test_a_larger_tolerance_takes_no_more_plans() -> None:
    given: dict[str, Any] = {"fabric": ll.Fabric(gpus=8), "algorithm": "recursive-doubling", "planner": "harvest"}
    counts = [
        len(ll.plan_table("all-reduce", SIZES, DELAYS, tolerance=share, **given).plans) for share in (0.01, 0.1, 1.0)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


def test_one_size_and_neighbouring_sizes_are_ranges() -> None:
    for sizes in ("1MiB", "1B:3B", "4MiB:4MiB"):
        table = ll.plan_table("all-to-all", sizes, DELAYS, fabric=ll.Fabric(gpus=4))
        assert all(check.passed for check in table.verify())
    blocks = ll.plan_table("all-to-all", "1KiB:4KiB/pair", "10us", fabric=ll.Fabric(gpus=4))
    assert blocks.sizes_bytes == (4096, 16384)
    assert blocks.delays_s == (1e-5, 1e-5)


def test_a_table_comes_back_from_its_file(in_tmp: Path) -> None:
    table = real_table()
    table.save(in_tmp / "table.json")
    again = ll.PlanTable.load(in_tmp / "table.json")
    assert again.to_json() == table.to_json()
    assert (again.boxes, again.lines) == (table.boxes, table.lines)
    assert sum(again.shares) == pytest.approx(1.0)


def test_gaps_between_boxes_and_times_above_the_tolerance_are_found() -> None:
    table = real_table()

    def failed(boxes: tuple[Box, ...], tolerance: float = table.tolerance) -> set[str]:
        found = checks_of(table.plans, boxes, table.sizes_bytes, table.delays_s, tolerance)
        return {check.name for check in found if not check.passed}

    assert not failed(table.boxes)
    for index in range(0, len(table.boxes), 1 + len(table.boxes) // 10):
        assert failed(table.boxes[:index] + table.boxes[index + 1 :]) == {"whole-range"}
    assert failed(table.boxes, 1e-4) == {"tolerance"}
    slower = table.boxes[0]._replace(best_s=tuple(one / 2 for one in table.boxes[0].best_s))  # type: ignore[arg-type]
    assert failed((slower, *table.boxes[1:])) == {"tolerance"}


def test_times_stated_as_best_that_a_plan_of_the_table_beats_are_found() -> None:
    table = real_table()

    def failed(boxes: list[Box]) -> set[str]:
        found = checks_of(table.plans, boxes, table.sizes_bytes, table.delays_s, table.tolerance)
        return {check.name for check in found if not check.passed}

    # The first plan everywhere, as if it were the best.
    alone = [
        box._replace(
            plan=0,
            best_s=tuple(table.lines[0].time_s(*corner) for corner in box.corners),  # type: ignore[arg-type]
        )
        for box in table.boxes
    ]
    assert failed(alone) == {"best-times"}
    one_more = [
        box._replace(best_s=tuple(1.5 * one for one in box.best_s))  # type: ignore[arg-type]
        for box in table.boxes
    ]
    assert failed(one_more) == {"best-times"}
    for place in range(4):
        best_s = list(table.boxes[0].best_s)
        best_s[place] = 1.0001 * min(line.time_s(*table.boxes[0].corners[place]) for line in table.lines)
        changed = table.boxes[0]._replace(best_s=tuple(best_s))  # type: ignore[arg-type]
        assert failed([changed, *table.boxes[1:]]) == {"best-times"}


def test_a_planner_that_misses_its_own_plans_has_best_times_that_no_plan_beats() -> None:
    # At some points the planner finds nothing but the plan without changes.
    table = real_table()

    def line_at(delay_s: float) -> Line:
        found = table.lines if int(delay_s * 1e12) % 3 else table.lines[:1]
        return min(found, key=lambda line: line.time_s(8 << 20, delay_s))

    def best_s(points: Any) -> Any:
        return np.array([line_at(delay_s).time_s(size, delay_s) for size, delay_s in points])

    def plan_at(point: tuple[int, float]) -> ll.Plan:
        return retimed(table.plans[table.lines.index(line_at(point[1]))], *point)

    cover = covered(table.sizes_bytes, table.delays_s, 0.05, best_s, plan_at, lambda _text: None)
    checks = checks_of(cover.plans, cover.boxes, table.sizes_bytes, table.delays_s, 0.05)
    assert [check for check in checks if not check.passed] == []


CHANGES: dict[str, tuple[Any, str]] = {
    "schema": (lambda told: told | {"schema": "lightloom.plan-table/2"}, "schema"),
    "key": (lambda told: told | {"more": 1}, "more"),
    "missing": (lambda told: {key: value for key, value in told.items() if key != "boxes"}, "boxes"),
    "tolerance": (lambda told: told | {"tolerance": True}, "tolerance"),
    "sizes": (lambda told: told | {"sizes_bytes": [2, 1]}, "sizes_bytes"),
    "part of a byte": (lambda told: told | {"sizes_bytes": [1.5, 2]}, "sizes_bytes"),
    "delays": (lambda told: told | {"delays_s": [0, 1]}, "delays_s[0]"),
    "no plans": (lambda told: told | {"plans": []}, "plans"),
    "plan": (lambda told: told | {"plans": [{}]}, "plans[0]"),
    "box": (lambda told: told | {"boxes": [1]}, "boxes[0]"),
    "box's plan": (lambda told: told | {"boxes": [told["boxes"][0] | {"plan": 99}]}, "boxes[0].plan"),
    "gpus": (lambda told: told | {"gpus": 7}, "plans[0]"),
    "gap": (lambda told: told | {"boxes": told["boxes"][1:]}, "table"),
}


@pytest.mark.parametrize(("change", "field"), CHANGES.values(), ids=CHANGES)
def test_a_fault_of_a_file_is_named(change: Any, field: str) -> None:
    with pytest.raises(ll.InputError) as error:
        ll.PlanTable.from_json(json.dumps(change(json.loads(real_table().to_json()))))
    assert error.value.field.startswith(field)
    assert "\n" not in str(error.value)


@pytest.mark.large
@given(st.data())
def test_damaged_files_are_refused_in_one_line(data: st.DataObject) -> None:
    text = real_table().to_json()
    first = data.draw(st.integers(0, 2000))
    last = first + data.draw(st.integers(0, 30))
    damaged = text[:first] + data.draw(st.text(max_size=5)) + text[last:]
    try:
        table = ll.PlanTable.unjudged(damaged)
    except ll.InputError as error:
        assert "\n" not in str(error)
    else:
        table.verify()


@given(st.text(max_size=60))
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ll.InputError):
        ll.PlanTable.from_json(text)


def test_the_command_line_writes_draws_and_verifies_a_table(in_tmp: Path, cli: RunCli) -> None:
    asked = ("plan", "--collective", "all-reduce", "--sizes", SIZES, "--delays", DELAYS, "--gpus", 8)
    named = ("--algorithm", "recursive-doubling", "--planner", "harvest")
    ran = cli(*asked, *named, "--output", "table.json", "--plot", "map.svg")
    assert ran.status == 0, ran.err
    assert f"{len(real_table().plans)} plans" in ran.out
    assert "<svg" in (in_tmp / "map.svg").read_text()
    assert json.loads((in_tmp / "table.json").read_text()) == json.loads(real_table().to_json())
    verified = cli("verify", "table.json")
    assert (verified.status, "plan table" in verified.out) == (0, True)
    told = json.loads((in_tmp / "table.json").read_text())
    told["boxes"] = told["boxes"][1:]
    (in_tmp / "gap.json").write_text(json.dumps(told))
    assert cli("verify", "gap.json").status == 1


REFUSED = {
    "delays alone": (("--size", "1MiB", "--delays", DELAYS), "delays"),
    "tolerance alone": (("--sizes", SIZES, "--tolerance", "2%"), "tolerance"),
    "no delays": (("--sizes", SIZES, "--delays", ""), "delays"),
    "delays of zero": (("--sizes", SIZES, "--delays", "0s:1ms"), "delays"),
    "factor": (("--sizes", "1KiB:1MiB:4", "--delays", DELAYS), "sizes"),
    "backwards": (("--sizes", "1MiB:1KiB", "--delays", DELAYS), "sizes"),
    "tolerance": (("--sizes", SIZES, "--delays", DELAYS, "--tolerance", "none"), "tolerance"),
    "small tolerance": (("--sizes", SIZES, "--delays", DELAYS, "--tolerance", "0.001%"), "tolerance"),
    "delay": (("--sizes", SIZES, "--delays", DELAYS, "--reconfiguration-delay", "1us"), "reconfiguration_delay"),
    "budget": (("--sizes", SIZES, "--delays", DELAYS, "--budget", "1s"), "budget"),
    "matrix": (("--sizes", SIZES, "--delays", DELAYS, "--matrix", "zipf:0.6"), "matrix"),
    "overlap": (("--sizes", SIZES, "--delays", DELAYS, "--overlap", "pipelined"), "overlap"),
}


@pytest.mark.parametrize(("arguments", "field"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_names_its_option(in_tmp: Path, cli: RunCli, arguments: tuple[str, ...], field: str) -> None:
    assert_refused(cli, in_tmp, "plan", "--collective", "all-to-all", "--gpus", 4, *arguments, field=field)
