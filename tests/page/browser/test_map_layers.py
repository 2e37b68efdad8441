"""The map: its layers of algorithms and circuits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.names import names
from tests.page.browser.rules import violations
from tests.page.browser.test_when_it_pays import MAP, planned
from tests.page.test_map import circuits

if TYPE_CHECKING:
    from tests.page.browser.chromium import Opened


@pytest.mark.large
@pytest.mark.parametrize("layer", ["algorithm", "circuits", "fixed"])
def test_a_layer_has_a_colour_for_every_name(opened: Opened, axe: str, layer: str) -> None:
    page = opened.go(MAP)
    gains = page.locator(".legend").inner_text()
    shown = page.get_by_label("Shown", exact=True)
    shown.focus()
    shown.select_option(layer)
    expect(page.locator(".legend")).not_to_have_text(gains)
    assert page.url.endswith(f"&layer={layer}")
    found = page.evaluate(
        "[...document.querySelectorAll('[role=gridcell]')].map((cell) => [Number(cell.dataset.x),"
        " Number(cell.dataset.y), getComputedStyle(cell).fill])"
    )
    sizes, delays = ("1KiB", "16KiB", "256KiB", "4MiB", "64MiB"), ("100ns", "1us", "10us", "100us", "1ms")
    by_name: dict[str, set[str]] = {}
    for x, y, colour in found:
        plan = planned(sizes[x], "100s" if layer == "fixed" else delays[y])
        by_name.setdefault(plan.algorithm if layer == "algorithm" else circuits(plan), set()).add(colour)
    # A name has one colour, which the legend says; as many as there are colours have one of their own.
    assert all(len(colours) == 1 for colours in by_name.values())
    legend = page.locator(".legend").inner_text()
    said = [name for name in by_name if name in legend]
    assert len(said) >= min(len(by_name), 6)
    assert len({colour for name in said for colour in by_name[name]}) == len(said)
    # Meanings of its names are below the map; an algorithm that a planner makes is in no registry.
    explained = [name for name in said if layer != "algorithm" or name in names("algorithms")]
    expect(page.locator(".names dt")).to_have_count(len(explained))
    assert all(page.locator(".names dd").all_inner_texts())
    assert violations(opened, axe) == []
    page.reload()
    opened.settle()
    assert page.get_by_label("Shown", exact=True).input_value() == layer
    assert page.locator(".legend").inner_text() == legend
