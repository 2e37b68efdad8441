"""Circuits in time: data that move at each circuit's rate, the switch with its ports, and a chunk that is followed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import lightloom as ll
from tests.page.browser.chromium import NARROW, WIDE
from tests.page.browser.rules import is_wider_than_the_screen, violations

if TYPE_CHECKING:
    from tests.page.browser.chromium import Opened

# Its steps have circuits with different bytes.
UNEVEN = "/plan?collective=all-to-all&matrix=zipf:0.9&size=1MiB/pair&gpus=6&ports=2&planner=static"
BROKEN = "/plan?collective=all-gather&size=16MiB&gpus=8&ports=2&failed=port:1.0,receiver:2.1"


@pytest.mark.large
def test_data_move_at_the_rate_of_their_circuit(opened: Opened) -> None:
    page = opened.go(UNEVEN)
    plan = ll.plan("all-to-all", "1MiB/pair", matrix="zipf:0.9", fabric=ll.Fabric(gpus=6, ports=2), planner="static")
    carried: dict[tuple[int, int], float] = {}
    for path in plan.routes(0):
        for link in itertools.pairwise(path.gpus.tolist()):
            carried[link] = carried.get(link, 0.0) + path.size_bytes
    counts = {(int(a), int(b)): int(count) for a, b, count in plan.steps[0].topology.links}
    rates = {link: size / counts[link] for link, size in carried.items()}
    assert max(rates.values()) > 1.2 * min(rates.values())
    expect(page.locator(".circuit.busy")).to_have_count(len(carried))
    # In the first step nothing has moved; then each circuit's dashes move in proportion to its bytes.
    moved = (
        "() => [...document.querySelectorAll('.scene .drawing:not(.switch) .circuit.busy')].map((path, place) => ["
        "path.querySelector('title').textContent.match(/\\d+/g).slice(0, 2).join(','),"
        "parseFloat(getComputedStyle([...path.parentNode.nextSibling.children]"
        ".filter((flow) => flow.style.display !== 'none')[place]).strokeDashoffset)])"
    )
    assert all(offset == 0 for _, offset in page.evaluate(moved))
    page.get_by_label("Time in the plan", exact=True).fill("300")
    far = {tuple(map(int, link.split(","))): -offset for link, offset in page.evaluate(moved)}
    assert set(far) == set(rates)
    scale = max(far.values()) / max(rates.values())
    assert scale > 0
    for link, rate in rates.items():
        assert far[link] == pytest.approx(rate * scale, rel=1e-3, abs=0.02)


@pytest.mark.large
def test_the_switch_shows_dark_and_broken_ports(opened: Opened, axe: str) -> None:
    page = opened.go(BROKEN)
    plan = ll.plan("all-gather", "16MiB", fabric=ll.Fabric(gpus=8, ports=2, failed="port:1.0,receiver:2.1"))
    joined = sum(int(count) for *_, count in plan.steps[0].topology.links)
    expect(page.locator(".switch .connection:not(.gone)")).to_have_count(joined)
    # One of 16 transmitters and one of 16 receivers are broken; ports that are not joined to anything are dark.
    assert page.locator(".port.broken").count() == 2
    assert page.locator(".port.dark").count() == 2 * (15 - joined)
    assert page.locator(".gpu.broken").count() == 2
    for viewport in (WIDE, NARROW):
        page.set_viewport_size(viewport)  # type: ignore[arg-type]
        assert not is_wider_than_the_screen(opened)
        assert violations(opened, axe) == []


@pytest.mark.large
def test_a_chunk_is_followed_by_keys_alone(opened: Opened, axe: str) -> None:
    page = opened.go("/plan?collective=all-gather&size=1MiB&gpus=8&algorithm=ring")
    plan = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=8), algorithm="ring")
    page.get_by_label("GPU", exact=True).focus()
    page.keyboard.press("Tab")
    page.keyboard.type("3")
    step = 0
    while True:
        pairs = {(int(one.source), int(one.destination)) for one in plan.transfers(step) if 3 in one.chunks}
        assert len(pairs) == 1
        (source, destination) = pairs.pop()
        expect(page.locator(".aside")).to_contain_text(f"In this step {source} → {destination}")
        paths = [
            path.gpus.tolist() for path in plan.routes(step) if (path.source, path.destination) == (source, destination)
        ]
        hops = {link for path in paths for link in itertools.pairwise(path)}
        expect(page.locator(".circuit.followed")).to_have_count(len(hops))
        expect(page.locator(".connection.followed")).to_have_count(len(hops))
        onward = page.get_by_role("button", name="Next in step")
        if not onward.count():
            break
        onward.focus()
        page.keyboard.press("Enter")
        step += 1
    assert step == len(plan.steps) - 1
    # Controls that the header half covers would count as too small.
    page.evaluate("scrollTo(0, 0)")
    assert violations(opened, axe) == []
    # A chunk that there is not is the last one; none is followed where the number is taken away.
    page.get_by_label("Chunk", exact=True).fill("99")
    expect(page.locator(".aside")).to_contain_text("Chunk 7 of 0 to 7")
    page.get_by_label("Chunk", exact=True).fill("")
    expect(page.locator(".circuit.followed")).to_have_count(0)
