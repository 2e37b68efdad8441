"""Tables agree with their results: steps folded, terms split, the winner explained."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

import lightloom as ll
from lightloom import _core
from lightloom.plans.comparison import Comparison, Row
from lightloom.views.ratios import factor
from lightloom.views.tables.bound import bound_table
from lightloom.views.tables.comparison import comparison_table, why_the_best_wins
from lightloom.views.tables.page import render, table
from lightloom.views.tables.plan import plan_table
from lightloom.views.tables.step_groups import MAX_ROWS, group_steps
from lightloom.views.tables.sweep import sweep_table
from lightloom.views.tables.terms import TERMS, split_bar, terms_of
from tests.printed_tables import covered_steps

FABRIC = ll.Fabric(gpus=16, reconfiguration_delay="1us")
PLAN = ll.plan("all-reduce", size="1MiB", fabric=FABRIC)
PROBLEM = ("all-reduce", 1 << 20, 16)
COMPARISON = ll.compare("all-reduce", size="1MiB", fabric=FABRIC)
BAR_ENDS = (*(term.fill for term in TERMS), "»")
SECONDS = st.floats(1e-12, 1e-3) | st.just(0.0)


def row(planner: str, *terms: float) -> Row:
    found = (sum(terms), (terms[0], terms[1], terms[2], terms[3], 0.0), 0) if terms else None
    return Row.of(((planner, "ring", ""), (False, True), found, ("", None)))


@pytest.mark.parametrize("all_steps", [False, True])
@pytest.mark.parametrize("columns", ["80", "160"])
def test_every_step_has_its_row(monkeypatch: pytest.MonkeyPatch, all_steps: bool, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    plan = ll.plan("all-reduce", size="64MiB", fabric=ll.Fabric(gpus=64))
    out = re.sub(r"\x1b\[[0-9;]*m", "", plan_table(plan, [], all_steps=all_steps))
    assert covered_steps(out) == list(range(1, len(plan.steps) + 1))
    rows = [line for line in out.splitlines() if line.endswith("%")]
    assert len(rows) == (len(plan.steps) if all_steps else 5)
    assert max(map(len, out.splitlines())) <= int(columns)
    # The terms are in columns where there is room, else in the line of the total.
    assert ("ms: startup " in out) == (columns == "80")


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(1, 2)), min_size=1, max_size=120))
def test_rows_hold_every_step_once_and_equal_ones_together(kinds: list[tuple[int, bool, int]]) -> None:
    step = PLAN.steps[0]
    steps = [
        replace(
            step, index=index, topology_index=topology, topology=PLAN.topologies[topology], reconfigured=new, hops=hops
        )
        for index, (topology, new, hops) in enumerate(kinds)
    ]
    groups = group_steps(steps, lambda one: (one.reconfigured, one.hops))
    assert [one for group in groups for one in group.steps] == steps
    runs = 1 + sum(before != after for before, after in pairwise(kinds))
    assert len(groups) == runs or (runs > MAX_ROWS and len(groups) <= MAX_ROWS)
    assert len(group_steps(steps, lambda one: one.hops, all_steps=True)) == len(steps)


def test_a_run_of_equal_steps_says_how_many_they_are() -> None:
    ring = ll.plan("all-gather", size="36KiB", fabric=ll.Fabric(gpus=36), algorithm="ring", planner="static")
    out = plan_table(ring, [])
    assert re.search(r"^ +1–35 +ring ×35 +1 KiB ", out, re.MULTILINE)
    assert "\nring  one ring of all 36 GPUs\n" in out


def test_the_topologies_of_the_steps_are_explained() -> None:
    lines = plan_table(PLAN, []).splitlines()
    said = dict(re.split(r" {2,}", line, maxsplit=1) for line in lines if re.match(r"\S+ {2,}\d+ pairs of GPUs", line))
    assert said == dict(zip([topology.name for topology in PLAN.topologies], PLAN.explanations, strict=True))


@given(st.tuples(SECONDS, SECONDS, SECONDS, SECONDS, SECONDS), st.integers(2, 60), st.integers(2, 60))
def test_bars_are_as_long_as_their_terms(seconds: tuple[float, ...], cells: int, most: int) -> None:
    scale = cells / sum(seconds) if sum(seconds) else 0.0
    shown = split_bar(seconds, scale, most).plain
    if not scale:
        assert len(shown) == 1
        return
    assert len(shown) == min(cells, most)
    assert shown.endswith("»") == (cells > most)
    if cells <= most:
        for term, spent_s in zip(TERMS, seconds, strict=True):
            assert abs(shown.count(term.fill) - spent_s * scale) <= 1 + 1e-6
        assert "".join(sorted(shown, key=[term.fill for term in TERMS].index)) == shown


def test_each_planner_has_its_best_row() -> None:
    out = comparison_table(COMPARISON, FABRIC)
    best = COMPARISON.by_planner()
    shown = [line for line in out.splitlines() if line.endswith(BAR_ENDS)]
    names = [line.removeprefix(" *").split()[0] for line in shown]
    assert names == [row.planner for row in best]
    for row in best:
        times = [one.total_s for one in COMPARISON.rows if one.planner == row.planner and one.total_s is not None]
        assert row.total_s == min(times)
    hidden = sum(one.total_s is not None for one in COMPARISON.rows) - len(best)
    assert f"{hidden} more rows" in out
    every = comparison_table(COMPARISON, FABRIC, all_rows=True)
    assert "--all" not in every
    assert sum(line.endswith(BAR_ENDS) for line in every.splitlines()) == hidden + len(best)


def test_it_is_said_what_a_planner_does_not_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    planner = "reconfigure-all-to-all"
    said = _core.left_out(planner, 512, 2)
    assert said
    assert "generalised Kautz graph" in said
    assert not any(_core.left_out(*other) for other in ((planner, 64, 2), (planner, 512, 1), ("harvest", 512, 2)))
    compared = Comparison("all-to-all", 1 << 20, 512, (row(planner, 1e-6, 1e-6, 1e-6, 1e-6),), 0.0, "")
    shown = " ".join(comparison_table(compared, ll.Fabric(gpus=512, ports=2)).split())
    assert shown.endswith(f"left out: {planner}: {said}")
    assert planner not in comparison_table(COMPARISON, FABRIC).partition("not applicable")[0]

    def of_this_planner(name: str, gpus: int, ports: int) -> str | None:
        return said if (name, gpus, ports) == (PLAN.planner, PLAN.gpus, PLAN.ports) else None

    assert said not in plan_table(PLAN, [])
    monkeypatch.setattr("lightloom.views.tables.plan.left_out", of_this_planner)
    assert f"left out {said}" in " ".join(plan_table(PLAN, []).split())


def test_rows_add_up() -> None:
    for one in COMPARISON.rows:
        if one.total_s is not None:
            assert sum(terms_of(one)) == pytest.approx(one.total_s, rel=1e-12)
    fastest = COMPARISON.best
    assert fastest is not None
    for term in TERMS:
        ours = sum(getattr(step, term.attribute) for step in PLAN.steps)
        assert getattr(fastest, term.attribute) == pytest.approx(ours, rel=1e-12)


def test_why_the_best_wins() -> None:
    def said(*rows: Row) -> str:
        return why_the_best_wins(Comparison(*PROBLEM, rows, 0.0, ""))

    first = row("weave", 1e-6, 1e-6, 50e-6, 20e-6)
    assert said(first, row("harvest", 1e-6, 1e-6, 91e-6, 0.0)) == (
        "weave is faster: 41.00 µs less transmission and 20.00 µs more reconfiguration than harvest (ring)"
    )
    assert said(first, row("harvest", 3e-6, 2e-6, 50e-6, 20e-6)) == (
        "weave is faster: 2.000 µs less startup and 1.000 µs less propagation than harvest (ring)"
    )
    assert said(first, row("pccl", 1e-6, 1e-6, 50e-6, 20e-6), row("static", 1e-6, 1e-6, 51e-6, 20e-6)) == (
        "weave and pccl are faster: 1.000 µs less transmission than static (ring)"
    )
    assert said(first, row("pccl", 1e-6, 1e-6, 50e-6, 20e-6)) == "weave and pccl are equally fast"
    assert said(first) == ""


@given(st.tuples(SECONDS, SECONDS, SECONDS, SECONDS), st.tuples(SECONDS, SECONDS, SECONDS, SECONDS))
def test_what_is_saved_less_what_is_paid_is_the_difference(best: tuple[float, ...], other: tuple[float, ...]) -> None:
    first, second = sorted((row("a", *best), row("b", *other)), key=lambda one: one.total_s or 0.0)
    if not (second.total_s or 0.0) > 1.01 * (first.total_s or 0.0) + 1e-9:
        return
    said = why_the_best_wins(Comparison(*PROBLEM, (first, second), 0.0, ""))
    sums = [
        sum(_core.parse_time("shown", "".join(found)) for found in re.findall(rf"([\d.]+) ([nµm]?s) {word} ", said))
        for word in ("less", "more")
    ]
    assert sums[0] - sums[1] == pytest.approx((second.total_s or 0.0) - (first.total_s or 0.0), rel=0.02, abs=4e-9)


@pytest.mark.large
def test_only_what_could_be_meant_is_refused() -> None:
    out = comparison_table(COMPARISON, FABRIC)
    refused = [line for line in out.splitlines() if line.startswith("not applicable: ")]
    # Both need a grid.
    assert [line.split(": ")[1] for line in refused] == ["bucket, bruck-torus"]
    # For a planner that serves nothing, the table has the reason for the algorithm that it would take.
    named = replace(COMPARISON.rows[-1], total_s=None, planner="flows")
    reasons = [replace(named, algorithm=name, reason=f"it takes direct, this is {name}") for name in ("swing", "bruck")]
    rows = (*reasons, replace(named, algorithm="direct", reason="it has too many flows"))
    told = comparison_table(Comparison(*PROBLEM, rows, 0.0, ""), FABRIC).splitlines()
    assert told[2:] == ["nothing serves this problem", "not applicable: flows: it has too many flows"]
    shown = {
        planner
        for planner in (one.planner for one in COMPARISON.rows)
        if planner in comparison_table(COMPARISON, FABRIC, all_rows=True)
    }
    assert shown == {one.planner for one in COMPARISON.rows}


def test_what_was_left_out_is_told_where_it_may_be_faster_than_the_row() -> None:
    def left_out(planner: str, topology: str, least_s: float) -> Row:
        reason = f"{least_s} s at least"
        return replace(row(planner), topology=topology, total_s=None, at_least_s=least_s, reason=reason)

    fast, ring = row("weave", 0.0, 0.0, 1.0, 0.0), replace(row("static", 0.0, 0.0, 9.0, 0.0), topology="ring")
    rows = (fast, ring, left_out("static", "kautz", 4.0), left_out("static", "torus", 3.0), left_out("bvn", "", 2.0))
    comparison = Comparison(*PROBLEM, rows, 0.5, "")

    def told(*, all_rows: bool) -> list[str]:
        lines = comparison_table(comparison, FABRIC, all_rows=all_rows).splitlines()
        return [line for line in lines if line.startswith(("left out: ", "not applicable: "))]

    bvn, torus = "left out: bvn (ring): 2.0 s at least", "left out: static (ring on torus): 3.0 s at least"
    assert told(all_rows=False) == [bvn, torus]
    assert told(all_rows=True) == [bvn, torus, "left out: static (ring on kautz): 4.0 s at least"]
    slow = replace(comparison, rows=(fast, ring, left_out("static", "kautz", 10.0)))
    assert "left out" not in comparison_table(slow, FABRIC)


def test_growth_is_a_plain_number() -> None:
    bounds = ll.bound("all-gather", size="4KiB", fabric=ll.Fabric(gpus=1024, ports=4, initial="ring"))
    assert "×1024 in 1 step" in bound_table(bounds)


def test_factors_have_three_digits_and_differ_from_one() -> None:
    ratios = (1.0, 1.0003, 1.0049, 1.4, 2.155, 12.48, 99.96, 7144.2)
    shown = ["1.00×", "1.0003×", "1.005×", "1.40×", "2.15×", "12.5×", "100×", "7144×"]
    assert [factor(ratio) for ratio in ratios] == shown


def test_sizes_are_in_the_units_of_the_buffer() -> None:
    plan = ll.plan("all-to-all", size="1GB", fabric=ll.Fabric(gpus=64), algorithm="direct", planner="harvest")
    out = plan_table(plan, [])
    assert "15.625 MB" in out
    assert "iB" not in out
    assert "* shifted-ring:2 … shifted-ring:63 ×62" in out
    assert "and 55 more topologies: --all-steps" in out
    assert "shifted-ring:63  one ring of all 64 GPUs" in plan_table(plan, [], all_steps=True)


def test_a_broadcast_names_its_root() -> None:
    plan = ll.plan("broadcast", size="1MB", fabric=ll.Fabric(gpus=8), root=5)
    assert plan.root == 5
    assert PLAN.root is None
    assert plan_table(plan, []).startswith("broadcast of 1 MB from rank 5 on 8 GPUs: ")


def test_long_lines_go_on_further_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lightloom.views.tables.page.width", lambda: 20)
    assert render(Text("  one two three four five six")).splitlines() == ["  one two three", "    four five six"]


CELLS = st.lists(st.text("abcd", min_size=1, max_size=8), min_size=1, max_size=3).map(" ".join)


@given(rows=st.lists(st.tuples(*[CELLS] * 6), min_size=1, max_size=4), right=st.booleans())
def test_a_narrow_terminal_breaks_no_word_and_drops_no_column(rows: list[tuple[str, ...]], right: bool) -> None:
    headers = ["", "name", "first", "second", "third", "fourth"]
    made = table(*headers, right=("second",) if right else ())
    for row in rows:
        made.add_row(*row)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lightloom.views.tables.page.width", lambda: 62)
        lines = render(made).splitlines()
    assert max(map(len, lines)) <= 62
    shown = Counter(word for line in lines for word in line.split())
    pieces = shown["name"]
    assert [shown[header] for header in headers[2:]] == [1] * 4
    # The columns up to the name stand in every piece.
    expected = Counter(headers[2:]) + Counter({"name": pieces})
    for row in rows:
        for place, cell in enumerate(row):
            expected.update(cell.split() * (pieces if place < 2 else 1))
    assert {word: count for word, count in shown.items() if "─" not in word} == expected


@pytest.mark.large
def test_a_sweep_says_where_each_collective_is_faster() -> None:
    collectives, sizes, delays = ("all-reduce", "all-to-all"), ("1MiB", "1500KiB", "256MiB"), ("10us", "1ms")
    axes = {"collective": list(collectives), "size": list(sizes), "reconfiguration-delay": list(delays)}
    swept = ll.sweep({"baseline": ["static"], "settings": {"gpus": 16}, "axes": axes})
    lines = sweep_table(swept, []).splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith(" collective"))
    told = [re.split(r" {2,}", line.strip()) for line in lines[first + 2 :] if line.strip()]
    expected = []
    for collective in collectives:
        for size, label in zip(sizes, ("1 MiB", "1.465 MiB", "256 MiB"), strict=True):
            ratios = []
            for delay in delays:
                fabric = ll.Fabric(gpus=16, reconfiguration_delay=delay)
                static_s = ll.plan(collective, size, fabric=fabric, planner="static").total_s
                ratios.append(static_s / ll.plan(collective, size, fabric=fabric).total_s)
            ends = [end for end, ratio in zip(("10 µs", "1 ms"), ratios, strict=True) if ratio > 1.001]
            first_of = [collective] if size == sizes[0] else []
            expected.append([*first_of, label, " to ".join(ends) or "none", factor(max(ratios))])
    assert told == expected


@pytest.mark.parametrize(
    ("failed", "words"),
    [
        ("port:5.1", "failed: port:5.1 (its receiver works)"),
        ("port:5.1,receiver:5.1", "failed: port:5.1, receiver:5.1"),
        ("receiver:5.1,port:2.0", "failed: port:2.0 (its receiver works), receiver:5.1"),
        ("link:0-1", "failed: link:0-1"),
    ],
)
def test_a_transmitter_that_fails_alone_is_said_to(failed: str, words: str) -> None:
    plan = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8, ports=2, failed=failed))
    shown = " ".join(plan_table(plan, []).split())
    assert f"{words}, initial topology" in shown
