"""`plan_sizes` says at every size what `plan` says."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
import lightloom.planning.sizes
from lightloom.planning.sizes import size_list

MATRIX = np.arange(16.0).reshape(4, 4) * 1e4
PROBLEMS: list[tuple[str | None, dict[str, Any]]] = [
    ("all-reduce", {"fabric": ll.Fabric(gpus=8)}),
    ("all-reduce", {"fabric": ll.Fabric(gpus=16, ports=2, reconfiguration_delay="1us+10ns/port")}),
    ("all-gather", {"fabric": ll.Fabric(gpus=12, initial="ring"), "algorithm": "ring"}),
    ("all-to-all", {"fabric": ll.Fabric(gpus=9, reconfiguration_delay="100ns")}),
    ("broadcast", {"fabric": ll.Fabric(gpus=8), "planner": "harvest"}),
    ("reduce-scatter", {"fabric": ll.Fabric(gpus=8, background_reconfiguration=True, ports=2)}),
    ("reduce-scatter", {"fabric": ll.Fabric(gpus=6), "planner": "exact", "algorithm": "ring"}),
    (None, {"fabric": ll.Fabric(), "matrix": MATRIX}),
    ("all-to-all", {"fabric": ll.Fabric(gpus=9, ports=2), "matrix": "zipf:0.4", "planner": "fast"}),
    ("all-to-all", {"fabric": ll.Fabric(gpus=4, ports=2, reconfiguration_delay="2us,60ns"), "matrix": "zipf:0.4"}),
    ("all-gather", {"fabric": ll.Fabric(gpus=8, ports=2, reconfiguration_delay="1us,9us", window="1=5us,2=70ns")}),
    ("broadcast", {"fabric": ll.Fabric(gpus=7, ports=2, background_reconfiguration=True), "root": 5}),
]


@pytest.mark.large
@pytest.mark.parametrize(("collective", "problem"), PROBLEMS)
def test_each_row_is_the_plan_of_its_size(collective: str | None, problem: dict[str, Any]) -> None:
    table = ll.plan_sizes(collective, "1KiB:64MiB:16", **problem)
    assert [row.size_bytes for row in table.rows] == [1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26]
    for row in table.rows:
        plan = ll.plan(collective, size=row.size_bytes, **problem)
        assert row.total_s == plan.total_s
        assert row.algbw == pytest.approx(plan.algbw, rel=1e-12)
        assert row.busbw == pytest.approx(plan.busbw, rel=1e-12)
        assert (row.algorithm, row.planner) == (plan.algorithm, plan.planner)
        assert row.reconfigurations == plan.reconfigurations
        assert (table.collective, table.gpus) == (plan.collective, plan.gpus)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 1 << 40), st.sampled_from(PROBLEMS[:5]))
def test_any_size_is_the_plan_of_it(size: int, problem: tuple[str, dict[str, Any]]) -> None:
    collective, others = problem
    (row,) = ll.plan_sizes(collective, [size], **others).rows
    plan = ll.plan(collective, size=size, **others)
    assert row.total_s == plan.total_s


@given(st.integers(1, 1 << 20), st.integers(0, 30), st.sampled_from([2, 3, 4, 10]), st.booleans())
def test_ranges_multiply_up_to_the_last(first: int, times: int, factor: int, named: bool) -> None:
    times = min(times, 8)
    last = first * factor**times
    text = f"{first}B:{last}B" + (f":{factor}" if named or factor != 2 else "")
    assert size_list(text) == [f"{first * factor**index}B" for index in range(times + 1)]


def test_pairs_are_blocks_of_an_all_to_all() -> None:
    fabric = ll.Fabric(gpus=4)
    assert size_list("1KiB:4KiB/pair") == ["1024B/pair", "2048B/pair", "4096B/pair"]
    table = ll.plan_sizes("all-to-all", "1KiB:4KiB/pair", fabric=fabric)
    assert [row.size_bytes for row in table.rows] == [4096, 8192, 16384]


def test_pairs_of_another_collective_are_refused() -> None:
    fabric = ll.Fabric(gpus=4)
    for evaluate in (
        lambda: ll.plan_sizes("all-reduce", ["1KiB", "1KiB/pair"], fabric=fabric),
        lambda: ll.Problem("all-reduce", fabric=fabric).sweep("1KiB/pair", "1us"),
    ):
        with pytest.raises(ll.InputError, match=r"^sizes: a size per pair for all-reduce .* only all-to-all has pairs"):
            evaluate()


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ("1KiB", "it takes a range such as"),
        ("1KiB:", "it takes a range such as"),
        ("1MiB:1KiB", "`1MiB:1KiB` begins above its end"),
        ("1KiB:1MiB:1", "a number above 1"),
        ("1KiB:1MiB:two", "a number above 1"),
        ("1KiB:1MiB:2:3", "it takes a range such as"),
        ("1KiB:1parsec", "1parsec"),
        ([], "it takes a range such as"),
        (7, "it takes a range such as"),
    ],
)
def test_wrong_ranges_are_named(sizes: Any, said: str) -> None:
    with pytest.raises(ll.InputError, match=r"^sizes") as refused:
        ll.plan_sizes("all-reduce", sizes, fabric=ll.Fabric(gpus=4))
    assert said in str(refused.value)


def test_many_sizes_are_reported_in_pieces_and_are_what_they_are_together(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = ll.Fabric(gpus=4)
    together = ll.plan_sizes("all-reduce", "1KiB:64KiB", fabric=fabric)
    monkeypatch.setattr(lightloom.planning.sizes, "AT_ONCE", 3)
    done: list[int] = []
    assert ll.plan_sizes("all-reduce", "1KiB:64KiB", fabric=fabric, report=done.append) == together
    assert done == [3, 3, 1]


@settings(max_examples=15, deadline=None)
@given(st.floats(1e-7, 1e-5), st.lists(st.floats(1e-7, 1e-5), min_size=2, max_size=3), st.integers(1000, 10**8))
def test_fixed_delays_are_added_to_those_by_port(more_s: float, delays_s: list[float], size: int) -> None:
    def fabric(by_port_s: list[float]) -> ll.Fabric:
        return ll.Fabric(gpus=6, ports=len(by_port_s), reconfiguration_delay=by_port_s, initial="ring")

    swept = ll.Problem("all-gather", fabric=fabric(delays_s), planner="harvest").sweep(size, more_s)
    longer = [delay_s + more_s for delay_s in delays_s]
    plan = ll.plan("all-gather", size=size, fabric=fabric(longer), planner="harvest")
    assert swept.total_s == pytest.approx(plan.total_s, rel=1e-12)
