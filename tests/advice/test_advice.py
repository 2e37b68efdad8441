"""Advice on switches: what it recommends, and what follows from its definition."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.advice.choice import NEAR, Option, choose
from lightloom.advice.crossings import RESOLUTION, largest_delay
from lightloom.advice.result import FIXED, AdviceRow
from lightloom.inputs.catalogue import Switch, catalogue
from lightloom.schemas import schema
from lightloom.views.tables.advice import advice_table
from tests.advice.jobs import COLLECTIVES
from tests.draws import cases
from tests.picture_checks import faults


def at(name: str, delay_s: float | None, **values: object) -> Switch:
    return replace(Switch(name=name, reconfiguration_delay_s=delay_s), **values)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def advice() -> ll.Advice:
    """The whole catalogue, with one port and with two."""
    return ll.advise(COLLECTIVES, ports=[1, 2])


@pytest.mark.large
@pytest.mark.slow
def test_the_document_is_of_its_schema(advice: ll.Advice) -> None:
    told = json.loads(advice.to_json())
    jsonschema.validate(told, schema("advice"))
    assert told["break_even_s"] == advice.break_even_s
    assert len(told["rows"]) == 2 * (len(catalogue()) + 1)


@pytest.mark.large
@pytest.mark.slow
def test_the_recommended_switch_is_a_usable_row(advice: ll.Advice) -> None:
    best = advice.best
    assert best is not None
    assert best.usable
    assert best.total_s is not None
    usable = [row.total_s for row in advice.rows if row.usable and row.total_s is not None]
    assert best.total_s <= min(usable) * (1 + NEAR)
    assert advice.reasons[0].startswith(f"Recommended: {advice.recommended}")


@pytest.mark.large
@pytest.mark.slow
def test_faster_switches_and_more_ports_are_never_slower(advice: ll.Advice) -> None:
    for ports in (1, 2):
        times = [row.total_s for row in advice.rows if row.ports == ports and row.total_s is not None]
        assert all(first <= second * (1 + 1e-9) for first, second in pairwise(times))
        assert all(row.packet_switch_s <= (row.total_s or 1.0) for row in advice.rows if row.ports == ports)
    by_name = {(row.switch, row.ports): row.total_s for row in advice.rows}
    for (name, ports), time_s in by_name.items():
        if ports == 2 and time_s is not None:
            assert time_s <= (by_name[name, 1] or 0.0) * (1 + 1e-9)


@pytest.mark.large
@pytest.mark.slow
def test_at_the_break_even_delay_changing_pays_and_a_little_above_it_does_not(advice: ll.Advice) -> None:
    for limit in advice.break_even:
        delay_s = limit.reconfiguration_delay_s
        assert delay_s is not None
        around = [at("below", delay_s), at("above", delay_s * (1 + RESOLUTION) * 1.001)]
        below, above, _ = ll.advise(COLLECTIVES, switches=around, ports=limit.ports).rows
        assert below.over_never_change is not None
        assert above.over_never_change is not None
        assert below.over_never_change > 1.001
        assert above.over_never_change <= 1.0011


@settings(max_examples=cases(20), deadline=None)
@given(st.floats(1e-9, 1e3))
def test_the_largest_delay_is_found_to_its_resolution(edge_s: float) -> None:
    found = largest_delay(lambda delay_s: delay_s <= edge_s, 1, [1e-5, 1e-2])
    assert found.reconfiguration_delay_s is not None
    assert found.reconfiguration_delay_s <= edge_s <= found.reconfiguration_delay_s * (1 + RESOLUTION) * (1 + 1e-9)


def test_largest_delays_at_the_ends() -> None:
    assert largest_delay(lambda _: False, 1, [1e-5]).reconfiguration_delay_s is None
    assert largest_delay(lambda _: True, 1, [1e-5]).unlimited


options = st.builds(
    Option,
    st.sampled_from("abcdef"),
    st.integers(1, 4),
    st.floats(1.0, 2.0),
    st.floats(1e-9, 1.0),
    st.none() | st.floats(0.0, 1e6),
)


@settings(max_examples=cases(200), deadline=None)
@given(st.lists(options, min_size=1, max_size=12))
def test_the_choice_is_close_to_the_fastest_and_the_cheapest_of_those(offered: list[Option]) -> None:
    chosen = choose(offered)
    assert chosen is not None
    near = [one for one in offered if one.total_s <= min(each.total_s for each in offered) * (1 + NEAR)]
    assert chosen in near
    if all(one.cost is not None for one in near):
        assert chosen.cost == min(one.cost for one in near if one.cost is not None)
    else:
        assert chosen.ports == min(one.ports for one in near)


def test_nothing_to_choose_from() -> None:
    assert choose([]) is None


@pytest.mark.large
def test_a_switch_that_joins_too_few_gpus_is_not_recommended() -> None:
    small, large = at("small", 1e-6, radix=4), at("large", 1.1e-6, radix=8)
    told = ll.advise(COLLECTIVES, switches=[small, large])
    assert told.recommended == "large"
    row = told.rows[0]
    assert not row.usable
    assert row.total_s is not None
    assert row.reason == "it joins 4 GPUs, and port k of all 8 GPUs is on one switch"
    assert "Too few ports for all GPUs: small." in told.reasons


@pytest.mark.large
@pytest.mark.slow
def test_prices_and_powers_are_of_all_switches_and_unknown_stays_unknown() -> None:
    dear = at("dear", 1e-6, price=100.0, power_w=10.0)
    cheap = at("cheap", 1.01e-6, price=50.0)
    told = ll.advise(COLLECTIVES, switches=[dear, cheap], ports=2)
    first, second, fixed = told.rows
    assert (first.cost, second.cost, fixed.cost) == (200.0, 100.0, None)
    assert first.energy_j == pytest.approx(20.0 * (first.total_s or 0.0))
    assert second.energy_j is None
    assert told.recommended in {"cheap", FIXED}
    assert ll.advise(COLLECTIVES, switches=[dear, cheap], ports=1).recommended == "cheap"


@pytest.mark.large
def test_where_changing_circuits_does_not_pay_fixed_circuits_are_recommended() -> None:
    told = ll.advise(COLLECTIVES, switches=[at("slow", 10.0)])
    assert told.recommended == FIXED
    assert any(reason.startswith("Changing circuits does not pay: ") for reason in told.reasons)


@pytest.mark.large
def test_no_time_where_no_delay_is_known() -> None:
    told = ll.advise(COLLECTIVES, switches="robotic")
    assert told.rows[0].total_s is None
    assert told.recommended == FIXED
    assert not any(one.changes for one in told.sensitivity)


@pytest.mark.slow
@pytest.mark.large
def test_what_would_change_the_recommendation_is_what_another_job_says(advice: ll.Advice) -> None:
    told = {one.input: one for one in advice.sensitivity}
    job = {**COLLECTIVES, "bandwidth": "800Gbps", "ports": [1, 2]}
    twice = ll.advise(job)
    assert (told["bandwidth ×2"].switch, told["bandwidth ×2"].ports) == (twice.recommended, twice.recommended_ports)
    more = ll.advise(COLLECTIVES, ports=[2, 3])
    assert (told["a port more"].switch, told["a port more"].ports) == (more.recommended, more.recommended_ports)
    assert "a port less" not in told


@pytest.mark.large
@pytest.mark.slow
def test_the_table_marks_the_recommended_switch(advice: ll.Advice) -> None:
    lines = advice_table(advice).splitlines()
    (marked,) = [line for line in lines if line.lstrip().startswith("*")]
    assert str(advice.recommended) in marked
    for reason in advice.reasons[:3]:
        assert reason[:40] in "\n".join(lines)


@pytest.mark.large
@pytest.mark.slow
def test_the_picture_can_be_read(advice: ll.Advice) -> None:
    assert faults(advice.plot()) == []


@pytest.mark.large
@pytest.mark.slow
def test_a_changed_input_is_chosen_among_all_numbers_of_ports() -> None:
    """With delays so close that the largest one within 5 % differs from one number of ports to another."""
    switches = [at(f"s{place}", 1e-6 * 1.3**place) for place in range(16)]
    told = {one.input: one for one in ll.advise(COLLECTIVES, switches=switches, ports=[2, 3]).sensitivity}
    twice = ll.advise({**COLLECTIVES, "bandwidth": "800Gbps"}, switches=switches, ports=[2, 3])
    assert (told["bandwidth ×2"].switch, told["bandwidth ×2"].ports) == (twice.recommended, twice.recommended_ports)
    half = ll.advise({**COLLECTIVES, "bandwidth": "200Gbps"}, switches=switches, ports=[2, 3])
    assert (told["bandwidth ÷2"].switch, told["bandwidth ÷2"].ports) == (half.recommended, half.recommended_ports)
    less = ll.advise(COLLECTIVES, switches=switches, ports=[1, 2])
    assert (told["a port less"].switch, told["a port less"].ports) == (less.recommended, less.recommended_ports)


@pytest.mark.large
def test_every_row_is_told_as_soon_as_it_is_known() -> None:
    told: list[AdviceRow] = []
    advice = ll.advise(COLLECTIVES, switches="sirius,polatis,lightpath", ports="1,2", found=told.append)
    assert tuple(told) == advice.rows
    assert advice == ll.advise(COLLECTIVES, switches="sirius,polatis,lightpath", ports="1,2")
