"""The view of a plan: its circuits in motion, and the ports that they are on."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import lightloom as ll
from lightloom._core import show_size
from tests.page.browser.test_plan import PROBLEM, compact, headline

if TYPE_CHECKING:
    from tests.page.browser.chromium import Opened


@pytest.mark.large
def test_space_plays_and_pauses_and_arrows_step(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    time = page.get_by_label("Time in the plan", exact=True)
    steps = len(ll.plan("all-reduce", size="1MiB", fabric=ll.Fabric(gpus=16)).steps)
    page.locator("main").focus()
    page.keyboard.press("ArrowRight")
    assert f"step 2 of {steps}" in (time.get_attribute("aria-valuetext") or "")
    page.keyboard.press("ArrowLeft")
    assert f"step 1 of {steps}" in (time.get_attribute("aria-valuetext") or "")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.wait_for_function("() => Number(document.querySelector('.player input').value) > 40")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    at = time.input_value()
    page.wait_for_timeout(120)
    assert time.input_value() == at
    # Where the focus is on what arrows have no other use for, and not where they have.
    page.get_by_role("button", name="Play").focus()
    before = time.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowLeft")
    assert time.get_attribute("aria-valuetext") != before
    page.get_by_label("Size", exact=True).focus()
    before = time.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowLeft")
    assert time.get_attribute("aria-valuetext") == before


@pytest.mark.large
def test_the_time_is_dragged(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    time = page.get_by_label("Time in the plan", exact=True)
    time.fill("2000")
    assert compact(page.locator(".player output").inner_text()) == compact(headline(opened))
    time.focus()
    page.keyboard.press("ArrowLeft")
    assert int(time.input_value()) < 2000


@pytest.mark.large
def test_without_motion_playing_goes_from_step_to_step(opened: Opened) -> None:
    opened.page.emulate_media(reduced_motion="reduce")
    page = opened.go(PROBLEM)
    page.get_by_role("button", name="Play").click()
    page.wait_for_function(
        "() => document.querySelector('.player input').getAttribute('aria-valuetext').includes('step 2 ')"
    )
    assert page.locator(".flow").first.is_hidden()


@pytest.mark.large
def test_bytes_on_the_circuits_are_those_of_the_routes(opened: Opened) -> None:
    page = opened.go("/plan?collective=all-reduce&size=1MiB&gpus=16&algorithm=recursive-doubling&planner=static")
    plan = ll.plan(
        "all-reduce", size="1MiB", fabric=ll.Fabric(gpus=16), algorithm="recursive-doubling", planner="static"
    )
    assert plan.steps[1].hops > 1
    page.locator("main").focus()
    for step in range(3):
        carried: dict[tuple[int, int], float] = {}
        for path in plan.routes(step):
            for link in pairwise(path.gpus.tolist()):
                carried[link] = carried.get(link, 0.0) + path.size_bytes
        expected = {
            f"circuit {source} → {target}: {show_size(size_bytes, plan.size_bytes)}, "
            f"load {size_bytes / plan.steps[step].transfer_bytes:.2f}×"
            for (source, target), size_bytes in carried.items()
        }
        expect(page.locator(".aside")).to_contain_text(f"Step {step + 1} of")
        shown = page.locator(".circuit.busy title")
        expect(shown).to_have_count(len(expected))
        assert {words.replace("\xa0", " ") for words in shown.all_text_contents()} == expected
        page.keyboard.press("ArrowRight")


@pytest.mark.large
def test_a_gpu_that_is_chosen_shows_its_ports(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    page.wait_for_selector(".circuit.busy")
    page.get_by_label("GPU", exact=True).fill("3")
    expect(page.locator(".ports-list")).to_contain_text("Circuits out of GPU 3: 1 of 1 port")
    expect(page.locator(".ports-list")).to_contain_text("Circuits into GPU 3: 1 of 1 port")
    expect(page.locator(".ports-list")).to_contain_text(re.compile(r"3 → \d+"))
    group = page.locator('[role="group"].scene-of')
    group.focus()
    page.keyboard.press("ArrowUp")
    assert page.get_by_label("GPU", exact=True).input_value() == "4"
    page.locator('.gpu[data-gpu="9"]').hover()
    expect(page.locator(".ports-list")).to_contain_text(re.compile(r"9 → \d+"))


@pytest.mark.large
@pytest.mark.parametrize("optics", ["crossbar", "parallel"])
def test_circuits_have_their_ports_on_switches_by_the_rule_of_the_file(opened: Opened, optics: str) -> None:
    """Ports are worked out by the words of the rule: of GPU g, port p, on one switch or on that of the port."""
    page = opened.go(f"/plan?collective=all-to-all&size=1MiB&gpus=6&ports=2&optics={optics}&planner=static")
    fabric = ll.Fabric(gpus=6, ports=2, optics=optics)
    plan = ll.plan("all-to-all", "1MiB", fabric=fabric, planner="static")
    circuits = ll.circuits(plan)
    rule = "transmitter p of GPU g is at ingress port " + {"crossbar": "g·d + p + 1", "parallel": "g + 1"}[optics]
    expect(page.locator(".numbering")).to_contain_text(rule)
    expected = set()
    for place, switch in enumerate(circuits.configurations[0].switches):
        for ends in switch.connections.tolist():
            source, target = ((end - 1) // 2 if optics == "crossbar" else end - 1 for end in ends)
            if 4 in (source, target):
                name = circuits.switches[place].name
                expected.add((f"{source} → {target}", f"{name} {ends[0]} → {ends[1]}"))
    page.get_by_label("GPU", exact=True).fill("4")
    expect(page.locator(".ports-list")).to_contain_text("ports:")
    lines = page.locator(".ports-list li:not(.head)").all_inner_texts()
    for circuit, ports in expected:
        assert any(line.startswith(circuit) and ports in line for line in lines), (circuit, ports, lines)
